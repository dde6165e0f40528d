//! The contents of a package besides the program. The program writes most of them itself.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shell::{Step, root, target};

/// The page with the systemd unit of the mail service. Administrators read the unit that is
/// installed.
const UNIT_PAGE: &str = "docs/mail-setups.md";
/// The first line of the unit on that page.
const UNIT_NAME: &str = "# /etc/systemd/system/crivo-mail.service\n";

/// Files outside the program, under their names in a package.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The files that go into packages.
pub(super) struct Contents {
    pub(super) version: String,
    /// A folder with `crivo`, `man/`, `completions/`, `systemd/` and documents.
    pub(super) folder: PathBuf,
}

impl Contents {
    /// Makes the folder with the files that belong to a program.
    pub(super) fn of(program: &Path) -> Result<Self> {
        let Some(said) = Step::new(program, "--version").output() else {
            bail!("{} is no program that runs here: cargo build --package crivo-cli", program.display());
        };
        let version = said.trim().trim_start_matches("crivo ").to_owned();
        let folder = target().join("tmp/dist-contents").join(format!("crivo-{version}"));
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        for name in ["completions", "systemd"] {
            let inside = folder.join(name);
            fs::create_dir_all(&inside).with_context(|| format!("cannot create {}", inside.display()))?;
        }
        copy(program, &folder.join("crivo"))?;
        for name in DOCUMENTS {
            copy(&root().join(name), &folder.join(name))?;
        }
        Step::new(program, "--quiet man").args([folder.join("man")]).run()?;
        for (shell, name) in [("bash", "crivo.bash"), ("zsh", "_crivo"), ("fish", "crivo.fish")] {
            let script = Step::new(program, "completions").args([shell]).output();
            let script = script.with_context(|| format!("`crivo completions {shell}` failed"))?;
            write(&folder.join("completions").join(name), &script)?;
        }
        let page = fs::read_to_string(root().join(UNIT_PAGE))
            .with_context(|| format!("cannot read {UNIT_PAGE}, which has the unit of the mail service"))?;
        let unit = unit_in(&page).with_context(|| format!("{UNIT_PAGE} has no unit of the mail service"))?;
        write(&folder.join("systemd/crivo-mail.service"), &unit)?;
        Ok(Self { version, folder })
    }

    /// Packs the folder into a tarball. The same contents give the same bytes.
    pub(super) fn tarball(&self, bill: &Path, triple: &str, into: &Path) -> Result<PathBuf> {
        copy(bill, &self.folder.join("crivo.cdx.json"))?;
        let tarball = into.join(format!("crivo-{}-{triple}.tar.gz", self.version));
        let name = format!("crivo-{}", self.version);
        Step::new("tar", "--create --sort=name --owner=0 --group=0 --numeric-owner --mode=go-w")
            .args([format!("--mtime=@{}", changed_at())])
            .args(["--use-compress-program", "gzip -n"]) // without a time of its own
            .args(["--file".as_ref(), tarball.as_os_str(), "--directory".as_ref()])
            .args([self.folder.parent().unwrap_or(&self.folder).as_os_str(), name.as_ref()])
            .run()?;
        Ok(tarball)
    }
}

/// Returns the unit on a page, with the path at which packages install the program.
fn unit_in(page: &str) -> Option<String> {
    let (_, unit) = page.split_once(UNIT_NAME)?;
    let (unit, _) = unit.split_once("```")?;
    Some(unit.replace("/usr/local/bin/crivo", "/usr/bin/crivo"))
}

/// Returns the time of the last change in seconds since 1970, so that packages of the same sources
/// have the same times.
pub(super) fn changed_at() -> String {
    std::env::var("SOURCE_DATE_EPOCH").ok().unwrap_or_else(|| {
        let time = Step::new("git", "log --max-count=1 --format=%ct").output();
        time.map(|time| time.trim().to_owned()).filter(|time| !time.is_empty()).unwrap_or_else(|| "0".into())
    })
}

pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_starts_the_program_of_the_package() {
        let page = fs::read_to_string(root().join(UNIT_PAGE)).unwrap();
        let unit = unit_in(&page).unwrap();
        assert!(
            unit.starts_with("[Unit]\n") && unit.trim_end().ends_with("WantedBy=multi-user.target"),
            "{unit}"
        );
        assert!(unit.contains("\nExecStart=/usr/bin/crivo mail serve "), "{unit}");
        assert!(!unit.contains("/usr/local"), "{unit}");
        assert!(unit_in("nothing").is_none());
    }
}
