//! The server: sums of reports, and the answers computed from them.
//!
//! Guarantee, idea and sources are in the [module above](super).

use super::bounds::{self, Rows};
use super::protocol::Protocol;
use super::report::{Report, open_record};
use crate::codec::{Encode, Parameter, Parameters, Summary};
use crate::cpu::zeroed;
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{Key, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Counts keys from private reports; see the [module](super) for the guarantee.
///
/// ```
/// use crivo::frequency::private::{PredictableBits, PrivateClient, PrivateCountMean, Protocol};
///
/// let protocol = Protocol::new(4.0, 64, 256)?;
/// let mut votes = PrivateCountMean::new(protocol)?;
/// let mut coins = PredictableBits::new(3);
/// for voter in 0..5_000 {
///     let vote = if voter % 4 == 0 { "no" } else { "yes" };
///     votes.insert(&PrivateClient::new(protocol, 4.0)?.encode(vote, &mut coins)?)?;
/// }
/// assert_eq!(votes.reports(), 5_000);
/// assert!(votes.frequency("yes")?.covers(3_750.0));
/// assert!(votes.frequency("maybe")?.covers(0.0));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateCountMean {
    pub(super) protocol: Protocol,
    tag: u32,
    /// The number of reports of each row.
    pub(super) reports: Vec<u32>,
    /// For each place of each row, row after row, the number of its reports with a one there.
    pub(super) ones: Vec<u32>,
}

/// The most reports of a row, so that no place can overflow.
const MOST_REPORTS: u32 = u32::MAX;

// ---- construction ----

impl PrivateCountMean {
    /// Creates a sketch without reports. It takes four bytes for each place of each row.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(protocol: Protocol) -> Result<Self> {
        let rows = u64::from(protocol.rows());
        let ones = zeroed(rows * u64::from(protocol.width()))?;
        Ok(Self::assemble(protocol, zeroed(rows)?, ones))
    }

    pub(super) fn assemble(protocol: Protocol, reports: Vec<u32>, ones: Vec<u32>) -> Self {
        Self { protocol, tag: protocol.tag(), reports, ones }
    }
}

// ---- update ----

impl PrivateCountMean {
    /// Adds one report.
    ///
    /// # Errors
    /// If the report was made for another protocol, or its row has 2^32 − 1 reports; the report is
    /// not added then.
    pub fn insert(&mut self, report: &Report) -> Result<()> {
        if report.tag != self.tag {
            return Err(Error::incompatible(
                "report",
                format_args!("one of protocol {:08x}", self.tag),
                format_args!("{:08x}", report.tag),
                "epsilon, rows, width and scheme of client and server must be the same",
            ));
        }
        self.require_room(report.row, 1)?;
        self.add(report.row, &report.bits);
        Ok(())
    }

    /// Adds concatenated records, as a file of reports has them after its header.
    ///
    /// # Errors
    /// If a record is damaged, cut off or made for another protocol, or if a row would have too
    /// many; the error names the record, and no record is added then.
    pub fn insert_records(&mut self, records: &[u8]) -> Result<()> {
        let length = self.protocol.record_len();
        let mut fresh = vec![0_u32; self.reports.len()];
        for (number, record) in (1_u64..).zip(records.chunks(length)) {
            let row = open_record(&self.protocol, self.tag, record).and_then(|(row, _)| {
                fresh[row as usize] = fresh[row as usize].saturating_add(1);
                self.require_room(row, fresh[row as usize])
            });
            if let Err(error) = row {
                let found = format_args!("{} in report {number}", error.found());
                return Err(Error::new(error.kind(), error.field(), error.expected(), found, error.advice()));
            }
        }
        for record in records.chunks_exact(length) {
            let (row, bits) = open_record(&self.protocol, self.tag, record)?;
            self.add(row, bits);
        }
        Ok(())
    }

    fn require_room(&self, row: u32, more: u32) -> Result<()> {
        if self.reports[row as usize] <= MOST_REPORTS - more {
            return Ok(());
        }
        Err(too_many())
    }

    fn add(&mut self, row: u32, bits: &[u8]) {
        let width = self.protocol.width() as usize;
        let start = row as usize * width;
        self.reports[row as usize] += 1;
        // Eight counters at a time, a constant number, so that the compiler uses vectors.
        let (whole, rest) = self.ones[start..start + width].as_chunks_mut::<8>();
        for (counters, &byte) in whole.iter_mut().zip(bits) {
            for (bit, counter) in counters.iter_mut().enumerate() {
                *counter += u32::from(byte >> bit & 1);
            }
        }
        let last = bits.last().copied().unwrap_or(0);
        for (bit, counter) in rest.iter_mut().enumerate() {
            *counter += u32::from(last >> bit & 1);
        }
    }
}

#[cold]
pub(super) fn too_many() -> Error {
    Error::new(
        ErrorKind::InvalidParameter,
        "reports",
        format_args!("at most {MOST_REPORTS} in a row"),
        "more",
        "use more rows, or begin another sketch",
    )
}

// ---- query ----

