//! By how much is the exponential above its tangent at 0?

/// Returns `e^x − 1 − x`, to full precision also where it is tiny.
pub(crate) fn excess(x: f64) -> f64 {
    if x < 0.01 {
        x * x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0))))
    } else {
        libm::expm1(x) - x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_where_they_meet() {
        let (series, difference) = (excess(0.01_f64.next_down()), excess(0.01));
        assert!((series / difference - 1.0).abs() < 1e-12, "{series} and {difference}");
        assert_eq!((excess(0.0), excess(1e-200)), (0.0, 0.0));
        assert!((excess(1e-9) / 5e-19 - 1.0).abs() < 1e-9);
        assert_eq!(excess(1.0), std::f64::consts::E - 2.0);
    }
}
