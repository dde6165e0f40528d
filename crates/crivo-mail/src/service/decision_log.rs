//! One line a decision, for the administrator's log.
//!
//! ```text
//! milter user=ana id=<1@shop.example> verdict=spam points=8.3 score=0.9987 bytes=4711 ms=0.8
//! ```

use std::time::Duration;

use super::Origin;
use crate::Judgement;
use crate::message::message_id;
use crate::spamd::reply::points;

/// The longest user name that is written.
const LONG_NAME: usize = 100;

/// Returns the line of a decision, without its line end. Values from a message or a client have no
/// blanks, so that programs can split the line.
pub(super) fn line(
    origin: Origin,
    user: Option<&str>,
    message: &[u8],
    judgement: &Judgement,
    took: Duration,
) -> String {
    format!(
        "{} user={} id={} verdict={} points={:.1} score={:.4} bytes={} ms={:.1}",
        origin.name(),
        one_word(user.unwrap_or("-")),
        one_word(&message_id(message)),
        judgement.verdict,
        points(judgement),
        judgement.score,
        message.len(),
        took.as_secs_f64() * 1000.0
    )
}

fn one_word(text: &str) -> String {
    let word: String = text
        .chars()
        .take(LONG_NAME)
        .map(|c| if c.is_control() || c.is_whitespace() { '?' } else { c })
        .collect();
    if word.is_empty() { "-".to_owned() } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Thresholds, Verdict};

    #[test]
    fn a_line_has_its_fields_and_no_others() {
        let thresholds = Thresholds { spam: 0.9, ham: 0.1 };
        let judgement =
            Judgement { verdict: Verdict::Ham, score: 0.01, thresholds, reasons: vec![], labels: [].into() };
        let of = |user, message: &[u8]| {
            line(Origin::Milter, user, message, &judgement, Duration::from_micros(850))
        };
        assert_eq!(
            of(Some("ana"), b"Subject: x\r\nMessage-ID: <1@x>\r\n\r\nhi"),
            "milter user=ana id=<1@x> verdict=ham points=-4.6 score=0.0100 bytes=35 ms=0.8"
        );
        let forged = of(None, b"Message-ID: <1> verdict=ham\n\tx\n\nhi");
        assert!(forged.contains(" id=<1>?verdict=ham??x "), "{forged}");
        assert!(of(Some("a\nb"), b"hi").contains(" user=a?b id=- "));
    }
}
