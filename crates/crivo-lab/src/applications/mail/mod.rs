//! A mail filter that learned forty messages, and the threshold of its method.
//!
//! The classic method stores the senders and the signatures of messages that the user marks as
//! junk. It filters a message if its sender sent two of them, if it resembles one by at least a
//! threshold, or if it has no shingle at all.
//!
//! *The demonstration* learns about forty messages and then checks others: new issues of the same
//! newsletters, and wanted mail.
//!
//! *The sweep* finds the best of the thresholds 0.1 to 1. It depends on the mail, so the experiment
//! generates mail of known similarity. Unwanted messages repeat learned ones to every degree from 0
//! to 1. Wanted ones quote them, but always by less than 0.1, and a few are too short for a
//! shingle, as in the original. The filtered share at each threshold follows from that: a signature
//! of 400 slots reaches the threshold with a binomial probability. Then the lowest threshold is the
//! best, because each higher one loses a tenth of the unwanted mail and saves next to nothing. If
//! wanted mail quotes more, another threshold is the best and the claim fails; the tests do that.
//!
//! *A folder of mail* (`--mail`): every second spam message is learned and the others are checked.
//! The results are shown beside the published ones of the original about the mail of Enron, with a
//! separate verdict.

mod messages;

use crivo_mail::{Filter, Label, Mail, Method};
use crivo_page::{Axis, Plot, Series};

use self::messages::{SIZE, Text as Letter};
use crate::prelude::*;
use crate::test::at_least;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "mail",
    title: "A mail filter from forty messages",
    claim: "A filter of senders and signatures that has learned forty unwanted messages filters others of their kind and \
            leaves wanted ones alone, and of the thresholds 0.1 to 1 the best compromise is 0.1, where unwanted mail \
            repeats itself to every degree and wanted mail hardly at all.",
    sources: &[(Text::Project, "§4.1–4.2")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, &Theory::default()),
};

/// The numbers that the claim depends on.
struct Theory {
    /// The best threshold.
    best: f64,
    /// The greatest similarity of wanted mail to unwanted mail.
    quoted: f64,
    /// The factor of similarities before they are compared with the threshold.
    factor: f64,
}

impl Default for Theory {
    fn default() -> Self {
        Self { best: 0.1, quoted: 0.08, factor: 1.0 }
    }
}

const LEARNED: usize = 40;
/// The number of slots of a signature, for an error of 0.05.
const SLOTS: u64 = 400;
/// One wanted message in this number has no shingle.
const SHORT_EVERY: usize = 50;

fn measure(context: &Context<'_>, theory: &Theory) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    report.parameter("learned", LEARNED);
    demonstrate(context, &mut report)?;
    block_senders(context, &mut report)?;
    context.advance(1, 3)?;
    sweep_generated(context, theory, &mut report)?;
    context.advance(2, 3)?;
    sweep_folder(context, theory, &mut report)?;
    Ok(report)
}

/// Checks new issues of newsletters after some issues were learned: two thirds of the text are
/// repeated. Every issue has another sender, so that only its content can identify it.
fn demonstrate(context: &Context<'_>, report: &mut ExperimentReport) -> Result<()> {
    let mut random = context.random("newsletters");
    let newsletters: Vec<Letter> = (0..8).map(|_| Letter::new(50, &mut random)).collect();
    let mut issue = |number: usize| {
        let text = newsletters[number % 8].with_more(10, &mut random);
        text.from(&format!("news{number}@list{}.example", number % 8))
    };
    let learned: Vec<_> = (0..LEARNED).map(&mut issue).collect();
    let asked = context.size(100, 300, 2_000);
    let unwanted: Vec<_> = (1_000..1_000 + asked).map(issue).collect();
    let mut random = context.random("wanted messages");
    let wanted =
        (0..asked).map(|number| Letter::new(40, &mut random).from(&format!("friend{number}@example.org")));
    let at = |rows: &[Row]| rows.first().map_or((0.0, 1.0), |row| (row.spam, row.ham));
    let (unwanted, wanted) = at(&sweep(made(learned), asked_about(unwanted, wanted))?);
    let mut part = Section::numbers("From forty messages, at the threshold 0.1");
    part.between("unwanted messages that are filtered, of all", unwanted, 0.97, 1.0);
    part.between("wanted messages that are filtered, of all", wanted, 0.0, 0.03);
    report.add(part);
    Ok(())
}

