//! Finds the text of a page that is hidden from the reader.
//!
//! A style applies to everything inside its element, so the open elements have to be known. Real
//! pages leave many end tags out. A paragraph ends where the next one begins, a cell at the next
//! cell, and an end tag closes the elements that were left open inside. This module follows the
//! standard's rules for building trees as far as they decide the nesting of elements. Formatting
//! elements (`<font>`, `<b>`) continue after the end of a block that contains them.

use html5gum::StartTag;

use crate::colour::{Paint, paint};
use crate::style::{Declared, Look, Sheet};

/// The depth to which nested elements are tracked. Browsers have such a limit too.
const DEPTH: usize = 256;

/// Elements without an end tag.
const VOID: [&[u8]; 17] = [
    b"area",
    b"base",
    b"basefont",
    b"bgsound",
    b"br",
    b"col",
    b"embed",
    b"frame",
    b"hr",
    b"img",
    b"input",
    b"link",
    b"meta",
    b"param",
    b"source",
    b"track",
    b"wbr",
];

/// Elements that a page has once, however many tags there are.
const OF_PAGE: [&[u8]; 3] = [b"html", b"head", b"body"];

/// Elements that mail programs do not show.
const UNSEEN: [&[u8]; 4] = [b"title", b"datalist", b"audio", b"video"];

const FORMATTING: [&[u8]; 14] = [
    b"a", b"b", b"big", b"code", b"em", b"font", b"i", b"nobr", b"s", b"small", b"strike", b"strong", b"tt",
    b"u",
];

/// Elements that end a paragraph. End tags of inline elements do not close them.
const BLOCKS: [&[u8]; 35] = [
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"center",
    b"dd",
    b"details",
    b"dialog",
    b"dir",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"header",
    b"li",
    b"main",
    b"menu",
    b"nav",
    b"ol",
    b"p",
    b"pre",
    b"section",
    b"summary",
    b"table",
    b"ul",
];

/// Elements that are not closed by tags inside them.
const ENCLOSING: [&[u8]; 4] = [b"table", b"td", b"th", b"caption"];

/// Parts of tables.
const OF_TABLES: [&[u8]; 6] = [b"td", b"th", b"tr", b"tbody", b"thead", b"tfoot"];

/// The open elements, and how text inside them looks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    pub(crate) sheet: Sheet,
    open: Vec<Open>,
    /// The number of open elements below the tracked depth.
    deeper: usize,
    /// The number of bytes of hidden text.
    pub(crate) hidden: usize,
}

#[derive(Debug, Clone)]
struct Open {
    name: Vec<u8>,
    own: Declared,
    look: Look,
}

impl Shown {
    /// Begins a page.
    pub(crate) fn clear(&mut self) {
        self.sheet.clear();
        self.open.clear();
        self.deeper = 0;
        self.hidden = 0;
    }

    /// Returns true if text at this place is hidden.
    pub(crate) fn is_hidden(&self) -> bool {
        self.look().is_hidden()
    }

    fn look(&self) -> Look {
        self.open.last().map_or(Look::OF_PAGE, |open| open.look)
    }

    /// Handles the start tag of an element.
    pub(crate) fn start(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        let of_page = OF_PAGE.contains(&name);
        if !of_page {
            self.end_implied(name);
        }
        if VOID.contains(&name) || name == b"head" {
            return;
        }
        if self.open.len() >= DEPTH {
            self.deeper += 1;
            return;
        }
        let own = self.declared(tag);
        let look = self.look().inside(&own);
        self.open.push(Open { name: name.to_vec(), own, look });
    }

    /// Handles the end tag of an element.
    pub(crate) fn end(&mut self, name: &[u8]) {
        // Text after the end of the body is still in the body.
        if OF_PAGE.contains(&name) {
            return;
        }
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if FORMATTING.contains(&name) {
            if let Some(at) = self.find(&[name], |outer| matches!(outer, b"td" | b"th" | b"caption")) {
                self.open.remove(at);
                self.look_again(at);
            }
        } else if name == b"table" {
            self.close(&[name], &[]);
        } else if OF_TABLES.contains(&name) {
            self.close(&[name], &[b"table"]);
        } else if BLOCKS.contains(&name) {
            self.close(&[name], &ENCLOSING);
        } else {
            self.close_unless(&[name], |outer| BLOCKS.contains(&outer) || ENCLOSING.contains(&outer));
        }
    }

