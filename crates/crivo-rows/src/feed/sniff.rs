//! Recognises formats by the first bytes of a text.
//!
//! Standard input has no name, and the name of a file may not tell the format. Binary data is
//! refused with the name of its format, instead of being read as lines. CSV and JSONL are
//! recognised if the first line has a field that was selected.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::input::Format;
use crate::parse::delimited::first_record;
use crate::parse::jsonl::first_names;
use crate::select::Select;

pub(crate) const PARQUET: &[u8] = b"PAR1";

/// The first bytes of formats that are not text, and the messages for them.
const BINARY: [(&[u8], &str); 8] = [
    (b"PK\x03\x04", "a zip archive (a spreadsheet may be one): unpack it first"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive: unpack it first"),
    (b"SQLite format 3\0", "an SQLite database: export the table as CSV first"),
    (b"ARROW1\0\0", "an Arrow file: write it as Parquet first"),
    (b"Obj\x01", "an Avro file: write it as Parquet first"),
    (b"\x89HDF\r\n\x1A\n", "an HDF5 file: write it as Parquet first"),
    (b"CRVO", "a sketch that crivo wrote, not data"),
];
/// The byte order marks of UTF-16, little endian and big endian.
const WIDE_MARKS: [&[u8]; 2] = [b"\xFF\xFE", b"\xFE\xFF"];
/// The number of bytes that decide whether a text without a mark is UTF-16.
const WIDE: usize = 32;

/// Refuses a file that is not text by its first bytes, because its records would be meaningless.
pub(crate) fn require_text(start: &[u8], file: &Arc<str>) -> Result<()> {
    if let Some((_, what)) = BINARY.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Err(Error::new(ErrorKind::Unsupported, format_args!("is {what}")).in_file(file));
    }
    if !WIDE_MARKS.iter().any(|mark| start.starts_with(mark)) && !is_wide(start) {
        return Ok(());
    }
    let message = format_args!("is UTF-16 text: convert it first, iconv -f UTF-16 -t UTF-8 {file}");
    Err(Error::new(ErrorKind::Unsupported, message).in_file(file))
}

/// Returns true for UTF-16 text without a byte order mark: in each pair of bytes, the same one is
/// zero and the other is not.
fn is_wide(start: &[u8]) -> bool {
    let Some(start) = start.get(..WIDE) else { return false };
    let zeros = |odd: usize| start.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    (even == 0 && odd == WIDE / 2) || (odd == 0 && even == WIDE / 2)
}

/// Returns the text without the empty lines before its first record.
pub(crate) fn without_empty_lines(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let Some(after) = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b"\r\n")) {
        rest = after;
    }
    rest
}

/// Returns the format of a text from its first nonempty line, or `None` for lines. It is for input
/// whose format was not told.
pub(crate) fn format_of(text: &[u8], select: &Select) -> Option<Format> {
    let wanted: &[String] = match select {
        Select::Fields(fields) if !fields.is_empty() => fields,
        Select::All => &[],
        _ => return None,
    };
    let text = without_empty_lines(text);
    let line = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
    if line.trim_ascii_start().first() == Some(&b'{') && !first_names(line).is_empty() {
        return Some(Format::Jsonl);
    }
    // A number could be a field of lines.
    let names: Vec<&str> =
        wanted.iter().map(String::as_str).filter(|name| name.parse::<usize>().is_err()).collect();
    if names.is_empty() {
        return None;
    }
    [(Format::Csv, b","), (Format::Tsv, b"\t")].into_iter().find_map(|(format, delimiter)| {
        let header = first_record(text, delimiter, true);
        let has = |name: &&str| header.fields.iter().any(|field| field == name.as_bytes());
        (header.fields.len() > 1 && names.iter().all(has)).then_some(format)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_recognised_only_if_it_has_the_fields() {
        let format = |text: &str, select: &Select| format_of(text.as_bytes(), select);
        let user = Select::field("user");
        assert_eq!(format("user,time\nana,1\n", &user), Some(Format::Csv));
        assert_eq!(format("\"user\",time\nana,1\n", &user), Some(Format::Csv));
        assert_eq!(format("user\ttime\n", &user), Some(Format::Tsv));
        assert_eq!(format("{\"id\":1}\n", &user), Some(Format::Jsonl), "records may differ in their fields");
        assert_eq!(format("\n\r\n {\"id\":1}\n", &user), Some(Format::Jsonl), "behind empty lines");
        assert_eq!(format("\nuser,time\nana,1\n", &user), Some(Format::Csv));
        assert_eq!(format("name,time\n", &user), None);
        assert_eq!(format("{ not json\n", &user), None);
        assert_eq!(format("user,time\n", &Select::field("2")), None);
        assert_eq!(format("{\"id\":1}\n", &Select::Single), None, "a line is a value");
        assert_eq!(format("{\"id\":1}\n", &Select::All), Some(Format::Jsonl));
    }

    #[test]
    fn text_of_two_bytes_a_unit_is_seen_without_a_mark() {
        let wide: Vec<u8> =
            "user,time of the day\nana,1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(is_wide(&wide) && is_wide(&wide[1..]));
        assert!(!is_wide(b"user,time of the day and of the night\n"));
        assert!(!is_wide(&[0; 64]));
    }
}