/// Checks messages without similarity to others, from senders of two learned messages and of one.
/// Only the former are filtered.
fn block_senders(context: &Context<'_>, report: &mut ExperimentReport) -> Result<()> {
    let mut random = context.random("senders");
    let mut from = |name: &str, number: usize| {
        Letter::new(SIZE, &mut random).from(&format!("{name}{number}@example.org"))
    };
    let twice = LEARNED / 3;
    let mut learned: Vec<_> = (0..2 * twice).map(|number| from("twice", number % twice)).collect();
    learned.extend((learned.len()..LEARNED).map(|number| from("once", number)));
    let blocked: Vec<_> = (0..twice).map(|number| from("twice", number)).collect();
    let others: Vec<_> = (2 * twice..LEARNED).map(|number| from("once", number)).collect();
    let rows = sweep(made(learned), asked_about(blocked, others))?;
    // At the highest threshold, only an equal message resembles a learned one.
    let (blocked, others) = rows.last().map_or((0.0, 1.0), |row| (row.spam, row.ham));
    let mut part = Section::numbers("New messages of known senders, at the threshold 1");
    part.equal("filtered of those whose sender sent two learned ones, of all", blocked, 1.0);
    part.equal("filtered of those whose sender sent one, of all", others, 0.0);
    report.add(part);
    Ok(())
}

/// Checks mail of known similarity at every threshold.
fn sweep_generated(context: &Context<'_>, theory: &Theory, report: &mut ExperimentReport) -> Result<()> {
    let mut random = context.random("alike");
    let asked: usize = context.size(200, 1_000, 4_000);
    report.parameter("asked", asked);
    let learned: Vec<Letter> = (0..LEARNED).map(|_| Letter::new(SIZE, &mut random)).collect();
    let degree = |number: usize| (number as f64 + 0.5) / asked as f64;
    let unwanted: Vec<Letter> =
        (0..asked).map(|number| learned[number % LEARNED].alike(degree(number), &mut random)).collect();
    let wanted: Vec<Letter> = (0..asked)
        .map(|number| match number % SHORT_EVERY {
            0 => Letter::default(),
            _ => learned[number % LEARNED].alike(theory.quoted * degree(number), &mut random),
        })
        .collect();
    let sent = |texts: &[Letter], name: &str| -> Vec<Vec<u8>> {
        let sender = |number| format!("{name}{number}@example.org");
        texts.iter().enumerate().map(|(number, text)| text.from(&sender(number))).collect()
    };
    let rows =
        sweep(made(sent(&learned, "junk")), asked_about(sent(&unwanted, "new"), sent(&wanted, "friend")))?;

    let curve = |title| Section::curve(title, "threshold", "share that is filtered");
    // Signatures of sets with fewer elements than slots vary slightly less than binomially. Near
    // the threshold, the errors of similarities above and below it cancel. But all wanted mail is
    // below, so its theory is an upper bound.
    for (title, texts, is_spam, side) in [
        ("Unwanted mail that repeats learned mail to every degree", &unwanted, true, Side::Both),
        ("Wanted mail that quotes a little of it", &wanted, false, Side::AtMost),
    ] {
        let likest = |text: &Letter| learned.iter().map(|other| text.similarity(other)).fold(0.0, f64::max);
        let likest: Vec<Option<f64>> =
            texts.iter().map(|text| (!text.is_empty()).then(|| theory.factor * likest(text))).collect();
        let mut part = curve(title);
        for (row, step) in rows.iter().zip(1_u64..) {
            // A message without a shingle is filtered at every threshold.
            let chances = likest.iter().map(|similarity| {
                similarity.map_or(1.0, |chance| at_least(step * SLOTS / 10, SLOTS, chance.min(1.0)))
            });
            part.at(row.threshold, expected_share(chances, row.of(is_spam), side));
        }
        report.add(part);
    }
    let mut part = Section::numbers("The best threshold of generated mail");
    part.add_compromise(&rows, theory.best);
    part.add_falls(&rows);
    // No wanted message is that similar to a learned one.
    let short = wanted.iter().filter(|text| text.is_empty()).count() as f64 / asked as f64;
    let at_one = rows.last().map_or(0.0, |row| row.ham);
    part.equal("wanted mail that is filtered at 1: what has no shingle, of all", at_one, short);
    report.add(part);
    Ok(())
}

