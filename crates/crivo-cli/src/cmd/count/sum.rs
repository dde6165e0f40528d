//! A sum that hardly depends on the order of its parts.

/// The sum of many numbers, its rounding errors kept beside it (Knuth's two-sum), so that a million threads
/// or one give the same digits in all but contrived cases.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sum {
    high: f64,
    low: f64,
    numbers: u64,
}

impl Sum {
    pub(super) fn add(&mut self, number: f64) {
        self.numbers += 1;
        self.add_part(number);
    }

    fn add_part(&mut self, number: f64) {
        let sum = self.high + number;
        let of_number = sum - self.high;
        let of_high = sum - of_number;
        self.low += (self.high - of_high) + (number - of_number);
        self.high = sum;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.numbers += other.numbers;
        self.add_part(other.high);
        self.low += other.low;
    }

    pub(super) fn value(self) -> f64 {
        self.high + self.low
    }

    /// The mean; there is none of nothing.
    pub(super) fn mean(self) -> Option<f64> {
        (self.numbers > 0).then(|| self.value() / self.numbers as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_not_lost_beside_large_ones() {
        let mut sum = Sum::default();
        for _ in 0..1000 {
            [1e16, 1.0, -1e16, 0.1].iter().for_each(|number| sum.add(*number));
        }
        assert!((sum.value() - 1100.0).abs() < 1e-9, "{sum:?}");
        assert_eq!(sum.mean(), Some(sum.value() / 4000.0));
        assert_eq!(Sum::default().mean(), None);
    }

    #[test]
    fn parts_in_any_order_give_the_same_sum() {
        let numbers: Vec<f64> = (0..10_000).map(|n| f64::from(n * 7919 % 10_007) / 100.0 - 37.21).collect();
        let of = |numbers: &[f64]| {
            let mut sum = Sum::default();
            numbers.iter().for_each(|number| sum.add(*number));
            sum
        };
        for cut in [1, 17, 5000, 9999] {
            let mut joined = of(&numbers[cut..]);
            joined.merge(of(&numbers[..cut]));
            assert_eq!(joined.value(), of(&numbers).value(), "{cut}");
        }
    }
}
