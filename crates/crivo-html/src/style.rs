//! Reads from styles whether text can be read.
//!
//! Of CSS, this reads the properties that hide text or show it again: `display`, `visibility`, the
//! size of letters, `opacity`, boxes without a height that clip, boxes far outside the page, and
//! letters in the colour of their background. Rules of a page's style sheets count if they are for
//! an element, a class or an id alone. Rules that depend on the position of an element or on the
//! screen do not count, because their effect is not known here.

use xxhash_rust::xxh3::xxh3_64;

use crate::colour::{Paint, ground, paint};

/// The most rules of a page that are read.
const RULES: usize = 256;

/// The size in pixels up to which letters cannot be read.
const TINY: f32 = 2.0;

/// The left or top position in pixels up to which a box is outside the page.
const OUTSIDE: f32 = -999.0;

/// The declarations of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Declared {
    pub(crate) displayed: Option<bool>,
    visible: Option<bool>,
    legible: Option<bool>,
    opaque: Option<bool>,
    flat: Option<bool>,
    clips: Option<bool>,
    placed: Option<bool>,
    outside: Option<bool>,
    away: Option<bool>,
    pub(crate) ink: Option<Paint>,
    pub(crate) ground: Option<Paint>,
}

/// How text inside an element looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// True if the text is hidden whatever elements further inside declare.
    gone: bool,
    visible: bool,
    legible: bool,
    ink: Paint,
    ground: Paint,
}

impl Look {
    /// The look of a page without styles: black on white.
    pub(crate) const OF_PAGE: Self = Self {
        gone: false,
        visible: true,
        legible: true,
        ink: Paint::Colour([0; 3]),
        ground: Paint::Colour([255; 3]),
    };

    /// Returns the look of text inside of an element with its own declarations.
    pub(crate) fn inside(self, own: &Declared) -> Self {
        let yes = Some(true);
        let is_gone = own.displayed == Some(false)
            || own.opaque == Some(false)
            || (own.flat == yes && own.clips == yes)
            || (own.outside == yes && own.placed == yes)
            || own.away == yes;
        Self {
            gone: self.gone || is_gone,
            visible: own.visible.unwrap_or(self.visible),
            legible: own.legible.unwrap_or(self.legible),
            ink: own.ink.unwrap_or(self.ink),
            ground: own.ground.filter(|ground| *ground != Paint::Transparent).unwrap_or(self.ground),
        }
    }

    pub(crate) fn is_hidden(&self) -> bool {
        self.gone || !self.visible || !self.legible || self.ink.vanishes_on(self.ground)
    }
}

impl Declared {
    /// Parses declarations. Returns the plain ones and the `!important` ones.
    pub(crate) fn parse(declarations: &str) -> (Self, Self) {
        let (mut plain, mut important) = (Self::default(), Self::default());
        for declaration in without_comments(declarations).to_ascii_lowercase().split(';') {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            match value.split_once('!') {
                Some((value, _)) => important.declare(name.trim(), value.trim()),
                None => plain.declare(name.trim(), value.trim()),
            }
        }
        (plain, important)
    }

    fn declare(&mut self, name: &str, value: &str) {
        match name {
            "display" => self.displayed = Some(value != "none"),
            "visibility" => self.visible = Some(!matches!(value, "hidden" | "collapse")),
            "opacity" => self.opaque = number(value).map(|(number, _)| number > 0.02).or(self.opaque),
            "font-size" => self.legible = is_legible(value).or(self.legible),
            "font" => {
                let sizes = value.split_whitespace().map(|word| word.split('/').next().unwrap_or(word));
                let size = sizes.filter(|word| number(word).is_some()).find_map(is_legible);
                self.legible = size.or(self.legible);
            }
            "height" | "max-height" | "width" | "max-width" if is_flat(value) => {
                self.flat = Some(true);
            }
            "overflow" | "overflow-x" | "overflow-y" => {
                self.clips = Some(matches!(value, "hidden" | "clip"));
            }
            "position" => self.placed = Some(matches!(value, "absolute" | "fixed" | "relative")),
            "left" | "top" => self.outside = Some(is_outside(value)),
            "margin-left" | "margin-top" => self.away = Some(is_outside(value)),
            "color" => self.ink = paint(value).or(self.ink),
            "background-color" => self.ground = paint(value).or(self.ground),
            "background" => self.ground = ground(value).or(self.ground),
            "background-image" if value != "none" => self.ground = Some(Paint::Unknown),
            _ => {}
        }
    }

