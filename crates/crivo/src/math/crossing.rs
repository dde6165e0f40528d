//! Where does an increasing function reach zero?

/// Returns the point between `low` and `high` at which an increasing function crosses zero. If it
/// does not, returns the nearer end.
///
/// False position with the Illinois rule: an end that stays twice in a row counts half, so that
/// both ends close in. On the smooth curves of bounds, six or seven evaluations are enough.
pub(crate) fn crossing(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut at_low, mut at_high) = (function(low), function(high));
    if at_low >= 0.0 {
        return low;
    }
    if at_high <= 0.0 {
        return high;
    }
    let mut moved_low = None;
    for round in 0..200 {
        let share = at_low / (at_low - at_high);
        // A step in the function, or a NaN, makes the rule slow. Bisection always ends.
        let share = if round % 20 < 15 && share > 0.0 && share < 1.0 { share } else { 0.5 };
        let middle = low + (high - low) * share;
        let value = function(middle);
        if value < 0.0 {
            (low, at_low) = (middle, value);
            if moved_low == Some(true) {
                at_high /= 2.0;
            }
        } else {
            (high, at_high) = (middle, value);
            if moved_low == Some(false) {
                at_low /= 2.0;
            }
        }
        moved_low = Some(value < 0.0);
        if value.abs() <= 1e-11 || high - low <= 1e-12 * high.abs().max(low.abs()) {
            return middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn finds_roots_of_curves_and_steps() {
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, {expected}");
        close(crossing(0.0, 10.0, |x| x * x * x - 2.0), libm::cbrt(2.0));
        close(crossing(-5.0, 700.0, |x| libm::exp(x) - 1.0), 0.0);
        close(crossing(-1.0, 1e3, |x| if x < 0.25 { -1.0 } else { 1e9 }), 0.25);
        close(crossing(0.0, 1.0, |x| if x < 0.5 { f64::NEG_INFINITY } else { x }), 0.5);
    }

    #[test]
    fn answers_with_an_end_where_there_is_no_crossing() {
        assert_eq!(crossing(1.0, 2.0, |x| x), 1.0);
        assert_eq!(crossing(1.0, 2.0, |x| x - 5.0), 2.0);
    }

    #[test]
    fn takes_few_evaluations() {
        let count = Cell::new(0);
        let root = crossing(0.0, 3.0, |x| {
            count.set(count.get() + 1);
            libm::log(libm::erfc(-x)) - 0.3
        });
        assert!((libm::log(libm::erfc(-root)) - 0.3).abs() < 1e-10);
        assert!(count.get() <= 10, "{} evaluations", count.get());
    }
}
