//! Colours in CSS, and whether letters can be seen on their background.

use crate::style::number;

/// The greatest difference in red, green and blue at which two colours look the same.
const SAME_COLOUR: u8 = 20;

/// The colour of letters or of their background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Colour([u8; 3]),
    Transparent,
    /// An image, or a colour that is not known here.
    Unknown,
}

impl Paint {
    /// Returns true if letters of this colour cannot be seen on a background.
    pub(crate) fn vanishes_on(self, ground: Self) -> bool {
        match (self, ground) {
            (Self::Colour(ink), Self::Colour(ground)) => {
                ink.iter().zip(&ground).all(|(one, other)| one.abs_diff(*other) <= SAME_COLOUR)
            }
            (ink, _) => ink == Self::Transparent,
        }
    }
}

/// Returns the background colour of a `background` value, or `None` if that of the enclosing
/// element is kept.
pub(crate) fn ground(value: &str) -> Option<Paint> {
    if value.contains("url(") || value.contains("gradient") {
        return Some(Paint::Unknown);
    }
    if let Some(at) = value.find("rgb") {
        return paint(&value[at..]);
    }
    let is_place = |word: &str| {
        number(word).is_some()
            || matches!(word, "none" | "no-repeat" | "repeat" | "scroll" | "center" | "top" | "left")
    };
    value.split_whitespace().find(|word| !is_place(word)).and_then(paint)
}

/// Returns the colour of a value, or `None` if that of the enclosing element is kept.
pub(crate) fn paint(value: &str) -> Option<Paint> {
    let value = value.trim();
    if let Some(inside) = value.strip_prefix("rgba(").or_else(|| value.strip_prefix("rgb(")) {
        let inside = inside.split(')').next().unwrap_or_default();
        let numbers: Vec<Option<(f32, &str)>> =
            inside.split([',', ' ', '/']).filter(|word| !word.is_empty()).map(number).collect();
        return Some(match numbers[..] {
            [_, _, _, Some((0.0, _))] => Paint::Transparent,
            [Some(red), Some(green), Some(blue), ..] => {
                let part = |(part, unit): (f32, &str)| if unit == "%" { part * 2.55 } else { part };
                Paint::Colour([red, green, blue].map(|colour| part(colour) as u8))
            }
            _ => Paint::Unknown,
        });
    }
    let known = match value {
        "inherit" | "currentcolor" | "initial" | "unset" | "" => return None,
        "transparent" => return Some(Paint::Transparent),
        "white" => "ffffff",
        "snow" | "ivory" | "ghostwhite" | "floralwhite" | "mintcream" | "azure" => "fcfcfc",
        "whitesmoke" | "seashell" | "aliceblue" | "honeydew" => "f5f5f5",
        "black" => "000000",
        "red" => "ff0000",
        "blue" => "0000ff",
        "green" => "008000",
        "yellow" => "ffff00",
        "navy" => "000080",
        "gray" | "grey" => "808080",
        _ => value.strip_prefix('#').unwrap_or(value),
    };
    Some(hexadecimal(known).unwrap_or(Paint::Unknown))
}

fn hexadecimal(digits: &str) -> Option<Paint> {
    let digits: Vec<u8> =
        digits.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    match digits[..] {
        [red, green, blue] | [red, green, blue, _] => {
            Some(Paint::Colour([red, green, blue].map(|digit| digit * 17)))
        }
        [a, b, c, d, e, f] | [a, b, c, d, e, f, _, _] => {
            Some(Paint::Colour([[a, b], [c, d], [e, f]].map(|[high, low]| high * 16 + low)))
        }
        _ => None,
    }
}
