//! Writes values in CSV, TSV and JSON.
//!
//! All writers of these formats use these functions: for edited and converted records, tables of
//! answers, and results of experiments. The reader of quoted fields is `parse::quotes`.

use crate::parse::json::escape;
use crate::parse::quotes::QUOTE;

/// Returns true if a field must be quoted, because it contains the delimiter, a quote or a line
/// end.
pub fn needs_quotes(field: &[u8], delimiter: &[u8]) -> bool {
    let has_delimiter = match *delimiter {
        [] => false,
        [byte] => memchr::memchr(byte, field).is_some(),
        _ => memchr::memmem::find(field, delimiter).is_some(),
    };
    has_delimiter || memchr::memchr3(QUOTE, b'\n', b'\r', field).is_some()
}

/// Appends a field in quotes. Quotes in the field are doubled.
pub fn push_quoted(field: &[u8], out: &mut Vec<u8>) {
    out.push(QUOTE);
    let mut rest = field;
    while let Some(at) = memchr::memchr(QUOTE, rest) {
        out.extend_from_slice(&rest[..=at]);
        out.push(QUOTE);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(QUOTE);
}

/// Returns a field as it is written in a record with this delimiter: quoted only if necessary.
///
/// ```
/// use crivo_rows::written::delimited_field;
///
/// assert_eq!(delimited_field("plain", ","), "plain");
/// assert_eq!(delimited_field("a, \"b\"", ","), "\"a, \"\"b\"\"\"");
/// assert_eq!(delimited_field("a, b", "\t"), "a, b");
/// ```
pub fn delimited_field<'f>(field: &'f str, delimiter: &str) -> std::borrow::Cow<'f, str> {
    if needs_quotes(field.as_bytes(), delimiter.as_bytes()) {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}

/// Appends a JSON string. Bytes that are not UTF-8 are copied unchanged; a caller that guarantees
/// UTF-8 checks before.
pub(crate) fn push_json_text(value: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    escape(value, out);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::json::unescape;
    use crate::parse::quotes::unquote;

    #[test]
    fn quoted_fields_read_back() {
        for field in ["", "a", "\"", "\"\"", "a\"b\"\"c", "line\nend", "\"x"] {
            let (mut written, mut read) = (Vec::new(), Vec::new());
            push_quoted(field.as_bytes(), &mut written);
            unquote(&written, &mut read);
            assert_eq!(read, field.as_bytes());
        }
    }

    /// Special bytes at every position of a text that is longer than the blocks of the escape code.
    #[test]
    fn json_texts_read_back() {
        for special in (0..0x20).chain([b'"', b'\\', b'a', 0x7F, 0xC3]) {
            for at in 0..40 {
                let mut text = vec![b'x'; 40];
                text[at] = special;
                let (mut written, mut read) = (Vec::new(), Vec::new());
                push_json_text(&text, &mut written);
                let inside = &written[1..written.len() - 1];
                assert!(inside.iter().all(|&byte| byte >= 0x20));
                unescape(inside, &mut read);
                assert_eq!(read, text);
            }
        }
    }

    #[test]
    fn only_special_fields_are_quoted() {
        for (field, delimiter, expected) in [
            ("a,b", ",", true),
            ("a,b", "::", false),
            ("a::b", "::", true),
            ("a:b", "::", false),
            ("a\rb", ",", true),
            ("a b", "", false),
            ("\"", "", true),
        ] {
            assert_eq!(needs_quotes(field.as_bytes(), delimiter.as_bytes()), expected, "{field:?}");
            assert_eq!(delimited_field(field, delimiter).starts_with('"'), expected, "{field:?}");
        }
    }

    #[test]
    fn json_texts_escape_what_json_forbids() {
        let mut out = Vec::new();
        push_json_text("a\"\\\n\r\t\u{1}é".as_bytes(), &mut out);
        assert_eq!(String::from_utf8(out).as_deref(), Ok("\"a\\\"\\\\\\n\\r\\t\\u0001é\""));
    }
}
