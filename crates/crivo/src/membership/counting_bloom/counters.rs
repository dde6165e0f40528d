//! Counters of a few bits each, packed into words, with what is known of them as a whole.
//!
//! A counter that reaches its largest value is *saturated*: how much more was added is not known,
//! so that value means "at least this much", and it is never lowered again.

use crate::cpu;
use crate::error::{Error, Result};
use crate::membership::sizing::HASHES;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The most counters that are changed together.
pub(super) const MOST_TOGETHER: usize = *HASHES.end() as usize;

/// How wide the counters are. The number is the byte stored in files.
///
/// Four bits suffice for a set: in a filter that a set fills by half, a counter reaches 15 with a
/// probability below 2·10⁻¹⁵. Counts of repeated keys need as many bits as the largest count has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CounterBits {
    /// Counts to 14; 15 is saturated.
    Four = 4,
    /// Counts to 254.
    Eight = 8,
    /// Counts to 65,534.
    Sixteen = 16,
    /// Counts to 4,294,967,294.
    ThirtyTwo = 32,
}

impl CounterBits {
    /// Every width, from the narrowest.
    pub const ALL: [Self; 4] = [Self::Four, Self::Eight, Self::Sixteen, Self::ThirtyTwo];

    /// The width of that many bits.
    ///
    /// # Errors
    /// If counters of that width do not exist.
    ///
    /// ```
    /// use crivo::membership::CounterBits;
    /// assert_eq!(CounterBits::of(4)?.largest(), 15);
    /// assert!(CounterBits::of(5).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn of(bits: u32) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|width| width.bits() == bits);
        found.ok_or_else(|| Error::parameter("counter bits", "4, 8, 16 or 32", bits))
    }

    /// Returns how many bits a counter has.
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// The largest value of a counter, which stands for itself and all above.
    pub const fn largest(self) -> u64 {
        (1 << self.bits()) - 1
    }

    /// A word with the lowest bit of each counter set.
    const fn lowest_bits(self) -> u64 {
        u64::MAX / self.largest()
    }
}

/// What there is to know about all counters together: kept up to date, because queries need it and
/// must not look at every counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// How many counters are not zero.
    pub(super) in_use: u64,
    /// How many are at their largest value.
    pub(super) saturated: u64,
    /// The sum of all: 2^43 counters of 32 bits would overflow 64.
    pub(super) sum: u128,
}

impl Tally {
    #[inline]
    fn add(&mut self, value: u64, largest: u64) {
        self.in_use += u64::from(value != 0);
        self.saturated += u64::from(value == largest);
        self.sum += u128::from(value);
    }
}

/// Packed counters; cell `i` has the `bits` bits from bit `i·bits` on, counted through all words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counters {
    width: CounterBits,
    cells: u64,
    words: Vec<u64>,
    tally: Tally,
}

impl Counters {
    /// All zero.
    ///
    /// # Errors
    /// If the memory cannot be allocated.
    pub(super) fn new(cells: u64, width: CounterBits) -> Result<Self> {
        let words = cpu::zeroed(Self::words_for(cells, width))?;
        Ok(Self { width, cells, words, tally: Tally::default() })
    }

    /// From words as [`words`](Self::words) gives them, as many as [`words_for`](Self::words_for)
    /// says.
    ///
    /// # Errors
    /// If a bit past the last counter is set, or the memory cannot be allocated.
    pub(super) fn from_words(
        cells: u64,
        width: CounterBits,
        words: impl Iterator<Item = u64>,
    ) -> Result<Self> {
        let mut counters = Self::new(cells, width)?;
        counters.words.iter_mut().zip(words).for_each(|(word, stored)| *word = stored);
        let (_, shift) = counters.place(cells);
        let past_the_end = counters.words.last().map_or(0, |word| if shift == 0 { 0 } else { word >> shift });
        if past_the_end != 0 {
            return Err(Error::contents(
                "counters",
                "zeros past the last",
                format_args!("{past_the_end:#x}"),
            ));
        }
        counters.count_again();
        Ok(counters)
    }

