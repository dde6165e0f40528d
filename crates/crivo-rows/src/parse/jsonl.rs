//! Parses JSONL: one object per line.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::json::{Fault, Scanner, Value, compact, is_name, push_float, unescape};
use super::lines::line_end;
use super::{Table, Text};
use crate::column::{Column, ValueKind};
use crate::error::{Error, ErrorKind, Result};
use crate::select::ELEMENTS;

/// The most columns. Objects that are used as maps would make a column of every key.
const MOST_COLUMNS: usize = 10_000;

/// The selected fields.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// Fields with these names. Each is marked when it is first seen.
    Named(Vec<NamedField>),
    /// All fields, as they occur.
    All,
}

/// A field that is selected by its name.
#[derive(Debug)]
pub(crate) struct NamedField {
    name: String,
    /// The names on the path to the field, if its name has points.
    path: Vec<Vec<u8>>,
    /// Whether its value is an array whose elements are items.
    has_elements: bool,
    /// Shared by all files, because a name that no record of any file has is an error.
    seen: Arc<AtomicBool>,
}

impl NamedField {
    /// Creates a field of this name. If records have a field of exactly this name (`is_known`),
    /// points in it do not mean a path.
    pub(crate) fn new(name: &str, is_known: bool, seen: Arc<AtomicBool>) -> Self {
        if is_known {
            return Self { name: name.to_owned(), path: Vec::new(), has_elements: false, seen };
        }
        let plain = name.strip_suffix(ELEMENTS).unwrap_or(name);
        let has_elements = plain.len() < name.len();
        let is_path = has_elements || plain.contains('.');
        let path = if is_path {
            plain.split('.').map(|part| part.as_bytes().to_vec()).collect()
        } else {
            Vec::new()
        };
        Self { name: name.to_owned(), path, has_elements, seen }
    }

    /// Returns the position of the field's value in a record, or `None` if it has no such field.
    pub(crate) fn value_in(&self, record: &[u8]) -> Option<Value> {
        let mut scanner = Scanner::new(record, 0);
        scanner.skip_blanks();
        let (mut named, mut followed) = (None, None);
        let scanned = scanner.object(|name, escaped, value| {
            if is_name(&record[name.clone()], escaped, self.name.as_bytes()) {
                named = Some(value);
            } else if let Some((first, rest)) = self.path.split_first()
                && is_name(&record[name], escaped, first)
                && let Some(found) = value.follow(record, rest)
            {
                followed = Some(found);
            }
        });
        scanned.ok().and(named.or(followed))
    }

    #[inline]
    fn mark_seen(&self) {
        if !self.seen.load(Ordering::Relaxed) {
            self.seen.store(true, Ordering::Relaxed);
        }
    }
}

/// The fields of the records read so far, if all fields are selected.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    pub(crate) names: Vec<String>,
    by_name: HashMap<String, usize>,
    /// The column of each name, which is its index in `names`.
    pub(crate) columns: Vec<usize>,
}

/// Parses objects from `position` until the table is full or the chunk ends. Empty lines are not
/// records.
pub(crate) fn parse(text: &Text<'_>, wanted: &Wanted, position: usize, table: &mut Table) -> Result<usize> {
    let bytes = text.bytes;
    let mut record = position;
    let mut values = std::mem::take(&mut table.values);
    while record < bytes.len() && !table.is_full() {
        let mut scanner = Scanner::new(bytes, record);
        scanner.skip_blanks();
        if scanner.at_line_end() {
            table.blank += 1;
            record = scanner.at + 1;
            continue;
        }
        if !text.needs_values_of(table.records.len()) {
            // The record is not parsed, so a field cannot be reported as missing.
            if let Wanted::Named(fields) = wanted {
                fields.iter().for_each(NamedField::mark_seen);
            }
            let rest = &bytes[scanner.at..];
            let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |length| scanner.at + length);
            table.end_record(record, line_end(bytes, record, end))?;
            record = end + 1;
            continue;
        }
        let start = scanner.at;
        let scanned = scan_record(&mut scanner, bytes, wanted, &mut table.discovered, &mut values);
        match scanned {
            Ok(()) => {
                push_values(bytes, wanted, &values, table)?;
                table.end_record(record, line_end(bytes, record, scanner.at))?;
                record = scanner.at + 1;
            }
            Err(fault) => {
                let error = Error::new(
                    ErrorKind::InvalidJson,
                    format_args!("invalid JSON: {} (at character {})", fault.message, fault.at + 1 - record),
                );
                text.bad_record(start, table, error)?;
                record = memchr::memchr(b'\n', &bytes[record..]).map_or(bytes.len(), |at| record + at + 1);
            }
        }
        values.fill(Value::Null);
    }
    table.values = values;
    Ok(record)
}

