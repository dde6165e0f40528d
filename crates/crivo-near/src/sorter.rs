//! Sorting hashes, which are spread evenly: one distribution by their high bits leaves hardly
//! anything to do, and takes half the time of a general sort.

/// Below this number of values a general sort is as quick.
const FEW: usize = 48;

/// Beyond this number of values a general sort is used: it needs no second buffer, and the memory
/// saved is worth more than the time lost.
const MANY: usize = 16 << 20;

/// Sorts one set of hashes after the other, in buffers it keeps.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    /// Where each bucket begins, then where its next value goes.
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

    /// As many buckets as values, about; then each bucket by itself. Values that are not spread
    /// evenly make large buckets, which take no longer than a general sort.
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
        // Every value is within its bucket: only neighbours change places.
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
            // What an earlier set left behind must not show.
            sorter.sort_once(&mut (0..100).collect::<Vec<u64>>());
            let len = sorter.sort_once(&mut values);
            prop_assert_eq!(&values[..len], &expected[..]);
        }
    }
}
