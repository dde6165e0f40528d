//! `crivo_near_duplicates(id, text, threshold)`: which of these texts are near-duplicates?
//!
//! It is an aggregate, because functions of the C API cannot read a table by its name. The
//! documents of a group are collected, and compared after the last one. `UNNEST` turns the
//! resulting list into rows.
//!
//! A table function could read only on a connection of its own. Such a connection does not see
//! temporary tables or changes of the transaction, and it would keep the database open.
//! docs/duckdb.md makes a table function with a macro, which the user creates, because DuckDB's
//! system catalog takes no macro from an extension through the C API.

use std::sync::Arc;

use crivo_near::{Settings, Texts, near_duplicates};

use crate::api::{Aggregate, Chunk, Column, Output, States, Type, Values};
use crate::error::{Result, SqlError};
use crate::rule::{SameInAllRows, constant_double};

pub(crate) struct NearDuplicates;

/// The least similarity of near-duplicates if the caller gives none.
const THRESHOLD: f64 = 0.8;

const INTEGER_PAIRS: Type = Type::List(&Type::Struct(&[
    ("one", Type::BigInt),
    ("other", Type::BigInt),
    ("similarity", Type::Double),
]));
const TEXT_PAIRS: Type = Type::List(&Type::Struct(&[
    ("one", Type::Varchar),
    ("other", Type::Varchar),
    ("similarity", Type::Double),
]));

#[derive(Default)]
pub(crate) struct NearState(Option<Box<Collected>>);

/// The documents collected so far for a group.
#[derive(Default)]
struct Collected {
    threshold: SameInAllRows<f64>,
    /// Parts that were collected separately. They are shared, because DuckDB keeps both states when
    /// it combines two.
    parts: Vec<Arc<Vec<Document>>>,
}

/// The positions of two documents, and their similarity.
type Pair = (u32, u32, f64);

#[derive(Debug, Clone)]
struct Document {
    id: Id,
    text: Box<[u8]>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Integer(i64),
    Text(Box<[u8]>),
}

impl Aggregate for NearDuplicates {
    type State = NearState;

    const NAME: &'static str = "crivo_near_duplicates";
    const OVERLOADS: &'static [(&'static [Type], Type)] = &[
        (&[Type::BigInt, Type::Varchar], INTEGER_PAIRS),
        (&[Type::BigInt, Type::Varchar, Type::Double], INTEGER_PAIRS),
        (&[Type::Varchar, Type::Varchar], TEXT_PAIRS),
        (&[Type::Varchar, Type::Varchar, Type::Double], TEXT_PAIRS),
    ];

    fn update(chunk: &Chunk<'_>, states: &mut States<'_, NearState>) -> Result<()> {
        if chunk.rows() == 0 {
            return Ok(());
        }
        let (ids, texts) = (chunk.column(0)?, chunk.column(1)?);
        let threshold =
            if chunk.columns() > 2 { constant_double(&chunk.column(2)?, "threshold")? } else { THRESHOLD };
        Settings { threshold, ..Settings::default() }.bands()?;
        for row in 0..chunk.rows() {
            let collected = states.of_row(row).0.get_or_insert_default();
            collected.threshold.update(&threshold, "threshold")?;
            if texts.is_valid(row) {
                let id = id_of(&ids, row)?;
                collected.push(Document { id, text: texts.strings()[row].bytes().into() });
            }
        }
        Ok(())
    }

    fn combine(source: &NearState, target: &mut NearState) -> Result<()> {
        if let Some(source) = &source.0 {
            let target = target.0.get_or_insert_default();
            target.threshold.combine(&source.threshold, "threshold")?;
            target.parts.extend(source.parts.iter().map(Arc::clone));
        }
        Ok(())
    }

    fn finish(state: &mut NearState, row: usize, out: &mut Output<'_>) -> Result<()> {
        let Some(collected) = &state.0 else {
            out.null(row);
            return Ok(());
        };
        let (documents, pairs) = collected.pairs()?;
        let (mut elements, first) = out.list(row, pairs.len());
        for (place, &(one, other, similarity)) in (first..).zip(&pairs) {
            for (field, member) in [(0, one), (1, other)] {
                match &documents[member as usize].id {
                    Id::Integer(id) => elements.field(field).bigint(place, *id),
                    Id::Text(id) => elements.field(field).bytes(place, id),
                }
            }
            elements.field(2).double(place, similarity);
        }
        Ok(())
    }
}

fn id_of(ids: &Column<'_>, row: usize) -> Result<Id> {
    match ids.values() {
        Values::Int64(values) if ids.is_valid(row) => Ok(Id::Integer(values[row])),
        Values::Bytes(values) if ids.is_valid(row) => Ok(Id::Text(values[row].bytes().into())),
        _ => Err(SqlError::expected("id", "a value for each text", "NULL")),
    }
}

impl Collected {
    fn push(&mut self, document: Document) {
        if let Some(part) = self.parts.last_mut().and_then(Arc::get_mut) {
            part.push(document);
        } else {
            self.parts.push(Arc::new(vec![document]));
        }
    }

    /// Returns the documents sorted by id, and the pairs of their positions with their
    /// similarities.
    ///
    /// The order of the rows depends on the threads of the query; the order of the ids does not.
    fn pairs(&self) -> Result<(Vec<&Document>, Vec<Pair>)> {
        let mut documents: Vec<&Document> = self.parts.iter().flat_map(|part| part.iter()).collect();
        documents.sort_by(|one, other| (&one.id, &one.text).cmp(&(&other.id, &other.text)));
        let texts: Vec<&[u8]> = documents.iter().map(|document| &*document.text).collect();
        let settings =
            Settings { threshold: self.threshold.get().copied().unwrap_or(THRESHOLD), ..Settings::default() };
        let threads = crivo_near::thread_count(settings.threads);
        let outcome = near_duplicates(&Texts::new(&texts, threads), &settings, &())?;
        let mut pairs = Vec::new();
        outcome.for_each_pair(|one, other, similarity| {
            pairs.push((outcome.place(one) as u32, outcome.place(other) as u32, similarity));
            Ok(())
        })?;
        Ok((documents, pairs))
    }
}