impl PrivateCountMean {
    /// Returns how often the key was reported, with bounds at 95 %.
    ///
    /// Each call reads the whole table, because the bounds depend on all of it. For many keys use
    /// [`answers`](Self::answers).
    ///
    /// # Errors
    /// If the key is not of the protocol's kind.
    pub fn frequency<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        self.frequency_at(key, Confidence::P95)
    }

    /// Returns how often the key was reported, with bounds at the given confidence.
    ///
    /// # Errors
    /// If the key is not of the protocol's kind.
    pub fn frequency_at<K: Key + ?Sized>(&self, key: &K, confidence: Confidence) -> Result<Estimate> {
        Ok(self.frequency_of_hash_at(self.protocol.scheme().hash(key)?, confidence))
    }

    /// Returns how often the key of this hash was reported, with bounds at 95 %.
    pub fn frequency_of_hash(&self, hash: u64) -> Estimate {
        self.frequency_of_hash_at(hash, Confidence::P95)
    }

    /// Returns how often the key of this hash was reported, with bounds at the given confidence.
    pub fn frequency_of_hash_at(&self, hash: u64, confidence: Confidence) -> Estimate {
        self.answers().frequency_of_hash_at(hash, confidence)
    }

    /// Returns how often the key was reported, unbiased over the draw of random bits and hash
    /// functions. So answers for many keys can be added up. The answer is not limited: it may be
    /// below 0 or above the number of reports.
    ///
    /// # Errors
    /// If the key is not of the protocol's kind.
    pub fn unbiased<K: Key + ?Sized>(&self, key: &K) -> Result<f64> {
        Ok(self.unbiased_of_hash(self.protocol.scheme().hash(key)?))
    }

    /// Returns how often the key of this hash was reported, unbiased: see
    /// [`unbiased`](Self::unbiased).
    pub fn unbiased_of_hash(&self, hash: u64) -> f64 {
        self.rows_of(hash).estimate(&self.protocol)
    }

    /// Computes what all answers need and does not depend on the key, so that many answers are
    /// cheap.
    ///
    /// ```
    /// use crivo::frequency::private::{PrivateCountMean, Protocol};
    /// let empty = PrivateCountMean::new(Protocol::new(4.0, 64, 256)?)?;
    /// let answers = empty.answers();
    /// assert!(["yes", "no"].iter().all(|key| answers.frequency(key).is_ok_and(|count| count.is_exact())));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn answers(&self) -> Answers<'_> {
        Answers { sketch: self, pairs: bounds::pairs(&self.protocol, &self.reports, &self.ones) }
    }

    /// Returns for each row the number of its reports, and the number of ones in the place of a
    /// hash.
    fn rows_of(&self, hash: u64) -> Rows<impl Iterator<Item = (u32, u32)> + Clone + '_> {
        let rows = self.ones.chunks_exact(self.protocol.width() as usize);
        Rows(
            (0..)
                .zip(&self.reports)
                .zip(rows)
                .map(move |((row, &reports), ones)| (reports, ones[self.protocol.place(hash, row)])),
        )
    }

    /// Returns the number of reports.
    pub fn reports(&self) -> u64 {
        self.reports.iter().map(|&reports| u64::from(reports)).sum()
    }

    /// Returns true if there are no reports.
    pub fn is_empty(&self) -> bool {
        self.reports() == 0
    }

    /// Returns the protocol that server and clients share.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// Returns the privacy `ε` that each report spent.
    pub fn epsilon(&self) -> f64 {
        self.protocol.epsilon()
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u32 {
        self.protocol.rows()
    }

    /// Returns the number of places in a row.
    pub fn width(&self) -> u32 {
        self.protocol.width()
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.protocol.scheme()
    }

    /// Returns the bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.reports) + size_of_val(&*self.ones)
    }

    /// Returns the sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("epsilon", Parameter::Number(self.protocol.epsilon())),
            ("rows", Parameter::Count(self.protocol.rows().into())),
            ("width", Parameter::Count(self.protocol.width().into())),
        ]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        let reports = self.reports();
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![("standard_error", Parameter::Number(self.protocol.standard_error(reports)))],
            ]
            .concat(),
            scheme: self.scheme(),
            items: Estimate::exact(reports as f64),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

/// Answers for many keys; made by [`PrivateCountMean::answers`].
#[derive(Debug, Clone, Copy)]
pub struct Answers<'a> {
    sketch: &'a PrivateCountMean,
    /// The number of ordered pairs of reports about the same key, estimated from the table.
    pairs: f64,
}

impl Answers<'_> {
    /// Returns how often the key was reported, with bounds at 95 %.
    ///
    /// # Errors
    /// If the key is not of the protocol's kind.
    pub fn frequency<K: Key + ?Sized>(&self, key: &K) -> Result<Estimate> {
        self.frequency_at(key, Confidence::P95)
    }

    /// Returns how often the key was reported, with bounds at the given confidence.
    ///
    /// # Errors
    /// If the key is not of the protocol's kind.
    pub fn frequency_at<K: Key + ?Sized>(&self, key: &K, confidence: Confidence) -> Result<Estimate> {
        Ok(self.frequency_of_hash_at(self.sketch.scheme().hash(key)?, confidence))
    }

    /// Returns how often a key was reported whose kind is known only at run time, with bounds at 95
    /// %.
    ///
    /// # Errors
    /// If the key is not of the protocol's kind.
    pub fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        Ok(self.frequency_of_hash_at(self.sketch.scheme().hash_ref(key)?, Confidence::P95))
    }

    /// Returns how often the key of this hash was reported, with bounds at the given confidence.
    pub fn frequency_of_hash_at(&self, hash: u64, confidence: Confidence) -> Estimate {
        bounds::frequency(&self.sketch.protocol, &self.sketch.rows_of(hash), self.pairs, confidence)
    }
}
