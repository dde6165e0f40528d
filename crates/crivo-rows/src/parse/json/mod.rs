//! A JSON scanner that checks all of a record and builds nothing.
//!
//! It walks over one value and returns the positions of its parts. A record's selected fields are
//! then read at these positions; the other fields are only checked. Bytes inside strings that are
//! not UTF-8 are data, as in all formats. A line end is never blank space here, so an error about a
//! missing part is found on the line that lacks it.

mod escapes;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crivo::keys::text::push_f64;

use self::escapes::plain_part;
pub(crate) use self::escapes::{escape, unescape};

/// Deeper nesting than this is an error. No real data comes near it.
const DEEPEST: usize = 128;

/// What is wrong, and at which position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) message: &'static str,
}

type Scanned<T> = Result<T, Fault>;

/// The position of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    /// A string's text between its quotes, and whether it has escapes.
    String {
        text: Range<usize>,
        escaped: bool,
    },
    /// An integer or a boolean. Its text is its key.
    Plain(Range<usize>),
    /// A number with a fraction or an exponent.
    Float(Range<usize>),
    /// An array or an object.
    Nested(Range<usize>),
}

impl Value {
    /// Appends the value's text by the rules of docs/keys.md, or nothing for null. `bytes` are
    /// those that the positions refer to.
    pub(crate) fn push_text(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Null => {}
            Self::String { text, escaped: true } => unescape(&bytes[text.clone()], out),
            Self::String { text, escaped: false } | Self::Plain(text) => {
                out.extend_from_slice(&bytes[text.clone()]);
            }
            Self::Float(text) => push_float(&bytes[text.clone()], out),
            Self::Nested(text) => compact(&bytes[text.clone()], out),
        }
    }

    /// Appends the value's raw bytes as an array: unchanged if it is an array, otherwise as the
    /// only element. Appends nothing for null and for an array without elements.
    pub(crate) fn push_array(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let raw = match self {
            Self::Null => return,
            Self::Nested(text) if bytes[text.start] == b'[' => {
                let inside = bytes[text.start + 1..text.end - 1].trim_ascii();
                if !inside.is_empty() {
                    out.extend_from_slice(&bytes[text.clone()]);
                }
                return;
            }
            // The range includes the quotes around the text.
            Self::String { text, .. } => text.start - 1..text.end + 1,
            Self::Plain(text) | Self::Float(text) | Self::Nested(text) => text.clone(),
        };
        out.push(b'[');
        out.extend_from_slice(&bytes[raw]);
        out.push(b']');
    }

    /// Returns the value at the end of a path from this value, through the names of objects. If a
    /// name occurs twice, the last one counts.
    pub(crate) fn follow(&self, bytes: &[u8], path: &[Vec<u8>]) -> Option<Self> {
        let Some((name, rest)) = path.split_first() else { return Some(self.clone()) };
        let Self::Nested(text) = self else { return None };
        if bytes[text.start] != b'{' {
            return None;
        }
        let mut found = None;
        let _ = Scanner::new(bytes, text.start).object(|field, escaped, value| {
            if is_name(&bytes[field], escaped, name) {
                found = Some(value);
            }
        });
        found?.follow(bytes, rest)
    }
}

/// Returns true if a field's name, which may have escapes, is this one.
pub(crate) fn is_name(found: &[u8], escaped: bool, name: &[u8]) -> bool {
    if !escaped {
        return found == name;
    }
    let mut unescaped = Vec::new();
    unescape(found, &mut unescaped);
    unescaped == name
}

/// Passes each element of a JSON array to `element`.
pub(crate) fn each_element(
    array: &[u8],
    mut element: impl FnMut(Value) -> crate::error::Result<()>,
) -> crate::error::Result<()> {
    if array.first() == Some(&b'[') { Scanner::new(array, 0).array(&mut element) } else { Ok(()) }
}

