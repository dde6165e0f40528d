//! Maps a positive number to the number of its bin, in integer arithmetic only.
//!
//! Bins of equal relative width are bins of equal width on a logarithmic scale. The scale here is
//! only approximately logarithmic: it is straight between 256 points in each power of two. So a
//! position is one multiplication, exactly the same on every machine, and the scale never
//! decreases. It lies below the logarithm by at most 2.76·10⁻⁶. The width of the bins is reduced by
//! that, so that their relative error is certain. Borders of bins are found by bisection over the
//! floats themselves, so they are exact too.

/// The number of fraction bits of a position.
const FRACTION_BITS: u32 = 40;
/// The number of bits that tell how far a number lies beyond a point of the scale. With more bits,
/// a product would not fit in 64 bits.
const BEYOND_BITS: u32 = 31;
/// Positions begin this far below the smallest normal number, which leaves room for subnormal
/// numbers.
const SUBNORMAL_SHIFT: u64 = 64;
/// A bound on how far the scale lies below the logarithm, including rounding: slightly more than
/// `2^40·2^−19/ln 2`.
const SAG: u64 = 3_025_720;

/// `⌊2^40·log2(1 + k/256)⌋` for `k` from 0 to 256.
const LOG2_POINTS: &[u64; 257] = &{
    let mut points = [0; 257];
    let mut point = 1;
    while point < 256 {
        // Squaring a number doubles its logarithm. Whenever the square is 2 or more, the next bit
        // is 1. The rounding of the squares to 62 bits stays below the last bit of the result.
        let mut square = ((256 + point) as u128) << 54;
        let mut bit = 0;
        while bit < FRACTION_BITS {
            square = (square * square) >> 62;
            points[point] = points[point] << 1 | (square >> 63) as u64;
            if square >= 1 << 63 {
                square >>= 1;
            }
            bit += 1;
        }
        point += 1;
    }
    points[256] = 1 << FRACTION_BITS;
    points
};

/// The scale of bins for a relative error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// Bins per unit of position, times 2^64.
    density: u64,
}

impl Scale {
    /// Returns the scale with the widest bins for this relative error, which must be in the range
    /// of a sketch.
    pub(super) fn new(relative_error: f64) -> Self {
        let width = libm::log2((1.0 + relative_error) / (1.0 - relative_error));
        let width = libm::ldexp(width, FRACTION_BITS as i32) as u64 - SAG;
        Self { density: (u64::MAX / width) + 1 }
    }

    /// Returns the number of the bin of a positive, finite number. It rises with the number, and is
    /// below 2^32.
    #[inline]
    pub(super) fn bin(self, value: f64) -> u32 {
        ((u128::from(position(value)) * u128::from(self.density)) >> 64) as u32
    }

    /// Returns the least and the greatest number in a joined bin: the numbers whose bin number,
    /// shifted by `level`, is `bin`.
    pub(super) fn borders(self, bin: u32, level: u8) -> (f64, f64) {
        let number = |value: f64| u64::from(self.bin(value)) >> level;
        let first_from = |wanted: u64| {
            let (mut low, mut high) = (1, f64::INFINITY.to_bits());
            while low < high {
                let middle = low.midpoint(high);
                if number(f64::from_bits(middle)) < wanted { low = middle + 1 } else { high = middle }
            }
            low
        };
        let (least, end) = (first_from(bin.into()), first_from(u64::from(bin) + 1));
        (f64::from_bits(least), f64::from_bits(end.max(2) - 1))
    }

    /// Returns the relative error of the number that represents a bin of this level.
    pub(super) fn relative_error(self, level: u8) -> f64 {
        let width = libm::ldexp(1.0, 64 + i32::from(level)) / self.density as f64 + SAG as f64;
        let ratio = libm::exp2(libm::ldexp(width, -(FRACTION_BITS as i32)));
        // Rounded up, because it is a guarantee.
        (1.0 - 2.0 / (ratio + 1.0)).next_up().next_up().min(1.0)
    }
}

/// Returns the position of a positive number on the scale: about `2^40·log2`, starting from 0.
#[inline]
fn position(value: f64) -> u64 {
    if value < f64::MIN_POSITIVE {
        return position_of_subnormal(value);
    }
    normal_position(value) + (SUBNORMAL_SHIFT << FRACTION_BITS)
}

