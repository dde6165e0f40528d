//! Extracts the text of an HTML page that a reader sees.
//!
//! [`PageText`] splits a page into tags and text with a tokenizer that follows the standard
//! (`tokens`), and returns the text. `shown` tracks the open elements, and `style` reads their
//! styles, so that text that is hidden from a reader can be left out.

#![forbid(unsafe_code)]

mod colour;
mod shown;
mod style;
mod tokens;

use html5gum::Token;

use crate::shown::Shown;
use crate::tokens::Tokens;

/// Elements whose content is not shown as text. Frames and embedded pages have content for programs
/// that cannot show them.
const UNSEEN: [&[u8]; 8] =
    [b"script", b"style", b"template", b"noscript", b"svg", b"iframe", b"noembed", b"noframes"];

/// Elements inside a word or a sentence. All other elements separate words.
const INLINE: [&[u8]; 24] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"cite", b"code", b"dfn", b"em", b"font", b"i", b"kbd", b"mark",
    b"q", b"s", b"samp", b"small", b"span", b"strong", b"sub", b"sup", b"u", b"var", b"wbr",
];

/// Extracts the text of one page after the other, into a buffer that is reused. Tags become blanks,
/// except those inside words, which are removed. Entities become the characters they represent.
/// Scripts and styles are left out.
///
/// ```
/// use crivo_html::PageText;
///
/// let page = "<title>Caf&eacute;</title><style>p{}</style><p>one <b>wo</b>rd<br>two";
/// let text = String::from_utf8_lossy(PageText::default().of(page.as_bytes())).into_owned();
/// assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["Café", "one", "word", "two"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct PageText {
    text: Vec<u8>,
    shown: Option<Shown>,
}

impl PageText {
    /// Creates a reader of the text that a mail program shows: without the title, and without text
    /// that styles hide.
    ///
    /// ```
    /// use crivo_html::PageText;
    ///
    /// let mut page = PageText::as_shown();
    /// let text = page.of(b"<p>seen<p style='display:none'>unseen<p>seen too");
    /// assert_eq!(text, b" seen  seen too");
    /// assert_eq!(page.hidden(), 6);
    /// ```
    pub fn as_shown() -> Self {
        Self { text: Vec::new(), shown: Some(Shown::default()) }
    }

    /// Returns the number of bytes of hidden text in the last page that was read, not counting
    /// blanks. Returns 0 unless the reader was made by [`as_shown`](Self::as_shown).
    pub fn hidden(&self) -> usize {
        self.shown.as_ref().map_or(0, |shown| shown.hidden)
    }

