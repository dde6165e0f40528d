//! The probability of each register value, in integers: the model behind [coded](super::coded)
//! registers.
//!
//! In the Poisson model a register sees hashes of level `k` at rate `λ 2^−k`, where `λ` is the
//! number of items a register. It has seen none with probability `e^(−λ 2^−k)`. The rates that the
//! model knows are `λ = (32 + a)/32 · 2^e`, with `a` from 0 to 31. Each possible rate is at most
//! 1.6 % from one of these, which costs less than a thousandth of a bit a register. Each level is
//! half as frequent as the one below, so its probability is the square root of that one's. Squaring
//! therefore gives all probabilities from one. Fixed-point arithmetic makes the table the same on
//! every machine.

/// The number of bits after the point of a probability, which is an integer.
const POINT: u32 = 62;

/// A probability of 1.
pub(crate) const ONE: u64 = 1 << POINT;

/// The exponent of the lowest rate.
const LOWEST_EXPONENT: i32 = -20;

/// The number of halvings of the mantissa after which three terms of the exponential series are
/// enough.
const SERIES_AT: i32 = 20;

/// The number of doublings of the mantissa after which a level is certain to occur: `e^(−64)` is
/// below 2^−62.
const CERTAIN_AT: i32 = 6;

const HALVINGS: usize = POINT as usize;

/// One of the rates that the model knows, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rate(u16);

impl Rate {
    /// The number of rates: 32 in each of 84 octaves.
    pub(crate) const COUNT: u16 = 84 * 32;

    /// Returns the rate of a number, or `None` if there is no rate of that number.
    pub(crate) fn from_number(number: u16) -> Option<Self> {
        (number < Self::COUNT).then_some(Self(number))
    }

    /// Returns the number of the rate, which is what is stored.
    pub(crate) fn number(self) -> u16 {
        self.0
    }

    /// Returns the nearest rate: the exponent of the float and the first five bits of its fraction,
    /// rounded.
    pub(crate) fn nearest(rate: f64) -> Self {
        const DROPPED: u32 = f64::MANTISSA_DIGITS - 1 - 5;
        const LOWEST: i64 = ((f64::MAX_EXP - 1 + LOWEST_EXPONENT) as i64) << 5;
        let rounded = (rate.max(0.0).to_bits() + (1 << (DROPPED - 1))) >> DROPPED;
        Self((rounded as i64 - LOWEST).clamp(0, i64::from(Self::COUNT) - 1) as u16)
    }

    fn mantissa(self) -> u64 {
        32 + u64::from(self.0 % 32)
    }

    fn exponent(self) -> i32 {
        i32::from(self.0 / 32) + LOWEST_EXPONENT
    }
}

/// The probabilities that each level occurred in a register or not, at one rate and one precision.
#[derive(Debug)]
pub struct Levels {
    /// The probability that a level did not occur, by level. The first entry is not used.
    absent: [u64; 64],
    highest: usize,
}

impl Levels {
    /// Creates the table. `highest` is the level of hashes whose low bits are all zero. It is as
    /// frequent as the level below it.
    pub(crate) fn new(rate: Rate, highest: u8) -> Self {
        let highest = usize::from(highest);
        let halved = absent_at_halvings(rate.mantissa());
        let mut absent = [0; 64];
        for (level, absent) in absent.iter_mut().enumerate().take(highest + 1).skip(1) {
            let halvings = level.min(highest - 1) as i32 - rate.exponent();
            *absent = usize::try_from(halvings + CERTAIN_AT)
                .map_or(0, |index| halved.get(index).copied().unwrap_or(ONE));
        }
        Self { absent, highest }
    }

    /// The highest level.
    pub(crate) fn highest(&self) -> usize {
        self.highest
    }

    /// Returns the probability that no hash of a level came.
    pub(crate) fn absent(&self, level: usize) -> u64 {
        self.absent[level]
    }

    /// Returns the probability that a hash of a level came.
    pub(crate) fn occurred(&self, level: usize) -> u64 {
        ONE - self.absent[level]
    }
}

/// Returns `e^(−x 2^−j)` for `x = mantissa/32` and each `j` from −[`CERTAIN_AT`] on.
fn absent_at_halvings(mantissa: u64) -> [u64; HALVINGS + CERTAIN_AT as usize] {
    let mut table = [0; HALVINGS + CERTAIN_AT as usize];
    for (index, entry) in table.iter_mut().enumerate().skip((SERIES_AT + CERTAIN_AT) as usize) {
        let halvings = index as u32 - CERTAIN_AT as u32;
        let y = mantissa << (POINT - 5) >> halvings;
        let square = times(y, y);
        *entry = ONE - y + square / 2 - times(square, y) / 6;
    }
    for index in (0..(SERIES_AT + CERTAIN_AT) as usize).rev() {
        table[index] = times(table[index + 1], table[index + 1]);
    }
    table
}

/// Returns the product of two probabilities, rounded down.
pub(crate) fn times(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> POINT) as u64
}
