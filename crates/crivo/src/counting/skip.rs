//! One random draw for many events.
//!
//! If an event counts with probability `p`, the number of events before the next one that counts is
//! geometric. Drawing that number takes as long as deciding a few events at random. After it, any
//! number of events takes one subtraction, even a million. The distribution has no memory, so the
//! rest of a skip stays valid after anything else happens, such as a merge with another counter.

use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
use crate::random::Generator;

/// The number of events that pass before the next one that counts. From [`OPEN`](Self::OPEN) on,
/// the difference to it is the number of events that pass before the skip is drawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Skip(u64);

impl Skip {
    /// Skips of 2^63 events and more are stored as `u64::MAX`: 2^63 − 1 events pass without
    /// counting, and then a new skip is drawn. The distribution stays the same because the trials
    /// are independent.
    const OPEN: u64 = 1 << 63;

    pub(super) fn draw(chance: f64, generator: &mut Generator) -> Self {
        Self::of(generator.failures(chance))
    }

    /// Does the same as [`draw`](Self::draw), for the probability with this
    /// [logarithm](crate::random::log_of_failure).
    pub(super) fn draw_with(log_of_failure: f64, generator: &mut Generator) -> Self {
        Self::of(generator.failures_with(log_of_failure))
    }

    fn of(failures: u64) -> Self {
        Self(if failures < Self::OPEN { failures } else { u64::MAX })
    }

    /// Passes all events if none of them counts and no open skip ends. That takes one comparison
    /// and one subtraction, and is the case for nearly every event of a long stream. Otherwise
    /// returns false, and passes no event.
    #[inline]
    pub(super) fn pass_all(&mut self, events: u64) -> bool {
        let passes = events <= self.0 & (Self::OPEN - 1);
        if passes {
            self.0 -= events;
        }
        passes
    }

    /// Passes events. If one of them counts, returns how many came after it. The caller then draws
    /// the next skip with the new probability.
    pub(super) fn pass(
        &mut self,
        events: u64,
        chance: impl FnOnce() -> f64,
        generator: &mut Generator,
    ) -> Option<u64> {
        let left = if self.0 < Self::OPEN { events } else { self.close(events, chance(), generator) };
        if self.0 < Self::OPEN && self.0 < left {
            return Some(left - self.0 - 1);
        }
        self.0 -= left;
        None
    }

    /// Draws open skips until one reaches beyond the events. Returns how many events that skip
    /// still has to pass.
    #[cold]
    fn close(&mut self, events: u64, chance: f64, generator: &mut Generator) -> u64 {
        let mut left = events;
        while self.0 >= Self::OPEN && self.0 - Self::OPEN < left {
            left -= self.0 - Self::OPEN;
            *self = Self::draw(chance, generator);
        }
        left
    }

    pub(super) fn encode(self, writer: &mut Writer) {
        writer.u64(self.0);
    }

    pub(super) fn decode(reader: &mut Reader<'_>, chance: f64) -> Result<Self> {
        let skip = reader.u64("skip")?;
        let longest = Self::of(Generator::most_failures(chance)).0;
        // If no event counts any more, only one value could be drawn.
        let shortest = if chance == 0.0 { longest } else { 0 };
        if skip < shortest || skip > longest {
            return Err(Error::contents("skip", format_args!("{shortest} to {longest}"), skip));
        }
        Ok(Self(skip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::log_of_failure;

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
    fn all_events_pass_at_once_as_they_do_in_the_general_case() {
        const EDGE: u64 = Skip::OPEN;
        for start in [0, 1, 5, EDGE - 1, EDGE, EDGE + 1, EDGE + 5, u64::MAX] {
            for events in [0, 1, 4, 5, 6, EDGE - 1, EDGE, u64::MAX] {
                let (mut quick, mut general) = (Skip(start), Skip(start));
                let (mut generator, untouched) = (Generator::new(1), Generator::new(1));
                if quick.pass_all(events) {
                    assert_eq!(general.pass(events, || 0.5, &mut generator), None);
                    assert_eq!((quick, generator), (general, untouched));
                } else {
                    assert_eq!(quick, Skip(start));
                }
            }
        }
    }

    #[test]
    fn a_chance_and_its_logarithm_draw_the_same() {
        for chance in [1.0, 0.5, 1.0 / 64.0, 1e-30, 0.0] {
            let (mut first, mut second) = (Generator::new(2), Generator::new(2));
            let log = log_of_failure(chance);
            assert_eq!(Skip::draw(chance, &mut first), Skip::draw_with(log, &mut second));
        }
    }

    #[test]
    fn open_skips_are_drawn_again_whatever_the_portions() {
        let quarter = 1 << 62;
        let after = |portions: &[u64]| {
            let mut generator = Generator::new(1);
            let mut skip = Skip::draw(1e-30, &mut generator);
            assert_eq!(skip, Skip(u64::MAX));
            for &portion in portions {
                assert_eq!(skip.pass(portion, || 1e-30, &mut generator), None);
            }
            (skip, generator)
        };
        let at_once = after(&[u64::MAX]);
        assert_eq!(at_once.0, Skip(u64::MAX - 1), "twice 2^63 − 1 events and one more");
        assert_eq!(after(&[quarter, quarter, quarter, quarter - 1]), at_once);
        assert_eq!(after(&[u64::MAX / 2, 1, u64::MAX / 2]), at_once);
    }

    #[test]
    fn an_open_skip_ends_in_a_count_when_the_next_one_does() {
        let mut generator = Generator::new(1);
        let mut skip = Skip(Skip::OPEN + 5);
        assert_eq!(skip.pass(5, || 1.0, &mut generator), None);
        assert_eq!(skip.pass(3, || 1.0, &mut generator), Some(2));
    }
}
