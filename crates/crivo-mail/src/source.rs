//! Where mail comes from: mboxes, Maildirs, files, and folders of them.
//!
//! A path is read in the order of names, one message at a time. A file that begins as an mbox does
//! is an mbox. Any other file is one message, and an empty file is none. Compressed files (gzip,
//! zstd, xz) are decompressed while they are read. A folder with `cur` or `new` is a Maildir, and
//! only those two are read: its subfolders, such as `.Junk`, are mailboxes of their own. Any other
//! folder is read with everything below it. Names that begin with a dot are left out.
//!
//! Messages of an mbox are separated by lines such as `From a@b.c Sat Jan  3 01:05:34 1996` after a
//! blank line. People write lines that begin with `From ` too. So a separator must have a date,
//! unless the first line has none.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::message::HASHED;

/// The number of bytes of a message that are read. This is enough for all that a check looks at,
/// even if every line were empty and ended with two bytes that are read as one.
pub const READ: usize = 2 * HASHED + 2;

/// The size of the pieces in which a file is read.
const PIECE: usize = 64 << 10;

/// The number of bytes that are read to find out what a file is.
const BEGINNING: u64 = 512;

/// Where a message was read. Shown as its file and, in an mbox, its number there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// The number of the message in its file, from 1, if that is an mbox.
    pub number: Option<u64>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.number.map_or(Ok(()), |number| write!(f, ", message {number}"))
    }
}

/// The messages of a path, one after the other.
#[derive(Debug)]
pub struct Mail {
    /// The paths that are still to be read, the next one last. Each has true if it is a folder.
    paths: Vec<(PathBuf, bool)>,
    mbox: Option<Mbox>,
}

impl Mail {
    /// Returns the messages of a path.
    ///
    /// # Errors
    /// If there is no such path.
    pub fn of(path: &Path) -> Result<Self> {
        match std::fs::metadata(path) {
            Ok(found) => Ok(Self { paths: vec![(path.to_path_buf(), found.is_dir())], mbox: None }),
            Err(cause) => Err(Error::Mail { path: path.to_path_buf(), cause }),
        }
    }

    /// Returns the same messages, each with the place where it was read.
    pub fn located(mut self) -> impl Iterator<Item = Result<(Location, Vec<u8>)>> {
        std::iter::from_fn(move || self.read().transpose())
    }

    fn read(&mut self) -> Result<Option<(Location, Vec<u8>)>> {
        loop {
            if let Some(mbox) = &mut self.mbox {
                match mbox.next()? {
                    Some(message) => return Ok(Some((mbox.location(), message))),
                    None => self.mbox = None,
                }
            }
            let Some((path, is_folder)) = self.paths.pop() else { return Ok(None) };
            let trouble = |cause| Error::Mail { path: path.clone(), cause };
            if is_folder {
                let mut inside = entries(&path).map_err(trouble)?;
                inside.reverse();
                self.paths.append(&mut inside);
                continue;
            }
            let file = File::open(&path).map_err(trouble)?;
            // Most messages fit into one piece.
            let file = BufReader::with_capacity(PIECE, file);
            let mut file = crivo_rows::decompressed(file).map_err(trouble)?;
            let mut beginning = Vec::new();
            file.by_ref().take(BEGINNING).read_to_end(&mut beginning).map_err(trouble)?;
            let is_mbox = without_blank_lines(&beginning).starts_with(b"From ");
            let is_empty = beginning.is_empty();
            let whole = Cursor::new(beginning).chain(file);
            if is_mbox {
                self.mbox = Some(Mbox::of(path, Box::new(whole)));
            } else if !is_empty {
                let mut message = Vec::new();
                whole.take(READ as u64).read_to_end(&mut message).map_err(trouble)?;
                return Ok(Some((Location { path, number: None }, message)));
            }
        }
    }
}

impl Iterator for Mail {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().map(|found| found.map(|(_, message)| message)).transpose()
    }
}

