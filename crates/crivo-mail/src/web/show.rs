//! Shows verdicts, scores and lists of decisions in words and pictures.
//!
//! No information is given by colour alone: a verdict is a word with a shape, and a reason names
//! its side.

use std::time::{Duration, SystemTime};

use crivo::keys::calendar::date_of;
use crivo_page::{Cell, Column, Markup, Table, number, text};
use maud::html;

use crate::service::{Decision, Origin};
use crate::{Judgement, Listing, Reason, Verdict};

/// The width of the picture of a score, in its own units.
const WIDTH: f64 = 400.0;

/// The largest log-odds shown. Higher odds than e⁹ to 1 look the same.
const MOST_ODDS: f64 = 9.0;

/// Shows the verdict as a word with a shape.
pub(super) fn badge(verdict: Verdict) -> Markup {
    let shape = match verdict {
        Verdict::Spam => "M8 1 15 15H1z",
        Verdict::Ham => "M2 8.5 6.2 13 14 3.5",
        Verdict::Unsure => "M2 8h12",
    };
    html! {
        span.badge.(verdict.name()) {
            svg viewBox="0 0 16 16" aria-hidden="true" focusable="false" { path d=(shape) {} }
            span.verdict-word { (verdict.name()) }
        }
    }
}

/// Returns a probability with four decimals.
pub(super) fn probability(score: f64) -> String {
    format!("{score:.4}")
}

/// Shows where the score lies between ham and spam. The axis is the logarithm of the odds, because
/// the difference between 0.99 and 0.9999 is as large as that between 0.5 and 0.99.
pub(super) fn scale(judgement: &Judgement) -> Markup {
    let Judgement { score, thresholds, verdict, .. } = judgement;
    let at = |p: f64| {
        let p = p.clamp(0.0, 1.0);
        let odds = (p / (1.0 - p)).ln();
        let odds = if odds.is_nan() { 0.0 } else { odds.clamp(-MOST_ODDS, MOST_ODDS) };
        WIDTH / 2.0 * (1.0 + odds / MOST_ODDS)
    };
    let (ham, spam) = (at(thresholds.ham), at(thresholds.spam).max(at(thresholds.ham)));
    // The marker stays inside the picture.
    let marker = at(*score).clamp(7.0, WIDTH - 7.0);
    let words = format!(
        "Probability {}: {}. Ham up to {}, spam from {}.",
        probability(*score),
        verdict.name(),
        probability(thresholds.ham),
        probability(thresholds.spam)
    );
    let zones = [("ham", 0.0, ham), ("unsure", ham, spam), ("spam", spam, WIDTH)];
    html! {
        svg.scale viewBox="0 0 400 46" role="img" {
            title { (words) }
            @for (name, from, to) in zones {
                rect class=(name) x=(format!("{from:.1}")) y="16" width=(format!("{:.1}", (to - from).max(0.0))) height="10" {}
                @if to - from > 40.0 {
                    text x=(format!("{:.1}", f64::midpoint(from, to))) y="42" { (name) }
                }
            }
            path.marker d=(format!("M{marker:.1} 28l-7 -14h14z")) {}
        }
    }
}

/// Returns the CSS class of the side that a reason speaks for.
pub(super) fn direction(reason: &Reason) -> &'static str {
    match reason {
        Reason::Alike { class: Verdict::Ham, .. } | Reason::Listed { listing: Listing::Allowed, .. } => {
            "for-ham"
        }
        Reason::Alike { .. } | Reason::Burst { .. } | Reason::Listed { .. } => "for-spam",
        Reason::Sender { spam, ham, .. } if spam > ham => "for-spam",
        Reason::Sender { spam, ham, .. } if ham > spam => "for-ham",
        Reason::Feature { weight, .. } if *weight > 0.0 => "for-spam",
        Reason::Feature { .. } => "for-ham",
        _ => "neither",
    }
}

