//! Shows text from any source safely.
//!
//! The values of a file are not written for a page. They contain tabs and line ends, which vanish,
//! and characters that turn the direction of writing, so that `gpj.exe` may read as `exe.jpg`. One
//! key can be a megabyte long. [`visible`] replaces every invisible character by a visible one.
//! [`shorten`] cuts between characters as people see them (a flag, an accented letter), by their
//! width. Escaping `<` and `&` is left to the templates, which always do it.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The most bytes of a character as people see it, which may have any number of accents. A longer
/// one is cut.
const LONGEST_CHARACTER: usize = 64;

/// Returns the text with all invisible characters shown: `␉`, `␊`, `⟨U+202E⟩`.
///
/// ```
/// assert_eq!(crivo_page::text::visible("a\tb"), "a␉b");
/// assert_eq!(crivo_page::text::visible("photo\u{202e}gpj.exe"), "photo⟨U+202E⟩gpj.exe");
/// assert_eq!(crivo_page::text::visible("שלום 👩‍👩‍👧 naïve"), "שלום 👩‍👩‍👧 naïve");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            // Unicode has a picture of each control character of ASCII.
            '\0'..='\x1f' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\x7f' => shown.push('␡'),
            c if is_invisible(c) => {
                let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Returns the text made [`visible`], and cut with `…` if it is wider than `columns`.
///
/// A column is the width of a Latin letter; Chinese characters and emoji take two.
///
/// ```
/// assert_eq!(crivo_page::text::shorten("short", 10), "short");
/// assert_eq!(crivo_page::text::shorten("a longer text", 8), "a longe…");
/// assert_eq!(crivo_page::text::shorten("漢字漢字漢字", 6), "漢字…");
/// ```
pub fn shorten(text: &str, columns: usize) -> String {
    // To examine the whole of a long text would cost more than to show the part that fits.
    let looked_at = prefix(text, (columns + 2).saturating_mul(LONGEST_CHARACTER));
    let shown = visible(looked_at);
    let mut width = 0;
    let mut end_with_room = 0;
    for (start, character) in shown.grapheme_indices(true) {
        let wide = width_of(character);
        if width + wide > columns || character.len() > LONGEST_CHARACTER {
            return format!("{}…", &shown[..end_with_room]);
        }
        width += wide;
        if width < columns {
            end_with_room = start + character.len();
        }
    }
    if looked_at.len() < text.len() { format!("{}…", &shown[..end_with_room]) } else { shown.into_owned() }
}

/// Shortens a text like [`shorten`], but in the middle. This is for texts that begin alike.
///
/// ```
/// assert_eq!(crivo_page::text::shorten_middle("customer_address_street", 12), "custom…treet");
/// ```
pub fn shorten_middle(text: &str, columns: usize) -> String {
    let whole = shorten(text, columns);
    if !whole.ends_with('…') || columns < 8 {
        return whole;
    }
    let end_columns = columns / 2 - 1;
    let tail = visible(suffix(text, end_columns * LONGEST_CHARACTER)).into_owned();
    let (mut width, mut start) = (0, tail.len());
    for (at, character) in tail.grapheme_indices(true).rev() {
        width += width_of(character);
        if width > end_columns || character.len() > LONGEST_CHARACTER {
            break;
        }
        start = at;
    }
    format!("{}{}", shorten(text, columns - end_columns), &tail[start..])
}

/// Returns the least number of columns that a text takes, at least one for each character.
pub(crate) fn columns(text: &str) -> usize {
    text.graphemes(true).map(width_of).sum()
}

fn width_of(character: &str) -> usize {
    character.width().clamp(1, 2)
}

/// Returns the beginning of a text: whole characters, at most the given number of bytes.
fn prefix(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the end of a text: whole characters, at most the given number of bytes.
fn suffix(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Returns true if a character is invisible, changes others, or is not allowed in a page.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}'
        | '\u{200b}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e001f}')
        || is_no_character(c)
}

/// Returns true if Unicode defines that this will never be a character.
pub(crate) fn is_no_character(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_screen_is_shown() {
        assert_eq!(visible("\u{1b}[31m\r\n\0\u{7f}\u{9b}"), "␛[31m␍␊␀␡⟨U+009B⟩");
        assert_eq!(visible("\u{2066}a\u{2069}\u{feff}\u{ffff}"), "⟨U+2066⟩a⟨U+2069⟩⟨U+FEFF⟩⟨U+FFFF⟩");
    }

    #[test]
    fn cuts_fall_between_characters_as_people_see_them() {
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(shorten(&family.repeat(3), 5), format!("{family}{family}…"));
        assert_eq!(shorten("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcd", 3), "ab…");
        assert_eq!(shorten("abc", 0), "…");
        assert_eq!(shorten("", 0), "");
    }

    #[test]
    fn texts_that_begin_alike_keep_their_ends() {
        assert_eq!(shorten_middle("please leave it with the neighbour", 16), "please l…ighbour");
        assert_eq!(shorten_middle("short", 16), "short");
        assert_eq!(shorten_middle(&"漢".repeat(30), 10), "漢漢…漢漢");
        assert_eq!(shorten_middle(&"x".repeat(1 << 20), 9), "xxxxx…xxx");
    }

    #[test]
    fn long_texts_cost_no_more_than_what_is_shown() {
        let accents = format!("a{}", "\u{301}".repeat(500_000));
        assert_eq!(shorten(&accents, 10), "…");
        assert_eq!(shorten(&"x".repeat(1 << 20), 4), "xxx…");
    }
}
