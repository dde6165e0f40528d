//! The valid files that mutants are made from, and the commands that read each.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::mutate::{self, Random};
use super::{Programs, fitting};
use crate::shell::{Step, root};

/// The format of a file, which decides how it is changed and which reader gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sketch,
    Parquet,
    Text,
    Compressed,
    Sqlite,
    Reports,
    Interchange,
    Work,
    Message,
}

impl Kind {
    pub(super) const ALL: [(Self, &'static str); 9] = [
        (Self::Sketch, "sketch"),
        (Self::Parquet, "parquet"),
        (Self::Text, "text"),
        (Self::Compressed, "compressed"),
        (Self::Sqlite, "sqlite"),
        (Self::Reports, "reports"),
        (Self::Interchange, "interchange"),
        (Self::Work, "work"),
        (Self::Message, "message"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// Returns the commands that read a mutant. `{}` stands for the file.
    fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Sketch => &[
                "show {} --json",
                "ask {} a 7 --json",
                "ask {} --group u1 --json",
                "merge {} {} -o merged.crivo",
                "set has {} a",
            ],
            Self::Parquet => &[
                "distinct {} -f 1 --json",
                "distinct {} -f tz --json",
                "sample {} -n 5",
                "uniq {} -f number --items 1000",
                "top {} -f text --skip-bad --json",
                "count {} --where 'small > 3' --json",
            ],
            Self::Text | Self::Compressed => &[
                "distinct {} -f 1 --skip-bad --json",
                "distinct {} -f user --json",
                "uniq {} -f 1 --items 1000 --skip-bad",
                "sample {} -n 5 --skip-bad",
                "count {} --where 'amount > 3' --skip-bad --json",
                "distinct {} -f deep.tags[] --skip-bad --json",
            ],
            Self::Sqlite => &[
                "similar index index stats",
                "similar index index query texts.txt --json",
                "dedup texts.txt --against index --dry-run --json",
            ],
            Self::Reports => &["private aggregate {} -o aggregated.crivo"],
            Self::Interchange => &["show {}", "ask {} a"],
            // A search continues only its own collection, and a message comes on standard input. So
            // the worker reads both.
            Self::Work | Self::Message => &[],
        }
    }

    /// Returns the name of the worker's task for a mutant.
    fn task(self) -> &'static str {
        match self {
            Self::Sketch => "sketch",
            Self::Parquet | Self::Text | Self::Compressed => "rows",
            Self::Sqlite => "index",
            Self::Reports => "reports",
            Self::Interchange => "interchange",
            Self::Work => "work",
            Self::Message => "message",
        }
    }

    /// Returns two commands that count the rows of a file. Their counts must agree if both succeed.
    fn counting(self) -> &'static [&'static str] {
        match self {
            Self::Parquet => &["count {} --json", "profile {} --json"],
            Self::Text | Self::Compressed => &["count {} --skip-bad --json", "profile {} --skip-bad --json"],
            _ => &[],
        }
    }
}

/// The file name of a store of learned mail. Its commands read an empty message from standard
/// input.
const MAIL_STORE: &str = "mail.sqlite";
const MAIL_COMMANDS: &[&str] = &[
    "mail stats --store index",
    "mail check --store index --json",
    "mail export --store index exported",
    "mail learn --store index spam",
];

/// A valid file that mutants are made from.
#[derive(Debug)]
pub(super) struct Seed {
    kind: Kind,
    /// The end of the file name, which tells readers the format.
    end: String,
    bytes: Vec<u8>,
    /// The other files of its folder, which stay unchanged and without which it cannot be read.
    others: Vec<(OsString, Vec<u8>)>,
}

