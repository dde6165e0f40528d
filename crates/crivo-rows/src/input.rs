// This file is long because an input has many sources and formats, each with its tests.

//! What to read: files, patterns or standard input, and how their text is divided into fields.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::feed::Feed;
use crate::foreign::Limits;
use crate::scan::Scan;
use crate::select::Select;
use crate::worker::Worker;

/// How a file's bytes are divided into records and fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One record per line. Fields, if requested, are separated by blanks or a delimiter. No
    /// quoting.
    Lines,
    /// Comma-separated values with quoting, and by default with a header.
    Csv,
    /// Tab-separated values, otherwise like CSV.
    Tsv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// Returns the format for the extension of a file name, after `.gz`, `.zst`, `.xz` or `.bz2` is
    /// removed. Returns [`Lines`](Self::Lines) for any other extension.
    pub fn of_name(name: &str) -> Self {
        Self::told_by_name(name).unwrap_or(Self::Lines)
    }

    /// Returns the format for the extension of a file name like [`of_name`](Self::of_name), or
    /// `None` for any other extension.
    pub fn told_by_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let stem =
            [".gz", ".zst", ".xz", ".bz2"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match Path::new(stem).extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Some(Self::Csv),
            Some("tsv") => Some(Self::Tsv),
            Some("jsonl" | "ndjson") => Some(Self::Jsonl),
            Some("parquet") => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// The values of a record in the order of the columns. `None` is an empty or missing field.
pub type FirstRecord = Vec<Option<Vec<u8>>>;

/// The origin of the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InputSource {
    File(PathBuf),
    /// A file with a copy of a source that can be read only once. `of` is the name of that source.
    Copy {
        path: PathBuf,
        of: Arc<str>,
    },
    StandardInput,
}

impl InputSource {
    /// Returns the name for messages.
    pub(crate) fn name(&self) -> Arc<str> {
        match self {
            Self::File(path) => path.to_string_lossy().into(),
            Self::Copy { of, .. } => Arc::clone(of),
            Self::StandardInput => "standard input".into(),
        }
    }

    /// Returns the path of the file to read, or `None` for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Copy { path, .. } => Some(path),
            Self::StandardInput => None,
        }
    }

    /// Returns the metadata if the source is a regular file, which can be read again.
    fn file(&self) -> Option<Metadata> {
        self.path()?.metadata().ok().filter(Metadata::is_file)
    }
}

/// The files to read, and how they are divided into records and fields.
///
/// ```
/// use crivo_rows::{Format, Input};
///
/// let input = Input::from_args(["-"])?.format(Format::Csv).delimiter("::")?.header(false);
/// assert!(Input::from_args(["no-such-file.csv"]).unwrap_err().to_string().contains("no-such-file.csv"));
/// # Ok::<(), crivo_rows::Error>(())
/// ```
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // four switches that have nothing to do with each other
pub struct Input {
    pub(crate) sources: Vec<InputSource>,
    pub(crate) format: Option<Format>,
    pub(crate) delimiter: Option<Vec<u8>>,
    pub(crate) header: bool,
    pub(crate) quotes: bool,
    pub(crate) skip_bad: bool,
    pub(crate) follow: bool,
    pub(crate) limits: Limits,
}

impl Input {
    fn of(sources: Vec<InputSource>) -> Self {
        Self {
            sources,
            format: None,
            delimiter: None,
            header: true,
            quotes: true,
            skip_bad: false,
            follow: false,
            limits: Limits::default(),
        }
    }

    /// Reads standard input.
    pub fn stdin() -> Self {
        Self::of(vec![InputSource::StandardInput])
    }

