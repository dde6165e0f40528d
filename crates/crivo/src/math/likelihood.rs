//! The maximum-likelihood equation of register sketches.
//!
//! In the Poisson model, items of level `u` arrive at a register of a HyperLogLog-like sketch at
//! rate `ν 2^−u`. Whatever the register holds, its log-likelihood as a function of the rate `ν` per
//! register has the form (Ertl 2017, section 4; Ertl 2024, section 3)
//!
//! ```text
//! ln L(ν) = −α ν + Σ_u β_u ln(1 − e^(−ν 2^−u))
//! ```
//!
//! where `α` adds up the levels known not to have occurred and `β_u` counts those known to have
//! occurred. Setting the derivative to zero and multiplying by ν gives
//! `g(ν) = Σ β_u h(ν 2^−u) − α ν = 0` with `h(y) = y/(e^y − 1)`. `g` is convex and decreasing, so
//! Newton's method, started left of the root, approaches it without overshooting.

/// Returns the rate at which the equation holds: 0 if no level occurred, infinite if all did.
///
/// `occurred[u]` is `β_u`; `not_occurred` is `α`.
pub(crate) fn solve_rate(not_occurred: f64, occurred: &[u32]) -> f64 {
    let Some(last) = occurred.iter().rposition(|&count| count > 0) else {
        return 0.0;
    };
    if not_occurred <= 0.0 {
        return f64::INFINITY;
    }
    let first = occurred.iter().position(|&count| count > 0).unwrap_or(last);

    // h(y) ≥ 1 − y/2 bounds the root from below.
    let (mut total, mut weighted) = (0.0, 0.0);
    for &count in occurred[first..=last].iter().rev() {
        total += f64::from(count);
        weighted = weighted / 2.0 + f64::from(count);
    }
    weighted *= exp2(-(first as i32));
    let mut rate = total / (not_occurred + weighted / 2.0);

    for _ in 0..100 {
        let (mut value, mut slope) = (-not_occurred * rate, -not_occurred * rate);
        // One exponential for the highest level; e^(2y) − 1 = E (E + 2) for all below.
        let mut y = rate * exp2(-(last as i32));
        let mut growth = libm::expm1(y);
        for level in (first..=last).rev() {
            let h = y / growth;
            let count = f64::from(occurred[level]);
            value += count * h;
            slope += count * h * (1.0 - y - h); // y h'(y)
            y *= 2.0;
            growth *= growth + 2.0;
        }
        // Newton's step for ν is −g/g', and `slope` is ν g'.
        let step = -value / slope;
        rate += rate * step;
        if step <= 1e-8 {
            break; // convergence is quadratic: what remains is below rounding
        }
    }
    rate
}

/// Returns 2 to an integer power, exactly.
pub(crate) fn exp2(exponent: i32) -> f64 {
    libm::ldexp(1.0, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_level_is_linear_counting() {
        // m cells, z empty: ν = −ln(z/m) exactly.
        for (cells, empty) in [(1000_u32, 999_u32), (1000, 500), (1000, 1)] {
            let rate = solve_rate(f64::from(empty), &[cells - empty]);
            let expected = -libm::log(f64::from(empty) / f64::from(cells));
            assert!((rate / expected - 1.0).abs() < 1e-12, "{rate} instead of {expected}");
        }
    }

    #[test]
    fn root_satisfies_the_equation_across_magnitudes() {
        for shift in [0, 5, 20, 45] {
            let mut occurred = [0_u32; 62];
            occurred[shift] = 300;
            occurred[shift + 3] = 400;
            occurred[shift + 9] = 7;
            let not_occurred = 350.0 * exp2(-(shift as i32));
            let rate = solve_rate(not_occurred, &occurred);
            let sum: f64 = occurred
                .iter()
                .enumerate()
                .map(|(u, &count)| {
                    let y = rate * exp2(-(u as i32));
                    f64::from(count) * y / libm::expm1(y)
                })
                .sum();
            assert!((sum / (not_occurred * rate) - 1.0).abs() < 1e-9, "shift {shift}");
        }
    }

    #[test]
    fn extremes_do_not_loop_or_overflow() {
        assert_eq!(solve_rate(10.0, &[0; 60]), 0.0);
        assert_eq!(solve_rate(0.0, &[1; 60]), f64::INFINITY);
        assert!(solve_rate(1e-15, &[u32::MAX; 61]).is_finite());
        assert!(solve_rate(1e9, &[1]) > 0.0);
    }
}
