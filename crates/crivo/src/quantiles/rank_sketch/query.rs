//! Ranks and quantiles, each with its interval.

use super::item::RankItem;
use super::{Accuracy, RankSketch};
use crate::codec::{Parameter, Parameters, Summary};
use crate::estimate::{Confidence, Estimate};
use crate::math::two_sided_quantile;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A kept value, with the number of values below it and up to it.
pub(super) struct Step<'a, T> {
    pub(super) item: &'a T,
    below: u64,
    pub(super) up_to: u64,
}

/// A value and its bounds.
pub(super) struct Between<T> {
    pub(super) value: T,
    pub(super) lower: T,
    pub(super) upper: T,
    pub(super) confidence: Confidence,
}

impl<T: RankItem> RankSketch<T> {
    /// Returns the sum of the weights of all values, or [`u64::MAX`] if it is that or more.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns true if there are no values.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns true if every answer is exact because nothing has been compacted.
    pub fn is_exact(&self) -> bool {
        self.most_error == 0 && !self.is_saturated()
    }

    /// Returns true if the count has reached [`u64::MAX`]. From then on no rank is known.
    pub fn is_saturated(&self) -> bool {
        self.count == u64::MAX
    }

    /// Returns the size `k` of the sketch.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Returns the ranks for which the sketch is accurate.
    pub fn accuracy(&self) -> Accuracy {
        self.accuracy
    }

    /// The number of values that are kept.
    pub fn retained(&self) -> usize {
        self.retained + usize::from(self.sampler.seen > 0)
    }