/// Shows decisions, newest first. Those that still have their explanation are links.
pub(super) fn decisions(decisions: &[&Decision]) -> Markup {
    if decisions.is_empty() {
        return html! { p.muted { "None since the start." } };
    }
    let mut table = Table::new("Decisions, newest first")
        .column(Column::text("Verdict"))
        .column(Column::number("Probability"))
        .column(Column::text("When"))
        .column(Column::text("From"))
        .column(Column::number("Size"));
    for decision in decisions {
        let verdict = match decision.given {
            Some(_) => html! {
                a href=(format!("/decisions/{}", decision.number)) aria-label=(format!("{}, decision {}", decision.verdict.name(), decision.number)) { (badge(decision.verdict)) }
            },
            None => badge(decision.verdict),
        };
        let origin = match decision.origin {
            Origin::Page => "this page",
            Origin::Spamd => "spamd",
            Origin::Milter => "milter",
        };
        let from = match &decision.user {
            None => origin.to_owned(),
            Some(user) => format!("{origin}, {user}"),
        };
        table = table.row([
            Cell::markup(verdict),
            Cell::markup(html! { (probability(decision.score)) }).value(decision.score),
            Cell::text(&ago(decision.at.elapsed().unwrap_or_default())),
            Cell::text(&text::shorten(&from, 40)),
            Cell::markup(html! { (size(decision.bytes)) }).value(decision.bytes as f64),
        ]);
    }
    table.markup()
}

/// Returns `3 spam messages` or `1 wanted one`, for example.
pub(super) fn count(number_of: u64, what: &str) -> String {
    let plural = if number_of == 1 { "" } else { "s" };
    format!("{} {what}{plural}", number::grouped(number_of as f64))
}

/// Returns a size in bytes, kB or MB.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Returns a duration in milliseconds, or in seconds from one second on.
pub(super) fn seconds(time: f64) -> String {
    if time < 0.9995 { format!("{:.2} ms", time * 1e3) } else { format!("{time:.1} s") }
}

/// Returns how long ago something was, in words.
pub(super) fn ago(time: Duration) -> String {
    match time.as_secs() {
        0..10 => "just now".into(),
        seconds @ 10..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds @ 3600..86400 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86400),
    }
}

/// Returns a moment in UTC: `2026-11-16 05:49 UTC`.
pub(super) fn moment(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, minutes) = ((seconds / 86400) as i64, seconds % 86400 / 60);
    let (year, month, day) = date_of(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Thresholds;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_794_808_140, "2026-11-16 05:49 UTC"),
            (4_107_542_399, "2100-02-28 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(moment(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn any_score_and_thresholds_give_a_picture() {
        for score in [0.0, 1e-300, 0.5, 1.0, f64::NAN, -1.0, 2.0] {
            for thresholds in [(0.9, 0.1), (2.0, -1.0), (0.1, 0.9), (f64::NAN, f64::NAN)] {
                let thresholds = Thresholds { spam: thresholds.0, ham: thresholds.1 };
                let judgement = Judgement {
                    verdict: Verdict::Unsure,
                    score,
                    thresholds,
                    reasons: Vec::new(),
                    labels: BTreeMap::new(),
                };
                let picture = scale(&judgement).into_string();
                let drawn = picture.split_once("</title>").map_or("", |(_, drawn)| drawn);
                assert!(
                    !drawn.contains("NaN") && !drawn.contains("inf") && !drawn.contains("=\"-"),
                    "{drawn}"
                );
            }
        }
    }

    #[test]
    fn amounts_read_as_people_say_them() {
        assert_eq!([size(999), size(1000), size(2_500_000)], ["999 B", "1.0 kB", "2.5 MB"]);
        assert_eq!(
            [0.00042, 0.25, 0.9996, 12.130_39].map(seconds),
            ["0.42 ms", "250.00 ms", "1.0 s", "12.1 s"]
        );
        let ages = [3, 59, 61, 7200, 200_000].map(|seconds| ago(Duration::from_secs(seconds)));
        assert_eq!(ages, ["just now", "59 s ago", "1 min ago", "2 h ago", "2 days ago"]);
        assert_eq!([count(1, "message"), count(2, "message")], ["1 message", "2 messages"]);
    }
}