/// Returns the paths to read of a folder, sorted by name. Each has true if it is a folder.
fn entries(folder: &Path) -> std::io::Result<Vec<(PathBuf, bool)>> {
    let is_maildir = ["cur", "new"].iter().any(|name| folder.join(name).is_dir());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (name, path, mut kind) = (entry.file_name(), entry.path(), entry.file_type()?);
        if kind.is_symlink() {
            // A link to nothing is skipped.
            let Ok(found) = std::fs::metadata(&path) else { continue };
            kind = found.file_type();
        }
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        let wanted = if is_maildir {
            kind.is_dir() && (name == "cur" || name == "new")
        } else {
            !is_hidden && (kind.is_dir() || kind.is_file())
        };
        if wanted {
            paths.push((path, kind.is_dir()));
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

fn without_blank_lines(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix(b"\n").or_else(|| bytes.strip_prefix(b"\r\n")) {
        bytes = rest;
    }
    bytes
}

/// An mbox that is being read.
struct Mbox {
    path: PathBuf,
    file: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    started: bool,
    /// True if the lines that separate messages have a date.
    dated: bool,
    /// The number of messages that were returned.
    returned: u64,
}

impl fmt::Debug for Mbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mbox").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Mbox {
    fn of(path: PathBuf, file: Box<dyn Read + Send>) -> Self {
        let file = BufReader::new(file);
        Self { path, file, line: Vec::new(), started: false, dated: false, returned: 0 }
    }

    /// Returns the location of the last returned message.
    fn location(&self) -> Location {
        Location { path: self.path.clone(), number: Some(self.returned) }
    }

    /// Returns the next message, up to a line that separates messages.
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let message = self.read_message()?;
        self.returned += u64::from(message.is_some());
        Ok(message)
    }

    fn read_message(&mut self) -> Result<Option<Vec<u8>>> {
        let mut message = Vec::new();
        let (mut after_blank, mut lines) = (!self.started, 0);
        loop {
            self.line.clear();
            let read = self.read_line()?;
            if read == 0 {
                return Ok((lines > 0).then_some(message));
            }
            let is_blank = self.line == b"\n" || self.line == b"\r\n";
            if !self.started {
                // Skips blank lines and the first separator.
                self.started = !is_blank;
                self.dated = has_date(&self.line);
                after_blank = is_blank;
                continue;
            }
            if after_blank && self.line.starts_with(b"From ") && (!self.dated || has_date(&self.line)) {
                return Ok(Some(message));
            }
            lines += 1;
            after_blank = is_blank;
            let quotes = self.line.iter().take_while(|&&byte| byte == b'>').count();
            let is_quoted = quotes > 0 && self.line[quotes..].starts_with(b"From ");
            if message.len() < READ {
                message.extend_from_slice(&self.line[usize::from(is_quoted)..]);
            }
        }
    }

    /// Reads one line and keeps its first bytes, so that a line without an end cannot fill the
    /// memory. Returns the length of the whole line.
    fn read_line(&mut self) -> Result<usize> {
        let trouble = |cause| Error::Mail { path: self.path.clone(), cause };
        let mut total = 0;
        loop {
            let buffer = self.file.fill_buf().map_err(trouble)?;
            let (used, done) = match memchr::memchr(b'\n', buffer) {
                Some(at) => (at + 1, true),
                None => (buffer.len(), buffer.is_empty()),
            };
            if self.line.len() < READ {
                self.line.extend_from_slice(&buffer[..used]);
            }
            self.file.consume(used);
            total += used;
            if done {
                return Ok(total);
            }
        }
    }
}