    /// Returns the declarations of `self`, and those of `other` for properties that `self` does not
    /// declare.
    pub(crate) fn over(self, other: Self) -> Self {
        Self {
            displayed: self.displayed.or(other.displayed),
            visible: self.visible.or(other.visible),
            legible: self.legible.or(other.legible),
            opaque: self.opaque.or(other.opaque),
            flat: self.flat.or(other.flat),
            clips: self.clips.or(other.clips),
            placed: self.placed.or(other.placed),
            outside: self.outside.or(other.outside),
            away: self.away.or(other.away),
            ink: self.ink.or(other.ink),
            ground: self.ground.or(other.ground),
        }
    }
}

/// A rule for an element, a class or an id.
#[derive(Debug, Clone, Copy)]
struct Rule {
    /// The hashes of the names. `None` matches any name.
    element: Option<u64>,
    class: Option<u64>,
    id: Option<u64>,
    plain: Declared,
    important: Declared,
}

/// The rules of a page's style sheets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheet {
    rules: Vec<Rule>,
}

impl Sheet {
    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    /// Adds the rules of a style sheet.
    pub(crate) fn read(&mut self, sheet: &str) {
        let sheet = without_comments(sheet).replace("<!--", "").replace("-->", "");
        let mut rest = sheet.as_str();
        while let Some((selectors, after)) = rest.split_once('{') {
            // The text before the last semicolon is a statement of its own, such as an import.
            let selectors = selectors.rsplit(';').next().unwrap_or_default().trim();
            if selectors.starts_with('@') {
                rest = after_block(after);
                continue;
            }
            let (declarations, after) = after.split_once('}').unwrap_or((after, ""));
            rest = after;
            let (plain, important) = Declared::parse(declarations);
            if plain == Declared::default() && important == Declared::default() {
                continue;
            }
            for selector in selectors.split(',').map(str::trim) {
                if self.rules.len() < RULES {
                    self.rules.extend(Rule::of(selector, plain, important));
                }
            }
        }
        // Rules for elements are the weakest, rules for ids the strongest. Among equal rules the
        // last one wins.
        self.rules.sort_by_key(|rule| (rule.id.is_some(), rule.class.is_some(), rule.element.is_some()));
    }

    /// Returns the plain and the `!important` declarations of all rules that match an element.
    pub(crate) fn about(&self, element: &[u8], classes: &[u8], id: &[u8]) -> (Declared, Declared) {
        let (mut plain, mut important) = (Declared::default(), Declared::default());
        if self.rules.is_empty() {
            return (plain, important);
        }
        let (element, id) = (xxh3_64(element), xxh3_64(id));
        let classes = classes.split(u8::is_ascii_whitespace).take(16).map(xxh3_64).collect::<Vec<_>>();
        for rule in &self.rules {
            let fits = rule.element.is_none_or(|name| name == element)
                && rule.id.is_none_or(|name| name == id)
                && rule.class.is_none_or(|name| classes.contains(&name));
            if fits {
                plain = rule.plain.over(plain);
                important = rule.important.over(important);
            }
        }
        (plain, important)
    }
}

impl Rule {
    /// Returns the rule of a selector such as `p`, `.note`, `p.note` or `#top`, or `None` for any
    /// other selector.
    fn of(selector: &str, plain: Declared, important: Declared) -> Option<Self> {
        let is_simple = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '#');
        let marks = selector.matches(['.', '#']).count();
        if selector == "*" {
            return Some(Self { element: None, class: None, id: None, plain, important });
        }
        if selector.is_empty() || marks > 1 || !selector.chars().all(is_simple) {
            return None;
        }
        let (element, name) = selector.split_at(selector.find(['.', '#']).unwrap_or(selector.len()));
        let hash = |name: &str| (!name.is_empty()).then(|| xxh3_64(name.as_bytes()));
        Some(Self {
            element: hash(&element.to_ascii_lowercase()),
            class: name.strip_prefix('.').and_then(hash),
            id: name.strip_prefix('#').and_then(hash),
            plain,
            important,
        })
    }
}

