//! `crivo mail eval`: measures the filter on mail whose class is known.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use crivo_mail::{
    Caught, Filter, HAM_RATES, KnownMessage, Location, Mail, Method, Mistake, Story, SweepRow, Teaching,
    Verdicts,
};
use serde::Serialize;

use super::super::Outcome;
use super::online;
use super::{KnownMail, StoreArgs};
use crate::output::{self, Output};
use crate::used_files::UsedFiles;

/// The number of mistakes that are listed as text.
const LISTED: usize = 20;

/// How good the filter is on mail with known answers
///
/// Without --online nothing is learned. With --online, mail is taken in the order of its dates:
/// each message is judged, and then taught to the store. --html writes how it learned into a page.
/// With --sweep, what each of the thresholds 0.1 … 1.0 gives: of similarity for a store of the
/// classic method, of the score for others. Wrong messages are listed: ham that was called spam,
/// and spam that was called ham.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail eval --store ~/.crivo-mail --spam new/Junk --ham new/Inbox
  crivo mail eval --store classic/ --spam new/Junk --ham new/Inbox --sweep --json
  crivo mail eval --store new/ --online mistakes --spam Mail/Junk --ham Mail/Archive
  crivo mail eval --store new/ --online everything --spam Mail/Junk --ham Mail/Archive --html learning.html
  crivo mail eval --store noisy/ --online everything --noise 1% --spam Mail/Junk --ham Mail/Archive")]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    known: KnownMail,

    /// What each threshold from 0.1 to 1.0 gives
    #[arg(long)]
    sweep: bool,

    /// Judge each message in the order of dates, and then teach everything, or mistakes only
    #[arg(long, value_enum, value_name = "LESSONS", conflicts_with = "sweep")]
    online: Option<Lessons>,

    /// With --online: the share of lessons with the wrong label, such as 1%
    #[arg(long, value_name = "SHARE", requires = "online", value_parser = share_of)]
    noise: Option<f64>,

    /// With --online: teach after this number of messages, all at once
    #[arg(long, value_name = "N", requires = "online", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// With --online: write one page with plots to this file, which needs no network, instead of a
    /// table
    #[arg(long, value_name = "OUT.html")]
    html: Option<PathBuf>,

    /// One JSON object instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Lessons {
    /// Every message
    Everything,
    /// Messages whose verdict was wrong or unsure
    Mistakes,
}

/// Parses a share, in percent or as a number.
fn share_of(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim(), 0.01),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(found) if (0.0..=0.5).contains(&(found * unit)) => Ok(found * unit),
        _ => Err("expected a share from 0 to 50%, such as 1% or 0.01".into()),
    }
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct EvalReport {
    spam: ClassReport,
    ham: ClassReport,
    at_half: HalfReport,
    area_above_roc: f64,
    caught_at: Vec<CaughtReport>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<Vec<SweepReport>>,
    wrong: Vec<WrongReport>,
}

/// A message that was called the opposite of what it is.
#[derive(Debug, Serialize)]
struct WrongReport {
    /// The file.
    path: Option<String>,
    /// The number in the file, from 1, if that is an mbox.
    number: Option<u64>,
    is: &'static str,
    verdict: &'static str,
    score: f64,
    subject: String,
    reasons: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ClassReport {
    total: u64,
    spam: u64,
    unsure: u64,
    ham: u64,
}

/// The share of spam that scores above all but a share of ham.
#[derive(Debug, Serialize)]
pub(super) struct CaughtReport {
    ham_rate: f64,
    spam_caught: f64,
}

#[derive(Debug, Serialize)]
struct HalfReport {
    spam_caught: f64,
    ham_caught: f64,
}

#[derive(Debug, Serialize)]
struct SweepReport {
    threshold: f64,
    spam_caught: f64,
    spam_blocked: f64,
    spam_empty: f64,
    ham_caught: f64,
    ham_blocked: f64,
    ham_empty: f64,
}

impl From<Verdicts> for ClassReport {
    fn from(found: Verdicts) -> Self {
        Self { total: found.total, spam: found.spam, unsure: found.unsure, ham: found.ham }
    }
}

impl From<Mistake> for WrongReport {
    fn from(mistake: Mistake) -> Self {
        let (path, number) = path_and_number(mistake.location.as_ref());
        Self {
            path,
            number,
            is: class(&mistake),
            verdict: mistake.verdict().name(),
            score: mistake.score,
            reasons: reasons(&mistake),
            subject: mistake.subject,
        }
    }
}

/// Returns the file of a message, and its number there if the file is an mbox.
pub(super) fn path_and_number(location: Option<&Location>) -> (Option<String>, Option<u64>) {
    (
        location.map(|location| location.path.display().to_string()),
        location.and_then(|location| location.number),
    )
}

/// Returns what the message is: `spam` or `ham`.
pub(super) fn class(mistake: &Mistake) -> &'static str {
    if mistake.is_spam { "spam" } else { "ham" }
}

