//! The options that all commands with an input share, converted into ready objects.
//!
//! Each group of options is flattened into a command's own arguments. These structs hold what the
//! user typed. [`InputArgs::pass`] and [`KeyArgs::scheme`] check it and make the objects for the
//! work, so that a wrong option is reported before anything is read.

#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use crivo::codec::AnySketch;
use crivo::keys::KeyScheme;
use crivo_rows::{Format, Input, Items, Select};

use crate::condition::Condition;
use crate::kinds;
use crate::layout_args::LayoutArgs;
use crate::output::{self, Output};
use crate::pass::Pass;
use crate::store::{self, Destination};
use crate::turn::{Turn, WaitArgs};
use crate::used_files::UsedFiles;

/// Which rows to read, and what of each.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    #[command(flatten)]
    layout: LayoutArgs,

    /// Take the runs of N words in the field as items, instead of the field itself
    #[arg(long, value_name = "N", value_parser = words_of_an_item)]
    words: Option<NonZero<u16>>,

    /// Only rows that satisfy this, such as 'status >= 500 and method = GET'; crivo count --help
    /// has all
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<Condition>,

    /// At the end of the last file, wait for it to grow; Ctrl-C ends the wait and gives the answer.
    /// A file that is rotated or truncated is read from its beginning
    #[arg(long)]
    follow: bool,
}

impl InputArgs {
    /// Returns a pass over the input. Fails if a file is missing or options contradict each other.
    pub(crate) fn pass(&self) -> Result<Pass> {
        Ok(self.pass_of(self.laid_out(Input::from_args(&self.layout.files)?)?))
    }

    /// Returns a pass over some of the files. The layout options have been applied to `input`
    /// before.
    pub(crate) fn pass_of(&self, input: Input) -> Pass {
        Pass {
            input,
            select: self.layout.field.as_ref().map_or(Select::Single, Select::field),
            items: self.words.map_or(Items::Values, |n| Items::Words(n.get().into())),
            condition: self.condition.clone(),
            threads: self.layout.threads(),
            repeatable: false,
            skip_bad: self.layout.skip_bad,
            follow: self.follow,
            numbers_rows: false,
            column_filters: None,
        }
    }

    /// Applies the layout options to files.
    pub(crate) fn laid_out(&self, files: Input) -> Result<Input> {
        Ok(self.layout.laid_out(files)?.follow(self.follow))
    }

    /// The files as the user named them.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.layout.files
    }

    /// Returns true if the user gave a delimiter.
    pub(crate) fn has_delimiter(&self) -> bool {
        self.layout.delimiter.is_some()
    }

    /// The format of the first file.
    pub(crate) fn format_of_first(&self) -> Format {
        self.layout.format_of_first()
    }

    /// Returns the format of a file with this name.
    pub(crate) fn format_of(&self, name: &str) -> Format {
        self.layout.format_of(name)
    }

    /// Returns true if the user requested word n-grams.
    pub(crate) fn has_words(&self) -> bool {
        self.words.is_some()
    }

    /// The field that the user named.
    pub(crate) fn field(&self) -> Option<&str> {
        self.layout.field.as_deref()
    }

    /// Returns true if the user named a field.
    pub(crate) fn has_field(&self) -> bool {
        self.layout.field.is_some()
    }

    /// Returns the files of a run that reads these files, to which outputs are added.
    pub(crate) fn used_files(&self) -> UsedFiles {
        self.layout.used_files()
    }

    /// Returns the destination of a run's only output. It must not be one of the input files.
    pub(crate) fn output_beside(&self, path: &Path) -> Result<Destination> {
        self.layout.output_beside(path)
    }
}

/// How values become keys.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Keys")]
pub(crate) struct KeyArgs {
    /// What a value is: its text, or a 64-bit integer [default: text]
    #[arg(long, value_enum)]
    keys: Option<KeyName>,

    /// The seed of the hash, recorded in the sketch; sketches of different seeds do not mix
    /// [default: 0]
    #[arg(long, value_name = "N|random")]
    seed: Option<Seed>,
}

/// What the keys of a file are whose bytes do not say it.
#[derive(Debug, Args)]
pub(crate) struct AskedKeyArgs {
    /// What the keys of a file of Apache DataSketches are, if its bytes do not say it [default:
    /// text]
    #[arg(id = "asked_keys", long = "keys", value_enum, value_name = "KIND")]
    kind: Option<KeyName>,
}

impl AskedKeyArgs {
    /// Returns true if the user requested integer keys, false for text keys, and `None` for
    /// neither.
    pub(crate) fn are_integers(&self) -> Option<bool> {
        self.kind.map(|kind| kind == KeyName::Int)
    }

