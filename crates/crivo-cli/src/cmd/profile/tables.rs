//! Decides which files are one table.
//!
//! `crivo profile january.csv february.csv` means one table in two files;
//! `crivo profile orders.csv customers.csv` means two, and asks how they join. The fields decide:
//! files with the same fields in the same order are one table. Records of JSONL may leave fields
//! out, so there it is enough that the first records share most of their fields. An empty file has
//! no fields that could differ, and continues the first table: a day without orders does not split
//! a table in two. An input that cannot be inspected first, such as standard input, is a table of
//! its own.

use std::path::PathBuf;

use anyhow::Result;
use crivo_rows::{Format, Input};

use crate::args::InputArgs;
use crate::store;

/// The files of one table.
#[derive(Debug)]
pub(super) struct TableSource {
    pub(super) input: Input,
    /// The names of the table's fields, as far as they are known before it is read.
    pub(super) names: Vec<String>,
    /// The table's files, as they were named.
    pub(super) paths: Vec<String>,
}

/// One file, before its table is known.
struct Candidate {
    argument: PathBuf,
    names: Vec<String>,
    is_jsonl: bool,
    /// Whether the file certainly has no record.
    is_empty: bool,
}

/// Returns the tables that `files` name, or standard input if there are none. Input that must be
/// held in memory takes at most `memory` bytes, if that is given.
pub(super) fn sources(
    args: &InputArgs,
    files: &[PathBuf],
    separate: bool,
    memory: Option<u64>,
) -> Result<Vec<TableSource>> {
    let laid_out = |files: Input| -> Result<Input> {
        let input = args.laid_out(files)?;
        let held = memory.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        Ok(match held {
            Some(bytes) => input.max_held(bytes),
            None => input,
        })
    };
    let mut groups: Vec<Vec<Candidate>> = Vec::new();
    for candidate in candidates(args, files, &laid_out)? {
        let belongs = |group: &&mut Vec<Candidate>| {
            // A member with fields represents the table.
            let first = group.iter().find(|member| !member.is_empty).or(group.first());
            first.is_some_and(|first| candidate.fits(first))
        };
        match groups.iter_mut().find(belongs).filter(|_| !separate) {
            Some(group) => group.push(candidate),
            None => groups.push(vec![candidate]),
        }
    }
    if groups.is_empty() {
        let input = laid_out(Input::stdin())?;
        return Ok(vec![TableSource { input, names: Vec::new(), paths: Vec::new() }]);
    }
    groups
        .into_iter()
        .map(|group| {
            let input = laid_out(Input::from_args(group.iter().map(|candidate| &candidate.argument))?)?;
            let names = group.iter().map(|candidate| &candidate.names).max_by_key(|names| names.len());
            Ok(TableSource {
                input,
                names: names.cloned().unwrap_or_default(),
                paths: group.iter().map(|candidate| store::name_of(&candidate.argument)).collect(),
            })
        })
        .collect()
}

/// Returns every file of every pattern, with its fields.
fn candidates(
    args: &InputArgs,
    files: &[PathBuf],
    laid_out: &dyn Fn(Input) -> Result<Input>,
) -> Result<Vec<Candidate>> {
    let mut arguments = Vec::new();
    for argument in files {
        let named = Input::from_args([argument])?;
        let before = arguments.len();
        arguments.extend(named.paths().map(PathBuf::from));
        if arguments.len() == before {
            arguments.push(argument.clone());
        }
    }
    // A pipe that is named twice, or a missing file, is found before anything is read.
    let input = laid_out(Input::from_args(&arguments)?)?;
    if arguments.is_empty() {
        return Ok(Vec::new());
    }
    let names = input.field_names()?;
    let format_of = |argument: &PathBuf| args.format_of(&argument.to_string_lossy());
    Ok(arguments
        .into_iter()
        .zip(names)
        .map(|(argument, names)| {
            let is_jsonl = format_of(&argument) == Format::Jsonl;
            // A record of JSONL may have no fields. In the other formats only an empty file has no
            // fields.
            let has_bytes = argument.metadata().is_ok_and(|metadata| metadata.len() > 0);
            let is_empty = names.is_empty() && argument.is_file() && !(is_jsonl && has_bytes);
            Candidate { argument, names, is_jsonl, is_empty }
        })
        .collect())
}

impl Candidate {
    /// Returns true if this file continues the table that `first` begins.
    fn fits(&self, first: &Self) -> bool {
        let is_unknown = |file: &Self| file.names.is_empty() && !file.is_empty;
        if self.is_empty || first.is_empty {
            return !is_unknown(self) && !is_unknown(first);
        }
        if self.names == first.names {
            return !self.names.is_empty();
        }
        let common = self.names.iter().filter(|name| first.names.contains(name)).count();
        let all = self.names.len() + first.names.len() - common;
        self.is_jsonl && first.is_jsonl && 2 * common > all
    }
}
