//! Does a sender suddenly write a lot?
//!
//! A process that checks mail for long (a server) counts how many messages each sender sent within
//! the last hour. If nothing was ever learned from a sender, many messages are evidence for spam:
//! weak at ten messages, and never more than odds of seven to one.
//!
//! One message to a hundred people is checked a hundred times, but counted once, because its
//! fingerprint is known. Counts are in memory only, and lost when the process ends.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

/// The time that the count covers, in milliseconds, and the number of steps in which it forgets.
const HOUR: i64 = 3_600_000;
const PANES: usize = 6;

/// The most senders of a pane. Further senders within its ten minutes are not counted.
const SENDERS: usize = 50_000;

/// The most messages of a pane. Further messages are not counted.
const MESSAGES: usize = 200_000;

/// The number of messages from which a sender writes a lot.
const MANY: u64 = 10;

/// Messages by sender, in panes of ten minutes.
#[derive(Debug, Default)]
pub(crate) struct Bursts {
    panes: [Pane; PANES],
}

#[derive(Debug, Default)]
struct Pane {
    /// The number of its ten minutes, counted from 1970.
    time: i64,
    /// The number of messages of each sender that were first seen in this pane.
    counts: HashMap<u64, u32>,
    /// The fingerprints of these messages.
    seen: HashSet<u64>,
}

impl Bursts {
    /// Counts a message, once however often it is checked. Returns how many messages its sender
    /// sent within the hour.
    pub(crate) fn count(&mut self, sender: &str, fingerprint: u64, now: i64) -> u64 {
        let (hash, step) = (xxh3_64(sender.as_bytes()), now / (HOUR / PANES as i64));
        let at = step.rem_euclid(PANES as i64) as usize;
        if self.panes[at].time != step {
            self.panes[at] = Pane { time: step, ..Pane::default() };
        }
        let is_new = !self.recent(step).any(|pane| pane.seen.contains(&fingerprint));
        let pane = &mut self.panes[at];
        let has_room = pane.counts.len() < SENDERS || pane.counts.contains_key(&hash);
        if is_new && has_room && pane.seen.len() < MESSAGES {
            pane.seen.insert(fingerprint);
            let count = pane.counts.entry(hash).or_default();
            *count = count.saturating_add(1);
        }
        self.recent(step).filter_map(|pane| pane.counts.get(&hash)).map(|&count| u64::from(count)).sum()
    }

    /// Returns the panes of the last hour.
    fn recent(&self, step: i64) -> impl Iterator<Item = &Pane> {
        self.panes.iter().filter(move |pane| step - pane.time < PANES as i64)
    }

    /// Returns what so large a number of messages adds to the log-odds, for a sender without
    /// lessons. Returns `None` if they are fewer than [`MANY`].
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
            assert_eq!(bursts.count("a@b.c", minute as u64, minute * 60_000), minute as u64 + 1);
        }
        assert_eq!(bursts.count("d@e.f", 30, 30 * 60_000), 1);
        assert_eq!(bursts.count("a@b.c", 31, 40 * 60_000), 31);
        assert_eq!(bursts.count("a@b.c", 31, 3 * HOUR), 1);
    }

    #[test]
    fn one_message_to_many_people_counts_once() {
        let mut bursts = Bursts::default();
        for recipient in 0..100 {
            assert_eq!(bursts.count("a@b.c", 7, recipient * 20_000), 1);
        }
        assert_eq!(bursts.count("a@b.c", 8, 40 * 60_000), 2);
    }

    #[test]
    fn few_messages_are_no_burst() {
        assert_eq!(Bursts::log_odds(9), None);
        assert_eq!(Bursts::log_odds(10), Some(0.5));
        assert_eq!(Bursts::log_odds(1_000_000), Some(2.0));
    }
}
