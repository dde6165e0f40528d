//! Tests that the batches of a column have the keys of its single values, in the order of the rows.

#![allow(clippy::unwrap_used)] // what fails here should fail loudly

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::{Int32Type, UInt16Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, DurationSecondArray, Float64Array, Int32Array,
    Int64Array, NullArray, RunArray, StringArray, StringViewArray, Time32SecondArray, UInt16Array,
    UInt64Array,
};
use crivo::keys::{KeyScheme, OwnedKey};
use crivo_arrow::numbers::take_numbers;
use crivo_arrow::{Error, ErrorKind, Feed, Stretch, gather, texts_of};

/// Returns the key of each row, or `None` if the value is missing.
fn keys_of(scheme: KeyScheme, array: &dyn Array) -> Result<Vec<Option<OwnedKey>>, Error> {
    let mut found = Vec::new();
    let mut take = |stretch: Stretch<'_>| {
        let keys: Vec<_> = stretch.keys.iter().collect();
        for (key, hash) in &keys {
            assert_eq!(scheme.hash_ref(*key)?, *hash);
        }
        let mut rows = Vec::new();
        let next = stretch.rows(found.len() as u64, &mut rows);
        let start = found.len();
        found.resize(next as usize, None);
        assert!(rows.iter().all(|&row| row as usize >= start));
        for (row, (key, _)) in rows.iter().zip(keys) {
            found[*row as usize] = Some(key.to_owned());
        }
        Ok::<(), Error>(())
    };
    let mut feed = Feed::new(scheme, &mut take);
    feed.column("c", array)?;
    let missing = feed.missing();
    assert_eq!(found.iter().filter(|key| key.is_none()).count() as u64, missing);
    Ok(found)
}

fn texts(values: &[Option<&str>]) -> Vec<Option<OwnedKey>> {
    let key = |text: &&str| (!text.is_empty()).then(|| OwnedKey::Bytes(text.as_bytes().into()));
    values.iter().map(|value| value.as_ref().and_then(key)).collect()
}

/// Returns enough rows for several batches, with single missing values and long runs of them.
fn words(rows: usize) -> Vec<Option<&'static str>> {
    let word = |row: usize| match row % 7 {
        0 => Some("ana"),
        1 if row.is_multiple_of(3) => None,
        2 => Some(""),
        _ if (5000..7500).contains(&row) => None,
        3 => Some("a text that is longer than twelve bytes"),
        _ => Some("rui"),
    };
    (0..rows).map(word).collect()
}

#[test]
fn dictionaries_and_runs_have_the_keys_of_the_plain_column() {
    let words = words(40_000);
    let expected = texts(&words);
    let plain = StringArray::from(words.clone());
    let dictionary: DictionaryArray<Int32Type> = words.iter().copied().collect();
    // One value is null and one is used by no row.
    let values: ArrayRef = Arc::new(StringArray::from(vec![None, Some("unused"), Some("rui"), Some("ana")]));
    let places: UInt16Array =
        words.iter().map(|word| Some(if *word == Some("ana") { 3 } else { 0 })).collect();
    let with_null = DictionaryArray::<UInt16Type>::new(places, values);
    let only_ana: Vec<_> = words.iter().map(|word| word.filter(|word| *word == "ana")).collect();
    let ends: Int32Array = (1..=words.len() as i32).collect();
    let runs = RunArray::<Int32Type>::try_new(&ends, &plain).unwrap();
    let view = StringViewArray::from(words.clone());
    let scheme = KeyScheme::bytes().with_seed(3);
    for array in [&plain as &dyn Array, &dictionary, &runs, &view] {
        assert_eq!(keys_of(scheme, array).unwrap(), expected, "{}", array.data_type());
        for (start, len) in [(0, 3), (4990, 2600), (17, 20_000)] {
            let slice = array.slice(start, len);
            let found = keys_of(scheme, &slice).unwrap();
            assert_eq!(found, expected[start..start + len], "{}, {start}", array.data_type());
        }
        let mut borrowed = Vec::new();
        texts_of(array, &mut borrowed).unwrap();
        let bytes: Vec<_> = words.iter().map(|word| word.map(str::as_bytes)).collect();
        assert_eq!(borrowed, bytes);
    }
    assert_eq!(keys_of(scheme, &with_null).unwrap(), texts(&only_ana));
}

#[test]
fn long_runs_are_keyed_row_by_row() {
    let ends = Int32Array::from(vec![1, 50_000, 50_001]);
    let runs = RunArray::<Int32Type>::try_new(&ends, &StringArray::from(vec!["a", "b", "c"])).unwrap();
    let slice = runs.slice(10, 49_991);
    let found = keys_of(KeyScheme::bytes(), &slice).unwrap();
    let mut expected = vec![Some("b"); 49_990];
    expected.push(Some("c"));
    assert_eq!(found, texts(&expected));
}