    /// Fails if the user requested a kind of keys that differs from that of the sketch in the file
    /// `name`.
    pub(crate) fn agree_with(&self, scheme: KeyScheme, name: &str) -> Result<()> {
        let (asked, found) = (self.kind.map(KeyName::word), key_word(scheme));
        match asked.filter(|asked| *asked != found) {
            None => Ok(()),
            Some(asked) => bail!("--keys {asked}: the keys of {name} are {found}: leave it out"),
        }
    }
}

/// The seed of a command that draws and hashes nothing.
#[derive(Debug, Args)]
pub(crate) struct Seeded {
    /// The seed that chance is drawn from [default: 0]
    #[arg(long, value_name = "N|random", help_heading = "Sampling")]
    seed: Option<Seed>,
}

impl Seeded {
    /// Returns the seed as a number, 0 by default.
    pub(crate) fn number(&self) -> Result<u64> {
        seed_number(self.seed)
    }
}

fn seed_number(seed: Option<Seed>) -> Result<u64> {
    match seed {
        None => Ok(0),
        Some(Seed::Number(seed)) => Ok(seed),
        Some(Seed::Random) => getrandom::u64().context("--seed random"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KeyName {
    Text,
    Int,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seed {
    Number(u64),
    Random,
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "random" => Ok(Self::Random),
            _ => text
                .parse()
                .map(Self::Number)
                .map_err(|_| "expected a number from 0 to 2^64 - 1, or random".into()),
        }
    }
}

impl KeyArgs {
    /// Returns the key scheme of a new sketch.
    pub(crate) fn scheme(&self) -> Result<KeyScheme> {
        let scheme = match self.keys.unwrap_or(KeyName::Text) {
            KeyName::Text => KeyScheme::bytes(),
            KeyName::Int => KeyScheme::integers(),
        };
        Ok(scheme.with_seed(self.seed()?))
    }

    /// Returns the seed as a number, 0 by default.
    pub(crate) fn seed(&self) -> Result<u64> {
        seed_number(self.seed)
    }

    /// Returns true if the user requested integer keys.
    pub(crate) fn are_integers(&self) -> bool {
        self.keys == Some(KeyName::Int)
    }

    /// Returns true if the user requested text keys.
    pub(crate) fn are_text(&self) -> bool {
        self.keys == Some(KeyName::Text)
    }

    /// Fails if the user requested a kind of keys or a seed that differs from those of the sketch
    /// in the file `name`.
    pub(crate) fn agree_with(&self, scheme: KeyScheme, name: &str) -> Result<()> {
        let (asked, found) = (self.keys.map(KeyName::word), key_word(scheme));
        if let Some(asked) = asked.filter(|asked| *asked != found) {
            bail!("--keys {asked}: the keys of {name} are {found}, and it can only be continued so");
        }
        match self.seed {
            None => Ok(()),
            Some(Seed::Number(seed)) if seed == scheme.seed() => Ok(()),
            Some(Seed::Number(seed)) => {
                bail!(
                    "--seed {seed}: the seed of {name} is {}, and it can only be continued so",
                    scheme.seed()
                )
            }
            Some(Seed::Random) => {
                bail!("--seed random: {name} has the seed {}, and can only be continued so", scheme.seed())
            }
        }
    }
}

impl KeyName {
    fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Int => "int",
        }
    }
}

/// Returns the kind of keys as a value of `--keys`.
pub(crate) fn key_word(scheme: KeyScheme) -> &'static str {
    match scheme.kind() {
        crivo::keys::KeyKind::Bytes => "text",
        crivo::keys::KeyKind::Integer => "int",
        crivo::keys::KeyKind::Hash => "hash",
    }
}

/// Where a sketch is kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sketch")]
pub(crate) struct SketchArgs {
    /// Write the sketch to this file
    #[arg(short, value_name = "SKETCH")]
    output: Option<PathBuf>,

    /// Continue the sketch in this file (made if it is not there), and write it back or to -o
    #[arg(long, value_name = "SKETCH")]
    into: Option<PathBuf>,

    #[command(flatten)]
    wait: WaitArgs,

    /// The right to write the file that is continued, held until the command ends.
    #[arg(skip)]
    turn: OnceLock<Turn>,
}

/// A sketch that a command continues, and the name of its file.
#[derive(Debug)]
pub(crate) struct Continued {
    pub(crate) name: String,
    pub(crate) sketch: AnySketch,
}

