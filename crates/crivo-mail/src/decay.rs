//! Mail changes: what was learned years ago may count less than what was learned last week.
//!
//! The owner of a store may choose a *half-life*. A lesson that is older than the newest one of the
//! base ([`crate::model`]) by this time counts half: a mistake about it costs the linear model half
//! as much, and it has half the weight in the regression and in the tail of ham that the thresholds
//! come from. Lessons after the base count as much as its newest. Feature counts, similarity and
//! sender counts ignore time.
//!
//! Ages are differences of recorded times, and no clock is read, so the same records give the same
//! model. Without a half-life all lessons count the same.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::model::derive_all;
use crate::store::Method;

/// The lowest weight of a lesson, so that far older lessons than the newest still count.
const LEAST: f64 = 1e-3;

/// The half-life of lessons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Decay {
    /// In milliseconds; zero if lessons keep their weight.
    half_life: u64,
}

impl Decay {
    /// Returns the weight of a lesson that is `age` milliseconds older than the newest of the base.
    pub(crate) fn importance(self, age: i64) -> f32 {
        if self.half_life == 0 || age <= 0 {
            return 1.0;
        }
        libm::exp2(-(age as f64) / self.half_life as f64).max(LEAST) as f32
    }

    /// Returns true if old lessons count less.
    pub(crate) fn is_on(self) -> bool {
        self.half_life > 0
    }

    pub(crate) fn encode(self) -> Vec<u8> {
        self.half_life.to_le_bytes().to_vec()
    }

    pub(crate) fn decode(record: &[u8]) -> Option<Self> {
        Some(Self { half_life: u64::from_le_bytes(record.try_into().ok()?) })
    }
}

impl Filter {
    /// Sets the half-life and keeps it in the store: for each `half_life` that lessons are older
    /// than the newest ones, they count half. With `None` or zero all lessons count the same.
    /// Everything is derived anew.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use crivo_mail::{Filter, Label};
    /// # let folder = tempfile::tempdir()?;
    /// let filter = Filter::open_or_create(folder.path())?;
    /// filter.learn(b"buy cheap watches", &Label::Spam)?;
    /// filter.keep_half_life(Some(Duration::from_secs(365 * 86_400)))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the store is of the classic method, damaged, or cannot be written.
    pub fn keep_half_life(&self, half_life: Option<Duration>) -> Result<()> {
        if self.method() == Method::Classic {
            return Err(Error::Unsuitable(
                "the store has the method classic, whose lessons all count the same: expire old ones instead"
                    .into(),
            ));
        }
        let milliseconds = half_life.unwrap_or_default().as_millis();
        let decay = Decay { half_life: u64::try_from(milliseconds).unwrap_or(u64::MAX) };
        self.write(|store| {
            if store.decay()? == decay {
                return Ok(((), false));
            }
            let rebuilt = store.rebuild(|store| {
                store.put_decay(decay)?;
                derive_all(store, &[])
            });
            rebuilt.map(|()| ((), true))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::StoreSnapshot;
    use crate::label::Label;
    use crate::message::Message;

    const DAY: i64 = 86_400_000;

    /// Learns a message as if on the given day.
    fn learn_on(filter: &Filter, day: i64, label: &Label, text: &str) {
        let message = Message::read(text.as_bytes());
        let (new, features) = filter.prepare(Method::Default, &message).unwrap();
        let changed = filter.change_store(|_, change| {
            let next = |_: Option<&_>| Some(new.marked(label, day * DAY));
            change.update(message.fingerprint, next, || Ok(features))
        });
        assert_eq!(changed.unwrap().len(), 1);
    }

    /// A year of mail. The word "agenda" is spam in its first month, and ham in its last.
    fn store() -> (tempfile::TempDir, Filter) {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::open_or_create(folder.path()).unwrap();
        for number in 0..30 {
            let of = |words: &str| format!("Subject: {words} {number}\n\n{words} of number {number}\n");
            learn_on(&filter, number, &Label::Spam, &of("agenda prize winner"));
            learn_on(&filter, number, &Label::Ham, &of("lunch plans"));
            learn_on(&filter, 335 + number, &Label::Spam, &of("prize casino"));
            learn_on(&filter, 335 + number, &Label::Ham, &of("agenda winner lunch"));
        }
        (folder, filter)
    }

    fn score(filter: &Filter) -> f64 {
        filter.verdict(&Message::read(b"Subject: agenda winner\n\nthe agenda of the winner")).unwrap().1
    }

    fn model(filter: &Filter) -> crate::model::Model {
        match filter.snapshot() {
            StoreSnapshot::Default(snapshot) => crate::model::Model::clone(&snapshot.model),
            StoreSnapshot::Classic(_) => panic!("a store of the usual method"),
        }
    }

    #[test]
    fn a_lesson_counts_half_for_each_half_life_and_never_nothing() {
        let decay = Decay { half_life: 10 };
        assert_eq!([-5, 0, 10, 20].map(|age| decay.importance(age)), [1.0, 1.0, 0.5, 0.25]);
        assert_eq!(decay.importance(i64::MAX), LEAST as f32);
        assert_eq!(Decay::default().importance(i64::MAX), 1.0);
        assert_eq!(Decay::decode(&decay.encode()), Some(decay));
        assert_eq!(Decay::decode(b"short"), None);
    }

    #[test]
    fn old_lessons_give_way_to_new_ones_and_come_back_to_the_last_bit() {
        let (_folder, filter) = store();
        let (before, score_before) = (model(&filter), score(&filter));
        filter.keep_half_life(Some(Duration::from_secs(30 * 86_400))).unwrap();
        assert!(score(&filter) < score_before, "{} and {score_before}", score(&filter));
        filter.keep_half_life(None).unwrap();
        let after = model(&filter);
        assert_eq!((after.weights, after.head.combiner), (before.weights, before.head.combiner));
        assert_eq!(after.head.limits, before.head.limits);
    }

    #[test]
    fn lessons_after_the_base_give_what_deriving_everything_gives() {
        let (folder, filter) = store();
        filter.keep_half_life(Some(Duration::from_secs(30 * 86_400))).unwrap();
        learn_on(&filter, 400, &Label::Ham, "Subject: late\n\nthe last words");
        learn_on(&filter, 401, &Label::Spam, "Subject: later\n\na prize for the last words");
        let step_by_step = model(&filter);
        drop(filter);
        Filter::repair(folder.path()).unwrap();
        let anew = model(&Filter::open(folder.path()).unwrap());
        assert_eq!(anew.weights, step_by_step.weights);
        assert_eq!(
            (anew.head.combiner, anew.head.limits),
            (step_by_step.head.combiner, step_by_step.head.limits)
        );
    }
}
