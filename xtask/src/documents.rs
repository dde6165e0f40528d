//! Do the documents for contributors name what is there?

use std::fs;
use std::path::Path;

use crate::shell::root;

/// The documents that describe the tree.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Returns what a document names in backticks that looks like a path, without placeholders.
fn paths_in(text: &str) -> Vec<&str> {
    let named = text.split('`').skip(1).step_by(2);
    named
        .filter(|name| !name.contains([' ', '<', '…', '*', '(', '$', ':', '\n']))
        .filter(|name| {
            name.contains('/') || Path::new(name).extension().is_some_and(|end| end == "rs" || end == "md")
        })
        .filter(|name| !name.starts_with('-') && !name.starts_with("target/") && !name.starts_with('/'))
        .collect()
}

/// Expands one pair of braces: `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn expanded(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let Some((inside, after)) = rest.split_once('}') else { return vec![path.to_owned()] };
    inside.split(',').map(|part| format!("{before}{part}{after}")).collect()
}

/// Returns true if a path exists from the root, or from the folder or the sources of a crate.
fn is_there(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    if root().join(path).exists() {
        return true;
    }
    let crates = fs::read_dir(root().join("crates")).into_iter().flatten().flatten();
    crates.map(|entry| entry.path()).any(|folder| {
        let inside = |below: &str| folder.join(below).join(path).exists();
        inside("") || inside("src") || is_below(&folder.join("src"), path)
    })
}

/// Returns true if a folder directly below has the path: modules name their files without their folder.
fn is_below(sources: &Path, path: &str) -> bool {
    let folders = fs::read_dir(sources).into_iter().flatten().flatten();
    folders.map(|entry| entry.path()).any(|folder| folder.is_dir() && folder.join(path).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &str) -> String {
        fs::read_to_string(root().join(document)).unwrap()
    }

    #[test]
    fn every_path_that_a_document_names_exists() {
        let mut missing = Vec::new();
        for document in DOCUMENTS {
            let text = text(document);
            for path in paths_in(&text).into_iter().flat_map(expanded) {
                if !is_there(&path) {
                    missing.push(format!("{document}: {path}"));
                }
            }
        }
        assert!(missing.is_empty(), "no such file or folder: {missing:#?}");
    }

    #[test]
    fn every_crate_is_named() {
        for document in DOCUMENTS {
            let text = text(document);
            for entry in fs::read_dir(root().join("crates")).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                assert!(text.contains(&name), "{document} does not name {name}");
            }
        }
    }

    /// The words of the library's front page are those of the page for readers of the documents.
    #[test]
    fn vocabulary_is_the_same_everywhere() {
        let words = |text: &str| -> Vec<String> {
            let table = text.split_once("| word | meaning |").unwrap().1.lines().skip(1);
            let rows = table.map(|line| line.trim_start_matches("//! "));
            rows.take_while(|line| line.starts_with('|')).map(|row| row.replace(['[', ']'], "")).collect()
        };
        let page = words(&text("docs/vocabulary.md"));
        assert!(page.len() > 10);
        assert_eq!(words(&text("crates/crivo/src/lib.rs")), page);
    }

    #[test]
    fn paths_are_told_from_other_names() {
        let text = "`codec/family.rs` and `crivo show`, `crates/<name>/src`, `a/{b,c}.rs`, `KeyRef::Bytes`";
        assert_eq!(paths_in(text), ["codec/family.rs", "a/{b,c}.rs"]);
        assert_eq!(expanded("a/{b,c}.rs"), ["a/b.rs", "a/c.rs"]);
        assert!(is_there("codec/family.rs") && is_there("docs/") && !is_there("codec/families.rs"));
    }
}
