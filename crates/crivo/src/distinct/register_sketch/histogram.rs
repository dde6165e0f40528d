//! How many registers have each value: all that an estimator reads.
//!
//! The histogram is counted on request, at about a third of a nanosecond a register. Keeping it up
//! to date would cost two additions and an unpredictable branch for every insert that changes a
//! register. In a sketch with few items a register, that would be most of the time of an insert.

/// The number of counters for each value, so that additions to the same value do not wait for each
/// other.
const LANES: usize = 8;

/// Returns how often each value occurs. Values must be below `VALUES`, a power of two.
pub(in crate::distinct) fn histogram<const VALUES: usize>(values: &[u8]) -> [u32; VALUES] {
    let mut counters = [[0; VALUES]; LANES];
    let (groups, rest) = values.as_chunks::<LANES>();
    for group in groups {
        for (counter, &value) in counters.iter_mut().zip(group) {
            counter[usize::from(value) % VALUES] += 1;
        }
    }
    let mut sum = [0; VALUES];
    rest.iter().for_each(|&value| sum[usize::from(value) % VALUES] += 1);
    for counter in &counters {
        sum.iter_mut().zip(counter).for_each(|(sum, count)| *sum += count);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_counted_once() {
        for len in [0, 1, 7, 8, 9, 1_000] {
            let values: Vec<u8> = (0..len).map(|at: u32| (at * at % 61) as u8).collect();
            let counts = histogram::<64>(&values);
            for (value, &count) in (0..).zip(&counts) {
                assert_eq!(values.iter().map(|&other| u32::from(other == value)).sum::<u32>(), count);
            }
            assert_eq!(histogram::<256>(&values)[..64], counts);
        }
    }
}
