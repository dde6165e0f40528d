//! The page of a run: every plot, its verdict, and the command that repeats it.

use std::fmt::Write;

use crivo_page::{Cell, Column, Markup, Page, Table, text};
use maud::html;

use crate::experiment::Experiment;
use crate::figure::figure;
use crate::report::{ExperimentReport, Judgement, Verdict, short};
use crate::runner::{Outcome, Settings, times};
use crate::section::Role;
use crate::test::LEVEL;

/// A file in the output folder of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The name of the file.
    pub name: String,
    /// The content of the file.
    pub text: String,
}

/// Returns all files of a run: a table for each experiment, the times, and the page.
pub fn files(outcomes: &[Outcome], settings: &Settings) -> Vec<File> {
    let mut files = Vec::new();
    for outcome in outcomes {
        if let Ok(report) = &outcome.report {
            let text = report.csv(outcome.experiment, settings.seed, settings.scale);
            files.push(File { name: format!("{}.csv", outcome.experiment.name), text });
        }
    }
    files.push(File { name: "times.csv".into(), text: times(outcomes) });
    files.push(File { name: "index.html".into(), text: html(outcomes, settings) });
    files
}

const STYLE: &str = "\
.verdict{display:inline-block;padding:.1em .6em;border-radius:1em;font-weight:600;border:1px solid currentColor}\
.verdict.bad{color:var(--bad,#b00020)}\
.experiment{border-top:1px solid var(--line,#8884);padding-top:1.2rem;margin-top:2.4rem}\
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1.2rem}\
.plots figure{margin:0}\
.claim{font-size:1.08em;max-width:48rem}\
.meta{opacity:.8}\
.reason{max-width:56rem}\
.checks th[scope=row]{min-width:min(20rem,45vw);font-weight:400;white-space:normal;overflow-wrap:anywhere}\
@media(max-width:32rem){.overview th:nth-child(4),.overview td:nth-child(4){display:none}}";

/// Returns the page as HTML.
pub fn html(outcomes: &[Outcome], settings: &Settings) -> String {
    let expected = outcomes.iter().filter(|outcome| outcome.is_expected()).count();
    let body = html! {
        p {
            "Each experiment measures with crivo's own sketches, puts every number beside the one that theory gives, \
             and a statistical test says whether both agree: shares by the binomial distribution, means and variances \
             by the normal one, whole distributions by χ². All checks of an experiment together reject what is correct \
             with a probability of at most 10⁻⁶, whatever the seed; each is made at its share of the level "
            (format!("{LEVEL:e}")) "."
        }
        p {
            "Of " (outcomes.len()) " experiments " strong { (expected) } " gave the verdict that a correct implementation \
             gives. Some claims are refuted: there the text that makes them is wrong, and that is what is expected. Seed "
            (settings.seed) ", scale “" (settings.scale.name()) "”, version " (env!("CARGO_PKG_VERSION")) "."
        }
        div.overview { (overview(outcomes)) }
        @for outcome in outcomes { (section(outcome, settings)) }
    };
    Page::new("crivo lab: theory beside observation")
        .lead("Experiments of four teaching texts on probabilistic data structures, each with its verdict.")
        .style(STYLE)
        .body(body)
        .to_html()
}

fn overview(outcomes: &[Outcome]) -> Markup {
    let mut table = Table::new("Experiments")
        .searchable("Find an experiment")
        .column(Column::text("Experiment"))
        .column(Column::text("About"))
        .column(Column::text("Verdict"))
        .column(Column::number("Checks"));
    for outcome in outcomes {
        let Experiment { name, title, .. } = *outcome.experiment;
        let (verdict, checks) = match &outcome.report {
            Ok(report) => {
                let judgement = report.judge();
                let note = match (outcome.is_expected(), judgement.verdict) {
                    (false, _) => ", not as expected",
                    (true, Verdict::Refuted) => ", as expected",
                    (true, _) => "",
                };
                (format!("{}{note}", judgement.verdict), judgement.lines.len())
            }
            Err(_) => ("not done".into(), 0),
        };
        table = table.row_about(
            name,
            [
                Cell::markup(html! { a href={ "#" (name) } { (name) } }),
                Cell::markup(html! { (title) }),
                Cell::text(&verdict),
                Cell::number(checks as f64),
            ],
        );
    }
    table.markup()
}