    /// Returns the text of a page. Bytes without tags are returned unchanged.
    pub fn of(&mut self, page: &[u8]) -> &[u8] {
        self.text.clear();
        if let Some(shown) = &mut self.shown {
            shown.clear();
            read_sheets(page, shown);
        }
        // The name of the open unseen element. Its content is skipped up to its end tag.
        let mut unseen: Option<Vec<u8>> = None;
        for token in Tokens::of(page) {
            match token {
                Token::StartTag(tag) if unseen.is_none() => {
                    let name: &[u8] = &tag.name;
                    if UNSEEN.contains(&name) {
                        // Of these elements, only a drawing can be empty without an end tag.
                        if !(tag.self_closing && name == b"svg") {
                            unseen = Some(name.to_vec());
                        }
                    } else if let Some(shown) = &mut self.shown {
                        shown.start(&tag);
                    }
                    self.separate(name);
                }
                Token::EndTag(tag) => {
                    let name: &[u8] = &tag.name;
                    match (&unseen, &mut self.shown) {
                        (Some(waited_for), _) if waited_for == name => unseen = None,
                        (None, Some(shown)) => shown.end(name),
                        _ => {}
                    }
                    self.separate(name);
                }
                Token::String(string) if unseen.is_none() => match &mut self.shown {
                    Some(shown) if shown.is_hidden() => {
                        shown.hidden += string.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
                    }
                    _ => self.text.extend_from_slice(&string),
                },
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

/// Reads a page's style sheets, which also apply to elements before them.
fn read_sheets(page: &[u8], shown: &mut Shown) {
    if !page.windows(6).any(|tag| tag.eq_ignore_ascii_case(b"<style")) {
        return;
    }
    let mut inside = false;
    for token in Tokens::of(page) {
        match token {
            Token::StartTag(tag) => inside = **tag.name == *b"style",
            Token::EndTag(_) => inside = false,
            Token::String(sheet) if inside => shown.sheet.read(&String::from_utf8_lossy(&sheet)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
    fn tags_and_comments_inside_scripts_and_styles_are_no_tags_of_the_page() {
        for page in [
            "<style><!--</style><p>seen",
            "<style>p{} <a href='</style><p>seen",
            "<script>s = \"<a href='\";</script><p>seen",
            "<script>s = '<style>'</script><p>seen",
            "<script><!-- s = '<script></script>' --></script><p>seen",
            "<script src=x/>not</script>seen",
            "<noscript><!--</noscript>seen",
            "<iframe><!-- <p>not</iframe>seen",
            "<noframes><p>not</noframes>seen",
            "<template><style></template></style>not</template>seen",
            "<svg><title/><style/><script/></svg>seen",
            "<svg/>seen",
        ] {
            assert_eq!(words(page), "seen", "{page}");
            assert_eq!(shown(page), "seen", "{page}");
        }
        assert_eq!(shown("<title><!-- <p></title>seen"), "seen");
        assert_eq!(words("<textarea><p>a &amp; b</textarea>"), "<p>a & b");
        assert_eq!(words("<xmp><p>a &amp; b</xmp> c"), "<p>a &amp; b c");
        assert_eq!(words("<plaintext>a</plaintext>"), "a</plaintext>");
    }

    #[test]
    fn style_sheets_in_comments_for_old_programs_count() {
        assert_eq!(shown("<style><!-- .x{display:none} --></style><i class=x>not</i>seen"), "seen");
        assert_eq!(shown("<style>.x > b{} .y{display:none}</style><i class=y>not</i>seen"), "seen");
        assert_eq!(shown("<script>'<style>.x{display:none}'</script><i class=x>seen</i>"), "seen");
    }

    #[test]
    fn plain_text_and_broken_tags_are_no_failure() {
        assert_eq!(words("5 < 6 and 7 > 3"), "5 < 6 and 7 > 3");
        assert_eq!(words("<p unclosed"), "");
        assert_eq!(words(""), "");
    }

    fn shown(page: &str) -> String {
        let text = String::from_utf8(PageText::as_shown().of(page.as_bytes()).to_vec()).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn hidden_text_is_left_out_where_readers_do_not_see_it() {
        for page in [
            "<title>not</title>seen",
            "<div style='display:none'>not <b>not</b><div>not</div> not</div>seen",
            "<div hidden>not</div>seen",
            "<span style=\"font-size:0px\">not</span>seen",
            "<font color=#FFFFFF>not</font>seen",
            "<table bgcolor=red><td><font color=red>not</font></table>seen",
            "<p style=color:white>not <a href=x style=color:white>not</a><p>seen",
            "<style>.h{display:none}</style><i class='x h'>not</i>seen",
            "<i class=h>not</i>seen<style>.h{visibility:hidden}</style>",
            "<span style='display:none'><div></span>not</div></span>seen",
            "<ul><li hidden>not<li>seen</ul>",
            "<table><tr><td hidden>not<td>seen</table>",
            "<div><p hidden>not</div>seen",
            "<font style='display:none'>not</font><p>seen",
            "<p><font color=white>not<p>not</font>seen",
            "<div style='opacity:0'>not<br>not</div><img hidden>seen",
        ] {
            assert_eq!(shown(page), "seen", "{page}");
            assert_ne!(words(page), "seen", "{page}");
        }
    }

    #[test]
    fn text_that_is_shown_again_further_in_counts() {
        for page in [
            "<td style='font-size:0px'><div style='font-size:13px'>seen</div></td>",
            "<div style='visibility:hidden'><p style='visibility:visible'>seen</p></div>",
            "<div style='color:white'><p style='background:black'>seen</p></div>",
            "<table bgcolor='#000000'><tr><td><font color='white'>seen</font></table>",
            "<body background=night.png text=white>seen",
            "<p style='color:#fff'><a href=x>seen</a></p>",
            "<style>body{background:#111;color:#eee}</style><body>seen",
            "<style>.x{display:block !important}</style><p class=x style='display:none'>seen",
            "<p style='display:none'><p>seen",
            "<font color=white><p style='background:#00f'></font>seen</p>",
        ] {
            assert_eq!(shown(page), "seen", "{page}");
        }
    }

    #[test]
    fn text_without_styles_is_the_same_whether_all_counts_or_what_is_shown() {
        for page in
            ["<p>one</p>two", "5 < 6 and 7 > 3", "", "<p unclosed", "</p></div></table>x", "<td>1<td>2"]
        {
            assert_eq!(shown(page), words(page));
        }
        let unended = "<p><font color=red><b><a href=x>x".repeat(1000) + "<p hidden>not";
        assert_eq!(shown(&unended), ["x"; 1000].join(" "));
        let deep = "<div>".repeat(100_000) + "x" + &"</div>".repeat(100_000) + "<p hidden>not";
        assert_eq!(shown(&deep), "x");
    }

    proptest! {
        #[test]
        fn every_letter_of_a_page_is_shown_or_hidden(parts in prop::collection::vec(prop::sample::select(vec![
            "<p>", "</p>", "<p hidden>", "<div>", "</div>", "<div style='display:none'>", "<font color=white>",
            "</font>", "<b>", "</b>", "<a href=x>", "</a>", "<table>", "</table>", "<tr>", "<td bgcolor=black>", "<td>",
            "<span style='font-size:0'>", "</span>", "<style>.h{color:#fff}", "</style>", "<i class=h>", "</i>", "<br>",
            "<body text=white>", "</body>", "<title>", "</title>", "<svg>", "</svg>", "<li>", "<ul>", "x", "yz ", "<", "é",
        ]), 0..60)) {
            let page = parts.concat();
            let letters = |text: &[u8]| text.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
            let mut shown = PageText::as_shown();
            let seen = letters(shown.of(page.as_bytes()));
            prop_assert_eq!(seen + shown.hidden(), letters(PageText::default().of(page.as_bytes())));
        }
    }
}
