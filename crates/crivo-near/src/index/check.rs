//! Checks a whole index: reads every record and compares the postings with the documents.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::buckets;
use super::file::{File, Table};
use super::record::{Document, State, removed_numbers};
use super::runs::Posting;
use super::signer::{Signer, name_key};
use crate::error::Result;

/// A sum over postings that does not depend on their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Tally {
    postings: u64,
    sum: u64,
}

impl Tally {
    fn add(&mut self, key: u64, number: u32) {
        self.postings += 1;
        self.sum = self.sum.wrapping_add(xxh3_64_with_seed(&key.to_le_bytes(), number.into()));
    }
}

/// Reads every record, computes the keys of every document again, and compares them with the
/// postings.
pub(super) fn check(file: &File, signer: &mut Signer) -> Result<()> {
    file.check_pages()?;
    let _moment = file.read_transaction()?;
    let state = State::read(file)?;
    let removed = removed_numbers(file)?;
    let (mut stored, mut all) = (Tally::default(), 0);
    let mut add = |(key, number): Posting| {
        all += 1;
        if !removed.contains(&number) {
            stored.add(key, number);
        }
    };
    if state.old_buckets > 0 {
        buckets::for_each(file, state.old_buckets, |posting| {
            add(posting);
            Ok(())
        })?;
    } else {
        check_runs(file, &state, &mut add)?;
    }
    if all != state.postings {
        return Err(file.damaged(format_args!("{all} postings where {} should be", state.postings)));
    }
    let (mut expected, mut documents, mut too_short) = (Tally::default(), 0, 0);
    file.for_each(Table::Documents, |number, record| {
        let (Ok(number), Some(document)) = (u32::try_from(number), Document::decode(record)) else {
            return Ok(None);
        };
        if removed.contains(&number) {
            return Err(file.damaged(format_args!("document {number} is there and was removed")));
        }
        documents += 1;
        too_short += u64::from(document.set.is_empty());
        expected.add(name_key(&document.id), number);
        signer.keys_of(&document)?.iter().for_each(|&key| expected.add(key, number));
        Ok(Some(()))
    })?;
    if (documents, too_short) != (state.documents, state.too_short) {
        return Err(file.damaged(format_args!("{documents} documents where {} should be", state.documents)));
    }
    if stored != expected {
        return Err(file.damaged("its buckets are not those of its documents"));
    }
    Ok(())
}

/// Reads every bucket of every run, and checks that there are no other buckets.
fn check_runs(file: &File, state: &State, add: &mut impl FnMut(Posting)) -> Result<()> {
    let mut expected = 0;
    for run in &state.runs {
        let mut postings = 0;
        run.for_each_bucket(file, 0..run.buckets, |_, found| {
            postings += found.len() as u64;
            found.iter().for_each(|&posting| add(posting));
            Ok(())
        })?;
        if postings != run.postings {
            let count = run.postings;
            return Err(file.damaged(format_args!("a run has {postings} postings where {count} should be")));
        }
        expected += run.buckets;
    }
    let mut buckets = 0;
    file.for_each(Table::Buckets, |_, _| {
        buckets += 1;
        Ok(Some(()))
    })?;
    if buckets != expected {
        return Err(file.damaged(format_args!("{buckets} buckets where {expected} should be")));
    }
    Ok(())
}
