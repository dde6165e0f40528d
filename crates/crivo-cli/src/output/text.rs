//! Numbers in words a person reads quickly.

use crivo::Estimate;
use crivo::codec::Parameter;

/// A count in groups of three digits: `1 702 788`.
pub(crate) fn count(number: u64) -> String {
    Estimate::exact(number as f64).to_string()
}

/// An answer: `1 702 788 ± 0.8 %`, or what is left of it when a sketch is full.
pub(crate) fn estimate(estimate: Estimate) -> String {
    if estimate.upper().is_finite() {
        estimate.to_string()
    } else if estimate.lower().is_finite() {
        format!("at least {}", Estimate::exact(estimate.lower().floor()))
    } else {
        "more than it can count".into()
    }
}

/// A size in memory: `16 KiB`.
pub(crate) fn bytes(number: usize) -> String {
    let mut scaled = number as f64;
    let mut unit = "bytes";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if scaled < 1024.0 {
            break;
        }
        (scaled, unit) = (scaled / 1024.0, next);
    }
    if unit == "bytes" || scaled >= 10.0 {
        format!("{scaled:.0} {unit}")
    } else {
        format!("{scaled:.1} {unit}")
    }
}

/// Any number, with as many digits as say something: `1.084`, `10 000 000 000`.
pub(crate) fn number(number: f64) -> String {
    match number.abs() {
        size if size >= 1e15 || (size > 0.0 && size < 1e-3) => format!("{number:.3e}"),
        size if size >= 1000.0 => Estimate::exact(number.round()).to_string(),
        _ => {
            let text = format!("{number:.4}");
            text.trim_end_matches('0').trim_end_matches('.').into()
        }
    }
}

/// A share in percent, with two digits that say something: `0.81 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent.abs() {
        p if p == 0.0 || p >= 10.0 => format!("{percent:.0} %"),
        p if p >= 1.0 => format!("{percent:.1} %"),
        p if p >= 0.01 => format!("{percent:.2} %"),
        _ => format!("{percent:.1e} %"),
    }
}

/// A parameter of a sketch.
pub(crate) fn parameter(value: &Parameter) -> String {
    match value {
        Parameter::Count(number) => count(*number),
        Parameter::Ratio(share) => percent(*share),
        Parameter::Number(value) => number(*value),
        Parameter::Name(name) => (*name).into(),
        _ => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_sketch_gives_what_is_certain() {
        let full = |lower| estimate(Estimate::certain(f64::INFINITY, lower, f64::INFINITY));
        assert_eq!(full(1234.5), "at least 1 234");
        assert_eq!(full(f64::INFINITY), "more than it can count");
        assert_eq!(estimate(Estimate::certain(100.0, 90.0, 101.0)), "100 ± 10 %");
    }

    #[test]
    fn numbers_have_the_digits_that_matter() {
        for (value, text) in [
            (1.084, "1.084"),
            (0.0, "0"),
            (-2.5, "-2.5"),
            (1e10, "10 000 000 000"),
            (1234.56, "1 235"),
            (5e76, "5.000e76"),
            (1e-6, "1.000e-6"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn sizes_and_shares_are_short() {
        assert_eq!(count(1_702_788), "1 702 788");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(16 << 10), "16 KiB");
        assert_eq!(bytes(3 << 40), "3.0 TiB");
        assert_eq!(percent(0.0081), "0.81 %");
        assert_eq!(percent(0.95), "95 %");
        assert_eq!(percent(0.015), "1.5 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(1e-6), "1.0e-4 %");
    }
}
