//! From pieces of evidence to one probability.
//!
//! The evidence about a message is a handful of numbers: the margin of the linear model, the
//! similarity to the nearest learned spam and to the nearest learned ham, and what was learned from
//! the sender. A logistic regression turns them into a calibrated probability. It is fitted on
//! evidence *as a new message has it*: margins from a model that has not seen the message (folds),
//! similarities to other messages, and counts without the message itself. With few messages the
//! coefficients stay near values that are sensible anywhere (a Gaussian prior); with many they
//! follow the mail.
//!
//! Some learned messages have the wrong label ([`WRONG_LABELS`]). A plain regression would pay for
//! each of them with doubt about all mail. So a label is modelled as right with the probability `1
//! − ε`: the probability of the label spam is `ε + (1 − 2ε)·p`. A message that contradicts its
//! label beyond doubt then has no influence on the coefficients.
//!
//! Anyone can write anyone's address. So a sender that was learned as ham is no evidence for ham,
//! but one that was learned as spam more often is evidence for spam. Where trusted hosts
//! authenticate senders, only authenticated senders have a reputation. A familiar address without
//! proof is suspicious.

use crate::message::Authentication;
use crate::thresholds::{WRONG_LABELS, log_odds_of, logistic};

/// How many numbers the evidence has.
pub(crate) const PIECES: usize = 6;

/// What a familiar sender is worth, in log-odds: for ham if it is authenticated, for spam if it is
/// not. Odds of 7 to 1 do not overrule words that are spam beyond doubt. No corpus with such
/// results was at hand to fit it.
const FAMILIAR: f64 = 2.0;

/// What a sender adds to the log-odds if its domain says that it did not send the message (DMARC).
const FORGED: f64 = 2.0;

/// The evidence about a message.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Evidence {
    /// Of the linear model.
    pub(crate) margin: f64,
    /// To the nearest learned spam.
    pub(crate) like_spam: f64,
    /// To the nearest learned ham.
    pub(crate) like_ham: f64,
    /// How often the sender was learned as spam and as ham; `None` if the message has no sender.
    pub(crate) sender: Option<(u32, u32)>,
    /// What a burst of messages from a sender adds to the log-odds; zero without one.
    pub(crate) burst: f64,
    /// What trusted hosts say about the sender; `None` if they say nothing.
    pub(crate) authentication: Option<Authentication>,
}

impl Evidence {
    fn pieces(&self) -> [f64; PIECES] {
        // Where trusted hosts write their findings, mail without proof may be from anyone. So its
        // sender counts as new.
        let is_unproven =
            matches!(self.authentication, Some(Authentication::Failed | Authentication::Unknown));
        let (reputation, new) = match self.sender {
            None => (0.0, 0.0),
            Some(_) if is_unproven => (0.0, 1.0),
            Some((0, _)) => (0.0, 1.0),
            Some((spam, ham)) => (libm::log((f64::from(spam) + 0.5) / (f64::from(ham) + 0.5)).max(0.0), 0.0),
        };
        [1.0, self.margin, self.like_spam, self.like_ham, reputation, new]
    }
}

impl Evidence {
    /// Returns true if the sender was learned as ham, and never as spam.
    pub(crate) fn is_familiar(&self) -> bool {
        matches!(self.sender, Some((0, 1..)))
    }

    /// Returns true if the sender was learned as ham before, and trusted hosts do not confirm it.
    pub(crate) fn is_familiar_name_without_proof(&self) -> bool {
        matches!(self.sender, Some((_, 1..)))
            && matches!(self.authentication, Some(Authentication::Failed | Authentication::Unknown))
    }

    /// Returns what the findings of trusted hosts add to the log-odds.
    fn of_authentication(&self) -> f64 {
        match self.authentication {
            Some(Authentication::Passed) if self.is_familiar() => -FAMILIAR,
            Some(Authentication::Failed) if self.is_familiar_name_without_proof() => FORGED + FAMILIAR,
            Some(Authentication::Failed) => FORGED,
            Some(Authentication::Unknown) if self.is_familiar_name_without_proof() => FAMILIAR,
            _ => 0.0,
        }
    }
}

/// The coefficients of the evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Combiner {
    pub(crate) coefficients: [f64; PIECES],
}

