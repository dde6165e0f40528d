//! Runs commands from the root of the repository. Each is printed first, and a failure stops the
//! caller.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

/// Returns the root of the repository: the folder above this crate.
pub(crate) fn root() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.parent().unwrap_or(crate_folder)
}

/// Returns the folder for everything that is built or installed for development.
pub(crate) fn target() -> PathBuf {
    root().join("target")
}

/// A command that runs from the root of the repository, with advice that is printed if it fails.
pub(crate) struct Step {
    command: Command,
    shown: String,
    advice: String,
}

impl Step {
    /// Returns a command with its arguments, which are split at blanks.
    pub(crate) fn new(program: impl AsRef<OsStr>, arguments: &str) -> Self {
        let mut command = Command::new(&program);
        command.current_dir(root());
        let shown = shorten(program.as_ref());
        Self { command, shown, advice: String::new() }.args(arguments.split_whitespace())
    }

    /// Returns a command of the cargo that runs this program, so that the toolchain is the same.
    pub(crate) fn cargo(arguments: &str) -> Self {
        let mut step = Self::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), arguments);
        step.shown = format!("cargo {arguments}");
        // The outer cargo sets these for this program's own package. They must not reach another
        // build.
        for (name, _) in std::env::vars_os() {
            if name
                .to_str()
                .is_some_and(|name| name.starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR")
            {
                step.command.env_remove(name);
            }
        }
        step
    }

    /// Adds arguments, each as it is, without splitting.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        for argument in arguments {
            self.shown.push(' ');
            self.shown.push_str(&shorten(argument.as_ref()));
            self.command.arg(argument);
        }
        self
    }

    /// Sets a variable of the command's environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.shown = format!("{name}={} {}", quoted(&value.as_ref().to_string_lossy()), self.shown);
        self.command.env(name, value);
        self
    }

    /// Sets the advice that is printed if the command fails.
    pub(crate) fn or(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// Prints the command and runs it. Its output goes to this program's output.
    pub(crate) fn run(mut self) -> Result<()> {
        eprintln!("\n$ {}", self.shown);
        let status = self.command.status().with_context(|| self.cannot_start())?;
        self.judge(status)
    }

    /// Like [`run`](Self::run), but shows the command's output only if it fails.
    pub(crate) fn run_quietly(mut self) -> Result<()> {
        eprintln!("\n$ {}", self.shown);
        let output = self.command.stdin(Stdio::null()).output().with_context(|| self.cannot_start())?;
        if !output.status.success() {
            eprint!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        }
        self.judge(output.status)
    }

    /// Prints the command and runs it. While its error output says that another process holds a
    /// lock, repeats it until `limit` has passed.
    pub(crate) fn run_when_unlocked(mut self, limit: Duration) -> Result<()> {
        eprintln!("\n$ {}", self.shown);
        let deadline = Instant::now() + limit;
        loop {
            let output =
                self.command.stderr(Stdio::piped()).spawn().and_then(std::process::Child::wait_with_output);
            let output = output.with_context(|| self.cannot_start())?;
            let errors = String::from_utf8_lossy(&output.stderr);
            if output.status.success() || !is_locked(&errors) || Instant::now() >= deadline {
                eprint!("{errors}");
                return self.judge(output.status);
            }
            eprintln!("another process holds the package manager's lock: waiting for it");
            sleep(LOCK_PAUSE);
        }
    }

    /// Like [`run`](Self::run), but kills the command and returns an error after `limit`.
    pub(crate) fn run_within(mut self, limit: Duration) -> Result<()> {
        eprintln!("\n$ {}", self.shown);
        let mut child = self.command.stdin(Stdio::null()).spawn().with_context(|| self.cannot_start())?;
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if let Some(status) = child.try_wait()? {
                return self.judge(status);
            }
            sleep(Duration::from_millis(50));
        }
        child.kill()?;
        child.wait()?;
        bail!("`{}` took longer than {} seconds", self.shown, limit.as_secs())
    }

    /// Returns the command's output, or `None` if it cannot be started or fails. Prints nothing.
    pub(crate) fn output(mut self) -> Option<String> {
        let output = self.command.stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn judge(self, status: ExitStatus) -> Result<()> {
        // The status tells a command that failed from one that a signal ended.
        match (status.success(), self.advice.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => Err(anyhow!("`{}` failed ({status})", self.shown)),
            (false, false) => Err(anyhow!("`{}` failed ({status})\n  {}", self.shown, self.advice)),
        }
    }

    fn cannot_start(&self) -> String {
        format!("`{}` could not be started", self.shown)
    }
}

/// Returns a command that only root may run. It goes through sudo unless this process is root's.
pub(crate) fn as_root(program: &str, arguments: &str) -> Step {
    let is_root = Step::new("id", "-u").output().is_some_and(|id| id.trim() == "0");
    if is_root {
        Step::new(program, arguments)
    } else {
        // `-n` makes sudo fail instead of asking for a password. The question would look like a
        // hang.
        Step::new("sudo", "-n").args([program]).args(arguments.split_whitespace())
    }
}

/// The pause before a command that met a lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_secs(3);

/// Returns true if a package manager says that another process holds its lock.
fn is_locked(errors: &str) -> bool {
    ["Could not get lock", "Unable to acquire the dpkg frontend lock", "Unable to lock directory"]
        .iter()
        .any(|sign| errors.contains(sign))
}

/// Makes a path inside the repository relative to its root, so that the printed command can be
/// typed there.
fn shorten(argument: &OsStr) -> String {
    let inside = Path::new(argument).strip_prefix(root()).unwrap_or(Path::new(argument));
    quoted(&inside.to_string_lossy())
}

fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:+,@".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_command_can_be_typed_at_the_root() {
        let step = Step::new("pip", "install")
            .args([root().join("target/x").into_os_string(), ".[test]".into(), "it's".into()])
            .env("FLAGS", "-D warnings");
        assert_eq!(step.shown, r"FLAGS='-D warnings' pip install target/x '.[test]' 'it'\''s'");
    }

    #[test]
    fn failure_names_the_command_and_the_advice() {
        let error = Step::cargo("no-such-verb").or("do this").run().unwrap_err().to_string();
        assert_eq!(error, "`cargo no-such-verb` failed (exit status: 101)\n  do this");
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_was_stopped_is_told_from_one_that_failed() {
        let error = Step::new("sh", "-c").args(["kill -TERM $$"]).run().unwrap_err().to_string();
        assert!(error.contains("signal: 15"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_held_lock_is_waited_for() {
        let marker = target().join("tmp/xtask-lock");
        std::fs::create_dir_all(target().join("tmp")).unwrap();
        let _ = std::fs::remove_file(&marker);
        // The lock is held at the first run and free at the second.
        let script = format!(
            "test -e {0} && exit 0; touch {0}; echo 'E: Could not get lock /x' >&2; exit 100",
            marker.display()
        );
        let locked = || Step::new("sh", "-c").args([script.clone()]);
        assert!(locked().run_when_unlocked(Duration::ZERO).is_err());
        std::fs::remove_file(&marker).unwrap();
        locked().run_when_unlocked(Duration::from_secs(60)).unwrap();
        let other = Step::new("sh", "-c").args(["echo broken >&2; exit 1"]);
        assert!(other.run_when_unlocked(Duration::from_secs(60)).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_hangs_is_given_up() {
        let error = Step::new("sleep", "60").run_within(Duration::from_millis(100)).unwrap_err();
        assert!(error.to_string().contains("took longer"), "{error}");
    }
}
