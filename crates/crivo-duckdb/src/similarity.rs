//! Functions for the similarity of two texts.

use crivo::codec::{AnySketch, StoredSketch};
use crivo::keys::KeyScheme;
use crivo::similarity::MinHash;
use crivo::similarity::jaccard::jaccard_sorted;
use crivo::similarity::shingle::Shingles;
use crivo_near::TextShingler;

use crate::api::{Chunk, Column, ESTIMATE, Output, Scalar, Type};
use crate::ask::null_where;
use crate::error::{Result, SqlError};

/// The slots of a signature. The error of a similarity is below 0.09 with 95 % confidence.
const SLOTS: u32 = 128;

/// `crivo_minhash(text)`: a signature for comparing texts.
pub(crate) struct Signature;

impl Scalar for Signature {
    const NAME: &'static str = "crivo_minhash";
    const OVERLOADS: &'static [&'static [Type]] = &[&[Type::Varchar], &[Type::Varchar, Type::Varchar]];
    const RETURNS: Type = Type::Blob;

    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()> {
        let texts = chunk.column(0)?;
        let kinds = optional_column(chunk, 1)?;
        let mut shinglers = Shinglers::default();
        let empty = MinHash::with_scheme(SLOTS, KeyScheme::hashes())?;
        for row in (0..chunk.rows()).filter(|&row| texts.is_valid(row)) {
            let Some(shingler) = shinglers.of_row(kinds.as_ref(), row)? else {
                out.null(row);
                continue;
            };
            let mut signature = empty.clone();
            signature.insert_hashes(shingler.shingles(texts.strings()[row].bytes()));
            out.bytes(row, &signature.encode());
        }
        null_where(chunk, &[&texts], |row| out.null(row));
        Ok(())
    }
}

/// `crivo_similarity(a, b)`: the Jaccard similarity of two sets, estimated from their signatures.
pub(crate) struct Similarity;

impl Scalar for Similarity {
    const NAME: &'static str = "crivo_similarity";
    const OVERLOADS: &'static [&'static [Type]] = &[&[Type::Blob, Type::Blob]];
    const RETURNS: Type = ESTIMATE;

    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()> {
        let (ones, others) = (chunk.column(0)?, chunk.column(1)?);
        for row in (0..chunk.rows()).filter(|&row| ones.is_valid(row) && others.is_valid(row)) {
            let one: MinHash = decoded(ones.strings()[row].bytes())?;
            let other: MinHash = decoded(others.strings()[row].bytes())?;
            if one.is_empty() && other.is_empty() {
                // The similarity of two empty sets is undefined.
                out.null_struct(row, 3);
            } else {
                out.estimate(row, one.similarity(&other)?);
            }
        }
        null_where(chunk, &[&ones, &others], |row| out.null_struct(row, 3));
        Ok(())
    }
}

fn decoded<S: StoredSketch>(bytes: &[u8]) -> Result<S> {
    Ok(AnySketch::decode(bytes)?.downcast()?)
}

/// `crivo_jaccard(one, other)`: the exact Jaccard similarity of two texts.
pub(crate) struct Jaccard;

impl Scalar for Jaccard {
    const NAME: &'static str = "crivo_jaccard";
    const OVERLOADS: &'static [&'static [Type]] =
        &[&[Type::Varchar, Type::Varchar], &[Type::Varchar, Type::Varchar, Type::Varchar]];
    const RETURNS: Type = Type::Double;

    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()> {
        let (ones, others) = (chunk.column(0)?, chunk.column(1)?);
        let kinds = optional_column(chunk, 2)?;
        let mut shinglers = Shinglers::default();
        let mut first = Vec::new();
        for row in (0..chunk.rows()).filter(|&row| ones.is_valid(row) && others.is_valid(row)) {
            let Some(shingler) = shinglers.of_row(kinds.as_ref(), row)? else {
                out.null(row);
                continue;
            };
            first.clear();
            first.extend_from_slice(shingler.set(ones.strings()[row].bytes()));
            match jaccard_sorted(&first, shingler.set(others.strings()[row].bytes())) {
                Some(similarity) => out.double(row, similarity),
                None => out.null(row),
            }
        }
        null_where(chunk, &[&ones, &others], |row| out.null(row));
        Ok(())
    }
}

fn optional_column<'a>(chunk: &'a Chunk<'_>, index: usize) -> Result<Option<Column<'a>>> {
    if chunk.columns() > index { chunk.column(index).map(Some) } else { Ok(None) }
}

/// Cuts texts into the shingles that each row requests: by default five words, as `crivo dedup`
/// does.
#[derive(Default)]
struct Shinglers {
    last: Option<(Vec<u8>, TextShingler)>,
}

impl Shinglers {
    /// Returns the shingler of a row, or `None` if its kind is NULL.
    fn of_row(&mut self, kinds: Option<&Column<'_>>, row: usize) -> Result<Option<&mut TextShingler>> {
        let kind = match kinds {
            None => &[],
            Some(kinds) if kinds.is_valid(row) => kinds.strings()[row].bytes(),
            Some(_) => return Ok(None),
        };
        if self.last.as_ref().is_none_or(|(last, _)| last != kind) {
            let shingles = if kinds.is_none() { Shingles::default() } else { parse(kind)? };
            self.last = Some((kind.to_vec(), TextShingler::new(shingles, 0, false)));
        }
        Ok(self.last.as_mut().map(|(_, shingler)| shingler))
    }
}

fn parse(kind: &[u8]) -> Result<Shingles> {
    let text = std::str::from_utf8(kind)
        .map_err(|_| SqlError::expected("shingle", "words:N or chars:N", "other bytes"))?;
    Ok(text.parse::<Shingles>()?)
}
