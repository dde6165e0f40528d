//! Files of Apache DataSketches, as `crivo distinct --interchange` and other systems write them: shown and merged.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use crivo::Estimate;
use crivo_interchange::{DEFAULT_LG_K, Hll, Theta};

use crate::store;

/// The byte of a file that says which sketch it holds, and its values.
const FAMILY: usize = 2;
const FAMILY_HLL: u8 = 7;
const FAMILY_THETA: u8 = 3;
/// The largest that DataSketches makes is 2^26 hashes.
const MOST_BYTES: u64 = 1 << 30;

/// A sketch of DataSketches.
#[derive(Debug, Clone)]
pub(crate) enum ForeignSketch {
    Hll(Hll),
    Theta(Theta),
}

impl ForeignSketch {
    /// Returns the sketch in a file of DataSketches; none if the file is something else.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        let Ok(mut file) = File::open(path) else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = |file: &mut File, most: u64, bytes: &mut Vec<u8>| {
            let outcome = file.take(most).read_to_end(bytes);
            outcome.map_err(|error| anyhow!("{}: {}", store::name_of(path), store::reason(&error)))
        };
        // A folder cannot be read; who opens it next says so.
        if path.is_dir() {
            return Ok(None);
        }
        read(&mut file, 8, &mut bytes)?;
        let family = bytes.get(FAMILY).copied();
        if bytes.starts_with(b"CRVO") || !matches!(family, Some(FAMILY_HLL | FAMILY_THETA)) {
            return Ok(None);
        }
        read(&mut file, MOST_BYTES, &mut bytes)?;
        let sketch = match family {
            Some(FAMILY_HLL) => Hll::decode(&bytes).map(Self::Hll).ok(),
            _ => Theta::decode(&bytes, DEFAULT_LG_K).map(Self::Theta).ok(),
        };
        Ok(sketch)
    }

    /// Returns how it is called.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Hll(_) => "DataSketches HLL",
            Self::Theta(_) => "DataSketches Theta",
        }
    }

    /// Returns the binary logarithm of its size, where the file says it.
    pub(crate) fn lg_k(&self) -> Option<u8> {
        match self {
            Self::Hll(sketch) => Some(sketch.lg_k()),
            Self::Theta(_) => None,
        }
    }

    /// Returns the number of different keys.
    pub(crate) fn items(&self) -> Estimate {
        match self {
            Self::Hll(sketch) => sketch.estimate(),
            Self::Theta(sketch) => sketch.estimate(),
        }
    }

    /// Makes this the sketch of both.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Hll(mine), Self::Hll(theirs)) => mine.merge(theirs),
            (Self::Theta(mine), Self::Theta(theirs)) => mine.merge(theirs),
            (mine, theirs) => bail!("is a {}, and the first a {}", theirs.name(), mine.name()),
        }
        Ok(())
    }

    /// Returns the bytes that other systems read.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hll(sketch) => sketch.encode(),
            Self::Theta(sketch) => sketch.encode(),
        }
    }
}