    /// Reads one file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::of(vec![InputSource::File(path.into())])
    }

    /// Reads the sources that a command line names: files, patterns such as `logs/*.csv.gz`
    /// (matches in alphabetical order), or `-` for standard input. Without arguments it reads
    /// standard input.
    ///
    /// # Errors
    /// If a file does not exist, a pattern matches nothing or a folder in it cannot be read, an
    /// argument is a folder, or standard input is named twice.
    pub fn from_args<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Result<Self> {
        let mut sources = Vec::new();
        for arg in args {
            expand(arg.as_ref(), &mut sources)?;
        }
        if sources.is_empty() {
            return Ok(Self::stdin());
        }
        if sources.iter().filter(|source| **source == InputSource::StandardInput).count() > 1 {
            return Err(Error::new(ErrorKind::InvalidOption, "standard input (-) can be read only once"));
        }
        Ok(Self::of(sources))
    }

    /// Sets the format of all files, whatever their names.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets the delimiter between fields, which is any text without line ends or quotes.
    ///
    /// # Errors
    /// If it is empty or contains a line end or a quote.
    pub fn delimiter(mut self, delimiter: impl AsRef<[u8]>) -> Result<Self> {
        let delimiter = delimiter.as_ref();
        if delimiter.is_empty() || delimiter.iter().any(|byte| b"\r\n\"".contains(byte)) {
            let message = "a delimiter is one or more characters, none of them a quote or a line end";
            return Err(Error::new(ErrorKind::InvalidOption, message));
        }
        self.delimiter = Some(delimiter.to_vec());
        Ok(self)
    }

    /// Sets whether the first record of a CSV or TSV file names the fields. Default: true.
    #[must_use]
    pub fn header(mut self, header: bool) -> Self {
        self.header = header;
        self
    }

    /// Sets whether a CSV or TSV field that begins with a quote is quoted. Default: true.
    #[must_use]
    pub fn quotes(mut self, quotes: bool) -> Self {
        self.quotes = quotes;
        self
    }

    /// Sets whether bad records are counted instead of ending the pass with an error.
    #[must_use]
    pub fn skip_bad(mut self, skip_bad: bool) -> Self {
        self.skip_bad = skip_bad;
        self
    }

    /// Sets the length of the longest record in bytes. The default is 64 MiB, the most is 2 GiB. A
    /// longer record is an error, because a missing quote can make one record of the whole
    /// remaining file. A value below the size of a chunk, 256 KiB, has no effect.
    #[must_use]
    pub fn max_record(mut self, bytes: usize) -> Self {
        self.limits.record = bytes.clamp(1, Limits::LONGEST_RECORD);
        self
    }

    /// Sets the most bytes of a file that are held in memory. Default: 1 GiB. Only a Parquet file
    /// that is compressed as a whole, or comes through a pipe, is held in memory.
    #[must_use]
    pub fn max_held(mut self, bytes: usize) -> Self {
        self.limits.held = bytes;
        self
    }

    /// Sets whether to wait at the end of the last file for it to grow, until the progress hook
    /// stops the pass. A file that is replaced or truncated meanwhile is read from its beginning. A
    /// pipe ends when it is closed.
    #[must_use]
    pub fn follow(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    /// Returns the paths of the files in order. Standard input has no path.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().filter_map(InputSource::path)
    }

    /// Replaces each source that can be read only once by a copy. `copy` gets the path of the
    /// source, or `None` for standard input, and returns the path of the copy. Messages still name
    /// the original source.
    ///
    /// # Errors
    /// The first error of `copy`.
    pub fn with_copies<E>(
        mut self,
        mut copy: impl FnMut(Option<&Path>) -> std::result::Result<PathBuf, E>,
    ) -> std::result::Result<Self, E> {
        for source in self.sources.iter_mut().filter(|source| source.file().is_none()) {
            *source = InputSource::Copy { path: copy(source.path())?, of: source.name() };
        }
        Ok(self)
    }

    /// Returns true if every source can be read again: all are files, and none is followed.
    pub fn is_rereadable(&self) -> bool {
        !self.follow && self.sources.iter().all(|source| source.file().is_some())
    }

    /// Returns the bytes of all files, or `None` if a source is not a file or is followed.
    pub fn total_bytes(&self) -> Option<u64> {
        if self.follow {
            return None;
        }
        self.sources.iter().map(|source| source.file().map(|file| file.len())).sum()
    }

    /// Returns the names of each source's fields, as a scan of [all](crate::Select::All) would find
    /// them. Fields without names have numbers. For JSONL the names are those of the first record.
    /// A source that cannot be read twice has none.
    ///
    /// # Errors
    /// If a file cannot be read, or its beginning is malformed.
    pub fn field_names(&self) -> Result<Vec<Vec<String>>> {
        const ENOUGH: usize = 64 << 10;
        let mut alone = Self { follow: false, ..self.without_sources() };
        self.sources
            .iter()
            .map(|source| {
                alone.sources = vec![source.clone()];
                if !alone.is_rereadable() {
                    return Ok(Vec::new());
                }
                let names = Feed::new(&alone, &Select::All, None, ENOUGH).next_names()?;
                Ok(names.unwrap_or_default())
            })
            .collect()
    }

    /// Returns the selected values of the first record. Returns `None` if there is no record, or if
    /// the input cannot be read twice. Reads only as much of the file as needed.
    ///
    /// # Errors
    /// If the file cannot be read, its beginning is malformed, or it has no such field.
    ///
    /// ```
    /// use crivo_rows::{Input, Select};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("sales.csv");
    /// std::fs::write(&path, "user,amount\nana,\nrui,2\n")?;
    /// let first = Input::file(&path).first_record(Select::All)?;
    /// assert_eq!(first, Some(vec![Some(b"ana".to_vec()), None]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn first_record(&self, select: Select) -> Result<Option<FirstRecord>> {
        const ENOUGH: usize = 64 << 10;
        if !self.is_rereadable() {
            return Ok(None);
        }
        // Errors in later records do not matter here.
        let lenient = Self { skip_bad: true, ..self.clone() };
        let scan = Scan::of(&lenient).select(select);
        let mut feed = Feed::new(&lenient, &scan.select, None, ENOUGH);
        let mut worker = Worker::new(&scan);
        let mut found = None;
        while let Some(work) = feed.next(&mut worker.chunk)? {
            let outcome = worker.run(&work, &mut |batch| {
                let values =
                    (0..batch.names().len()).map(|column| batch.value(column, 0).map(<[u8]>::to_vec));
                found = Some(values.collect());
                // Ends the run, because only the first record is needed.
                Err(Error::new(ErrorKind::Other, "the first record was read"))
            });
            if found.is_some() {
                break;
            }
            outcome?;
        }
        Ok(found)
    }

    /// Returns the settings without the sources, so that the time of a copy does not grow with the
    /// number of files.
    fn without_sources(&self) -> Self {
        let Self { format, delimiter, header, quotes, skip_bad, follow, limits, .. } = self;
        let delimiter = delimiter.clone();
        Self {
            sources: Vec::new(),
            format: *format,
            delimiter,
            header: *header,
            quotes: *quotes,
            skip_bad: *skip_bad,
            follow: *follow,
            limits: *limits,
        }
    }

    /// Returns the format of the first source, if it was set or the file name tells it.
    pub fn told_format(&self) -> Option<Format> {
        self.sources.first().and_then(|source| self.told_format_of(source))
    }

    /// Returns the format of each source, if it was set or the file name tells it.
    pub fn told_formats(&self) -> impl Iterator<Item = Option<Format>> {
        self.sources.iter().map(|source| self.told_format_of(source))
    }

    /// Returns the format of a source, if it was set or the file name tells it.
    pub(crate) fn told_format_of(&self, source: &InputSource) -> Option<Format> {
        self.format.or_else(|| Format::told_by_name(&source.name()))
    }

    pub(crate) fn delimiter_of(&self, format: Format) -> Option<&[u8]> {
        self.delimiter.as_deref().or(match format {
            Format::Csv => Some(b","),
            Format::Tsv => Some(b"\t"),
            Format::Lines | Format::Jsonl | Format::Parquet => None,
        })
    }
}

