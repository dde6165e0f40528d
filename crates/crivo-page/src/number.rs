//! Formats numbers so that they can be read at a glance.
//!
//! There are three ways, for three places: [`short`] on axes and beside bars, where a glance must
//! be enough (`12.3k`); [`grouped`] in tables, where digits are compared (`12 345`); [`percent`]
//! for shares. All of them accept any number: infinite ones are `∞`, NaN is `–`.

/// The space between groups of three digits, which is narrow and prevents a line break.
const GROUP: char = '\u{202f}';
/// Units of a thousand, a million, and so on.
const UNITS: [(&str, f64); 6] = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15), ("E", 1e18)];

/// Formats a number with three significant digits and a unit: `1234`, `12.3k`, `1M`, `0.00123`,
/// `1.5e-7`.
///
/// ```
/// use crivo_page::number::short;
/// assert_eq!([short(10_000.0), short(1_234_567.0), short(0.5)], ["10k", "1.23M", "0.5"]);
/// ```
pub fn short(value: f64) -> String {
    let Some(size) = size_or_word(value) else { return word(value).into() };
    if size < 9_999.5 && value == value.trunc() {
        return format!("{}", value + 0.0);
    }
    if !(1e-4..9.995e20).contains(&size) {
        return scientific(value, 2);
    }
    let (unit, scale) = unit(size * 1.000_5);
    let scaled = value / scale;
    let before_point = scaled.abs().log10().floor() as i32;
    format!("{}{unit}", trimmed(format!("{scaled:.*}", (2 - before_point).clamp(0, 12) as usize)))
}

/// Formats a number in groups of three digits. Below 10,000 it has up to four digits after the
/// point.
///
/// ```
/// assert_eq!(crivo_page::number::grouped(1_702_788.0), "1\u{202f}702\u{202f}788");
/// assert_eq!(crivo_page::number::grouped(2.5), "2.5");
/// ```
pub fn grouped(value: f64) -> String {
    let Some(size) = size_or_word(value) else { return word(value).into() };
    if size >= 1e15 || (size > 0.0 && size < 1e-4) {
        return scientific(value, 3);
    }
    let decimals = if size >= 10_000.0 { 0 } else { 4 };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = format!("{sign}{}", in_groups(digits));
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

/// Formats a whole number of any size in groups of three digits.
pub fn whole(value: impl Into<i128>) -> String {
    let value = value.into();
    let digits = in_groups(&value.unsigned_abs().to_string());
    if value < 0 { format!("-{digits}") } else { digits }
}

/// Inserts the spaces. Four digits have none, because they are readable without, and years look odd
/// with one.
fn in_groups(digits: &str) -> String {
    let mut grouped = String::with_capacity(2 * digits.len());
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digits.len() > 4 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(GROUP);
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a share in percent, with two significant digits: `12 %`, `0.81 %`.
///
/// ```
/// assert_eq!(crivo_page::number::percent(0.0081), "0.81\u{a0}%");
/// ```
pub fn percent(share: f64) -> String {
    let Some(size) = size_or_word(share) else { return word(share).into() };
    let percent = 100.0 * share;
    let text = match 100.0 * size {
        0.0 => "0".into(),
        size if !(1e-4..1e6).contains(&size) => scientific(percent, 1),
        // A share just below the whole must not be shown as the whole.
        size if (99.5..100.0).contains(&size) => format!("{:.2}", (percent * 100.0).trunc() / 100.0),
        size if size >= 9.95 => format!("{percent:.0}"),
        size => {
            let before_point = size.log10().floor() as i32;
            trimmed(format!("{percent:.*}", (1 - before_point).clamp(0, 8) as usize))
        }
    };
    format!("{text}\u{a0}%")
}

/// Formats the number in full. A program that reads it back, also in JavaScript, gets an equal
/// number.
///
/// ```
/// assert_eq!(crivo_page::number::exact(0.1), "0.1");
/// ```
pub fn exact(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    let size = value.abs();
    // Many zeros would only take space.
    if size >= 1e21 || (size > 0.0 && size < 1e-6) {
        format!("{value:e}")
    } else {
        format!("{}", value + 0.0)
    }
}

/// Formats a number on an axis whose marks are `step` apart, with as many digits as distinguish
/// neighbours.
pub(crate) fn on_axis(value: f64, step: f64, largest: f64) -> String {
    let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
    let largest = largest.abs();
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e21).contains(&largest) {
        let digits = (value.abs().log10().floor() - step.log10().floor()).clamp(0.0, 12.0);
        return scientific(value, digits as usize);
    }
    let (unit, scale) = if largest < 10_000.0 { ("", 1.0) } else { unit(largest) };
    // The small term prevents that rounding gives one digit more.
    let decimals = (-(step / scale).log10() - 1e-9).ceil().clamp(0.0, 12.0);
    format!("{}{unit}", trimmed(format!("{:.*}", decimals as usize, value / scale)))
}

/// Returns the largest unit that is not above `size`.
fn unit(size: f64) -> (&'static str, f64) {
    UNITS.into_iter().rev().find(|&(_, scale)| size >= scale).unwrap_or(("", 1.0))
}

fn scientific(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits.into())),
        None => text,
    }
}