    /// Returns the present standard error of ranks, as a share of all values. With
    /// [`Accuracy::Tails`] this is the error of the middle rank, which is the largest; otherwise
    /// all ranks have it.
    pub fn standard_error(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.variance().sqrt() / self.count as f64 }
    }

    /// Returns a bound on the error of the rank of any one value. It is exceeded with at most the
    /// given probability.
    ///
    /// The errors of compactions are independent, symmetric and bounded. So their sum is
    /// sub-Gaussian with its own variance: `(1 + cosh x)/2 ≤ exp(x²/4)`. This is therefore
    /// Hoeffding's bound, which holds at any probability. The intervals use the normal
    /// distribution, which does not.
    pub fn rank_margin(&self, probability: f64) -> f64 {
        let bound = libm::sqrt(2.0 * self.variance() * libm::log(2.0 / probability));
        bound.min(self.most_error as f64)
    }

    /// The number of bytes of memory in use, including the struct itself.
    pub fn memory(&self) -> usize {
        let items = |items: &Vec<T>| {
            items.capacity() * size_of::<T>() + items.iter().map(RankItem::heap).sum::<usize>()
        };
        size_of::<Self>()
            + self.levels.capacity() * size_of::<super::Level<T>>()
            + self.levels.iter().map(|level| items(&level.items)).sum::<usize>()
            + self.profile.memory()
            + self.level_capacities.memory()
            + self.sampler.held.as_ref().map_or(0, RankItem::heap)
            + self.ends.as_ref().map_or(0, |(least, most)| least.heap() + most.heap())
    }

    /// Returns the sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("size", Parameter::Count(self.size.into())),
            ("accuracy", Parameter::Name(self.accuracy.name())),
        ]
    }

    /// Returns the summary that `crivo show` prints.
    pub fn summary(&self) -> Summary {
        Summary {
            family: T::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("standard_error", Parameter::Ratio(self.standard_error())),
                    ("retained", Parameter::Count(self.retained() as u64)),
                ],
            ]
            .concat(),
            scheme: self.scheme,
            items: if self.is_saturated() {
                Estimate::certain(self.count as f64, self.count as f64, f64::INFINITY)
            } else {
                Estimate::exact(self.count as f64)
            },
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }

    /// Returns the variance of a rank that every compaction changed.
    fn variance(&self) -> f64 {
        self.compacted as f64 / 2.0 + self.sampled as f64 / 4.0
    }

    /// Returns the variance of the rank of a value.
    fn variance_at(&self, item: &T) -> f64 {
        if self.accuracy == Accuracy::Uniform {
            return self.variance();
        }
        let pending = self.levels.iter().enumerate().filter_map(|(level, state)| {
            let (low, high) = state.pending.as_ref()?.region.as_ref()?;
            (low..=high).contains(&item).then(|| 1_u128 << (2 * level))
        });
        let variance = pending.fold(self.profile.variance(item), u128::saturating_add);
        variance.min(self.compacted) as f64 / 2.0
    }

    /// Returns the largest error of a rank with this variance, at the given confidence.
    fn margin(&self, variance: f64, confidence: Confidence) -> f64 {
        whole_margin(variance, confidence).min(self.most_error as f64)
    }

    /// Returns the confidence of an interval with this margin.
    fn sureness(&self, margin: f64, confidence: Confidence) -> Confidence {
        if margin >= self.most_error as f64 { Confidence::CERTAIN } else { confidence }
    }

    /// Returns all kept values with their weights.
    fn weighted(&self) -> impl Iterator<Item = (&T, u64)> {
        let lowest = usize::from(self.sampler.level);
        let partial = self.sampler.held.as_ref().map(|item| (item, self.sampler.seen));
        self.levels
            .iter()
            .enumerate()
            .flat_map(move |(level, state)| state.items.iter().map(move |item| (item, 1 << (level + lowest))))
            .chain(partial.filter(|(_, seen)| *seen > 0))
    }

    /// Returns how many values are below a limit, or at most the limit if `is_included`, with
    /// bounds.
    pub(super) fn count_to(&self, limit: &T, is_included: bool, confidence: Confidence) -> Estimate {
        let Some((least, greatest)) = &self.ends else { return Estimate::exact(0.0) };
        let reaches = |item: &T| item < limit || is_included && item == limit;
        if !reaches(least) {
            return Estimate::exact(0.0);
        }
        let count = self.count as f64;
        if self.is_saturated() {
            return Estimate::certain(1.0, 1.0, f64::INFINITY);
        }
        if reaches(greatest) {
            return Estimate::exact(count);
        }
        let value: u64 = self.weighted().filter(|(item, _)| reaches(item)).map(|(_, weight)| weight).sum();
        let margin = self.margin(self.variance_at(limit), confidence);
        self.around(value as f64, margin, confidence).limited_to(1.0, count - 1.0)
    }

    /// Returns how many values lie from one value to below another, with bounds.
    pub(super) fn count_between(&self, from: &T, to: &T, confidence: Confidence) -> Estimate {
        if self.is_saturated() {
            return Estimate::certain(0.0, 0.0, f64::INFINITY);
        }
        let value: u64 =
            self.weighted().filter(|(item, _)| *item >= from && *item < to).map(|(_, weight)| weight).sum();
        let variance = self.variance_at(from) + self.variance_at(to);
        // Each end may have the largest error.
        let margin = whole_margin(variance, confidence);
        let estimate = if margin >= 2.0 * self.most_error as f64 {
            let most = 2.0 * self.most_error as f64;
            Estimate::certain(value as f64, value as f64 - most, value as f64 + most)
        } else {
            Estimate::probable(value as f64, value as f64 - margin, value as f64 + margin, confidence)
        };
        estimate.limited_to(0.0, self.count as f64)
    }

    /// Returns a number of values as a share of all, or `None` if there are no values.
    pub(super) fn share_of_all(&self, count: Estimate) -> Option<Estimate> {
        let share = |count: f64| (count / self.count as f64).min(1.0);
        let [value, lower, upper] = [count.value(), count.lower(), count.upper()].map(share);
        (!self.is_empty()).then(|| Estimate::probable(value, lower, upper, count.confidence()))
    }

    fn around(&self, value: f64, margin: f64, confidence: Confidence) -> Estimate {
        Estimate::probable(value, value - margin, value + margin, self.sureness(margin, confidence))
    }

    /// Returns the value at which each of these shares of all values is reached, with bounds.
    pub(super) fn values_at(&self, shares: &[f64], confidence: Confidence) -> Vec<Option<Between<T>>> {
        let Some((least, greatest)) = &self.ends else { return shares.iter().map(|_| None).collect() };
        let exactly = |item: &T| Between {
            value: item.clone(),
            lower: item.clone(),
            upper: item.clone(),
            confidence: Confidence::CERTAIN,
        };
        let steps = self.steps();
        let answer = |share: &f64| {
            if !(0.0..=1.0).contains(share) {
                return None;
            }
            if self.is_saturated() {
                let (lower, upper) = (least.clone(), greatest.clone());
                return Some(Between { value: least.clone(), lower, upper, confidence: Confidence::CERTAIN });
            }
            match crate::profile::ddsketch::rank_of(*share, self.count) + 1 {
                1 => Some(exactly(least)),
                rank if rank == self.count => Some(exactly(greatest)),
                rank => self.value_at(rank, &steps, confidence),
            }
        };
        shares.iter().map(answer).collect()
    }

    /// Returns the value of a rank, counted from 1.
    fn value_at(&self, rank: u64, steps: &[Step<'_, T>], confidence: Confidence) -> Option<Between<T>> {
        let (least, greatest) = self.ends.as_ref()?;
        let value = steps[steps.partition_point(|step| step.up_to < rank).min(steps.len() - 1)].item;
        let rank = rank as f64;
        let uniform = self.margin(self.variance(), confidence);
        let margin_at = |item: &T| match self.accuracy {
            Accuracy::Uniform => uniform,
            Accuracy::Tails => self.margin(self.variance_at(item), confidence),
        };
        // The lower bound is the last value that may have fewer than `rank` values below it within
        // the margin. The upper bound is the first that has at least `rank` values up to it within
        // the margin.
        let lower = steps.iter().take_while(|step| step.below as f64 + margin_at(step.item) < rank).last();
        let upper =
            steps.iter().rev().take_while(|step| step.up_to as f64 - margin_at(step.item) >= rank).last();
        Some(Between {
            value: value.clone(),
            lower: lower.map_or(least, |step| step.item).clone(),
            upper: upper.map_or(greatest, |step| step.item).clone(),
            confidence: self.sureness(margin_at(value), confidence),
        })
    }

    /// Returns the kept values in order, with equal ones combined.
    pub(super) fn steps(&self) -> Vec<Step<'_, T>> {
        let mut sorted: Vec<(&T, u64)> = self.weighted().collect();
        sorted.sort_unstable_by_key(|(one, _)| *one);
        let mut steps: Vec<Step<'_, T>> = Vec::with_capacity(sorted.len());
        let mut below = 0;
        for (item, weight) in sorted {
            match steps.last_mut() {
                Some(last) if last.item == item => last.up_to += weight,
                _ => steps.push(Step { item, below, up_to: below + weight }),
            }
            below += weight;
        }
        steps
    }

    pub(super) fn ends(&self) -> Option<&(T, T)> {
        self.ends.as_ref()
    }
}

/// Returns the largest error at this confidence, by the normal distribution. Errors are whole
/// numbers, so an error of `m` covers everything up to `m + 1/2`.
fn whole_margin(variance: f64, confidence: Confidence) -> f64 {
    (two_sided_quantile(confidence.level()) * variance.sqrt() - 0.5).ceil().max(0.0)
}
