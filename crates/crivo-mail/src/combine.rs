//! From pieces of evidence to one probability, and from probabilities to three answers.
//!
//! The evidence about a message is a handful of numbers: the margin of the linear model, the similarity to the nearest
//! learned spam and to the nearest learned ham, what was learned from the sender. A logistic regression over them is the
//! calibrated probability. It is fitted on evidence *as a new message has it*: margins from a model that has not
//! seen the message (folds), similarities to other messages, counts without the message itself. With few messages
//! the coefficients stay near values that are sensible anywhere (a Gaussian prior); with many they follow the mail.
//!
//! The thresholds come from the same folds. Spam begins where so few ham messages are above that the upper confidence limit of
//! their share (95 %) is within the wanted rate. Where there are too few messages to show that, the upper tail of ham's
//! log-odds is continued as an exponential, and the threshold lies where that reaches the rate, and never where the
//! probability is below 95 %: a young filter is unsure rather than wrong. Ham ends by the same rule at the other end.

use crate::judgement::Thresholds;

/// How many numbers the evidence has.
pub(crate) const PIECES: usize = 6;

/// The evidence about a message.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Evidence {
    /// Of the linear model.
    pub(crate) margin: f64,
    /// To the nearest learned spam.
    pub(crate) like_spam: f64,
    /// To the nearest learned ham.
    pub(crate) like_ham: f64,
    /// How often the sender was learned from; none if the message has no sender.
    pub(crate) sender: Option<(u32, u32)>,
}

impl Evidence {
    fn pieces(&self) -> [f64; PIECES] {
        let (reputation, new) = match self.sender {
            None => (0.0, 0.0),
            Some((0, 0)) => (0.0, 1.0),
            Some((spam, ham)) => (libm::log((f64::from(spam) + 0.5) / (f64::from(ham) + 0.5)), 0.0),
        };
        [1.0, self.margin, self.like_spam, self.like_ham, reputation, new]
    }
}

/// The coefficients of the evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Combiner {
    pub(crate) coefficients: [f64; PIECES],
}

/// What the coefficients are before any mail was seen, and how many messages it takes to move them: one
/// standard deviation is the inverse root of the second number.
const PRIOR: [(f64, f64); PIECES] = [(0.0, 1.0), (4.0, 0.1), (3.0, 1.0), (-3.0, 1.0), (0.5, 4.0), (0.0, 4.0)];

impl Default for Combiner {
    fn default() -> Self {
        Self { coefficients: PRIOR.map(|(mean, _)| mean) }
    }
}

impl Combiner {
    /// The log-odds of spam.
    pub(crate) fn log_odds(&self, evidence: &Evidence) -> f64 {
        evidence.pieces().iter().zip(&self.coefficients).map(|(piece, coefficient)| piece * coefficient).sum()
    }

    /// For a label that every learned message has: nothing tells which messages do not have it, so none gets it, and none
    /// is surely without.
    pub(crate) fn without_others() -> Self {
        let mut coefficients = [0.0; PIECES];
        coefficients[0] = -1.0;
        Self { coefficients }
    }

    /// What a step of the margin adds to the log-odds.
    pub(crate) fn slope(&self) -> f64 {
        self.coefficients[1]
    }