/// Returns the expected share of independent events, each with its own probability. Half an event
/// is added to the deviation, because sums of few events are skewed, and bands miss one similar
/// pair in a hundred.
fn expected_share(chances: impl Iterator<Item = f64>, observed: f64, side: Side) -> Measure {
    let (mut sum, mut variance, mut trials) = (0.0, 0.0, 0_u64);
    for chance in chances {
        sum += chance;
        variance += chance * (1.0 - chance);
        trials += 1;
    }
    let n = trials.max(1) as f64;
    let deviation = (libm::sqrt(variance) + 0.5) / n;
    Measure::Normal { observed, theory: sum / n, deviation, trials, side }
}

/// Checks a folder of mail, if there is one, and compares it with published results about another.
fn sweep_folder(context: &Context<'_>, theory: &Theory, report: &mut ExperimentReport) -> Result<()> {
    let Some(folder) = &context.inputs().mail else { return Ok(()) };
    report.file("mail", &folder.display().to_string());
    let (spam, ham) = (folder.join("spam"), folder.join("ham"));
    let (mut learned, mut asked) = (0, 0);
    // Reads one message at a time, and none after the watcher has stopped the run.
    let wanted = || context.advance(2, 3).is_ok();
    let rows = context.timed("the folder of mail", || {
        let lessons = Mail::of(&spam)?.step_by(2).inspect(|_| learned += 1);
        let others = Mail::of(&spam)?.skip(1).step_by(2).map(|mail| Ok((mail?, true)));
        let innocent = Mail::of(&ham)?.skip(1).step_by(2).map(|mail| Ok((mail?, false)));
        let questions = others.chain(innocent).inspect(|_| asked += 1);
        sweep(lessons.take_while(|_| wanted()), questions.take_while(|_| wanted()))
    })?;
    context.advance(2, 3)?;
    report.parameter("learned_of_folder", learned);
    report.parameter("asked_of_folder", asked);
    for (name, is_spam) in [("spam_filtered", true), ("ham_filtered", false)] {
        let shares: Vec<String> = rows.iter().map(|row| format!("{:.4}", row.of(is_spam))).collect();
        report.parameter(name, shares.join(" "));
    }
    let Some(first) = rows.first() else { return Ok(()) };
    let (best, _) = best_of(&rows);
    let agrees = if best == theory.best { "as in the original" } else { "where the original had 0.1" };
    let sentence = format!(
        "{:.1} % of the folder's spam and {:.1} % of its ham are filtered at 0.1, where the original had 77 to 83 % and 2 to \
         3 %; the best threshold is {best}, {agrees}",
        100.0 * first.spam,
        100.0 * first.ham
    );
    // The original has 77.0 % and 83 % of spam, and 2.1 % and 3 % of ham. Two of these are known
    // only to a percent.
    let mut part = Section::numbers("The folder of mail beside the original's figures");
    part.between("spam that is filtered at 0.1, of all", first.spam, 0.765, 0.835);
    part.between("ham that is filtered at 0.1, of all", first.ham, 0.015, 0.035);
    part.add_compromise(&rows, theory.best);
    part.add_falls(&rows);
    report.add_published(part, sentence);
    let plot = Plot::new("The folder of mail: what is filtered", "A higher threshold filters less of both.")
        .x(Axis::linear("threshold"))
        .y(Axis::linear("share of messages"))
        .series(Series::line("spam", rows.iter().map(|row| (row.threshold, row.spam))))
        .series(Series::line("ham", rows.iter().map(|row| (row.threshold, row.ham))));
    report.figure(plot.figure());
    Ok(())
}

/// The filtered shares of spam and ham at a threshold.
#[derive(Debug, Clone, Copy)]
struct Row {
    threshold: f64,
    spam: f64,
    ham: f64,
}

