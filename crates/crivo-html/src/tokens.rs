//! Splits a page into tags and text.
//!
//! Inside some elements, tags and comments are text: a script may contain `"<p>"`, and a style sheet
//! may begin with `<!--`. The tokenizer leaves that to its caller, so this module tells it which
//! element begins. Inside a drawing (`<svg>`), elements of the same names have no such content.

use html5gum::{State, StringReader, Token, Tokenizer};

/// The tags and texts of a page.
pub(crate) struct Tokens<'a> {
    tokenizer: Tokenizer<StringReader<'a>>,
    in_drawing: bool,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of(page: &'a [u8]) -> Self {
        Self { tokenizer: Tokenizer::new(page), in_drawing: false }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        // Reading from memory cannot fail, and the tokenizer accepts any page.
        let token = self.tokenizer.next()?.ok()?;
        match &token {
            Token::StartTag(tag) if **tag.name == *b"svg" => self.in_drawing |= !tag.self_closing,
            Token::StartTag(tag) if !self.in_drawing => {
                if let Some(state) = state_inside(&tag.name) {
                    self.tokenizer.set_state(state);
                }
            }
            Token::EndTag(tag) if **tag.name == *b"svg" => self.in_drawing = false,
            _ => {}
        }
        Some(token)
    }
}

/// Returns how the content of an element is read, if it differs from other elements. Such elements
/// end with their end tag alone, even if their start tag ends with `/>`.
fn state_inside(element: &[u8]) -> Option<State> {
    match element {
        b"title" | b"textarea" => Some(State::RcData),
        b"script" => Some(State::ScriptData),
        b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" | b"noscript" => Some(State::RawText),
        b"plaintext" => Some(State::PlainText),
        _ => None,
    }
}
