//! `cargo xtask duckdb`: the extension for DuckDB, built and stamped.
//!
//! DuckDB reads the last 512 bytes of an extension before it loads the file. They are eight fields
//! of 32 bytes and 256 bytes of a signature. The fields name the platform and the version of
//! DuckDB's C API that the file is made for. Extensions without a signature load only into
//! connections with `allow_unsigned_extensions`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use lexopt::prelude::*;

use crate::shell::{Step, root, target};

const MANIFEST: &str = "crates/crivo-duckdb/Cargo.toml";

/// The version of the C API that the extension requests (`crates/crivo-duckdb/src/api/mod.rs`).
const API_VERSION: &str = "v1.2.0";

/// How the extension was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    Debug,
    Release,
    /// A release build, with additional functions that panic.
    Tests,
}

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let mut build = Build::Debug;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("release") => build = Build::Release,
            other => return Err(other.unexpected().into()),
        }
    }
    let extension = extension(build)?;
    let shown = extension.strip_prefix(root()).unwrap_or(&extension).display();
    println!("\nThe extension is {shown}. In DuckDB, with allow_unsigned_extensions: LOAD '{shown}'");
    Ok(())
}

/// Builds the extension and returns the path of its file.
pub(crate) fn extension(build: Build) -> Result<PathBuf> {
    let folder = target().join("duckdb");
    let mut step = Step::cargo("build --locked --manifest-path").args([MANIFEST]);
    if build != Build::Debug {
        step = step.args(["--release"]);
    }
    if build == Build::Tests {
        step = step.args(["--features", "test-panic"]);
    }
    step.env("CARGO_TARGET_DIR", &folder).run()?;
    let profile = if build == Build::Debug { "debug" } else { "release" };
    let library = format!("{}crivo_duckdb{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = folder.join(profile).join(library);
    let mut bytes = fs::read(&library).with_context(|| format!("cannot read {}", library.display()))?;
    bytes.extend(footer(&platform(), env!("CARGO_PKG_VERSION")));
    // DuckDB derives the name of the entry function from the file name. So all builds have the same
    // file name, in different folders.
    let place = folder.join(match build {
        Build::Debug => "debug-extension",
        Build::Release => "extension",
        Build::Tests => "test-extension",
    });
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    let file = place.join("crivo.duckdb_extension");
    // Another process may have mapped the old file. So a new file replaces it by a rename.
    let new = place.join("crivo.new");
    fs::write(&new, bytes).with_context(|| format!("cannot write {}", new.display()))?;
    fs::rename(&new, &file).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// Returns DuckDB's name for this machine's platform.
fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "osx",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}_{processor}")
}

/// Returns the end of an extension: a section header, the fields from the last to the first, and an
/// empty signature. With the section header the file is one that WebAssembly tools can read too.
fn footer(platform: &str, version: &str) -> Vec<u8> {
    // A custom section (0) of 531 bytes, with a name of 16 bytes and a content of 512.
    let mut footer = vec![0, 0x93, 0x04, 16];
    footer.extend(b"duckdb_signature");
    footer.extend([0x80, 0x04]);
    for field in ["", "", "", "C_STRUCT", version, API_VERSION, platform, "4"] {
        let mut bytes = field.as_bytes().to_vec();
        bytes.resize(32, 0);
        footer.extend(bytes);
    }
    footer.resize(footer.len() + 256, 0);
    footer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footer_has_the_fields_where_duckdb_reads_them() {
        let footer = footer("linux_amd64", "0.1.0");
        let fields = &footer[footer.len() - 512..footer.len() - 256];
        let field = |from_the_end: usize| {
            let start = 256 - 32 * from_the_end;
            String::from_utf8(fields[start..start + 32].to_vec()).unwrap().trim_end_matches('\0').to_owned()
        };
        assert_eq!([1, 2, 3, 4, 5].map(field), ["4", "linux_amd64", "v1.2.0", "0.1.0", "C_STRUCT"]);
    }

    #[test]
    fn extension_asks_for_the_stamped_version_of_the_api() {
        let source = fs::read_to_string(root().join("crates/crivo-duckdb/src/api/mod.rs")).unwrap();
        assert!(source.contains(&format!("\"{API_VERSION}\"")));
    }
}
