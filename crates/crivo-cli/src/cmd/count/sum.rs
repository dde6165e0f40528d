//! A sum that does not depend on the order of its parts.

use crivo::profile::ExactSum;

/// The exact sum of many numbers, and how many there are. The sum is rounded once.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    total: ExactSum,
    numbers: u64,
}

impl Sum {
    /// Adds a number that is the sum of two floats, so that whole numbers keep all their digits.
    pub(super) fn add(&mut self, parts: [f64; 2]) {
        self.numbers += 1;
        parts.into_iter().for_each(|part| self.total.add(part));
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.numbers += other.numbers;
        self.total.merge(&other.total);
    }

    /// Returns the nearest float, which is infinite if the sum exceeds the largest float.
    pub(super) fn value(&self) -> f64 {
        self.total.value()
    }

    /// Returns the mean, which may be finite where the sum is not. Returns `None` without numbers.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.numbers > 0).then(|| self.total.mean(self.numbers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_any_order_give_the_same_sum() {
        let of = |numbers: &[f64]| {
            let mut sum = Sum::default();
            numbers.iter().for_each(|number| sum.add([*number, 0.0]));
            sum
        };
        let numbers = [1e308, 1e308, -1e308, 0.1, 1e16, 1.0, -1e16];
        for cut in 0..numbers.len() {
            let mut joined = of(&numbers[cut..]);
            joined.merge(&of(&numbers[..cut]));
            assert_eq!(joined.value(), 1e308, "{cut}");
        }
        assert_eq!(of(&[1e308, 1e308]).mean(), Some(1e308));
        assert_eq!(Sum::default().mean(), None);
    }
}