/// The coefficients before any mail was seen, and how many messages it takes to move them: the
/// standard deviation is the inverse square root of the second number. The means of the first two
/// come from [`prior`].
const PRIOR: [(f64, f64); PIECES] = [(0.0, 1.0), (4.0, 0.1), (3.0, 1.0), (-3.0, 1.0), (0.5, 4.0), (0.0, 4.0)];

/// The share of wrong labels before any mail was seen, and the number of messages that it counts
/// as.
const PRIOR_OF_WRONG_LABELS: (f64, f64) = (WRONG_LABELS, 10.0);

/// The slope of the margin, in log-odds, after one message, and the exponent by which it falls with
/// the number of messages: the more was learned, the larger the margins of new mail are.
const SLOPE: (f64, f64) = (50.0, 0.28);

/// What each message adds to the slope while there are few, because fewer than about forty prove
/// little.
const SLOPE_OF_FEW: f64 = 0.35;

/// The log-odds of a message without evidence, as a share of the slope. New mail looks more like
/// spam than it is, because its words are new.
const INTERCEPT: f64 = -0.1;

/// Returns the expected coefficients after a number of messages, with their precisions.
///
/// A few dozen messages do not tell how large the margins of other mail are, because those of the
/// folds are all on their side of zero. The regression would have to guess the slope. So it begins
/// with what was found on other mail. Balanced draws of 40, 100 and 400 messages of Enron-Spam
/// (`enron1` and `enron4`) and of raw messages (`GP`, `farmer-d`, `williams-w3`) were learned, and
/// the regression was fitted on 3,000 messages that were not: slopes of 12 to 21, 12 to 14 and 8 to
/// 11, and intercepts of −1 to −3. `examples/prior.rs` measures it anew.
/// docs/benchmarks/learning.md has its present results, with those of other folders, which had no
/// part in the choice.
pub(crate) fn prior(messages: usize) -> [(f64, f64); PIECES] {
    let count = messages as f64;
    let slope = (SLOPE.0 * libm::pow(count.max(1.0), -SLOPE.1)).min(PRIOR[1].0 + SLOPE_OF_FEW * count);
    let mut prior = PRIOR;
    prior[0].0 = INTERCEPT * slope;
    prior[1].0 = slope;
    prior
}

impl Default for Combiner {
    fn default() -> Self {
        Self { coefficients: prior(0).map(|(mean, _)| mean) }
    }
}

impl Combiner {
    /// Returns the log-odds of spam.
    pub(crate) fn log_odds(&self, evidence: &Evidence) -> f64 {
        let terms = evidence.pieces().into_iter().zip(self.coefficients);
        terms.map(|(piece, coefficient)| piece * coefficient).sum::<f64>()
            + evidence.burst
            + evidence.of_authentication()
    }

    /// Returns the coefficients for a label that every learned message has. Nothing tells which
    /// messages do not have the label. So its probability is below one half for all messages, but
    /// not near zero.
    pub(crate) fn without_others() -> Self {
        let mut coefficients = [0.0; PIECES];
        coefficients[0] = -1.0;
        Self { coefficients }
    }

    /// Returns what a unit of the margin adds to the log-odds.
    pub(crate) fn slope(&self) -> f64 {
        self.coefficients[1]
    }

    /// Returns the most probable coefficients (Fisher scoring). The first rounds take all labels as
    /// right: that problem is convex, so it leads near the solution. The next rounds allow for
    /// wrong labels.
    pub(crate) fn fit(examples: &[(Evidence, bool)]) -> Self {
        Self::fit_by_importance(examples, &[])
    }

    /// Fits as [`fit`](Self::fit) does, with a weight for each example. Without weights all count
    /// 1.
    pub(crate) fn fit_by_importance(examples: &[(Evidence, bool)], importance: &[f64]) -> Self {
        let prior = prior(examples.len());
        let mut combiner = Self { coefficients: prior.map(|(mean, _)| mean) };
        for doubt in [0.0, WRONG_LABELS] {
            for _ in 0..25 {
                if combiner.step(examples, importance, doubt, &prior) < 1e-9 {
                    break;
                }
            }
        }
        // Similarity to spam is never evidence for ham, whatever a few messages say. The same holds
        // for the other pieces.
        for (piece, sign) in [(1, 1.0), (2, 1.0), (3, -1.0), (4, 1.0)] {
            combiner.coefficients[piece] = sign * (sign * combiner.coefficients[piece]).max(0.0);
        }
        combiner
    }

