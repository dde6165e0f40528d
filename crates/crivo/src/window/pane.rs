//! What can be in a pane.

use crate::codec::{AnySketch, Decode, Encode, Header, Summary, Writer, decode_opened};
use crate::error::Result;
use crate::sketch::Merge;

/// A sketch that can be in a ring of panes: every one that merges and can be stored has this for free, and
/// [`AnySketch`] has it too, for a ring whose kind of sketch only its bytes tell.
pub trait Pane: Merge + Clone + PartialEq + Sized {
    /// What the envelope around the sketch says: its kind, and how its keys are hashed.
    fn header(&self) -> Header;

    /// Writes the sketch in an envelope of its own.
    fn write(&self, writer: &mut Writer);

    /// The sketch in an envelope that was opened.
    ///
    /// # Errors
    /// If the payload breaks a rule of its format, or is that of another kind of sketch.
    fn read(header: &Header, payload: &[u8]) -> Result<Self>;

    /// What `crivo show` prints.
    ///
    /// # Errors
    /// If the sketch cannot be stored.
    fn summary(&self) -> Result<Summary>;
}

impl<S: Merge + Encode + Decode + Clone + PartialEq> Pane for S {
    fn header(&self) -> Header {
        Header { family: S::FAMILY, version: S::FAMILY.version(), scheme: self.key_scheme() }
    }

    fn write(&self, writer: &mut Writer) {
        writer.envelope(self);
    }

    fn read(header: &Header, payload: &[u8]) -> Result<Self> {
        decode_opened(header, payload)
    }

    fn summary(&self) -> Result<Summary> {
        // Summaries are asked for rarely, and every kind has its own: the way through the bytes knows them all.
        AnySketch::decode(&self.encode()).map(|sketch| sketch.summary())
    }
}

impl Pane for AnySketch {
    fn header(&self) -> Header {
        self.header()
    }

    fn write(&self, writer: &mut Writer) {
        writer.bytes(&self.encode());
    }

    fn read(header: &Header, payload: &[u8]) -> Result<Self> {
        Self::decode_opened(header, payload)
    }

    fn summary(&self) -> Result<Summary> {
        Ok(self.summary())
    }
}

/// The beginning of a payload that holds the parameters of its family.
pub(super) fn parameters<'a>(header: &Header, payload: &'a [u8]) -> &'a [u8] {
    &payload[..header.family.parameter_bytes().min(payload.len())]
}
