//! The χ² distribution: how likely is a statistic this large, or this small?
//!
//! Its tails are those of the incomplete gamma function, computed by its series below the mean and
//! by its continued fraction above (Abramowitz and Stegun, 6.5.29 and 6.5.31). So a tail of 10⁻³⁰⁰
//! is as precise as one of a half.

/// Returns the probability that chance alone gives a statistic of at least `x`.
pub(crate) fn chi_square_above(x: f64, degrees: f64) -> f64 {
    let (a, x) = (degrees / 2.0, x / 2.0);
    if x <= 0.0 {
        1.0
    } else if x < a + 1.0 {
        1.0 - series(a, x)
    } else {
        fraction(a, x)
    }
}

/// Returns the probability that chance alone gives a statistic of at most `x`.
pub(crate) fn chi_square_below(x: f64, degrees: f64) -> f64 {
    let (a, x) = (degrees / 2.0, x / 2.0);
    if x <= 0.0 {
        0.0
    } else if x < a + 1.0 {
        series(a, x)
    } else {
        1.0 - fraction(a, x)
    }
}

/// The most terms: enough for millions of degrees, which need about √a terms.
const MOST_TERMS: u32 = 100_000;

/// Returns `x^a·e^−x/Γ(a)`, which both forms begin with.
fn scale(a: f64, x: f64) -> f64 {
    libm::exp(a * libm::log(x) - x - libm::lgamma(a))
}

fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for n in 1..MOST_TERMS {
        term *= x / (a + f64::from(n));
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    (sum * scale(a, x)).min(1.0)
}

/// Computes the continued fraction by Lentz's method, modified.
fn fraction(a: f64, x: f64) -> f64 {
    let tiny = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / b;
    let mut value = d;
    for n in 1..MOST_TERMS {
        let n = f64::from(n);
        let numerator = -n * (n - a);
        b += 2.0;
        d = 1.0 / nonzero(numerator * d + b, tiny);
        c = nonzero(b + numerator / c, tiny);
        value *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    (value * scale(a, x)).min(1.0)
}

fn nonzero(x: f64, tiny: f64) -> f64 {
    if x.abs() < tiny { tiny } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of the distribution.
    #[test]
    fn tails_are_those_of_tables() {
        for (x, degrees, above) in [
            (3.841_459, 1.0, 0.05),
            (5.991_465, 2.0, 0.05),
            (18.307_038, 10.0, 0.05),
            (124.342_113, 100.0, 0.05),
            (77.929_465, 100.0, 0.95),
            (1074.679, 1000.0, 0.05),
        ] {
            let found = chi_square_above(x, degrees);
            assert!((found / above - 1.0).abs() < 1e-4, "{x}, {degrees}: {found}");
            assert!((chi_square_below(x, degrees) - (1.0 - above)).abs() < 1e-5);
        }
        assert_eq!((chi_square_above(0.0, 5.0), chi_square_below(0.0, 5.0)), (1.0, 0.0));
    }

    /// With two degrees the distribution is exponential; with very many it is nearly normal.
    #[test]
    fn far_tails_keep_their_precision() {
        for x in [1.0, 50.0, 600.0, 1300.0] {
            let expected = libm::exp(-x / 2.0);
            assert!((chi_square_above(x, 2.0) / expected - 1.0).abs() < 1e-11, "{x}");
        }
        let tiny = chi_square_below(1e-6, 2.0);
        assert!((tiny / 5e-7 - 1.0).abs() < 1e-6, "{tiny}");
        let degrees = 1e6;
        let above = chi_square_above(degrees + 2.0 * libm::sqrt(2.0 * degrees), degrees);
        assert!((above / 0.02275 - 1.0).abs() < 0.01, "{above}");
    }
}
