//! Many small numbers side by side, and the coins that raise them.

use super::scale::Scale;
use crate::cpu::prefetch;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::random::Generator;

/// How many cells ahead their cache line is asked for: enough for the line to arrive from memory.
const AHEAD: usize = 16;

/// Returns how many bytes that many cells take.
pub(super) fn bytes_for(len: u64, bits: u8) -> u64 {
    let bytes = (u128::from(len) * u128::from(bits)).div_ceil(8);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The value of a cell. Cells of 4 bits fill a byte from its low half on; those of 16 are
/// little-endian.
#[inline]
pub(super) fn get<const BITS: u8>(cells: &[u8], index: usize) -> u16 {
    match BITS {
        4 => u16::from(cells[index / 2] >> (4 * (index % 2)) & 0xF),
        8 => u16::from(cells[index]),
        _ => u16::from_le_bytes([cells[2 * index], cells[2 * index + 1]]),
    }
}

/// Sets the value of a cell, which must fit it.
#[inline]
pub(super) fn set<const BITS: u8>(cells: &mut [u8], index: usize, value: u16) {
    match BITS {
        4 => {
            let shift = 4 * (index % 2);
            let byte = &mut cells[index / 2];
            *byte = *byte & !(0xF << shift) | (value as u8) << shift;
        }
        8 => cells[index] = value as u8,
        _ => cells[2 * index..2 * index + 2].copy_from_slice(&value.to_le_bytes()),
    }
}

/// The chance of each value as a whole number, so that one comparison with random bits decides.
///
/// A coin of chance `p` succeeds if 63 random bits are below `p·2^63`. For 8 bits that is a table
/// of 256 numbers. For 16 bits it would be one of half a megabyte, so the power `b^−value` is put
/// together from its high and its low byte: `b^−256h · b^−l`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coins {
    highest: u16,
    low: Box<[u64; 256]>,
    /// Empty for 4 and 8 bits; counters of 16 bits have values above 255 at any base.
    high: Box<[u64]>,
}

impl Coins {
    pub(super) fn new(scale: Scale) -> Self {
        let chance = |exponent: u32| libm::ldexp(libm::pow(scale.base(), -f64::from(exponent)), 63) as u64;
        let mut low = Box::new([0; 256]);
        for (exponent, number) in (0..).zip(low.iter_mut()) {
            *number = chance(exponent);
        }
        let high_bytes = u32::from(scale.highest() / 256);
        let high = if high_bytes == 0 {
            Box::default()
        } else {
            (0..=high_bytes).map(|byte| chance(256 * byte)).collect()
        };
        Self { highest: scale.highest(), low, high }
    }

    /// The bytes of memory behind the pointers.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.low) + size_of_val(&*self.high)
    }

    /// Tosses the coin of chance `b^−exponent`.
    #[inline]
    pub(super) fn toss<const BITS: u8>(&self, exponent: u16, generator: &mut Generator) -> bool {
        let [low, high] = exponent.to_le_bytes();
        let mut chance = self.low[usize::from(low)];
        if BITS == 16 {
            chance = ((u128::from(chance) * u128::from(self.high[usize::from(high)])) >> 63) as u64;
        }
        generator.bits() >> 1 < chance
    }

    /// Raises a cell with the chance of its value. There is nothing to predict: whether the coin
    /// succeeds is added, not branched on.
    #[inline]
    pub(super) fn raise<const BITS: u8>(&self, cells: &mut [u8], index: usize, generator: &mut Generator) {
        let value = get::<BITS>(cells, index);
        let raised = self.toss::<BITS>(value, generator) && value < self.highest;
        set::<BITS>(cells, index, value + u16::from(raised));
    }

    /// Raises many cells, which must exist: the same as one by one, with their memory asked for
    /// ahead.
    pub(super) fn raise_all<const BITS: u8>(
        &self,
        cells: &mut [u8],
        indexes: &[u64],
        generator: &mut Generator,
    ) {
        let byte_of = |index: u64| index as usize * usize::from(BITS) / 8;
        for (position, &index) in indexes.iter().enumerate() {
            if let Some(&later) = indexes.get(position + AHEAD) {
                prefetch(cells, byte_of(later));
            }
            self.raise::<BITS>(cells, index as usize, generator);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells_keep_what_they_are_given<const BITS: u8>() {
        let mut cells = vec![0; bytes_for(7, BITS) as usize];
        let highest = u16::MAX >> (16 - BITS);
        let values: Vec<u16> = (0..7).map(|i| highest - i * 2).collect();
        for round in 0..2 {
            for (index, &value) in values.iter().enumerate() {
                set::<BITS>(&mut cells, index, if round == 0 { highest } else { value });
            }
        }
        let found: Vec<u16> = (0..7).map(|index| get::<BITS>(&cells, index)).collect();
        assert_eq!(found, values, "{BITS} bits");
    }

    #[test]
    fn cells_of_every_width_keep_what_they_are_given() {
        cells_keep_what_they_are_given::<4>();
        cells_keep_what_they_are_given::<8>();
        cells_keep_what_they_are_given::<16>();
        assert_eq!((bytes_for(7, 4), bytes_for(7, 16), bytes_for(u64::MAX, 16)), (4, 14, u64::MAX));
    }

    #[test]
    fn chances_from_two_tables_are_those_of_the_scale() {
        let scale = Scale::new(1.0003, 16).unwrap();
        let coins = Coins::new(scale);
        for value in (0..=u16::MAX).step_by(97) {
            let [low, high] = value.to_le_bytes();
            let (low, high) = (coins.low[usize::from(low)], coins.high[usize::from(high)]);
            let chance = low as f64 * high as f64 / 2_f64.powi(126);
            assert!((chance / scale.base().powi(-i32::from(value)) - 1.0).abs() < 1e-9, "{value}");
        }
    }
}
