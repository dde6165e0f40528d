//! Builds replies to clients, byte for byte as the original sends them.
//!
//! The protocol has points and a limit of 5.0 where the filter has a probability and three
//! verdicts. [`points`] translates: points rise with the probability, and spam begins at 5. So a
//! client that sorts by points always agrees with one that uses the verdict, and a client may have
//! its own limit above or below 5.
//!
//! | verdict | points |
//! |---|---|
//! | ham | −99.9 to −0.1 |
//! | unsure | 0.0 to 4.9 |
//! | spam | 5.0 to 99.9 |

use std::fmt::Write as _;

use super::request::Verb;
use crate::marks::{self, Mark};
use crate::passthrough::verdict_marks;
use crate::{Authentication, Judgement, Listing, Reason, Verdict};

/// A message with at least this number of points is spam: the original's default.
pub const REQUIRED: f64 = 5.0;

/// The largest points in both directions, because the odds of certainty are infinite.
const MOST: f64 = 99.9;

/// The smallest step of points, as they are printed.
const LEAST: f64 = 0.1;

/// From this number of points on, points are log-odds, whatever the thresholds. 10 points are odds
/// of 22,000 to 1.
const PLAIN: f64 = 10.0;

/// The width at which the list in a header continues on the next line.
const FOLD: usize = 76;

/// Returns the answer to PING.
pub fn pong() -> Vec<u8> {
    b"SPAMD/1.5 0 PONG\r\n".to_vec()
}

/// Returns the answer to a request about a message.
pub fn about(verb: Verb, judgement: &Judgement, message: &[u8]) -> Vec<u8> {
    let body = match verb {
        Verb::Symbols => symbols(judgement).join(",").into_bytes(),
        Verb::Report => report(judgement).into_bytes(),
        Verb::ReportIfSpam if judgement.verdict == Verdict::Spam => report(judgement).into_bytes(),
        Verb::ReportIfSpam => Vec::new(),
        Verb::Headers => marks::head_of(&marked(judgement, message)).to_vec(),
        Verb::Process => marked(judgement, message),
        Verb::Check | Verb::Tell | Verb::Ping | Verb::Skip => {
            return framed(verb, judgement.verdict, points(judgement), None);
        }
    };
    framed(verb, judgement.verdict, points(judgement), Some(&body))
}

/// Returns the answer to TELL, which says whether the message was learned and whether it was
/// forgotten.
pub fn told(did_set: bool, did_remove: bool) -> Vec<u8> {
    let mut reply = String::from("SPAMD/1.1 0 EX_OK\r\n");
    if did_set {
        reply.push_str("DidSet: local\r\n");
    }
    if did_remove {
        reply.push_str("DidRemove: local\r\n");
    }
    reply.push_str("Content-length: 2\r\n\r\n\r\n");
    reply.into_bytes()
}

/// Returns the head of an answer, and its body if there is one.
fn framed(verb: Verb, verdict: Verdict, points: f64, body: Option<&[u8]>) -> Vec<u8> {
    let spam = match (verdict, verb) {
        (Verdict::Spam, _) => "True",
        // The original sends this word here. To spamc it means the same as False.
        (_, Verb::ReportIfSpam) => "No",
        _ => "False",
    };
    let length = body.map(|body| format!("Content-length: {}\r\n", body.len())).unwrap_or_default();
    let head = format!("SPAMD/1.1 0 EX_OK\r\n{length}Spam: {spam} ; {points:.1} / {REQUIRED:.1}\r\n\r\n");
    [head.as_bytes(), body.unwrap_or_default()].concat()
}

/// Returns the probability as points, which rise with it. A client with its own limit above or
/// below 5 sorts messages as it would by score. From [`PLAIN`] on, points are the log-odds
/// themselves.
pub fn points(judgement: &Judgement) -> f64 {
    let log_odds = |probability: f64| (probability / (1.0 - probability)).ln().clamp(-MOST, MOST);
    let (odds, limit) = (log_odds(judgement.score), log_odds(judgement.thresholds.spam));
    let (points, least, most) = match judgement.verdict {
        Verdict::Ham => (odds, -MOST, -LEAST),
        Verdict::Unsure => ((REQUIRED - LEAST) * odds / limit.max(LEAST), 0.0, REQUIRED - LEAST),
        Verdict::Spam if limit >= PLAIN => (REQUIRED + odds - limit, REQUIRED, MOST),
        Verdict::Spam if odds >= PLAIN => (odds, REQUIRED, MOST),
        Verdict::Spam => {
            let part = (odds - limit) / (PLAIN - limit);
            (REQUIRED + part * (PLAIN - REQUIRED), REQUIRED, MOST)
        }
    };
    // If the score is not a number, the points are the least of the verdict.
    if points.is_nan() { least } else { points.clamp(least, most) }
}

