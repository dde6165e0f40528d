//! How often is each value reported, without revealing any client's value?

use crivo::Confidence;
use crivo::frequency::private::{
    Budget, PredictableBits, PrivateClient as LibraryClient, PrivateCountMean as Sketch,
    Protocol as LibraryProtocol, Report,
};
use numpy::PyArray1;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::FREQUENCY;
use crate::errors::{Result, setting, setting_in};
use crate::estimate::Estimate;
use crate::keys::{self, Verb, bytes_of, name_of, scheme_of};
use crate::sketch::{Reduced, Shared, sketch_methods};

/// The settings that clients and server agree on before the first report: the privacy ε of a
/// report, the number of `rows`, the `width` of a row in bits, and how keys are hashed. Each report
/// belongs to one row. `for_reports` finds the size.
///
/// >>> from crivo import Protocol
/// >>> protocol = Protocol(2.0, rows=16, width=256)
/// >>> round(protocol.flip_probability, 6), round(protocol.standard_error(10_000), 1)
/// (0.268941, 96.3)
#[pyclass(module = "crivo", frozen, eq)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Protocol(LibraryProtocol);

#[pymethods]
impl Protocol {
    #[new]
    #[pyo3(signature = (epsilon, rows, width, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(epsilon, rows, width, *, keys='text', seed=0)")]
    fn new(
        epsilon: f64,
        rows: &Bound<'_, PyAny>,
        width: &Bound<'_, PyAny>,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let rows = setting_in("rows", rows, 1..=u64::from(*LibraryProtocol::ROWS.end()))? as u32;
        let width = setting_in("width", width, 2..=u64::from(*LibraryProtocol::WIDTHS.end()))? as u32;
        Ok(Self(LibraryProtocol::new(epsilon, rows, width)?.with_scheme(scheme_of(keys, seed)?)))
    }

    /// Returns a protocol with reports of 1024 bits, for that number of reports. It has the fewest
    /// rows for which collisions add no more to the error than privacy does.
    ///
    /// >>> Protocol.for_reports(4.0, 1_000_000).rows
    /// 5395
    #[staticmethod]
    #[pyo3(signature = (epsilon, reports, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(epsilon, reports, *, keys='text', seed=0)")]
    fn for_reports(
        epsilon: f64,
        reports: &Bound<'_, PyAny>,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let protocol = LibraryProtocol::for_reports(epsilon, reports_of(reports)?)?;
        Ok(Self(protocol.with_scheme(scheme_of(keys, seed)?)))
    }

    /// The header of a file of reports. The reports follow it.
    fn header<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.header())
    }

    /// Returns the protocol that a header describes: the first 36 bytes of a file of reports.
    ///
    /// >>> protocol = Protocol(2.0, 16, 256)
    /// >>> Protocol.from_header(protocol.header()) == protocol
    /// True
    #[staticmethod]
    fn from_header(header: &Bound<'_, PyAny>) -> Result<Self> {
        Ok(Self(LibraryProtocol::from_header(&bytes_of(header)?)?))
    }

    /// The privacy ε that one report spends.
    #[getter]
    fn epsilon(&self) -> f64 {
        self.0.epsilon()
    }

    /// The number of rows.
    #[getter]
    fn rows(&self) -> u32 {
        self.0.rows()
    }

    /// The number of bits of a report.
    #[getter]
    fn width(&self) -> u32 {
        self.0.width()
    }

    /// The kind of the keys: "text", "int" or "hash".
    #[getter]
    fn keys(&self) -> &'static str {
        name_of(self.0.scheme().kind())
    }

    /// The seed of the hash.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.scheme().seed()
    }

    /// The number of bytes of a report.
    #[getter]
    fn record_len(&self) -> usize {
        self.0.record_len()
    }

    /// The probability with which each bit of a report is flipped: 1/(1 + e^(ε/2)).
    #[getter]
    fn flip_probability(&self) -> f64 {
        self.0.flip_probability()
    }

    /// The least standard error of an estimate from that number of reports.
    fn standard_error(&self, reports: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(self.0.standard_error(reports_of(reports)?))
    }

    fn __repr__(&self) -> String {
        let (epsilon, rows, width) = (self.epsilon(), self.rows(), self.width());
        let (keys, seed) = (self.keys(), self.seed());
        format!("Protocol({epsilon:?}, {rows}, {width}, keys='{keys}', seed={seed})")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>,)>> {
        Ok((slf.get_type().getattr("from_header")?, (slf.get().header(slf.py()),)))
    }
}

fn reports_of(reports: &Bound<'_, PyAny>) -> Result<u64> {
    setting("reports", reports, "0 to 2^64 - 1")
}

