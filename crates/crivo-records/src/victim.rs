//! For tests: what does a process leave behind that is killed while it writes?
//!
//! The process is the test program itself, started again for one of its tests. An environment
//! variable tells it to be the victim; without it that test does nothing. A victim
//! [reports](report) what it has done, and the test that killed it relies on these reports only.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const VICTIM: &str = "CRIVO_VICTIM";
const REPORT: &str = "done: ";

/// Returns the folder to write to until killed, or `None` if this process is not a victim.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os(VICTIM).map(PathBuf::from)
}

/// Reports how much has been done so far.
pub fn report(done: u64) -> io::Result<()> {
    let mut output = io::stdout();
    // The name of the test may be on the current line already.
    writeln!(output, "\n{REPORT}{done}")?;
    output.flush()
}

/// Starts the test as a victim, kills it after some time, and returns the last report. If
/// `after_report` is set, the time counts from the first report.
pub fn kill(test: &str, folder: &Path, time: Duration, after_report: bool) -> io::Result<Option<u64>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--exact", test, "--nocapture"])
        .env(VICTIM, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let lines = child.stdout.take().into_iter().flat_map(|output| BufReader::new(output).lines());
    let mut reports = lines.map_while(Result::ok).filter_map(|line| line.strip_prefix(REPORT)?.parse().ok());
    let first = if after_report { reports.next() } else { None };
    std::thread::sleep(time);
    child.kill()?;
    child.wait()?;
    Ok(reports.last().or(first))
}