impl SketchArgs {
    /// Returns true if the sketch is to be written to a file.
    pub(crate) fn is_wanted(&self) -> bool {
        self.output.is_some() || self.into.is_some()
    }

    /// Returns the file that `-o` names, if no sketch is continued.
    pub(crate) fn only_output(&self) -> Option<&Path> {
        self.output.as_deref().filter(|_| self.into.is_none())
    }

    /// Returns the sketch to continue, if there is one. Takes the lock of its file: until the
    /// command ends, other processes that continue the same file wait.
    pub(crate) fn to_continue(&self) -> Result<Option<Continued>> {
        let Some(path) = &self.into else { return Ok(None) };
        if self.turn.get().is_none() {
            // Only one thread reads arguments, so the cell is still empty.
            let _ = self.turn.set(self.wait.take_turn(path)?);
        }
        if !path.exists() {
            return Ok(None);
        }
        Ok(Some(Continued { name: store::name_of(path), sketch: store::read(path)?.sketch }))
    }

    /// Returns where to write the sketch, if the user requested that. It must not be one of the
    /// input files.
    pub(crate) fn destination(&self, input: &InputArgs) -> Result<Option<Destination>> {
        match self.output.as_deref().or(self.into.as_deref()) {
            Some(path) => input.output_beside(path).map(Some),
            None => Ok(None),
        }
    }
}

impl Continued {
    /// Fails if the sketch differs from `asked` in kind or sizes.
    pub(crate) fn require_same_sizes(&self, asked: &AnySketch) -> Result<()> {
        let Self { name, sketch } = self;
        if sketch.family() != asked.family() {
            let (found, asked) = (sketch.family().name(), asked.family().name());
            let (found, asked) = (kinds::with_article(found), kinds::with_article(asked));
            bail!("{asked} was asked for: {name} is {found}, and can only be continued so");
        }
        let (found, asked) = (sketch.parameters(), asked.parameters());
        match asked.iter().zip(&found).find(|(asked, found)| asked != found) {
            None => Ok(()),
            Some(((size, asked), (_, found))) => bail!(
                "{size} {} was asked for: that of {name} is {}, and it can only be continued so",
                output::parameter(asked),
                output::parameter(found)
            ),
        }
    }

    /// Returns the error that this command cannot continue the sketch.
    pub(crate) fn refusal(&self) -> anyhow::Error {
        let family = kinds::with_article(self.sketch.family().name());
        let made_by = kinds::of(&self.sketch).made_by;
        anyhow!("{}: this is {family} made by `{made_by}`, which can only be continued there", self.name)
    }
}

/// What to do when a sketch is past what it can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnFull {
    /// Say so on standard error
    Warn,
    /// Stop, and write nothing
    Fail,
}

impl OnFull {
    /// Warns with the message, or fails with it.
    pub(crate) fn report(self, message: &str, out: &Output) -> Result<()> {
        match self {
            Self::Warn => {
                out.warn(message);
                Ok(())
            }
            Self::Fail => bail!("{message}"),
        }
    }
}

/// Parses a share such as an error or a rate: `0.01` or `1%`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value / scale),
        _ => Err("expected a share such as 0.01 or 1%".into()),
    }
}

/// Parses the number of words of an item.
fn words_of_an_item(text: &str) -> Result<NonZero<u16>, String> {
    text.parse().map_err(|_| "expected a number of words from 1 to 65535".into())
}

/// Parses a number of at least one, such as `5` or `10k`.
pub(crate) fn at_least_one(text: &str) -> Result<NonZero<u64>, String> {
    let number = whole(text).ok();
    number.and_then(NonZero::new).ok_or_else(|| "expected a whole number from 1 on, such as 10 or 5k".into())
}

/// Parses a whole number. Also accepts `10_000_000`, `1e9`, `10k` and `5M`.
pub(crate) fn whole(text: &str) -> Result<u64, String> {
    let wrong = || "expected a whole number such as 1000000, 1e6 or 5M".to_string();
    let plain = text.replace('_', "");
    if let Ok(number) = plain.parse() {
        return Ok(number);
    }
    let (digits, scale) = match plain.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&plain[..at], 1e3),
        Some((at, 'M')) => (&plain[..at], 1e6),
        Some((at, 'G')) => (&plain[..at], 1e9),
        _ => (plain.as_str(), 1.0),
    };
    let number = digits.parse::<f64>().map_err(|_| wrong())? * scale;
    // Beyond 2^53 not every whole number is a float. Such a number must be written without a suffix
    // or an exponent.
    if number >= 0.0 && number.fract() == 0.0 && number <= 9e15 { Ok(number as u64) } else { Err(wrong()) }
}
