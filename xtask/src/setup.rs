//! What do the tests need that a fresh machine lacks?
//!
//! This is the one place that installs it. Each need is a function. It does nothing if the thing is
//! there, installs it under `target/` if it can, and otherwise prints how to get it. A new test
//! that starts another program adds its function here and has `test` call it.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::shell::{Step, as_root, root, target};

/// Installs what `cargo test` needs besides Rust.
pub(crate) fn for_rust_tests() -> Result<()> {
    browser()?;
    mail_programs()
}

// ---- Mail ----

/// Installs the programs whose recipes and requests are tested with the mail filter.
fn mail_programs() -> Result<()> {
    // Programs for root are not in every user's `PATH`.
    let is_there = |program: &str| {
        Step::new("sh", "-c").args([format!("PATH=$PATH:/usr/sbin command -v {program}")]).output().is_some()
    };
    // Each program with the package that contains it.
    let needed = [
        ("spamc", "spamc"),
        ("procmail", "procmail"),
        ("maildrop", "maildrop"),
        ("postfix", "postfix"),
        ("miltertest", "miltertest"),
        ("dovecot", "dovecot-imapd"),
        ("sievec", "dovecot-sieve"),
    ];
    let missing: Vec<&str> =
        needed.into_iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    debian_packages(&missing, "the mail filter is tested with the programs that it works with")
}

// ---- Browser ----

/// Installs Chromium and the driver through which tests of pages control it.
fn browser() -> Result<()> {
    let there = |program| Step::new(program, "--version").output().is_some();
    if there("chromedriver") && there("chromium") {
        return Ok(());
    }
    debian_packages(
        &["chromium", "chromium-driver"],
        "pages are looked at in a real browser (`chromium` and `chromedriver` in PATH)",
    )
}

// ---- Packages ----

/// Installs debootstrap, which makes the clean root that packages are tried in.
pub(crate) fn debootstrap() -> Result<()> {
    // Programs for root are not in every user's `PATH`.
    if Step::new("sh", "-c").args(["PATH=$PATH:/usr/sbin command -v debootstrap"]).output().is_some() {
        return Ok(());
    }
    debian_packages(&["debootstrap"], "packages are installed in a clean Debian, which it makes")
}

/// The longest wait for another process that holds the package manager's lock.
const LOCK_LIMIT: Duration = Duration::from_secs(600);

/// Installs Debian packages. Prints the packages and the reason before.
fn debian_packages(packages: &[&str], why: &str) -> Result<()> {
    let names = packages.join(" ");
    let advice = format!(
        "install these yourself, and run the tests again: {names}\n  \
         on Debian and Ubuntu: sudo apt install {names}\n  \
         or run everything in a container: cargo xtask test --container"
    );
    println!("\nThe tests need programs that are not here: {names}.\nWhy: {why}.");
    ensure!(
        Step::new("apt-get", "--version").output().is_some(),
        "{names}: this machine has no apt-get\n  {advice}"
    );
    println!("They are Debian packages and are installed now, once, outside of target/.");
    as_root("apt-get", "update").or(&*advice).run_when_unlocked(LOCK_LIMIT)?;
    as_root("apt-get", "install -y --no-install-recommends")
        .args(packages)
        .or(advice)
        .run_when_unlocked(LOCK_LIMIT)
}

// ---- Python ----

/// The files that decide the contents of the Python environment. It is made again if one of them
/// changes.
const PYTHON_SOURCES: &[&str] =
    &["pyproject.toml", "Cargo.toml", "Cargo.lock", "crates", "packaging", "python/crivo", "README.md"];

const INTERPRETER: &str = if cfg!(windows) { "python" } else { "python3" };

/// Returns an error with advice if Python is missing. The caller checks this before the Rust tests,
/// which take minutes.
pub(crate) fn require_python() -> Result<()> {
    for (module, package) in [("sys", "python3"), ("venv, ensurepip", "python3-venv")] {
        let there = Step::new(INTERPRETER, "-c").args([format!("import {module}")]).output().is_some();
        ensure!(
            there,
            "the tests of the Python package need {package}, which was not found\n  \
             on Debian and Ubuntu: sudo apt install {package}; elsewhere: https://www.python.org/downloads/\n  \
             to leave Python out: cargo xtask test --rust-only"
        );
    }
    Ok(())
}

/// The interpreter of the virtual environment in `target/venv`.
pub(crate) struct Python(PathBuf);

impl Python {
    /// `python -m …`
    pub(crate) fn module(&self, arguments: &str) -> Step {
        Step::new(&self.0, "-m").args(arguments.split_whitespace())
    }

    /// `python FILE …`
    pub(crate) fn script(&self, file: &Path) -> Step {
        Step::new(&self.0, "").args([file.as_os_str()])
    }

