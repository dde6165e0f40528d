//! Any bytes are a page: every letter of its text is shown or hidden, and reading it twice gives
//! the same.

use crivo_html::PageText;

fn letters(text: &[u8]) -> usize {
    text.iter().filter(|byte| !byte.is_ascii_whitespace()).count()
}

/// Checks the promise for one input.
pub fn check(page: &[u8]) {
    let (mut all, mut shown) = (PageText::default(), PageText::as_shown());
    let total = letters(all.of(page));
    let seen = shown.of(page).to_vec();
    assert_eq!(letters(&seen) + shown.hidden(), total);
    assert_eq!(all.hidden(), 0);
    // The reader is reused for every page, so nothing of the last one may stay.
    shown.of(b"<style>p{display:none}</style><table><td hidden>");
    assert_eq!(shown.of(page), seen);
}
