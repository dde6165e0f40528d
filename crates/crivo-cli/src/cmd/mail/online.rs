//! `crivo mail eval --online`: measures the filter while it learns.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use crivo_mail::{Filter, KnownMessage, LearningPoint, Message, OnlineEvaluation, Story, Verdicts};
use serde::Serialize;

use super::super::Outcome;
use super::eval::{
    CaughtReport, ClassReport, caught_at, class, path_and_number, print_mistakes, print_ranking, reasons,
    share,
};
use super::learning_page::{Replay, page};
use crate::output::{self, Output};
use crate::store::Destination;

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct OnlineReport {
    spam: ClassReport,
    ham: ClassReport,
    lessons: u64,
    area_above_roc: f64,
    caught_at: Vec<CaughtReport>,
    steps: Vec<StepReport>,
    curve: Vec<PointReport>,
    mistakes: Vec<MistakeReport>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct StepReport {
    spam: ClassReport,
    ham: ClassReport,
}

/// A point of the curve: shares of the last tenth of the mail, but of all ham so far.
#[derive(Debug, Serialize)]
struct PointReport {
    messages: u64,
    lessons: u64,
    spam_caught: Option<f64>,
    unsure: Option<f64>,
    ham_called_spam: Option<f64>,
}

#[derive(Debug, Serialize)]
struct MistakeReport {
    place: u64,
    class: &'static str,
    score: f64,
    subject: String,
    path: Option<String>,
    number: Option<u64>,
    reasons: Vec<String>,
}

impl From<LearningPoint> for PointReport {
    fn from(point: LearningPoint) -> Self {
        let LearningPoint { messages, lessons, spam_caught, unsure, ham_called_spam } = point;
        Self { messages, lessons, spam_caught, unsure, ham_called_spam }
    }
}

/// Replays mail in the order of its dates. A message without a date has that of the message before
/// it. Writes the page if there is one, and prints the result in JSON, or as text if there is no
/// page.
pub(super) fn run(
    store: &Path,
    mail: Vec<KnownMessage>,
    story: Story,
    (json, destination): (bool, Option<&Destination>),
    out: &Output,
) -> Outcome {
    let (mail, dates) = in_order(mail);
    let filter = Filter::open_or_create(store)?;
    let began = Instant::now();
    let found = filter.evaluate_online(&mail, story)?;
    let seconds = began.elapsed().as_secs_f64();
    if let Some(destination) = destination {
        destination.write(page(&found, &Replay { story, dates }).as_bytes())?;
    }
    if json {
        out.json(&report(found, seconds))?;
    } else if let Some(destination) = destination {
        out.remark(format_args!("Wrote {}.", destination.name()))?;
    } else {
        print(&found, out)?;
        let rate = mail.len() as f64 / seconds.max(1e-9);
        out.detail(format_args!("{seconds:.2} s, {} messages a second", output::count(rate as u64)))?;
    }
    Ok(if mail.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Returns the mail in the order of its dates, and the first and the last date.
fn in_order(mail: Vec<KnownMessage>) -> (Vec<KnownMessage>, Option<(i64, i64)>) {
    let mut last = 0;
    let mut dates: Option<(i64, i64)> = None;
    let mut dated: Vec<(i64, KnownMessage)> = Vec::with_capacity(mail.len());
    for known in mail {
        if let Some(date) = Message::read(&known.bytes).date {
            last = date;
            let (first, newest) = dates.unwrap_or((date, date));
            dates = Some((first.min(date), newest.max(date)));
        }
        dated.push((last, known));
    }
    dated.sort_by_key(|(date, _)| *date);
    (dated.into_iter().map(|(_, known)| known).collect(), dates)
}

fn report(found: OnlineEvaluation, seconds: f64) -> OnlineReport {
    let curve = found.curve().into_iter().map(PointReport::from).collect();
    OnlineReport {
        spam: found.spam.into(),
        ham: found.ham.into(),
        lessons: found.lessons,
        area_above_roc: found.area_above_roc,
        caught_at: caught_at(&found.caught_at),
        steps: found
            .steps
            .into_iter()
            .map(|(spam, ham)| StepReport { spam: spam.into(), ham: ham.into() })
            .collect(),
        curve,
        mistakes: found
            .mistakes
            .into_iter()
            .map(|mistake| {
                let (path, number) = path_and_number(mistake.location.as_ref());
                MistakeReport {
                    place: mistake.place,
                    class: class(&mistake),
                    score: mistake.score,
                    path,
                    number,
                    reasons: reasons(&mistake),
                    subject: mistake.subject,
                }
            })
            .collect(),
        seconds,
    }
}

fn print(found: &OnlineEvaluation, out: &Output) -> Result<()> {
    let mut rows = vec![["messages", "spam", "unsure", "ham", ""].map(String::from)];
    let mut add = |verdicts: &Verdicts, name: String| {
        rows.push([
            output::count(verdicts.total),
            share(verdicts.spam, verdicts.total),
            share(verdicts.unsure, verdicts.total),
            share(verdicts.ham, verdicts.total),
            name,
        ]);
    };
    add(&found.spam, "spam".into());
    add(&found.ham, "ham".into());
    for (number, (spam, ham)) in (1..).zip(&found.steps) {
        add(spam, format!("spam, tenth {number}"));
        add(ham, format!("ham, tenth {number}"));
    }
    out.columns(&rows)?;
    out.line(format_args!("{} lessons", output::count(found.lessons)))?;
    print_ranking(found.area_above_roc, &found.caught_at, out)?;
    print_mistakes(&found.mistakes, out)
}
