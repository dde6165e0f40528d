//! Do the documents name things that exist, and do their links lead somewhere?

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::shell::root;

/// The documents that describe the tree. Each names every crate.
const MAPS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Documents outside docs/.
const BESIDE: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];

/// Returns the pages of docs/ and the documents outside it, as paths from the root.
fn documents() -> Vec<String> {
    let mut found: Vec<String> = BESIDE.iter().map(|name| (*name).to_owned()).collect();
    found.extend(pages().into_iter().map(|page| format!("docs/{page}")));
    found
}

/// Returns the pages of docs/, as paths relative to docs/.
fn pages() -> Vec<String> {
    let docs = root().join("docs");
    let (mut folders, mut found) = (vec![docs.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                found.extend(path.strip_prefix(&docs).ok().map(|page| page.display().to_string()));
            }
        }
    }
    found.sort();
    found
}

/// Returns the names in backticks that look like paths, without those that contain placeholders.
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

/// Returns the paths of [`paths_in`] that begin with a folder of the repository. Documents other
/// than [`MAPS`] also name files of their readers, which are left out.
fn paths_of_the_repository(text: &str) -> Vec<&str> {
    let top = |path: &str| path.split_once('/').is_some_and(|(folder, _)| root().join(folder).is_dir());
    paths_in(text).into_iter().filter(|path| top(path)).collect()
}

/// Expands one pair of braces: `a/{b,c}.rs` becomes `a/b.rs` and `a/c.rs`.
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

/// Returns true if a folder directly below `sources` has the path, because essays of a module name
/// its files without the folder.
fn is_below(sources: &Path, path: &str) -> bool {
    let folders = fs::read_dir(sources).into_iter().flatten().flatten();
    folders.map(|entry| entry.path()).any(|folder| folder.is_dir() && folder.join(path).exists())
}

/// Returns the file and function of each step of a call path, such as
/// `crates/x/src/y.rs::function`.
fn calls_in(text: &str) -> Vec<(&str, &str)> {
    let named = text.split('`').skip(1).step_by(2);
    named
        .filter_map(|name| {
            name.split_once(".rs::").map(|(file, function)| (&name[..file.len() + 3], function))
        })
        .collect()
}

/// Returns a document without its code blocks.
fn prose(text: &str) -> String {
    text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n")
}