    /// Returns how many words hold that many counters.
    pub(super) fn words_for(cells: u64, width: CounterBits) -> u64 {
        cells.div_ceil(u64::from(64 / width.bits()))
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn cells(&self) -> u64 {
        self.cells
    }

    pub(super) fn width(&self) -> CounterBits {
        self.width
    }

    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The word a cell is in, and its lowest bit there.
    #[inline]
    fn place(&self, cell: u64) -> (usize, u32) {
        // The widths are powers of two, so this is cell·bits, divided by 64.
        let exponent = self.width.bits().trailing_zeros();
        ((cell >> (6 - exponent)) as usize, (cell << exponent) as u32 % 64)
    }

    /// Begins to fetch a cell that will be wanted soon.
    #[inline]
    pub(super) fn prefetch(&self, cell: u64) {
        cpu::prefetch(&self.words, self.place(cell).0);
    }

    #[inline]
    pub(super) fn get(&self, cell: u64) -> u64 {
        let (word, shift) = self.place(cell);
        self.words[word] >> shift & self.width.largest()
    }

    /// Every counter, in order.
    pub(super) fn values(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.cells).map(|cell| self.get(cell))
    }
}

// ---- a few counters ----

impl Counters {
    /// Raises each of the cells once, however often it is named, and gives the least value before.
    #[inline]
    pub(super) fn raise(&mut self, cells: &[u64], times: u64) -> u64 {
        let largest = self.width.largest();
        self.change(cells, |value| value.saturating_add(times).min(largest))
    }

    /// Lowers each of the cells by one, saturated ones excepted; none may be zero.
    #[inline]
    pub(super) fn lower(&mut self, cells: &[u64]) {
        let largest = self.width.largest();
        self.change(cells, |value| if value == largest { value } else { value.saturating_sub(1) });
    }

    #[inline]
    fn change(&mut self, cells: &[u64], to: impl Fn(u64) -> u64) -> u64 {
        // Most filters choose few cells a key: a small array is cleared in no time.
        if cells.len() <= 8 {
            self.change_together::<8>(cells, to)
        } else {
            self.change_together::<MOST_TOGETHER>(cells, to)
        }
    }

    /// All cells are read before any is written, so that one that is named twice is changed once.
    #[inline]
    fn change_together<const MOST: usize>(&mut self, cells: &[u64], to: impl Fn(u64) -> u64) -> u64 {
        let largest = self.width.largest();
        let mut values = [0; MOST];
        let mut least = u64::MAX;
        for (value, &cell) in values.iter_mut().zip(cells) {
            let old = self.get(cell);
            least = least.min(old);
            *value = to(old);
        }
        // Differences, modulo 2^64: at most 64 counters of 32 bits change.
        let (mut in_use, mut saturated, mut sum) = (0_u64, 0_u64, 0_u64);
        for (&value, &cell) in values.iter().zip(cells) {
            let (word, shift) = self.place(cell);
            let old = self.words[word] >> shift & largest;
            self.words[word] ^= (old ^ value) << shift;
            in_use = in_use.wrapping_add(u64::from(value != 0)).wrapping_sub(u64::from(old != 0));
            saturated =
                saturated.wrapping_add(u64::from(value == largest)).wrapping_sub(u64::from(old == largest));
            sum = sum.wrapping_add(value).wrapping_sub(old);
        }
        self.tally.in_use = self.tally.in_use.wrapping_add(in_use);
        self.tally.saturated = self.tally.saturated.wrapping_add(saturated);
        self.tally.sum = self.tally.sum.wrapping_add_signed(sum.cast_signed().into());
        least
    }
}

// ---- all counters ----

impl Counters {
    /// Replaces each counter by a function of both; zero and zero must give zero.
    pub(super) fn combine(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) {
        let (bits, largest) = (self.width.bits() as usize, self.width.largest());
        for (mine, &theirs) in self.words.iter_mut().zip(&other.words) {
            let mut combined = 0;
            for shift in (0..64).step_by(bits) {
                combined |= operation(*mine >> shift & largest, theirs >> shift & largest) << shift;
            }
            *mine = combined;
        }
        self.count_again();
    }

