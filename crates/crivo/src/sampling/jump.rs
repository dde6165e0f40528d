//! How much weight passes before the next item of a weighted sample gets in.
//!
//! What is left is a number from which every weight is subtracted, in order, because the rounding
//! of each subtraction is part of the stored state. A subtraction waits for the one before. If each
//! insert also writes the number to memory and the next one reads it there, that wait is longer
//! still. So single weights that cannot reach the end are only put aside, and subtracted a few at a
//! time.

/// How many weights are put aside. They lie in the sketch itself, and each container of sketches
/// has room for the largest kind.
const ASIDE: usize = 4;

/// How many weights of a batch are looked at together.
const CHUNK: usize = 8;

/// The weight that still passes.
#[derive(Debug, Clone)]
pub(super) struct Jump {
    /// What is left, before the weights that are put aside are subtracted.
    left: f64,
    /// A weight below this does not reach the end, whatever was put aside: [`ASIDE`] of them are
    /// half of what is left.
    light: f64,
    aside: [f64; ASIDE],
    count: usize,
}

impl Jump {
    /// A jump over that much weight. Over 0, nothing passes.
    pub(super) fn over(left: f64) -> Self {
        let light = left * (0.5 / ASIDE as f64);
        Self { left, light, aside: [0.0; ASIDE], count: 0 }
    }

    /// Lets a weight pass if it is light; otherwise returns false, and nothing has passed. Only a
    /// number above 0 is light.
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

    /// Returns how many weights are put aside.
    pub(super) fn put_aside(&self) -> u64 {
        self.count as u64
    }

    /// What is left.
    pub(super) fn left(&self) -> f64 {
        self.aside.iter().take(self.count).fold(self.left, |left, weight| left - weight)
    }

    /// Subtracts what was put aside, and returns how many weights that were.
    pub(super) fn settle(&mut self) -> u64 {
        let count = self.put_aside();
        *self = Self::over(self.left());
        count
    }

    /// Lets weights pass up to the first that reaches the end, which ends the jump, and returns its
    /// position, or the number of weights if none does. Weights must be above 0 and finite, and
    /// none put aside.
    #[inline]
    pub(super) fn pass(&mut self, weights: &[f64]) -> usize {
        let walk = Walk::over(self.left, weights);
        *self = Self::over(walk.left);
        walk.passed
    }

    /// As [`pass`](Self::pass), for numbers that may not all be above 0 and finite. Returns nothing
    /// if one is not, and nothing has passed.
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

/// What a walk over numbers came to: it ends where one reaches what is left, if all before are
/// above 0.
struct Walk {
    /// What is left at the end; 0 if a number reached it.
    left: f64,
    passed: usize,
    /// How many numbers from the first were checked, and whether they are above 0 and finite.
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
            // The check of the signs has no part in the chain of subtractions, and runs beside it.
            signs |= chunk.iter().fold(0, |signs, &number| signs | sign_unless_weight(number));
            let after = chunk.iter().fold(left, |left, number| left - number);
            // Weights above 0 only take away: one of them reached the end if and only if nothing is
            // left at last.
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

/// Subtracts numbers up to the first that reaches what is left, and returns its position.
fn reaches(left: &mut f64, numbers: &[f64]) -> Option<usize> {
    numbers.iter().position(|&number| {
        let reaches = number >= *left;
        *left -= number;
        reaches
    })
}

/// Returns a word whose highest bit is set for a negative number, for 0 (less one) and for infinity
/// or no number (one exponent more): without a branch, so that many are looked at together.
#[inline]
fn sign_unless_weight(number: f64) -> u64 {
    const EXPONENT: u64 = 1 << 52;
    let bits = number.to_bits();
    bits | bits.wrapping_sub(1) | bits.wrapping_add(EXPONENT)
}

/// Returns true only if all are weights above 0.
fn are_surely_positive(numbers: &[f64]) -> bool {
    numbers.iter().fold(0, |signs, &number| signs | sign_unless_weight(number)) >> 63 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights of every magnitude, and what is left after each if they are subtracted one at a
    /// time.
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