/// Adds the files of one argument. A name that exists is not used as a pattern, so that `[1].csv`
/// can be read.
fn expand(arg: &OsStr, sources: &mut Vec<InputSource>) -> Result<()> {
    if arg == "-" {
        sources.push(InputSource::StandardInput);
        return Ok(());
    }
    let path = Path::new(arg);
    let name = arg.to_string_lossy();
    if path.is_dir() {
        return Err(folder(&name));
    }
    if path.exists() {
        sources.push(InputSource::File(path.into()));
        return Ok(());
    }
    let failed =
        |kind, message: &dyn std::fmt::Display| Error::new(kind, message).in_file(&name.as_ref().into());
    if !name.contains(['*', '?', '[']) {
        return Err(failed(ErrorKind::NotFound, &"no such file"));
    }
    let matches = glob::glob(&name)
        .map_err(|error| failed(ErrorKind::InvalidOption, &format_args!("not a pattern: {error}")))?;
    let before = sources.len();
    for found in matches {
        let path = found.map_err(|error| {
            let folder = error.path().to_string_lossy().into();
            Error::io(error.into()).in_file(&folder)
        })?;
        if path.is_file() {
            sources.push(InputSource::File(path));
        }
    }
    if sources.len() == before {
        return Err(failed(ErrorKind::NotFound, &"no file matches this pattern"));
    }
    Ok(())
}

pub(crate) fn folder(name: &str) -> Error {
    let advice = format_args!("is a folder: name its files, for example '{}/*'", name.trim_end_matches('/'));
    Error::new(ErrorKind::Folder, advice).in_file(&name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_tells_the_format_below_its_compression() {
        for (name, format) in [
            ("a.csv", Format::Csv),
            ("b.TSV.gz", Format::Tsv),
            ("c.jsonl.zst", Format::Jsonl),
            ("d.ndjson.xz", Format::Jsonl),
            ("e.parquet", Format::Parquet),
            ("access.log", Format::Lines),
            ("words.gz", Format::Lines),
            ("csv", Format::Lines),
        ] {
            assert_eq!(Format::of_name(name), format, "{name}");
        }
    }

    #[test]
    fn delimiter_of_quotes_or_line_ends_is_refused() {
        for bad in ["", "\n", "a\r", "\""] {
            assert_eq!(Input::stdin().delimiter(bad).unwrap_err().kind(), ErrorKind::InvalidOption);
        }
        assert!(Input::stdin().delimiter("::").is_ok());
    }

    #[test]
    fn patterns_expand_in_order_and_missing_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", "[1].txt"] {
            std::fs::write(folder.path().join(name), "x\n").unwrap();
        }
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let input = Input::from_args([at("*.csv"), at("[1].txt")]).unwrap();
        let names: Vec<_> = input.sources.iter().map(|s| s.name().to_string()).collect();
        assert_eq!(names, [at("a.csv"), at("b.csv"), at("[1].txt")]);
        assert_eq!(Input::from_args([at("*.tsv")]).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(Input::from_args([at("no.csv")]).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(Input::from_args([at("")]).unwrap_err().kind(), ErrorKind::Folder);
        assert_eq!(Input::from_args(["-", "-"]).unwrap_err().kind(), ErrorKind::InvalidOption);
    }
}
