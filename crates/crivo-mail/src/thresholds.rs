//! Where do the answers part? From the log-odds of mail the model has not seen to two limits.
//!
//! Spam begins where the share of ham above is the wanted rate. Three facts of real mail shape the
//! estimate:
//!
//! - **Some labels are wrong.** A spam message taught as ham has the log-odds of spam. So a message
//!   above the median of the other class counts as a wrong label, and stands for another one below
//!   it. At most as many are put aside as [`WRONG_LABELS`] of the class make plausible (the 99 %
//!   quantile of a Poisson count); the rest is hard mail and counts.
//! - **The wanted rate is rarer than what was seen.** With 500 ham messages a rate of 0.1 % lies
//!   beyond all of them. So the upper tail is continued as an exponential above its uppermost
//!   messages (*peaks over threshold*, Pickands 1975, with shape 0), whose scale is taken one
//!   standard error longer than it was found. No single message decides, and a weak prior holds the
//!   scale while there are few: where log-odds are calibrated and spam is spread evenly over them,
//!   ham falls off by a factor of e for each.
//! - **Log-odds are a promise of their own.** Calibrated odds of 999 to 1 are wrong once in a
//!   thousand, so no limit is above the odds of the wanted rate. Nor is one above the median of the
//!   other class, because evidence gives no more: a young filter, or one that was taught from its
//!   mistakes alone, would be unsure of everything; but odds of 499 to 1 ([`SURE_PROBABILITY`]) are
//!   asked of every class. And none is below [`LEAST_PROBABILITY`], however well the learned mail
//!   was told apart: new mail is unlike it.
//!
//! Ham ends by the same rule at the other end.

use crate::judgement::Thresholds;
use crate::policy::Policy;

/// The share of learned messages that is expected to have the wrong label.
pub(crate) const WRONG_LABELS: f64 = 0.01;

/// No message with a lower probability is called spam, whatever the learned mail says.
pub(crate) const LEAST_PROBABILITY: f64 = 0.9;

/// No class is so hard that less than this probability is enough beside it: where half of spam does
/// not reach it, less than half is caught, instead of ham.
const SURE_PROBABILITY: f64 = 0.998;

/// The same where there are [few](FEW) messages of the other class, which no limit can be found
/// from. A reader who teaches mistakes only has such a store: one class is told so well that it is
/// hardly ever taught.
const SURE_BESIDE_FEW: f64 = 0.97;

/// The largest share of spam that may be called ham.
const SPAM_CALLED_HAM: f64 = 0.01;

/// The largest share of ham that may be called spam, unless another is asked for.
pub(crate) const HAM_CALLED_SPAM: f64 = 0.001;

/// The rates for which limits are kept, so that another rate needs no new training.
pub(crate) const RATES: [f64; 9] = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05];

/// A limit that nothing reaches: where nothing was learned of a class, nothing is called the other.
const FAR: f64 = 25.0;

/// Of fewer messages the median is not known.
const FEW: usize = 20;

/// The scale of the tail before any mail was seen, in log-odds for each factor of e, and how many
/// messages that is worth.
const PRIOR_SCALE: (f64, f64) = (1.0, 5.0);

/// Where spam begins for each of [`RATES`], and where ham ends, in log-odds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    pub(crate) spam: [f64; RATES.len()],
    pub(crate) ham: f64,
    /// How many messages of spam and of ham contradict their label so strongly that they were put
    /// aside.
    pub(crate) put_aside: [u64; 2],
}

/// A class, in descending order of its log-odds.
struct Class {
    odds: Vec<f64>,
    /// How much each message counts.
    importance: Vec<f64>,
}

/// Messages of spam and of ham that were taken for wrong labels.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Aside {
    pub(crate) messages: [u64; 2],
    /// How many of them are expected to have the right label.
    pub(crate) expected_right: [f64; 2],
}

impl Limits {
    #[cfg(test)]
    fn of(log_odds: &[(f64, bool)]) -> Self {
        Self::beside(log_odds, &[], &Aside::default())
    }

