//! Files of Apache DataSketches in a build without the feature `interchange`: none is recognised.

use std::path::Path;

use anyhow::Result;
use crivo::Estimate;

/// A sketch of DataSketches: there is none.
#[derive(Debug, Clone)]
pub(crate) enum ForeignSketch {}

impl ForeignSketch {
    #[allow(clippy::unnecessary_wraps)] // as in the build that opens them
    pub(crate) fn open(_: &Path) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn name(&self) -> &'static str {
        match *self {}
    }

    pub(crate) fn lg_k(&self) -> Option<u8> {
        match *self {}
    }

    pub(crate) fn items(&self) -> Estimate {
        match *self {}
    }

    pub(crate) fn merge(&mut self, _: &Self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        match *self {}
    }
}
