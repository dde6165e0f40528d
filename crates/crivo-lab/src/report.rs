//! The result of an experiment: its checks, the verdict that follows from them, and its table.

use std::fmt::{self, Write};

use crivo_page::Markup;
use crivo_rows::written::delimited_field;

use crate::context::Scale;
use crate::experiment::Experiment;
use crate::section::{Role, Section};
use crate::test::{Judged, LEVEL};

/// Whether the claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every check of the claim holds.
    Confirmed,
    /// A check of the claim fails.
    Refuted,
    /// A check fails that must hold for any claim, so the experiment itself is in doubt.
    Doubtful,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Doubtful => "doubtful",
        })
    }
}

/// The result of an experiment.
#[derive(Debug, Default)]
pub struct ExperimentReport {
    pub(crate) parameters: Vec<(String, String)>,
    /// The files that the user has given, by the option that names them.
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) parts: Vec<Section>,
    pub(crate) notes: Vec<String>,
    pub(crate) figures: Vec<Markup>,
    /// A sentence that compares the results for given files with published ones.
    pub(crate) beside: String,
}

/// A row of the table, with the result of its check.
#[derive(Debug)]
pub struct Line<'a> {
    /// The part of the row.
    pub part: &'a Section,
    /// The first coordinate, if the row is a point.
    pub x: Option<f64>,
    /// The description.
    pub label: &'a str,
    /// The check.
    pub judged: Judged,
}

/// The results of all checks.
#[derive(Debug)]
pub struct Judgement<'a> {
    /// The verdict that follows from the checks.
    pub verdict: Verdict,
    /// Every check, in the order of the report.
    pub lines: Vec<Line<'a>>,
    /// The number of checks with randomness.
    pub random: usize,
    /// The verdict on published figures, if files were given that can be compared with them.
    pub published: Option<Published>,
}

/// Whether published figures are reproduced from files that the user has given. The files are
/// unknown, so no verdict can be expected. This one is shown, but has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The verdict on the published figures.
    pub verdict: Verdict,
    /// The figures in a sentence.
    pub reason: String,
}

impl ExperimentReport {
    /// Creates an empty report.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a parameter, for the first line of the table.
    pub fn parameter(&mut self, name: &str, value: impl fmt::Display) {
        self.parameters.push((name.into(), value.to_string()));
    }

    /// Notes a given file, by the option that names it. It is a parameter, and part of the command
    /// that repeats the experiment.
    pub fn file(&mut self, option: &'static str, path: &str) {
        self.parameter("file", path.replace([';', '\n'], " "));
        self.files.push((option, path.into()));
    }

    /// Adds checks.
    pub fn add(&mut self, part: Section) {
        self.parts.push(part);
    }

    /// Adds a sentence that the page shows beside the plots.
    pub fn note(&mut self, sentence: impl Into<String>) {
        self.notes.push(sentence.into());
    }

    /// Adds checks that compare a given file with published figures, and a sentence with the
    /// figures of both.
    pub fn add_published(&mut self, part: Section, sentence: impl Into<String>) {
        self.beside = sentence.into();
        self.add(part.published());
    }

    /// Adds a figure that the experiment has drawn itself.
    pub fn figure(&mut self, figure: Markup) {
        self.figures.push(figure);
    }