    fn count_again(&mut self) {
        let (bits, largest) = (self.width.bits() as usize, self.width.largest());
        let mut tally = Tally::default();
        for word in &self.words {
            (0..64).step_by(bits).for_each(|shift| tally.add(word >> shift & largest, largest));
        }
        self.tally = tally;
    }

    /// Returns how many cells are zero in both.
    pub(super) fn empty_in_both(&self, other: &Self) -> u64 {
        let used: u64 = self.words.iter().zip(&other.words).map(|(a, b)| self.in_use_of(a | b)).sum();
        self.cells - used
    }

    /// Returns how many counters of a word are not zero: their bits are folded onto the lowest of
    /// each.
    fn in_use_of(&self, word: u64) -> u64 {
        let (mut folded, mut distance) = (word, self.width.bits() / 2);
        while distance > 0 {
            folded |= folded >> distance;
            distance /= 2;
        }
        (folded & self.width.lowest_bits()).count_ones().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters as a plain list, in step with the packed ones.
    fn pattern(cells: u64, width: CounterBits, seed: u64) -> (Counters, Vec<u64>) {
        let mut counters = Counters::new(cells, width).unwrap();
        let mut list = vec![0; cells as usize];
        let mut state = seed;
        for _ in 0..3 * cells {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (cell, times) = ((state >> 33) % cells, (state >> 20) % 9 * (width.largest() / 20 + 1));
            let least = counters.raise(&[cell, cell], times);
            assert_eq!(least, list[cell as usize]);
            list[cell as usize] = (least + times).min(width.largest());
        }
        (counters, list)
    }

    fn tally_of(list: &[u64], width: CounterBits) -> Tally {
        Tally {
            in_use: list.iter().filter(|&&value| value > 0).count() as u64,
            saturated: list.iter().filter(|&&value| value == width.largest()).count() as u64,
            sum: list.iter().map(|&value| u128::from(value)).sum(),
        }
    }

    #[test]
    fn packed_counters_are_a_list_of_counters() {
        for width in CounterBits::ALL {
            for cells in [1, 2, 15, 16, 17, 100, 257] {
                let (mut counters, mut list) = pattern(cells, width, cells);
                assert_eq!(counters.values().collect::<Vec<_>>(), list, "{width:?}");
                assert_eq!(counters.tally(), tally_of(&list, width), "{width:?}");
                for cell in (0..cells).filter(|&cell| list[cell as usize] > 0).collect::<Vec<_>>() {
                    counters.lower(&[cell, cell, cell]);
                    let value = &mut list[cell as usize];
                    *value -= u64::from(*value < width.largest());
                }
                assert_eq!(counters.values().collect::<Vec<_>>(), list, "{width:?}");
                assert_eq!(counters.tally(), tally_of(&list, width), "{width:?}");
            }
        }
    }

    #[test]
    fn whole_operations_are_those_of_the_lists() {
        for width in CounterBits::ALL {
            let ((a, list_a), (b, list_b)) = (pattern(101, width, 1), pattern(101, width, 2));
            let mut least = a.clone();
            least.combine(&b, u64::min);
            let expected: Vec<u64> = list_a.iter().zip(&list_b).map(|(&a, &b)| a.min(b)).collect();
            assert_eq!(least.values().collect::<Vec<_>>(), expected, "{width:?}");
            assert_eq!(least.tally(), tally_of(&expected, width));
            let empty = list_a.iter().zip(&list_b).filter(|&(&a, &b)| a == 0 && b == 0).count();
            assert_eq!(a.empty_in_both(&b), empty as u64, "{width:?}");
            assert_eq!(a.empty_in_both(&a), 101 - a.tally().in_use);
        }
    }

    #[test]
    fn bits_past_the_last_counter_are_refused() {
        for width in CounterBits::ALL {
            let (counters, _) = pattern(101, width, 3);
            let mut words = counters.words().to_vec();
            assert_eq!(Counters::from_words(101, width, words.iter().copied()), Ok(counters));
            *words.last_mut().unwrap() |= 1 << 63;
            let error = Counters::from_words(101, width, words.into_iter()).unwrap_err();
            assert_eq!(error.field(), "counters", "{width:?}");
        }
    }
}
