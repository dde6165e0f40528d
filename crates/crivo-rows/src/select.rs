//! Which fields of a record are selected, and their positions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Remedy, Result};

/// What a step of a [`Scan`](crate::Scan) gets of each record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Select {
    /// The whole record as one column: its bytes without the line end.
    Row,
    /// The only value of a record: the whole line if records are lines, or the field if they have
    /// only one. Several fields are an error that lists them. Commands use it if no field is named.
    Single,
    /// These fields in this order, each by name or by number (from 1). Names take precedence, so a
    /// column with the name `2020` is found by it. Without any field, records are only counted.
    ///
    /// If no field has the whole name, `a,b` is one column of two values (docs/keys.md defines its
    /// text). In JSON, `a.b` is then the field `b` of the object `a`, and `a[]` is each element of
    /// the array `a`.
    Fields(Vec<String>),
    /// All fields. The columns of a JSONL file are those of the records read so far. So they can
    /// differ between batches; see [`RowBatch::names`](crate::RowBatch::names).
    All,
}

impl Select {
    /// Selects one field.
    pub fn field(field: impl Into<String>) -> Self {
        Self::Fields(vec![field.into()])
    }

    /// Selects several fields.
    pub fn fields<F: Into<String>>(fields: impl IntoIterator<Item = F>) -> Self {
        Self::Fields(fields.into_iter().map(Into::into).collect())
    }

    /// Returns true if a field may have several values in a record, which are the elements of an
    /// array.
    pub fn may_have_elements(&self) -> bool {
        matches!(self, Self::Fields(fields) if fields.iter().any(|field| field.ends_with(ELEMENTS)))
    }
}

/// The selected fields of one file. A field that is selected twice is read once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// The number of each field to read, from 0.
    pub(crate) fields: Vec<usize>,
    /// For each column of the batch, its index in `fields`, or beyond them in `joined`.
    pub(crate) columns: Vec<usize>,
    /// For each column of several values, the indexes of its parts in `fields`.
    pub(crate) joined: Vec<Vec<usize>>,
    /// For each column of the batch, whether its values are arrays whose elements are items. If
    /// empty, no column has elements.
    pub(crate) elements: Vec<bool>,
    /// The name of each field to read, if fields are found by name in each record.
    pub(crate) read_names: Vec<String>,
    /// The name of each column of the batch.
    pub(crate) names: Arc<[String]>,
}

impl Chosen {
    /// Selects these fields, in this order.
    pub(crate) fn from_numbers(numbers: &[usize], name: impl Fn(usize) -> String) -> Self {
        let mut fields = Vec::new();
        let mut columns = Vec::with_capacity(numbers.len());
        let mut places = HashMap::new();
        for &number in numbers {
            columns.push(*places.entry(number).or_insert_with(|| {
                fields.push(number);
                fields.len() - 1
            }));
        }
        let names = numbers.iter().map(|&number| name(number)).collect();
        Self { fields, columns, names, ..Self::default() }
    }

    /// Returns the selected fields of a file whose fields have names.
    pub(crate) fn by_name(wanted: &Select, names: &[String]) -> Result<Self> {
        let numbers = match wanted {
            Select::Row => Vec::new(),
            Select::Single if names.len() == 1 => vec![0],
            Select::Single => return Err(choose_one(names)),
            Select::All => (0..names.len()).collect(),
            Select::Fields(fields) => {
                return Self::with_joined(fields, |field| find(field, names), |number| names[number].clone());
            }
        };
        Ok(Self::from_numbers(&numbers, |number| names[number].clone()))
    }

    /// Returns the fields that `find` finds. A field that is not found is split at commas into
    /// several, if all of them are found.
    fn with_joined(
        wanted: &[String],
        find: impl Fn(&str) -> Result<usize>,
        name: impl Fn(usize) -> String,
    ) -> Result<Self> {
        let mut numbers = Vec::new();
        // For each selected column, where its parts begin, and the number of parts.
        let mut columns = Vec::new();
        for field in wanted {
            let start = numbers.len();
            match find(field) {
                Ok(number) => numbers.push(number),
                Err(error) if field.contains(SEPARATOR) => {
                    let parts: Result<Vec<usize>> = field.split(SEPARATOR).map(&find).collect();
                    numbers.extend(parts.map_err(|part| if is_single(field) { error } else { part })?);
                }
                Err(error) => return Err(error),
            }
            columns.push(start..numbers.len());
        }
        let mut chosen = Self::from_numbers(&numbers, name);
        if columns.iter().any(|parts| parts.len() > 1) {
            let places = std::mem::take(&mut chosen.columns);
            let names = std::mem::take(&mut chosen.names);
            for parts in &columns {
                chosen.columns.push(match &places[parts.clone()] {
                    [place] => *place,
                    parts => {
                        chosen.joined.push(parts.to_vec());
                        chosen.fields.len() + chosen.joined.len() - 1
                    }
                });
            }
            chosen.names = columns.iter().map(|parts| names[parts.clone()].join(",")).collect();
        }
        Ok(chosen)
    }

