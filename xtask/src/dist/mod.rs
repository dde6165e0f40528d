//! `cargo xtask dist`: everything that is released to users, in `target/packages`.
//!
//! | file | is |
//! |---|---|
//! | `crivo-VERSION-TARGET.tar.gz` | the program, manual pages, completions and the unit of the mail service |
//! | `crivo_VERSION-1_ARCH.deb` | the same as a Debian package |
//! | `crivo-VERSION-….whl` | the Python package with the program, for every Python from 3.10 on |
//! | `crivo-VERSION.cdx.json` | the bill of materials: every crate that the program is made of (`CycloneDX`) |
//! | `SHA256SUMS` | the checksums of those |
//!
//! Zig links the program and the extension against an old glibc, so that they run on older systems
//! than the one that builds them. Every package is installed on a system without crivo, and each
//! command is run there (`trial`). The tests do the same with the program that they have built,
//! because they check the packages and not the optimiser.

mod bill;
mod contents;
mod debian;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use lexopt::prelude::*;

use self::contents::Contents;
use crate::setup::{self, Python};
use crate::shell::{Step, root, target};

/// The oldest glibc that packages run with: Debian 10, Ubuntu 20.04, RHEL 8 and later.
const GLIBC: &str = "2.28";

/// The sizes in bytes that the program and the wheel should not exceed. A larger one is reported
/// but still packed: the program has 23 MB and exceeds its limit. CONTRIBUTING.md lists the size of
/// each part.
const LARGEST_PROGRAM: u64 = 14_000_000;
const LARGEST_WHEEL: u64 = 15_000_000;

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let (mut program, mut with_wheel, mut is_tried) = (None, true, true);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("program") => program = Some(root().join(PathBuf::from(arguments.value()?))),
            Long("no-wheel") => with_wheel = false,
            Long("untried") => is_tried = false,
            other => return Err(other.unexpected().into()),
        }
    }
    ensure!(
        cfg!(target_os = "linux"),
        "packages are made on Linux\n  elsewhere: cargo install --profile dist --path crates/crivo-cli"
    );
    let python =
        || setup::python_with(&target().join("venv-dist"), &root().join("packaging/requirements.txt"));
    // The size is not checked for a program that was built otherwise.
    let (program, largest) = match program {
        Some(program) => (program, None),
        None => (build_program(&python()?)?, Some(LARGEST_PROGRAM)),
    };
    let folder = target().join("packages");
    let packages = pack(&program, &folder, 9)?;
    let wheel = if with_wheel { Some(build_wheel(&python()?, &program, &folder)?) } else { None };
    write_checksums(&folder)?;

    if is_tried {
        trial::of_tarball(&packages.tarball)?;
        trial::of_debian_package(&packages.debian)?;
        if let Some(wheel) = &wheel {
            trial::of_wheel(wheel)?;
        }
    }
    let mut files = vec![(program, largest), (packages.tarball, None), (packages.debian, None)];
    files.extend(wheel.map(|wheel| (wheel, Some(LARGEST_WHEEL))));
    show_sizes(&files)?;
    println!("\nEverything is in target/packages.");
    Ok(())
}

/// Tests the packages, made of the program and the wheel that the tests have built.
pub(crate) fn smoke(wheel: &Path) -> Result<()> {
    let packages = pack(&setup::stripped_program()?, &target().join("tmp/packages"), 1)?;
    write_checksums(&target().join("tmp/packages"))?;
    trial::of_tarball(&packages.tarball)?;
    trial::of_debian_package(&packages.debian)?;
    trial::of_wheel(wheel)
}

/// Returns the target triple of this machine.
fn triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// Prints the sizes of files, and reports those that exceed their limit.
fn show_sizes(files: &[(PathBuf, Option<u64>)]) -> Result<()> {
    println!();
    let mut too_large = Vec::new();
    for (file, largest) in files {
        let shown = file.strip_prefix(root()).unwrap_or(file).display();
        let size = fs::metadata(file).with_context(|| format!("cannot read {shown}"))?.len();
        println!("{:>6.1} MB  {shown}", size as f64 / 1e6);
        if let Some(largest) = largest.filter(|largest| size > *largest) {
            too_large.push(format!(
                "{shown} has {size} bytes, and should have at most {largest} (xtask/src/dist/mod.rs)"
            ));
        }
    }
    if !too_large.is_empty() {
        println!(
            "\n{}\n  to see what grew: cargo bloat --profile dist -p crivo-cli --crates",
            too_large.join("\n")
        );
    }
    Ok(())
}

/// Builds the program as it is released.
fn build_program(python: &Python) -> Result<PathBuf> {
    let triple = triple();
    python
        .program("cargo-zigbuild", "zigbuild --locked --profile dist --package crivo-cli --bin crivo")
        .args(["--target", &format!("{triple}.{GLIBC}")])
        .run()?;
    Ok(target().join(triple).join("dist/crivo"))
}

/// Builds the Python package with the program.
fn build_wheel(python: &Python, program: &Path, folder: &Path) -> Result<PathBuf> {
    let platform = format!("manylinux_{}", GLIBC.replace('.', "_"));
    python
        .program("maturin", "build --locked --zig --compatibility")
        .args([&platform, "--target", &triple(), "--out"])
        .args([folder])
        .run()?;
    let wheel = setup::wheel_in(folder)?;
    python.script(&root().join("packaging/build_wheel.py")).args([&wheel, program]).run()?;
    Ok(wheel)
}

/// The packages other than the Python package.
struct Packages {
    tarball: PathBuf,
    debian: PathBuf,
}

/// Packs a program into a folder, which is emptied first.
fn pack(program: &Path, folder: &Path, effort: u8) -> Result<Packages> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let contents = Contents::of(program)?;
    let bill = folder.join(format!("crivo-{}.cdx.json", contents.version));
    fs::write(&bill, bill::of_program(&contents.version, &triple())?)
        .with_context(|| format!("cannot write {}", bill.display()))?;
    let tarball = contents.tarball(&bill, &triple(), folder)?;
    let debian = debian::package(&contents, &bill, folder, effort)?;
    Ok(Packages { tarball, debian })
}

/// Writes the checksums of all files of a folder, and verifies them.
fn write_checksums(folder: &Path) -> Result<()> {
    let script = "cd \"$1\" && rm -f SHA256SUMS && sha256sum -- * > ../SHA256SUMS && mv ../SHA256SUMS . && \
                  sha256sum --check --quiet SHA256SUMS";
    Step::new("sh", "-ec").args([script, "sh"]).args([folder]).run()
}