    /// `python -I FILE …`, which does not import the modules beside the file.
    pub(crate) fn isolated_script(&self, file: &Path) -> Step {
        Step::new(&self.0, "-I").args([file.as_os_str()])
    }

    /// `python -c CODE …`
    pub(crate) fn code(&self, code: &str) -> Step {
        Step::new(&self.0, "-c").args([code])
    }

    /// Returns a step that runs a program installed beside the interpreter. The program finds the
    /// interpreter as `python3`.
    pub(crate) fn program(&self, name: &str, arguments: &str) -> Step {
        let programs = self.0.parent().unwrap_or(&self.0);
        let path = std::env::var("PATH").unwrap_or_default();
        Step::new(programs.join(name), arguments).env("PATH", format!("{}:{path}", programs.display()))
    }

    pub(crate) fn has_module(&self, name: &str) -> bool {
        Step::new(&self.0, "-c").args([format!("import {name}")]).output().is_some()
    }
}

/// The oldest DuckDB that the extension is tested with, besides the one in the environment.
const OLDER_DUCKDB: &str = "duckdb==1.4.4";

/// Returns the folder with the older DuckDB, to be put on Python's path.
pub(crate) fn older_duckdb(python: &Python) -> Result<PathBuf> {
    let folder = target().join("duckdb-older");
    let stamp = folder.join("crivo-version");
    if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == OLDER_DUCKDB) {
        python
            .module("pip install --quiet --disable-pip-version-check --no-deps --upgrade --target")
            .args([folder.as_os_str()])
            .args([OLDER_DUCKDB])
            .run()?;
        fs::write(&stamp, OLDER_DUCKDB).with_context(|| format!("cannot write {}", stamp.display()))?;
    }
    Ok(folder)
}

/// Returns a virtual environment with the packages that a file lists.
pub(crate) fn python_with(folder: &Path, requirements: &Path) -> Result<Python> {
    let python = environment(folder)?;
    python
        .module("pip install --quiet --disable-pip-version-check -r")
        .args([requirements.as_os_str()])
        .or("pip fetches from PyPI: is there a network?")
        .run()?;
    Ok(python)
}

/// Returns the path of the program that the Rust tests have just built.
pub(crate) fn tested_program() -> PathBuf {
    target().join("debug/crivo").with_extension(std::env::consts::EXE_EXTENSION)
}

/// Returns the path of a copy of that program without debug information, which is most of its
/// bytes.
pub(crate) fn stripped_program() -> Result<PathBuf> {
    let (program, folder) = (tested_program(), target().join("tmp/stripped"));
    if !program.exists() {
        Step::cargo("build --package crivo-cli").run()?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let stripped = folder.join(program.file_name().unwrap_or_default());
    Step::new("strip", "-o")
        .args([&stripped, &program])
        .or("`strip` comes with every C compiler; on Debian: sudo apt install binutils")
        .run()?;
    Ok(stripped)
}

/// Returns a virtual environment with the Python package, built from these sources, and the
/// packages that its tests need.
pub(crate) fn python_with_crivo() -> Result<Python> {
    let folder = target().join("venv");
    let python = environment(&folder)?;
    let stamp = folder.join("crivo-sources");
    let sources = fingerprint(PYTHON_SOURCES)?;
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == sources) {
        return Ok(python);
    }
    let wheels = wheels();
    if wheels.exists() {
        fs::remove_dir_all(&wheels).with_context(|| format!("cannot empty {}", wheels.display()))?;
    }
    python
        .module("pip wheel --disable-pip-version-check --no-deps . --wheel-dir")
        .args([wheels.as_os_str()])
        // Reuses the program, because the wheel's own build of it would take minutes.
        .env("CRIVO_PROGRAM", stripped_program()?)
        // The profile of the Rust tests. They have built most dependencies already, and overflow is
        // checked.
        .env("MATURIN_PEP517_ARGS", "--profile dev --strip")
        .or("the lines above say what the build lacks; to leave Python out: cargo xtask test --rust-only")
        .run()?;
    let wheel = wheel_in(&wheels)?;
    let with_tests = format!("{}[test]", wheel.display());
    python.module("pip install --disable-pip-version-check").args([with_tests]).run()?;
    install_wheel(&python, &wheel)?;
    fs::write(&stamp, sources).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(python)
}

/// Returns the folder in which the package is built, once for all environments.
pub(crate) fn wheels() -> PathBuf {
    target().join("wheels")
}

/// Returns the only wheel in a folder.
pub(crate) fn wheel_in(folder: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .with_context(|| format!("no wheel was built in {}", folder.display()))
}

/// Installs a wheel even if its version is installed already, because the version stays the same
/// while the sources change.
fn install_wheel(python: &Python, wheel: &Path) -> Result<()> {
    python
        .module("pip install --quiet --disable-pip-version-check --no-deps --force-reinstall")
        .args([wheel.as_os_str()])
        .run()
}

