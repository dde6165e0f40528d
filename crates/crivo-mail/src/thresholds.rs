//! Which log-odds separate the verdicts? Two limits, found from the log-odds of mail the model has
//! not seen.
//!
//! The limit of spam is where the share of ham above it equals the wanted rate. Three facts of real
//! mail shape the estimate:
//!
//! - **Some labels are wrong.** A spam message taught as ham has the log-odds of spam. So a message
//!   above the median of the other class counts as a wrong label, and stands for another one below
//!   it. The number put aside is limited to what [`WRONG_LABELS`] of the class make plausible (the
//!   99 % quantile of a Poisson count). The rest is hard mail and counts.
//! - **The wanted rate is below what was observed.** With 500 ham messages a rate of 0.1 % lies
//!   beyond all of them. So the upper tail is continued as an exponential above its uppermost
//!   messages (*peaks over threshold*, Pickands 1975, with shape 0). Its scale is taken one
//!   standard error longer than estimated. No single message decides. A weak prior stabilises the
//!   scale while there are few messages. It is the scale of calibrated log-odds over which spam is
//!   spread evenly: ham falls off by a factor of e for each.
//! - **Calibrated log-odds limit the error by themselves.** Calibrated odds of 999 to 1 are wrong
//!   once in a thousand, so no limit is above the odds of the wanted rate. No limit is above the
//!   median of the other class either, because evidence gives no more. Otherwise a young filter, or
//!   one that was taught its mistakes only, would be unsure of everything. But odds of 499 to 1
//!   ([`SURE_PROBABILITY`]) are required of every class. And no limit of spam is below
//!   [`LEAST_PROBABILITY`], however well the learned mail was separated, because new mail differs
//!   from it.
//!
//! The limit of ham follows by the same rule at the other end.

use crate::judgement::Thresholds;
use crate::policy::Policy;

/// The share of learned messages that is expected to have the wrong label.
pub(crate) const WRONG_LABELS: f64 = 0.01;

/// No message with a lower probability is called spam, whatever the learned mail says.
pub(crate) const LEAST_PROBABILITY: f64 = 0.9;

/// The median of a class limits the threshold beside it only down to this probability. If half of
/// spam does not reach it, less than half of spam is caught, so that ham is not.
const SURE_PROBABILITY: f64 = 0.998;

/// Replaces [`SURE_PROBABILITY`] if there are [few](FEW) messages of the other class, because no
/// limit can be found from them. A reader who teaches mistakes only has such a store: one class is
/// recognised so well that it is hardly ever taught.
const SURE_BESIDE_FEW: f64 = 0.97;

/// The largest share of spam that may be called ham.
const SPAM_CALLED_HAM: f64 = 0.01;

/// The largest share of ham that may be called spam, unless the policy has another.
pub(crate) const HAM_CALLED_SPAM: f64 = 0.001;

/// The rates for which limits are stored, so that another rate needs no new training.
pub(crate) const RATES: [f64; 9] = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05];

/// A limit that no message reaches. It is used if nothing was learned of a class, so that no
/// message is called the other.
const FAR: f64 = 25.0;

/// The number of messages below which the median of a class is not known.
const FEW: usize = 20;

/// The prior of the tail's scale, in log-odds for each factor of e, and the number of messages that
/// it counts as.
const PRIOR_SCALE: (f64, f64) = (1.0, 5.0);

/// The limit of spam for each of [`RATES`], and the limit of ham, in log-odds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    pub(crate) spam: [f64; RATES.len()],
    pub(crate) ham: f64,
    /// The numbers of spam and of ham messages that contradict their label so strongly that they
    /// were put aside.
    pub(crate) put_aside: [u64; 2],
}

/// The log-odds of the messages of a class, in descending order.
struct Class {
    odds: Vec<f64>,
    /// The importance of each message.
    importance: Vec<f64>,
}

/// The numbers of spam and of ham messages whose labels were taken for wrong.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Aside {
    pub(crate) messages: [u64; 2],
    /// The expected numbers of them that have the right label.
    pub(crate) expected_right: [f64; 2],
}

impl Limits {
    #[cfg(test)]
    fn of(log_odds: &[(f64, bool)]) -> Self {
        Self::beside(log_odds, &[], &Aside::default())
    }

    /// Returns the limits, given the log-odds of messages that the filter had not seen. Each has
    /// true if it is spam.
    ///
    /// `log_odds` does not have the messages that were put `aside` before. If a class has such
    /// messages, no more of it are put aside. Those that may have the right label are beyond the
    /// limit, so that less of the wanted rate is left for the others.
    ///
    /// `importance` has the weight of each message. Messages without one count 1.
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