    /// Returns the probability that the label of a message is wrong, given the share of wrong
    /// labels.
    pub(crate) fn wrong_label(&self, evidence: &Evidence, is_spam: bool, share: f64) -> f64 {
        let log_odds = self.log_odds(evidence);
        logistic(if is_spam { -log_odds } else { log_odds } + log_odds_of(share))
    }

    /// Returns the coefficients and the most probable share of wrong labels (expectation
    /// maximisation).
    ///
    /// If all labels are right, the share goes to zero, and a message that contradicts its label is
    /// just a hard one. If some are wrong, there are more contradictions than the odds of the other
    /// messages explain. With few messages the share stays near [`WRONG_LABELS`].
    pub(crate) fn fit_with_wrong_labels(examples: &[(Evidence, bool)]) -> (Self, f64) {
        let prior = prior(examples.len());
        let (mut combiner, mut share) = (Self::fit(examples), WRONG_LABELS);
        for _ in 0..40 {
            combiner.step(examples, &[], share, &prior);
            let wrong = examples.iter().map(|(evidence, spam)| combiner.wrong_label(evidence, *spam, share));
            let expected: f64 = wrong.sum();
            let (prior_share, worth) = PRIOR_OF_WRONG_LABELS;
            let next = (expected + prior_share * worth) / (examples.len() as f64 + worth);
            let is_found = (next - share).abs() < 0.02 * share;
            share = next;
            if is_found {
                break;
            }
        }
        (combiner, share)
    }

    /// Moves the coefficients towards the most probable ones, for a share of wrong labels. Returns
    /// the largest step of a coefficient, before it is shortened.
    fn step(
        &mut self,
        examples: &[(Evidence, bool)],
        importance: &[f64],
        doubt: f64,
        prior: &[(f64, f64); PIECES],
    ) -> f64 {
        let mut gradient = [0.0; PIECES];
        let mut curvature = [[0.0; PIECES]; PIECES];
        for (k, (mean, precision)) in prior.iter().enumerate() {
            gradient[k] = precision * (self.coefficients[k] - mean);
            curvature[k][k] = *precision;
        }
        let class_weight = class_weights(examples);
        for (place, (evidence, is_spam)) in examples.iter().enumerate() {
            let importance = importance.get(place).copied().unwrap_or(1.0);
            let class_weight = class_weight[usize::from(!is_spam)] * importance;
            let pieces = evidence.pieces();
            let probability = logistic(self.log_odds(evidence));
            let labelled = doubt + (1.0 - 2.0 * doubt) * probability;
            // The derivative of the label's probability by the log-odds.
            let slope = ((1.0 - 2.0 * doubt) * probability * (1.0 - probability)).max(1e-12);
            let variance = (labelled * (1.0 - labelled)).max(1e-12);
            let error = slope * (labelled - f64::from(u8::from(*is_spam))) / variance;
            let weight = (slope * slope / variance).max(1e-9);
            for i in 0..PIECES {
                gradient[i] += class_weight * error * pieces[i];
                for j in 0..=i {
                    curvature[i][j] += class_weight * weight * pieces[i] * pieces[j];
                }
            }
        }
        let step = solve(curvature, gradient);
        // Where the function is nearly linear, a whole step goes too far.
        let longest = step.iter().fold(0.0_f64, |longest, part| longest.max(part.abs()));
        let shortened = if longest > 4.0 { 4.0 / longest } else { 1.0 };
        for (coefficient, part) in self.coefficients.iter_mut().zip(step) {
            *coefficient -= part * shortened;
        }
        longest
    }
}