/// Returns why the message was called the opposite.
pub(super) fn reasons(mistake: &Mistake) -> Vec<String> {
    mistake.reasons.iter().map(ToString::to_string).collect()
}

impl From<&SweepRow> for SweepReport {
    fn from(row: &SweepRow) -> Self {
        let share = |part: u64, of: &Caught| part as f64 / of.total.max(1) as f64;
        Self {
            threshold: row.threshold,
            spam_caught: share(row.spam.caught, &row.spam),
            spam_blocked: share(row.spam.blocked, &row.spam),
            spam_empty: share(row.spam.empty, &row.spam),
            ham_caught: share(row.ham.caught, &row.ham),
            ham_blocked: share(row.ham.blocked, &row.ham),
            ham_empty: share(row.ham.empty, &row.ham),
        }
    }
}

impl Args {
    /// Returns all messages, each with its class.
    fn mail(&self) -> Result<impl Iterator<Item = crivo_mail::Result<KnownMessage>>> {
        let spam = self.known.spam.iter().map(|path| (path, true));
        let both = spam.chain(self.known.ham.iter().map(|path| (path, false)));
        let sources = both.map(|(path, is_spam)| Ok((Mail::of(path)?, is_spam)));
        let sources = sources.collect::<crivo_mail::Result<Vec<_>>>()?;
        Ok(sources.into_iter().flat_map(|(mail, is_spam)| {
            mail.located().map(move |found| {
                let (location, bytes) = found?;
                Ok(KnownMessage { bytes, is_spam, location: Some(location) })
            })
        }))
    }