impl Seed {
    pub(super) fn mutate(&self, random: &mut Random) -> Vec<u8> {
        let bytes = self.bytes.clone();
        match self.kind {
            Kind::Sketch => fitting::sketch(bytes, random),
            Kind::Sqlite => fitting::sqlite(bytes, random),
            Kind::Reports => fitting::reports(bytes, random),
            Kind::Work => fitting::stage(bytes, random),
            Kind::Interchange => mutate::with_head(bytes, random),
            Kind::Parquet => mutate::parquet(bytes, random),
            Kind::Text | Kind::Message => mutate::text(bytes, random),
            Kind::Compressed => mutate::anywhere(bytes, random),
        }
    }

    /// Writes a mutant to a folder, under a name that its commands accept.
    pub(super) fn place_in(&self, folder: &Path, mutant: &[u8]) -> Result<PathBuf> {
        let file = if matches!(self.kind, Kind::Sqlite | Kind::Work) {
            let index = folder.join("index");
            // The journal of an earlier mutant must not be applied to this one.
            let _ = fs::remove_dir_all(&index);
            fs::create_dir_all(&index)?;
            fs::write(folder.join("texts.txt"), "some text of a few words to look for\n")?;
            for (name, bytes) in &self.others {
                fs::write(index.join(name), bytes)?;
            }
            index.join(&self.end)
        } else {
            folder.join(format!("mutant{}", self.end))
        };
        fs::write(&file, mutant).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the name of the worker's task for a mutant.
    pub(super) fn task(&self) -> &'static str {
        if self.end == MAIL_STORE { "store" } else { self.kind.task() }
    }

    /// Returns true if mutants are also read by commands, not only by the worker.
    pub(super) fn has_commands(&self) -> bool {
        !self.kind.commands().is_empty()
    }

    /// Returns the commands of one case: one of its kind, or those that count rows.
    pub(super) fn commands(&self, random: &mut Random) -> Vec<Vec<String>> {
        let counting = self.kind.counting();
        if !counting.is_empty() && random.one_in(3) {
            return counting.iter().map(|command| words(command)).collect();
        }
        let commands = if self.end == MAIL_STORE { MAIL_COMMANDS } else { self.kind.commands() };
        let command: &str = random.pick::<&str>(commands);
        vec![words(command)]
    }

    /// Returns the number of rows that a successful command counted.
    pub(super) fn rows_in(&self, arguments: &[String], output: &Output) -> Option<u64> {
        let counts = self.kind.counting().iter().any(|command| words(command) == arguments);
        if !counts || output.status.code() != Some(0) {
            return None;
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let (_, rest) = text.split_once("\"rows\":")?;
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    }
}

/// Splits a command at blanks, but not inside quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().into_iter().for_each(|word| word.push(c)),
        }
    }
    words
}

/// All valid files, by kind.
#[derive(Debug)]
pub(super) struct Seeds(Vec<Vec<Seed>>);

impl Seeds {
    /// Makes the files with the programs, and reads the golden ones.
    pub(super) fn prepare(programs: &Programs, folder: &Path, only: Option<&str>) -> Result<Self> {
        fs::create_dir_all(folder)?;
        Step::new(&programs.seeds, "").args([folder]).run()?;
        Step::new(&programs.worker, "seeds").args([folder]).run()?;
        make_with(&programs.crivo, folder)?;
        let mut kinds: Vec<Vec<Seed>> = Kind::ALL.iter().map(|_| Vec::new()).collect();
        let golden = root().join("crates/crivo/tests/golden");
        let mut paths = Vec::new();
        let stored = ["index", "mail", "work", "work_read_once"].map(|name| folder.join(name));
        for place in [folder.to_path_buf(), golden].iter().chain(&stored) {
            paths.extend(files_in(place)?);
        }
        paths.sort();
        for path in paths {
            let Some((kind, end)) = kind_of(&path) else { continue };
            let at = Kind::ALL.iter().position(|(known, _)| *known == kind).unwrap_or(0);
            if only.is_none_or(|only| only.split(',').any(|name| name == kind.name())) {
                let others = if kind == Kind::Work { files_beside(&path)? } else { Vec::new() };
                kinds[at].push(Seed { kind, end, bytes: fs::read(&path)?, others });
            }
        }
        kinds.retain(|seeds| !seeds.is_empty());
        let names: Vec<&str> = Kind::ALL.iter().map(|(_, name)| *name).collect();
        ensure!(!kinds.is_empty(), "--kind: expected one of {}", names.join(", "));
        ensure!(only.is_some() || kinds.len() == Kind::ALL.len(), "files of some kind could not be made");
        Ok(Self(kinds))
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// Returns a random file. Each kind is equally likely, except that Parquet is four times as
    /// likely because its reader is the largest.
    pub(super) fn pick(&self, random: &mut Random) -> &Seed {
        let parquet =
            self.0.iter().find(|seeds| seeds.first().is_some_and(|seed| seed.kind == Kind::Parquet));
        let seeds = match parquet {
            Some(parquet) if random.one_in(4) => parquet,
            _ => random.pick(&self.0),
        };
        random.pick(seeds)
    }
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    Ok(entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_file())
        .collect())
}

