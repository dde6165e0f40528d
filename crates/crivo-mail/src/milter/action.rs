//! What happens to spam? It is marked, unless the administrator chose another action.

use std::str::FromStr;

use super::reply;
#[cfg(feature = "serve")]
use crate::service::Service;
use crate::spamd::reply::{REQUIRED, filter_marks, points};
use crate::{Judgement, Verdict};

/// What is done to spam besides marking it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnSpam {
    /// Nothing: mail programs sort by the marks.
    #[default]
    Mark,
    /// The mail server holds it until an administrator decides.
    Quarantine,
    /// The mail server refuses it.
    Reject,
    /// The mail server asks the sender to try again later.
    Tempfail,
}

impl FromStr for OnSpam {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "mark" => Self::Mark,
            "quarantine" => Self::Quarantine,
            "reject" => Self::Reject,
            "tempfail" => Self::Tempfail,
            _ => return Err(format!("expected mark, quarantine, reject or tempfail, found {text:?}")),
        })
    }
}

/// How the names of users in the folder of users follow from recipients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UserNames {
    /// The part before the `@`.
    #[default]
    Local,
    /// The whole address, for several domains that have users of the same name.
    Address,
}

impl UserNames {
    /// Returns the user of a recipient, in lower case and without an extension such as `+shop`.
    ///
    /// ```
    /// use crivo_mail::milter::action::UserNames;
    ///
    /// assert_eq!(UserNames::Local.of(b"<Ana+shop@Example.org>"), "ana");
    /// assert_eq!(UserNames::Address.of(b"<Ana+shop@Example.org>"), "ana@example.org");
    /// assert_eq!(UserNames::Local.of(b"<postmaster>"), "postmaster");
    /// ```
    pub fn of(self, recipient: &[u8]) -> String {
        let address = String::from_utf8_lossy(recipient).to_lowercase();
        let address = address.trim().trim_start_matches('<').trim_end_matches('>');
        let (local, domain) = address.rsplit_once('@').unwrap_or((address, ""));
        let local = match local.split_once('+') {
            Some((name, _)) if !name.is_empty() => name,
            _ => local,
        };
        match self {
            Self::Address if !domain.is_empty() => format!("{local}@{domain}"),
            _ => local.to_owned(),
        }
    }
}

/// The settings of the administrator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// What is done to spam.
    pub on_spam: OnSpam,
    /// The points from which on [`on_spam`](Self::on_spam) applies. Below, spam is marked.
    pub from_points: f64,
    /// True if the sender is asked to try again later when the filter fails. Otherwise mail passes
    /// without marks.
    pub tempfail_on_failure: bool,
    /// How the names of users follow from recipients.
    pub user_names: UserNames,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            on_spam: OnSpam::default(),
            from_points: REQUIRED,
            tempfail_on_failure: false,
            user_names: UserNames::default(),
        }
    }
}

impl Rules {
    /// Returns the packets that follow a judgement: changes of the message, and what becomes of it.
    pub fn answer(&self, judgement: &Judgement) -> Vec<u8> {
        let points = points(judgement);
        let acts = judgement.verdict == Verdict::Spam && points >= self.from_points;
        let mut packets = reply::insert(&filter_marks(judgement, "\n"));
        match self.on_spam {
            OnSpam::Reject if acts => return reply::refuse("550 5.7.1 This message looks like spam"),
            OnSpam::Tempfail if acts => {
                return reply::refuse("451 4.7.1 This message looks like spam, try again later");
            }
            OnSpam::Quarantine if acts => {
                packets.extend(reply::quarantine(&format!("crivo: spam, {points:.1} points")));
            }
            _ => {}
        }
        packets.extend(reply::go_on());
        packets
    }

    /// Returns the packets to send if the filter has failed.
    pub fn answer_of_failure(&self) -> Vec<u8> {
        if self.tempfail_on_failure {
            return reply::refuse("451 4.7.1 The mail filter is not available, try again later");
        }
        reply::go_on()
    }

    /// Returns the users of recipients, each once. Returns none if users have no stores.
    #[cfg(feature = "serve")]
    pub(super) fn users(&self, service: &Service, recipients: &[Vec<u8>]) -> Vec<String> {
        if !service.has_users() {
            return Vec::new();
        }
        let mut users: Vec<String> =
            recipients.iter().map(|recipient| self.user_names.of(recipient)).collect();
        users.sort_unstable();
        users.dedup();
        users
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Thresholds;

    fn judgement(verdict: Verdict, score: f64) -> Judgement {
        let thresholds = Thresholds { spam: 0.9, ham: 0.1 };
        Judgement { verdict, score, thresholds, reasons: vec![], labels: [].into() }
    }

    fn commands(mut packets: &[u8]) -> String {
        let mut commands = String::new();
        while let Some((length, rest)) = packets.split_first_chunk::<4>() {
            commands.push(char::from(rest[0]));
            packets = &rest[u32::from_be_bytes(*length) as usize..];
        }
        commands
    }

    #[test]
    fn spam_is_marked_and_more_only_when_asked_for() {
        let (spam, ham) = (judgement(Verdict::Spam, 0.999_999), judgement(Verdict::Ham, 0.01));
        let of = |on_spam, judgement| commands(&Rules { on_spam, ..Rules::default() }.answer(judgement));
        assert_eq!(of(OnSpam::Mark, &spam), "iiiic");
        assert_eq!(of(OnSpam::Quarantine, &spam), "iiiiqc");
        assert_eq!((of(OnSpam::Reject, &spam), of(OnSpam::Tempfail, &spam)), ("y".into(), "y".into()));
        for on_spam in [OnSpam::Mark, OnSpam::Quarantine, OnSpam::Reject, OnSpam::Tempfail] {
            assert_eq!(of(on_spam, &ham), "iiic", "ham is never held back");
        }
    }

    #[test]
    fn the_limit_of_points_is_for_the_action_and_not_for_marks() {
        let rules = Rules { on_spam: OnSpam::Reject, from_points: 10.0, ..Rules::default() };
        assert_eq!(commands(&rules.answer(&judgement(Verdict::Spam, 0.95))), "iiiic");
        assert_eq!(commands(&rules.answer(&judgement(Verdict::Spam, 0.999_999))), "y");
    }

    #[test]
    fn a_failure_passes_mail_unless_told_otherwise() {
        assert_eq!(commands(&Rules::default().answer_of_failure()), "c");
        let careful = Rules { tempfail_on_failure: true, ..Rules::default() };
        assert!(careful.answer_of_failure().windows(3).any(|part| part == b"451"));
    }

    #[test]
    fn odd_addresses_are_names_too() {
        for (recipient, user) in [("<>", ""), ("a@b@c", "a@b"), ("<+x@y>", "+x"), ("\"a b\"@c", "\"a b\"")] {
            assert_eq!(UserNames::Local.of(recipient.as_bytes()), user);
        }
    }
}
