//! Where mail comes from: mboxes, Maildirs, files, and folders of them.
//!
//! A path is read in one order, that of names, and one message at a time. A file that begins as an mbox does is one; any
//! other file is a message. A folder with `cur` or `new` is a Maildir, of which those two and its subfolders are read;
//! any other folder is read with everything below it. Names that begin with a dot are left out, but for
//! subfolders of a Maildir.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::message::LOOKED_AT;

/// How much of a message is read: as much as can matter, if every other byte were the end of a line.
pub const READ: usize = 2 * LOOKED_AT + 2;

/// The messages of a path, one after the other.
#[derive(Debug)]
pub struct Mail {
    /// What is still to be read, the next one last, and whether it is a folder.
    paths: Vec<(PathBuf, bool)>,
    mbox: Option<Mbox>,
}

impl Mail {
    /// The messages of a path.
    ///
    /// # Errors
    /// If there is no such path.
    pub fn of(path: &Path) -> Result<Self> {
        match std::fs::metadata(path) {
            Ok(found) => Ok(Self { paths: vec![(path.to_path_buf(), found.is_dir())], mbox: None }),
            Err(cause) => Err(Error::Mail { path: path.to_path_buf(), cause }),
        }
    }

    fn read(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if let Some(mbox) = &mut self.mbox {
                match mbox.next()? {
                    Some(message) => return Ok(Some(message)),
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
            let mut file = BufReader::new(File::open(&path).map_err(trouble)?);
            if file.fill_buf().map_err(trouble)?.starts_with(b"From ") {
                self.mbox = Some(Mbox { path, file, line: Vec::new(), started: false });
                continue;
            }
            let mut message = Vec::new();
            file.take(READ as u64).read_to_end(&mut message).map_err(trouble)?;
            return Ok(Some(message));
        }
    }
}

impl Iterator for Mail {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// What is to be read of a folder, by name, and whether each is a folder.
fn entries(folder: &Path) -> std::io::Result<Vec<(PathBuf, bool)>> {
    let is_maildir = ["cur", "new"].iter().any(|name| folder.join(name).is_dir());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (name, path, mut kind) = (entry.file_name(), entry.path(), entry.file_type()?);
        if kind.is_symlink() {
            // One that leads nowhere is nothing to read.
            let Ok(found) = std::fs::metadata(&path) else { continue };
            kind = found.file_type();
        }
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        let wanted = if is_maildir {
            kind.is_dir() && name != "tmp"
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

/// An mbox that is being read.
#[derive(Debug)]
struct Mbox {
    path: PathBuf,
    file: BufReader<File>,
    line: Vec<u8>,
    started: bool,
}

impl Mbox {
    /// The next message: up to a line that begins with `From ` after a blank one.
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut message = Vec::new();
        let (mut after_blank, mut lines) = (!self.started, 0);
        loop {
            self.line.clear();
            let read = self.read_line()?;
            if read == 0 {
                return Ok((lines > 0).then_some(message));
            }
            if after_blank && self.line.starts_with(b"From ") {
                if self.started {
                    return Ok(Some(message));
                }
                self.started = true;
                after_blank = false;
                continue;
            }
            lines += 1;
            after_blank = self.line == b"\n" || self.line == b"\r\n";
            let quotes = self.line.iter().take_while(|&&byte| byte == b'>').count();
            let is_quoted = quotes > 0 && self.line[quotes..].starts_with(b"From ");
            if message.len() < READ {
                message.extend_from_slice(&self.line[usize::from(is_quoted)..]);
            }
        }
    }

    /// One line, of which the first bytes are kept: a line without an end is no reason to fill the memory.
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

#[cfg(test)]
mod tests {
    use std::fs;

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
        assert_eq!(all(folder.path()), ["one", "two", "three", "sent", "four", "five"]);
        assert_eq!(all(&at("a/1.txt")), ["one"]);
        assert!(Mail::of(&at("nothing")).is_err());
    }
}