    /// The limits from log-odds that the filter gave messages it had not seen, each with whether it
    /// is spam.
    ///
    /// Messages that were put aside before are not among them, and no more of that class are put
    /// aside. Those that may have the right label are beyond the limit, so that less of the wanted
    /// rate is left for the others.
    ///
    /// Messages count as much as is said of each in `importance`; without that all count one.
    pub(crate) fn beside(log_odds: &[(f64, bool)], importance: &[f64], aside: &Aside) -> Self {
        let class = |spam: bool, sign: f64| {
            let of_class = log_odds.iter().enumerate().filter(|(_, (_, is_spam))| *is_spam == spam);
            let weighed = |(place, (odds, _)): (usize, &(f64, bool))| {
                (sign * odds, importance.get(place).copied().unwrap_or(1.0))
            };
            let mut found: Vec<(f64, f64)> = of_class.map(weighed).collect();
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            Class {
                odds: found.iter().map(|found| found.0).collect(),
                importance: found.iter().map(|found| found.1).collect(),
            }
        };
        let (ham, spam) = (class(false, 1.0), class(true, 1.0));
        let (ham_down, spam_down) = (class(false, -1.0), class(true, -1.0));
        let spam_aside =
            if aside.messages[0] > 0 { 0 } else { wrong_labels(&spam_down.odds, &ham_down.odds) };
        let ham_aside = if aside.messages[1] > 0 { 0 } else { wrong_labels(&ham.odds, &spam.odds) };
        let least = log_odds_of(LEAST_PROBABILITY);
        let above_ham = RATES.map(|rate| {
            let left = left(rate, aside.expected_right[1], ham.odds.len());
            limit(&ham.odds[ham_aside..], &ham.importance[ham_aside..], left)
                .min(log_odds_of(1.0 - rate))
                .min(ceiling(&spam.odds, ham.odds.len()))
                .max(least)
        });
        let left = left(SPAM_CALLED_HAM, aside.expected_right[0], spam.odds.len());
        let below_spam = limit(&spam_down.odds[spam_aside..], &spam_down.importance[spam_aside..], left)
            .min(ceiling(&ham_down.odds, spam.odds.len()))
            .max(0.0);
        let put_aside = [aside.messages[0] + spam_aside as u64, aside.messages[1] + ham_aside as u64];
        Self { spam: above_ham, ham: -below_spam, put_aside }
    }

    /// The limits where nothing is known of one class at least.
    pub(crate) fn unknown() -> Self {
        Self { spam: [FAR; RATES.len()], ham: -FAR, put_aside: [0, 0] }
    }

    /// The limits as probabilities, or what the policy says instead.
    pub(crate) fn thresholds(&self, policy: &Policy) -> Thresholds {
        let rate = policy.false_positive_rate.unwrap_or(HAM_CALLED_SPAM);
        // A limit is above all that it was meant to be above, also after rounding.
        let learned_spam = logistic(self.spam_limit(rate) + 1e-9).min(1.0 - 1e-12);
        let learned_ham = logistic(self.ham - 1e-9).max(1e-12);
        // Of a threshold that was asked for and a learned one on its wrong side, the learned one
        // gives way.
        match (policy.spam_from, policy.ham_to) {
            (Some(spam), Some(ham)) => Thresholds { spam, ham },
            (Some(spam), None) => Thresholds { spam, ham: learned_ham.min(spam / 2.0) },
            (None, Some(ham)) => Thresholds { spam: learned_spam.max(f64::midpoint(1.0, ham)), ham },
            (None, None) => Thresholds { spam: learned_spam, ham: learned_ham },
        }
    }

    /// The limit for any rate: between two of [`RATES`] it follows the logarithm of the rate, as an
    /// exponential tail does.
    fn spam_limit(&self, rate: f64) -> f64 {
        let after = RATES.partition_point(|known| *known < rate);
        let (Some(&high_rate), Some(&low)) = (RATES.get(after), self.spam.get(after)) else {
            return self.spam[RATES.len() - 1];
        };
        let Some(before) = after.checked_sub(1) else { return low };
        let part = libm::log(rate / RATES[before]) / libm::log(high_rate / RATES[before]);
        self.spam[before] + part * (low - self.spam[before])
    }
}

/// What is left of a rate where this number of a class is beyond the limit for certain: three
/// quarters at least, because the number is a guess, and all of it would silence the filter.
fn left(rate: f64, beyond: f64, count: usize) -> f64 {
    (rate - beyond / count.max(1) as f64).max(rate * 0.75)
}

/// The most that a limit asks of a class that is given descending: its median, if there are enough
/// messages to know that, but never less than [`SURE_PROBABILITY`]. There are `others` messages of
/// the other class.
fn ceiling(descending: &[f64], others: usize) -> f64 {
    if descending.len() < FEW {
        return FAR;
    }
    let least = if others < FEW { SURE_BESIDE_FEW } else { SURE_PROBABILITY };
    median(descending).max(log_odds_of(least))
}

/// The middle of a class that is given descending; beyond everything if it is empty.
fn median(descending: &[f64]) -> f64 {
    descending.get(descending.len() / 2).copied().unwrap_or(FAR)
}