    /// Selects fields by exactly these names, for records that need not have the same fields.
    /// `known` are the names in the first record.
    pub(crate) fn exactly(wanted: &[String], known: &[String]) -> Result<Self> {
        let is_known = |name: &str| known.iter().any(|known| known == name);
        let mut unique: Vec<String> = Vec::new();
        let parts_of = |field: &String| -> Vec<String> {
            let is_joined = field.contains(SEPARATOR) && !is_known(field) && !is_single(field);
            if is_joined { field.split(SEPARATOR).map(String::from).collect() } else { vec![field.clone()] }
        };
        for part in wanted.iter().flat_map(&parts_of) {
            if !unique.contains(&part) {
                unique.push(part);
            }
        }
        let find = |name: &str| {
            let place = unique.iter().position(|known| known == name);
            place.ok_or_else(|| no_such_field(name, known))
        };
        let mut chosen = Self::with_joined(wanted, find, |number| unique[number].clone())?;
        let is_array = |name: &String| name.ends_with(ELEMENTS) && !is_known(name);
        if let Some(array) =
            wanted.iter().find(|field| field.contains(SEPARATOR) && parts_of(field).iter().any(is_array))
        {
            let message = format_args!(
                "'{array}': the elements of an array are items by themselves, and no part of another"
            );
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        chosen.elements = wanted.iter().map(is_array).collect();
        // The names of the fields to read, in the order of `fields`.
        chosen.read_names = unique;
        Ok(chosen)
    }

    /// Returns the selected fields of a file whose fields have only numbers. `count` is their
    /// number, if known.
    pub(crate) fn by_number(wanted: &Select, count: Option<usize>) -> Result<Self> {
        let numbers = match wanted {
            Select::Row => Vec::new(),
            Select::Single if count == Some(1) => vec![0],
            Select::Single => {
                let numbers: Vec<String> =
                    (1..=count.unwrap_or(0)).map(|number| number.to_string()).collect();
                return Err(choose_one(&numbers));
            }
            Select::All => (0..count.unwrap_or(0)).collect(),
            Select::Fields(fields) => {
                return Self::with_joined(
                    fields,
                    |field| number(field, count),
                    |number| (number + 1).to_string(),
                );
            }
        };
        Ok(Self::from_numbers(&numbers, |number| (number + 1).to_string()))
    }
}

/// The highest number of a field of lines. Every field up to the selected one takes memory.
const MOST_FIELDS: usize = 1 << 16;
/// Separates the fields of a column of several values.
const SEPARATOR: char = ',';
/// Marks the name of an array whose elements are items.
pub(crate) const ELEMENTS: &str = "[]";

/// Returns true if a name with separators cannot be several names, because one of them would be
/// empty.
fn is_single(field: &str) -> bool {
    field.split(SEPARATOR).any(str::is_empty)
}

/// Returns the place of a field, which is given by its name or its number.
pub(crate) fn find(field: &str, names: &[String]) -> Result<usize> {
    let mut with_name = (0..names.len()).filter(|&at| names[at] == field);
    match (with_name.next(), with_name.next()) {
        (Some(at), None) => Ok(at),
        (Some(first), Some(second)) => Err(Error::new(
            ErrorKind::NoSuchField,
            format_args!(
                "fields {} and {} are both called '{field}': choose by number",
                first + 1,
                second + 1
            ),
        )),
        _ => match field.parse::<usize>() {
            Ok(number @ 1..) if number <= names.len() => Ok(number - 1),
            _ => Err(no_such_field(field, names)),
        },
    }
}

fn number(field: &str, count: Option<usize>) -> Result<usize> {
    match (field.parse::<usize>(), count) {
        (Ok(number), None) if number > MOST_FIELDS => Err(Error::new(
            ErrorKind::NoSuchField,
            format_args!("there is no field {field}: fields have numbers from 1 to {MOST_FIELDS}"),
        )),
        (Ok(number @ 1..), None) => Ok(number - 1),
        (Ok(number @ 1..), Some(count)) if number <= count => Ok(number - 1),
        (Ok(_), Some(count)) => Err(Error::new(
            ErrorKind::NoSuchField,
            format_args!("there is no field {field}: the records have {count}, numbered from 1"),
        )),
        _ => Err(Error::new(
            ErrorKind::NoSuchField,
            format_args!("there is no field '{field}': without a header fields have numbers, from 1"),
        )),
    }
}

/// Returns the end of a message about an unknown name: the nearest known name, or nothing if none
/// is near.
pub fn suggestion<'a>(field: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = names
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| (strsim::damerau_levenshtein(&name.to_lowercase(), &field.to_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= 1 + name.chars().count() / 4);
    near.map_or(String::new(), |(_, name)| format!("; did you mean '{name}'?"))
}

/// Returns the error for an unknown field. It lists as many fields as fit, and suggests the
/// nearest.
pub(crate) fn no_such_field(field: &str, names: &[String]) -> Error {
    let suggestion = suggestion(field, names.iter().map(String::as_str));
    Error::new(
        ErrorKind::NoSuchField,
        format_args!("there is no field '{field}'{suggestion} (fields: {})", list(names)),
    )
}

/// Returns the error for a missing selection if there are several fields.
pub(crate) fn choose_one(names: &[String]) -> Error {
    Error::new(
        ErrorKind::NoSuchField,
        format_args!("records have {} fields: choose one (fields: {})", names.len(), list(names)),
    )
    .with_remedy(Remedy::ChooseField)
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 30;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        left => format!("{} and {left} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["user", "time", "2020", "url"].map(String::from).into()
    }

    #[test]
    fn name_is_tried_before_number_and_repeats_are_read_once() {
        let chosen = Chosen::by_name(&Select::fields(["2020", "1", "2020", "url"]), &names()).unwrap();
        assert_eq!(chosen.fields, [2, 0, 3]);
        assert_eq!(chosen.columns, [0, 1, 0, 2]);
        assert_eq!(&*chosen.names, ["2020", "user", "2020", "url"]);
    }

    #[test]
    fn unknown_field_lists_the_names_and_suggests_the_nearest() {
        let error = Chosen::by_name(&Select::field("tiem"), &names()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSuchField);
        assert_eq!(
            error.to_string(),
            "there is no field 'tiem'; did you mean 'time'? (fields: user, time, 2020, url)"
        );
        let error = Chosen::by_name(&Select::field("colour"), &names()).unwrap_err();
        assert!(!error.to_string().contains("did you mean"), "{error}");
    }

    #[test]
    fn numbers_begin_at_one_and_end_at_the_count() {
        assert!(Chosen::by_name(&Select::field("0"), &names()).is_err());
        assert_eq!(Chosen::by_name(&Select::field("4"), &names()).unwrap().fields, [3]);
        assert!(Chosen::by_name(&Select::field("5"), &names()).is_err());
        assert!(Chosen::by_number(&Select::field("5"), Some(4)).is_err());
        assert!(Chosen::by_number(&Select::field("user"), Some(4)).is_err());
        assert_eq!(Chosen::by_number(&Select::field("5"), None).unwrap().fields, [4]);
        assert_eq!(Chosen::by_number(&Select::field("65536"), None).unwrap().fields, [65_535]);
        for far in ["65537", "99999999999", "1,18446744073709551615"] {
            let error = Chosen::by_number(&Select::field(far), None).unwrap_err();
            assert!(error.to_string().contains("numbers from 1 to 65536"), "{error}");
        }
    }

    #[test]
    fn name_that_occurs_twice_must_be_chosen_by_number() {
        let names = ["a", "b", "a"].map(String::from);
        let error = Chosen::by_name(&Select::field("a"), &names).unwrap_err();
        assert!(error.to_string().contains("fields 1 and 3"), "{error}");
    }

    #[test]
    fn several_fields_are_one_column_unless_one_has_that_name() {
        let chosen =
            Chosen::by_name(&Select::fields(["user,url", "time", "url,2020,user"]), &names()).unwrap();
        assert_eq!(chosen.fields, [0, 3, 1, 2]);
        assert_eq!(chosen.columns, [4, 2, 5]);
        assert_eq!(chosen.joined, [vec![0, 1], vec![1, 3, 0]]);
        assert_eq!(&*chosen.names, ["user,url", "time", "url,2020,user"]);
        let odd = ["a", "b", "a,b"].map(String::from);
        assert_eq!(Chosen::by_name(&Select::field("a,b"), &odd).unwrap().fields, [2]);
        let error = Chosen::by_name(&Select::field("user,tiem"), &names()).unwrap_err();
        assert!(error.to_string().contains("there is no field 'tiem'; did you mean 'time'?"), "{error}");
        let error = Chosen::by_name(&Select::field("user,"), &names()).unwrap_err();
        assert!(error.to_string().contains("'user,'"), "{error}");
        assert_eq!(Chosen::by_number(&Select::field("2,1"), None).unwrap().joined, [vec![0, 1]]);
    }

    #[test]
    fn fields_of_json_are_taken_as_they_are_named() {
        let wanted = ["a,b.c", "tags[]", "x,y"].map(String::from);
        let known = ["x,y"].map(String::from);
        let chosen = Chosen::exactly(&wanted, &known).unwrap();
        assert_eq!(chosen.read_names, ["a", "b.c", "tags[]", "x,y"]);
        assert_eq!(
            (chosen.columns.as_slice(), chosen.elements.as_slice()),
            (&[4, 2, 3][..], &[false, true, false][..])
        );
        assert!(Chosen::exactly(&["a,tags[]".into()], &known).is_err());
    }
}
