//! Finds the columns of the records of all files, and their types.

use std::collections::BTreeMap;

use crivo::keys::text::push_f64;

use crate::batch::RowBatch;
use crate::column::{Cell, ValueKind, Values};
use crate::error::Result;
use crate::input::Format;
use crate::scan::Scan;

/// Every integer up to here is exact as a 64-bit float.
const EXACT_FLOATS: u64 = 1 << 53;

/// The columns of the output.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    pub(super) types: Vec<ColumnType>,
}

/// The type that represents every value of a column exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    Text,
    Integer,
    Float,
    Boolean,
}

/// The kinds of the values of a column.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // a set of kinds
struct SeenKinds {
    text: bool,
    boolean: bool,
    integer: bool,
    float: bool,
    /// There is an integer beyond [`EXACT_FLOATS`].
    wide: bool,
}

/// A column that was found.
#[derive(Debug, Default)]
struct Met {
    /// The first record of the batch in which the column was found first, and its place among the
    /// columns of that batch.
    first: (u64, usize),
    kinds: SeenKinds,
}

impl SeenKinds {
    fn see(&mut self, cell: Cell<'_>, kind: ValueKind) {
        match (cell, kind) {
            (Cell::Missing, _) => {}
            (Cell::Value(_), ValueKind::Boolean) => self.boolean = true,
            (Cell::Value(text), ValueKind::Number) => self.see_number(text),
            _ => self.text = true,
        }
    }

    fn see_number(&mut self, text: &[u8]) {
        let text = std::str::from_utf8(text).unwrap_or_default();
        // As an integer, a negative zero would lose its sign.
        if let Some(integer) = text.parse::<i64>().ok().filter(|_| text != "-0") {
            self.integer = true;
            self.wide |= integer.unsigned_abs() > EXACT_FLOATS;
            return;
        }
        let mut again = Vec::new();
        match text.parse::<f64>() {
            Ok(float) if push_f64(&mut again, float) && again == text.as_bytes() => self.float = true,
            _ => self.text = true,
        }
    }

    fn merge(&mut self, other: Self) {
        self.text |= other.text;
        self.boolean |= other.boolean;
        self.integer |= other.integer;
        self.float |= other.float;
        self.wide |= other.wide;
    }

    fn column_type(self) -> ColumnType {
        match self {
            Self { text: true, .. } => ColumnType::Text,
            Self { boolean: true, integer: false, float: false, .. } => ColumnType::Boolean,
            Self { boolean: false, float: true, wide: false, .. } => ColumnType::Float,
            Self { boolean: false, integer: true, float: false, .. } => ColumnType::Integer,
            _ => ColumnType::Text,
        }
    }
}

impl Columns {
    /// Returns columns of type text.
    pub(super) fn texts(names: &[String]) -> Self {
        Self { names: names.to_vec(), types: vec![ColumnType::Text; names.len()] }
    }

    /// Returns the values of each column in a batch, or `None` for a column that its file does not
    /// have.
    pub(super) fn values_in<'b>(&self, batch: &RowBatch<'b>) -> Result<Vec<Option<Values<'b>>>> {
        let names = batch.names();
        // Mostly the names are the same in the same order.
        if names == self.names {
            return Ok((0..names.len()).map(|column| Some(batch.column(column))).collect());
        }
        if let Some(new) = names.iter().find(|name| !self.names.contains(name)) {
            let message = format!(
                "the field '{new}' was not among those of the records before, which are written already: \
                 save the input to a file, which can be read twice"
            );
            return Err(batch.error(0, message));
        }
        let value =
            |name: &String| names.iter().position(|other| other == name).map(|column| batch.column(column));
        Ok(self.names.iter().map(value).collect())
    }
}

impl Scan<'_> {
    /// Finds the columns of all files, in the order in which they occur first. The types are found
    /// only for Parquet.
    pub(super) fn all_columns(&self, to: Format) -> Result<Columns> {
        let mut met: BTreeMap<String, Met> = BTreeMap::new();
        for (file, of_file) in self.input.field_names()?.into_iter().enumerate() {
            for (at, name) in of_file.into_iter().enumerate() {
                met.entry(name).or_insert(Met { first: (0, (file << 32) + at), ..Met::default() });
            }
        }
        let needs_reading = self.input.sources.iter().any(|source| match self.input.told_format_of(source) {
            Some(Format::Jsonl) | None => true,
            Some(Format::Parquet) => to == Format::Parquet,
            Some(_) => false,
        });
        if needs_reading {
            let mut scan = self.clone();
            scan.filter = None;
            let found = scan.fold(
                BTreeMap::new,
                |met, batch| {
                    meet(met, batch, to == Format::Parquet);
                    Ok(())
                },
                |met, others| {
                    merge(met, others);
                    Ok(())
                },
            )?;
            merge(&mut met, found.state);
        }
        let mut met: Vec<(String, Met)> = met.into_iter().collect();
        met.sort_unstable_by_key(|(_, met)| met.first);
        let types = met.iter().map(|(_, met)| met.kinds.column_type()).collect();
        Ok(Columns { names: met.into_iter().map(|(name, _)| name).collect(), types })
    }
}

fn meet(met: &mut BTreeMap<String, Met>, batch: &RowBatch<'_>, with_types: bool) {
    // Columns that the beginnings of files tell have the number 0, and come before.
    let first = batch.id(0).to_u64() + 1;
    for (column, name) in batch.names().iter().enumerate() {
        if !met.contains_key(name) {
            met.insert(name.clone(), Met { first: (first, column), ..Met::default() });
        }
        if !with_types {
            continue;
        }
        let Some(Met { kinds, .. }) = met.get_mut(name) else { continue };
        let values = batch.column(column);
        let rows = if kinds.text { 0 } else { values.len() };
        for row in 0..rows {
            kinds.see(values.cell(row), values.kind(row));
        }
    }
}

fn merge(met: &mut BTreeMap<String, Met>, others: BTreeMap<String, Met>) {
    for (name, other) in others {
        let entry = met.entry(name).or_insert(Met { first: other.first, ..Met::default() });
        entry.first = entry.first.min(other.first);
        entry.kinds.merge(other.kinds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_of(values: &[(&str, ValueKind)]) -> ColumnType {
        let mut seen = SeenKinds::default();
        for (text, kind) in values {
            seen.see(if text.is_empty() { Cell::Missing } else { Cell::Value(text.as_bytes()) }, *kind);
        }
        seen.column_type()
    }

    #[test]
    fn a_type_holds_every_value_as_it_is() {
        use ValueKind::{Boolean, Nested, Number, Text};
        for (values, expected) in [
            (&[("1", Number), ("", Text), ("-7", Number)][..], ColumnType::Integer),
            (&[("1", Number), ("0.5", Number)], ColumnType::Float),
            (&[("true", Boolean), ("", Text)], ColumnType::Boolean),
            (&[("true", Boolean), ("1", Number)], ColumnType::Text),
            (&[("1", Number), ("1", Text)], ColumnType::Text),
            (&[("9007199254740993", Number)], ColumnType::Integer),
            (&[("9007199254740993", Number), ("0.5", Number)], ColumnType::Text),
            (&[("12345678901234567890123", Number)], ColumnType::Text),
            (&[("-0", Number)], ColumnType::Text),
            (&[("1.10", Number)], ColumnType::Text),
            (&[("[1]", Nested)], ColumnType::Text),
            (&[("", Text)], ColumnType::Text),
        ] {
            assert_eq!(type_of(values), expected, "{values:?}");
        }
    }
}
