//! What is read: files, patterns or standard input, and how their text is laid out.

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
    /// One record a line, fields (if asked for) between blanks or a delimiter; no quoting.
    Lines,
    /// Comma-separated, with quoting, and a header unless told otherwise.
    Csv,
    /// The same with tabs.
    Tsv,
    /// One JSON object a line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// The format that a file name tells, once `.gz`, `.zst`, `.xz` or `.bz2` is taken off; lines
    /// if none.
    pub fn of_name(name: &str) -> Self {
        Self::told_by_name(name).unwrap_or(Self::Lines)
    }

    /// The same; none if the name tells nothing.
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

/// The values of a record, in the order of the columns; none where a field is empty or missing.
pub type FirstRecord = Vec<Option<Vec<u8>>>;

/// Where bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf),
    /// A file with what a source held that can be read only once.
    Copy {
        path: PathBuf,
        of: Arc<str>,
    },
    StandardInput,
}

impl Source {
    /// The name used in messages.
    pub(crate) fn name(&self) -> Arc<str> {
        match self {
            Self::File(path) => path.to_string_lossy().into(),
            Self::Copy { of, .. } => Arc::clone(of),
            Self::StandardInput => "standard input".into(),
        }
    }

    /// The file that is read; none for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Copy { path, .. } => Some(path),
            Self::StandardInput => None,
        }
    }

    /// What the system says about the source, if it is a file that can be read again.
    fn file(&self) -> Option<Metadata> {
        self.path()?.metadata().ok().filter(Metadata::is_file)
    }
}

/// The files to read and how they are laid out.
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
    pub(crate) sources: Vec<Source>,
    pub(crate) format: Option<Format>,
    pub(crate) delimiter: Option<Vec<u8>>,
    pub(crate) header: bool,
    pub(crate) quotes: bool,
    pub(crate) skip_bad: bool,
    pub(crate) follow: bool,
    pub(crate) limits: Limits,
}

impl Input {
    fn of(sources: Vec<Source>) -> Self {
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

    /// Standard input.
    pub fn stdin() -> Self {
        Self::of(vec![Source::StandardInput])
    }

    /// One file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::of(vec![Source::File(path.into())])
    }

    /// What a command line names: files, patterns such as `logs/*.csv.gz` (matches in
    /// alphabetical order), or `-` for standard input; nothing at all is standard input too.
    ///
    /// # Errors
    /// If a file does not exist, a pattern matches nothing, or a folder is named.
    pub fn from_args<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Result<Self> {
        let mut sources = Vec::new();
        for arg in args {
            expand(arg.as_ref(), &mut sources)?;
        }
        if sources.is_empty() {
            return Ok(Self::stdin());
        }
        if sources.iter().filter(|source| **source == Source::StandardInput).count() > 1 {
            return Err(Error::new(ErrorKind::InvalidOption, "standard input (-) can be read only once"));
        }
        Ok(Self::of(sources))
    }

    /// The format of every file, whatever its name.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// What stands between fields: any text without line ends or quotes.
    ///
    /// # Errors
    /// If it is empty or holds a line end or a quote.
    pub fn delimiter(mut self, delimiter: impl AsRef<[u8]>) -> Result<Self> {
        let delimiter = delimiter.as_ref();
        if delimiter.is_empty() || delimiter.iter().any(|byte| b"\r\n\"".contains(byte)) {
            let message = "a delimiter is one or more characters, none of them a quote or a line end";
            return Err(Error::new(ErrorKind::InvalidOption, message));
        }
        self.delimiter = Some(delimiter.to_vec());
        Ok(self)
    }

    /// Whether the first record of a CSV or TSV file names the fields; true unless told.
    #[must_use]
    pub fn header(mut self, header: bool) -> Self {
        self.header = header;
        self
    }

    /// Whether a CSV or TSV field that begins with a quote is quoted; true unless told.
    #[must_use]
    pub fn quotes(mut self, quotes: bool) -> Self {
        self.quotes = quotes;
        self
    }