    /// Returns the files that the command reads.
    fn used_files(&self) -> UsedFiles {
        UsedFiles::reading(&self.known.spam)
            .and_reading(&self.known.ham)
            .and_reading_database(&self.store.store)
            // A new store makes this file before the page is written.
            .and_reading(&[self.store.store.join("mail.sqlite")])
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    if args.known.spam.is_empty() && args.known.ham.is_empty() {
        bail!("nothing to judge: name mail with --spam PATH and --ham PATH");
    }
    if args.html.is_some() && args.online.is_none() {
        bail!("--html: the page shows learning over time: add --online everything or --online mistakes");
    }
    if let Some(lessons) = args.online {
        let page = args.used_files().optional_output(args.html.as_ref())?;
        let mail = args.mail()?.collect::<crivo_mail::Result<Vec<_>>>()?;
        let teaching = match lessons {
            Lessons::Everything => Teaching::Everything,
            Lessons::Mistakes => Teaching::Mistakes,
        };
        let story = Story {
            teaching,
            noise: args.noise.unwrap_or(0.0),
            every: args.every as usize,
            ..Story::default()
        };
        return online::run(&args.store.store, mail, story, (args.json, page.as_ref()), out);
    }
    let filter = Filter::open(&args.store.store)?;
    let began = Instant::now();
    let found = filter.evaluate(args.mail()?)?;
    let seconds = began.elapsed().as_secs_f64();
    let sweep = if args.sweep {
        let mail =
            args.mail()?.map(|known| known.map(|KnownMessage { bytes, is_spam, .. }| (bytes, is_spam)));
        Some(filter.sweep(mail)?)
    } else {
        None
    };
    let at_half =
        HalfReport { spam_caught: found.spam.share_at_half(), ham_caught: found.ham.share_at_half() };
    if args.json {
        let sweep = sweep.map(|rows| rows.iter().map(SweepReport::from).collect());
        let (spam, ham, area_above_roc) = (found.spam.into(), found.ham.into(), found.area_above_roc);
        let caught_at = caught_at(&found.caught_at);
        let wrong = found.mistakes.into_iter().map(WrongReport::from).collect();
        out.json(&EvalReport { spam, ham, at_half, area_above_roc, caught_at, seconds, sweep, wrong })?;
    } else {
        print(&found.spam, &found.ham, &at_half, out)?;
        print_ranking(found.area_above_roc, &found.caught_at, out)?;
        if let Some(rows) = sweep {
            print_sweep(&rows, filter.method(), out)?;
        }
        print_mistakes(&found.mistakes, out)?;
        let rate = (found.spam.total + found.ham.total) as f64 / seconds.max(1e-9);
        out.detail(format_args!("{seconds:.2} s, {} messages a second", output::count(rate as u64)))?;
    }
    Ok(if found.spam.total + found.ham.total == 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

pub(super) fn share(part: u64, whole: u64) -> String {
    format!("{:.2} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn print(spam: &Verdicts, ham: &Verdicts, half: &HalfReport, out: &Output) -> Result<()> {
    let mut rows = vec![["messages", "spam", "unsure", "ham", "score ≥ 0.5", ""].map(String::from)];
    for (found, name, at_half) in [(spam, "spam", half.spam_caught), (ham, "ham", half.ham_caught)] {
        rows.push([
            output::count(found.total),
            share(found.spam, found.total),
            share(found.unsure, found.total),
            share(found.ham, found.total),
            format!("{:.2} %", 100.0 * at_half),
            name.into(),
        ]);
    }
    out.columns(&rows)
}

/// Returns the spam caught at each of the rates, for JSON.
pub(super) fn caught_at(caught: &[f64; HAM_RATES.len()]) -> Vec<CaughtReport> {
    let rates = HAM_RATES.iter().zip(caught);
    rates.map(|(&ham_rate, &spam_caught)| CaughtReport { ham_rate, spam_caught }).collect()
}

/// Prints how well scores rank spam above ham.
pub(super) fn print_ranking(area: f64, caught_at: &[f64; HAM_RATES.len()], out: &Output) -> Result<()> {
    for (rate, &caught) in HAM_RATES.iter().zip(caught_at) {
        let caught = output::percent(caught);
        out.line(format_args!("{caught} of spam scores above all but {} % of ham", rate * 100.0))?;
    }
    out.line(format_args!("{area:.3e} above the ROC curve"))
}

/// Lists the first mistakes, ham before spam, because a reader misses ham more. Prints nothing if
/// quiet.
pub(super) fn print_mistakes(mistakes: &[Mistake], out: &Output) -> Result<()> {
    if out.is_quiet() {
        return Ok(());
    }
    let mut sorted: Vec<&Mistake> = mistakes.iter().collect();
    sorted.sort_by_key(|mistake| mistake.is_spam);
    for mistake in sorted.iter().take(LISTED) {
        let place = match &mistake.location {
            Some(location) => location.to_string(),
            None => format!("message {}", mistake.place),
        };
        let (class, verdict) = (class(mistake), mistake.verdict());
        out.detail(format_args!(
            "{class} called {verdict}: {place}, score {:.4}, {:?}",
            mistake.score, mistake.subject
        ))?;
    }
    match mistakes.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => out.detail(format_args!("and {} more: --json lists all", output::count(more as u64))),
    }
}

fn print_sweep(rows: &[SweepRow], method: Method, out: &Output) -> Result<()> {
    let threshold = |row: &SweepRow| format!("{:.1}", row.threshold);
    if method == Method::Default {
        // Only the classic method blocks senders, and takes a message without shingles for spam.
        let mut table = vec![["spam caught", "ham caught", "threshold"].map(String::from)];
        table.extend(rows.iter().map(|row| {
            let [spam, ham] = [&row.spam, &row.ham].map(|caught| share(caught.caught, caught.total));
            [spam, ham, threshold(row)]
        }));
        return out.columns(&table);
    }
    let mut table = vec![
        ["spam caught", "blocked", "empty", "ham caught", "blocked", "empty", "threshold"].map(String::from),
    ];
    for row in rows {
        let cells = |caught: &Caught| {
            [caught.caught, caught.blocked, caught.empty].map(|part| share(part, caught.total))
        };
        let ([a, b, c], [d, e, f]) = (cells(&row.spam), cells(&row.ham));
        table.push([a, b, c, d, e, f, threshold(row)]);
    }
    out.columns(&table)
}
