//! Numbers as text for people. Digits are grouped by spaces only on a terminal.

use std::io::IsTerminal as _;
use std::sync::LazyLock;

use crivo::Estimate;
use crivo::codec::Parameter;

/// True if standard output is a terminal, where spaces between digits help people to read.
static GROUPED: LazyLock<bool> = LazyLock::new(|| std::io::stdout().is_terminal());

/// Returns the text of a number, without the spaces between its digits unless it goes to a
/// terminal.
fn shown(number: String) -> String {
    if *GROUPED { number } else { ungrouped(&number) }
}

/// Returns the text without spaces between digits.
fn ungrouped(number: &str) -> String {
    let mut text = String::with_capacity(number.len());
    let mut rest = number.chars().peekable();
    while let Some(c) = rest.next() {
        let joins =
            text.ends_with(|c: char| c.is_ascii_digit()) && rest.peek().is_some_and(char::is_ascii_digit);
        if c != ' ' || !joins {
            text.push(c);
        }
    }
    text
}

/// Formats a count: `1 702 788` on a terminal, `1702788` elsewhere.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    if !*GROUPED {
        return digits;
    }
    let mut text = String::new();
    for (position, digit) in digits.char_indices() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of rows: `1 row`, `2 rows`.
pub(crate) fn rows(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "row" } else { "rows" })
}

/// Formats a number rounded to a whole one.
pub(crate) fn whole(number: f64) -> String {
    shown(Estimate::exact(number.round()).to_string())
}

/// Formats the bounds of an estimate, rounded outwards to whole numbers: `16 to 20`.
pub(crate) fn between(estimate: Estimate) -> String {
    let lower = whole(estimate.lower().floor());
    let upper = estimate.upper();
    if upper.is_finite() { format!("{lower} to {}", whole(upper.ceil())) } else { format!("{lower} or more") }
}

/// Formats an answer: `1 702 788 ± 0.8 %`, or its lower bound if a sketch is full. An exact answer
/// has all its digits.
pub(crate) fn estimate(estimate: Estimate) -> String {
    if estimate.is_exact() && estimate.value().is_finite() {
        exact(estimate.value())
    } else if estimate.upper().is_finite() {
        shown(estimate.to_string())
    } else if estimate.lower().is_finite() {
        format!("at least {}", whole(estimate.lower().floor()))
    } else {
        "more than it can count".into()
    }
}

/// Formats a number of items, which is whole however it was estimated.
pub(crate) fn items(items: Estimate) -> String {
    let Some(confidence) = Some(items.confidence()).filter(|_| items.upper().is_finite()) else {
        return estimate(items);
    };
    let whole = items.value().round();
    estimate(Estimate::probable(whole, items.lower().min(whole), items.upper().max(whole), confidence))
}

/// Formats a number that is known exactly, with all its digits: `426 738.8`.
pub(crate) fn exact(number: f64) -> String {
    let size = number.abs();
    if size >= 1e21 || (size > 0.0 && size < 1e-7) || !number.is_finite() {
        return format!("{number:e}");
    }
    let digits = number.to_string();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let sign = if number < 0.0 { "-" } else { "" };
    let whole = whole.trim_start_matches('-');
    // Below 2^53 every whole number is exact as a float.
    let whole = whole.parse::<u64>().map_or_else(|_| whole.into(), count);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Formats a size in memory: `16 KiB`.
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

/// Formats any number with its significant digits: `1.084`, `10 000 000 000`. A rounded number is
/// marked: `≈ 0.3333`.
pub(crate) fn number(number: f64) -> String {
    let rounded = match number.abs() {
        size if size >= 1e15 || (size > 0.0 && size < 1e-3) => format!("{number:.3e}"),
        size if size >= 1000.0 => format!("{number:.0}"),
        _ => {
            let text = format!("{number:.4}");
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
        }
    };
    match rounded.parse::<f64>() {
        Ok(same) if same == number && number.abs() < 1e15 => exact(number),
        Ok(same) if same == number => rounded,
        Ok(other) if other.abs() >= 1000.0 && other.abs() < 1e15 => format!("≈ {}", exact(other)),
        _ => format!("≈ {rounded}"),
    }
}

/// Formats a share in percent with two significant digits: `0.81 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent.abs() {
        p if p == 0.0 || p >= 10.0 => format!("{percent:.0} %"),
        p if p >= 1.0 => format!("{percent:.1} %"),
        p if p >= 0.1 => format!("{percent:.2} %"),
        p if p >= 1e-6 => {
            // Two significant digits without an exponent, because people do not read exponents
            // easily.
            let places = (1.0 - libm::floor(libm::log10(p))) as usize;
            format!("{percent:.places$} %")
        }
        _ => format!("{percent:.1e} %"),
    }
}

/// Formats a parameter of a sketch.
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
        assert_eq!(full(1234.5), "at least 1234");
        assert_eq!(full(f64::INFINITY), "more than it can count");
        assert_eq!(estimate(Estimate::certain(100.0, 90.0, 101.0)), "100 ± 10 %");
    }

    #[test]
    fn numbers_have_the_digits_that_matter() {
        for (value, text) in [
            (1.084, "1.084"),
            (0.0, "0"),
            (-2.5, "-2.5"),
            (1e10, "10000000000"),
            (1234.56, "≈ 1235"),
            (1234.0, "1234"),
            (0.999_999, "≈ 1"),
            (1.0 / 3.0, "≈ 0.3333"),
            (5e76, "5.000e76"),
            (1e-6, "0.000001"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn exact_numbers_have_all_their_digits() {
        for (value, text) in [
            (426_738.8, "426738.8"),
            (0.999_999, "0.999999"),
            (-1_234_567.25, "-1234567.25"),
            (0.0, "0"),
            (1e300, "1e300"),
            (9_007_199_254_740_993.0, "9007199254740992"),
        ] {
            assert_eq!(exact(value), text);
        }
        assert_eq!(ungrouped("1 702 788 ± 0.8 %"), "1702788 ± 0.8 %");
    }

    #[test]
    fn sizes_and_shares_are_short() {
        assert_eq!(count(1_702_788), "1702788");
        assert_eq!(rows(1), "1 row");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(16 << 10), "16 KiB");
        assert_eq!(bytes(3 << 40), "3.0 TiB");
        assert_eq!(percent(0.0081), "0.81 %");
        assert_eq!(percent(0.95), "95 %");
        assert_eq!(percent(0.015), "1.5 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(1e-6), "0.00010 %");
        assert_eq!(percent(5.2e-4), "0.052 %");
        assert_eq!(percent(1e-9), "1.0e-7 %");
    }
}
