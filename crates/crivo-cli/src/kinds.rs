//! How stored sketches are described to the user: which command makes one, what it answers, and
//! which command queries it.
//!
//! This is derived from the question of the sketch's family and from its capabilities. So a new
//! sketch for a known question needs no line here.

use anyhow::anyhow;
use crivo::codec::{AnySketch, Question};
use crivo::groups::Groups;
use crivo::profile::{DDSketch, TableProfile};
use crivo::sketch::Sketch as _;

/// The description of a kind of sketch for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The command that makes such a sketch.
    pub(crate) made_by: &'static str,
    /// The question it answers.
    pub(crate) answers: &'static str,
    /// The command that queries a sketch in the file FILE.
    asked_by: &'static str,
}

impl Kind {
    /// Returns the command that queries the sketch in the file `name`.
    pub(crate) fn query_of(self, name: &str) -> String {
        self.asked_by.replacen("FILE", name, 1)
    }
}

pub(crate) const fn kind(made_by: &'static str, answers: &'static str, asked_by: &'static str) -> Kind {
    Kind { made_by, answers, asked_by }
}

/// Returns the description of the sketch.
pub(crate) fn of(sketch: &AnySketch) -> Kind {
    let knows_frequency = sketch.answers_frequency().is_some();
    match sketch.family().question() {
        Question::HowManyEvents if knows_frequency => {
            kind("crivo count --by --bits", "how often each key came", "crivo ask FILE")
        }
        Question::HowManyEvents => kind("crivo count --counter", "how many events", "crivo show FILE"),
        Question::HowManyDifferent => kind("crivo distinct", "how many different", "crivo show FILE"),
        Question::IsItInThere if knows_frequency => {
            kind("crivo set build --counting", "whether and how often a key is in", "crivo ask FILE")
        }
        Question::IsItInThere if sketch.clone().takes_keys().is_none() => {
            kind("crivo set build --static", "whether a key is in there", "crivo ask FILE")
        }
        Question::IsItInThere => kind("crivo set build", "whether a key is in there", "crivo ask FILE"),
        Question::HowOften => about_frequency(sketch),
        Question::FairSample => kind("the crivo library", "what a fair sample is", "crivo show FILE"),
        Question::WhichAreAlike => kind("the crivo library", "how alike two sets are", "crivo show FILE"),
        Question::WhichRank if sketch.downcast_ref::<DDSketch>().is_some() => {
            kind("the crivo library", "which value has a rank", "crivo ask FILE --quantiles 0.5")
        }
        Question::WhichRank if sketch.answers_quantiles().is_some() => {
            kind("crivo quantile", "which value has a rank", "crivo ask FILE --quantiles 0.5")
        }
        Question::WhichRank => {
            kind("crivo quantile --texts", "which text has a rank", "crivo ask FILE --quantiles 0.5")
        }
        Question::WhatIsInATable if sketch.downcast_ref::<TableProfile>().is_some() => {
            kind("crivo profile -o", "what is in a table", "crivo profile FILE")
        }
        Question::WhatIsInATable => kind("the crivo library", "what is in a column", "crivo show FILE"),
        Question::Container if sketch.downcast_ref::<Groups>().is_some() => {
            kind("crivo … --by", "what its sketches answer, for each group", "crivo ask FILE --group VALUE")
        }
        Question::Container => kind("crivo … --window", "what its panes answer, of late", "crivo show FILE"),
    }
}

fn about_frequency(sketch: &AnySketch) -> Kind {
    let takes_keys = sketch.clone().takes_keys().is_some();
    let takes_hashes = sketch.clone().takes_hashes().is_some();
    match (sketch.answers_top().is_some(), takes_keys, takes_hashes) {
        (true, ..) if sketch.parameters().is_empty() => {
            kind("the crivo library", "which key has the majority", "crivo ask FILE")
        }
        (true, ..) => kind("crivo top", "which keys come most often", "crivo ask FILE"),
        (false, false, _) => {
            kind("crivo private aggregate", "how often any value was reported", "crivo ask FILE")
        }
        (false, true, false) => {
            kind("crivo freq --ranges", "how many lie in a range", "crivo ask FILE --range LOW HIGH")
        }
        (false, true, true) => kind("crivo freq", "how often any key came", "crivo ask FILE"),
    }
}

