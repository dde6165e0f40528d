//! How the text of one file is divided, once its first record has been seen.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::input::{Format, Input};
use crate::parse::delimited::first_record;
use crate::select::{Chosen, Select};

/// What every chunk of a file needs to know.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) file: Arc<str>,
    pub(crate) shape: Shape,
    pub(crate) chosen: Chosen,
    /// Whether the one column is the record itself.
    pub(crate) whole: bool,
    /// The header's bytes, line end included.
    pub(crate) header: Option<Vec<u8>>,
}

#[derive(Debug)]
pub(crate) enum Shape {
    /// Records are lines.
    Lines,
    /// Fields stand between blanks.
    Blanks { slots: Slots },
    /// Fields stand between delimiters.
    Delimited(Delimited),
}

#[derive(Debug)]
pub(crate) struct Delimited {
    pub(crate) delimiter: Vec<u8>,
    pub(crate) quotes: bool,
    /// How many fields a record must have; any number if none.
    pub(crate) fields: Option<usize>,
    pub(crate) slots: Slots,
}

/// For each field of a record, up to the last that is wanted, the column it goes to.
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

    /// The column of a field.
    #[inline]
    pub(crate) fn of(&self, field: usize) -> Option<usize> {
        self.0.get(field).filter(|&&slot| slot != Self::NOWHERE).map(|&slot| slot as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        (0..self.0.len()).map(|field| self.of(field))
    }
}

impl Layout {
    /// The layout of a file that begins with `text`, which holds at least its first record, and
    /// where the data begin.
    pub(crate) fn of_text(
        input: &Input,
        format: Format,
        select: &Select,
        file: &Arc<str>,
        text: &[u8],
    ) -> Result<(Self, usize)> {
        let mut layout = Self {
            file: Arc::clone(file),
            shape: Shape::Lines,
            chosen: Chosen::default(),
            whole: *select == Select::Row,
            header: None,
        };
        let mut data = 0;
        match (format, input.delimiter_of(format)) {
            (Format::Csv | Format::Tsv, Some(delimiter)) => {
                let first = first_record(text, delimiter, input.quotes);
                let count = first.fields.len();
                layout.chosen = if input.header {
                    data = first.end;
                    layout.header = Some(text[first.start..first.end].to_vec());
                    let names: Vec<_> =
                        first.fields.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
                    Chosen::by_name(select, &names)
                } else {
                    Chosen::by_number(select, Some(count))
                }
                .map_err(|error| error.in_file(file))?;
                layout.shape = Shape::Delimited(Delimited {
                    delimiter: delimiter.to_vec(),
                    quotes: input.quotes,
                    fields: Some(count),
                    slots: Slots::new(&layout.chosen.fields),
                });
            }
            (Format::Lines, delimiter) => match (select, delimiter) {
                (Select::Row, _) => {}
                (Select::All, None) => {
                    layout.whole = true;
                }
                (Select::Fields(fields), _) if fields.is_empty() => {}
                (_, Some(delimiter)) => {
                    let count = match select {
                        Select::All => Some(first_record(text, delimiter, false).fields.len()),
                        _ => None,
                    };
                    layout.chosen =
                        Chosen::by_number(select, count).map_err(|error| lines_have_numbers(error, file))?;
                    layout.shape = Shape::Delimited(Delimited {
                        delimiter: delimiter.to_vec(),
                        quotes: false,
                        fields: None,
                        slots: Slots::new(&layout.chosen.fields),
                    });
                }
                (_, None) => {
                    layout.chosen =
                        Chosen::by_number(select, None).map_err(|error| lines_have_numbers(error, file))?;
                    layout.shape = Shape::Blanks { slots: Slots::new(&layout.chosen.fields) };
                }
            },
            _ => {
                return Err(Error::new(ErrorKind::Unsupported, "this format is not read yet").in_file(file));
            }
        }
        if layout.whole {
            layout.chosen.names = [String::from("line")].into();
        }
        Ok((layout, data))
    }

    /// How many columns a batch has.
    pub(crate) fn columns(&self) -> usize {
        if self.whole { 1 } else { self.chosen.columns.len() }
    }
}

fn lines_have_numbers(error: Error, file: &Arc<str>) -> Error {
    let advice = format!("{} (lines have no header: is it --format csv or jsonl?)", error.message());
    Error::new(error.kind(), advice).in_file(file)
}