    /// The most probable coefficients, by Newton's method: the function is convex, and few steps are enough.
    pub(crate) fn fit(examples: &[(Evidence, bool)]) -> Self {
        let mut combiner = Self::default();
        for _ in 0..25 {
            let mut gradient = [0.0; PIECES];
            let mut curvature = [[0.0; PIECES]; PIECES];
            for (k, (mean, precision)) in PRIOR.iter().enumerate() {
                gradient[k] = precision * (combiner.coefficients[k] - mean);
                curvature[k][k] = *precision;
            }
            for (evidence, is_spam) in examples {
                let pieces = evidence.pieces();
                let probability = logistic(combiner.log_odds(evidence));
                let error = probability - f64::from(u8::from(*is_spam));
                let weight = (probability * (1.0 - probability)).max(1e-9);
                for i in 0..PIECES {
                    gradient[i] += error * pieces[i];
                    for j in 0..=i {
                        curvature[i][j] += weight * pieces[i] * pieces[j];
                    }
                }
            }
            let step = solve(curvature, gradient);
            // Where the function is nearly linear a whole step goes too far.
            let longest = step.iter().fold(0.0_f64, |longest, part| longest.max(part.abs()));
            let shortened = if longest > 4.0 { 4.0 / longest } else { 1.0 };
            for (coefficient, part) in combiner.coefficients.iter_mut().zip(step) {
                *coefficient -= part * shortened;
            }
            if longest < 1e-9 {
                break;
            }
        }
        // More likeness to spam never speaks for ham, whatever a few messages say.
        for (piece, sign) in [(1, 1.0), (2, 1.0), (3, -1.0), (4, 1.0)] {
            combiner.coefficients[piece] = sign * (sign * combiner.coefficients[piece]).max(0.0);
        }
        combiner
    }
}

/// Solves a symmetric positive definite system, given by its lower half (Cholesky).
fn solve(mut a: [[f64; PIECES]; PIECES], b: [f64; PIECES]) -> [f64; PIECES] {
    for i in 0..PIECES {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            let rest = a[i][j] - sum;
            a[i][j] = if i == j { rest.max(1e-12).sqrt() } else { rest / a[j][j] };
        }
    }
    let mut x = b;
    for i in 0..PIECES {
        let sum: f64 = (0..i).map(|k| a[i][k] * x[k]).sum();
        x[i] = (x[i] - sum) / a[i][i];
    }
    for i in (0..PIECES).rev() {
        let sum: f64 = (i + 1..PIECES).map(|k| a[k][i] * x[k]).sum();
        x[i] = (x[i] - sum) / a[i][i];
    }
    x
}

/// From log-odds to a probability.
pub(crate) fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-log_odds))
}

/// Which mistakes are wanted how rarely.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wanted {
    /// The largest share of ham that may be called spam.
    pub(crate) ham_called_spam: f64,
    /// The largest share of spam that may be called ham.
    pub(crate) spam_called_ham: f64,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { ham_called_spam: 0.001, spam_called_ham: 0.01 }
    }
}

/// The thresholds for the wanted rates, from log-odds that the filter gave messages it had not seen.
pub(crate) fn thresholds(log_odds: &[(f64, bool)], wanted: Wanted) -> Thresholds {
    let of = |spam: bool, sign: f64| {
        let mut found: Vec<f64> =
            log_odds.iter().filter(|(_, is_spam)| *is_spam == spam).map(|(odds, _)| sign * odds).collect();
        found.sort_by(|a, b| b.total_cmp(a));
        found
    };
    let spam = limit(&of(false, 1.0), wanted.ham_called_spam).max(0.0);
    let ham = -limit(&of(true, -1.0), wanted.spam_called_ham).max(0.0);
    // A threshold is above all that it was meant to be above, also after rounding.
    Thresholds { spam: logistic(spam + 1e-9).min(1.0 - 1e-12), ham: logistic(ham - 1e-9).max(1e-12) }
}

/// The value that few enough of a class are above; given descending.
fn limit(descending: &[f64], rate: f64) -> f64 {
    let count = descending.len();
    if let Some(allowed) = allowed(count, rate) {
        return descending.get(allowed).copied().unwrap_or(0.0);
    }
    // Too few to show it: the tail goes on as it was in the uppermost fifth.
    let Some(&highest) = descending.first() else { return FAR };
    let upper = count.div_ceil(5);
    let start = descending.get(upper).copied().unwrap_or(highest);
    let excess: f64 = descending[..upper].iter().map(|value| value - start).sum();
    let scale = (excess / upper as f64).max(LEAST_SCALE);
    let missing = libm::log((needed(rate) / count as f64).max(1.0));
    (highest + scale * missing).max(UNPROVEN)
}

/// A threshold that nothing reaches: where nothing was seen of a class, nothing is called the other.
const FAR: f64 = 25.0;