// ---- Spark ----

/// The oldest Java that Spark 4 runs on.
const JAVA: u32 = 17;

const SPARK_REQUIREMENTS: &str = "python/tests/spark/requirements.txt";

/// Returns an error with advice if Java is missing or too old. The caller checks this before the
/// other tests, which take minutes.
pub(crate) fn require_java() -> Result<()> {
    let found = Step::new("java", "--version").output().and_then(|text| java_version(&text));
    let what = found.map_or("was not found".to_owned(), |version| format!("is Java {version} here"));
    ensure!(
        found.is_some_and(|version| version >= JAVA),
        "the tests on Spark need Java {JAVA} or later, which {what}\n  \
         on Debian and Ubuntu: sudo apt install openjdk-17-jre-headless; elsewhere: https://adoptium.net\n  \
         to leave Spark out: cargo xtask test --no-spark"
    );
    Ok(())
}

/// Returns the major version in a text such as `openjdk 17.0.15 2025-04-15`.
fn java_version(text: &str) -> Option<u32> {
    let number = text.split_whitespace().nth(1)?;
    number.split(['.', '-', '+']).next()?.parse().ok()
}

/// Returns a virtual environment with Spark and the wheel that [`python_with_crivo`] has built. It
/// is a separate one, because Spark does not work with the newest versions of other packages that
/// crivo works with.
pub(crate) fn python_with_spark() -> Result<Python> {
    let folder = target().join("venv-spark");
    let python = environment(&folder)?;
    let requirements = folder.join("crivo-requirements");
    let wanted = fingerprint(&[SPARK_REQUIREMENTS])?;
    if !fs::read_to_string(&requirements).is_ok_and(|installed| installed == wanted) {
        python
            .module("pip install --disable-pip-version-check -r")
            .args([SPARK_REQUIREMENTS])
            .or("Spark is some 500 MB; to leave it out: cargo xtask test --no-spark")
            .run()?;
        fs::write(&requirements, wanted)
            .with_context(|| format!("cannot write {}", requirements.display()))?;
    }
    let stamp = folder.join("crivo-sources");
    let sources = fingerprint(PYTHON_SOURCES)?;
    if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == sources) {
        install_wheel(&python, &wheel_in(&wheels())?)?;
        fs::write(&stamp, sources).with_context(|| format!("cannot write {}", stamp.display()))?;
    }
    Ok(python)
}

/// Returns an empty virtual environment. Makes it if it does not exist.
pub(crate) fn environment(folder: &Path) -> Result<Python> {
    let python = Python(folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }));
    if !python.has_module("pip") {
        // `--clear` also replaces a folder that an interrupted run left incomplete.
        Step::new(INTERPRETER, "-m venv --clear")
            .args([folder.as_os_str()])
            .or("on Debian and Ubuntu: sudo apt install python3-venv")
            .run()?;
    }
    Ok(python)
}

/// Returns a hash of the names and contents of files and folders. Missing ones count too.
fn fingerprint(paths: &[&str]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    let mut waiting: Vec<PathBuf> = paths.iter().rev().map(|path| root().join(path)).collect();
    while let Some(path) = waiting.pop() {
        path.hash(&mut hasher);
        if path.is_dir() {
            let mut inside = fs::read_dir(&path)
                .and_then(|entries| {
                    entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()
                })
                .with_context(|| format!("cannot list {}", path.display()))?;
            inside.sort();
            // Python writes its caches while the tests run. They are not sources.
            inside.retain(|path| !path.ends_with("__pycache__"));
            waiting.extend(inside);
        } else {
            fs::read(&path).ok().hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_says_its_version() {
        assert_eq!(java_version("openjdk 17.0.15 2025-04-15\nOpenJDK Runtime"), Some(17));
        assert_eq!(java_version("java 21 2023-09-19 LTS"), Some(21));
        assert_eq!(java_version("openjdk 25-ea 2025-09-16"), Some(25));
        assert_eq!(java_version("no java here"), None);
    }

    #[test]
    fn fingerprint_sees_contents_and_presence() {
        let folder = target().join("tmp/xtask-fingerprint");
        fs::create_dir_all(&folder).unwrap();
        let (file, name) = (folder.join("file"), "target/tmp/xtask-fingerprint");
        fs::write(&file, "one").unwrap();
        let one = fingerprint(&[name]).unwrap();
        assert_eq!(fingerprint(&[name]).unwrap(), one);
        fs::write(&file, "two").unwrap();
        let two = fingerprint(&[name]).unwrap();
        fs::remove_file(&file).unwrap();
        assert!(one != two && fingerprint(&[name]).unwrap() != two);
        assert!(fingerprint(&["no/such/file"]).is_ok());
    }
}
