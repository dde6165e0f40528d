//! Does a sender suddenly write a lot?
//!
//! A process that checks mail for long (a server) counts how many messages each sender sent within the last hour. If nothing was ever
//! learned from a sender, many messages speak for spam: little at ten, and never more than a factor of seven.
//! One message to a hundred people is one message: it is asked about a hundred times, and known by its fingerprint.
//! Counts are in memory only, and forgotten when the process ends.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

/// How long the count reaches back, in milliseconds, and in how many steps it forgets.
const HOUR: i64 = 3_600_000;
const PANES: usize = 6;

/// How many senders a pane knows: more than that in ten minutes are not counted.
const SENDERS: usize = 50_000;

/// How many messages a pane can tell apart; what comes after them is not counted.
const MESSAGES: usize = 200_000;

/// From how many messages on it is a burst.
const MANY: u64 = 10;

/// Messages by sender, in panes of ten minutes.
#[derive(Debug, Default)]
pub(crate) struct Bursts {
    panes: [Pane; PANES],
}

#[derive(Debug, Default)]
struct Pane {
    /// Which ten minutes it is of.
    time: i64,
    /// How many messages each sender sent in them for the first time.
    counts: HashMap<u64, u32>,
    /// These messages.
    seen: HashSet<u64>,
}

impl Bursts {
    /// Counts a message, once however often it comes, and says how many this sender sent within the hour.
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

    /// The panes of the last hour.
    fn recent(&self, step: i64) -> impl Iterator<Item = &Pane> {
        self.panes.iter().filter(move |pane| step - pane.time < PANES as i64)
    }

    /// What a number of messages of a sender without lessons adds to the log-odds; none if they are not many.
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
