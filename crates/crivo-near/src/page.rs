//! What a reader sees of an HTML page.

use html5gum::{Token, Tokenizer};

/// Elements whose content nobody reads.
const UNSEEN: [&[u8]; 5] = [b"script", b"style", b"template", b"noscript", b"svg"];

/// Elements inside of a word or a sentence: all others begin and end one.
const INLINE: [&[u8]; 24] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"cite", b"code", b"dfn", b"em", b"font", b"i", b"kbd", b"mark",
    b"q", b"s", b"samp", b"small", b"span", b"strong", b"sub", b"sup", b"u", b"var", b"wbr",
];

/// The text of one page after the other, in a buffer it keeps. Tags become blanks (but those inside of
/// words vanish), entities the characters they stand for; scripts and styles are left out.
///
/// ```
/// use crivo_near::PageText;
///
/// let page = "<title>Caf&eacute;</title><style>p{}</style><p>one <b>wo</b>rd<br>two";
/// let text = String::from_utf8_lossy(PageText::default().of(page.as_bytes())).into_owned();
/// assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["Café", "one", "word", "two"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct PageText {
    text: Vec<u8>,
}

impl PageText {
    /// The text of a page; bytes that are no HTML come back as they are.
    pub fn of(&mut self, page: &[u8]) -> &[u8] {
        self.text.clear();
        // The element whose end is waited for: what it holds is not seen.
        let mut unseen: Option<Vec<u8>> = None;
        // Reading from memory cannot fail, and a page cannot be wrong: there is only tag soup.
        for token in Tokenizer::new(page).map_while(Result::ok) {
            match token {
                Token::StartTag(tag) if unseen.is_none() => {
                    let name: &[u8] = &tag.name;
                    if UNSEEN.contains(&name) && !tag.self_closing {
                        unseen = Some(name.to_vec());
                    }
                    self.separate(name);
                }
                Token::EndTag(tag) => {
                    let name: &[u8] = &tag.name;
                    if unseen.as_deref() == Some(name) {
                        unseen = None;
                    }
                    self.separate(name);
                }
                Token::String(string) if unseen.is_none() => self.text.extend_from_slice(&string),
                _ => {}
            }
        }
        &self.text
    }

    fn separate(&mut self, tag: &[u8]) {
        if !INLINE.contains(&tag) {
            self.text.push(b' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(page: &str) -> String {
        let text = String::from_utf8(PageText::default().of(page.as_bytes()).to_vec()).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn text_is_what_a_reader_sees() {
        assert_eq!(words("<p>one</p><p>two</p>"), "one two");
        assert_eq!(words("a<b>b</b>c &amp; &lt;d&gt; &#233;"), "abc & <d> é");
        assert_eq!(words("<script>if (a < b) alert('x')</script>seen<style>p > b {}</style>"), "seen");
        assert_eq!(words("<!-- not --><!doctype html><td>1<td>2"), "1 2");
        assert_eq!(words("<svg><path d='M0'/></svg>after"), "after");
    }

    #[test]
    fn plain_text_and_broken_tags_are_no_failure() {
        assert_eq!(words("5 < 6 and 7 > 3"), "5 < 6 and 7 > 3");
        assert_eq!(words("<p unclosed"), "");
        assert_eq!(words(""), "");
    }
}
