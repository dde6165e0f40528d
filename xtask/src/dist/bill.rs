//! The bill of materials: every crate that the program is made of, with version, licence, checksum
//! and dependencies.
//!
//! The format is `CycloneDX` 1.5. `cargo tree` lists what is built, and `Cargo.lock` has the
//! checksums. Procedural macros and build scripts are left out, because they run during the build
//! and are no part of the program. The file has no time and no serial number, so that the same
//! sources give the same bytes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result, ensure};

use crate::shell::{Step, root};

/// A crate of the program.
#[derive(Debug, Default, PartialEq)]
struct Crate {
    name: String,
    version: String,
    licence: String,
    repository: String,
    /// The keys of the crates that this crate depends on.
    uses: Vec<String>,
}

/// Returns the bill of materials of the program for a target.
pub(super) fn of_program(version: &str, triple: &str) -> Result<String> {
    let tree = Step::cargo("tree --locked --package crivo-cli --edges normal,no-proc-macro --prefix depth")
        .args(["--format", " {p}\t{l}\t{r}", "--target", triple])
        .output()
        .context("`cargo tree` failed: try `cargo tree --locked --package crivo-cli`")?;
    let crates = crates_in(&tree);
    ensure!(crates.len() > 10, "`cargo tree` names {} crates, which cannot be all of them", crates.len());
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    Ok(written(version, &crates, &checksums_in(&lock)))
}

/// Parses the output of `cargo tree` into crates by their keys (`name@version`). Each line has the
/// depth, the crate with its version, its licence and its repository. A line that ends with `(*)`
/// repeats a crate without its dependencies.
fn crates_in(tree: &str) -> BTreeMap<String, Crate> {
    let mut crates: BTreeMap<String, Crate> = BTreeMap::new();
    let mut above: Vec<String> = Vec::new();
    for line in tree.lines() {
        let Some((depth, rest)) = line.split_once(' ') else { continue };
        let Ok(depth) = depth.parse::<usize>() else { continue };
        let mut parts = rest.trim_end_matches(" (*)").split('\t');
        let mut package = parts.next().unwrap_or_default().split(' ');
        let name = package.next().unwrap_or_default().to_owned();
        let version = package.next().unwrap_or_default().trim_start_matches('v').to_owned();
        let licence = parts.next().unwrap_or_default().replace('/', " OR ");
        let repository = parts.next().unwrap_or_default().to_owned();
        let key = format!("{name}@{version}");
        above.truncate(depth);
        if let Some(user) = above.last().and_then(|user| crates.get_mut(user))
            && !user.uses.contains(&key)
        {
            user.uses.push(key.clone());
        }
        above.push(key.clone());
        crates.entry(key).or_insert(Crate { name, version, licence, repository, uses: Vec::new() });
    }
    crates
}

/// Returns the checksums in a lock file, by the keys of crates.
fn checksums_in(lock: &str) -> BTreeMap<String, String> {
    let value = |package: &str, name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    let packages = lock.split("[[package]]").skip(1);
    packages
        .filter_map(|package| {
            let key = format!("{}@{}", value(package, "name")?, value(package, "version")?);
            Some((key, value(package, "checksum")?))
        })
        .collect()
}

fn written(version: &str, crates: &BTreeMap<String, Crate>, checksums: &BTreeMap<String, String>) -> String {
    let program = format!("crivo-cli@{version}");
    let mut text = format!(
        "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \"metadata\": {{\n    \
         \"component\": {{ \"type\": \"application\", \"bom-ref\": {}, \"name\": \"crivo\", \"version\": {} }}\n  }},\n  \
         \"components\": [",
        quoted(&address(&program)),
        quoted(version)
    );
    let others = || crates.iter().filter(|(key, _)| **key != program);
    for (at, (key, Crate { name, version, licence, repository, .. })) in others().enumerate() {
        let separator = if at == 0 { "" } else { "," };
        let (name, version) = (quoted(name), quoted(version));
        let place = quoted(&address(key));
        let _ = write!(
            text,
            "{separator}\n    {{ \"type\": \"library\", \"bom-ref\": {place}, \"name\": {name}, \"version\": {version}"
        );
        if let Some(checksum) = checksums.get(key) {
            let _ = write!(
                text,
                ", \"purl\": {place}, \"hashes\": [{{ \"alg\": \"SHA-256\", \"content\": {} }}]",
                quoted(checksum)
            );
        }
        if !licence.is_empty() {
            let _ = write!(text, ", \"licenses\": [{{ \"expression\": {} }}]", quoted(licence));
        }
        if repository.starts_with("http") {
            let _ = write!(
                text,
                ", \"externalReferences\": [{{ \"type\": \"vcs\", \"url\": {} }}]",
                quoted(repository)
            );
        }
        text.push_str(" }");
    }
    text.push_str("\n  ],\n  \"dependencies\": [");
    for (at, (key, Crate { uses, .. })) in crates.iter().enumerate() {
        let separator = if at == 0 { "" } else { "," };
        let uses: Vec<String> = uses.iter().map(|used| quoted(&address(used))).collect();
        let _ = write!(
            text,
            "{separator}\n    {{ \"ref\": {}, \"dependsOn\": [{}] }}",
            quoted(&address(key)),
            uses.join(", ")
        );
    }
    text.push_str("\n  ]\n}\n");
    text
}

