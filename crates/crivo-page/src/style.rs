//! The style and script that every page holds, and how a page proves that they are its own.
//!
//! A content policy names what may run by the SHA-256 of its text. That text is what the parser of
//! the browser hands on, so [`as_parsed`] gives it the form in which it survives parsing: line ends
//! as `\n`, no control characters, and nothing that would end the element or begin a comment in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::text;

/// Colours, light and dark.
const THEME: &str = include_str!("theme.css");
/// What pictures are drawn with.
const PLOT: &str = include_str!("plot.css");
/// Everything around them.
const PAGE: &str = include_str!("page.css");
/// Tables that sort and search.
const SCRIPT: &str = include_str!("script.js");

/// The style of a picture that is a file of its own. It is XML, in which `&` and `<` are special.
pub(crate) fn for_picture() -> String {
    format!("{THEME}{PLOT}").replace('&', "&amp;").replace('<', "&lt;")
}

pub(crate) fn for_page(extra: &str) -> String {
    as_parsed(&[THEME, PLOT, PAGE, extra].concat())
}

pub(crate) fn script(extra: &str) -> String {
    as_parsed(&[SCRIPT, extra].concat())
}

/// The source of a policy that allows exactly this text.
pub(crate) fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The text as a parser of HTML leaves it inside of `<style>` or `<script>`.
///
/// `<\/` and `<\!` mean the same as `</` and `<!` in the strings of both languages, where alone
/// they can stand.
fn as_parsed(text: &str) -> String {
    let no_place = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || text::is_no_character(c);
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace(no_place, "\u{fffd}");
    text.replace("</", "<\\/").replace("<!", "<\\!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_those_of_the_standard() {
        // The example of CSP level 3, section 6.7.3.
        assert_eq!(
            source("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(as_parsed("a\r\nb\r\0</script><!--"), "a\nb\n\u{fffd}<\\/script><\\!--");
    }

    #[test]
    fn own_style_and_script_need_no_change() {
        for text in [THEME, PLOT, PAGE, SCRIPT] {
            assert_eq!(as_parsed(text), text);
        }
    }
}