#[test]
fn dictionary_without_values_has_only_missing_rows() {
    let dictionary: DictionaryArray<Int32Type> = vec![None::<&str>; 5].into_iter().collect();
    assert_eq!(dictionary.values().len(), 0);
    assert_eq!(keys_of(KeyScheme::bytes(), &dictionary).unwrap(), vec![None; 5]);
    assert_eq!(keys_of(KeyScheme::bytes(), &NullArray::new(3000)).unwrap(), vec![None; 3000]);
    let mut borrowed = Vec::new();
    texts_of(&dictionary, &mut borrowed).unwrap();
    assert_eq!(borrowed, [None; 5]);
}

#[test]
fn integers_are_keys_of_every_kind() {
    let values = vec![Some(-1_i64), None, Some(7)];
    let plain = Int64Array::from(values);
    let ends = Int32Array::from(vec![2, 4]);
    let runs = RunArray::<Int32Type>::try_new(&ends, &Int64Array::from(vec![-1, 7])).unwrap();
    let integer = |value: i64| Some(OwnedKey::Integer(value as u64));
    let scheme = KeyScheme::integers();
    assert_eq!(keys_of(scheme, &plain).unwrap(), [integer(-1), None, integer(7)]);
    assert_eq!(keys_of(scheme, &runs).unwrap(), [-1, -1, 7, 7].map(integer));
    let hashes = keys_of(KeyScheme::hashes(), &UInt64Array::from(vec![5, u64::MAX])).unwrap();
    assert_eq!(hashes, [5, u64::MAX].map(|hash| Some(OwnedKey::Hash(hash))));
}

#[test]
fn refused_column_is_named_with_its_type() {
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("a")]);
    let lists: ArrayRef = Arc::new(lists.finish());
    let nested = DictionaryArray::<Int32Type>::new(Int32Array::from(vec![0]), Arc::clone(&lists));
    let duration = DurationSecondArray::from(vec![1]);
    let kinds = [
        (KeyScheme::bytes(), &lists as &dyn Array, ErrorKind::UnsupportedType, "List"),
        (KeyScheme::bytes(), &nested, ErrorKind::UnsupportedType, "Dictionary(Int32, List"),
        (KeyScheme::bytes(), &duration, ErrorKind::UnsupportedType, "Duration(s)"),
        (KeyScheme::integers(), &StringArray::from(vec!["1"]), ErrorKind::NotIntegers, "Utf8"),
        (KeyScheme::integers(), &BooleanArray::from(vec![true]), ErrorKind::NotIntegers, "Boolean"),
        (KeyScheme::hashes(), &Float64Array::from(vec![1.0]), ErrorKind::NotHashes, "Float64"),
        (KeyScheme::hashes(), &Int32Array::from(vec![1]), ErrorKind::NotHashes, "32-bit integers"),
        (KeyScheme::bytes(), &Time32SecondArray::from(vec![-1]), ErrorKind::InvalidValue, "-1 Second"),
    ];
    for (scheme, array, kind, found) in kinds {
        let error = keys_of(scheme, array).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().starts_with("column 'c': expected "), "{error}");
        assert!(error.found().contains(found), "{error}");
    }
}

#[test]
fn numbers_of_dictionaries_and_runs_count_as_often_as_they_occur() {
    let numbers_of = |array: &dyn Array| {
        let mut found = Vec::new();
        let mut take = |numbers: &[f64], gaps: &[usize]| {
            let mut part: Vec<Option<f64>> = numbers.iter().copied().map(Some).collect();
            gaps.iter().enumerate().for_each(|(before, gap)| part.insert(gap + before, None));
            found.append(&mut part);
            Ok::<(), Error>(())
        };
        take_numbers("c", array, &mut take).map(|()| found)
    };
    let plain = Float64Array::from(vec![Some(1.5), None, Some(1.5), Some(-2.0)]);
    let expected = vec![Some(1.5), None, Some(1.5), Some(-2.0)];
    assert_eq!(numbers_of(&plain).unwrap(), expected);
    let values: ArrayRef = Arc::new(Float64Array::from(vec![1.5, -2.0]));
    let places = Int32Array::from(vec![Some(0), None, Some(0), Some(1)]);
    assert_eq!(numbers_of(&DictionaryArray::new(places, values)).unwrap(), expected);
    let ends = Int32Array::from(vec![20_000, 20_001]);
    let runs = RunArray::<Int32Type>::try_new(&ends, &Int64Array::from(vec![Some(3), None])).unwrap();
    let found = numbers_of(&runs).unwrap();
    assert_eq!((found.len(), found[19_999], found[20_000]), (20_001, Some(3.0), None));
    assert_eq!(numbers_of(&NullArray::new(2)).unwrap(), [None; 2]);
    let error = numbers_of(&StringArray::from(vec!["1"])).unwrap_err();
    assert_eq!(error.to_string(), "column 'c': expected a column of numbers, found Utf8");
}

#[test]
fn gathered_entries_are_those_of_present_values() {
    let mut found = Vec::new();
    gather(&[0, 0, 2], &[9, 9, 1, 2, 9, 3], &mut found);
    assert_eq!(found, [1, 2, 3]);
}
