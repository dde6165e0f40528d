//! Tossing one coin for many events.
//!
//! If an event counts with chance `p`, the number of events that pass before the next one that counts is
//! geometric. Drawing that number once costs as much as a few coins, and then every event is a
//! subtraction, a million of them too. Because a coin has no memory, what is left of a skip stays valid
//! whatever happened before: joining another counter's events changes nothing about it.

use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
use crate::random::Generator;

/// How many events pass before the next one that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Skip(u64);

impl Skip {
    /// More than any number that can be stored: that many events pass, and then it is drawn again.
    const LONGEST: u64 = u64::MAX;

    pub(super) fn draw(chance: f64, generator: &mut Generator) -> Self {
        Self(generator.failures(chance))
    }

    /// Lets events pass. If one of them counts, the answer is how many came after it, and the caller
    /// draws the next skip at the chance that holds from there on.
    #[inline]
    pub(super) fn pass(
        &mut self,
        events: u64,
        chance: impl FnOnce() -> f64,
        generator: &mut Generator,
    ) -> Option<u64> {
        if let Some(rest) = events.checked_sub(self.0).and_then(|rest| rest.checked_sub(1)) {
            return Some(rest);
        }
        if self.0 == Self::LONGEST {
            self.0 = (Self::LONGEST - events).saturating_add(generator.failures(chance()));
        } else {
            self.0 -= events;
        }
        None
    }

    pub(super) fn encode(self, writer: &mut Writer) {
        writer.u64(self.0);
    }

    pub(super) fn decode(reader: &mut Reader<'_>, chance: f64) -> Result<Self> {
        let skip = reader.u64("skip")?;
        let longest = Generator::most_failures(chance);
        // If nothing counts any more, the draw had no choice.
        let shortest = if chance == 0.0 { longest } else { 0 };
        if skip < shortest || skip > longest {
            return Err(Error::contents("skip", format_args!("{shortest} to {longest} events"), skip));
        }
        Ok(Self(skip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_after_the_skip_counts() {
        let mut generator = Generator::new(1);
        let mut skip = Skip(3);
        assert_eq!(skip.pass(0, || 0.5, &mut generator), None);
        assert_eq!(skip.pass(2, || 0.5, &mut generator), None);
        assert_eq!(skip, Skip(1));
        assert_eq!(skip.pass(1, || 0.5, &mut generator), None);
        assert_eq!(skip.pass(1, || 0.5, &mut generator), Some(0));
        assert_eq!(skip.pass(10, || 0.5, &mut generator), Some(9));
    }

    #[test]
    fn the_longest_skip_never_ends_in_a_count() {
        let mut generator = Generator::new(1);
        let mut skip = Skip(Skip::LONGEST);
        assert_eq!(skip.pass(u64::MAX, || 1e-30, &mut generator), None);
        assert_eq!(skip, Skip(Skip::LONGEST), "drawn again");
        assert_eq!(skip.pass(5, || 1.0, &mut generator), None);
        assert_eq!(skip, Skip(Skip::LONGEST - 5));
    }
}