/// A reader of bytes, with its position.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    #[inline]
    fn peek(&self) -> u8 {
        // All rules treat the end of the bytes like the end of the line.
        self.bytes.get(self.at).copied().unwrap_or(b'\n')
    }

    #[cold]
    fn fault<T>(&self, message: &'static str) -> Scanned<T> {
        Err(Fault { at: self.at, message })
    }

    #[inline]
    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    /// Returns true if the line ends here.
    #[inline]
    pub(crate) fn at_line_end(&self) -> bool {
        self.peek() == b'\n'
    }

    #[inline]
    fn expect(&mut self, byte: u8, message: &'static str) -> Scanned<()> {
        self.skip_blanks();
        if self.peek() != byte {
            return self.fault(message);
        }
        self.at += 1;
        Ok(())
    }

    /// Walks over an object. `field` gets each name (its text, and whether it has escapes) and the
    /// value.
    #[inline]
    pub(crate) fn object(&mut self, mut field: impl FnMut(Range<usize>, bool, Value)) -> Scanned<()> {
        self.expect(b'{', "expected an object: a line of JSON begins with '{'")?;
        self.fields(DEEPEST, &mut |name, escaped, value| field(name, escaped, value))
    }

    #[inline]
    fn fields(&mut self, depth: usize, field: &mut impl FnMut(Range<usize>, bool, Value)) -> Scanned<()> {
        self.skip_blanks();
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_blanks();
            let (name, escaped) = self.string()?;
            self.expect(b':', "expected ':' after a name")?;
            let value = self.value(depth)?;
            field(name, escaped, value);
            self.skip_blanks();
            match self.peek() {
                b',' => self.at += 1,
                b'}' => break,
                _ => return self.fault("expected ',' or '}' after a value"),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Scanned<Value> {
        self.skip_blanks();
        let start = self.at;
        match self.peek() {
            b'"' => {
                let (text, escaped) = self.string()?;
                Ok(Value::String { text, escaped })
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true").map(|()| Value::Plain(start..self.at)),
            b'f' => self.word(b"false").map(|()| Value::Plain(start..self.at)),
            b'n' => self.word(b"null").map(|()| Value::Null),
            b'{' | b'[' if depth == 0 => self.fault("nested too deeply"),
            b'{' => {
                self.at += 1;
                self.nested_object(depth - 1)?;
                Ok(Value::Nested(start..self.at))
            }
            b'[' => {
                self.at += 1;
                self.elements(depth - 1)?;
                Ok(Value::Nested(start..self.at))
            }
            _ => self.fault("expected a value"),
        }
    }

    /// Walks over an array that was checked before. `element` gets each value.
    fn array(
        &mut self,
        element: &mut impl FnMut(Value) -> crate::error::Result<()>,
    ) -> crate::error::Result<()> {
        self.at += 1;
        loop {
            self.skip_blanks();
            if matches!(self.peek(), b']' | b'\n') {
                return Ok(());
            }
            let Ok(value) = self.value(DEEPEST) else { return Ok(()) };
            element(value)?;
            self.skip_blanks();
            if self.peek() == b',' {
                self.at += 1;
            }
        }
    }

    fn nested_object(&mut self, depth: usize) -> Scanned<()> {
        self.fields(depth, &mut |_, _, _| ())
    }

    fn elements(&mut self, depth: usize) -> Scanned<()> {
        self.skip_blanks();
        if self.peek() == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth)?;
            self.skip_blanks();
            match self.peek() {
                b',' => self.at += 1,
                b']' => break,
                _ => return self.fault("expected ',' or ']' after a value"),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &'static [u8]) -> Scanned<()> {
        if !self.bytes[self.at..].starts_with(word) {
            return self.fault("expected a value");
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Scanned<Value> {
        let start = self.at;
        if self.peek() == b'-' {
            self.at += 1;
        }
        let whole = self.digits();
        if whole == 0 || (whole > 1 && self.bytes[self.at - whole] == b'0') {
            return self.fault("expected a number without leading zeros");
        }
        let mut is_float = false;
        if self.peek() == b'.' {
            is_float = true;
            self.at += 1;
            if self.digits() == 0 {
                return self.fault("expected a digit after the point");
            }
        }
        if matches!(self.peek(), b'e' | b'E') {
            is_float = true;
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            if self.digits() == 0 {
                return self.fault("expected a digit in the exponent");
            }
        }
        // −0 is an integer with the text 0. As a float it would keep its sign.
        let range = if &self.bytes[start..self.at] == b"-0" { start + 1..self.at } else { start..self.at };
        Ok(if is_float { Value::Float(range) } else { Value::Plain(range) })
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    /// Walks over a string. Returns its text between the quotes, and whether it has escapes.
    #[inline]
    fn string(&mut self) -> Scanned<(Range<usize>, bool)> {
        if self.peek() != b'"' {
            return self.fault("expected a string");
        }
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            let plain = plain_part(self.bytes.get(self.at..).unwrap_or_default());
            self.at += plain.length;
            escaped |= plain.escaped;
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok((start..self.at - 1, escaped));
                }
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                b'\n' => return self.fault("a string has no end on this line"),
                _ => return self.fault("a control character in a string must be escaped"),
            }
        }
    }

    fn escape(&mut self) -> Scanned<()> {
        self.at += 1;
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                let digits = self.bytes.get(self.at + 1..self.at + 5).unwrap_or_default();
                if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return self.fault("expected four hexadecimal digits after '\\u'");
                }
                self.at += 5;
            }
            _ => return self.fault("no such escape"),
        }
        Ok(())
    }
}

/// Appends a number's text in the form of floats in docs/keys.md. The number must be checked
/// already.
pub(crate) fn push_float(text: &[u8], out: &mut Vec<u8>) {
    if let Some(value) = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()) {
        push_f64(out, value);
    }
}

/// Appends a nested value without the blanks between its parts.
pub(crate) fn compact(text: &[u8], out: &mut Vec<u8>) {
    let mut in_string = false;
    let mut after_backslash = false;
    for &byte in text {
        if !in_string && matches!(byte, b' ' | b'\t' | b'\r') {
            continue;
        }
        out.push(byte);
        if after_backslash {
            after_backslash = false;
        } else if byte == b'"' {
            in_string = !in_string;
        } else {
            after_backslash = in_string && byte == b'\\';
        }
    }
}