/// Walks over a line and stores the positions of the selected values. If a name occurs twice, the
/// last one counts.
fn scan_record(
    scanner: &mut Scanner<'_>,
    bytes: &[u8],
    wanted: &Wanted,
    discovered: &mut Discovered,
    values: &mut Vec<Value>,
) -> Result<(), Fault> {
    let start = scanner.at;
    let mut too_many = false;
    let mut guess = 0;
    // The fields with paths whose whole names this record has.
    let mut whole = Vec::new();
    scanner.object(|name, escaped, value| {
        let mut unescaped = Vec::new();
        let name = if escaped {
            unescape(&bytes[name], &mut unescaped);
            &unescaped
        } else {
            &bytes[name]
        };
        let at = match wanted {
            Wanted::Named(fields) => {
                let at = fields.iter().position(|field| field.name.as_bytes() == name);
                match at {
                    None => follow_paths(fields, name, &value, bytes, &whole, values),
                    Some(at) if !fields[at].path.is_empty() => whole.push(at),
                    Some(_) => {}
                }
                at.inspect(|&at| fields[at].mark_seen())
            }
            Wanted::All => {
                let name = String::from_utf8_lossy(name);
                discovered.find(&name, guess).or_else(|| {
                    too_many |= discovered.names.len() >= MOST_COLUMNS;
                    (!too_many).then(|| discovered.add(&name))
                })
            }
        };
        if let Some(at) = at {
            guess = at + 1;
            if values.len() <= at {
                values.resize(at + 1, Value::Null);
            }
            values[at] = value;
        }
    })?;
    scanner.skip_blanks();
    if !scanner.at_line_end() {
        return Err(Fault { at: scanner.at, message: "something follows the object on its line" });
    }
    if too_many {
        return Err(Fault { at: start, message: "more than 10000 different fields: choose some by name" });
    }
    Ok(())
}

/// Stores the values of paths through this field, except of fields whose `whole` names the record
/// has, because those take precedence.
#[inline]
fn follow_paths(
    fields: &[NamedField],
    name: &[u8],
    value: &Value,
    bytes: &[u8],
    whole: &[usize],
    values: &mut Vec<Value>,
) {
    for (at, field) in fields.iter().enumerate() {
        let Some((first, rest)) = field.path.split_first() else { continue };
        if first != name {
            continue;
        }
        if let Some(found) = value.follow(bytes, rest) {
            field.mark_seen();
            if values.len() <= at {
                values.resize(at + 1, Value::Null);
            }
            if !whole.contains(&at) {
                values[at] = found;
            }
        }
    }
}

fn push_values(bytes: &[u8], wanted: &Wanted, values: &[Value], table: &mut Table) -> Result<()> {
    let rows = table.records.len();
    while table.columns.len() < values.len() {
        let mut column = Column::default();
        column.fill(rows)?;
        table.columns.push(column);
    }
    let has_elements = |at: usize| matches!(wanted, Wanted::Named(fields) if fields[at].has_elements);
    let is_all = matches!(wanted, Wanted::All);
    for (at, (value, column)) in values.iter().zip(&mut table.columns).enumerate() {
        match value {
            // The end of the record adds the missing value.
            Value::Null => {}
            _ if has_elements(at) => column.push_built(bytes, |out| value.push_array(bytes, out))?,
            Value::String { text, escaped: false } | Value::Plain(text) => {
                column.push(bytes, text.start, text.end)?;
            }
            Value::String { text, escaped: true } => {
                column.push_built(bytes, |out| unescape(&bytes[text.clone()], out))?;
            }
            Value::Float(text) => column.push_built(bytes, |out| push_float(&bytes[text.clone()], out))?,
            Value::Nested(text) => column.push_built(bytes, |out| compact(&bytes[text.clone()], out))?,
        }
        if is_all && let Some(kind) = kind_of(value, bytes) {
            column.mark(kind);
        }
    }
    Ok(())
}

/// Returns the kind of a value, or `None` if it is missing or a text.
fn kind_of(value: &Value, bytes: &[u8]) -> Option<ValueKind> {
    match value {
        Value::Null | Value::String { .. } => None,
        Value::Plain(text) if matches!(bytes.get(text.start), Some(b't' | b'f')) => Some(ValueKind::Boolean),
        Value::Plain(_) | Value::Float(_) => Some(ValueKind::Number),
        Value::Nested(_) => Some(ValueKind::Nested),
    }
}

impl Discovered {
    /// Returns the column of a name. Records mostly have their fields in the same order, so `guess`
    /// is tried first.
    fn find(&self, name: &str, guess: usize) -> Option<usize> {
        if self.names.get(guess).is_some_and(|known| known == name) {
            return Some(guess);
        }
        self.by_name.get(name).copied()
    }

    fn add(&mut self, name: &str) -> usize {
        self.by_name.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.columns.push(self.columns.len());
        self.names.len() - 1
    }
}

/// Returns the names in the first record of a file, each once, if that record is an object.
pub(crate) fn first_names(text: &[u8]) -> Vec<String> {
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let _ = Scanner::new(text, start).object(|name, escaped, _| {
        let mut unescaped = Vec::new();
        if escaped {
            unescape(&text[name], &mut unescaped);
        } else {
            unescaped.extend_from_slice(&text[name]);
        }
        let name = String::from_utf8_lossy(&unescaped).into_owned();
        if known.insert(name.clone()) {
            names.push(name);
        }
    });
    names
}
