//! What each kind of sketch is to a user: which command makes it, which question it answers, and
//! which command asks it.

use crivo::codec::Family;

/// What a user needs to know about a kind of sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The command that makes one.
    pub(crate) made_by: &'static str,
    /// The question it answers.
    pub(crate) answers: &'static str,
    /// The command that asks it.
    pub(crate) asked_by: &'static str,
}

const fn kind(made_by: &'static str, answers: &'static str, asked_by: &'static str) -> Kind {
    Kind { made_by, answers, asked_by }
}

pub(crate) fn of(family: Family) -> Kind {
    match family {
        Family::SampledCounter | Family::MorrisCounter => {
            kind("crivo count --counter", "how many events", "crivo show")
        }
        Family::CounterArray => kind("crivo count --by", "how often each key came", "crivo ask"),
        Family::HyperLogLog
        | Family::UltraLogLog
        | Family::ExactDistinct
        | Family::LinearCounting
        | Family::KMinValues
        | Family::ProbabilisticCounting
        | Family::LogLog => kind("crivo distinct", "how many different", "crivo show"),
        Family::Bloom | Family::BlockedBloom | Family::DirectTable => {
            kind("crivo set build", "whether a key is in there", "crivo ask")
        }
        Family::CountingBloom => {
            kind("crivo set build --counting", "whether and how often a key is in", "crivo ask")
        }
        Family::CountMin => kind("crivo freq", "how often any key came", "crivo ask"),
        Family::RangeCountMin => kind("crivo freq --ranges", "how many lie in a range", "crivo ask --range"),
        Family::Majority => kind("the crivo library", "which key has the majority", "crivo ask"),
        Family::HeavyHitters => kind("crivo top", "which keys come most often", "crivo ask"),
        Family::Reservoir | Family::WeightedReservoir => {
            kind("the crivo library", "what a fair sample is", "crivo show")
        }
        Family::MinHash => kind("the crivo library", "how alike two sets are", "crivo show"),
        Family::PrivateCountMean => {
            kind("crivo private aggregate", "how often any value was reported", "crivo ask")
        }
        Family::Panes => kind("crivo … --window", "what its panes answer, of late", "crivo show"),
        Family::ColumnProfile => kind("the crivo library", "what is in a column", "crivo show"),
        Family::DDSketch => kind("the crivo library", "which quantiles there are", "crivo show"),
        // A family the library has and the command line does not know yet.
        _ => kind("the crivo library", "what its kind answers", "crivo show"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_is_known() {
        for &family in Family::ALL {
            assert_ne!(of(family).answers, "what its kind answers", "{family}");
        }
    }
}
