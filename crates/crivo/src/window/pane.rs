//! What a sketch needs to be in a pane.

use crate::codec::{AnySketch, Decode, Header, decode_opened};
use crate::error::Result;
use crate::sketch::{Merge, Sketch};

/// A sketch that can be in a ring of panes. Every sketch that merges and can be stored implements
/// this automatically. [`AnySketch`] implements it too, for a ring whose kind of sketch is known
/// only from its bytes.
pub trait Pane: Sketch + Merge + Clone + PartialEq + Sized {
    /// Returns the sketch in an envelope that was opened.
    ///
    /// # Errors
    /// If the payload breaks a rule of its format, or belongs to another kind of sketch.
    fn read(header: &Header, payload: &[u8]) -> Result<Self>;
}

impl<S: Sketch + Merge + Decode + Clone + PartialEq> Pane for S {
    fn read(header: &Header, payload: &[u8]) -> Result<Self> {
        decode_opened(header, payload)
    }
}

impl Pane for AnySketch {
    fn read(header: &Header, payload: &[u8]) -> Result<Self> {
        Self::decode_opened(header, payload)
    }
}