impl Row {
    fn of(self, is_spam: bool) -> f64 {
        if is_spam { self.spam } else { self.ham }
    }

    /// Returns the value of a threshold: the share of spam that it filters minus that of ham.
    fn gain(self) -> f64 {
        self.spam - self.ham
    }
}

fn made(messages: Vec<Vec<u8>>) -> impl Iterator<Item = crivo_mail::Result<Vec<u8>>> {
    messages.into_iter().map(Ok)
}

fn asked_about(
    spam: impl IntoIterator<Item = Vec<u8>>,
    ham: impl IntoIterator<Item = Vec<u8>>,
) -> impl Iterator<Item = crivo_mail::Result<(Vec<u8>, bool)>> {
    let spam = spam.into_iter().map(|message| Ok((message, true)));
    spam.chain(ham.into_iter().map(|message| Ok((message, false))))
}

/// Learns spam, and checks messages at each threshold.
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
        .map(|row| Row {
            threshold: libm::round(row.threshold * 10.0) / 10.0,
            spam: share(row.spam.caught, row.spam.total),
            ham: share(row.ham.caught, row.ham.total),
        })
        .collect())
}

/// Returns the threshold with the largest gain, and its lead over the next largest.
fn best_of(rows: &[Row]) -> (f64, f64) {
    let mut ranked: Vec<(f64, f64)> = rows.iter().map(|row| (row.threshold, row.gain())).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    match ranked[..] {
        [(best, most), (_, next), ..] => (best, most - next),
        _ => (f64::NAN, 0.0),
    }
}

impl Section {
    /// Checks that one threshold is best, and no other as good, because a tie is no result.
    fn add_compromise(&mut self, rows: &[Row], expected: f64) {
        let (best, lead) = best_of(rows);
        self.equal("threshold with the most spam less ham", best, expected);
        self.between("by how much it is better than any other", lead, 0.005, 1.0);
    }

    /// Checks that a higher threshold filters less of both. Bands differ between thresholds, and
    /// may still find a few more messages at a higher one.
    fn add_falls(&mut self, rows: &[Row]) {
        for (name, is_spam) in [("spam", true), ("ham", false)] {
            let rise = |two: &[Row]| two[1].of(is_spam) - two[0].of(is_spam);
            let most = rows.windows(2).map(rise).fold(-1.0, f64::max);
            self.between(
                format!("largest rise of filtered {name} from a threshold to the next"),
                most,
                -1.0,
                0.02,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::{is_refuted_at_usual_scale, verdict};

    fn verdict_of(theory: &Theory) -> Verdict {
        verdict("mail", |context| measure(context, theory))
    }

    #[test]
    fn another_threshold_is_refuted() {
        assert_eq!(verdict_of(&Theory { best: 0.2, ..Theory::default() }), Verdict::Refuted);
    }

    /// The best threshold depends on the mail: if wanted messages quote more, it is another.
    #[test]
    fn wanted_mail_that_quotes_more_is_refuted() {
        assert_eq!(verdict_of(&Theory { quoted: 0.4, ..Theory::default() }), Verdict::Refuted);
    }

    #[test]
    fn a_similarity_wrong_by_three_percent_is_refuted() {
        is_refuted_at_usual_scale("mail", &[0.97, 1.03], |context, factor| {
            measure(context, &Theory { factor, ..Theory::default() })
        });
    }

    /// If all thresholds give the same result, none is the best. (A former version returned the
    /// first.)
    #[test]
    fn a_tie_is_no_best_threshold() {
        let judged = |spam: [f64; 3]| {
            let row = |(step, spam): (u32, f64)| Row { threshold: f64::from(step) / 10.0, spam, ham: 0.0 };
            let rows: Vec<Row> = (1..).zip(spam).map(row).collect();
            let mut part = Section::numbers("the best");
            part.add_compromise(&rows, 0.1);
            let mut report = ExperimentReport::new();
            report.add(part);
            report.judge().verdict
        };
        assert_eq!(judged([1.0, 1.0, 0.5]), Verdict::Refuted);
        assert_eq!(judged([1.0, 0.9, 0.5]), Verdict::Confirmed);
        assert_eq!(judged([0.9, 1.0, 0.5]), Verdict::Refuted);
    }
}