/// How many of a class are taken for wrong labels, the uppermost ones. Both are given descending.
pub(crate) fn wrong_labels(class: &[f64], other: &[f64]) -> usize {
    // Half of the messages of the other class are above its median.
    let suspicious = 2 * class.partition_point(|odds| *odds > median(other));
    suspicious.min(plausible(class.len() as f64 * WRONG_LABELS)).min(class.len() / 4)
}

/// The 99 % quantile of a Poisson count.
fn plausible(mean: f64) -> usize {
    let (mut term, mut below, mut count) = (libm::exp(-mean), 0.0, 0);
    loop {
        below += term;
        // Means of many thousands have a first term of zero: their quantile is that of a normal
        // count.
        if below >= 0.99 || mean > 500.0 {
            return if mean > 500.0 { (mean + 2.326 * mean.sqrt()).ceil() as usize } else { count };
        }
        count += 1;
        term *= mean / count as f64;
    }
}

/// The value that the wanted share of a class is above; the class is given descending, with how
/// much each message counts.
fn limit(descending: &[f64], importance: &[f64], rate: f64) -> f64 {
    let count = descending.len();
    if count == 0 {
        return FAR;
    }
    let peaks = (count / 50).max((count as f64 * rate * 2.0) as usize).max(20).min(count.div_ceil(5));
    let start = descending.get(peaks).or(descending.last()).copied().unwrap_or(0.0);
    let excess: f64 =
        descending.iter().zip(importance).take(peaks).map(|(odds, counts)| counts * (odds - start)).sum();
    let (all, above) = (importance.iter().sum::<f64>(), importance[..peaks].iter().sum::<f64>());
    let (scale, worth) = PRIOR_SCALE;
    let weight = above + worth;
    let scale = (excess + scale * worth) / weight * (1.0 + 1.0 / weight.sqrt());
    let rarer = libm::log(above / all / rate);
    (start + scale * rarer.max(0.0)).min(log_odds_of(1.0 - rate))
}

/// From log-odds to a probability.
pub(crate) fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-log_odds))
}

