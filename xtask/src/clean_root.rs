//! A minimal Debian in a folder of its own, which holds nothing of this machine.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::setup;
use crate::shell::{Step, as_root};

/// Makes a minimal Debian of a suite in `folder`, and runs `script` inside. Replaces the folder if
/// it exists.
pub(crate) fn make(folder: &Path, suite: &str, script: &str) -> Result<()> {
    setup::debootstrap()?;
    as_root("rm", "-rf").args([folder]).run()?;
    as_root("debootstrap", "--variant=minbase --include=libgcc-s1")
        .args([suite])
        .args([folder])
        .args(mirror(suite))
        .or("debootstrap fetches from Debian and makes devices: as root, on a network; in a container it may need --privileged")
        .run_quietly()?;
    inside(folder, script).run_quietly()
}

/// Returns a step that runs a shell script in the root `folder`, with none of this machine's
/// environment variables.
pub(crate) fn inside(folder: &Path, script: &str) -> Step {
    as_root("env", "-i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot")
        .args([folder])
        .args(["sh", "-ec", script])
        .or(format!("the root can be looked at: chroot {}", folder.display()))
}

/// Returns the name of this machine's release, such as bookworm.
pub(crate) fn release() -> Result<String> {
    about_this_system("VERSION_CODENAME")
        .context("packages are tried on Debian or Ubuntu, and /etc/os-release has no VERSION_CODENAME\n  in a container: cargo xtask test --container")
}

/// Returns the value of a line of `/etc/os-release`.
pub(crate) fn about_this_system(name: &str) -> Option<String> {
    let about = fs::read_to_string("/etc/os-release").ok()?;
    let value = about.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim_matches('"').to_owned())
}

/// Returns the mirror that this machine's packages come from, if it has the suite too. Without it
/// debootstrap uses its default mirror.
fn mirror(suite: &str) -> Option<String> {
    let release = about_this_system("VERSION_CODENAME").unwrap_or_default();
    let has_suite = suite == release || about_this_system("ID").as_deref() == Some("debian");
    let sources = Step::new("apt-get", "indextargets --format")
        .args(["$(CODENAME) $(REPO_URI)", "Created-By: Packages"])
        .output()
        .unwrap_or_default();
    let mine = sources.lines().find_map(|line| line.strip_prefix(&release)?.strip_prefix(' '));
    mine.filter(|_| has_suite).map(ToOwned::to_owned)
}
