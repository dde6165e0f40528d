//! Which files are read, and their layout: the options that commands over rows and commands over
//! documents share.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum, value_parser};
use crivo_rows::{Format, Input};

use crate::sizes::memory_size;
use crate::store::Destination;
use crate::used_files::UsedFiles;

/// More threads than any machine has. Far more could not be started.
pub(crate) const MOST_THREADS: i64 = 1024;

/// The limits of a record's length: the size of an input chunk, and the range of 32-bit positions.
const LEAST_RECORD: u64 = 256 << 10;
const MOST_RECORD: u64 = 2 << 30;

/// What to read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct LayoutArgs {
    /// Files or patterns such as 'logs/*.csv.gz'; standard input if none, or -
    #[arg(value_name = "FILE", help_heading = None::<&str>)]
    pub(crate) files: Vec<PathBuf>,

    /// The format, when the name does not tell; gzip, zstd, xz and bzip2 are recognised by content
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatName>,

    /// The field to take, by name or number (from 1); not needed for lines, or where there is only
    /// one. A,B is one key of two fields; in JSON, a.b is a field of an object, and tags[] each
    /// element of an array
    #[arg(short, long, value_name = "NAME|NUMBER")]
    pub(crate) field: Option<String>,

    /// The first record is data, not names; fields have numbers then
    #[arg(long)]
    pub(crate) no_header: bool,

    /// What stands between fields, one or more characters: ';', '::', '\t'
    #[arg(long, value_name = "TEXT")]
    pub(crate) delimiter: Option<String>,

    /// Quotes are data like any other character: no field of CSV or TSV is quoted
    #[arg(long)]
    pub(crate) no_quotes: bool,

    /// Count bad records instead of stopping at the first
    #[arg(long)]
    pub(crate) skip_bad: bool,

    /// The longest record; a longer one is an error, because one missing quote can swallow the rest
    /// [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    pub(crate) max_record: Option<u64>,

    /// Threads to use; all processors if not given
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=MOST_THREADS))]
    threads: Option<u16>,
}

/// A format as it is named on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FormatName {
    Lines,
    Csv,
    Tsv,
    Jsonl,
    Parquet,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Lines => Self::Lines,
            FormatName::Csv => Self::Csv,
            FormatName::Tsv => Self::Tsv,
            FormatName::Jsonl => Self::Jsonl,
            FormatName::Parquet => Self::Parquet,
        }
    }
}

impl LayoutArgs {
    /// Applies the layout options to files.
    pub(crate) fn laid_out(&self, files: Input) -> Result<Input> {
        let mut input = files.header(!self.no_header).quotes(!self.no_quotes).skip_bad(self.skip_bad);
        if let Some(format) = self.format {
            input = input.format(format.into());
        }
        if let Some(delimiter) = &self.delimiter {
            // A tab is hard to type in a shell.
            input = input.delimiter(delimiter.replace("\\t", "\t")).context("--delimiter")?;
        }
        if let Some(bytes) = self.max_record {
            if !(LEAST_RECORD..=MOST_RECORD).contains(&bytes) {
                bail!("--max-record: expected a size from 256K to 2G");
            }
            input = input.max_record(bytes as usize);
        }
        Ok(input)
    }

    /// Returns the requested number of threads, or 0 if the user gave none.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or(0).into()
    }

    /// Returns true if standard input is read.
    pub(crate) fn is_standard_input(&self) -> bool {
        self.files.is_empty() || self.files.iter().any(|path| path.as_os_str() == "-")
    }

    /// Returns the format of a file with this name.
    pub(crate) fn format_of(&self, name: &str) -> Format {
        self.format.map_or_else(|| Format::of_name(name), Into::into)
    }

    /// The format of the first file.
    pub(crate) fn format_of_first(&self) -> Format {
        let name = self.files.first().map(|path| path.to_string_lossy()).unwrap_or_default();
        self.format_of(&name)
    }

    /// Returns the files of a run that reads these files, to which outputs are added.
    pub(crate) fn used_files(&self) -> UsedFiles {
        UsedFiles::reading(&self.files)
    }

    /// Returns the destination of a run's only output. It must not be one of the input files.
    pub(crate) fn output_beside(&self, path: &Path) -> Result<Destination> {
        self.used_files().output(path)
    }
}
