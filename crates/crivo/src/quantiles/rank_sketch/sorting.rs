//! Sorting of few values without branches.
//!
//! Most compactions sort ten to thirty numbers. Insertion sort, the usual way for so few,
//! mispredicts a branch for nearly every number. Here the numbers go through a network of
//! compare-exchanges: groups of eight are sorted, and merged by Batcher's odd-even merge (Knuth,
//! volume 3, section 5.3.4). A comparison selects values, and never decides a jump.
//!
//! A network for fewer values is one for more values without the compare-exchanges of the last
//! places. Values greater than all others would stay in these places.

use std::hint::select_unpredictable;

/// Sorts values whose equal ones cannot be told apart. `greatest` must be at least as large as all
/// of them.
pub(super) fn sort_few<T: Copy + Ord>(values: &mut [T], greatest: T) {
    match values.len() {
        0 | 1 => {}
        2..=8 => sort_padded::<T, 8>(values, greatest),
        9..=12 => sort_padded::<T, 12>(values, greatest),
        13..=16 => sort_padded::<T, 16>(values, greatest),
        17..=20 => sort_padded::<T, 20>(values, greatest),
        21..=24 => sort_padded::<T, 24>(values, greatest),
        25..=32 => sort_padded::<T, 32>(values, greatest),
        // From this length on the standard library does not use insertion sort either.
        _ => values.sort_unstable(),
    }
}

/// Sorts at most `PLACES` values. The remaining places are filled with `greatest`.
fn sort_padded<T: Copy + Ord, const PLACES: usize>(values: &mut [T], greatest: T) {
    let mut places = [greatest; PLACES];
    places[..values.len()].copy_from_slice(values);
    sort_places(&mut places);
    values.copy_from_slice(&places[..values.len()]);
}

/// Sorts at most 32 places.
#[inline]
fn sort_places<T: Copy + Ord, const PLACES: usize>(places: &mut [T; PLACES]) {
    sort_eight::<T, PLACES, 0>(places);
    sort_eight::<T, PLACES, 8>(places);
    merge_eights::<T, PLACES, 0>(places);
    if PLACES > 16 {
        sort_eight::<T, PLACES, 16>(places);
        sort_eight::<T, PLACES, 24>(places);
        merge_eights::<T, PLACES, 16>(places);
        merge_sixteens::<T, PLACES, 0>(places);
    }
}

/// Defines a function of these compare-exchanges, in places from `FIRST` on. They are written one
/// by one because compilers do not unroll loops over them.
macro_rules! network {
    ($(#[$about:meta])* $name:ident: $(($low:literal, $high:literal))*) => {
        $(#[$about])*
        #[inline]
        fn $name<T: Copy + Ord, const PLACES: usize, const FIRST: usize>(places: &mut [T; PLACES]) {
            $(if FIRST + $high < PLACES {
                let (one, other) = (places[FIRST + $low], places[FIRST + $high]);
                let is_other_less = other < one;
                places[FIRST + $low] = select_unpredictable(is_other_less, other, one);
                places[FIRST + $high] = select_unpredictable(is_other_less, one, other);
            })*
        }
    };
}

network!(
    /// Sorts eight places, with the least possible number of compare-exchanges.
    sort_eight:
    (0, 2) (1, 3) (4, 6) (5, 7) (0, 4) (1, 5) (2, 6) (3, 7) (0, 1) (2, 3) (4, 5) (6, 7) (2, 4) (3, 5) (1, 4)
    (3, 6) (1, 2) (3, 4) (5, 6)
);

network!(
    /// Merges two sorted eights.
    merge_eights:
    (0, 8) (1, 9) (2, 10) (3, 11) (4, 12) (5, 13) (6, 14) (7, 15) (4, 8) (5, 9) (6, 10) (7, 11) (2, 4)
    (3, 5) (6, 8) (7, 9) (10, 12) (11, 13) (1, 2) (3, 4) (5, 6) (7, 8) (9, 10) (11, 12) (13, 14)
);

network!(
    /// Merges two sorted sixteens.
    merge_sixteens:
    (0, 16) (1, 17) (2, 18) (3, 19) (4, 20) (5, 21) (6, 22) (7, 23) (8, 24) (9, 25) (10, 26) (11, 27)
    (12, 28) (13, 29) (14, 30) (15, 31) (8, 16) (9, 17) (10, 18) (11, 19) (12, 20) (13, 21) (14, 22)
    (15, 23) (4, 8) (5, 9) (6, 10) (7, 11) (12, 16) (13, 17) (14, 18) (15, 19) (20, 24) (21, 25) (22, 26)
    (23, 27) (2, 4) (3, 5) (6, 8) (7, 9) (10, 12) (11, 13) (14, 16) (15, 17) (18, 20) (19, 21) (22, 24)
    (23, 25) (26, 28) (27, 29) (1, 2) (3, 4) (5, 6) (7, 8) (9, 10) (11, 12) (13, 14) (15, 16) (17, 18)
    (19, 20) (21, 22) (23, 24) (25, 26) (27, 28) (29, 30)
);

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(not(feature = "std"))]
    use crate::prelude::*;
    use crate::random::Generator;

    #[test]
    fn networks_sort_zeros_and_ones() {
        // By the zero-one principle a network that sorts these sorts everything. For few places
        // they are all sequences. For more places they are all pairs of sorted halves, because the
        // parts were tested before.
        fn check<const PLACES: usize>(sequences: impl Iterator<Item = u32>) {
            for bits in sequences {
                let mut places = std::array::from_fn::<u8, PLACES, _>(|at| (bits >> at & 1) as u8);
                let ones = places.iter().map(|&place| u32::from(place)).sum::<u32>();
                sort_places(&mut places);
                assert!(places.is_sorted(), "{PLACES} places of {bits:b}");
                assert_eq!(places.iter().map(|&place| u32::from(place)).sum::<u32>(), ones);
            }
        }
        check::<8>(0..1 << 8);
        check::<12>(0..1 << 12);
        check::<16>(0..1 << 16);
        check::<20>(0..1 << 20);
        let ones = |count: u32| u32::MAX.checked_shl(16 - count).unwrap_or(0) & 0xFFFF;
        let halves = || (0..=16).flat_map(move |low| (0..=16).map(move |high| ones(low) | ones(high) << 16));
        check::<24>(halves());
        check::<32>(halves());
    }

    #[test]
    fn any_number_of_values_is_sorted() {
        let mut generator = Generator::new(5);
        for length in 0..=100 {
            for distinct in [1, 2, 10, 1 << 40] {
                let values: Vec<i64> =
                    (0..length).map(|_| (generator.bits() % distinct) as i64 - 5).chain([i64::MAX]).collect();
                let (mut sorted, mut expected) = (values.clone(), values);
                sort_few(&mut sorted, i64::MAX);
                expected.sort_unstable();
                assert_eq!(sorted, expected, "{length} values, {distinct} different");
            }
        }
    }
}
