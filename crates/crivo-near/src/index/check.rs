//! Is everything there? The whole index is read, and what it holds is compared with what it should.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::buckets::{bucket_of, postings};
use super::file::{File, Table};
use super::record::{Document, State};
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

/// Reads every record, makes the keys of every document again, and compares them with the postings.
pub(super) fn check(file: &File, signer: &mut Signer) -> Result<()> {
    file.check_pages()?;
    let _moment = file.read_transaction()?;
    let state = State::read(file)?;
    let (mut stored, mut buckets) = (Tally::default(), 0);
    file.for_each(Table::Buckets, |number, record| {
        let Some(postings) = postings(record) else { return Ok(None) };
        let bucket = number as u64;
        let at_home = postings.fold(bucket < state.buckets, |at_home, (key, number)| {
            stored.add(key, number);
            at_home && bucket_of(key, state.buckets) == bucket
        });
        if !at_home {
            return Err(file.damaged(format_args!("bucket {bucket} has keys of another")));
        }
        buckets += 1;
        Ok(Some(()))
    })?;
    if buckets != state.buckets {
        return Err(file.damaged(format_args!("{buckets} buckets where {} should be", state.buckets)));
    }
    let (mut expected, mut documents, mut too_short) = (Tally::default(), 0, 0);
    file.for_each(Table::Documents, |number, record| {
        let (Ok(number), Some(document)) = (u32::try_from(number), Document::decode(record)) else {
            return Ok(None);
        };
        documents += 1;
        too_short += u64::from(document.set.is_empty());
        expected.add(name_key(&document.id), number);
        signer.keys_of(&document)?.iter().for_each(|&key| expected.add(key, number));
        Ok(Some(()))
    })?;
    if (documents, too_short) != (state.documents, state.too_short) {
        return Err(file.damaged(format_args!("{documents} documents where {} should be", state.documents)));
    }
    if stored != expected || stored.postings != state.postings {
        return Err(file.damaged("its buckets are not those of its documents"));
    }
    Ok(())
}
