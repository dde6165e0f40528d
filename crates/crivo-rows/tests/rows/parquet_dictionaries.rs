//! A column that is stored as a dictionary has the same values and keys as one that is not, and
//! gives the same results.

use std::sync::Arc;

use arrow_array::*;
use arrow_schema::{Field, Schema};
use crivo::keys::{KeyRef, KeyScheme};
use crivo::profile::{TableColumn, TableColumnSizes, TableProfile};
use crivo_rows::condition::Condition;
use crivo_rows::{Cell, Input, RowBatch, Scan, Select, ValueKind};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use crate::support::{Folder, Random};

const ROWS: usize = 7_000;

/// Returns a table of columns with few values and many, with and without missing ones. Their types
/// have dictionaries, except one.
fn table() -> RecordBatch {
    let mut random = Random::new(23);
    let mut numbers = |below: usize| (0..ROWS).map(|_| random.below(below)).collect::<Vec<usize>>();
    let words =
        ["ana", "", "rui", "maçã", "2024-01-31", "12", "n/a", "true", "a longer text than the others have"];
    let word = |at: &usize| words[*at % words.len()];
    let few: StringArray = numbers(9).iter().map(|at| Some(word(at)).filter(|_| at % 5 != 3)).collect();
    let many: StringArray = numbers(600).iter().map(|at| Some(format!("C{at:04}"))).collect();
    let own: StringArray = (0..ROWS).map(|at| Some(format!("row {at}"))).collect();
    let whole: Int64Array = numbers(12).iter().map(|at| Some(*at as i64 - 3)).collect();
    let whole_many: Int32Array = numbers(900).iter().map(|at| (at % 7 != 2).then_some(*at as i32)).collect();
    let floats = [0.0, -0.0, 1.5, f64::NAN, -f64::NAN, f64::INFINITY, 1e300, 0.1];
    let float: Float64Array = numbers(8).iter().map(|at| Some(floats[*at])).collect();
    let day: Date32Array = numbers(700).iter().map(|at| Some(19_000 + *at as i32)).collect();
    let moment: TimestampMicrosecondArray =
        numbers(300).iter().map(|at| (at % 3 != 0).then_some(*at as i64 * 86_400_000_000 - 7)).collect();
    let paid: BooleanArray = numbers(3).iter().map(|at| (*at < 2).then_some(*at == 1)).collect();
    let nothing: StringArray = (0..ROWS).map(|_| None::<&str>).collect();
    let columns: [(&str, ArrayRef); 10] = [
        ("few", Arc::new(few)),
        ("many", Arc::new(many)),
        ("own", Arc::new(own)),
        ("whole", Arc::new(whole)),
        ("whole_many", Arc::new(whole_many)),
        ("float", Arc::new(float)),
        ("day", Arc::new(day)),
        ("moment", Arc::new(moment)),
        ("paid", Arc::new(paid)),
        ("nothing", Arc::new(nothing)),
    ];
    let fields: Vec<Field> = columns
        .iter()
        // A column without missing values may have no levels at all.
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), *name != "many" && *name != "day"))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn written(table: &RecordBatch, properties: WriterPropertiesBuilder) -> Vec<u8> {
    let properties = properties.set_max_row_group_row_count(Some(5_000)).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, table.schema(), Some(properties)).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
    bytes
}

/// Returns the same table stored in every way. The first is without dictionaries.
fn stored(table: &RecordBatch) -> Vec<(&'static str, Vec<u8>)> {
    let new = WriterProperties::builder;
    let second = || new().set_writer_version(WriterVersion::PARQUET_2_0);
    vec![
        ("plain", written(table, new().set_dictionary_enabled(false))),
        ("dictionaries", written(table, new())),
        ("version 2", written(table, second())),
        ("short pages", written(table, new().set_data_page_row_count_limit(333).set_write_batch_size(100))),
        // Pages after the first have no dictionary, and begin within a batch.
        ("overflow", written(table, new().set_dictionary_page_size_limit(300).set_write_batch_size(100))),
        ("overflow 2", written(table, second().set_dictionary_page_size_limit(900).set_write_batch_size(70))),
    ]
}

/// The kind of a value, its bytes, and whether it is missing.
type Seen = (ValueKind, Option<Vec<u8>>, bool);

/// Every value and every key of a table.
#[derive(Debug, Default, PartialEq)]
struct Contents {
    values: Vec<Vec<Seen>>,
    keys: Vec<Vec<(Vec<u8>, u64, u32)>>,
}