/// Returns the text after the end of the block whose `{` is before `text`. Blocks inside it are
/// skipped.
fn after_block(text: &str) -> &str {
    let mut depth = 1;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    ""
}

fn without_comments(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains("/*") {
        return text.into();
    }
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, comment)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    (plain + rest).into()
}

/// Returns a number and its unit.
pub(crate) fn number(value: &str) -> Option<(f32, &str)> {
    let end = value.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')).unwrap_or(value.len());
    value[..end].parse().ok().map(|number| (number, value[end..].trim()))
}

/// Returns true if letters of a size can be read, and `None` if that depends on the size of the
/// enclosing element.
fn is_legible(size: &str) -> Option<bool> {
    let Some((number, unit)) = number(size) else {
        return matches!(
            size,
            "xx-small" | "x-small" | "small" | "medium" | "large" | "x-large" | "xx-large"
        )
        .then_some(true);
    };
    match unit {
        "px" => Some(number > TINY),
        "pt" => Some(number * 4.0 / 3.0 > TINY),
        "mm" | "cm" | "in" | "pc" | "rem" => Some(number > 0.1),
        "em" | "ex" | "ch" => (number < 0.1).then_some(false),
        "%" => (number < 10.0).then_some(false),
        _ => (number == 0.0).then_some(false),
    }
}

/// Returns true if a box of this height or width has no room for letters.
fn is_flat(value: &str) -> bool {
    number(value).is_some_and(|(number, unit)| match unit {
        "" | "px" => number < 1.0,
        _ => number <= 0.0,
    })
}

fn is_outside(value: &str) -> bool {
    number(value).is_some_and(|(number, unit)| unit == "px" && number <= OUTSIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hides(declarations: &str) -> bool {
        let (plain, important) = Declared::parse(declarations);
        Look::OF_PAGE.inside(&important.over(plain)).is_hidden()
    }

    #[test]
    fn styles_that_hide_are_told_from_those_that_do_not() {
        for style in [
            "display:none",
            "DISPLAY : None !important",
            "display:/* so */none",
            "visibility:hidden",
            "font-size:0",
            "font-size:1px",
            "font:0/0 a",
            "opacity:0",
            "max-height:0;overflow:hidden",
            "height:0.5px;overflow:hidden",
            "height:0em;overflow:hidden",
            "position:absolute;left:-9999px",
            "color:#fff",
            "color:rgb(255, 254, 255)",
            "color:transparent",
            "color:rgb(0 0 0 / 0%)",
            "color:rgb(100% 100% 100%)",
            "background:#123456;color:#123455",
            "color:white;background:none",
        ] {
            assert!(hides(style), "{style}");
        }
        for style in [
            "",
            "display:block",
            "visibility:visible",
            "font-size:12px",
            "font:700 13px/1.5 Arial",
            "opacity:0.9",
            "max-height:0",
            "height:0.9em;overflow:hidden",
            "overflow:hidden",
            "left:-9999px",
            "color:#ccc",
            "color:rgb(0 0 0 / 80%)",
            "color:white;background:#000",
            "color:#fff;background:url(x.png)",
            "color:#fff;background-color:midnightblue",
            "background:white",
            "display:none;display:block",
            "color:é;font-size:é;é",
        ] {
            assert!(!hides(style), "{style}");
        }
    }

    #[test]
    fn rules_of_sheets_count_if_they_are_for_an_element_a_class_or_an_id() {
        let mut sheet = Sheet::default();
        sheet.read(
            "@import url(x); p{display:none} .a, #b{display:none} p.shown{display:block} \
             @media (max-width:9px){.c{display:none} .d{display:none}} .e .f{display:none} .g{display:none",
        );
        let hides = |element: &str, classes: &str, id: &str| {
            let (plain, important) = sheet.about(element.as_bytes(), classes.as_bytes(), id.as_bytes());
            Look::OF_PAGE.inside(&important.over(plain)).is_hidden()
        };
        assert!(hides("p", "", "") && hides("i", "x a", "") && hides("i", "", "b") && hides("i", "g", ""));
        assert!(
            !hides("p", "shown", "") && !hides("i", "c", "") && !hides("i", "d", "") && !hides("i", "f", "")
        );
    }
}