/// Returns the name of a kind of sketch with its article: a HyperLogLog, an UltraLogLog.
pub(crate) fn with_article(name: &str) -> String {
    let article = if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Returns the error for a sketch of the wrong kind. It says what the sketch is and what it
/// answers. `needed` says what is needed instead.
pub(crate) fn refusal(sketch: &AnySketch, name: &str, needed: &str) -> anyhow::Error {
    let Kind { made_by, answers, .. } = of(sketch);
    let family = with_article(sketch.family().name());
    anyhow!("{name}: this is {family} made by `{made_by}`, which answers {answers}, {needed}")
}

#[cfg(test)]
mod tests {
    use crivo::counting::{CounterArray, MorrisCounter};
    use crivo::distinct::HyperLogLog;
    use crivo::frequency::{CountMin, HeavyHitters, Majority, RangeCountMin};
    use crivo::membership::{BinaryFuse, Bloom, CounterBits, CountingBloom};
    use crivo::profile::{ColumnProfile, DDSketch, DistinctGrowth, NearDuplicateShare};
    use crivo::quantiles::NumberQuantiles;
    use crivo::window::Panes;

    use super::*;

    #[test]
    fn commands_follow_from_capabilities() {
        let hll = AnySketch::from(HyperLogLog::new(4).unwrap());
        for (sketch, made_by, asked_by) in [
            (MorrisCounter::new(2.0, 8, 0).unwrap().into(), "crivo count --counter", "crivo show FILE"),
            (CounterArray::new(9, 2.0, 8, 0).unwrap().into(), "crivo count --by --bits", "crivo ask FILE"),
            (hll.clone(), "crivo distinct", "crivo show FILE"),
            (Bloom::for_items(9, 0.1).unwrap().into(), "crivo set build", "crivo ask FILE"),
            (
                CountingBloom::for_items(9, 0.1, CounterBits::Four).unwrap().into(),
                "crivo set build --counting",
                "crivo ask FILE",
            ),
            (BinaryFuse::of_keys(["a"]).unwrap().into(), "crivo set build --static", "crivo ask FILE"),
            (CountMin::new(8, 2).unwrap().into(), "crivo freq", "crivo ask FILE"),
            (
                RangeCountMin::new(8, 8, 2).unwrap().into(),
                "crivo freq --ranges",
                "crivo ask FILE --range LOW HIGH",
            ),
            (HeavyHitters::new(8).unwrap().into(), "crivo top", "crivo ask FILE"),
            (Majority::new().into(), "the crivo library", "crivo ask FILE"),
            (DDSketch::for_bound(0.1).unwrap().into(), "the crivo library", "crivo ask FILE --quantiles 0.5"),
            (
                NumberQuantiles::for_bound(0.1, 0).unwrap().into(),
                "crivo quantile",
                "crivo ask FILE --quantiles 0.5",
            ),
            (ColumnProfile::for_memory(1 << 16).unwrap().into(), "the crivo library", "crivo show FILE"),
            (DistinctGrowth::new(64).unwrap().into(), "the crivo library", "crivo show FILE"),
            (NearDuplicateShare::new(64).unwrap().into(), "the crivo library", "crivo show FILE"),
            (Groups::new(hll.clone(), 1).unwrap().into(), "crivo … --by", "crivo ask FILE --group VALUE"),
            (Panes::new(hll, 60, 24).unwrap().into(), "crivo … --window", "crivo show FILE"),
        ] {
            let kind = of(&sketch);
            assert_eq!((kind.made_by, kind.asked_by), (made_by, asked_by), "{}", sketch.family());
        }
    }
}
