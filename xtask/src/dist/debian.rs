//! The Debian package: the program, manual pages, completions, the unit of the mail service.
//!
//! It follows the layout that Debian's rules require and is packed by `dpkg-deb`. It has no
//! scripts. The service runs as a dynamic user of systemd, and is disabled until an administrator
//! enables it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::contents::{Contents, changed_at, copy, write};
use crate::shell::{Step, root, target};

/// The folders of the contents, each with its destination in the package.
const PLACES: [(&str, &str); 6] = [
    ("crivo", "usr/bin/crivo"),
    ("completions/crivo.bash", "usr/share/bash-completion/completions/crivo"),
    ("completions/_crivo", "usr/share/zsh/vendor-completions/_crivo"),
    ("completions/crivo.fish", "usr/share/fish/vendor_completions.d/crivo.fish"),
    ("systemd/crivo-mail.service", "usr/lib/systemd/system/crivo-mail.service"),
    ("README.md", "usr/share/doc/crivo/README.md"),
];

/// Makes the package in a folder, with a compression level of 1 to 9.
pub(super) fn package(contents: &Contents, bill: &Path, into: &Path, effort: u8) -> Result<PathBuf> {
    let architecture = Step::new("dpkg", "--print-architecture").output().map(|name| name.trim().to_owned());
    let architecture = architecture.context(
        "the Debian package needs dpkg, which was not found\n  on Fedora: sudo dnf install dpkg; on Arch: sudo pacman -S dpkg",
    )?;
    let tree = target().join("tmp/dist-debian");
    if tree.exists() {
        fs::remove_dir_all(&tree).with_context(|| format!("cannot empty {}", tree.display()))?;
    }
    for (from, to) in PLACES {
        place(&contents.folder.join(from), &tree.join(to))?;
    }
    place(bill, &tree.join("usr/share/doc/crivo/crivo.cdx.json"))?;
    place(&contents.folder.join("CHANGELOG.md"), &tree.join("usr/share/doc/crivo/changelog"))?;
    let pages = contents.folder.join("man");
    for page in fs::read_dir(&pages).with_context(|| format!("cannot list {}", pages.display()))? {
        let page = page?;
        place(&page.path(), &tree.join("usr/share/man/man1").join(page.file_name()))?;
    }
    let licence = fs::read_to_string(root().join("LICENSE-MIT")).context("cannot read LICENSE-MIT")?;
    write(&tree.join("usr/share/doc/crivo/copyright"), &copyright(&licence))?;
    let compress = "find usr/share/man usr/share/doc/crivo/changelog -type f -exec gzip -9n {} +";
    in_tree(&tree, compress)?;

    let program = fs::read(tree.join("usr/bin/crivo")).context("cannot read the program")?;
    let size: u64 = size_of_tree(&tree)? / 1024;
    fs::create_dir_all(tree.join("DEBIAN")).context("cannot create the folder DEBIAN")?;
    let version = format!("{}-1", contents.version);
    write(&tree.join("DEBIAN/control"), &control(&version, &architecture, size, &program)?)?;
    in_tree(
        &tree,
        "find usr -type f -exec md5sum {} + > DEBIAN/md5sums && chmod -R u=rwX,go=rX . && chmod 755 usr/bin/crivo",
    )?;
    let package = into.join(format!("crivo_{version}_{architecture}.deb"));
    Step::new("dpkg-deb", "--root-owner-group -Zxz")
        .args([format!("-z{effort}"), "--build".into()])
        .args([&tree, &package])
        .env("SOURCE_DATE_EPOCH", changed_at())
        .run()?;
    Ok(package)
}

/// Copies a file to its place in the package's tree.
fn place(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    copy(from, to)
}

fn in_tree(tree: &Path, script: &str) -> Result<()> {
    Step::new("sh", "-ec").args([format!("cd \"$1\" && {script}"), "sh".into()]).args([tree]).run()
}

