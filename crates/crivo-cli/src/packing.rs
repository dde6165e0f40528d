//! Files that are compressed while they are written.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;

/// The compression of a file, derived from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
    Xz,
}

impl Packing {
    pub(crate) fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            Some("xz") => Self::Xz,
            _ => Self::None,
        }
    }

    /// Compresses what `fill` writes, and writes it to `to`.
    pub(crate) fn pack(
        self,
        to: &mut (dyn Write + Send),
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::None => fill(to)?,
            Self::Gzip => {
                let mut packed = GzEncoder::new(to, flate2::Compression::default());
                fill(&mut packed)?;
                packed.finish()?;
            }
            Self::Zstd => {
                let mut packed = zstd::Encoder::new(to, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                fill(&mut packed)?;
                packed.finish()?;
            }
            Self::Xz => {
                let mut packed = XzEncoder::new(to, 6);
                fill(&mut packed)?;
                packed.finish()?;
            }
        }
        Ok(())
    }
}