/// Returns the names and contents of the other files in a file's folder.
fn files_beside(path: &Path) -> Result<Vec<(OsString, Vec<u8>)>> {
    let folder = path.parent().unwrap_or(path);
    let others = files_in(folder)?.into_iter().filter(|other| other != path);
    others.map(|other| Ok((other.file_name().unwrap_or_default().to_owned(), fs::read(&other)?))).collect()
}

/// Writes the files that the program itself can make.
fn make_with(program: &Path, folder: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(folder.join("index"));
    let _ = fs::remove_dir_all(folder.join("mail"));
    let _ = fs::remove_file(folder.join("some.reports"));
    for (name, words) in [("spam.eml", "cheap pills, buy now"), ("ham.eml", "see you at lunch")] {
        fs::write(folder.join(name), format!("From: a@example.org\nSubject: {words}\n\n{words}\n"))?;
    }
    for command in [
        "distinct a.csv -f user --interchange hll -o hll.datasketches",
        "distinct a.csv -f user --interchange theta -o theta.datasketches",
        "distinct a.csv -f user --interchange cpc -o cpc.datasketches",
        "quantile a.csv -f amount --interchange tdigest -o tdigest.datasketches",
        "top a.csv -f user --interchange frequent-items -o items.datasketches",
        "set build a.csv -f user --items 100 --interchange bloom -o bloom.datasketches",
        "distinct a.csv -f amount --by user -o distinct_groups.bin",
        "top a.csv -f amount --by user -o top_groups.bin",
        "count a.csv --by user --sum amount -o count_groups.bin",
        "private encode a.csv -f user --epsilon 2 --rows 4 --width 64 -o some.reports",
        "similar index index add a.jsonl --field user",
        "mail train --store mail --spam spam.eml --ham ham.eml",
    ] {
        let output = Command::new(program)
            .args(words(command))
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .context("the program could not be started")?;
        if !output.status.success() {
            bail!("`crivo {command}` failed: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    Ok(())
}

/// Returns the kind of a file by its name, and the end of the name for its mutants.
fn kind_of(path: &Path) -> Option<(Kind, String)> {
    let name = path.file_name()?.to_str()?;
    match path.parent()?.file_name()?.to_str()? {
        "index" | "mail" => return name.ends_with(".sqlite").then(|| (Kind::Sqlite, name.to_owned())),
        "work" | "work_read_once" => return (name != "lock").then(|| (Kind::Work, name.to_owned())),
        _ => {}
    }
    let (_, end) = name.split_once('.')?;
    let kind = match end {
        "bin" => Kind::Sketch,
        "parquet" => Kind::Parquet,
        "csv" | "tsv" | "jsonl" | "txt" => Kind::Text,
        "datasketches" => Kind::Interchange,
        "reports" => Kind::Reports,
        "eml" => Kind::Message,
        _ if end.ends_with("gz") || end.ends_with("zst") || end.ends_with("xz") || end.ends_with("bz2") => {
            Kind::Compressed
        }
        _ => return None,
    };
    Some((kind, format!(".{end}")))
}
