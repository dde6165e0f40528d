//! The total weight to skip before the next item of a weighted sample is admitted.
//!
//! Every weight is subtracted, in order, from the weight that is left to skip. The order matters
//! because the rounding of each subtraction is part of the stored state. Each subtraction has to
//! wait for the one before. The wait is even longer if each insert writes the number to memory and
//! the next insert reads it there. So single weights that cannot reach the end are only buffered,
//! and subtracted a few at a time.

/// The number of buffered weights. The buffer is in the sketch itself, and each container of
/// sketches has room for the largest kind of sketch.
const ASIDE: usize = 4;

/// The number of weights of a batch that are checked together.
const CHUNK: usize = 8;

/// The weight that is still to be skipped.
#[derive(Debug, Clone)]
pub(super) struct Jump {
    /// The weight left, before the buffered weights are subtracted.
    left: f64,
    /// A weight below this limit cannot reach the end, whatever is buffered: [`ASIDE`] such weights
    /// are at most half of what is left.
    light: f64,
    aside: [f64; ASIDE],
    count: usize,
}

impl Jump {
    /// Creates a jump over this total weight. A jump over 0 skips nothing.
    pub(super) fn over(left: f64) -> Self {
        let light = left * (0.5 / ASIDE as f64);
        Self { left, light, aside: [0.0; ASIDE], count: 0 }
    }

    /// Skips a weight if it is light, which only a number above 0 can be. Otherwise returns false
    /// and skips nothing.
    #[inline]
    pub(super) fn pass_light(&mut self, weight: f64) -> bool {
        if weight > 0.0
            && weight < self.light
            && let Some(slot) = self.aside.get_mut(self.count)
        {
            *slot = weight;
            self.count += 1;
            true
        } else {
            false
        }
    }

    /// The number of buffered weights.
    pub(super) fn put_aside(&self) -> u64 {
        self.count as u64
    }

    /// Returns the weight that is left to skip.
    pub(super) fn left(&self) -> f64 {
        self.aside.iter().take(self.count).fold(self.left, |left, weight| left - weight)
    }

    /// Subtracts the buffered weights, and returns how many there were.
    pub(super) fn settle(&mut self) -> u64 {
        let count = self.put_aside();
        *self = Self::over(self.left());
        count
    }

    /// Skips weights up to the first that reaches the end, which ends the jump. Returns the
    /// position of that weight, or the number of weights if none reaches the end. Weights must be
    /// above 0 and finite, and none may be buffered.
    #[inline]
    pub(super) fn pass(&mut self, weights: &[f64]) -> usize {
        let walk = Walk::over(self.left, weights);
        *self = Self::over(walk.left);
        walk.passed
    }

    /// Like [`pass`](Self::pass), for numbers that may not all be above 0 and finite. If one of
    /// them is not, returns `None` and skips nothing.
    #[inline]
    pub(super) fn pass_checked(&mut self, numbers: &[f64]) -> Option<usize> {
        let walk = Walk::over(self.left, numbers);
        let are_weights = walk.are_weights && numbers.get(walk.looked_at..).is_none_or(are_surely_positive);
        are_weights.then(|| {
            *self = Self::over(walk.left);
            walk.passed
        })
    }
}

/// The result of a walk over numbers. The walk ends at the first number that reaches what is left,
/// if all numbers before that one are above 0.
struct Walk {
    /// The weight left at the end; 0 if a number reached it.
    left: f64,
    passed: usize,
    /// How many numbers from the first on were checked, and whether these are all above 0 and
    /// finite.
    looked_at: usize,
    are_weights: bool,
}

impl Walk {
    #[inline]
    fn over(jump: f64, numbers: &[f64]) -> Self {
        let mut left = jump;
        let mut signs = 0;
        let (chunks, rest) = numbers.as_chunks::<CHUNK>();
        for (position, chunk) in chunks.iter().enumerate() {
            // The check of the signs does not depend on the subtractions, so it runs in parallel
            // with them.
            signs |= chunk.iter().fold(0, |signs, &number| signs | sign_unless_weight(number));
            let after = chunk.iter().fold(left, |left, number| left - number);
            // Weights above 0 only decrease what is left. So one of them reached the end exactly if
            // nothing is left after the chunk.
            if after > 0.0 {
                left = after;
            } else {
                let reached = reaches(&mut left, chunk).unwrap_or(CHUNK);
                let looked_at = (position + 1) * CHUNK;
                return Self {
                    left: 0.0,
                    passed: position * CHUNK + reached,
                    looked_at,
                    are_weights: signs >> 63 == 0,
                };
            }
        }
        let before = numbers.len() - rest.len();
        let are_weights = signs >> 63 == 0 && are_surely_positive(rest);
        let (left, passed) = match reaches(&mut left, rest) {
            Some(reached) => (0.0, before + reached),
            None => (left, numbers.len()),
        };
        Self { left, passed, looked_at: numbers.len(), are_weights }
    }
}

