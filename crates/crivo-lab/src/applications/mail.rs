//! A mail filter from forty messages, and the threshold of its method.
//!
//! The classic method keeps the senders and the signatures of messages that somebody calls junk, and filters what comes
//! from a sender of two of them, or resembles one by a threshold, or has no shingle at all. The demonstration learns some
//! forty messages and then sees others: new issues of the same newsletters, and mail that is wanted. With a folder of mail
//! (`--mail`) every second message is learned and the others are asked about, at the thresholds 0.1 to 1.

use crivo_mail::{Filter, Label, Mail, Method};
use crivo_page::{Axis, Plot, Series};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "mail",
    title: "A mail filter from forty messages",
    claim: "A filter of senders and signatures that has learned forty unwanted messages filters others of their kind and \
            leaves wanted ones alone, best at the threshold 0.1.",
    sources: &[(Text::Project, "§4.1–4.2")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.1),
};

/// `best` is the threshold that theory takes for the best.
fn measure(context: &Context<'_>, best: f64) -> Result<Report> {
    let mut report = Report::new();
    let mut random = context.random("messages");
    let newsletters: Vec<Newsletter> = (0..8).map(|number| Newsletter::new(number, &mut random)).collect();
    let asked = context.size(100, 300, 2_000);
    report.parameter("learned", 40);
    report.parameter("asked", asked);
    let learned: Vec<Vec<u8>> =
        (0..40).map(|number| newsletters[number % 8].issue(number, &mut random)).collect();
    let mut messages = Vec::new();
    for number in 0..asked {
        // From other senders, so that the content has to tell.
        messages.push((newsletters[number % 8].issue(1_000 + number, &mut random), true));
        messages.push((wanted(number, &mut random), false));
    }
    let rows = sweep(learned.into_iter().map(Ok), messages.into_iter().map(Ok))?;
    context.advance(1, 2)?;
    let mut part = Part::numbers("From forty messages, at the threshold 0.1");
    for row in rows.iter().filter(|row| row.0 == 0.1) {
        part.between("unwanted messages that are filtered, of all", row.1, 0.97, 1.0);
        part.between("wanted messages that are filtered, of all", row.2, 0.0, 0.03);
    }
    add_sweep(&mut report, &mut part, "Generated messages", &rows, best);
    report.add(part);

    if let Some(folder) = &context.inputs().mail {
        report.file("mail", &folder.display().to_string());
        let (spam, ham) = (folder.join("spam"), folder.join("ham"));
        let (mut learned, mut asked) = (0, 0);
        // One message at a time, and no more of them once somebody asks to stop.
        let wanted = || context.advance(1, 2).is_ok();
        let rows = context.timed("the folder of mail", || {
            let lessons = Mail::of(&spam)?.step_by(2).inspect(|_| learned += 1);
            let others = Mail::of(&spam)?.skip(1).step_by(2).map(|mail| Ok((mail?, true)));
            let innocent = Mail::of(&ham)?.skip(1).step_by(2).map(|mail| Ok((mail?, false)));
            let questions = others.chain(innocent).inspect(|_| asked += 1);
            sweep(lessons.take_while(|_| wanted()), questions.take_while(|_| wanted()))
        })?;
        context.advance(1, 2)?;
        report.parameter("learned_of_folder", learned);
        report.parameter("asked_of_folder", asked);
        let mut part = Part::numbers("The folder of mail");
        for row in rows.iter().filter(|row| row.0 == 0.1) {
            report.note(format!(
                "Of the folder, {:.1} % of the spam and {:.1} % of the ham are filtered at 0.1; the original had 77 to 83 % and 2 to 3 %.",
                100.0 * row.1,
                100.0 * row.2
            ));
        }
        add_sweep(&mut report, &mut part, "The folder of mail", &rows, best);
        report.add(part);
    }
    Ok(report)
}

/// What is filtered of the spam and of the ham at each threshold.
type Row = (f64, f64, f64);

