//! `crivo mail eval --online`: measures the filter while it learns.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use crivo_mail::{Filter, Message, OnlineEvaluation, Story, Verdicts};
use serde::Serialize;

use super::super::Outcome;
use super::eval::{CaughtReport, ClassReport, caught_at, print_ranking, share};
use crate::output::{self, Output};

/// The number of mistakes that are listed.
const LISTED: usize = 20;

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct OnlineReport {
    spam: ClassReport,
    ham: ClassReport,
    lessons: u64,
    area_above_roc: f64,
    caught_at: Vec<CaughtReport>,
    steps: Vec<StepReport>,
    mistakes: Vec<MistakeReport>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct StepReport {
    spam: ClassReport,
    ham: ClassReport,
}

#[derive(Debug, Serialize)]
struct MistakeReport {
    place: u64,
    class: &'static str,
    score: f64,
    subject: String,
}

/// Replays mail in the order of its dates. A message without a date has that of the message before
/// it.
pub(super) fn run(
    store: &Path,
    mail: Vec<(Vec<u8>, bool)>,
    story: Story,
    json: bool,
    out: &Output,
) -> Outcome {
    let mail = in_order(mail);
    let filter = Filter::open_or_create(store)?;
    let began = Instant::now();
    let found = filter.evaluate_online(&mail, story)?;
    let seconds = began.elapsed().as_secs_f64();
    if json {
        out.json(&report(found, seconds))?;
    } else {
        print(&found, out)?;
        let rate = mail.len() as f64 / seconds.max(1e-9);
        out.detail(format_args!("{seconds:.2} s, {} messages a second", output::count(rate as u64)))?;
    }
    Ok(if mail.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn in_order(mail: Vec<(Vec<u8>, bool)>) -> Vec<(Vec<u8>, bool)> {
    let mut last = 0;
    let mut dated: Vec<(i64, Vec<u8>, bool)> = Vec::with_capacity(mail.len());
    for (bytes, is_spam) in mail {
        last = Message::read(&bytes).date.unwrap_or(last);
        dated.push((last, bytes, is_spam));
    }
    dated.sort_by_key(|(date, ..)| *date);
    dated.into_iter().map(|(_, bytes, is_spam)| (bytes, is_spam)).collect()
}

fn report(found: OnlineEvaluation, seconds: f64) -> OnlineReport {
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
        mistakes: found
            .mistakes
            .into_iter()
            .map(|mistake| MistakeReport {
                place: mistake.place,
                class: if mistake.is_spam { "spam" } else { "ham" },
                score: mistake.score,
                subject: mistake.subject,
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
    for mistake in found.mistakes.iter().take(LISTED) {
        let class = if mistake.is_spam { "spam called ham" } else { "ham called spam" };
        out.detail(format_args!(
            "{class}: message {}, score {:.4}, {:?}",
            mistake.place, mistake.score, mistake.subject
        ))?;
    }
    Ok(())
}
