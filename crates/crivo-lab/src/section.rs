//! Numbers with their theory: the rows of an experiment's table, and the points of its plots.

use crate::error::{Error, Result};
use crate::test::{Measure, Sample, Side, chi_square};

/// The meaning of a failed check of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The claim is wrong.
    Claim,
    /// The experiment is not reliable: a condition that must hold for any claim did not.
    Control,
    /// Published figures are not reproduced from files that the user has given. The part has its
    /// own verdict, which does not affect the experiment's.
    Published,
}

impl Role {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Control => "control",
            Self::Published => "published",
        }
    }
}

/// An axis of a plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scaled {
    /// The label of the axis.
    pub label: String,
    /// Whether the axis is logarithmic.
    pub log: bool,
}

/// One check of a part, which is a point if it has a coordinate.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The first coordinate, if the check is a point of a plot.
    pub x: Option<f64>,
    /// The description in words.
    pub label: String,
    /// The number and its theory.
    pub measure: Measure,
}

/// A curve that is only shown, not checked.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    /// The name of the curve.
    pub name: String,
    /// The points of the curve.
    pub points: Vec<(f64, f64)>,
}

/// Related checks: a curve, a distribution, or several numbers.
#[derive(Debug, Clone)]
pub struct Section {
    pub(crate) title: String,
    pub(crate) role: Role,
    pub(crate) axes: Option<(Scaled, Scaled)>,
    pub(crate) rows: Vec<Row>,
    pub(crate) curves: Vec<Curve>,
    /// Whether theory is drawn as a line between its points.
    pub(crate) joined: bool,
}

impl Section {
    /// Creates a part of numbers without a plot.
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

    /// Creates a part of points on a curve.
    pub fn curve(title: impl Into<String>, x: &str, y: &str) -> Self {
        let axis = |label: &str| Scaled { label: label.into(), log: false };
        Self { axes: Some((axis(x), axis(y))), ..Self::numbers(title) }
    }

    /// Makes the horizontal axis logarithmic.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        if let Some((x, _)) = &mut self.axes {
            x.log = true;
        }
        self
    }

    /// Makes the vertical axis logarithmic.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        if let Some((_, y)) = &mut self.axes {
            y.log = true;
        }
        self
    }

    /// Draws the theory as points too, because it has no values between them.
    #[must_use]
    pub fn separate(mut self) -> Self {
        self.joined = false;
        self
    }

    /// Marks checks that must hold for any claim. If one fails, the verdict is doubtful.
    #[must_use]
    pub fn control(mut self) -> Self {
        self.role = Role::Control;
        self
    }

    /// Marks checks that compare a file of the user with figures published about another file; see
    /// [`Role::Published`].
    #[must_use]
    pub fn published(mut self) -> Self {
        self.role = Role::Published;
        self
    }

    /// Shows a curve beside the points.
    pub fn show(&mut self, name: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        self.curves.push(Curve { name: name.into(), points: points.into_iter().collect() });
    }

    /// Adds a check as a point of a plot.
    pub fn at(&mut self, x: f64, measure: Measure) {
        self.rows.push(Row { x: Some(x), label: String::new(), measure });
    }

    /// Adds a check with a name.
    pub fn named(&mut self, label: impl Into<String>, measure: Measure) {
        self.rows.push(Row { x: None, label: label.into(), measure });
    }

    /// Adds a point: the share of trials in which an event of known probability occurred.
    pub fn share(&mut self, x: f64, successes: u64, trials: u64, chance: f64) {
        self.at(x, Measure::Share { successes, trials, chance, side: Side::Both });
    }

    /// Adds a number: the share of trials in which an event of known probability occurred.
    pub fn named_share(&mut self, label: impl Into<String>, successes: u64, trials: u64, chance: f64) {
        self.named(label, Measure::Share { successes, trials, chance, side: Side::Both });
    }

    /// Adds a number: the share of an event that occurs with at most the probability of the theory.
    pub fn share_at_most(&mut self, label: impl Into<String>, successes: u64, trials: u64, chance: f64) {
        self.named(label, Measure::Share { successes, trials, chance, side: Side::AtMost });
    }

    /// Adds a point of a number without randomness.
    pub fn exact_at(&mut self, x: f64, observed: f64, theory: f64, tolerance: f64) {
        self.at(x, Measure::Exact { observed, theory, tolerance });
    }

    /// Adds a number without randomness.
    pub fn exact(&mut self, label: impl Into<String>, observed: f64, theory: f64, tolerance: f64) {
        self.named(label, Measure::Exact { observed, theory, tolerance });
    }

    /// Adds a number without randomness that must equal the theory exactly.
    pub fn equal(&mut self, label: impl Into<String>, observed: f64, theory: f64) {
        self.exact(label, observed, theory, 0.0);
    }

    /// Adds a number without randomness, and its bounds.
    pub fn between(&mut self, label: impl Into<String>, observed: f64, lower: f64, upper: f64) {
        self.named(label, Measure::Between { observed, lower, upper });
    }

    /// Adds the mean and variance of a sample.
    pub fn moments(&mut self, label: &str, sample: &Sample, variance: f64, kurtosis: f64) {
        self.named(format!("mean, {label}"), sample.check_mean(variance));
        self.named(format!("variance, {label}"), sample.check_variance(variance, kurtosis));
    }

    /// Adds a test of a whole distribution.
    ///
    /// # Errors
    /// If there are too few observations for a test.
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