/// Makes reports of one person's values, with the randomness of the operating system. Each report
/// reveals no more than the protocol's ε allows. Refuses to exceed the person's `budget`.
///
/// To continue a budget in the next run, store two numbers: `budget` and the `spent` of this run.
///
/// >>> from crivo import PrivateClient, Protocol
/// >>> client = PrivateClient(Protocol(2.0, 16, 256), budget=3.0)
/// >>> report = client.encode("secret")
/// >>> len(report), client.spent, client.remaining
/// (38, 2.0, 1.0)
/// >>> client.encode("another")
/// Traceback (most recent call last):
/// ...
/// crivo.errors.BudgetExceededError: budget: expected 2 left for this report, found 1 ...
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct PrivateClient(Shared<Client>);

#[derive(Debug)]
struct Client {
    client: LibraryClient,
    coins: Coins,
}

#[derive(Debug)]
enum Coins {
    OperatingSystem,
    Predictable(PredictableBits),
}

/// The methods that make reports.
static ENCODE: Verb = Verb { one: "encode", many: "", hashes: "encode_hash", so_far: "" };

#[pymethods]
impl PrivateClient {
    #[new]
    #[pyo3(signature = (protocol, budget, *, spent = 0.0))]
    fn new(protocol: &Bound<'_, Protocol>, budget: f64, spent: f64) -> Result<Self> {
        Self::with_coins(protocol, budget, spent, Coins::OperatingSystem)
    }

    /// Returns a client for tests and simulations. Its random draws follow from a seed, so its
    /// reports are **not private**: anyone who knows the seed can compute the draws.
    #[staticmethod]
    fn with_predictable_coins(
        protocol: &Bound<'_, Protocol>,
        budget: f64,
        seed: &Bound<'_, PyAny>,
    ) -> Result<Self> {
        let coins = PredictableBits::new(setting("seed", seed, "0 to 2^64 - 1")?);
        Self::with_coins(protocol, budget, 0.0, Coins::Predictable(coins))
    }

    /// Returns a report about one key, as bytes. `BudgetExceededError` if the budget would be
    /// exceeded. Nothing is spent then.
    fn encode<'py>(&self, key: &Bound<'py, PyAny>) -> Result<Bound<'py, PyBytes>> {
        let py = key.py();
        let scheme = self.0.quick(py, |client| client.client.protocol().scheme());
        self.report(py, keys::hash_one(key, scheme, &ENCODE)?)
    }

    /// Returns a report about the key with this hash, for a protocol with `keys="hash"`.
    fn encode_hash<'py>(&self, hash: &Bound<'py, PyAny>) -> Result<Bound<'py, PyBytes>> {
        let py = hash.py();
        let scheme = self.0.quick(py, |client| client.client.protocol().scheme());
        self.report(py, keys::given_hash(hash, scheme, &ENCODE)?)
    }

    /// The protocol agreed on with the server.
    #[getter]
    fn protocol(&self, py: Python<'_>) -> Protocol {
        Protocol(self.0.quick(py, |client| *client.client.protocol()))
    }

    /// The privacy that may be spent in total.
    #[getter]
    fn budget(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |client| client.client.budget().total())
    }

    /// The privacy that was spent so far.
    #[getter]
    fn spent(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |client| client.client.budget().spent())
    }

    /// The privacy that is left to spend.
    #[getter]
    fn remaining(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |client| client.client.budget().remaining())
    }

    /// True if the random draws are predictable, as in tests. The reports are not private then.
    #[getter]
    fn is_predictable(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |client| matches!(client.coins, Coins::Predictable(_)))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (spent, budget, epsilon) = (self.spent(py), self.budget(py), self.protocol(py).epsilon());
        let warning = if self.is_predictable(py) { ", not private" } else { "" };
        format!("<PrivateClient epsilon={epsilon}: {spent} of {budget} spent{warning}>")
    }
}

impl PrivateClient {
    fn with_coins(protocol: &Bound<'_, Protocol>, budget: f64, spent: f64, coins: Coins) -> Result<Self> {
        let budget = Budget::with_spent(budget, spent)?;
        let client = LibraryClient::with_budget(protocol.get().0, budget);
        Ok(Self(Shared::new(Client { client, coins })))
    }

    fn report<'py>(&self, py: Python<'py>, hash: u64) -> Result<Bound<'py, PyBytes>> {
        let mut failure = None;
        let report = self.0.detached(py, |Client { client, coins }| match coins {
            Coins::Predictable(coins) => client.encode_hash(hash, coins),
            Coins::OperatingSystem => {
                let mut system = SystemBits::default();
                client.encode_hash(hash, &mut || system.next(&mut failure))
            }
        })?;
        match failure {
            Some(error) => Err(PyOSError::new_err(error).into()),
            None => Ok(PyBytes::new(py, &report.encode())),
        }
    }
}

/// Random words of the operating system, read 512 bytes at a time.
struct SystemBits {
    bytes: [u8; 512],
    used: usize,
}

impl Default for SystemBits {
    fn default() -> Self {
        Self { bytes: [0; 512], used: 512 }
    }
}

impl SystemBits {
    /// Returns the next word. A failure is stored in `failure`, and the caller discards the report.
    fn next(&mut self, failure: &mut Option<String>) -> u64 {
        if self.used == self.bytes.len() {
            self.used = 0;
            if let Err(error) = getrandom::fill(&mut self.bytes) {
                *failure = Some(error.to_string());
            }
        }
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[self.used..self.used + 8]);
        self.used += 8;
        u64::from_le_bytes(word)
    }
}

