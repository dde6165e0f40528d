//! `cargo xtask bench`: how fast, how small, how exact, beside the peers?
//!
//! The benchmarks are a crate of their own outside the workspace, because they pull in every
//! peer library and nobody else should have to build those.

use anyhow::{Result, ensure};

use crate::shell::{Step, root};

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let manifest = root().join("benchmarks/Cargo.toml");
    ensure!(manifest.exists(), "there is no benchmarks/Cargo.toml");
    Step::cargo("run --release --manifest-path")
        .args([manifest.as_os_str()])
        .args(["--"])
        .args(arguments.raw_args()?)
        .run()
}