/// Returns true if a line that separates messages has a date: a day of the week, a month, a time
/// and a year, in any order.
fn has_date(line: &[u8]) -> bool {
    const DAYS: [&[u8]; 7] = [b"mon", b"tue", b"wed", b"thu", b"fri", b"sat", b"sun"];
    const MONTHS: [&[u8]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let is = |word: &[u8], names: &[&[u8]]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    let is_time = |word: &[u8]| word.iter().all(|c| c.is_ascii_digit() || *c == b':') && word.contains(&b':');
    let is_year = |word: &[u8]| word.len() == 4 && word.iter().all(u8::is_ascii_digit);
    // The first word is `From`. Before the date there is another one, most often an address.
    let words = || {
        let words = line[..line.len().min(1000)].split(|byte| byte.is_ascii_whitespace() || *byte == b',');
        words.filter(|word| !word.is_empty()).skip(2)
    };
    words().any(|word| is(word, &DAYS))
        && words().any(|word| is(word, &MONTHS))
        && words().any(is_time)
        && words().any(is_year)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    fn all(path: &Path) -> Vec<String> {
        Mail::of(path).unwrap().map(|message| String::from_utf8(message.unwrap()).unwrap()).collect()
    }

    #[test]
    fn an_mbox_is_cut_at_its_from_lines_and_unquoted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mbox");
        fs::write(
            &path,
            "From a Thu\nSubject: 1\n\n>From here\nFrom there\n\nFrom b Fri\r\nSubject: 2\r\n\r\n>>From x\n",
        )
        .unwrap();
        assert_eq!(all(&path), ["Subject: 1\n\nFrom here\nFrom there\n\n", "Subject: 2\r\n\r\n>From x\n"]);
        fs::write(&path, "From a Thu\n").unwrap();
        assert_eq!(all(&path), [""; 0]);
    }

    #[test]
    fn lines_that_people_write_do_not_part_messages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mbox");
        let first = "Subject: 1\n\nHello.\n\nFrom next Monday we move.\n\nFrom May 2024 on, Sat is free.\n\n";
        for line in [
            "From a@b Sat Jan  3 01:05:34 1996",
            "From - Sat Jan 03 01:05:34 1996",
            "From a@b Sat Jan  3 01:05 +0000 1996",
            "From 12@xxx Sat, 3 Jan 1996 01:05:34 +0000",
        ] {
            for blank in ["", "\n", "\r\n\r\n"] {
                fs::write(&path, format!("{blank}{line}\n{first}{line}\nSubject: 2\n\nx\n")).unwrap();
                assert_eq!(all(&path), [first, "Subject: 2\n\nx\n"], "{line}");
            }
        }
    }

    #[test]
    fn an_empty_file_is_no_message() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("1"), "").unwrap();
        fs::write(folder.path().join("2"), "\n").unwrap();
        assert_eq!(all(&folder.path().join("1")), [""; 0]);
        assert_eq!(all(folder.path()), ["\n"]);
    }

    #[test]
    fn compressed_mail_is_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mbox.gz");
        let line = "From a@b Sat Jan  3 01:05:34 1996\n";
        let text = format!("{line}Subject: 1\n\nx\n\n{line}Subject: 2\n\ny\n");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let compressed = gzip.finish().unwrap();
        fs::write(&path, &compressed).unwrap();
        assert_eq!(all(&path), ["Subject: 1\n\nx\n\n", "Subject: 2\n\ny\n"]);
        // A damaged file is an error, and not a message with other text.
        fs::write(&path, &compressed[..compressed.len() - 12]).unwrap();
        let read: Result<Vec<_>> = Mail::of(&path).unwrap().collect();
        assert!(read.unwrap_err().to_string().contains("mbox.gz"));
    }

    #[test]
    fn messages_have_a_place_in_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["1.mbox", "2.eml"].map(|name| folder.path().join(name));
        fs::write(&one, "From a Thu\nSubject: 1\n\nFrom b Fri\nSubject: 2\n").unwrap();
        fs::write(&two, "Subject: 3\n").unwrap();
        let located: Vec<String> = Mail::of(folder.path())
            .unwrap()
            .located()
            .map(|found| {
                let (location, bytes) = found.unwrap();
                format!("{location}: {}", String::from_utf8_lossy(&bytes).trim())
            })
            .collect();
        let (one, two) = (one.display(), two.display());
        let expected = [
            format!("{one}, message 1: Subject: 1"),
            format!("{one}, message 2: Subject: 2"),
            format!("{two}: Subject: 3"),
        ];
        assert_eq!(located, expected);
    }

    #[test]
    fn folders_are_read_by_name_and_maildirs_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for dir in ["a/deep", "box/cur", "box/new", "box/tmp", "box/.Sent/cur"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        for (name, text) in [
            ("a/2.eml", "two"),
            ("a/1.txt", "one"),
            ("a/deep/3", "three"),
            ("a/.hidden", "no"),
            ("box/cur/4:2,S", "four"),
            ("box/new/5", "five"),
            ("box/tmp/6", "no"),
            ("box/dovecot.index", "no"),
            ("box/.Sent/cur/0", "sent"),
        ] {
            fs::write(at(name), text).unwrap();
        }
        assert_eq!(all(folder.path()), ["one", "two", "three", "four", "five"]);
        assert_eq!(all(&at("box")), ["four", "five"], "subfolders are mailboxes of their own");
        assert_eq!(all(&at("box/.Sent")), ["sent"]);
        assert_eq!(all(&at("a/1.txt")), ["one"]);
        assert!(Mail::of(&at("nothing")).is_err());
    }
}