#[cold]
fn position_of_subnormal(value: f64) -> u64 {
    normal_position(value * (1_u128 << SUBNORMAL_SHIFT) as f64)
}

#[inline]
fn normal_position(value: f64) -> u64 {
    let bits = value.to_bits();
    let point = (bits >> 44) as usize & 0xFF;
    let beyond = bits >> 13 & ((1 << BEYOND_BITS) - 1);
    let (here, next) = (LOG2_POINTS[point], LOG2_POINTS[point + 1]);
    ((bits >> 52) << FRACTION_BITS) + here + (((next - here) * beyond) >> BEYOND_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERRORS: [f64; 6] = [1e-4, 1e-3, 0.01, 0.02, 0.1, 0.5];

    /// Numbers of every size: around each power of two and each point of the scale.
    fn numbers() -> impl Iterator<Item = f64> {
        let around = |bits: u64| [bits.saturating_sub(1).max(1), bits.max(1), bits + 1].map(f64::from_bits);
        let points = (0..256_u64).flat_map(move |point| around(1000 << 52 | point << 44));
        (0..2046_u64).flat_map(move |exponent| around(exponent << 52)).chain(points).chain([f64::MAX])
    }

    #[test]
    fn borders_are_the_ends_of_their_bins() {
        for error in ERRORS {
            let scale = Scale::new(error);
            for value in numbers() {
                for level in [0, 1, 7] {
                    let bin = scale.bin(value) >> level;
                    let (least, greatest) = scale.borders(bin, level);
                    assert!(least <= value && value <= greatest, "{error}: {value} in {least} to {greatest}");
                    assert_eq!(scale.bin(least) >> level, bin);
                    assert_eq!(scale.bin(greatest) >> level, bin);
                    // Subnormal floats are further apart than bins.
                    if (f64::MIN_POSITIVE..f64::MAX).contains(&greatest) {
                        assert_eq!(
                            scale.bin(greatest.next_up()) >> level,
                            bin + 1,
                            "{error}: no bin is left out"
                        );
                    }
                }
            }
        }
    }

    /// The guarantee of a bin, in the arithmetic of this test: the error of the harmonic mean is
    /// `(b − a)/(b + a)`.
    #[test]
    fn no_bin_is_wider_than_its_relative_error_allows() {
        for error in ERRORS {
            let scale = Scale::new(error);
            for level in [0, 1, 2, 5] {
                let allowed = if level == 0 { error } else { scale.relative_error(level) };
                let mut widest: f64 = 0.0;
                for value in numbers().filter(|value| *value > 1e-290) {
                    let (least, greatest) = scale.borders(scale.bin(value) >> level, level);
                    widest = widest.max((1.0 - least / greatest) / (1.0 + least / greatest));
                }
                assert!(widest <= allowed, "{error} at level {level}: {widest} above {allowed}");
                assert!(
                    error < 1e-3 || widest > 0.99 * allowed,
                    "{error} at level {level}: {widest} is wasteful"
                );
            }
        }
    }

    #[test]
    fn numbers_rise_with_values() {
        let scale = Scale::new(1e-4);
        let mut last = 0;
        for bits in (1_u64..0x7FF << 52).step_by(1 << 41) {
            let bin = scale.bin(f64::from_bits(bits));
            assert!(bin >= last);
            last = bin;
        }
        assert!(scale.bin(f64::MAX) < 1 << 24);
    }

    /// These values decide the meaning of every stored sketch.
    #[test]
    fn bins_never_change() {
        assert_eq!(
            (LOG2_POINTS[1], LOG2_POINTS[128], LOG2_POINTS[255]),
            (6_184_257_239, 643_173_071_355, 1_096_410_434_270)
        );
        let scale = Scale::new(0.01);
        let bins = [f64::from_bits(1), f64::MIN_POSITIVE, 0.1, 1.0, 2.0, 1000.0, f64::MAX]
            .map(|value| scale.bin(value));
        assert_eq!(bins, [450, 2252, 37559, 37674, 37709, 38020, 73166]);
    }
}
