//! `cargo xtask foreign`: the same bytes on targets with 32-bit addresses and with big-endian byte
//! order.
//!
//! Debian's testing suite has Rust's standard library for both targets, linkers that run here, and
//! an emulator. They need a newer C library than most machines have. So they are installed into a
//! root of their own, made once in `target/foreign-root`. The sources and the crates that cargo has
//! fetched are mounted there, and nothing is fetched inside.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use lexopt::prelude::*;

use crate::clean_root;
use crate::shell::{Step, as_root, root, target};
use crate::test::SAME_BYTES;

/// The Debian suite that has the packages which the root needs. They are newer than those of a
/// stable release.
const SUITE: &str = "testing";

/// Installs the packages into a minimal root. The package list may have expired, because a mirror
/// may lag behind. Its signature is checked.
const INSTALL: &str = "export DEBIAN_FRONTEND=noninteractive
dpkg --add-architecture i386
dpkg --add-architecture s390x
apt-get -o Acquire::Check-Valid-Until=false update -q
apt-get install -y -q --no-install-recommends rustc cargo gcc libc6-dev qemu-user \
  gcc-i686-linux-gnu libc6-dev-i386-cross libstd-rust-dev:i386 \
  gcc-s390x-linux-gnu libc6-dev-s390x-cross libstd-rust-dev:s390x
apt-get clean
mkdir -p /crivo /registry";

/// Mounts sources, crates and `/proc` in the root, and runs cargo there. Only this process sees the
/// mounts, and they end with it. So removing the root never reaches the mounted folders.
const BUILD: &str = r#"root=$1 sources=$2 registry=$3
shift 3
mount --bind "$sources" "$root/crivo"
mount --bind "$registry" "$root/registry"
mount -t proc proc "$root/proc"
exec chroot "$root" env -i HOME=/root CARGO_HOME=/ CARGO_TARGET_DIR=/crivo/target/foreign CARGO_INCREMENTAL=0 \
  PATH=/usr/bin:/bin \
  CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=i686-linux-gnu-gcc \
  CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc \
  CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER=qemu-s390x \
  sh -ec 'cd /crivo && exec cargo test --offline --locked --no-fail-fast "$@"' sh "$@""#;

/// One target with 32-bit addresses, and one with big-endian byte order.
const TARGETS: [&str; 2] = ["i686-unknown-linux-gnu", "s390x-unknown-linux-gnu"];

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let mut targets = TARGETS.to_vec();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("target") => {
                let wanted = arguments.value()?.string()?;
                targets.retain(|target| *target == wanted);
                ensure!(!targets.is_empty(), "--target: expected {}", TARGETS.join(" or "));
            }
            other => return Err(other.unexpected().into()),
        }
    }
    ensure!(cfg!(target_os = "linux"), "the root is a Debian, which runs on Linux alone");
    let foreign = foreign_root()?;
    Step::cargo("fetch --locked").run()?;
    let registry = cargo_home()?.join("registry");
    let mut times = Vec::new();
    for triple in targets {
        let started = Instant::now();
        as_root("unshare", "--mount sh -ec")
            .args([BUILD, "sh"])
            .args([&*foreign, root(), &registry])
            .args(SAME_BYTES.split_whitespace())
            .args(["--target", triple])
            .or(format!("to repeat it: cargo xtask foreign --target {triple}"))
            .run()?;
        times.push((triple, started.elapsed().as_secs()));
    }
    for (triple, seconds) in times {
        println!("{triple}: the tests of {SAME_BYTES} passed in {seconds} s");
    }
    Ok(())
}

/// Returns the root with compilers, linkers and the emulator. Makes it if it does not exist.
fn foreign_root() -> Result<PathBuf> {
    let folder = target().join("foreign-root");
    let done = target().join("foreign-root.done");
    let made = format!("{SUITE}\n{INSTALL}\n");
    if !(fs::read_to_string(&done).is_ok_and(|said| said == made) && folder.join("usr/bin/cargo").exists()) {
        println!(
            "\nRust for other machines goes into target/foreign-root, once: 600 MB are fetched, 4 GB stored."
        );
        clean_root::make(&folder, SUITE, INSTALL)?;
        fs::write(&done, made).with_context(|| format!("cannot write {}", done.display()))?;
    }
    Ok(folder)
}

/// Returns the folder in which cargo keeps the crates that it has fetched.
fn cargo_home() -> Result<PathBuf> {
    let home = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let found = home("CARGO_HOME").or_else(|| Some(home("HOME")?.join(".cargo")));
    found.filter(|folder| Path::new(folder).is_dir()).context("no folder of cargo: is CARGO_HOME right?")
}