/// Subtracts numbers up to the first that is at least as large as what is left. Returns its
/// position.
fn reaches(left: &mut f64, numbers: &[f64]) -> Option<usize> {
    numbers.iter().position(|&number| {
        let reaches = number >= *left;
        *left -= number;
        reaches
    })
}

/// Returns a word whose highest bit is set if the number is not a finite number above 0.
/// Subtracting 1 sets the bit for 0, and adding 1 to the exponent sets it for infinity and NaN.
/// There is no branch, so that many numbers are checked together.
#[inline]
fn sign_unless_weight(number: f64) -> u64 {
    const EXPONENT: u64 = 1 << 52;
    let bits = number.to_bits();
    bits | bits.wrapping_sub(1) | bits.wrapping_add(EXPONENT)
}

/// Returns true only if all numbers are above 0 and finite.
fn are_surely_positive(numbers: &[f64]) -> bool {
    numbers.iter().fold(0, |signs, &number| signs | sign_unless_weight(number)) >> 63 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns weights of different magnitudes.
    fn weights() -> Vec<f64> {
        (1..=500_u32).map(|at| f64::from(at % 7 + 1) / f64::from(at % 13 + 1)).collect()
    }

    #[test]
    fn weights_put_aside_are_subtracted_in_order() {
        for start in [0.0, 1e-300, 3.0, 100.0, 1e6, 1e300] {
            let (mut jump, mut plain, mut passed) = (Jump::over(start), start, 0);
            for weight in weights() {
                if !jump.pass_light(weight) {
                    passed += jump.settle();
                    if !jump.pass_light(weight) {
                        break;
                    }
                }
                assert!(weight < plain, "what is light does not reach the end");
                plain -= weight;
                assert_eq!(jump.left().to_bits(), plain.to_bits());
            }
            passed += jump.settle();
            assert_eq!((jump.left().to_bits(), jump.put_aside()), (plain.to_bits(), 0));
            assert!(passed > 0 || start < 200.0);
        }
    }

    #[test]
    fn only_numbers_above_zero_are_light() {
        let mut jump = Jump::over(f64::MAX);
        for number in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
            assert!(!jump.pass_light(number), "{number}");
        }
        assert!(jump.pass_light(f64::from_bits(1)));
    }

    #[test]
    fn a_walk_ends_where_a_plain_one_does() {
        let weights = weights();
        for start in [0.0, 0.1, 3.0, 40.0, 100.0, 333.3, 1e6] {
            for len in [0, 1, 7, 8, 9, 64, 500] {
                let mut plain = start;
                let expected = reaches(&mut plain, &weights[..len]);
                let (mut jump, mut checked) = (Jump::over(start), Jump::over(start));
                assert_eq!(jump.pass(&weights[..len]), expected.unwrap_or(len));
                assert_eq!(checked.pass_checked(&weights[..len]), Some(expected.unwrap_or(len)));
                let left = if expected.is_some() { 0.0 } else { plain };
                assert_eq!([jump.left(), checked.left()].map(f64::to_bits), [left.to_bits(); 2]);
            }
        }
    }

    #[test]
    fn what_is_no_weight_above_zero_leaves_no_trace() {
        for wrong in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for position in [0, 7, 8, 30, 63, 65] {
                for start in [0.0, 5.0, 20.0, 1e9] {
                    let mut numbers = weights()[..66].to_vec();
                    numbers[position] = wrong;
                    let mut jump = Jump::over(start);
                    assert_eq!(jump.pass_checked(&numbers), None, "{wrong} at {position}");
                    assert_eq!(jump.left().to_bits(), start.to_bits());
                }
            }
        }
    }
}
