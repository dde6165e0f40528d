//! The page of `crivo mail eval --online`: how the filter gets better while it learns.
//!
//! The page is a view of the evaluation and has no other data. Every figure on it has the name of
//! its field in `--json` (`data-field`) and the full value (`data-value`), so that tests compare
//! them.

use crivo_mail::{HAM_RATES, LearningPoint, Mistake, OnlineEvaluation, Story, Teaching, Verdicts};
use crivo_page::{Axis, Cell, Column, Page, Plot, Series, Table, number, text};
use maud::{Markup, html};

use super::eval::{class, reasons};
use crate::clock;
use crate::cmd::profile::page::show;

/// The most wrong messages that are listed, because a longer list takes long to open.
const MOST_LISTED: usize = 500;

/// How many columns of a subject, of a path or of a reason are shown.
const COLUMNS: usize = 100;

/// What was replayed.
pub(super) struct Replay {
    /// How mail was taught.
    pub(super) story: Story,
    /// The dates of the first and the last message, if any message has a date.
    pub(super) dates: Option<(i64, i64)>,
}

/// Returns the page.
pub(super) fn page(found: &OnlineEvaluation, replay: &Replay) -> String {
    let has_mail = found.spam.total + found.ham.total > 0;
    Page::new("The filter while it learns")
        .lead(lead(found, replay))
        .style(include_str!("../profile/page/profile.css"))
        .style(include_str!("learning_page.css"))
        .body(html! {
            @if has_mail {
                (tiles(found))
                (plots(&found.curve()))
                h2 { "All verdicts" }
                (verdicts(found))
                (ranking(found))
                h2 { "Tenth by tenth" }
                (tenths(&found.steps))
                h2 { "Wrong messages" }
                (mistakes(&found.mistakes))
            } @else {
                p.card { "There was no message to judge." }
            }
        })
        .foot(html! {
            p {
                "Made by " code { "crivo mail eval --online" } "; with " code { "--json" } " it gives the same numbers. "
                "Each message was judged before it was taught, so that no verdict knows its answer."
            }
        })
        .to_html()
}

/// Says what was judged and what was taught.
fn lead(found: &OnlineEvaluation, replay: &Replay) -> String {
    let Story { teaching, noise, every, .. } = replay.story;
    let day = |time: i64| clock::shown(time).split(' ').next().unwrap_or_default().to_owned();
    let dates = replay.dates.map(|(first, last)| format!(", {} to {}", day(first), day(last)));
    let taught = match teaching {
        Teaching::Everything => "each judged and then taught",
        Teaching::Mistakes => "each judged, and taught if the verdict was wrong or unsure",
    };
    let together = if every > 1 { format!(" after every {every} messages") } else { String::new() };
    let noise = if noise > 0.0 {
        format!(" {} of lessons had the wrong label.", number::percent(noise))
    } else {
        String::new()
    };
    format!(
        "{} messages in the order of their dates{}, {taught}{together}.{noise}",
        number::whole(found.spam.total + found.ham.total),
        dates.unwrap_or_default(),
    )
}

