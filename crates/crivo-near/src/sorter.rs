//! Sorts hashes, which are evenly distributed. After one distribution by their high bits nearly all
//! are in order, which takes half the time of a general sort.

/// Below this number of values a general sort is as fast.
const FEW: usize = 48;

/// Above this number of values a general sort is used. It needs no second buffer, and the memory
/// saved is worth more than the time lost.
const MANY: usize = 16 << 20;

/// Sorts one set of hashes after the other. Its buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    /// The start of each bucket, then the position of its next value.
    starts: Vec<u32>,
    values: Vec<u64>,
}

impl Sorter {
    /// Sorts the values, moves the distinct ones to the front, and returns their number.
    pub(crate) fn sort_once(&mut self, values: &mut [u64]) -> usize {
        if values.len() < FEW || values.len() > MANY {
            values.sort_unstable();
        } else {
            self.distribute(values);
        }
        let mut len = 0;
        for at in 0..values.len() {
            if len == 0 || values[len - 1] != values[at] {
                values[len] = values[at];
                len += 1;
            }
        }
        len
    }

    /// Distributes values over about as many buckets as values, then sorts the buckets. If values
    /// are unevenly distributed, so that a bucket is large, a general sort is used.
    fn distribute(&mut self, values: &mut [u64]) {
        let bits = values.len().ilog2();
        let bucket = |value: u64| (value >> (64 - bits)) as usize;
        self.starts.clear();
        self.starts.resize((1 << bits) + 1, 0);
        values.iter().for_each(|&value| self.starts[bucket(value) + 1] += 1);
        let mut largest = 0;
        for at in 1..self.starts.len() {
            largest = largest.max(self.starts[at]);
            self.starts[at] += self.starts[at - 1];
        }
        self.values.clear();
        self.values.resize(values.len(), 0);
        for &value in values.iter() {
            let place = &mut self.starts[bucket(value)];
            self.values[*place as usize] = value;
            *place += 1;
        }
        values.copy_from_slice(&self.values);
        if largest as usize > FEW {
            return values.sort_unstable();
        }
        // Every value is in its bucket, so only neighbours are exchanged.
        for end in 1..values.len() {
            let value = values[end];
            let mut at = end;
            while at > 0 && values[at - 1] > value {
                values[at] = values[at - 1];
                at -= 1;
            }
            values[at] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_come_sorted_and_once(
            mut values in proptest::collection::vec(prop_oneof![any::<u64>(), 0_u64..20, Just(u64::MAX)], 0..300)
        ) {
            let mut expected = values.clone();
            expected.sort_unstable();
            expected.dedup();
            let mut sorter = Sorter::default();
            // Values of an earlier set must not appear in the result.
            sorter.sort_once(&mut (0..100).collect::<Vec<u64>>());
            let len = sorter.sort_once(&mut values);
            prop_assert_eq!(&values[..len], &expected[..]);
        }
    }
}