fn section(outcome: &Outcome, settings: &Settings) -> Markup {
    let Experiment { name, title, claim, sources, expected, .. } = *outcome.experiment;
    html! {
        section.experiment id=(name) aria-labelledby={ (name) "-title" } {
            h2 id={ (name) "-title" } { (title) }
            p.claim { (claim) }
            p.meta {
                "Claimed in "
                @for (number, (text, place)) in sources.iter().enumerate() {
                    @if number > 0 { "; " }
                    cite { (text.title()) } ", " (place)
                }
                "."
            }
            @match &outcome.report {
                Ok(report) => (results(outcome, report, expected)),
                Err(error) => { p { span.verdict.bad { "not done" } " " (error.to_string()) } }
            }
            p { code { (command(outcome, settings)) } }
        }
    }
}

/// Returns the command that repeats the experiment.
fn command(outcome: &Outcome, settings: &Settings) -> String {
    let mut command = format!("crivo lab run {}", outcome.experiment.name);
    // Writing to a string cannot fail.
    if settings.seed != 0 {
        let _ = write!(command, " --seed {}", settings.seed);
    }
    if settings.scale.name() != "usual" {
        let _ = write!(command, " --scale {}", settings.scale.name());
    }
    for (option, path) in outcome.report.iter().flat_map(|report| &report.files) {
        let _ = write!(command, " --{option} {}", quoted(path));
    }
    command
}

/// Quotes a path for a shell.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@".contains(c);
    if path.chars().all(plain) { path.into() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

fn results(outcome: &Outcome, report: &ExperimentReport, expected: Verdict) -> Markup {
    let judgement = report.judge();
    let is_expected = judgement.verdict == expected;
    html! {
        p.reason {
            span.verdict.bad[!is_expected] {
                (judgement.verdict)
                @if !is_expected { ", expected: " (expected) }
                @else if expected == Verdict::Refuted { ", as expected" }
            }
            " " (judgement.reason()) "."
        }
        @if let Some(published) = &judgement.published {
            p.reason { span.verdict { "published figures: " (published.verdict) } " " (published.reason) "." }
        }
        @for note in &report.notes { p { (note) } }
        div.plots {
            @for part in &report.parts {
                @if let Some(figure) = figure(part, &judgement) { (figure) }
            }
            @for figure in &report.figures { (figure) }
        }
        details {
            summary { "All " (judgement.lines.len()) " checks, and how long it took" }
            div.checks { (checks(&judgement)) }
            p { (format!("{:.2} s in all.", outcome.seconds)) }
            @if !outcome.times.is_empty() {
                ul { @for (what, seconds) in outcome.times.iter().take(40) { li { (what) ": " (format!("{seconds:.4} s")) } } }
            }
        }
    }
}

fn checks(judgement: &Judgement<'_>) -> Markup {
    let mut table = Table::new("Checks")
        .column(Column::text("Check"))
        .column(Column::number("Observed"))
        .column(Column::number("Theory"))
        .column(Column::number("Accepted from"))
        .column(Column::number("to"))
        .column(Column::number("Trials"))
        .column(Column::text("Test"))
        .column(Column::text("Holds"));
    for line in &judgement.lines {
        let judged = line.judged;
        let number = |value: f64| Cell::text(&short(value)).value(value);
        let role = if line.part.role == Role::Claim {
            String::new()
        } else {
            format!(" ({})", line.part.role.name())
        };
        table = table.row([
            // The text is not shortened, because checks of a part often differ only in their last
            // words. The style lets it wrap.
            Cell::markup(html! { bdi { (text::visible(&line.subject())) (role) } }),
            number(judged.observed),
            judged.theory.map_or_else(Cell::empty, number),
            number(judged.lower),
            number(judged.upper),
            if judged.trials > 0 { Cell::number(judged.trials as f64) } else { Cell::empty() },
            Cell::text(judged.test),
            Cell::text(if judged.holds() { "yes" } else { "no" }),
        ]);
    }
    table.markup()
}
