//! Numbers beside their theory: the rows of an experiment's table, and the points of its plots.

use crate::error::{Error, Result};
use crate::test::{Measure, Sample, Side, chi_square};

/// What a failed check of a part means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The claim is wrong.
    Claim,
    /// The experiment is not to be trusted: what must hold, whatever the claim, did not.
    Control,
    /// Published figures do not come out of files that the user brought. The part has a verdict of
    /// its own, which does not affect the experiment's.
    Published,
}

impl Role {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Control => "control",
            Self::Published => "published",
        }
    }
}

/// A direction of a plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scaled {
    /// What it shows.
    pub label: String,
    /// Whether equal distances are equal ratios.
    pub log: bool,
}

/// One point.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Where it lies, if it lies anywhere.
    pub x: Option<f64>,
    /// What it is, in words.
    pub label: String,
    /// The number and its theory.
    pub measure: Measure,
}

/// A curve that is only shown.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    /// What it is.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// Checks that belong together: a curve, a distribution, or a handful of numbers.
#[derive(Debug, Clone)]
pub struct Part {
    pub(crate) title: String,
    pub(crate) role: Role,
    pub(crate) axes: Option<(Scaled, Scaled)>,
    pub(crate) rows: Vec<Row>,
    pub(crate) curves: Vec<Curve>,
    /// Whether theory is drawn as a line between its points.
    pub(crate) joined: bool,
}

impl Part {
    /// Numbers without a plot.
    pub fn numbers(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            role: Role::Claim,
            axes: None,
            rows: Vec::new(),
            curves: Vec::new(),
            joined: true,
        }
    }

    /// Points of a curve.
    pub fn curve(title: impl Into<String>, x: &str, y: &str) -> Self {
        let axis = |label: &str| Scaled { label: label.into(), log: false };
        Self { axes: Some((axis(x), axis(y))), ..Self::numbers(title) }
    }

    /// Equal distances from left to right are equal ratios.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        if let Some((x, _)) = &mut self.axes {
            x.log = true;
        }
        self
    }

    /// Equal distances from bottom to top are equal ratios.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        if let Some((_, y)) = &mut self.axes {
            y.log = true;
        }
        self
    }

    /// Theory is shown as points too: between them there is none.
    #[must_use]
    pub fn separate(mut self) -> Self {
        self.joined = false;
        self
    }

    /// These checks have to hold whatever the claim: if one fails, the verdict is doubtful.
    #[must_use]
    pub fn control(mut self) -> Self {
        self.role = Role::Control;
        self
    }

    /// Marks checks that compare a file of the user's with figures published about another file:
    /// see [`Role::Published`].
    #[must_use]
    pub fn published(mut self) -> Self {
        self.role = Role::Published;
        self
    }

    /// Shows a curve beside the points.
    pub fn show(&mut self, name: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        self.curves.push(Curve { name: name.into(), points: points.into_iter().collect() });
    }

    /// A point of a plot.
    pub fn at(&mut self, x: f64, measure: Measure) {
        self.rows.push(Row { x: Some(x), label: String::new(), measure });
    }

    /// A number with a name.
    pub fn named(&mut self, label: impl Into<String>, measure: Measure) {
        self.rows.push(Row { x: None, label: label.into(), measure });
    }

    /// How often something of a known chance happened, at a point.
    pub fn share(&mut self, x: f64, successes: u64, trials: u64, chance: f64) {
        self.at(x, Measure::Share { successes, trials, chance, side: Side::Both });
    }

    /// How often something of a known chance happened.
    pub fn named_share(&mut self, label: impl Into<String>, successes: u64, trials: u64, chance: f64) {
        self.named(label, Measure::Share { successes, trials, chance, side: Side::Both });
    }

    /// Something that happens no more often than theory allows.
    pub fn share_at_most(&mut self, label: impl Into<String>, successes: u64, trials: u64, chance: f64) {
        self.named(label, Measure::Share { successes, trials, chance, side: Side::AtMost });
    }

    /// A number without chance, at a point.
    pub fn exact_at(&mut self, x: f64, observed: f64, theory: f64, tolerance: f64) {
        self.at(x, Measure::Exact { observed, theory, tolerance });
    }

    /// A number without chance.
    pub fn exact(&mut self, label: impl Into<String>, observed: f64, theory: f64, tolerance: f64) {
        self.named(label, Measure::Exact { observed, theory, tolerance });
    }

    /// A number without chance that must be exactly so.
    pub fn equal(&mut self, label: impl Into<String>, observed: f64, theory: f64) {
        self.exact(label, observed, theory, 0.0);
    }

    /// A number without chance, and its bounds.
    pub fn between(&mut self, label: impl Into<String>, observed: f64, lower: f64, upper: f64) {
        self.named(label, Measure::Between { observed, lower, upper });
    }

    /// Mean and variance of a sample.
    pub fn moments(&mut self, label: &str, sample: &Sample, variance: f64, kurtosis: f64) {
        self.named(format!("mean, {label}"), sample.check_mean(variance));
        self.named(format!("variance, {label}"), sample.check_variance(variance, kurtosis));
    }

    /// A whole distribution.
    ///
    /// # Errors
    /// If there are too few observations to see anything.
    pub fn distribution(
        &mut self,
        label: impl Into<String>,
        counts: &[u64],
        probabilities: &[f64],
    ) -> Result<()> {
        let label = label.into();
        let measure = chi_square(counts, probabilities)
            .ok_or_else(|| Error::Experiment(format!("{label}: too few observations for a χ² test")))?;
        self.named(label, measure);
        Ok(())
    }
}
