//! Finds the columns of the records of all files, and their types.

use std::collections::{BTreeMap, HashMap};

use crivo::keys::text::push_f64;

use crate::batch::RowBatch;
use crate::column::{Cell, ValueKind, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::input::Format;
use crate::scan::Scan;

/// Every integer up to here is exact as a 64-bit float.
const EXACT_FLOATS: u64 = 1 << 53;

/// The columns of the output. A name can occur twice, because a header may repeat it.
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

/// The columns that were found, each by its name and the number of columns of that name before it
/// in its file.
type MetColumns = BTreeMap<(String, usize), Met>;

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
        let places: HashMap<_, _> = numbered(names).zip(0..).collect();
        let columns: Vec<_> = numbered(&self.names).collect();
        let found: Vec<_> = columns.iter().map(|column| places.get(column).copied()).collect();
        // If every field has a column, there is no need to search for the one that has none.
        if found.iter().flatten().count() < names.len()
            && let Some((new, _)) = numbered(names).find(|field| !columns.contains(field))
        {
            let message = format!(
                "the field '{new}' was not among those of the records before, which are written already: \
                 save the input to a file, which can be read twice"
            );
            return Err(batch.error(0, message));
        }
        Ok(found.into_iter().map(|place| place.map(|column| batch.column(column))).collect())
    }
}

/// Returns each name with the number of equal names before it.
fn numbered(names: &[String]) -> impl Iterator<Item = (&str, usize)> {
    let mut times = HashMap::new();
    names.iter().map(move |name| {
        let before = times.entry(name.as_str()).or_insert(0);
        *before += 1;
        (name.as_str(), *before - 1)
    })
}

/// Returns an error if two fields have the same name. Objects and Parquet files would lose one.
pub(super) fn require_different_names(batch: &RowBatch<'_>) -> Result<()> {
    let names = batch.names();
    let Some((second, (name, _))) = numbered(names).enumerate().find(|(_, (_, before))| *before > 0) else {
        return Ok(());
    };
    let first = names.iter().position(|other| other == name).unwrap_or_default();
    let message = format_args!(
        "fields {} and {} are both called '{name}', and JSONL and Parquet have one field of a name: \
         rename one in the header, or write CSV or TSV",
        first + 1,
        second + 1
    );
    Err(Error::new(ErrorKind::Unsupported, message).in_file(batch.file))
}

impl Scan<'_> {
    /// Finds the columns of all files, in the order in which they occur first. The types are found
    /// only for Parquet.
    pub(super) fn all_columns(&self, to: Format) -> Result<Columns> {
        let mut met = MetColumns::new();
        for (file, of_file) in self.input.field_names()?.into_iter().enumerate() {
            for (at, (name, before)) in numbered(&of_file).enumerate() {
                let first = (0, (file << 32) + at);
                met.entry((name.to_owned(), before)).or_insert(Met { first, ..Met::default() });
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
                MetColumns::new,
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
        let mut met: Vec<_> = met.into_iter().collect();
        met.sort_unstable_by_key(|(_, met)| met.first);
        let types = met.iter().map(|(_, met)| met.kinds.column_type()).collect();
        Ok(Columns { names: met.into_iter().map(|((name, _), _)| name).collect(), types })
    }
}

fn meet(met: &mut MetColumns, batch: &RowBatch<'_>, with_types: bool) {
    // Columns that the beginnings of files tell have the number 0, and come before.
    let first = batch.id(0).to_u64() + 1;
    for (column, (name, before)) in numbered(batch.names()).enumerate() {
        let entry = met.entry((name.to_owned(), before));
        let Met { kinds, .. } = entry.or_insert(Met { first: (first, column), ..Met::default() });
        if !with_types {
            continue;
        }
        let values = batch.column(column);
        let rows = if kinds.text { 0 } else { values.len() };
        for row in 0..rows {
            kinds.see(values.cell(row), values.kind(row));
        }
    }
}

fn merge(met: &mut MetColumns, others: MetColumns) {
    for (column, other) in others {
        let entry = met.entry(column).or_insert(Met { first: other.first, ..Met::default() });
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
