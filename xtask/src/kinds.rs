//! Does the list of kinds of sketches stand in one place only?
//!
//! A second list outside the codec would silently miss the next kind that is added. So sources ask
//! a sketch for its capabilities (`crivo::sketch`). This check refuses lists of `AnySketch`
//! variants and of families.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shell::root;

/// The folder that holds the list.
const CODEC: &str = "crates/crivo/src/codec";

/// Returns an error if a source outside the codec lists kinds of sketches.
pub(crate) fn check() -> Result<()> {
    let mut found = Vec::new();
    for krate in fs::read_dir(root().join("crates"))?.flatten() {
        for file in sources_below(&krate.path().join("src")) {
            let name = file.strip_prefix(root()).unwrap_or(&file).to_path_buf();
            if !name.starts_with(CODEC) {
                let text = fs::read_to_string(&file).with_context(|| format!("{}", file.display()))?;
                found
                    .extend(lists_in(&text).map(|(line, text)| format!("{}:{line}: {text}", name.display())));
            }
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    bail!(
        "kinds of sketches are listed outside of {CODEC}:\n  {}\nask the sketch for a capability instead (crivo::sketch)",
        found.join("\n  ")
    )
}

/// Returns the Rust sources in a folder and below.
fn sources_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    files
        .into_iter()
        .filter(is_source)
        .chain(folders.iter().flat_map(|folder| sources_below(folder)))
        .collect()
}

/// Returns the lines, numbered from 1, that name a variant of `AnySketch` or match one of `Family`.
fn lists_in(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| !line.starts_with("//")).filter(|(_, line)| {
        variants(line, "AnySketch::").next().is_some()
            || variants(line, "Family::").any(|(before, after)| {
                before.ends_with('|') || after.starts_with('|') || after.starts_with("=>")
            })
    })
}

/// Returns the text before and after each path in a line that names a variant of the type.
fn variants<'a>(line: &'a str, path: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    line.match_indices(path).filter_map(move |(at, _)| {
        let rest = &line[at + path.len()..];
        let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        let before = line[..at].trim_end_matches("codec::").trim_end_matches("crivo::");
        let is_word = !before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        // Constants are all capitals, functions begin with a small letter.
        let name = &rest[..end];
        let is_variant = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
        (is_variant && is_word).then(|| (before.trim_end(), rest[end..].trim_start()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_source_lists_kinds_of_sketches() {
        check().unwrap();
    }

    #[test]
    fn lists_are_recognised() {
        let listed = [
            "AnySketch::Bloom(filter) => filter.len(),",
            "if let crivo::codec::AnySketch::Bloom(filter) = sketch {",
            "Family::Bloom => 3,",
            "matches!(family, Family::Bloom | Family::BlockedBloom)",
            "| Family::MinHash",
        ];
        for line in listed {
            assert_eq!(lists_in(line).count(), 1, "{line}");
        }
        let allowed = [
            "let sketch = AnySketch::decode(&bytes)?;",
            "// AnySketch::Bloom is no more",
            "const FAMILY: Family = Family::Bloom;",
            "Self::Hll => Family::HyperLogLog,",
            "if header.family == Family::Panes {",
            "for family in Family::ALL {",
        ];
        for line in allowed {
            assert_eq!(lists_in(line).count(), 0, "{line}");
        }
    }
}
