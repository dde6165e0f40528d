//! How does a sketch become bytes, and how are bytes safely read back?
//!
//! Every sketch is stored in the same envelope: what it is, which version wrote it, how its
//! keys were hashed, how long the payload is, the payload, and a checksum over all of it.
//! docs/format.md describes envelope and payloads byte by byte; it is a promise, and the
//! golden files in the tests hold the code to it.
//!
//! ```text
//! offset  size  field
//!      0     4  magic "CRVO"
//!      4     1  envelope version
//!      5     1  family: which sketch
//!      6     1  family version: which layout of the payload
//!      7     1  flags, zero
//!      8     1  hash function
//!      9     1  key kind
//!     10     2  reserved, zero
//!     12     8  seed
//!     20     8  payload length n
//!     28     n  payload (may hold envelopes)
//! 28 + n     4  CRC-32 of everything before
//! ```
//!
//! Integers are little-endian. Checks are ordered by distrust: length, magic, versions, checksum,
//! and only then the contents. Each check has its own [`ErrorKind`]. Nothing is allocated before
//! the bytes that would fill it are known to be there. Extra bytes at the end are an error. So any
//! byte string gives an error or a valid sketch.
//!
//! [`AnySketch`] opens a sketch of any kind; [`Decode::decode`] requires one type.
//!
//! [`ErrorKind`]: crate::ErrorKind

mod any;
mod envelope;
mod family;
pub(crate) mod rans;
mod reader;
mod writer;

pub use any::{AnySketch, Parameter, Parameters, StoredSketch, Summary};
pub use envelope::{Decode, Encode, Header};
pub(crate) use envelope::{Sealed, decode_opened, open, write_head};
pub use family::{Family, Question};
pub use reader::Reader;
pub use writer::Writer;
pub(crate) use writer::require_writable;
