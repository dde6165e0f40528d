//! The standard normal distribution, for turning a confidence into a width.

/// Returns the `z` for which a standard normal variable lies in `[-z, z]` with probability `level`.
///
/// Solves `erfc(z/√2) = 1 − level` by Newton's method on the logarithm, which is concave, so the
/// method converges from any start. The result is exact to the last few bits for levels up to 1 −
/// 10⁻¹⁵.
///
/// ```
/// assert!((crivo::math::two_sided_quantile(0.95) - 1.959964).abs() < 1e-6);
/// ```
pub fn two_sided_quantile(level: f64) -> f64 {
    if level == 0.95 {
        return 1.959_963_984_540_054; // the level of almost every answer: no need to search for it
    }
    let tail = 1.0 - level;
    if tail.is_nan() || tail >= 1.0 {
        return 0.0;
    }
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    let target = libm::log(tail);
    let mut z = libm::sqrt(-2.0 * target) / 2.0;
    for _ in 0..50 {
        let survival = libm::erfc(z / std::f64::consts::SQRT_2);
        // d/dz erfc(z/√2) = −√(2/π) e^(−z²/2)
        let density = libm::sqrt(2.0 / std::f64::consts::PI) * libm::exp(-z * z / 2.0);
        let step = (libm::log(survival) - target) * survival / density;
        z += step;
        if step.abs() <= 1e-14 * z {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz and Stegun, table 26.5 and the usual textbook values.
    #[test]
    fn matches_tabulated_quantiles() {
        for (level, z) in [
            (0.5, 0.674_489_750_196_081_7),
            (0.682_689_492_137_085_9, 1.0),
            (0.9, 1.644_853_626_951_472_2),
            (0.95, 1.959_963_984_540_054),
            (0.99, 2.575_829_303_548_900_4),
            (0.999_999, 4.891_638_475_699_0),
        ] {
            let found = two_sided_quantile(level);
            assert!((found - z).abs() < 1e-9, "level {level}: {found} instead of {z}");
        }
    }

    #[test]
    fn shortcut_agrees_with_the_search() {
        let searched = two_sided_quantile(0.95_f64.next_up());
        assert!((searched - two_sided_quantile(0.95)).abs() < 1e-12);
    }

    #[test]
    fn limits_are_finite_or_say_so() {
        assert_eq!(two_sided_quantile(0.0), 0.0);
        assert_eq!(two_sided_quantile(f64::NAN), 0.0);
        assert_eq!(two_sided_quantile(1.0), f64::INFINITY);
        assert!(two_sided_quantile(1e-12) < 1e-11);
    }
}