/// Estimates how often each key was reported. The reports do not reveal the key of any person;
/// `PrivateClient` makes them.
///
/// >>> from crivo import PrivateClient, PrivateCountMean, Protocol
/// >>> protocol = Protocol.for_reports(4.0, 3000)
/// >>> answers = PrivateCountMean(protocol)
/// >>> for person in range(3000):
/// ...     client = PrivateClient(protocol, budget=4.0)
/// ...     answers.insert(client.encode("yes" if person % 3 else "no"))
/// >>> answers.reports, 2000 in answers.frequency("yes", confidence=1 - 1e-9)
/// (3000, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct PrivateCountMean(Shared<Sketch>);

sketch_methods!(PrivateCountMean, Sketch);

/// The methods that return how often many keys were reported.
static UNBIASED: Verb =
    Verb { one: "unbiased", many: "frequencies", hashes: "frequencies_of_hashes", so_far: "" };

#[pymethods]
impl PrivateCountMean {
    #[new]
    fn new(protocol: &Bound<'_, Protocol>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::new(protocol.get().0)?)))
    }

    /// Adds one report. `DecodeError` if it is damaged, or made for another protocol.
    fn insert(&self, py: Python<'_>, report: &Bound<'_, PyAny>) -> Result<()> {
        let record = bytes_of(report)?;
        Ok(self.0.quick(py, |sketch| {
            let report = Report::decode(sketch.protocol(), &record)?;
            sketch.insert(&report)
        })?)
    }

    /// Adds many reports from one bytes object, one after the other as after the header of a file
    /// of reports. `DecodeError` if a report is damaged, cut off or made for another protocol. The
    /// error names the report, and no report is added then.
    fn insert_records(&self, py: Python<'_>, records: &Bound<'_, PyAny>) -> Result<()> {
        let records = bytes_of(records)?;
        Ok(self.0.detached(py, |sketch| sketch.insert_records(&records))?)
    }

    /// The number of reports of a key, with bounds at the given confidence.
    #[pyo3(signature = (key, confidence = 0.95))]
    fn frequency(&self, key: &Bound<'_, PyAny>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        let hash = keys::hash_one(key, self.0.scheme(key.py()), &FREQUENCY)?;
        Ok(self.of_hash(key.py(), hash, confidence))
    }

    /// The number of reports of the key with this hash, in a sketch with `keys="hash"`.
    #[pyo3(signature = (hash, confidence = 0.95))]
    fn frequency_of_hash(&self, hash: &Bound<'_, PyAny>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        let given = keys::given_hash(hash, self.0.scheme(hash.py()), &FREQUENCY)?;
        Ok(self.of_hash(hash.py(), given, confidence))
    }

    /// The number of reports of a key, unbiased: right on average, so sometimes below 0.
    fn unbiased(&self, key: &Bound<'_, PyAny>) -> Result<f64> {
        self.0.with_hash(key, &UNBIASED, |sketch, hash| sketch.unbiased_of_hash(hash))
    }

    /// The numbers of reports of many keys, unbiased and in their order; 0 for missing values.
    fn frequencies<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<f64>>> {
        self.0.ask_all(py, keys::take_keys, values, &UNBIASED, unbiased)
    }

    /// The numbers of reports of the keys with these hashes, in a sketch with `keys="hash"`.
    /// Otherwise like `frequencies`.
    fn frequencies_of_hashes<'py>(
        &self,
        py: Python<'py>,
        hashes: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<f64>>> {
        self.0.ask_all(py, keys::take_hashes, hashes, &UNBIASED, unbiased)
    }

    /// The number of reports.
    #[getter]
    fn reports(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.reports())
    }

    /// The protocol agreed on with the clients.
    #[getter]
    fn protocol(&self, py: Python<'_>) -> Protocol {
        Protocol(self.0.quick(py, |sketch| *sketch.protocol()))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (protocol, reports) = (self.protocol(py), self.reports(py));
        let (epsilon, rows, width) = (protocol.epsilon(), protocol.rows(), protocol.width());
        format!("<PrivateCountMean epsilon={epsilon}, rows={rows}, width={width}: {reports} reports>")
    }
}

impl PrivateCountMean {
    fn of_hash(&self, py: Python<'_>, hash: u64, confidence: Confidence) -> Estimate {
        self.0.detached(py, |sketch| sketch.answers().frequency_of_hash_at(hash, confidence)).into()
    }
}

#[allow(clippy::unnecessary_wraps)] // other sketches can fail here
fn unbiased(sketch: &Sketch, batch: &crivo::keys::KeyBatch<'_>, answers: &mut Vec<f64>) -> crivo::Result<()> {
    answers.clear();
    answers.extend(batch.hashes().iter().map(|&hash| sketch.unbiased_of_hash(hash)));
    Ok(())
}