    /// Makes all checks. Each with randomness has an equal share of [`LEVEL`].
    pub fn judge(&self) -> Judgement<'_> {
        let rows = || self.parts.iter().flat_map(|part| part.rows.iter().map(move |row| (part, row)));
        let random = rows().filter(|(_, row)| row.measure.is_random()).count();
        let tail = LEVEL / random.max(1) as f64;
        let lines: Vec<Line<'_>> = rows()
            .map(|(part, row)| Line { part, x: row.x, label: &row.label, judged: row.measure.judge(tail) })
            .collect();
        let fails = |role| lines.iter().any(|line| line.part.role == role && !line.judged.holds());
        let has = |role| lines.iter().any(|line| line.part.role == role);
        let published = has(Role::Published).then(|| Published {
            verdict: if fails(Role::Published) { Verdict::Refuted } else { Verdict::Confirmed },
            reason: self.beside.clone(),
        });
        let verdict = if fails(Role::Control) || !has(Role::Claim) && !has(Role::Control) {
            Verdict::Doubtful
        } else if fails(Role::Claim) {
            Verdict::Refuted
        } else {
            Verdict::Confirmed
        };
        Judgement { verdict, lines, random, published }
    }

    /// Returns the table: a line with all settings that determine its bytes, a header, and a row
    /// for each check.
    pub fn csv(&self, experiment: &Experiment, seed: u64, scale: Scale) -> String {
        let judgement = self.judge();
        let mut csv = format!(
            "# crivo lab {}; experiment={}; seed={seed}; scale={}; level={LEVEL:e}/{}; verdict={}",
            env!("CARGO_PKG_VERSION"),
            experiment.name,
            scale.name(),
            judgement.random.max(1),
            judgement.verdict,
        );
        // Writing to a string cannot fail.
        if let Some(published) = &judgement.published {
            let _ = write!(csv, "; published={}", published.verdict);
        }
        for (name, value) in &self.parameters {
            let _ = write!(csv, "; {name}={value}");
        }
        csv.push_str("\npart,role,label,x,observed,theory,lower,upper,trials,test,holds\n");
        for line in &judgement.lines {
            let Judged { observed, theory, lower, upper, trials, test } = line.judged;
            let role = line.part.role.name();
            let [x, theory] = [line.x, theory].map(|value| value.map(number).unwrap_or_default());
            let _ = writeln!(
                csv,
                "{},{role},{},{x},{},{theory},{},{},{trials},{test},{}",
                delimited_field(&line.part.title, ","),
                delimited_field(line.label, ","),
                number(observed),
                number(lower),
                number(upper),
                line.judged.holds()
            );
        }
        csv
    }
}

impl Judgement<'_> {
    /// Returns the checks that determine the verdict.
    fn decisive(&self) -> impl Iterator<Item = &Line<'_>> {
        self.lines.iter().filter(|line| line.part.role != Role::Published)
    }

    /// Returns the failed ones among the checks that determine the verdict.
    pub fn failed(&self) -> impl Iterator<Item = &Line<'_>> {
        self.decisive().filter(|line| !line.judged.holds())
    }

    /// Returns the verdict's reason in one sentence: the check that fails most, or the one nearest
    /// to failing.
    pub fn reason(&self) -> String {
        let worst = |lines: &mut dyn Iterator<Item = &Line<'_>>| -> Option<String> {
            let worst = lines.max_by(|a, b| a.judged.strain().total_cmp(&b.judged.strain()))?;
            Some(worst.describe())
        };
        let (failed, all) = (self.failed().count(), self.decisive().count());
        let level = if self.random == 0 {
            "no part of chance".into()
        } else {
            format!("false alarm at most 10⁻⁶ over {} checks with chance", self.random)
        };
        if failed > 0 {
            let which = worst(&mut self.failed()).unwrap_or_default();
            format!("{failed} of {all} checks fail; most of all {which} ({level})")
        } else {
            let random = &mut self.decisive().filter(|line| line.judged.trials > 0);
            match worst(random) {
                Some(which) => {
                    format!("all {all} checks hold; nearest to its bounds is {which} ({level})")
                }
                None => format!("all {all} checks hold ({level})"),
            }
        }
    }
}

impl Line<'_> {
    /// Describes in words what was checked.
    pub fn subject(&self) -> String {
        let mut subject = self.part.title.clone();
        if !self.label.is_empty() {
            subject = format!("{subject}: {}", self.label);
        }
        if let Some(x) = self.x {
            let axis = self.part.axes.as_ref().map_or("x", |(x, _)| x.label.as_str());
            let _ = write!(subject, " at {axis} {}", short(x));
        }
        subject
    }

    fn describe(&self) -> String {
        let Judged { observed, theory, lower, upper, .. } = self.judged;
        let theory = theory.map(|theory| format!("{} in theory, ", short(theory))).unwrap_or_default();
        format!(
            "“{}”: {} observed, {theory}accepted from {} to {}",
            self.subject(),
            short(observed),
            short(lower),
            short(upper)
        )
    }
}

