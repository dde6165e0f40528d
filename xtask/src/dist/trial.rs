//! Installs packages on a system without crivo, and runs every command there.
//!
//! `packaging/try-verbs.sh` has the commands with their expected answers. The Debian package is
//! installed into a minimal Debian, which `debootstrap` makes once in `target/clean-root`. The
//! wheel is installed into a fresh virtual environment.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::shell::{Step, as_root, root, target};
use crate::{clean_root, setup};

const SCRIPT: &str = "packaging/try-verbs.sh";

/// Files that the package installs besides the program.
const INSTALLED: [&str; 7] = [
    "/usr/share/man/man1/crivo.1.gz",
    "/usr/share/man/man1/crivo-distinct.1.gz",
    "/usr/share/bash-completion/completions/crivo",
    "/usr/share/zsh/vendor-completions/_crivo",
    "/usr/share/fish/vendor_completions.d/crivo.fish",
    "/usr/lib/systemd/system/crivo-mail.service",
    "/usr/share/doc/crivo/copyright",
];

/// Installs the Debian package in a clean root, runs every command, and removes it again.
pub(super) fn of_debian_package(package: &Path) -> Result<()> {
    let clean = root_of_this_release()?;
    let inside = |command: &str| clean_root::inside(&clean, command);
    let trial = clean.join("tmp/crivo-trial");
    as_root("sh", "-ec")
        .args([
            "rm -rf \"$1\" && mkdir -p \"$1\" && cp \"$2\" \"$1/crivo.deb\" && cp -r \"$3\" \"$4\" \"$1\"",
            "sh",
        ])
        .args([&trial, package, &root().join("samples"), &root().join(SCRIPT)])
        .run()?;
    // Removes what an interrupted trial left.
    inside("dpkg --purge crivo 2> /dev/null || true").run()?;
    inside("dpkg --install /tmp/crivo-trial/crivo.deb").run()?;
    for file in INSTALLED {
        ensure!(clean.join(file.trim_start_matches('/')).is_file(), "the package does not install {file}");
    }
    inside(
        "test -x \"$(sed -n 's/^ExecStart=\\([^ ]*\\).*/\\1/p' /usr/lib/systemd/system/crivo-mail.service)\"",
    )
    .run()?;
    every_verb_is_tried(&clean.join("usr/bin/crivo"))?;
    inside("sh /tmp/crivo-trial/try-verbs.sh /tmp/crivo-trial/samples").run()?;
    inside("dpkg --purge crivo && test ! -e /usr/bin/crivo && test ! -e /usr/share/doc/crivo").run()?;
    as_root("rm", "-rf").args([trial]).run()
}

/// Unpacks the tarball, and runs its program.
pub(super) fn of_tarball(tarball: &Path) -> Result<()> {
    let script = "cd \"$1\" && tar -xzf \"$2\" && cd crivo-* && test -s man/crivo-distinct.1 && \
                  test -s completions/_crivo && test -s systemd/crivo-mail.service && test -s LICENSE-MIT && \
                  PATH=$PWD:$PATH && sh \"$3\" \"$4\"";
    let folder = target().join("tmp/dist-unpacked");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Step::new("sh", "-ec")
        .args([script, "sh"])
        .args([&folder, tarball, &root().join(SCRIPT), &root().join("samples")])
        .run()
}

/// Installs the wheel in a fresh virtual environment, runs every command of its program, and counts
/// with its package.
pub(super) fn of_wheel(wheel: &Path) -> Result<()> {
    let folder = target().join("venv-trial");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let python = setup::environment(&folder)?;
    python.module("pip install --quiet --disable-pip-version-check").args([wheel]).run()?;
    let programs = folder.join("bin");
    every_verb_is_tried(&programs.join("crivo"))?;
    Step::new("sh", SCRIPT)
        .args(["samples"])
        .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
        .run()?;
    // The package and the program have the same version, and each reads what the other writes.
    let script = "import crivo, pathlib, subprocess, sys\n\
                  program = pathlib.Path(sys.executable).parent / 'crivo'\n\
                  said = subprocess.check_output([program, '--version'], text=True)\n\
                  assert said.split() == ['crivo', crivo.__version__], said\n\
                  command = [program, '-q', 'distinct', '-f', 'visitor', 'samples/visits.csv', '-o', sys.argv[1]]\n\
                  subprocess.run(command, check=True, stdout=subprocess.DEVNULL)\n\
                  sketch = crivo.HyperLogLog.from_bytes(pathlib.Path(sys.argv[1]).read_bytes())\n\
                  assert 1800 < sketch.estimate().value < 1880, sketch.estimate()\n";
    python.code(script).args([folder.join("visitors.crivo")]).run()
}

/// Returns an error if the script does not try every command, so that a new one is not forgotten.
fn every_verb_is_tried(program: &Path) -> Result<()> {
    let help = Step::new(program, "--help")
        .output()
        .with_context(|| format!("{} --help failed", program.display()))?;
    let script = fs::read_to_string(root().join(SCRIPT)).with_context(|| format!("cannot read {SCRIPT}"))?;
    let verbs = verbs_in(&help);
    ensure!(verbs.len() > 20, "`crivo --help` lists {} commands, which cannot be all", verbs.len());
    let untried: Vec<&str> =
        verbs.into_iter().filter(|verb| !script.contains(&format!("crivo {verb} "))).collect();
    ensure!(untried.is_empty(), "{SCRIPT} does not run: {}\n  add a line for each", untried.join(", "));
    Ok(())
}

/// Returns the commands that a help text lists.
fn verbs_in(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = lines.take_while(|line| !line.trim().is_empty());
    // Continued lines of a description are indented further.
    let named = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    named.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help").collect()
}

/// Returns a minimal Debian of this machine's release, made once.
fn root_of_this_release() -> Result<PathBuf> {
    let folder = target().join("clean-root");
    let done = target().join("clean-root.done");
    let release = clean_root::release()?;
    if fs::read_to_string(&done).is_ok_and(|made| made == release) && folder.join("usr/bin/dpkg").exists() {
        return Ok(folder);
    }
    println!("\nA clean Debian is made in target/clean-root, once: some 60 MB are fetched.");
    clean_root::make(&folder, &release, "true")?;
    fs::write(&done, release).with_context(|| format!("cannot write {}", done.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_read_from_help() {
        let help = "Answers\n\nUsage: crivo\n\nCommands:\n  profile  What is in this file?\n           And more\n  \
                    top      Which?\n  help     Print this\n\nOptions:\n  -q\n";
        assert_eq!(verbs_in(help), ["profile", "top"]);
    }
}
