//! What does a caller want of the verdicts? A false-positive rate, or thresholds of its own.

use crate::error::{Error, Result};
use crate::store::Method;

/// What a caller or the owner of a store wants of verdicts. An unset field is taken from the policy
/// of the store. If it is unset there as well, the filter decides.
///
/// ```
/// use crivo_mail::Policy;
///
/// let careful = Policy { false_positive_rate: Some(0.0005), ..Policy::default() };
/// assert!(careful.check().is_ok());
/// assert!(Policy { spam_from: Some(1.5), ..Policy::default() }.check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Policy {
    /// The largest share of ham that may be called spam.
    pub false_positive_rate: Option<f64>,
    /// The score from which a message is spam, instead of the learned one. In a store of the
    /// classic method, the similarity to learned spam.
    pub spam_from: Option<f64>,
    /// The score up to which a message is ham, instead of the learned one.
    pub ham_to: Option<f64>,
}

impl Policy {
    /// Returns an error if no filter can follow the policy.
    ///
    /// # Errors
    /// If a number is outside of its range, or ham would end above where spam begins.
    pub fn check(&self) -> Result<()> {
        let refuse = |what: &str, expected: &str, found: f64| {
            Err(Error::Unsuitable(format!("{what}: expected {expected}, found {found}")))
        };
        match (self.false_positive_rate, self.spam_from, self.ham_to) {
            (Some(rate), ..) if !(1e-6..=0.5).contains(&rate) => {
                refuse("the false-positive rate", "a share from 0.000001 to 0.5, such as 0.001", rate)
            }
            (_, Some(spam), _) if !(spam > 0.0 && spam <= 1.0) => {
                refuse("the score from which mail is spam", "a number above 0 and up to 1", spam)
            }
            (.., Some(ham)) if !(0.0..1.0).contains(&ham) => {
                refuse("the score up to which mail is ham", "a number from 0 and below 1", ham)
            }
            (_, Some(spam), Some(ham)) if ham >= spam => {
                refuse("the score up to which mail is ham", "less than that from which it is spam", ham)
            }
            _ => Ok(()),
        }
    }

    /// Checks the policy as [`check`](Self::check) does, for stores of a method.
    ///
    /// # Errors
    /// As [`check`](Self::check), and if the method has no use for a field that is set.
    pub fn check_for(&self, method: Method) -> Result<()> {
        if method == Method::Classic && (self.false_positive_rate.is_some() || self.ham_to.is_some()) {
            return Err(Error::Unsuitable(
                "the store has the method classic, which knows nothing of ham: only the similarity from which mail is spam \
                 can be chosen"
                    .into(),
            ));
        }
        self.check()
    }

    /// Returns this policy, with its unset fields taken from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            false_positive_rate: self.false_positive_rate.or(other.false_positive_rate),
            spam_from: self.spam_from.or(other.spam_from),
            ham_to: self.ham_to.or(other.ham_to),
        }
    }

    /// Returns true if no field is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let parts = [self.false_positive_rate, self.spam_from, self.ham_to];
        parts.iter().flat_map(|part| part.unwrap_or(f64::NAN).to_le_bytes()).collect()
    }

    pub(crate) fn decode(record: &[u8]) -> Option<Self> {
        let (numbers, rest) = record.as_chunks::<8>();
        let numbers: [[u8; 8]; 3] = numbers.try_into().ok()?;
        let [false_positive_rate, spam_from, ham_to] =
            numbers.map(|number| Some(f64::from_le_bytes(number)).filter(|number| !number.is_nan()));
        let policy = Self { false_positive_rate, spam_from, ham_to };
        (rest.is_empty() && policy.check().is_ok()).then_some(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classic_method_has_a_threshold_and_nothing_else() {
        let alike = Policy { spam_from: Some(0.3), ..Policy::default() };
        assert!(alike.check_for(Method::Classic).is_ok());
        for wanted in [
            Policy { ham_to: Some(0.1), ..alike },
            Policy { false_positive_rate: Some(0.01), ..alike },
            Policy { spam_from: Some(2.0), ..alike },
        ] {
            assert!(wanted.check_for(Method::Classic).is_err(), "{wanted:?}");
        }
    }

    #[test]
    fn policies_come_back_and_nonsense_is_refused() {
        let policy = Policy { false_positive_rate: Some(0.01), spam_from: None, ham_to: Some(0.2) };
        assert_eq!(Policy::decode(&policy.encode()), Some(policy));
        assert_eq!(Policy::decode(&Policy::default().encode()), Some(Policy::default()));
        for bytes in [&b""[..], &[0; 23], &[0; 24], &[0; 25]] {
            assert_eq!(Policy::decode(bytes), None);
        }
        let half = |spam_from, ham_to| Policy { spam_from, ham_to, false_positive_rate: None }.check();
        assert!(half(Some(0.5), Some(0.5)).is_err() && half(Some(0.5), Some(0.4)).is_ok());
        assert!(half(Some(f64::NAN), None).is_err() && half(None, Some(f64::NAN)).is_err());
    }
}
