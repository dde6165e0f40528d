//! The pages of the last decisions, and of statistics: what was learned, and how fast checks are.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use crivo_page::{Axis, Bar, Bars, Markup, Plot, Series, number};
use maud::html;

use super::{Site, page, show};
use crate::service::{BARS, DECISIONS, Journal};
use crate::{Error, Stats};

/// Shows the last decisions, from the page and from mail systems.
#[allow(clippy::unused_async)] // pages are answered by asynchronous functions
pub(super) async fn decisions(State(site): State<Arc<Site>>) -> Response {
    let journal = site.service.journal();
    let all: Vec<_> = journal.decisions().collect();
    let body = html! {
        (show::decisions(&all))
        p.hint {
            "Of mail from mail systems only the verdict is kept, never its text. "
            "Messages given to this page can be opened again and taught."
        }
    };
    page(
        "/decisions",
        "Last decisions",
        &format!("The last {DECISIONS} since the start, newest first."),
        body,
    )
}

/// Returns counts of the store, which are read on another thread because they need the disk.
pub(super) async fn stats(site: &Arc<Site>) -> Result<Stats, Error> {
    let service = Arc::clone(&site.service);
    match tokio::task::spawn_blocking(move || service.stats()).await {
        Ok(stats) => stats,
        Err(_) => Err(Error::Unsuitable("the store could not be asked: an internal error".into())),
    }
}

/// Shows the store and the service in numbers.
pub(super) async fn statistics(State(site): State<Arc<Site>>) -> Response {
    let stats = stats(&site).await;
    let journal = site.service.journal();
    let body = html! {
        section aria-labelledby="learned" {
            h2 #learned { "What has been learned" }
            @match stats {
                Ok(stats) => (learned(&stats)),
                Err(error) => p.notice { (error) },
            }
        }
        section aria-labelledby="decided" {
            h2 #decided { "What has been decided" }
            (decided(&journal))
        }
    };
    let lead = format!("Since {}", show::moment(journal.since));
    page("/statistics", "Statistics", &lead, body)
}

fn learned(stats: &Stats) -> Markup {
    let mut bars =
        Bars::new("Messages learned", "How many messages were learned as spam, as ham, and with each label.")
            .bar(Bar::new("spam", stats.spam as f64))
            .bar(Bar::new("ham", stats.ham as f64));
    for (name, messages) in &stats.labels {
        bars = bars.bar(Bar::new(name, *messages as f64));
    }
    let time = |milliseconds: i64| {
        let since = std::time::Duration::from_millis(milliseconds.max(0).cast_unsigned());
        show::moment(std::time::SystemTime::UNIX_EPOCH + since)
    };
    let facts = [
        ("Messages", number::grouped(stats.messages as f64)),
        ("Senders", number::grouped(stats.senders as f64)),
        ("Spam from", stats.thresholds.map_or("–".into(), |thresholds| show::probability(thresholds.spam))),
        ("Ham up to", stats.thresholds.map_or("–".into(), |thresholds| show::probability(thresholds.ham))),
        ("Size on disk", show::size(usize::try_from(stats.bytes).unwrap_or(usize::MAX))),
        ("First lesson", stats.oldest.map_or("none".into(), time)),
        ("Last lesson", stats.newest.map_or("none".into(), time)),
        ("Method", stats.method.clone()),
    ];
    html! { div.grid-of-cards { div.card { (bars.figure()) } div.card { (list(&facts)) } } }
}

fn decided(journal: &Journal) -> Markup {
    let [spam, unsure, ham] = journal.verdicts;
    let verdicts =
        Bars::new("Verdicts", "How many messages were called spam, unsure and ham since the start.")
            .bar(Bar::new("spam", spam as f64))
            .bar(Bar::new("unsure", unsure as f64))
            .bar(Bar::new("ham", ham as f64));
    let steps = journal.scores.iter().enumerate().flat_map(|(bar, &messages)| {
        let edge = |bar: usize| bar as f64 / BARS as f64;
        [(edge(bar), messages as f64), (edge(bar + 1), messages as f64)]
    });
    let scores = Plot::new(
        "Probability of spam",
        "How many messages got which probability: good filters have few in the middle.",
    )
    .x(Axis::linear("probability of spam").range(0.0, 1.0))
    .y(Axis::linear("messages").range(0.0, journal.scores.iter().copied().max().unwrap_or(0).max(1) as f64))
    .series(Series::line("messages", steps));
    let time = |share: f64| {
        let quantile = journal.seconds.quantile(share);
        quantile.map_or("–".into(), |seconds| show::seconds(seconds.value()))
    };
    let facts = [
        ("Checks", number::grouped(journal.checks() as f64)),
        ("Half were done within", time(0.5)),
        ("99 % were done within", time(0.99)),
        ("All were done within", time(1.0)),
        ("Lessons", number::grouped(journal.lessons as f64)),
        ("Failures", number::grouped(journal.failures as f64)),
    ];
    html! {
        div.grid-of-cards {
            div.card { (verdicts.figure()) }
            div.card { (list(&facts)) }
            div.card { (scores.figure()) }
        }
    }
}

fn list(facts: &[(&str, String)]) -> Markup {
    html! { dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } } }
}