    /// Closes the elements that end implicitly where an element begins.
    fn end_implied(&mut self, name: &[u8]) {
        match name {
            b"td" | b"th" => self.close(&[b"td", b"th", b"caption"], &[b"tr", b"table"]),
            b"tr" => self.close(&[b"tr", b"caption"], &[b"table"]),
            b"tbody" | b"thead" | b"tfoot" => {
                self.close(&[b"tbody", b"thead", b"tfoot", b"caption"], &[b"table"]);
            }
            b"a" => self.end(name),
            b"option" => self.close(&[b"option"], &[b"select"]),
            b"li" => self.close(&[b"li"], &[b"ul", b"ol", b"menu", b"table", b"td", b"th"]),
            b"dt" | b"dd" => self.close(&[b"dt", b"dd"], &[b"dl", b"table", b"td", b"th"]),
            _ => {}
        }
        if BLOCKS.contains(&name) || name == b"hr" {
            self.close(&[b"p"], &ENCLOSING);
        }
    }

    /// Returns the position of the innermost open element with one of these names. Returns `None`
    /// if a barrier is inside it.
    fn find(&self, names: &[&[u8]], is_barrier: impl Fn(&[u8]) -> bool) -> Option<usize> {
        for (at, open) in self.open.iter().enumerate().rev() {
            if names.contains(&open.name.as_slice()) {
                return Some(at);
            }
            if is_barrier(&open.name) {
                return None;
            }
        }
        None
    }

    fn close(&mut self, names: &[&[u8]], barriers: &[&[u8]]) {
        self.close_unless(names, |outer| barriers.contains(&outer));
    }

    /// Closes the innermost open element with one of these names and the elements inside it, unless
    /// a barrier is inside it.
    fn close_unless(&mut self, names: &[&[u8]], is_barrier: impl Fn(&[u8]) -> bool) {
        let Some(at) = self.find(names, is_barrier) else { return };
        let closed = self.open.split_off(at);
        let ends_formatting = closed
            .first()
            .is_some_and(|open| OF_TABLES.contains(&&*open.name) || ENCLOSING.contains(&&*open.name));
        if !ends_formatting {
            let formatting = closed.into_iter().skip(1).filter(|open| FORMATTING.contains(&&*open.name));
            // Formatting elements that change nothing, or repeat the last one, are dropped. In much
            // mail they never end.
            for open in formatting.filter(|open| open.own != Declared::default()) {
                if self.open.last().is_none_or(|last| (&last.name, &last.own) != (&open.name, &open.own)) {
                    self.open.push(open);
                }
            }
        }
        self.look_again(at);
    }

    /// Computes again how text looks in the open elements from position `from` on.
    fn look_again(&mut self, from: usize) {
        let outer = from.checked_sub(1).and_then(|at| self.open.get(at));
        let mut look = outer.map_or(Look::OF_PAGE, |open| open.look);
        for open in self.open.iter_mut().skip(from) {
            look = look.inside(&open.own);
            open.look = look;
        }
    }

    /// Returns all declarations of an element. Its own style overrides rules, and `!important`
    /// declarations override both.
    fn declared(&self, tag: &StartTag<()>) -> Declared {
        let name: &[u8] = &tag.name;
        let attribute = |name: &[u8]| tag.attributes.get(name).map(|value| value.value.as_slice());
        let text =
            |name: &[u8]| attribute(name).map(|value| String::from_utf8_lossy(value).to_ascii_lowercase());
        let mut own = Declared::default();
        if UNSEEN.contains(&name) || attribute(b"hidden").is_some() {
            own.displayed = Some(false);
        }
        if name == b"a" && attribute(b"href").is_some() {
            own.ink = Some(Paint::Colour([0, 0, 238]));
        }
        let ink = if name == b"body" { text(b"text") } else { text(b"color") };
        own.ink = ink.and_then(|ink| paint(&ink)).or(own.ink);
        own.ground = text(b"bgcolor").and_then(|ground| paint(&ground));
        if attribute(b"background").is_some() {
            own.ground = Some(Paint::Unknown);
        }
        let classes = attribute(b"class").unwrap_or_default();
        let (rules, insisted) = self.sheet.about(name, classes, attribute(b"id").unwrap_or_default());
        let (style, strongest) = text(b"style").map(|style| Declared::parse(&style)).unwrap_or_default();
        strongest.over(insisted).over(style).over(rules).over(own)
    }
}
