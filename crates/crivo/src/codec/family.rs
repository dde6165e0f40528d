//! The registry of the sketches that a file can hold.

use std::fmt;

/// The one list of families, each with its number, the newest version of its payload and the module
/// of its type. [`Family`] and [`AnySketch`](super::AnySketch) are both generated from it.
macro_rules! with_every_family {
    ($make:ident) => {
        $make! {
            SampledCounter = 0x10, version 1, in counting;
            MorrisCounter = 0x11, version 1, in counting;
            CounterArray = 0x12, version 1, in counting;
            Tally = 0x13, version 1, in counting;
            HyperLogLog = 0x20, version 2, in distinct;
            ExactDistinct = 0x21, version 1, in distinct;
            LinearCounting = 0x22, version 1, in distinct;
            KMinValues = 0x23, version 1, in distinct;
            ProbabilisticCounting = 0x24, version 1, in distinct;
            LogLog = 0x25, version 1, in distinct;
            UltraLogLog = 0x26, version 2, in distinct;
            DirectTable = 0x30, version 1, in membership;
            Bloom = 0x31, version 1, in membership;
            BlockedBloom = 0x32, version 1, in membership;
            CountingBloom = 0x33, version 1, in membership;
            CombinedFilter = 0x34, version 1, in membership;
            BinaryFuse = 0x35, version 1, in membership;
            CountMin = 0x40, version 1, in frequency;
            RangeCountMin = 0x41, version 1, in frequency;
            Majority = 0x42, version 1, in frequency;
            HeavyHitters = 0x43, version 1, in frequency;
            PrivateCountMean = 0x44, version 1, in frequency;
            Reservoir = 0x50, version 1, in sampling;
            WeightedReservoir = 0x51, version 1, in sampling;
            RowSample = 0x52, version 1, in sampling;
            MinHash = 0x60, version 1, in similarity;
            Panes = 0x70, version 1, in window;
            ColumnProfile = 0x71, version 1, in profile;
            DDSketch = 0x72, version 1, in profile;
            NearDuplicateShare = 0x73, version 1, in profile;
            DistinctGrowth = 0x74, version 1, in profile;
            TableProfile = 0x75, version 2, in profile;
            Groups = 0x78, version 1, in groups;
            NumberQuantiles = 0x80, version 1, in quantiles;
            KeyQuantiles = 0x81, version 1, in quantiles;
        }
    };
}
pub(super) use with_every_family;

macro_rules! make_family {
    ($($name:ident = $number:literal, version $version:literal, in $module:ident;)*) => {
        /// The kind of sketch that a file holds. The number is the byte stored; numbers are never
        /// reused.
        ///
        /// They are grouped by the question the sketch answers: 0x1_ how many events, 0x2_ how many
        /// different, 0x3_ is it in there, 0x4_ how often, 0x5_ a fair sample, 0x6_ which are
        /// alike, 0x7_ containers of other sketches, and what is in a column, 0x8_ which value has
        /// that rank.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Family {
            $(#[doc = concat!("[`", stringify!($name), "`](crate::", stringify!($module), "::", stringify!($name), ").")] $name = $number,)*
        }

        impl Family {
            /// Every family, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the newest version of the payload's layout, which is the one written. Older
            /// versions are read forever.
            pub const fn version(self) -> u8 {
                match self {
                    $(Self::$name => $version,)*
                }
            }

            /// Returns the name that messages, `crivo show` and docs/format.md use.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }
        }
    };
}
with_every_family!(make_family);

impl Family {
    /// Returns the question that the family answers. The first hexadecimal digit of its number
    /// decides, except for 7, which several questions share.
    pub const fn question(self) -> Question {
        match (self, self as u8 >> 4) {
            (Self::Panes | Self::Groups, _) => Question::Container,
            (Self::DDSketch, _) | (_, 8) => Question::WhichRank,
            (_, 1) => Question::HowManyEvents,
            (_, 2) => Question::HowManyDifferent,
            (_, 3) => Question::IsItInThere,
            (_, 4) => Question::HowOften,
            (_, 5) => Question::FairSample,
            (_, 6) => Question::WhichAreAlike,
            _ => Question::WhatIsInATable,
        }
    }

    /// Returns true if the sketch holds other sketches of any kind. Such containers do not nest.
    pub const fn is_container(self) -> bool {
        matches!(self, Self::Panes | Self::Groups | Self::TableProfile)
    }

    /// Returns true if the sketch is built from all of its keys at once, and can neither take more
    /// keys nor merge.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::BinaryFuse)
    }

    /// Returns what is expected of the sketch of a pane or a group, if this one cannot be used
    /// there.
    pub(crate) const fn expected_of_part(self) -> Option<&'static str> {
        if self.is_container() {
            Some("no container of sketches")
        } else if self.is_finished() {
            Some("a sketch that can grow")
        } else {
            None
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| *family as u8 == byte)
    }
}

/// The question that a family answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question {
    /// How many events?
    HowManyEvents,
    /// How many different?
    HowManyDifferent,
    /// Is it in there?
    IsItInThere,
    /// How often, and which most often?
    HowOften,
    /// A fair sample?
    FairSample,
    /// Which are alike?
    WhichAreAlike,
    /// Which value has that rank?
    WhichRank,
    /// What is in a table, or in one of its columns?
    WhatIsInATable,
    /// Whatever the sketches inside answer.
    Container,
}

/// The question as the end of "a sketch that tells …".
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HowManyEvents => "how many events there were",
            Self::HowManyDifferent => "how many different keys there are",
            Self::IsItInThere => "whether a key is in there",
            Self::HowOften => "how often keys came",
            Self::FairSample => "what a fair sample is",
            Self::WhichAreAlike => "how alike two sets are",
            Self::WhichRank => "which value has a rank",
            Self::WhatIsInATable => "what is in a table or a column",
            Self::Container => "what the sketches inside tell",
        })
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_found_again() {
        for (position, family) in Family::ALL.iter().enumerate() {
            assert_eq!(Family::from_byte(*family as u8), Some(*family));
            assert!(Family::ALL[..position].iter().all(|other| (*other as u8) < *family as u8));
            assert!(family.version() >= 1);
        }
        assert_eq!(Family::from_byte(0), None);
    }

    #[test]
    fn only_containers_answer_what_the_sketches_inside_answer() {
        for &family in Family::ALL {
            let is_container = matches!(family, Family::Panes | Family::Groups);
            assert_eq!(family.question() == Question::Container, is_container, "{family}");
        }
        assert_eq!(Family::DDSketch.question(), Family::NumberQuantiles.question());
    }
}