fn size_of_tree(tree: &Path) -> Result<u64> {
    let mut bytes = 0;
    let mut waiting = vec![tree.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            } else {
                bytes += entry.metadata()?.len();
            }
        }
    }
    Ok(bytes)
}

fn control(version: &str, architecture: &str, kibibytes: u64, program: &[u8]) -> Result<String> {
    Ok(format!(
        "Package: crivo\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: The crivo developers <crivo@example.invalid>\n\
         Installed-Size: {kibibytes}\n\
         Depends: {}\n\
         Section: utils\n\
         Priority: optional\n\
         Description: answers about data too big to hold\n \
         Counts, filters, samples, quantiles, profiles of tables and near-duplicates in one pass\n \
         and small memory, with an error bound on every answer; and a mail filter that learns.\n",
        dependencies(program)?
    ))
}

/// Returns the packages with the libraries that a program loads, whose names are in its bytes.
fn dependencies(program: &[u8]) -> Result<String> {
    let glibc = newest_glibc(program);
    ensure!(
        glibc > (0, 0),
        "the program names no version of glibc: packages are made of programs for Linux with glibc"
    );
    let mut packages = vec![format!("libc6 (>= {}.{})", glibc.0, glibc.1)];
    if contains(program, b"libgcc_s.so.1\0") {
        packages.push("libgcc-s1 (>= 3.0)".into());
    }
    Ok(packages.join(", "))
}

/// Returns the newest glibc whose symbols a program needs. Each symbol version is in the program's
/// bytes, such as `GLIBC_2.34`.
fn newest_glibc(program: &[u8]) -> (u32, u32) {
    const MARK: &[u8] = b"\0GLIBC_";
    let mut newest = (0, 0);
    for at in (0..program.len()).filter(|at| program[*at..].starts_with(MARK)) {
        let rest = &program[at + MARK.len()..];
        let end = rest.iter().position(|byte| *byte == 0).unwrap_or(0);
        let Ok(version) = std::str::from_utf8(&rest[..end]) else { continue };
        let mut numbers = version.split('.').map_while(|number| number.parse().ok());
        if let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) {
            newest = newest.max((major, minor));
        }
    }
    newest
}

fn contains(program: &[u8], name: &[u8]) -> bool {
    program.windows(name.len()).any(|window| window == name)
}

/// Returns the copyright file that Debian requires of every package.
fn copyright(licence: &str) -> String {
    let holder = licence
        .lines()
        .find(|line| line.starts_with("Copyright"))
        .unwrap_or("Copyright the crivo developers");
    let mut text = format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: crivo\n\
         Comment: crivo.cdx.json beside this file lists the crates that the program is made of, with their licences.\n\n\
         Files: *\nCopyright: {}\nLicense: Apache-2.0 or MIT\n\n\
         License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n\n\
         License: MIT\n",
        holder.trim_start_matches("Copyright").trim_start_matches(" (c)").trim()
    );
    for line in licence.lines() {
        let line = line.trim_end();
        text.extend([" ", if line.is_empty() { "." } else { line }, "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_those_that_the_program_names() {
        let program = b"\x7fELF\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.4\0libgcc_s.so.1\0GLIBC_PRIVATE\0";
        assert_eq!(dependencies(program).unwrap(), "libc6 (>= 2.34), libgcc-s1 (>= 3.0)");
        assert_eq!(dependencies(b"\0GLIBC_2.28\0").unwrap(), "libc6 (>= 2.28)");
        assert!(dependencies(b"no program").is_err());
    }

    #[test]
    fn empty_lines_of_a_licence_are_dots() {
        let text = copyright("MIT License\n\nCopyright (c) 2026 The crivo developers\n");
        assert!(
            text.ends_with("License: MIT\n MIT License\n .\n Copyright (c) 2026 The crivo developers\n"),
            "{text}"
        );
        assert!(text.contains("\nCopyright: 2026 The crivo developers\n"), "{text}");
    }
}
