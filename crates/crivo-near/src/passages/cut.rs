//! Removes passages from a text, and leaves every other byte as it is.

use std::ops::Range;

/// The part of a text that is cut for a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Cut {
    /// The words of the passage, and the blanks behind it if there are blanks before it.
    #[default]
    Words,
    /// The sentences that have a word of the passage.
    Sentence,
    /// The paragraphs that have a word of the passage. A paragraph ends at an empty line.
    Paragraph,
    /// The whole document.
    Document,
    /// Nothing.
    None,
}

/// Writes a text without its passages to `out`, replacing the content of `out`. `passages` must
/// ascend and not overlap.
///
/// ```
/// use crivo_near::{Cut, cut};
///
/// let mut left = Vec::new();
/// cut(b"One. A b c. Two.", &[5..10], Cut::Sentence, &mut left);
/// assert_eq!(left, b"One. Two.");
/// ```
pub fn cut(text: &[u8], passages: &[Range<usize>], what: Cut, out: &mut Vec<u8>) {
    out.clear();
    if what == Cut::Document && !passages.is_empty() {
        return;
    }
    let mut copied = 0;
    for passage in passages {
        // The part that was already cut, with a sentence that two passages share, is skipped.
        let passage = passage.start.max(copied)..passage.end.min(text.len());
        if passage.is_empty() {
            continue;
        }
        let range = match what {
            Cut::Words => with_blanks(text, passage),
            Cut::Sentence => sentences(text, &passage, copied),
            Cut::Paragraph => paragraphs(text, &passage, copied),
            Cut::Document | Cut::None => continue,
        };
        out.extend_from_slice(&text[copied..range.start]);
        copied = range.end;
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// Returns a range with the blanks behind it, if there are blanks or nothing before it. Otherwise
/// two words would become one. Line ends behind the range are included only if it begins a line.
fn with_blanks(text: &[u8], range: Range<usize>) -> Range<usize> {
    let before = range.start.checked_sub(1).map_or(b'\n', |at| text[at]);
    if !is_blank(before) {
        return range;
    }
    let goes = |byte: u8| if before == b'\n' { is_blank(byte) } else { matches!(byte, b' ' | b'\t') };
    let blanks = text[range.end..].iter().take_while(|byte| goes(**byte)).count();
    range.start..range.end + blanks
}

/// Returns true if a sentence ends with the character before `at`.
fn ends_sentence(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let is_wide = ["。", "！", "？", "।"].iter().any(|end| before.ends_with(end.as_bytes()));
    if is_wide {
        return true;
    }
    let mut rest = before;
    // Up to four quotes and brackets may close behind the point.
    for _ in 0..4 {
        let [head @ .., b'"' | b'\'' | b')' | b']'] = rest else { break };
        rest = head;
    }
    let has_point = matches!(rest.last(), Some(b'.' | b'!' | b'?'));
    let line_ends = before.ends_with(b"\n\n");
    line_ends || (has_point && text.get(at).is_none_or(|&byte| is_blank(byte)))
}

/// Returns the range from the beginning of the first sentence, or from `least`, to the end of the
/// last, with the blanks behind it.
fn sentences(text: &[u8], passage: &Range<usize>, least: usize) -> Range<usize> {
    let begins = |at: &usize| *at == least || ends_sentence(text, *at);
    let start = (least..=passage.start).rev().find(begins).unwrap_or(least);
    // Blanks before the sentence are kept.
    let start = start + text[start..passage.start].iter().take_while(|byte| is_blank(**byte)).count();
    let end = (passage.end..=text.len()).find(|&at| ends_sentence(text, at)).unwrap_or(text.len());
    with_blanks(text, start..end)
}

/// Returns the range from the line after the last empty line before the passage, or from `least`,
/// to the next empty line, with all its line ends.
fn paragraphs(text: &[u8], passage: &Range<usize>, least: usize) -> Range<usize> {
    let mut start = passage.start;
    while start > least && !is_paragraph_end(&text[..start]) {
        start -= 1;
    }
    let mut end = passage.end;
    while end < text.len() && !is_paragraph_end(&text[..end]) {
        end += 1;
    }
    end += text[end..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    start..end
}

/// Returns true if the text ends with an empty line.
fn is_paragraph_end(text: &[u8]) -> bool {
    text.ends_with(b"\n\n") || text.ends_with(b"\n\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str, passages: &[&str], what: Cut) -> String {
        let mut out = Vec::new();
        let ranges: Vec<_> = passages
            .iter()
            .map(|passage| {
                let start = text.find(passage).unwrap();
                start..start + passage.len()
            })
            .collect();
        cut(text.as_bytes(), &ranges, what, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn words_go_and_every_other_byte_stays() {
        assert_eq!(left("a b  c d", &["b  c"], Cut::Words), "a d");
        assert_eq!(left("a (b c) d", &["b c"], Cut::Words), "a () d");
        assert_eq!(left("b c d", &["b c"], Cut::Words), "d");
        assert_eq!(left("a b c", &["b c"], Cut::Words), "a ");
        assert_eq!(left("a b\nc d", &["b", "c"], Cut::Words), "a \nd");
        assert_eq!(left("a b c", &["b"], Cut::None), "a b c");
        assert_eq!(left("a b c", &["b"], Cut::Document), "");
        assert_eq!(left("a b c", &[], Cut::Document), "a b c");
    }

    #[test]
    fn sentences_and_paragraphs_go_as_a_whole() {
        let text = "First one. Second has it here (really!) and more. Third.\n\nFourth 1.5 it.";
        assert_eq!(left(text, &["has it"], Cut::Sentence), "First one. and more. Third.\n\nFourth 1.5 it.");
        assert_eq!(left(text, &["here", "Third"], Cut::Sentence), "First one. and more. \n\nFourth 1.5 it.");
        assert_eq!(left(text, &["has it"], Cut::Paragraph), "Fourth 1.5 it.");
        assert_eq!(
            left(text, &["1.5"], Cut::Paragraph),
            "First one. Second has it here (really!) and more. Third.\n\n"
        );
        assert_eq!(left("前の文。繰り返し。次の文。", &["繰り返し"], Cut::Sentence), "前の文。次の文。");
    }
}
