//! Does a sender suddenly write a lot?
//!
//! Whoever checks mail for long (a server) counts how many messages each sender sent within the last hour. If nothing was ever
//! learned from a sender, many messages speak for spam: little at ten, and never more than a factor of seven.
//! Counts are in memory only, and forgotten when the process ends.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// How long the count reaches back, in milliseconds, and in how many steps it forgets.
const HOUR: i64 = 3_600_000;
const PANES: usize = 6;

/// How many senders a pane knows: more than that in ten minutes are counted together with nobody.
const SENDERS: usize = 50_000;

/// From how many messages on it is a burst.
const MANY: u64 = 10;

/// Messages by sender, in panes of ten minutes.
#[derive(Debug, Default)]
pub(crate) struct Bursts {
    panes: [HashMap<u64, u32>; PANES],
    /// Which ten minutes each pane is of.
    times: [i64; PANES],
}

impl Bursts {
    /// Counts a message, and says how many this sender sent within the hour.
    pub(crate) fn count(&mut self, sender: &str, now: i64) -> u64 {
        let (hash, step) = (xxh3_64(sender.as_bytes()), now / (HOUR / PANES as i64));
        let at = step.rem_euclid(PANES as i64) as usize;
        if self.times[at] != step {
            self.panes[at].clear();
            self.times[at] = step;
        }
        if self.panes[at].len() < SENDERS || self.panes[at].contains_key(&hash) {
            let count = self.panes[at].entry(hash).or_default();
            *count = count.saturating_add(1);
        }
        let recent = self.panes.iter().zip(&self.times).filter(|(_, time)| step - **time < PANES as i64);
        recent.filter_map(|(pane, _)| pane.get(&hash)).map(|&count| u64::from(count)).sum()
    }

    /// What so many messages of a sender nobody has learned from add to the log-odds; none if they are not many.
    pub(crate) fn log_odds(messages: u64) -> Option<f64> {
        (messages >= MANY).then(|| (0.5 * libm::log2(messages as f64 / MANY as f64) + 0.5).min(2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_remembered_and_no_more() {
        let mut bursts = Bursts::default();
        for minute in 0..30 {
            assert_eq!(bursts.count("a@b.c", minute * 60_000), minute as u64 + 1);
        }
        assert_eq!(bursts.count("d@e.f", 30 * 60_000), 1);
        assert_eq!(bursts.count("a@b.c", 40 * 60_000), 31);
        assert_eq!(bursts.count("a@b.c", 3 * HOUR), 1);
    }

    #[test]
    fn few_messages_are_no_burst() {
        assert_eq!(Bursts::log_odds(9), None);
        assert_eq!(Bursts::log_odds(10), Some(0.5));
        assert_eq!(Bursts::log_odds(1_000_000), Some(2.0));
    }
}