/// What a message of spam counts, and one of ham. How many of a class were taught says more about
/// folders, and about what was told apart already, than about mail. So beyond twice as many
/// messages the rarer class counts more.
fn class_weights(examples: &[(Evidence, bool)]) -> [f64; 2] {
    let spam = examples.iter().filter(|(_, is_spam)| *is_spam).count() as f64;
    let ham = examples.len() as f64 - spam;
    let weight = |own: f64, other: f64| libm::pow((other / own.max(1.0) / 2.0).max(1.0), 2.0 / 3.0);
    [weight(spam, ham), weight(ham, spam)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_find_the_odds_that_made_the_examples() {
        // Margins on a grid. Each has as many labels of spam as log-odds of 2·margin + 0.5 and the
        // share of wrong labels give.
        let mut examples = Vec::new();
        for step in -30..=30 {
            let margin = f64::from(step) / 10.0;
            let labelled = WRONG_LABELS + (1.0 - 2.0 * WRONG_LABELS) * logistic(2.0 * margin + 0.5);
            let spam = (labelled * 2000.0).round() as u32;
            let evidence = Evidence { margin, ..Evidence::default() };
            examples.extend((0..2000).map(|i| (evidence, i < spam)));
        }
        let fitted = Combiner::fit(&examples).coefficients;
        assert!((fitted[1] - 2.0).abs() < 0.01 && (fitted[0] - 0.5).abs() < 0.01, "{fitted:?}");
    }

    /// Margins of both classes around ±`distance`; every `wrong`th message has the other label.
    fn labelled(count: usize, distance: f64, wrong: usize) -> Vec<(Evidence, bool)> {
        let example = |i: usize| {
            let (is_spam, rank) = (i.is_multiple_of(2), (i as f64 + 0.5) / count as f64);
            let margin = log_odds_of(rank) / 4.0 + if is_spam { distance } else { -distance };
            (Evidence { margin, ..Evidence::default() }, is_spam != (wrong > 0 && i % wrong == wrong / 2))
        };
        (0..count).map(example).collect()
    }

    #[test]
    fn the_share_of_wrong_labels_is_found_where_there_are_some_and_is_small_where_there_are_none() {
        for (wrong, found) in [(0, 0.0..0.001), (201, 0.003..0.008), (101, 0.008..0.013), (33, 0.027..0.035)]
        {
            let (_, share) = Combiner::fit_with_wrong_labels(&labelled(4000, 1.0, wrong));
            assert!(found.contains(&share), "one of {wrong}: {share}");
        }
        // A dozen messages do not tell.
        let (_, share) = Combiner::fit_with_wrong_labels(&labelled(12, 1.0, 0));
        assert!((0.001..0.02).contains(&share), "{share}");
    }

    #[test]
    fn a_class_that_was_taught_rarely_is_not_taken_for_rare() {
        let mut one_sided = labelled(4000, 1.0, 0);
        let mut ham = 0;
        one_sided.retain(|(_, is_spam)| {
            ham += usize::from(!is_spam);
            *is_spam || ham % 20 == 0
        });
        let odds = |examples: &[(Evidence, bool)]| Combiner::fit(examples).log_odds(&Evidence::default());
        let moved = odds(&one_sided) - odds(&labelled(4000, 1.0, 0));
        // Odds of 20 to 1 would move the log-odds by 3.0. A weight of 4.6 takes 1.5 of that away.
        assert!((0.5..2.0).contains(&moved), "{moved}");
    }

    #[test]
    fn a_sender_without_proof_is_a_new_one_and_a_familiar_name_makes_it_worse() {
        let with = |sender, authentication| Evidence { sender, authentication, ..Evidence::default() };
        for unproven in [Authentication::Failed, Authentication::Unknown].map(Some) {
            for sender in [(0, 0), (0, 5), (7, 0), (7, 5)] {
                let pieces = with(Some(sender), unproven).pieces();
                assert_eq!(pieces, with(Some((0, 0)), None).pieces(), "{sender:?}");
            }
            let odds = |sender| Combiner::default().log_odds(&with(Some(sender), unproven));
            assert!(odds((0, 1)) > odds((0, 0)) && odds((3, 1)) > odds((3, 0)));
        }
    }

    #[test]
    fn the_prior_rises_with_the_first_messages_and_falls_then() {
        let slope = |messages| prior(messages)[1].0;
        assert!((0..40).all(|count| slope(count) < slope(count + 1)));
        assert!((45..5000).all(|count| slope(count) > slope(count + 1)));
        // The slopes that were found on other mail.
        for (messages, found) in [(40, 12.0..21.0), (100, 12.0..15.0), (400, 8.0..11.0)] {
            assert!(found.contains(&slope(messages)), "{messages}: {}", slope(messages));
        }
        let nothing = Combiner::default();
        assert_eq!(Combiner::fit(&[]), nothing);
    }

    #[test]
    fn without_examples_likeness_still_speaks() {
        let young = Combiner::fit(&[]);
        let like =
            |like_spam, like_ham| young.log_odds(&Evidence { like_spam, like_ham, ..Evidence::default() });
        assert!(like(0.9, 0.0) > 1.0 && like(0.0, 0.9) < -1.0);
    }
}