impl Contents {
    fn add(&mut self, batch: &mut RowBatch<'_>) -> crivo_rows::Result<()> {
        self.values.resize_with(batch.names().len(), Vec::new);
        self.keys.resize_with(batch.names().len(), Vec::new);
        for column in 0..batch.names().len() {
            for row in 0..batch.rows() {
                let cell = batch.cell(column, row);
                let kind = batch.column(column).kind(row);
                let text = batch.value(column, row).map(<[u8]>::to_vec);
                self.values[column].push((kind, text, cell == Cell::Missing));
            }
            let found = batch.keys_with_rows(column)?;
            for ((key, hash), row) in found.keys.iter().zip(found.rows) {
                let text = if let KeyRef::Bytes(text) = key { text.to_vec() } else { Vec::new() };
                self.keys[column].push((text, hash, *row));
            }
        }
        Ok(())
    }
}

fn contents(scan: &Scan<'_>) -> Contents {
    let merge = |_: &mut Contents, _| Ok(());
    scan.clone().threads(1).fold(Contents::default, Contents::add, merge).unwrap().state
}

/// Returns the profile of a table, as `crivo profile` makes it.
fn profile(input: &Input, scheme: KeyScheme) -> Vec<u8> {
    let scan = Scan::of(input).select(Select::All).keys(scheme).threads(1);
    let take = |columns: &mut Vec<TableColumn>, batch: &mut RowBatch<'_>| {
        if columns.is_empty() {
            let new = |name: &String| TableColumn::new(name, TableColumnSizes::for_memory(64 << 10), scheme);
            columns.extend(batch.names().iter().map(new).collect::<crivo::Result<Vec<_>>>()?);
        }
        let first = batch.id(0).to_u64();
        for (at, column) in columns.iter_mut().enumerate() {
            let found = batch.keys_with_rows(at)?;
            column.insert_batch(&found.keys, |key| first + u64::from(found.rows[key]) + 1)?;
        }
        Ok(())
    };
    let mut folded = scan.number_rows(true).fold(Vec::new, take, |_, _| Ok(())).unwrap();
    let mut columns = std::mem::take(&mut folded.state);
    let number = |row: u64| folded.row_number(crivo_rows::RowId::from_u64(row - 1)).unwrap();
    columns.iter_mut().for_each(|column| column.renumber(number));
    TableProfile::new(ROWS as u64, scheme, columns).unwrap().encode()
}

#[test]
fn values_and_keys_are_those_of_a_file_without_dictionaries() {
    let folder = Folder::new();
    let condition: Condition = "whole > 2".parse().unwrap();
    let mut expected = None;
    for (name, bytes) in stored(&table()) {
        let input = folder.input("table.parquet", bytes);
        let scan = Scan::of(&input).select(Select::All).keys(KeyScheme::bytes().with_seed(5));
        let found = [contents(&scan), contents(&scan.clone().satisfying(&condition).unwrap())];
        assert_eq!(found[0].values[0].len(), ROWS);
        assert!(found[1].values[0].len() < ROWS / 2);
        let expected = expected.get_or_insert_with(|| contents(&scan));
        assert!(found[0] == *expected, "{name}");
        let mut kept = expected.values[3].iter().zip(&expected.values[0]);
        let is_kept = |whole: &Seen| {
            whole.1.as_ref().is_some_and(|text| String::from_utf8_lossy(text).parse::<i64>().unwrap() > 2)
        };
        assert!(
            found[1].values[0].iter().all(|few| kept.find(|(whole, _)| is_kept(whole)).unwrap().1 == few),
            "{name}"
        );
    }
}

#[test]
fn profile_has_the_same_bytes_as_without_dictionaries() {
    let folder = Folder::new();
    let scheme = KeyScheme::bytes().with_seed(9);
    let mut expected = None;
    for (name, bytes) in stored(&table()) {
        let found = profile(&folder.input("table.parquet", bytes), scheme);
        assert!(found == *expected.get_or_insert_with(|| found.clone()), "{name}");
    }
}

#[test]
fn damaged_places_are_an_error_or_other_values_and_never_a_panic() {
    let folder = Folder::new();
    let mut random = Random::new(7);
    let bytes = written(&table().slice(0, 600), WriterProperties::builder());
    for _ in 0..400 {
        let mut damaged = bytes.clone();
        let at = random.below(bytes.len() - 2_000);
        damaged[at] = random.pick(&[0, 1, 3, 0x7F, 0x80, 0xFF, bytes[at] ^ 1, bytes[at] ^ 64]);
        let input = folder.input("table.parquet", damaged);
        let scan = Scan::of(&input).select(Select::All).threads(1);
        let _ = scan.fold(Contents::default, Contents::add, |_, _| Ok(()));
    }
}
