//! A file that rows are written to. Its name gives the format: `.csv`, `.tsv`, `.jsonl` or
//! `.parquet`. A second ending `.gz`, `.zst` or `.xz` gives the compression.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use crivo::keys::KeyScheme;
use crivo_rows::{Copied, Format};

use crate::output::Output;
use crate::packing::Packing;
use crate::pass::Pass;
use crate::store::{Destination, Filled};

/// The destination of rows, their format and their compression.
#[derive(Debug)]
pub(crate) struct RowsFile {
    destination: Destination,
    packing: Packing,
    /// The format that the name gives, or `None` if it gives none. Rows are then written unchanged.
    format: Option<Format>,
}

impl RowsFile {
    /// Checks that the name is valid, and that the file can be written.
    pub(crate) fn new(path: &Path, destination: Destination) -> Result<Self> {
        let name = path.to_string_lossy();
        let packing = Packing::of(path);
        let format = Format::told_by_name(&name);
        if format == Some(Format::Parquet) && packing != Packing::None {
            bail!("{name}: Parquet is compressed inside: name the file .parquet");
        }
        if path.extension().is_some_and(|end| end == "bz2") {
            bail!("{name}: bzip2 can be read and not written: name the file .gz, .zst or .xz");
        }
        Ok(Self { destination, packing, format })
    }

    /// Returns the format to convert rows to, if it differs from that of the input.
    pub(crate) fn conversion(&self, from: Option<Format>) -> Result<Option<Format>> {
        if self.format.is_some() && from.is_none() {
            let name = self.destination.name();
            bail!(
                "{name}: its name chooses a format, and nothing tells that of the input: say it with --format \
                 csv, tsv, jsonl, parquet or lines"
            );
        }
        Ok(self.format.filter(|to| from != Some(*to)))
    }

    /// Returns true if the file is a Parquet file.
    pub(crate) fn is_parquet(&self) -> bool {
        self.format == Some(Format::Parquet)
    }

    /// Writes the rows of a pass that satisfy its condition, converted if any of the input files has
    /// another format. Writes the whole file or none.
    pub(crate) fn write_rows(&self, pass: &Pass, out: &Output) -> Result<Copied> {
        let mut copied = None;
        let mut conversion = None;
        for from in pass.input.told_formats() {
            conversion = conversion.or(self.conversion(from)?);
        }
        self.write(|to| {
            copied = Some(match conversion {
                None => pass.copy_all(KeyScheme::bytes(), out, to)?,
                Some(format) => pass.convert(KeyScheme::bytes(), format, out, to)?,
            });
            Ok(())
        })?;
        copied.ok_or_else(|| anyhow!("{}: was not written", self.destination.name()))
    }

    /// Writes the file under a temporary name. [`publish`](crate::store::publish) gives it its
    /// name, together with other files.
    pub(crate) fn fill(
        &self,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
    ) -> Result<Filled<'_>> {
        self.destination.fill(|to| self.packing.pack(to, fill))
    }

    /// Writes the whole file, or none.
    pub(crate) fn write(&self, fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
        self.destination.write_with(|to| self.packing.pack(to, fill))
    }
}