/// Removes zeros at the end of the decimals.
fn trimmed(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".into() } else { short.into() }
}

fn size_or_word(value: f64) -> Option<f64> {
    value.is_finite().then(|| value.abs())
}

fn word(value: f64) -> &'static str {
    if value == f64::INFINITY {
        "∞"
    } else if value == f64::NEG_INFINITY {
        "-∞"
    } else {
        "–"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_have_three_digits_and_a_unit() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (7.0, "7"),
            (9_999.0, "9999"),
            (10_000.0, "10k"),
            (12_345.0, "12.3k"),
            (999_999.0, "1M"),
            (1e6, "1M"),
            (-2.5e9, "-2.5G"),
            (1e21, "1e21"),
            (0.001_234_5, "0.00123"),
            (1.5e-7, "1.5e-7"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(short(value), text, "{value}");
        }
    }

    #[test]
    fn grouped_numbers_keep_their_digits() {
        for (value, text) in [
            (0.0, "0"),
            (999.0, "999"),
            (1_000.0, "1000"),
            (10_000.0, "10 000"),
            (-1_234_567.0, "-1 234 567"),
            (1_234.567_8, "1234.5678"),
            (0.1, "0.1"),
            (1e16, "1e16"),
        ] {
            assert_eq!(grouped(value).replace(GROUP, " "), text, "{value}");
        }
        assert_eq!(whole(i64::MIN).replace(GROUP, " "), "-9 223 372 036 854 775 808");
        assert_eq!(whole(2024), "2024");
    }

    #[test]
    fn shares_have_two_digits_and_never_round_to_all() {
        for (share, text) in [
            (0.0, "0"),
            (1.0, "100"),
            (0.9999, "99.99"),
            (0.5, "50"),
            (0.0123, "1.2"),
            (0.001, "0.1"),
            (2.0, "200"),
        ] {
            assert_eq!(percent(share), format!("{text}\u{a0}%"), "{share}");
        }
    }

    #[test]
    fn exact_numbers_are_read_back_equal() {
        for value in [0.1, 1.0 / 3.0, 1e300, 5e-324, f64::MAX, -2.5, u64::MAX as f64] {
            assert_eq!(exact(value).parse::<f64>().unwrap(), value);
        }
        assert_eq!([exact(f64::INFINITY), exact(f64::NAN), exact(1e300)], ["Infinity", "NaN", "1e300"]);
    }

    #[test]
    fn marks_of_an_axis_differ() {
        assert_eq!(on_axis(12_500.0, 500.0, 14_000.0), "12.5k");
        assert_eq!(on_axis(10_000.0, 5_000.0, 20_000.0), "10k");
        assert_eq!(on_axis(1_000_001.0, 1.0, 1_000_004.0), "1.000001M");
        assert_eq!(on_axis(2e-5, 1e-5, 5e-5), "2e-5");
        assert_eq!(on_axis(0.1 + 0.2, 0.1, 1.0), "0.3");
    }
}