/// Returns the shortest text of a number with ten digits. These are enough to draw and to compare,
/// and few enough that the last bits of a logarithm do not matter.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            String::new()
        } else if value > 0.0 {
            "inf".into()
        } else {
            "-inf".into()
        };
    }
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-5..1e15).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

/// Formats a number for readers.
pub(crate) fn short(value: f64) -> String {
    if !value.is_finite() {
        return if value > 0.0 { "∞".into() } else { "−∞".into() };
    }
    if value == value.trunc() && value.abs() < 1e6 {
        return value.to_string();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-3..1e7).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(claim: f64, control: f64) -> ExperimentReport {
        let mut report = ExperimentReport::new();
        let mut part = Section::numbers("claims");
        part.exact("one", claim, 1.0, 0.1);
        report.add(part);
        let mut part = Section::numbers("controls").control();
        part.exact("one", control, 1.0, 0.1);
        report.add(part);
        report
    }

    #[test]
    fn a_failed_claim_refutes_and_a_failed_control_casts_doubt() {
        assert_eq!(report(1.0, 1.05).judge().verdict, Verdict::Confirmed);
        assert_eq!(report(1.2, 1.0).judge().verdict, Verdict::Refuted);
        assert_eq!(report(1.0, 0.8).judge().verdict, Verdict::Doubtful);
        assert_eq!(report(1.2, 0.8).judge().verdict, Verdict::Doubtful);
        assert_eq!(ExperimentReport::new().judge().verdict, Verdict::Doubtful);
    }

    #[test]
    fn reasons_name_the_worst_check() {
        assert!(report(1.2, 1.0).judge().reason().contains("“claims: one”: 1.2 observed, 1 in theory"));
    }

    #[test]
    fn a_bound_leaves_the_column_of_theory_empty() {
        let mut report = ExperimentReport::new();
        let mut part = Section::numbers("claims");
        part.between("share", 0.5, 0.6, 1.0);
        part.equal("count", 3.0, 3.0);
        report.add(part);
        let experiment = crate::experiment::find("errata").unwrap();
        let csv = report.csv(experiment, 0, Scale::Tiny);
        let rows: Vec<&str> = csv.lines().skip(2).collect();
        assert_eq!(
            rows,
            ["claims,claim,share,,0.5,,0.6,1,0,bounds,false", "claims,claim,count,,3,3,3,3,0,exact,true"]
        );
        assert!(report.judge().reason().contains("“claims: share”: 0.5 observed, accepted from 0.6 to 1"));
    }

    #[test]
    fn published_figures_have_a_verdict_of_their_own() {
        for (observed, expected) in [(1.5, Verdict::Confirmed), (0.5, Verdict::Refuted)] {
            let mut report = report(1.0, 1.0);
            let mut part = Section::numbers("a file");
            part.between("share", observed, 1.0, 2.0);
            report.add_published(part, "a reason");
            let judgement = report.judge();
            assert_eq!(judgement.verdict, Verdict::Confirmed);
            assert_eq!(judgement.published, Some(Published { verdict: expected, reason: "a reason".into() }));
            assert!(judgement.reason().starts_with("all 2 checks hold"), "{}", judgement.reason());
            let csv = report.csv(crate::experiment::find("errata").unwrap(), 0, Scale::Tiny);
            assert!(csv.contains(&format!("; verdict=confirmed; published={expected}\n")), "{csv}");
        }
        // Published figures alone confirm nothing.
        let mut alone = ExperimentReport::new();
        let mut part = Section::numbers("a file");
        part.equal("one", 1.0, 1.0);
        alone.add_published(part, "a reason");
        assert_eq!(alone.judge().verdict, Verdict::Doubtful);
        assert_eq!(report(1.0, 1.0).judge().published, None);
    }

    #[test]
    fn numbers_keep_ten_digits() {
        assert_eq!(number(1.0 / 3.0), "0.3333333333");
        assert_eq!(number(1e-9), "1e-9");
        assert_eq!(number(123_456_789_012.0), "123456789000");
        assert_eq!((number(f64::INFINITY), number(-0.5)), ("inf".into(), "-0.5".into()));
        assert_eq!(short(0.123_456), "0.1235");
    }
}
