//! The style and script of every page, and the hashes by which its policy allows them.
//!
//! A content policy allows a script or style by the SHA-256 of its text. The browser hashes the
//! text that its parser returns. So [`as_parsed`] converts the text to a form that parsing does not
//! change: line ends as `\n`, no control characters, and nothing that would end the element or
//! begin a comment in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::text;

/// The colours, light and dark.
const THEME: &str = include_str!("theme.css");
/// The style of pictures.
const PLOT: &str = include_str!("plot.css");
/// The style of everything else.
const PAGE: &str = include_str!("page.css");
/// The script of tables, which sorts and searches.
const SCRIPT: &str = include_str!("script.js");

/// Returns the style for a picture that is a file of its own. Such a file is XML, so `&` and `<`
/// are escaped.
pub(crate) fn for_picture() -> String {
    format!("{THEME}{PLOT}").replace('&', "&amp;").replace('<', "&lt;")
}

pub(crate) fn for_page(extra: &str) -> String {
    as_parsed(&[THEME, PLOT, PAGE, extra].concat())
}

pub(crate) fn script(extra: &str) -> String {
    as_parsed(&[SCRIPT, extra].concat())
}

/// Returns the source expression of a policy that allows exactly this text.
pub(crate) fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// Returns the text that an HTML parser finds inside of `<style>` or `<script>`.
///
/// `<\/` and `<\!` mean the same as `</` and `<!` in strings, and these can occur only in strings
/// of both languages.
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