/// Returns the reasons of the verdict, as names that rules of mail programs can match.
pub fn symbols(judgement: &Judgement) -> Vec<String> {
    let mut symbols = vec![format!("CRIVO_{}", judgement.verdict.name().to_uppercase())];
    for reason in &judgement.reasons {
        let symbol = match reason {
            Reason::Alike { class: Verdict::Ham, .. } => "NEAR_HAM",
            Reason::Alike { .. } => "NEAR_SPAM",
            Reason::Listed { listing: Listing::Allowed, .. } => "SENDER_ALLOWED",
            Reason::Listed { listing: Listing::Blocked, .. } => "SENDER_BLOCKED",
            Reason::Sender { spam: 0, ham: 0, .. } => "SENDER_NEW",
            Reason::Sender { spam: 0, .. } => "SENDER_HAM",
            Reason::Sender { ham: 0, .. } => "SENDER_SPAM",
            Reason::Sender { .. } => "SENDER_MIXED",
            Reason::Burst { .. } => "SENDER_BURST",
            Reason::Authentication { outcome: Authentication::Passed, .. } => "AUTH_PASS",
            Reason::Authentication { outcome: Authentication::Failed, .. } => "AUTH_FAIL",
            Reason::Authentication { outcome: Authentication::Unknown, .. } => "AUTH_NONE",
            Reason::Feature { weight, .. } if *weight > 0.0 => "WORDS_SPAM",
            Reason::Feature { .. } => "WORDS_HAM",
            _ => continue,
        };
        if !symbols.iter().any(|known| known == symbol) {
            symbols.push(symbol.into());
        }
    }
    let likely = judgement.labels.iter().filter(|(_, probability)| **probability >= 0.5);
    symbols.extend(likely.map(|(name, _)| format!("LABEL_{}", name.to_uppercase().replace(['-', '.'], "_"))));
    symbols
}

/// Returns the explanation in words.
fn report(judgement: &Judgement) -> String {
    let Judgement { verdict, score, thresholds, reasons, labels } = judgement;
    let mut text = format!(
        "crivo calls this message {verdict}.\n\nProbability of spam: {score:.4} (spam from {:.4}, ham up to {:.4})\n",
        thresholds.spam, thresholds.ham
    );
    if !reasons.is_empty() {
        text.push_str("\nWhy:\n");
    }
    for reason in reasons {
        let _ = writeln!(text, " * {}", one_line(&reason.to_string()));
    }
    if !labels.is_empty() {
        text.push_str("\nLabels:\n");
    }
    for (name, probability) in labels {
        let _ = writeln!(text, " * {name} {probability:.2}");
    }
    text
}

/// Replaces control characters, because text from a message must not begin a new line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns the message with the headers that mail programs look for.
fn marked(judgement: &Judgement, message: &[u8]) -> Vec<u8> {
    let line_end = if message.split(|&b| b == b'\n').next().is_some_and(|line| line.ends_with(b"\r")) {
        "\r\n"
    } else {
        "\n"
    };
    marks::mark(message, &filter_marks(judgement, line_end), marks::OF_FILTERS)
}

/// Returns the headers that mail programs look for. `line_end` is the line end within a value.
pub(crate) fn filter_marks(judgement: &Judgement, line_end: &str) -> Vec<Mark<'static>> {
    let points = points(judgement);
    let mut added: Vec<Mark<'_>> = Vec::new();
    if judgement.verdict == Verdict::Spam {
        added.push(("X-Spam-Flag", "YES".into()));
    }
    added.push(("X-Spam-Level", "*".repeat(points.clamp(0.0, 50.0) as usize).into()));
    added.push(("X-Spam-Status", status(judgement, points, line_end).into()));
    added.extend(verdict_marks(judgement));
    added
}

