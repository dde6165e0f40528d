//! What one register of a byte remembers.
//!
//! A hash is of level `k` with probability `2^−k`: its low bits end in `k − 1` zeros. A register
//! has the highest level `u` that its hashes reached, and whether the two levels below it occurred:
//!
//! ```text
//! bit   7 6 5 4 3 2     1                     0
//!       u               level u − 1 occurred  level u − 2 occurred
//! ```
//!
//! A set of levels is a word whose bit `k − 1` stands for level `k`. In that form the level of a
//! hash is the lowest set bit of the hash itself. A register forgets the bits that lie more than
//! two below the highest one.

/// Returns the levels that the register remembers.
#[inline]
pub(super) const fn levels(register: u8) -> u64 {
    // The values 4 to 11 have bits for levels below the first. These fall off the end.
    (((4 | register & 3) as u64) << (register >> 2)) >> 3
}

/// Returns the levels that would change the register: those it has a bit for and has not seen, and
/// all levels above its highest.
#[inline]
pub(super) const fn news(register: u8) -> u64 {
    (!((4 | register & 3) as u64) << (register >> 2)) >> 3
}

/// Returns the value of a register that saw these levels.
#[inline]
pub(super) const fn register(levels: u64) -> u8 {
    let highest = u64::BITS - levels.leading_zeros();
    // Level 61 is the last, so the three topmost bits are free.
    let below = (levels << 3 >> highest) as u8 & 3;
    (highest as u8) << 2 | below
}

/// Returns the register that saw what both did: `register(levels(a) | levels(b))`. It only compares
/// and selects bytes, so the compiler can join sixteen registers at a time.
#[inline]
pub(super) const fn join(a: u8, b: u8) -> u8 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    let seen = match (high >> 2) - (low >> 2) {
        0 => low & 3,
        1 => 2 | (low & 3) >> 1,
        2 => 1,
        _ => 0,
    };
    if low == 0 { high } else { high | seen }
}

/// Returns the register as it would be if its highest level were higher by `rise` and the levels
/// below it the same.
pub(super) const fn raised(register: u8, rise: u8) -> u8 {
    let below = if rise < 2 { (register & 3) >> rise } else { 0 };
    ((register >> 2) + rise) << 2 | below
}

/// Returns true if some set of levels leads to this register value, with no level above `highest`
/// and none below the first.
pub(super) const fn is_possible(register: u8, highest: u8) -> bool {
    matches!(register, 0 | 4 | 8 | 10 | 12..) && register >> 2 <= highest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of levels among five neighbours, from every lowest level.
    fn sets() -> impl Iterator<Item = u64> + Clone {
        (0..=56).flat_map(|lowest| (0..32_u64).map(move |pattern| pattern << lowest))
    }

    /// Checks the layout of a register against its definition.
    #[test]
    fn register_has_the_highest_level_and_the_two_below() {
        for set in sets() {
            let saw = |level: u8| level >= 1 && set >> (level - 1) & 1 == 1;
            let highest = (1..=61).filter(|&level| saw(level)).max().unwrap_or(0);
            let expected = 4 * highest
                + 2 * u8::from(saw(highest.saturating_sub(1)))
                + u8::from(saw(highest.saturating_sub(2)));
            assert_eq!(register(set), expected, "{set:b}");
            assert_eq!(register(levels(expected)), expected);
        }
    }

    #[test]
    fn joining_registers_joins_what_they_saw() {
        for a in sets() {
            for b in sets() {
                assert_eq!(join(register(a), register(b)), register(a | b), "{a:b} and {b:b}");
            }
        }
    }

    #[test]
    fn news_is_what_changes_a_register() {
        for set in sets() {
            for level in (0..61).map(|bit| 1 << bit) {
                let changes = register(set | level) != register(set);
                assert_eq!(news(register(set)) & level != 0, changes, "{level:b} to {set:b}");
            }
        }
    }

    #[test]
    fn only_registers_of_sets_are_possible() {
        for value in 0..=u8::MAX {
            let is_of_a_set = value >> 2 <= 61 && register(levels(value)) == value;
            assert_eq!(is_possible(value, 61), is_of_a_set, "{value}");
            assert_eq!(is_possible(value, 47), is_of_a_set && value >> 2 <= 47, "{value}");
        }
    }

    #[test]
    fn raising_moves_the_highest_level_alone() {
        for set in sets().filter(|&set| set > 0) {
            let highest = 1 << set.ilog2();
            for rise in 0..=set.leading_zeros().min(17) - 3 {
                let moved = set ^ highest | highest << rise;
                assert_eq!(raised(register(set), rise as u8), register(moved), "{set:b} by {rise}");
            }
        }
    }
}
