//! The files an attack begins with, and the commands that read each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::mutate::{self, Random};
use crate::shell::{Step, root, target};

/// What a file is, which decides how it is changed and who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sketch,
    Parquet,
    Text,
    Compressed,
    Sqlite,
    Reports,
    Interchange,
}

impl Kind {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Sketch, "sketch"),
        (Self::Parquet, "parquet"),
        (Self::Text, "text"),
        (Self::Compressed, "compressed"),
        (Self::Sqlite, "sqlite"),
        (Self::Reports, "reports"),
        (Self::Interchange, "interchange"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// What is run on a mutant: `{}` stands for the file.
    fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Sketch => {
                &["show {} --json", "ask {} a 7 --json", "merge {} {} -o merged.crivo", "set has {} a"]
            }
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
        }
    }

    /// Two commands that count the rows of a file, and must agree if both do.
    fn counting(self) -> &'static [&'static str] {
        match self {
            Self::Parquet => &["count {} --json", "profile {} --json"],
            Self::Text | Self::Compressed => &["count {} --skip-bad --json", "profile {} --skip-bad --json"],
            _ => &[],
        }
    }
}

/// The file of a store of learned mail, and what is run on it: standard input is an empty message.
const MAIL_STORE: &str = "mail.sqlite";
const MAIL_COMMANDS: &[&str] = &[
    "mail stats --store index",
    "mail check --store index --json",
    "mail export --store index exported",
    "mail learn --store index spam",
];

/// A valid file.
#[derive(Debug)]
pub(super) struct Seed {
    kind: Kind,
    /// The end of the name, which tells the format.
    end: String,
    bytes: Vec<u8>,
}

impl Seed {
    pub(super) fn mutate(&self, random: &mut Random) -> Vec<u8> {
        let bytes = self.bytes.clone();
        match self.kind {
            Kind::Sketch => mutate::sketch(bytes, random),
            Kind::Parquet => mutate::parquet(bytes, random),
            Kind::Text => mutate::text(bytes, random),
            Kind::Compressed | Kind::Sqlite | Kind::Reports | Kind::Interchange => {
                mutate::anywhere(bytes, random)
            }
        }
    }

    /// Writes a mutant to a folder, under a name that its commands read.
    pub(super) fn place_in(&self, folder: &Path, mutant: &[u8]) -> Result<PathBuf> {
        let file = if self.kind == Kind::Sqlite {
            let index = folder.join("index");
            // A journal of the last mutant is not part of this one.
            let _ = fs::remove_dir_all(&index);
            fs::create_dir_all(&index)?;
            fs::write(folder.join("texts.txt"), "some text of a few words to look for\n")?;
            index.join(&self.end)
        } else {
            folder.join(format!("mutant{}", self.end))
        };
        fs::write(&file, mutant).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }

    /// The commands of one case: one of the kind's, or those that count rows.
    pub(super) fn commands(&self, random: &mut Random) -> Vec<Vec<String>> {
        let counting = self.kind.counting();
        if !counting.is_empty() && random.one_in(3) {
            return counting.iter().map(|command| words(command)).collect();
        }
        let commands = if self.end == MAIL_STORE { MAIL_COMMANDS } else { self.kind.commands() };
        let command: &str = random.pick::<&str>(commands);
        vec![words(command)]
    }

    /// The rows that a successful command counted.
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
    /// Makes the files with the program and a helper, and reads the golden ones.
    pub(super) fn prepare(program: &Path, folder: &Path, only: Option<&str>) -> Result<Self> {
        fs::create_dir_all(folder)?;
        // With the features that the tests have built everything with.
        Step::cargo("build --workspace --example attack_seeds").run()?;
        let writer =
            target().join("debug/examples/attack_seeds").with_extension(std::env::consts::EXE_EXTENSION);
        Step::new(writer, "").args([folder]).run()?;
        make_with(program, folder)?;
        let mut kinds: Vec<Vec<Seed>> = Kind::ALL.iter().map(|_| Vec::new()).collect();
        let golden = root().join("crates/crivo/tests/golden");
        let mut paths = Vec::new();
        for place in [folder.to_path_buf(), folder.join("index"), folder.join("mail"), golden] {
            paths.extend(fs::read_dir(&place)?.filter_map(|entry| entry.ok().map(|entry| entry.path())));
        }
        paths.sort();
        for path in paths.into_iter().filter(|path| path.is_file()) {
            let Some((kind, end)) = kind_of(&path) else { continue };
            let at = Kind::ALL.iter().position(|(known, _)| *known == kind).unwrap_or(0);
            if only.is_none_or(|only| only == kind.name()) {
                kinds[at].push(Seed { kind, end, bytes: fs::read(&path)? });
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

    /// A file: each kind is as likely as the others, but Parquet, whose reader is largest, three times.
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

/// What the program itself writes.
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

/// The kind of a file by its name, and the end of the name that its mutants have.
fn kind_of(path: &Path) -> Option<(Kind, String)> {
    let name = path.file_name()?.to_str()?;
    let is_stored = path.parent().is_some_and(|folder| folder.ends_with("index") || folder.ends_with("mail"));
    if is_stored {
        return name.ends_with(".sqlite").then(|| (Kind::Sqlite, name.to_owned()));
    }
    let (_, end) = name.split_once('.')?;
    let kind = match end {
        "bin" => Kind::Sketch,
        "parquet" => Kind::Parquet,
        "csv" | "tsv" | "jsonl" | "txt" => Kind::Text,
        "datasketches" => Kind::Interchange,
        "reports" => Kind::Reports,
        _ if end.ends_with("gz") || end.ends_with("zst") || end.ends_with("xz") || end.ends_with("bz2") => {
            Kind::Compressed
        }
        _ => return None,
    };
    Some((kind, format!(".{end}")))
}
