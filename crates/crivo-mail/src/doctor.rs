//! Is a set-up in order? The store, the stores of users, and the servers that should answer.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::service::folder_name;
use crate::{Filter, Result, Stats};

/// Below this number of messages of a class, most answers are unsure.
const FEW: u64 = 40;

/// The ratio of the larger class to the smaller one above which thresholds rest on few messages.
const UNEVEN: u64 = 20;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was found about one part of a set-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    /// What was looked at.
    pub what: String,
    /// How it is.
    pub state: Health,
    /// The finding in words, with what to do.
    pub says: String,
}

/// The condition of a part of a set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// In order.
    Well,
    /// It works, but not as well as it could.
    Weak,
    /// It does not work.
    Broken,
}

impl Health {
    /// `ok`, `warning` or `problem`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Well => "ok",
            Self::Weak => "warning",
            Self::Broken => "problem",
        }
    }
}

/// Looks at a store: can it be read and written, is every record whole, what does it know, who may
/// read it?
pub fn examine_store(folder: &Path) -> Vec<Checkup> {
    let name = |what: &str| format!("{what} {}", folder.display());
    let report = |what: &str, state, says: String| Checkup { what: name(what), state, says };
    let stats = match read_all(folder) {
        Ok(stats) => stats,
        Err(error) => return vec![report("store", Health::Broken, error.to_string())],
    };
    let Stats { spam, ham, .. } = stats;
    let mut found = vec![report("store", Health::Well, "every record is whole".into())];
    let known = format!("{spam} spam and {ham} ham learned");
    let (state, advice) = if spam == 0 || ham == 0 {
        (Health::Broken, ": no verdict before both are taught (crivo mail train)")
    } else if spam.min(ham) < FEW {
        (Health::Weak, ": most answers are unsure below 40 of each")
    } else if spam.max(ham) / spam.min(ham) > UNEVEN {
        (Health::Weak, ": teach more of the rarer kind")
    } else {
        (Health::Well, "")
    };
    found.push(report("lessons of", state, known + advice));
    if stats.put_aside > 0 {
        let says = format!("{} messages contradict their label: see crivo mail audit", stats.put_aside);
        found.push(report("labels of", Health::Weak, says));
    }
    found.extend(examine_files(folder));
    found
}

fn read_all(folder: &Path) -> Result<Stats> {
    let filter = Filter::open(folder)?;
    filter.verify()?;
    filter.stats()
}

/// Reports files of a store that this user cannot write, or that other users may open.
fn examine_files(folder: &Path) -> Vec<Checkup> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    let files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    for path in files {
        let what = format!("file {}", path.display());
        if std::fs::OpenOptions::new().append(true).open(&path).is_err() {
            let says = "cannot be written by this user: checks work, lessons do not".to_owned();
            found.push(Checkup { what: what.clone(), state: Health::Weak, says });
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).map_or(0, |metadata| metadata.permissions().mode());
            if mode & 0o007 != 0 {
                let says =
                    format!("other users may open it (mode {:o}): chmod o= {}", mode & 0o777, path.display());
                found.push(Checkup { what, state: Health::Weak, says });
            }
        }
    }
    found
}

/// Looks at the folder of users: can each name have a store, and is each store whole?
pub fn examine_users(folder: &Path) -> Vec<Checkup> {
    let what = format!("users in {}", folder.display());
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return vec![Checkup { what, state: Health::Broken, says: error.to_string() }],
    };
    let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.sort();
    let (mut found, mut stores) = (Vec::new(), 0);
    for name in &names {
        let of_user = |says: String| {
            let what = format!("user {}", name.to_string_lossy());
            Checkup { what, state: Health::Broken, says }
        };
        if name.to_str().and_then(folder_name).is_none() {
            found.push(of_user("no user has this name: expected letters, digits and . _ - + @".into()));
            continue;
        }
        match read_all(&folder.join(name)) {
            Ok(_) => stores += 1,
            // A folder that was made for a user has no store before the first lesson.
            Err(error) if error.is_missing_store() => {}
            Err(error) => found.push(of_user(error.to_string())),
        }
    }
    let says = format!("{} folders, {stores} whole stores", names.len());
    found.insert(0, Checkup { what, state: Health::Well, says });
    found
}

/// Asks a server that speaks spamd's protocol whether it answers. The address is `host:port` or
/// `unix:/path`.
pub fn examine_spamd(address: &str) -> Checkup {
    let answered = ask(address, b"PING SPAMC/1.5\r\n\r\n", b"SPAMD/1.5 0 PONG\r\n".len());
    examined("spamd", address, answered, |answer| {
        answer.starts_with(b"SPAMD/") && answer.ends_with(b"PONG\r\n")
    })
}

/// Asks a milter whether it answers. The address is `host:port` or `unix:/path`.
pub fn examine_milter(address: &str) -> Checkup {
    let offer = b"\0\0\0\x0dO\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff";
    examined("milter", address, ask(address, offer, offer.len()), |answer| answer.starts_with(b"\0\0\0\x0dO"))
}

fn examined(
    protocol: &str,
    address: &str,
    answered: std::io::Result<Vec<u8>>,
    is_right: impl Fn(&[u8]) -> bool,
) -> Checkup {
    let (state, says) = match answered {
        Ok(answer) if is_right(&answer) => (Health::Well, "answers".to_owned()),
        Ok(_) => (Health::Broken, format!("something answers that does not speak {protocol}'s protocol")),
        Err(error) => {
            (Health::Broken, format!("{error}: is crivo mail serve --{protocol} {address} running?"))
        }
    };
    Checkup { what: format!("{protocol} {address}"), state, says }
}

/// Sends a question. Reads an answer of this length, or a shorter one if the server closes first.
fn ask(address: &str, question: &[u8], length: usize) -> std::io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    match address.strip_prefix("unix:") {
        #[cfg(unix)]
        Some(path) => {
            let mut stream = std::os::unix::net::UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.write_all(question)?;
            stream.take(length as u64).read_to_end(&mut answer)?;
        }
        _ => {
            let unknown =
                || std::io::Error::other("expected an address such as 127.0.0.1:1783 or unix:/path");
            let address = address.to_socket_addrs()?.next().ok_or_else(unknown)?;
            let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.write_all(question)?;
            stream.take(length as u64).read_to_end(&mut answer)?;
        }
    }
    Ok(answer)
}