/// Returns the targets of a document's links and images. Text in backticks is ignored.
fn links_in(text: &str) -> Vec<String> {
    let mut plain = String::new();
    for (place, part) in prose(text).split('`').enumerate() {
        plain.push_str(if place % 2 == 0 { part } else { "code" });
    }
    let targets = plain.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// Returns the anchors of a page's headings, as forges and mdBook make them.
fn anchors_in(text: &str) -> Vec<String> {
    let headings = format!("\n{}", prose(text));
    let titles =
        headings.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#'));
    titles
        .map(|title| {
            let title = title.trim().to_lowercase().replace(' ', "-");
            title.chars().filter(|char| char.is_alphanumeric() || "-_".contains(*char)).collect()
        })
        .collect()
}

/// Returns the numbers in a text, without the commas between thousands.
fn figures_in(text: &str) -> Vec<String> {
    let words = text.split(|char: char| !char.is_ascii_digit() && !".,".contains(char));
    let bare = words.map(|word| word.trim_matches(['.', ',']).replace(',', ""));
    bare.filter(|word| word.parse::<f64>().is_ok()).collect()
}

/// Returns true if a figure is a measured number, rounded to the figure's digits.
fn is_rounded(figure: &str, measured: &str) -> bool {
    let digits = figure.split_once('.').map_or(0, |(_, digits)| digits.len());
    measured.parse::<f64>().is_ok_and(|measured| format!("{measured:.digits$}") == figure)
}

/// Resolves `.` and `..` in a path without looking at the disk.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Follows a link of a document. Returns the error, or `None` if the link leads somewhere.
fn broken(document: &str, target: &str) -> Option<String> {
    if target.starts_with("https://") || target.starts_with("http://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    let path = if file.is_empty() { PathBuf::from(document) } else { plain(&folder.join(file)) };
    let there = root().join(&path);
    if !there.exists() {
        return Some(format!("{document}: {target} is not there"));
    }
    if document.starts_with("docs/") && (!path.starts_with("docs") || there.is_dir()) {
        return Some(format!("{document}: {target} is no file of docs/, so the book cannot link to it"));
    }
    let anchor = anchor?;
    let text = fs::read_to_string(there).unwrap_or_default();
    let found = anchors_in(&text).iter().any(|name| name == anchor);
    (!found).then(|| format!("{document}: {target} names a heading that is not there"))
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
        for document in documents() {
            let text = text(&document);
            let of_a_map = MAPS.contains(&document.as_str());
            let paths = if of_a_map { paths_in(&text) } else { paths_of_the_repository(&text) };
            for path in paths.into_iter().flat_map(expanded) {
                if !is_there(&path) {
                    missing.push(format!("{document}: {path}"));
                }
            }
        }
        assert!(missing.is_empty(), "no such file or folder: {missing:#?}");
    }

    /// A file too long to read in one go gives the reason why it is not split.
    #[test]
    fn long_files_say_why() {
        const LONGEST: usize = 450;
        let mut without = sources();
        without.retain(|path| {
            let text = fs::read_to_string(path).unwrap();
            let says_why = text.lines().take(20).any(|line| line.contains("This file is long because "));
            text.lines().count() > LONGEST && !says_why
        });
        assert!(without.is_empty(), "longer than {LONGEST} lines without a reason at the top: {without:?}");
    }

    /// Returns the source files of the project.
    fn sources() -> Vec<PathBuf> {
        let mut waiting =
            ["crates", "fuzz", "python", "xtask", "benchmarks"].map(|name| root().join(name)).to_vec();
        let mut found = Vec::new();
        while let Some(path) = waiting.pop() {
            if path.is_dir() {
                let inside = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
                waiting.extend(inside.filter(|path| !path.ends_with("target")));
            } else if path.extension().is_some_and(|end| end == "rs" || end == "py" || end == "pyi") {
                found.push(path);
            }
        }
        found
    }

    #[test]
    fn every_crate_is_named() {
        for document in MAPS {
            let text = text(document);
            for entry in fs::read_dir(root().join("crates")).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                assert!(text.contains(&name), "{document} does not name {name}");
            }
        }
    }

    /// The crates that documents name exist.
    #[test]
    fn every_crate_that_is_named_exists() {
        let known = |name: &str| root().join("crates").join(name).is_dir();
        let mut unknown = Vec::new();
        for document in documents() {
            let text = text(&document);
            let named = text.split('`').skip(1).step_by(2).filter(|name| name.starts_with("crivo-"));
            let crates =
                named.filter(|name| name.chars().all(|char| char.is_ascii_lowercase() || char == '-'));
            unknown.extend(crates.filter(|name| !known(name)).map(|name| format!("{document}: {name}")));
        }
        assert!(unknown.is_empty(), "no such crate: {unknown:#?}");
    }

    /// ARCHITECTURE.md shows three flows of at most ten steps, and every step is a function that
    /// exists.
    #[test]
    fn flows_are_call_paths_that_exist() {
        let text = text("ARCHITECTURE.md");
        let (_, flows) = text.split_once("## Three flows\n").unwrap();
        let (flows, _) = flows.split_once("\n## ").unwrap();
        let flows: Vec<&str> = flows.split("\n### ").skip(1).collect();
        assert_eq!(flows.len(), 3);
        for flow in flows {
            let calls = calls_in(flow);
            assert!((3..=10).contains(&calls.len()), "{} steps: {flow}", calls.len());
            for (file, function) in calls {
                let code =
                    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
                let name = function.rsplit("::").next().unwrap_or(function);
                let defined =
                    [format!("fn {name}("), format!("fn {name}<")].iter().any(|sign| code.contains(sign));
                assert!(defined, "{file} has no function {name}");
            }
        }
    }

    #[test]
    fn every_link_leads_somewhere() {
        let mut wrong = Vec::new();
        for document in documents() {
            wrong.extend(links_in(&text(&document)).iter().filter_map(|target| broken(&document, target)));
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn the_summary_lists_every_page_once() {
        let mut listed = links_in(&text("docs/SUMMARY.md"));
        listed.sort();
        let pages: Vec<String> = pages().into_iter().filter(|page| page != "SUMMARY.md").collect();
        assert_eq!(listed, pages, "docs/SUMMARY.md lists each page of docs/ once");
    }

    /// Documents and comments contain none of the words that hide who does what.
    #[test]
    fn documents_and_comments_say_who_does_what() {
        let hidden = ["whoever", "nobody", "somebody", "so many", "so much", "those who", "of which"];
        let pages = documents().into_iter().map(|document| (prose(&text(&document)), document));
        let comments = sources().into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let comments = comments
            .map(|path| (comments_in(&fs::read_to_string(&path).unwrap()), path.display().to_string()));
        let mut found = Vec::new();
        for (prose, place) in pages.chain(comments) {
            let prose = prose.to_lowercase();
            let words: Vec<&str> =
                prose.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            let prose = format!(" {} ", words.join(" "));
            let used = hidden.iter().filter(|word| prose.contains(&format!(" {word} ")));
            found.extend(used.map(|word| format!("{place}: {word}")));
        }
        assert!(found.is_empty(), "say caller, reader, user or what it is: {found:#?}");
    }

    /// Returns the text of the comments that have lines of their own.
    fn comments_in(source: &str) -> String {
        source.lines().filter_map(|line| line.trim_start().strip_prefix("//")).collect::<Vec<_>>().join("\n")
    }

    /// Each figure of the speed tables is on the page that its row links to. The table may round
    /// it.
    #[test]
    fn figures_are_those_of_the_pages() {
        for (document, least) in [("README.md", 6), ("docs/benchmarks/index.md", 20)] {
            let text = text(document);
            let (_, table) = text.split_once("| job | beside | crivo is faster by |\n").unwrap();
            let rows: Vec<&str> = table.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
            assert!(rows.len() >= least, "{document}");
            for row in rows {
                let target = links_in(row).pop().unwrap_or_else(|| panic!("no link to a page: {row}"));
                let page = self::text(&Path::new(document).with_file_name(&target).display().to_string());
                let measured = figures_in(&page);
                let (_, shown) = row.rsplit_once('[').unwrap();
                for figure in figures_in(shown.split(']').next().unwrap_or_default()) {
                    assert!(
                        measured.iter().any(|each| is_rounded(&figure, each)),
                        "{document}: {figure} is not on the page that is linked: {row}"
                    );
                }
            }
        }
    }

    /// The library's front page and docs/vocabulary.md define the same words and constructors.
    #[test]
    fn vocabulary_is_the_same_everywhere() {
        let table = |text: &str, head: &str| -> Vec<String> {
            let table = text.split_once(head).unwrap().1.lines().skip(2);
            let rows = table.map(|line| line.trim_start_matches("//! "));
            rows.take_while(|line| line.starts_with('|')).map(|row| row.replace(['[', ']'], "")).collect()
        };
        let [page, front] = ["docs/vocabulary.md", "crates/crivo/src/lib.rs"].map(text);
        for (head, least) in [("| word | meaning |", 10), ("| | keys are bytes or text |", 3)] {
            let rows = table(&page, head);
            assert!(rows.len() >= least, "{head}");
            assert_eq!(table(&front, head), rows);
        }
    }

    #[test]
    fn paths_are_told_from_other_names() {
        let text = "`codec/family.rs` and `crivo show`, `crates/<name>/src`, `a/{b,c}.rs`, `KeyRef::Bytes`";
        assert_eq!(paths_in(text), ["codec/family.rs", "a/{b,c}.rs"]);
        assert_eq!(paths_of_the_repository("`docs/none.md`, `Mail/Junk`"), ["docs/none.md"]);
        assert_eq!(expanded("a/{b,c}.rs"), ["a/b.rs", "a/c.rs"]);
        assert!(is_there("codec/family.rs") && is_there("docs/") && !is_there("codec/families.rs"));
    }

    #[test]
    fn links_and_anchors_are_found() {
        let text =
            "# A page, `x`\n[a](b.md#c) `[no](d)` ![e](f.png)\n```\n[no](g)\n# no\n```\n## It's so: 2 × 3\n";
        assert_eq!(links_in(text), ["b.md#c", "f.png"]);
        assert_eq!(anchors_in(text), ["a-page-x", "its-so-2--3"]);
        assert_eq!(calls_in("`a/b.rs::c` `d.rs` `e::f`"), [("a/b.rs", "c")]);
        assert!(
            broken("docs/keys.md", "format.md#keys").is_none() && broken("docs/keys.md", "no.md").is_some()
        );
        assert_eq!(figures_in("| 1,045 MB, 7.26 × |"), ["1045", "7.26"]);
        assert!(is_rounded("7.3", "7.26") && is_rounded("164", "163.85") && !is_rounded("7.2", "7.26"));
        assert!(broken("docs/keys.md", "format.md#no-such").is_some());
        assert!(broken("docs/keys.md", "../README.md").is_some());
    }
}
