//! Which fields of a record are wanted, and where they are.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};

/// What of each record a [`Scan`](crate::Scan) hands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Select {
    /// The whole record as one column: its bytes as they stand, without the line end.
    Row,
    /// The one thing there is: the whole line where records are lines, the field where they have
    /// only one; else an error that lists the fields. What a command means when no field is named.
    Single,
    /// These fields, in this order, each by name or by number (from 1). A name is tried first,
    /// so a column that is called `2020` is found by it. None at all counts records only.
    Fields(Vec<String>),
    /// Every field. The columns of a JSONL file are those of the records seen so far, so they
    /// can differ between batches: [`RowBatch::names`](crate::RowBatch::names) tells.
    All,
}

impl Select {
    /// One field.
    pub fn field(field: impl Into<String>) -> Self {
        Self::Fields(vec![field.into()])
    }

    /// Several fields.
    pub fn fields<F: Into<String>>(fields: impl IntoIterator<Item = F>) -> Self {
        Self::Fields(fields.into_iter().map(Into::into).collect())
    }
}

/// The wanted fields of one file. A field asked for twice is read once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// The number of each field to read, from 0.
    pub(crate) fields: Vec<usize>,
    /// For each column of the batch, which of `fields` it is.
    pub(crate) columns: Vec<usize>,
    /// The name of each column of the batch.
    pub(crate) names: Arc<[String]>,
}

impl Chosen {
    /// These fields, in this order.
    pub(crate) fn from_numbers(numbers: &[usize], name: impl Fn(usize) -> String) -> Self {
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        for &number in numbers {
            let at = fields.iter().position(|&field| field == number).unwrap_or_else(|| {
                fields.push(number);
                fields.len() - 1
            });
            columns.push(at);
        }
        Self { fields, columns, names: numbers.iter().map(|&number| name(number)).collect() }
    }

    /// The wanted fields of a file whose fields have names.
    pub(crate) fn by_name(wanted: &Select, names: &[String]) -> Result<Self> {
        let numbers = match wanted {
            Select::Row => Vec::new(),
            Select::Single if names.len() == 1 => vec![0],
            Select::Single => return Err(choose_one(names)),
            Select::All => (0..names.len()).collect(),
            Select::Fields(fields) => {
                fields.iter().map(|field| find(field, names)).collect::<Result<Vec<_>>>()?
            }
        };
        Ok(Self::from_numbers(&numbers, |number| names[number].clone()))
    }

    /// These names as they are, where records need not have the same fields.
    pub(crate) fn exactly(names: &[String]) -> Self {
        let numbers: Vec<usize> =
            names.iter().enumerate().map(|(at, name)| first_place(names, name).unwrap_or(at)).collect();
        Self::from_numbers(&numbers, |number| names[number].clone())
    }

    /// The name of each field to read.
    pub(crate) fn unique_names(&self) -> impl Iterator<Item = &str> {
        let place = |field| self.columns.iter().position(|&column| column == field);
        (0..self.fields.len()).filter_map(move |field| Some(self.names[place(field)?].as_str()))
    }

    /// The wanted fields of a file whose fields have only numbers; `count` of them, if known.
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
                fields.iter().map(|field| number(field, count)).collect::<Result<Vec<_>>>()?
            }
        };
        Ok(Self::from_numbers(&numbers, |number| (number + 1).to_string()))
    }
}

fn first_place(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|known| known == name)
}

fn find(field: &str, names: &[String]) -> Result<usize> {
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

/// Names as many fields as fit a message, and the nearest one.
pub(crate) fn no_such_field(field: &str, names: &[String]) -> Error {
    let near = names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&name.to_lowercase(), &field.to_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= 1 + name.chars().count() / 4);
    let suggestion = near.map_or(String::new(), |(_, name)| format!("; did you mean '{name}'?"));
    Error::new(
        ErrorKind::NoSuchField,
        format_args!("there is no field '{field}'{suggestion} (fields: {})", list(names)),
    )
}

/// No field was named, and there are several.
pub(crate) fn choose_one(names: &[String]) -> Error {
    Error::new(
        ErrorKind::NoSuchField,
        format_args!("records have {} fields: choose one with -f (fields: {})", names.len(), list(names)),
    )
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
    }

    #[test]
    fn name_that_occurs_twice_must_be_chosen_by_number() {
        let names = ["a", "b", "a"].map(String::from);
        let error = Chosen::by_name(&Select::field("a"), &names).unwrap_err();
        assert!(error.to_string().contains("fields 1 and 3"), "{error}");
    }
}