fn sweep(
    learned: impl Iterator<Item = crivo_mail::Result<Vec<u8>>>,
    messages: impl Iterator<Item = crivo_mail::Result<(Vec<u8>, bool)>>,
) -> Result<Vec<Row>> {
    let folder =
        tempfile::tempdir().map_err(|error| Error::Experiment(format!("no temporary folder: {error}")))?;
    let filter = Filter::open_or_create_with(folder.path(), Method::Classic)?;
    filter.train(learned.map(|message| Ok((message?, Label::Spam))))?;
    let rows = filter.sweep(messages)?;
    let share = |caught: u64, total: u64| caught as f64 / total.max(1) as f64;
    Ok(rows
        .iter()
        .map(|row| {
            let threshold = libm::round(row.threshold * 10.0) / 10.0;
            (threshold, share(row.spam.caught, row.spam.total), share(row.ham.caught, row.ham.total))
        })
        .collect())
}

/// A higher threshold filters less, and the lowest is the best compromise.
fn add_sweep(report: &mut Report, part: &mut Part, title: &str, rows: &[Row], best: f64) {
    let mut before = (0.0, 1.0, 1.0);
    for &row in rows {
        let (threshold, spam, ham) = row;
        // Bands, which are others at each threshold, may find a few more all the same.
        part.between(format!("spam that is filtered at {threshold}"), spam, 0.0, before.1 + 0.02);
        part.between(format!("ham that is filtered at {threshold}"), ham, 0.0, before.2 + 0.02);
        before = row;
    }
    let gain = |row: &Row| row.1 - row.2;
    let most = rows.iter().map(gain).fold(f64::NEG_INFINITY, f64::max);
    let found = rows.iter().find(|row| gain(row) >= most - 0.005).map_or(0.0, |row| row.0);
    part.equal("threshold with the best compromise", found, best);
    let plot = Plot::new(format!("{title}: what is filtered"), "A higher threshold filters less of both.")
        .x(Axis::linear("threshold"))
        .y(Axis::linear("share of messages"))
        .series(Series::line("spam", rows.iter().map(|row| (row.0, row.1))))
        .series(Series::line("ham", rows.iter().map(|row| (row.0, row.2))));
    report.figure(plot.figure());
}

/// Frequent words, which begin shingles, and others.
const SMALL: [&str; 12] = ["the", "of", "to", "and", "a", "in", "for", "with", "you", "this", "on", "your"];
const OTHERS: [&str; 40] = [
    "offer", "travel", "summer", "price", "deal", "week", "order", "shop", "music", "garden", "shoes",
    "ticket", "beach", "hotel", "phone", "coffee", "member", "points", "sale", "friends", "report",
    "meeting", "project", "river", "lunch", "budget", "house", "school", "train", "photo", "recipe",
    "doctor", "paper", "letter", "number", "answer", "question", "evening", "morning", "table",
];

/// Sentences in which frequent words stand among others.
fn sentences(words: usize, random: &mut Random) -> Vec<String> {
    (0..words)
        .map(|_| {
            let word = if random.happens(0.4) {
                SMALL[random.below(SMALL.len())]
            } else {
                OTHERS[random.below(OTHERS.len())]
            };
            word.to_owned()
        })
        .collect()
}

/// A newsletter has a text that it repeats, and news.
struct Newsletter {
    number: usize,
    text: Vec<String>,
}

impl Newsletter {
    fn new(number: usize, random: &mut Random) -> Self {
        Self { number, text: sentences(150, random) }
    }

    fn issue(&self, issue: usize, random: &mut Random) -> Vec<u8> {
        let mut text = self.text.clone();
        text.extend(sentences(30, random));
        let sender = format!("news{issue}@list{}.example", self.number);
        message(&sender, &format!("Issue {issue}"), &text)
    }
}

/// Mail from somebody to somebody.
fn wanted(number: usize, random: &mut Random) -> Vec<u8> {
    message(&format!("friend{number}@example.org"), "Hello", &sentences(120, random))
}

fn message(sender: &str, subject: &str, words: &[String]) -> Vec<u8> {
    format!("From: {sender}\r\nSubject: {subject}\r\n\r\n{}\r\n", words.join(" ")).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn another_threshold_is_refuted() {
        assert_eq!(verdict("mail", |context| measure(context, 0.5)), Verdict::Refuted);
    }
}
