//! The registry of what a file can hold.

use std::fmt;

/// Which sketch a file holds. The number is the byte stored; numbers are never reused.
///
/// They are grouped by the question the sketch answers: 0x1_ how many events, 0x2_ how many
/// different, 0x3_ is it in there, 0x4_ how often, 0x5_ a fair sample, 0x6_ which are alike,
/// 0x7_ containers of other sketches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Family {
    /// [`distinct::HyperLogLog`](crate::distinct::HyperLogLog).
    HyperLogLog = 0x20,
}

impl Family {
    /// Every family, in the order of their numbers.
    pub const ALL: &[Self] = &[Self::HyperLogLog];

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| *family as u8 == byte)
    }

    /// The newest layout of the payload: the one written. Older ones are read forever.
    pub const fn version(self) -> u8 {
        match self {
            Self::HyperLogLog => 1,
        }
    }

    /// The name in messages, in `crivo show` and in docs/format.md.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HyperLogLog => "HyperLogLog",
        }
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
}