/// Returns the package URL of a crate, which databases of vulnerabilities use.
fn address(key: &str) -> String {
    format!("pkg:cargo/{}", key.replace('+', "%2B"))
}

/// Returns a text as a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "0 crivo-cli v0.1.0 (/a b/crivo-cli)\tMIT OR Apache-2.0\t\n\
                        1 anyhow v1.0.1\tMIT/Apache-2.0\thttps://example.org/anyhow\n\
                        1 zstd v0.13.3\tMIT\t\n\
                        2 zstd-sys v2.0.16+zstd.1.5.7\tMIT\t\n\
                        2 anyhow v1.0.1\tMIT/Apache-2.0\thttps://example.org/anyhow (*)\n\
                        1 zstd-sys v2.0.16+zstd.1.5.7\tMIT\t (*)\n";

    #[test]
    fn a_tree_gives_each_crate_once_with_what_it_uses() {
        let crates = crates_in(TREE);
        let names: Vec<&str> = crates.keys().map(String::as_str).collect();
        assert_eq!(names, ["anyhow@1.0.1", "crivo-cli@0.1.0", "zstd-sys@2.0.16+zstd.1.5.7", "zstd@0.13.3"]);
        assert_eq!(
            crates["crivo-cli@0.1.0"].uses,
            ["anyhow@1.0.1", "zstd@0.13.3", "zstd-sys@2.0.16+zstd.1.5.7"]
        );
        assert_eq!(crates["zstd@0.13.3"].uses, ["zstd-sys@2.0.16+zstd.1.5.7", "anyhow@1.0.1"]);
        assert_eq!(crates["anyhow@1.0.1"].licence, "MIT OR Apache-2.0");
        assert_eq!(crates["anyhow@1.0.1"].repository, "https://example.org/anyhow");
    }

    #[test]
    fn every_crate_of_the_program_has_a_checksum_or_is_of_this_repository() {
        let bill = of_program("0.1.0", "x86_64-unknown-linux-gnu").unwrap();
        let components: Vec<&str> =
            bill.lines().filter(|line| line.contains("\"type\": \"library\"")).collect();
        assert!(components.len() > 50, "{}", components.len());
        for component in components {
            let is_ours = component.contains("\"name\": \"crivo");
            assert_eq!(component.contains("\"SHA-256\""), !is_ours, "{component}");
            assert!(component.contains("\"expression\""), "{component}");
        }
        assert!(bill.contains("\"name\": \"libsqlite3-sys\"") && !bill.contains("\"name\": \"clap_derive\""));
    }

    #[test]
    fn the_bill_is_json() {
        let mut crates = crates_in(TREE);
        crates.get_mut("zstd@0.13.3").unwrap().licence = "a \"b\"\\\n".into();
        let sums = checksums_in("[[package]]\nname = \"anyhow\"\nversion = \"1.0.1\"\nchecksum = \"ab\"\n");
        assert_eq!(sums["anyhow@1.0.1"], "ab");
        let bill = written("0.1.0", &crates, &sums);
        assert!(bill.contains(r#""expression": "a \"b\"\\\u000a""#), "{bill}");
        assert!(bill.contains("pkg:cargo/zstd-sys@2.0.16%2Bzstd.1.5.7"), "{bill}");
        let opened = |open, close| (bill.matches(open).count(), bill.matches(close).count());
        assert_eq!((opened('{', '}').0, opened('[', ']').0), (opened('{', '}').1, opened('[', ']').1));
    }
}
