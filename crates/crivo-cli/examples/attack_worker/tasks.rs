//! The task for each kind of mutant.
//!
//! A task returns `read`, `refused: …`, or `contradiction: …` if two answers about one file differ.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use crivo::codec::{AnySketch, Family};
use crivo::frequency::private::{PrivateCountMean, Protocol};
use crivo::keys::{KeyKind, KeyRef};
use crivo_interchange::{AnyInterchange, DEFAULT_LG_K, Hll, Kll, KllNumber, Req, Theta};
use crivo_mail::Filter;
use crivo_near::Index;
use crivo_rows::{Input, Predicate, Scan, Select};

use crate::seeds;

pub(crate) fn perform(task: &str, file: &Path) -> String {
    let outcome = match task {
        "sketch" => sketch(file),
        "rows" => rows(file),
        "reports" => reports(file),
        "interchange" => interchange(file),
        "index" => index(file),
        "store" => store(file),
        "work" => work(file),
        "message" => message(file),
        _ => Err("contradiction: there is no such task".into()),
    };
    outcome.err().unwrap_or_else(|| "read".into())
}

fn refused(error: impl Display) -> String {
    format!("refused: {error}").replace('\n', " ")
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(refused)
}

/// Returns true if an envelope, at the beginning or inside, has a version that is no longer
/// written.
fn holds_an_older_version(bytes: &[u8]) -> bool {
    let is_older = |family: &Family, head: &[u8]| head[5] == *family as u8 && head[6] < family.version();
    bytes
        .windows(7)
        .any(|head| head.starts_with(b"CRVO") && Family::ALL.iter().any(|family| is_older(family, head)))
}

/// Decodes a sketch, asks all questions that it answers, merges it with itself, and encodes it.
fn sketch(file: &Path) -> Result<(), String> {
    let bytes = bytes_of(file)?;
    let mut sketch = AnySketch::decode(&bytes).map_err(refused)?;
    let written = sketch.encode();
    if written != bytes && !holds_an_older_version(&bytes) {
        return Err("contradiction: the sketch is written back as other bytes".into());
    }
    if AnySketch::decode(&written).as_ref() != Ok(&sketch) {
        return Err("contradiction: the sketch is read back as another".into());
    }
    let items = sketch.summary().items;
    if !(items.lower() <= items.value() && items.value() <= items.upper()) {
        return Err(format!("contradiction: {items} items"));
    }
    ask(&sketch);
    let twin = sketch.clone();
    if let Err(error) = sketch.merge(&twin) {
        return if sketch == twin { Err(refused(error)) } else { Err(format!("contradiction: {error}")) };
    }
    ask(&sketch);
    match AnySketch::decode(&sketch.encode()) {
        Ok(again) if again == sketch => Ok(()),
        Ok(_) => Err("contradiction: what was merged is read back as another sketch".into()),
        Err(error) => Err(format!("contradiction: what was merged cannot be read: {error}")),
    }
}

fn ask(sketch: &AnySketch) {
    let key = match sketch.scheme().kind() {
        KeyKind::Bytes => KeyRef::Bytes(b"a"),
        KeyKind::Integer => KeyRef::Integer(7),
        KeyKind::Hash => KeyRef::Hash(7),
    };
    let _ = sketch.membership().map(|filter| (filter.contains_ref(key), filter.items(), filter.capacity()));
    let _ = sketch.frequency().map(|frequencies| frequencies.frequency_ref(key));
    let _ = sketch.top().map(|top| top.top(10));
    let _ = sketch.cardinality().map(crivo::sketch::Cardinality::distinct);
    let _ = sketch.samples().map(|sample| sample.sample().count());
    let _ = sketch.quantiles().map(|quantiles| {
        (quantiles.quantile(0.5), quantiles.quantile(1.0), quantiles.rank(0.5), quantiles.histogram(20))
    });
}

/// Reads all fields of all rows, and copies all rows. Both must find the same number of rows.
fn rows(file: &Path) -> Result<(), String> {
    let input = Input::file(file).skip_bad(true);
    let scan = || Scan::of(&input).select(Select::All).threads(1);
    let folded = scan().fold(
        || 0,
        |sum, batch| {
            for column in 0..batch.names().len() {
                *sum += batch.keys(column)?.hashes().len();
            }
            Ok(())
        },
        |sum, other| {
            *sum += other;
            Ok(())
        },
    );
    let keep_all = |_: &mut crivo_rows::RowBatch<'_>, keep: &mut [bool]| {
        keep.fill(true);
        Ok(())
    };
    let copied = scan().copy_rows(Predicate::Each(&keep_all), &mut std::io::sink());
    let (folded, copied) = (folded.map_err(refused)?, copied.map_err(refused)?);
    if (folded.counts.rows, folded.counts.bad) == (copied.counts.rows, copied.counts.bad) {
        Ok(())
    } else {
        Err(format!("contradiction: {:?} were read and {:?} copied", folded.counts, copied.counts))
    }
}

