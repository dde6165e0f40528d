//! A count in two bytes, rounded up.
//!
//! Each counter stores how large the error was when its key was added. That number only widens a
//! bound. So it is stored with eleven significant bits, rounded up: the bound stays certain, is
//! less than a thousandth wider, and takes a quarter of the memory. Counts of up to eleven bits are
//! exact, and above all 0 is.

/// The significant bits of the mantissa that are stored; one more is implied.
const BITS: u32 = 10;

/// Six bits of exponent above ten bits of mantissa. Codes have the order of their counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RoundedUp(u16);

impl RoundedUp {
    /// The code of counts near 2^64, which cannot be rounded up. It means that there is no bound.
    const UNBOUNDED: u16 = (64 - BITS as u16) << BITS | ((1 << BITS) - 1);

    /// Returns the smallest code whose count is not below `count`.
    pub(super) fn of(count: u64) -> Self {
        let surplus = (u64::BITS - count.leading_zeros()).saturating_sub(BITS + 1);
        let mantissa = (count >> surplus) + u64::from(count & ((1 << surplus) - 1) != 0);
        // A mantissa that rounding carries to twelve bits increments the exponent by the addition
        // below.
        let code = mantissa + (u64::from(surplus) << BITS);
        Self(code.min(Self::UNBOUNDED.into()) as u16)
    }

    /// Returns the stored code, or `None` if no count has it.
    pub(super) fn from_code(code: u16) -> Option<Self> {
        (code <= Self::UNBOUNDED).then_some(Self(code))
    }

    pub(super) fn code(self) -> u16 {
        self.0
    }

    pub(super) fn count(self) -> u64 {
        let exponent = u32::from(self.0 >> BITS);
        let mantissa = u64::from(self.0 & ((1 << BITS) - 1));
        match exponent {
            _ if self.0 == Self::UNBOUNDED => u64::MAX,
            0 => mantissa,
            _ => (mantissa | 1 << BITS) << (exponent - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_up_by_less_than_a_thousandth() {
        for shift in 0..64 {
            for offset in 0..5_000_u64 {
                let count = (1_u64 << shift).wrapping_add(offset << (shift / 2)).wrapping_sub(2_500);
                let rounded = RoundedUp::of(count).count();
                assert!(rounded >= count, "{count} became {rounded}");
                if rounded != u64::MAX {
                    assert!(u128::from(rounded - count) * 1024 <= u128::from(count), "{count}: {rounded}");
                    assert_eq!(RoundedUp::of(rounded).count(), rounded, "what is rounded stays");
                }
            }
        }
        (0..2048).for_each(|count| assert_eq!(RoundedUp::of(count).count(), count));
        assert_eq!(RoundedUp::of(u64::MAX).count(), u64::MAX);
    }

    #[test]
    fn codes_are_ordered_as_their_counts_and_each_is_found_again() {
        let codes: Vec<RoundedUp> = (0..=u16::MAX).map_while(RoundedUp::from_code).collect();
        assert_eq!(codes.len(), usize::from(RoundedUp::UNBOUNDED) + 1);
        assert!(codes.windows(2).all(|pair| pair[0].count() < pair[1].count()));
        assert!(codes.iter().all(|&code| RoundedUp::of(code.count()) == code));
    }
}