/// From a probability to log-odds.
pub(crate) fn log_odds_of(probability: f64) -> f64 {
    libm::log(probability / (1.0 - probability))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log-odds of a class: quantiles of a logistic distribution, which has an exponential tail of
    /// scale 1.
    fn class(count: usize, centre: f64) -> impl Iterator<Item = f64> {
        (0..count).map(move |i| centre + log_odds_of((i as f64 + 0.5) / count as f64))
    }

    fn around(count: usize, ham: f64, spam: f64) -> Vec<(f64, bool)> {
        let ham = class(count, ham).map(|odds| (odds, false));
        ham.chain(class(count, spam).map(|odds| (odds, true))).collect()
    }

    fn both(count: usize, distance: f64) -> Vec<(f64, bool)> {
        around(count, -distance, distance)
    }

    fn usual(limits: &Limits) -> f64 {
        limits.thresholds(&Policy::default()).spam
    }

    #[test]
    fn the_limit_is_where_the_rate_is_kept_whatever_the_number_of_messages() {
        for (count, margin) in [(100, 2.0), (1000, 0.9), (20_000, 0.2)] {
            let limits = Limits::of(&around(count, -3.0, 8.0));
            let exact = -3.0 + log_odds_of(0.999);
            let found = limits.spam[RATES.partition_point(|rate| *rate < 0.001)];
            assert!(found > exact - 0.1 && found < exact + margin, "{count}: {found} for {exact}");
            assert!(limits.spam.is_sorted_by(|rarer, commoner| rarer >= commoner), "{limits:?}");
        }
    }

    #[test]
    fn a_wrong_label_moves_the_limit_by_little() {
        for count in [40, 400, 4000] {
            let mail = both(count, 5.0);
            let clean = Limits::of(&mail);
            for wrong in 1..=(count / 100).max(1) {
                let mut noisy = mail.clone();
                // Spam that is spread over all of its scores.
                for (_, is_spam) in
                    noisy[count..].iter_mut().skip(count * 3 / 4 / wrong).step_by(count / wrong)
                {
                    *is_spam = false;
                }
                let limits = Limits::of(&noisy);
                let moved = limits.spam[3] - clean.spam[3];
                assert!(moved.abs() < 1.5, "{wrong} of {count}: {clean:?} and {limits:?}");
            }
        }
    }

    #[test]
    fn ham_that_may_have_been_put_aside_wrongly_raises_the_limit() {
        let mail = around(2000, -3.0, 8.0);
        let limit = |expected: f64| {
            Limits::beside(&mail, &[], &Aside { messages: [0, 20], expected_right: [0.0, expected] }).spam[3]
        };
        // One message of 2,000 is half of the rate, and a quarter is taken: where ham falls off by
        // e for each, that is ln 4/3.
        assert!((limit(1.0) - limit(0.0) - 0.29).abs() < 0.15, "{} and {}", limit(0.0), limit(1.0));
        assert!(limit(50.0) <= log_odds_of(0.999_5) && limit(50.0) >= limit(1.0));
    }

    #[test]
    fn hard_ham_that_counts_little_moves_the_limit_little() {
        // Every tenth ham message is three harder than the others.
        let mut mail = around(2000, -3.0, 8.0);
        mail.iter_mut().step_by(10).filter(|(_, is_spam)| !is_spam).for_each(|(odds, _)| *odds += 3.0);
        let hard = |place: usize| place < 2000 && place.is_multiple_of(10);
        let limit = |counts: f64| {
            let importance: Vec<f64> =
                (0..mail.len()).map(|place| if hard(place) { counts } else { 1.0 }).collect();
            Limits::beside(&mail, &importance, &Aside::default()).spam[3]
        };
        let limits = [1.0, 0.5, 0.1].map(limit);
        assert!(limits.is_sorted_by(|more, less| more > less), "{limits:?}");
        assert_eq!(limits[0].to_bits(), Limits::of(&mail).spam[3].to_bits(), "ones change nothing");
    }

    #[test]
    fn hard_ham_is_not_taken_for_wrong_labels() {
        // A twentieth of ham has the scores of spam: far more than wrong labels explain.
        let mut mail = both(2000, 5.0);
        mail.extend(class(100, 5.0).map(|odds| (odds, false)));
        let limits = Limits::of(&mail);
        assert!(limits.put_aside[1] < 50, "{limits:?}");
        assert!(usual(&limits) > 0.99, "{limits:?}");
    }

    #[test]
    fn limits_have_a_floor_and_a_ceiling() {
        let easy = Limits::of(&both(1000, 30.0));
        assert!((usual(&easy) - LEAST_PROBABILITY).abs() < 1e-6, "{easy:?}");
        let mut hard = both(1000, 12.0);
        hard.extend(class(200, 12.0).map(|odds| (odds, false)));
        assert!((usual(&Limits::of(&hard)) - 0.999).abs() < 1e-6, "no more than the odds of the rate");
        // Ham as hard as spam: the limit of the rarest rate is the most that is asked.
        let most = |distance: f64| {
            let mut mail = both(1000, distance);
            mail.extend(class(200, distance).map(|odds| (odds, false)));
            Limits::of(&mail).spam[0]
        };
        assert!((most(2.0) - log_odds_of(SURE_PROBABILITY)).abs() < 1e-6, "499 to 1 is asked of every class");
        assert!((most(6.5) - 6.5).abs() < 0.01, "half of spam is caught, not {}", most(6.5));
        let none = Limits::unknown().thresholds(&Policy::default());
        assert!(none.spam > 0.999_999 && none.ham < 0.000_001);
        for few in [&[][..], &[(0.0, true)], &[(0.0, true), (0.0, false)]] {
            let found = Limits::of(few).thresholds(&Policy::default());
            assert!(found.spam > found.ham && found.spam >= 0.9, "{found:?}");
        }
    }

    #[test]
    fn any_rate_has_a_limit_and_a_policy_comes_first() {
        let limits = Limits::of(&both(1000, 2.0));
        let at =
            |rate| limits.thresholds(&Policy { false_positive_rate: Some(rate), ..Policy::default() }).spam;
        let rates = [1e-6, 0.0001, 0.00015, 0.0002, 0.0007, 0.001, 0.03, 0.05, 0.5];
        assert!(rates.is_sorted_by(|a, b| at(*a) >= at(*b)));
        let asked =
            |spam_from, ham_to| limits.thresholds(&Policy { spam_from, ham_to, false_positive_rate: None });
        assert_eq!(asked(Some(0.7), Some(0.6)), Thresholds { spam: 0.7, ham: 0.6 });
        let low = asked(Some(0.01), None);
        assert!(low.spam == 0.01 && low.ham < 0.01);
        let high = asked(None, Some(0.999_9));
        assert!(high.ham == 0.999_9 && high.spam > 0.999_9);
    }

    #[test]
    fn plausible_counts_are_quantiles() {
        // Of a Poisson count with mean 1, 4 is the 99 % quantile; with mean 10, 18.
        assert_eq!((plausible(0.0), plausible(1.0), plausible(10.0)), (0, 4, 18));
        assert!((plausible(499.0) as i64 - plausible(501.0) as i64).abs() < 10);
    }
}