/// Adds up private reports, as `crivo private aggregate` does.
fn reports(file: &Path) -> Result<(), String> {
    let bytes = bytes_of(file)?;
    let (header, records) = bytes.split_at(bytes.len().min(Protocol::HEADER_LEN));
    let protocol = Protocol::from_header(header).map_err(refused)?;
    let mut sum = PrivateCountMean::new(protocol).map_err(refused)?;
    sum.insert_records(records).map_err(refused)?;
    ask(&AnySketch::from(sum));
    Ok(())
}

/// Decodes the bytes as the sketch of DataSketches that they name, asks it, merges it with itself
/// and encodes it.
fn any(bytes: &[u8]) -> Result<(), String> {
    let mut sketch = AnyInterchange::decode(bytes).map_err(refused)?;
    let items = sketch.items();
    if !(items.lower() <= items.value() && items.value() <= items.upper()) {
        return Err(format!("contradiction: {items} items"));
    }
    match &sketch {
        AnyInterchange::FrequentItems(items) => drop((items.top(10), items.frequency_bytes(b"a"))),
        AnyInterchange::Bloom(filter) => _ = filter.contains_bytes(b"a"),
        _ => {}
    }
    let _ = sketch.quantiles().map(|sketch| (sketch.quantile(0.5), sketch.rank(1.0), sketch.histogram(20)));
    let twin = sketch.clone();
    if sketch.merge(&twin).is_ok() {
        AnyInterchange::decode(&sketch.encode()).map_err(|error| format!("contradiction: {error}"))?;
    }
    Ok(())
}

fn interchange(file: &Path) -> Result<(), String> {
    let bytes = bytes_of(file)?;
    let outcomes =
        [hll(&bytes), theta(&bytes), kll::<f64>(&bytes), kll::<f32>(&bytes), req(&bytes), any(&bytes)];
    if outcomes.iter().any(Result::is_ok) { Ok(()) } else { outcomes.into_iter().collect() }
}

fn hll(bytes: &[u8]) -> Result<(), String> {
    let mut sketch = Hll::decode(bytes).map_err(refused)?;
    let _ = sketch.estimate();
    sketch.merge(&sketch.clone());
    Hll::decode(&sketch.encode()).map(drop).map_err(refused)
}

fn theta(bytes: &[u8]) -> Result<(), String> {
    let mut sketch = Theta::decode(bytes, DEFAULT_LG_K).map_err(refused)?;
    let _ = sketch.estimate();
    sketch.merge(&sketch.clone());
    Theta::decode(&sketch.encode(), DEFAULT_LG_K).map(drop).map_err(refused)
}

fn kll<N: KllNumber>(bytes: &[u8]) -> Result<(), String>
where
    N::Value: std::fmt::Debug + PartialEq,
{
    let mut sketch = Kll::<N>::decode(bytes).map_err(refused)?;
    let _ = sketch.quantile(0.5).and_then(|median| sketch.rank(median));
    sketch.merge(&sketch.clone()).map_err(refused)?;
    Kll::<N>::decode(&sketch.encode()).map(drop).map_err(refused)
}

fn req(bytes: &[u8]) -> Result<(), String> {
    let mut sketch = Req::decode(bytes).map_err(refused)?;
    let _ = sketch.quantile(0.5).and_then(|median| sketch.rank(median));
    sketch.merge(&sketch.clone()).map_err(refused)?;
    Req::decode(&sketch.encode()).map(drop).map_err(refused)
}

/// Opens an index of documents, queries it, and checks all of it.
fn index(file: &Path) -> Result<(), String> {
    let mut index = Index::open(folder_of(file)).map_err(refused)?;
    let stats = index.stats().map_err(refused);
    let found = index.query(b"some text of a few words to look for", 0.5).map_err(refused);
    let checked = index.check().map_err(refused);
    stats.map(drop).and(found.map(drop)).and(checked)
}

/// Opens a store of mail, judges a message, and checks all of the store.
fn store(file: &Path) -> Result<(), String> {
    let filter = Filter::open(folder_of(file)).map_err(refused)?;
    let stats = filter.stats().map_err(refused);
    let judged = filter.check(b"From: a@example.org\nSubject: cheap pills\n\nbuy now\n").map_err(refused);
    let verified = filter.verify().map_err(refused);
    stats.map(drop).and(judged.map(drop)).and(verified)
}

/// Continues a search for near-duplicates from the files of an earlier run.
fn work(file: &Path) -> Result<(), String> {
    let found = seeds::search_in(folder_of(file)).map_err(refused)?;
    found.for_each_pair(|_, _, _| Ok(())).map_err(refused)
}

/// Reads a message and adds the verdict to it, as a filter between two programs does.
fn message(file: &Path) -> Result<(), String> {
    let bytes = bytes_of(file)?;
    let read = crivo_mail::Message::read(&bytes);
    let _ = format!("{read:?}").len();
    Ok(())
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}
