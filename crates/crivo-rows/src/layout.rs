//! How the text of one file is divided into records and fields, which its first record tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Remedy, Result};
use crate::input::{Format, Input};
use crate::parse::delimited::{blank_lines, first_record};
use crate::parse::jsonl::{NamedField, Wanted, first_names};
use crate::select::{Chosen, Select, no_such_field};

/// The settings that every chunk of a file needs.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) file: Arc<str>,
    pub(crate) format: Format,
    pub(crate) shape: Shape,
    pub(crate) chosen: Chosen,
    /// Whether the only column is the record itself.
    pub(crate) whole: bool,
    /// The header's bytes, line end included.
    pub(crate) header: Option<Vec<u8>>,
}

#[derive(Debug)]
pub(crate) enum Shape {
    /// Records are lines.
    Lines,
    /// Fields are separated by blanks.
    Blanks { slots: Slots },
    /// Fields are separated by delimiters.
    Delimited(Delimited),
    /// Records are JSON objects.
    Json(Wanted),
}

#[derive(Debug)]
pub(crate) struct Delimited {
    pub(crate) delimiter: Vec<u8>,
    pub(crate) quotes: bool,
    /// The number of fields that a record must have, or `None` for any number.
    pub(crate) fields: Option<usize>,
    pub(crate) slots: Slots,
}

/// The column of each field of a record, up to the last selected field.
#[derive(Debug)]
pub(crate) struct Slots(Vec<u32>);

impl Slots {
    const NOWHERE: u32 = u32::MAX;

    fn new(fields: &[usize]) -> Self {
        let mut slots = vec![Self::NOWHERE; fields.iter().max().map_or(0, |last| last + 1)];
        for (slot, &field) in fields.iter().enumerate() {
            slots[field] = slot as u32;
        }
        Self(slots)
    }

    /// Returns the column of a field, or `None` if the field is not selected.
    #[inline]
    pub(crate) fn of(&self, field: usize) -> Option<usize> {
        self.0.get(field).filter(|&&slot| slot != Self::NOWHERE).map(|&slot| slot as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        (0..self.0.len()).map(|field| self.of(field))
    }
}

impl Layout {
    /// Returns the layout of a file that begins with `text`, and where the data begin. `text` has
    /// at least the file's first record.
    pub(crate) fn of_text(
        input: &Input,
        format: Format,
        select: &Select,
        file: &Arc<str>,
        text: &[u8],
        seen: &mut SeenFields,
    ) -> Result<(Self, usize)> {
        let mut layout = Self {
            file: Arc::clone(file),
            format,
            shape: Shape::Lines,
            chosen: Chosen::default(),
            whole: *select == Select::Row,
            header: None,
        };
        let data = match (format, input.delimiter_of(format)) {
            (Format::Csv | Format::Tsv, Some(delimiter)) => layout.delimited(input, delimiter, select, text),
            (Format::Jsonl, _) => layout.json(select, text, seen),
            (_, delimiter) => layout.lines(delimiter, select, text),
        };
        let data = data.map_err(|error| error.in_file(file))?;
        if layout.whole {
            layout.chosen.names = [String::from("line")].into();
        }
        Ok((layout, data))
    }

    /// Returns true if these whole lines are all empty, so that more text is needed for the first
    /// record, which tells the layout.
    pub(crate) fn needs_more(input: &Input, format: Format, text: &[u8]) -> bool {
        match (format, input.delimiter_of(format)) {
            (Format::Jsonl, _) => text.trim_ascii().is_empty(),
            (_, Some(_)) => blank_lines(text) == text.len(),
            (_, None) => false,
        }
    }

    fn delimited(&mut self, input: &Input, delimiter: &[u8], select: &Select, text: &[u8]) -> Result<usize> {
        let first = first_record(text, delimiter, input.quotes);
        let count = first.fields.len();
        let mut data = 0;
        self.chosen = if input.header {
            data = first.end;
            self.header = Some(text[first.start..first.end].to_vec());
            let names: Vec<_> =
                first.fields.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
            Chosen::by_name(select, &names)?
        } else {
            Chosen::by_number(select, Some(count))?
        };
        self.shape = Shape::Delimited(Delimited {
            delimiter: delimiter.to_vec(),
            quotes: input.quotes,
            fields: Some(count),
            slots: Slots::new(&self.chosen.fields),
        });
        Ok(data)
    }

    fn lines(&mut self, delimiter: Option<&[u8]>, select: &Select, text: &[u8]) -> Result<usize> {
        let count = match (select, delimiter) {
            (Select::Row, _) => return Ok(0),
            (Select::Fields(fields), _) if fields.is_empty() => return Ok(0),
            (Select::Single, _) | (Select::All, None) => {
                self.whole = true;
                return Ok(0);
            }
            (Select::All, Some(delimiter)) => Some(first_record(text, delimiter, false).fields.len()),
            (Select::Fields(_), _) => None,
        };
        self.chosen = Chosen::by_number(select, count).map_err(|error| {
            let message = format_args!("{} (lines have no header)", error.message());
            Error::new(error.kind(), message).with_remedy(Remedy::NameFormat)
        })?;
        let slots = Slots::new(&self.chosen.fields);
        self.shape = match delimiter {
            None => Shape::Blanks { slots },
            Some(delimiter) => Shape::Delimited(Delimited {
                delimiter: delimiter.to_vec(),
                quotes: false,
                fields: None,
                slots,
            }),
        };
        Ok(0)
    }

    fn json(&mut self, select: &Select, text: &[u8], seen: &mut SeenFields) -> Result<usize> {
        let names = first_names(text);
        self.chosen = match select {
            Select::Row => return Ok(0),
            Select::All => {
                self.shape = Shape::Json(Wanted::All);
                return Ok(0);
            }
            Select::Fields(fields) => Chosen::exactly(fields, &names)?,
            Select::Single => {
                let chosen = Chosen::by_name(select, &names)?;
                Chosen { read_names: chosen.names.to_vec(), ..chosen }
            }
        };
        self.shape = Shape::Json(Wanted::Named(seen.named(&self.chosen, &self.file, &names)));
        Ok(0)
    }
}

/// Which selected fields some JSON record had, over all files. Only at the end of the input is it
/// certain that a name is wrong.
#[derive(Debug, Default)]
pub(crate) struct SeenFields {
    fields: Vec<(String, Arc<AtomicBool>)>,
    first_file: Option<Arc<str>>,
    first_names: Vec<String>,
}

impl SeenFields {
    fn named(&mut self, chosen: &Chosen, file: &Arc<str>, names: &[String]) -> Vec<NamedField> {
        if self.first_file.is_none() {
            self.first_file = Some(Arc::clone(file));
            self.first_names = names.to_vec();
            self.fields = chosen.read_names.iter().map(|name| (name.clone(), Arc::default())).collect();
        }
        let fields = self.fields.iter();
        fields.map(|(name, seen)| NamedField::new(name, names.contains(name), Arc::clone(seen))).collect()
    }

    /// Returns an error for a field that no record had.
    pub(crate) fn require_all(&self) -> Result<()> {
        let unseen = self.fields.iter().find(|(_, seen)| !seen.load(Ordering::Relaxed));
        match (unseen, &self.first_file) {
            (Some((name, _)), Some(file)) => Err(no_such_field(name, &self.first_names).in_file(file)),
            _ => Ok(()),
        }
    }
}