    /// Returns the limits of a store that knows nothing of at least one class.
    pub(crate) fn unknown() -> Self {
        Self { spam: [FAR; RATES.len()], ham: -FAR, put_aside: [0, 0] }
    }

    /// Returns the limits as probabilities. Thresholds of the policy take precedence.
    pub(crate) fn thresholds(&self, policy: &Policy) -> Thresholds {
        let rate = policy.false_positive_rate.unwrap_or(HAM_CALLED_SPAM);
        // Rounding must not move a limit below what it was found to be above.
        let learned_spam = logistic(self.spam_limit(rate) + 1e-9).min(1.0 - 1e-12);
        let learned_ham = logistic(self.ham - 1e-9).max(1e-12);
        // If a threshold of the policy and a learned one are in the wrong order, the learned one is
        // moved.
        match (policy.spam_from, policy.ham_to) {
            (Some(spam), Some(ham)) => Thresholds { spam, ham },
            (Some(spam), None) => Thresholds { spam, ham: learned_ham.min(spam / 2.0) },
            (None, Some(ham)) => Thresholds { spam: learned_spam.max(f64::midpoint(1.0, ham)), ham },
            (None, None) => Thresholds { spam: learned_spam, ham: learned_ham },
        }
    }

    /// Returns the limit of spam for any rate. Between two of [`RATES`] it is interpolated in the
    /// logarithm of the rate, as an exponential tail is.
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

/// Returns what is left of a rate if `beyond` messages of a class are above the limit for certain.
/// At least three quarters are left: the number is a guess, and with nothing left the filter would
/// call no mail spam.
fn left(rate: f64, beyond: f64, count: usize) -> f64 {
    (rate - beyond / count.max(1) as f64).max(rate * 0.75)
}

/// Returns the upper bound that a class in descending order sets for the limit beside it. This is
/// its median, but never less than [`SURE_PROBABILITY`]. There is no bound if it has too few
/// messages for a median. `others` is the number of messages of the other class.
fn ceiling(descending: &[f64], others: usize) -> f64 {
    if descending.len() < FEW {
        return FAR;
    }
    let least = if others < FEW { SURE_BESIDE_FEW } else { SURE_PROBABILITY };
    median(descending).max(log_odds_of(least))
}

/// Returns the median of a class in descending order, or [`FAR`] if the class is empty.
fn median(descending: &[f64]) -> f64 {
    descending.get(descending.len() / 2).copied().unwrap_or(FAR)
}

/// Returns the number of messages of a class that are taken for wrong labels: its uppermost ones.
/// Both classes are in descending order.
pub(crate) fn wrong_labels(class: &[f64], other: &[f64]) -> usize {
    // Half of the messages of the other class are above its median.
    let suspicious = 2 * class.partition_point(|odds| *odds > median(other));
    suspicious.min(plausible(class.len() as f64 * WRONG_LABELS)).min(class.len() / 4)
}

/// Returns the 99 % quantile of a Poisson count.
fn plausible(mean: f64) -> usize {
    let (mut term, mut below, mut count) = (libm::exp(-mean), 0.0, 0);
    loop {
        below += term;
        // The first term of a mean above 745 is rounded to zero. So large means take the quantile
        // of a normal distribution.
        if below >= 0.99 || mean > 500.0 {
            return if mean > 500.0 { (mean + 2.326 * mean.sqrt()).ceil() as usize } else { count };
        }
        count += 1;
        term *= mean / count as f64;
    }
}

/// Returns the value that the share `rate` of a class is above. The class is in descending order,
/// with the importance of each message.
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

/// Converts log-odds to a probability.
pub(crate) fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-log_odds))
}

/// Converts a probability to log-odds.
pub(crate) fn log_odds_of(probability: f64) -> f64 {
    libm::log(probability / (1.0 - probability))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the log-odds of a class: quantiles of a logistic distribution, which has an
    /// exponential tail of scale 1.
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
                // Spam from all over the range of its scores.
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
        // One message of 2,000 is half of the rate, but at most a quarter is taken. Ham falls off
        // by a factor of e for each unit, so the limit moves by ln 4/3.
        assert!((limit(1.0) - limit(0.0) - 0.29).abs() < 0.15, "{} and {}", limit(0.0), limit(1.0));
        assert!(limit(50.0) <= log_odds_of(0.999_5) && limit(50.0) >= limit(1.0));
    }

    #[test]
    fn hard_ham_that_counts_little_moves_the_limit_little() {
        // Every tenth ham message has log-odds that are higher by 3.
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
        // Ham as hard as spam: the limit of the rarest rate is at its upper bound.
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
