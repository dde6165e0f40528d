//! What does a step of the margin add to the log-odds after a number of messages? Measured on mail
//! whose classes are known.
//!
//! This is how the prior of the calibration is measured ([`crate::combine`]): `examples/prior.rs`
//! calibrates stores with few messages, and fits the curve whose numbers the filter begins with.

use crate::combine::{Combiner, Evidence};
use crate::error::Result;
use crate::filter::Filter;
use crate::message::Message;

/// The coefficients of a regression over the evidence about new mail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// What a step of the margin adds to the log-odds.
    pub slope: f64,
    /// The log-odds of a message without evidence.
    pub intercept: f64,
}

impl Filter {
    /// Fits the regression of the probability to mail that was not learned. Each message is given
    /// with true if it is spam.
    ///
    /// # Errors
    /// If mail cannot be read, or the store is damaged.
    #[doc(hidden)]
    pub fn calibrate(&self, mail: impl IntoIterator<Item = Result<(Vec<u8>, bool)>>) -> Result<Calibration> {
        let mut examples: Vec<(Evidence, bool)> = Vec::new();
        for next in mail {
            let (bytes, is_spam) = next?;
            if let Some(evidence) = self.weigh(&Message::read(&bytes))? {
                examples.push((evidence, is_spam));
            }
        }
        let [intercept, slope, ..] = Combiner::fit(&examples).coefficients;
        Ok(Calibration { slope, intercept })
    }
}

/// Returns the calibration that the filter assumes before it has measured its own, for a store with
/// this number of messages.
#[doc(hidden)]
pub fn shipped_prior(messages: usize) -> Calibration {
    let [(intercept, _), (slope, _), ..] = crate::combine::prior(messages);
    Calibration { slope, intercept }
}