/// Where nothing is proven, the probability itself has to promise at least 95 %: messages that were told apart without
/// a mistake say nothing about those that are unlike all of them.
const UNPROVEN: f64 = 2.944;

/// The least that a tail is stretched by, in log-odds for each factor of e.
const LEAST_SCALE: f64 = 0.5;

/// How many messages without a mistake show a rate, with a confidence of 95 %.
fn needed(rate: f64) -> f64 {
    -libm::log(0.05) / rate
}

/// How many mistakes among so many messages keep the upper limit of their share within the rate; none if even no
/// mistake does not.
fn allowed(count: usize, rate: f64) -> Option<usize> {
    let mean = count as f64 * rate;
    // The upper limit of k mistakes is the mean at which so few have a probability of 5 %.
    let (mut term, mut below, mut most) = (libm::exp(-mean), 0.0, None);
    for mistakes in 0..count {
        below += term;
        if below > 0.05 {
            break;
        }
        most = Some(mistakes);
        term *= mean / (mistakes + 1) as f64;
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_that_are_allowed_are_those_of_the_upper_limit() {
        // With no event the upper limit is 2.996, with one 4.744, with three 7.754 (Poisson, 95 %).
        assert_eq!(allowed(2990, 0.001), None);
        assert_eq!(allowed(3000, 0.001), Some(0));
        assert_eq!(allowed(4740, 0.001), Some(0));
        assert_eq!(allowed(4750, 0.001), Some(1));
        assert_eq!(allowed(7760, 0.001), Some(3));
    }

    #[test]
    fn with_much_mail_the_threshold_is_where_the_rate_is_kept() {
        let ham = (0..10_000).map(|i| (f64::from(i) / 1000.0 - 8.0, false));
        let spam = (0..10_000).map(|i| (f64::from(i) / 1000.0 - 2.0, true));
        let all: Vec<_> = ham.chain(spam).collect();
        let found = thresholds(&all, Wanted::default());
        let wrong = all.iter().filter(|(odds, spam)| !spam && logistic(*odds) >= found.spam).count();
        assert_eq!(wrong, allowed(10_000, 0.001).unwrap());
        let missed = all.iter().filter(|(odds, spam)| *spam && logistic(*odds) <= found.ham).count();
        assert!(missed <= 100 && found.ham < 0.5);
    }

    #[test]
    fn with_little_mail_the_threshold_is_beyond_all_that_was_seen() {
        let all: Vec<_> = (0..20)
            .flat_map(|i| [(f64::from(i) / 10.0 - 3.0, false), (f64::from(i) / 10.0 + 1.0, true)])
            .collect();
        let found = thresholds(&all, Wanted::default());
        // Ham reaches log-odds of −1.1 and spam goes down to 1, but forty messages prove neither.
        assert!(found.spam > 0.949 && found.ham < 0.051, "{found:?}");
        let none = thresholds(&[], Wanted::default());
        assert!(none.spam > 0.999_999 && none.ham < 0.000_001);
        thresholds(&[(0.0, true)], Wanted::default());
    }

    #[test]
    fn coefficients_find_the_odds_that_made_the_examples() {
        // Margins on a grid, with as many spam messages at each as the odds 2·margin + 0.5 say.
        let mut examples = Vec::new();
        for step in -30..=30 {
            let margin = f64::from(step) / 10.0;
            let spam = (logistic(2.0 * margin + 0.5) * 2000.0).round() as u32;
            let evidence = Evidence { margin, ..Evidence::default() };
            examples.extend((0..2000).map(|i| (evidence, i < spam)));
        }
        let fitted = Combiner::fit(&examples).coefficients;
        assert!((fitted[1] - 2.0).abs() < 0.01 && (fitted[0] - 0.5).abs() < 0.01, "{fitted:?}");
    }

    #[test]
    fn without_examples_likeness_still_speaks() {
        let young = Combiner::fit(&[]);
        let like =
            |like_spam, like_ham| young.log_odds(&Evidence { like_spam, like_ham, ..Evidence::default() });
        assert!(like(0.9, 0.0) > 1.0 && like(0.0, 0.9) < -1.0);
    }
}