/// Returns `Yes, score=15.5 required=5.0 tests=… version=…`, folded into lines of limited width.
fn status(judgement: &Judgement, points: f64, line_end: &str) -> String {
    let yes = if judgement.verdict == Verdict::Spam { "Yes" } else { "No" };
    let mut status = format!("{yes}, score={points:.1} required={REQUIRED:.1} tests=");
    let mut width = "X-Spam-Status: ".len() + status.len();
    let mut first = true;
    for symbol in symbols(judgement) {
        if !first {
            status.push(',');
            width += 1;
        }
        if width + symbol.len() > FOLD && !first {
            let _ = write!(status, "{line_end}\t");
            width = 8;
        }
        width += symbol.len();
        status.push_str(&symbol);
        first = false;
    }
    let _ = write!(status, "{line_end}\tversion=crivo-{}", env!("CARGO_PKG_VERSION"));
    status
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::Thresholds;

    fn judgement(verdict: Verdict, score: f64) -> Judgement {
        Judgement {
            verdict,
            score,
            thresholds: Thresholds { spam: 0.9, ham: 0.1 },
            reasons: vec![
                Reason::Alike { class: Verdict::Spam, subject: "Win\nX-Evil: 1".into(), similarity: 0.87 },
                Reason::Sender { address: "a@example.org".into(), spam: 3, ham: 0 },
                Reason::Feature { name: "the word \"winner\"".into(), weight: 2.0 },
                Reason::Feature { name: "the word \"prize\"".into(), weight: 1.0 },
            ],
            labels: BTreeMap::from([("social-media".into(), 0.7), ("work".into(), 0.1)]),
        }
    }

    #[test]
    fn recorded_heads_come_out_byte_by_byte() {
        let head =
            |verb, verdict, points, body| String::from_utf8(framed(verb, verdict, points, body)).unwrap();
        assert_eq!(
            head(Verb::Check, Verdict::Spam, 1000.0, None),
            "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 1000.0 / 5.0\r\n\r\n"
        );
        assert_eq!(
            head(Verb::Check, Verdict::Ham, -0.0, None),
            "SPAMD/1.1 0 EX_OK\r\nSpam: False ; -0.0 / 5.0\r\n\r\n"
        );
        assert_eq!(
            head(Verb::ReportIfSpam, Verdict::Ham, -0.0, Some(b"")),
            "SPAMD/1.1 0 EX_OK\r\nContent-length: 0\r\nSpam: No ; -0.0 / 5.0\r\n\r\n"
        );
        assert_eq!(
            head(Verb::Symbols, Verdict::Spam, 15.5, Some(b"BLOOM_SENDER,MINHASH_NEAR")),
            "SPAMD/1.1 0 EX_OK\r\nContent-length: 25\r\nSpam: True ; 15.5 / 5.0\r\n\r\nBLOOM_SENDER,MINHASH_NEAR"
        );
        assert_eq!(told(true, false), b"SPAMD/1.1 0 EX_OK\r\nDidSet: local\r\nContent-length: 2\r\n\r\n\r\n");
        assert_eq!(
            told(false, true),
            b"SPAMD/1.1 0 EX_OK\r\nDidRemove: local\r\nContent-length: 2\r\n\r\n\r\n"
        );
    }

    #[test]
    fn every_piece_of_evidence_has_a_name_once() {
        assert_eq!(
            symbols(&judgement(Verdict::Spam, 0.99)),
            ["CRIVO_SPAM", "NEAR_SPAM", "SENDER_SPAM", "WORDS_SPAM", "LABEL_SOCIAL_MEDIA"]
        );
    }

    #[test]
    fn what_a_message_says_cannot_become_a_line_of_the_report() {
        let report = report(&judgement(Verdict::Spam, 0.99));
        assert!(!report.contains("\nX-Evil"), "{report}");
        assert!(report.contains("87 % like a learned spam message"), "{report}");
    }

    #[test]
    fn the_message_comes_back_with_headers_in_its_own_line_ends() {
        let reply = about(Verb::Process, &judgement(Verdict::Spam, 0.99), b"From: a\r\n\r\nhi\r\n");
        let text = String::from_utf8(reply).unwrap();
        let (head, message) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-length: {}\r\n", message.len())), "{text}");
        assert_eq!(
            message,
            "X-Spam-Flag: YES\r\nX-Spam-Level: ******\r\n\
             X-Spam-Status: Yes, score=6.5 required=5.0 tests=CRIVO_SPAM,NEAR_SPAM,\r\n\
             \tSENDER_SPAM,WORDS_SPAM,LABEL_SOCIAL_MEDIA\r\n\tversion=crivo-0.1.0\r\n\
             X-Crivo: spam; score=0.9900\r\nX-Crivo-Keywords: $category-social-media\r\nFrom: a\r\n\r\nhi\r\n"
        );
        let head = about(Verb::Headers, &judgement(Verdict::Ham, 0.01), b"From: a\n\nhi\n");
        let head = String::from_utf8(head).unwrap();
        assert!(head.ends_with("\nFrom: a\n\n") && head.contains("X-Spam-Status: No, score=-4.6"), "{head}");
    }

    #[test]
    fn points_follow_the_score() {
        let mut last = f64::NEG_INFINITY;
        let thresholds = Thresholds { spam: 0.9, ham: 0.1 };
        for step in -200..=200 {
            let score = 1.0 / (1.0 + (-f64::from(step) / 10.0).exp());
            let now = points(&judgement(thresholds.verdict(score), score));
            // Unsure messages below one half have 0 points, the least of the verdict.
            let is_flat = thresholds.verdict(score) == Verdict::Unsure && score <= 0.5;
            assert!(now > last || is_flat && now >= last, "{step}: {last} then {now}");
            last = now;
        }
    }

    proptest! {
        #[test]
        fn points_as_printed_never_contradict_the_verdict(score in 0.0f64..=1.0, verdict in 0usize..3) {
            let verdict = [Verdict::Ham, Verdict::Unsure, Verdict::Spam][verdict];
            for score in [score, f64::NAN, 0.0, 1.0] {
                let printed: f64 = format!("{:.1}", points(&judgement(verdict, score))).parse().unwrap();
                prop_assert_eq!(printed >= REQUIRED, verdict == Verdict::Spam);
                prop_assert_eq!(printed < 0.0, verdict == Verdict::Ham);
            }
        }
    }
}