fn share_of(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Shows a share with two decimals of a percent, or a dash if there is nothing to share.
fn percent(field: &str, share: Option<f64>) -> Markup {
    html! {
        @if let Some(share) = share {
            span data-field=(field) data-value=(number::exact(share)) { (format!("{:.2}\u{a0}%", 100.0 * share)) }
        } @else {
            span.muted data-field=(field) { "–" }
        }
    }
}

fn percent_cell(field: &str, share: Option<f64>) -> Cell {
    let cell = Cell::markup(percent(field, share));
    match share {
        Some(share) => cell.value(share),
        None => cell,
    }
}

fn count_cell(field: &str, count: u64) -> Cell {
    Cell::markup(show::count(field, count)).value(count as f64)
}

/// Shows the main figures.
fn tiles(found: &OnlineEvaluation) -> Markup {
    let (spam, ham) = (&found.spam, &found.ham);
    let tile = |what: &str, value: &Markup| html! { li { strong { (value) } " " (what) } };
    html! {
        ul.tiles {
            (tile("of spam caught", &percent("caught", share_of(spam.spam, spam.total))))
            (tile("of ham called spam", &percent("ham_called_spam", share_of(ham.spam, ham.total))))
            (tile("of messages unsure", &percent("unsure", share_of(spam.unsure + ham.unsure, spam.total + ham.total))))
            (tile(if found.lessons == 1 { "lesson" } else { "lessons" }, &show::count("lessons", found.lessons)))
        }
    }
}

/// Shows how shares and lessons develop with the number of messages.
fn plots(curve: &[LearningPoint]) -> Markup {
    let points = |of: fn(&LearningPoint) -> Option<f64>| {
        // A share of nothing leaves a gap.
        curve.iter().map(move |point| (point.messages as f64, of(point).unwrap_or(f64::NAN)))
    };
    let end = curve.last().map_or(0.0, |point| point.messages as f64);
    let plot = |title: &str, description: &str| {
        Plot::new(title, description).x(Axis::linear("messages").range(0.0, end))
    };
    let verdicts = plot(
        "Caught and unsure, in the last tenth of the mail",
        "The share of spam that was called spam, and the share of all messages that were unsure.",
    )
    .y(Axis::linear("share").percent().range(0.0, 1.0))
    .series(Series::line("spam called spam", points(|point| point.spam_caught)))
    .series(Series::line("unsure", points(|point| point.unsure)));
    let ham = plot("Ham called spam, of all ham so far", "The share of ham that was called spam so far.")
        .y(Axis::linear("share of ham").percent().from_zero())
        .series(Series::line("ham called spam", points(|point| point.ham_called_spam)));
    let lessons = plot("Lessons so far", "The number of messages that were taught so far.")
        .y(Axis::linear("lessons").from_zero())
        .series(Series::line("lessons", points(|point| Some(point.lessons as f64))));
    html! {
        div.grid-of-cards {
            @for (name, plot) in [("verdicts", verdicts), ("ham", ham), ("lessons", lessons)] {
                div.card data-picture=(name) { (plot.figure()) }
            }
        }
    }
}

/// Shows how many messages of each class got each verdict.
fn verdicts(found: &OnlineEvaluation) -> Markup {
    let view = Table::new("Verdicts by class")
        .column(Column::text("class"))
        .column(Column::number("messages"))
        .column(Column::number("called spam"))
        .column(Column::number("unsure"))
        .column(Column::number("called ham"));
    let row = |view: Table, (name, counts): (&str, &Verdicts)| {
        let verdict = |verdict: &str, count: u64| {
            let shown = html! {
                (show::count(&format!("{name}.{verdict}"), count)) " "
                span.muted { "(" (percent(&format!("{name}.{verdict}.share"), share_of(count, counts.total))) ")" }
            };
            Cell::markup(shown).value(count as f64)
        };
        view.row([
            Cell::text(name),
            count_cell(&format!("{name}.total"), counts.total),
            verdict("spam", counts.spam),
            verdict("unsure", counts.unsure),
            verdict("ham", counts.ham),
        ])
    };
    [("spam", &found.spam), ("ham", &found.ham)].into_iter().fold(view, row).markup()
}

/// Shows how well scores rank spam above ham.
fn ranking(found: &OnlineEvaluation) -> Markup {
    let area = found.area_above_roc;
    html! {
        dl.facts.ranking {
            @for (at, (rate, caught)) in HAM_RATES.iter().zip(found.caught_at).enumerate() {
                div {
                    dt { "caught above all but " (number::percent(*rate)) " of ham, by score" }
                    dd { (percent(&format!("caught_at.{at}.spam_caught"), Some(caught))) }
                }
            }
            div {
                dt { "area above the ROC curve" }
                dd data-field="area_above_roc" data-value=(number::exact(area)) { (format!("{area:.3e}")) }
            }
        }
    }
}

/// Shows the verdicts in each tenth of the mail.
fn tenths(steps: &[(Verdicts, Verdicts)]) -> Markup {
    let view = Table::new("Verdicts in each tenth of the mail")
        .column(Column::text("tenth"))
        .column(Column::number("spam"))
        .column(Column::number("spam caught"))
        .column(Column::number("spam unsure"))
        .column(Column::number("ham"))
        .column(Column::number("ham called spam"))
        .column(Column::number("ham unsure"));
    let row = |view: Table, (at, (spam, ham)): (usize, &(Verdicts, Verdicts))| {
        let field = |name: &str| format!("steps.{at}.{name}");
        view.row([
            Cell::number(at as f64 + 1.0),
            count_cell(&field("spam.total"), spam.total),
            percent_cell(&field("spam.spam.share"), share_of(spam.spam, spam.total)),
            percent_cell(&field("spam.unsure.share"), share_of(spam.unsure, spam.total)),
            count_cell(&field("ham.total"), ham.total),
            percent_cell(&field("ham.spam.share"), share_of(ham.spam, ham.total)),
            percent_cell(&field("ham.unsure.share"), share_of(ham.unsure, ham.total)),
        ])
    };
    steps.iter().enumerate().fold(view, row).markup()
}

/// Lists the messages that were called the opposite of what they are, ham first.
fn mistakes(mistakes: &[Mistake]) -> Markup {
    if mistakes.is_empty() {
        return html! { p.card { "No spam was called ham, and no ham was called spam." } };
    }
    let mut sorted: Vec<&Mistake> = mistakes.iter().collect();
    sorted.sort_by_key(|mistake| mistake.is_spam);
    let view = Table::new("Messages called the opposite of what they are")
        .column(Column::number("message"))
        .column(Column::text("verdict"))
        .column(Column::number("score"))
        .column(Column::text("date"))
        .column(Column::text("subject and reasons"))
        .searchable("Find a message");
    let listed = sorted.iter().take(MOST_LISTED).fold(view, |view, mistake| view.row(wrong(mistake)));
    html! {
        (listed.markup())
        @if mistakes.len() > MOST_LISTED {
            p.muted {
                "The first " (MOST_LISTED) " of " (number::whole(mistakes.len() as u64)) " wrong messages are listed, ham "
                "first; " code { "--json" } " lists all."
            }
        }
    }
}

fn wrong(mistake: &Mistake) -> [Cell; 5] {
    // Readers count from 1, as in an mbox.
    let number = mistake.place + 1;
    let about = html! {
        div.about {
            @if mistake.subject.is_empty() {
                span.muted { "(no subject)" }
            } @else {
                bdi.subject { (text::shorten(&mistake.subject, COLUMNS)) }
            }
            ul { @for reason in reasons(mistake) { li { bdi { (text::shorten(&reason, COLUMNS)) } } } }
            @if let Some(location) = &mistake.location {
                span.muted { bdi { (text::shorten_middle(&location.to_string(), COLUMNS)) } }
            }
        }
    };
    [
        Cell::markup(html! { (number::whole(number)) }).value(number as f64),
        Cell::text(&format!("{} called {}", class(mistake), mistake.verdict())),
        Cell::markup(html! { (format!("{:.4}", mistake.score)) }).value(mistake.score),
        mistake.date.map_or_else(Cell::empty, |date| Cell::text(&clock::shown(date))),
        Cell::markup(about),
    ]
}