    /// Count bad records instead of stopping at the first.
    #[must_use]
    pub fn skip_bad(mut self, skip_bad: bool) -> Self {
        self.skip_bad = skip_bad;
        self
    }

    /// The longest record, in bytes: 64 MiB unless told. A longer one is an error, because a
    /// missing quote can make one record of all that follows. Below the size of a chunk, 256 KiB,
    /// it has no effect; 2 GiB is the most.
    #[must_use]
    pub fn max_record(mut self, bytes: usize) -> Self {
        self.limits.record = bytes.clamp(1, Limits::LONGEST_RECORD);
        self
    }

    /// The most bytes of a file that are held in memory: 1 GiB unless told. Only a Parquet file
    /// that is compressed as a whole, or comes through a pipe, has to be.
    #[must_use]
    pub fn max_held(mut self, bytes: usize) -> Self {
        self.limits.held = bytes;
        self
    }

    /// At the end of the last file, wait for it to grow until the progress hook says stop. A file
    /// that is replaced or truncated meanwhile is read from its beginning. A pipe ends when it is
    /// closed.
    #[must_use]
    pub fn follow(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    /// The files, in order; standard input is none.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().filter_map(Source::path)
    }

    /// Puts a copy in the place of each source that can be read only once. `copy` is given the path
    /// of the source, none for standard input, and returns the path of the copy. Messages go on to
    /// name the source.
    ///
    /// # Errors
    /// The first of `copy`.
    pub fn with_copies<E>(
        mut self,
        mut copy: impl FnMut(Option<&Path>) -> std::result::Result<PathBuf, E>,
    ) -> std::result::Result<Self, E> {
        for source in self.sources.iter_mut().filter(|source| source.file().is_none()) {
            *source = Source::Copy { path: copy(source.path())?, of: source.name() };
        }
        Ok(self)
    }

    /// Whether every source can be read a second time: files, and nothing that is followed.
    pub fn is_rereadable(&self) -> bool {
        !self.follow && self.sources.iter().all(|source| source.file().is_some())
    }

    /// The bytes in all files, when every source is a file that knows its size.
    pub fn total_bytes(&self) -> Option<u64> {
        if self.follow {
            return None;
        }
        self.sources.iter().map(|source| source.file().map(|file| file.len())).sum()
    }

    /// The names of each source's fields, numbers where they have none, as a scan of
    /// [all](crate::Select::All) would find them; of JSONL those of the first record. None are
    /// known of what cannot be read twice.
    ///
    /// # Errors
    /// If a file cannot be read, or its beginning is wrong.
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

    /// What is selected of the first record; nothing if there is no record, or the input cannot be
    /// read twice. Reads no more than that takes.
    ///
    /// # Errors
    /// If the file cannot be read, its beginning is wrong, or it has no such field.
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
        // What is wrong with later records is not asked.
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
                // The rest of the chunk is not wanted.
                Err(Error::new(ErrorKind::Other, "the first record was read"))
            });
            if found.is_some() {
                break;
            }
            outcome?;
        }
        Ok(found)
    }

    /// The settings alone: a copy of them takes no longer for many files than for one.
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

    /// The format of the first source, if it was chosen or its name tells it.
    pub fn told_format(&self) -> Option<Format> {
        self.sources.first().and_then(|source| self.told_format_of(source))
    }

    /// The format of a source, if it was chosen or the name tells it.
    pub(crate) fn told_format_of(&self, source: &Source) -> Option<Format> {
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

/// One argument's files. A name that exists is taken as it stands, so that `[1].csv` can be read.
fn expand(arg: &OsStr, sources: &mut Vec<Source>) -> Result<()> {
    if arg == "-" {
        sources.push(Source::StandardInput);
        return Ok(());
    }
    let path = Path::new(arg);
    let name = arg.to_string_lossy();
    if path.is_dir() {
        return Err(folder(&name));
    }
    if path.exists() {
        sources.push(Source::File(path.into()));
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
    sources.extend(matches.filter_map(|entry| entry.ok().filter(|path| path.is_file()).map(Source::File)));
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
