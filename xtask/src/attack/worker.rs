//! A process that reads one mutant after another. It is started again if a mutant ends it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};

use super::{MOST_KIBIBYTES, last_words};

/// The exit code of a worker whose task exceeded its time limit.
const TOO_SLOW: i32 = 124;

/// A worker process, which is started when it is needed.
pub(super) struct Worker {
    program: PathBuf,
    folder: PathBuf,
    process: Option<Process>,
}

struct Process {
    child: Child,
    tasks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Returns a worker that will run in `folder`.
    pub(super) fn new(program: &Path, folder: &Path) -> Self {
        Self { program: program.to_path_buf(), folder: folder.to_path_buf(), process: None }
    }

    /// Performs a task on a file. Returns the reason if the result is a finding.
    pub(super) fn perform(&mut self, task: &str, file: &Path) -> Result<Option<String>> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.start()?,
        };
        let mut answer = String::new();
        writeln!(process.tasks, "{task}\t{}", file.display())
            .and_then(|()| process.tasks.flush())
            .and_then(|()| process.answers.read_line(&mut answer).map(drop))
            .or_else(|error| match error.kind() {
                std::io::ErrorKind::BrokenPipe => Ok(()),
                _ => Err(error),
            })?;
        if answer.is_empty() {
            let status = process.child.wait()?;
            let said = fs::read(self.folder.join("worker-stderr"))?;
            let said = String::from_utf8_lossy(&said);
            return Ok(Some(match status.code() {
                Some(TOO_SLOW) => "took too long".into(),
                _ => format!("ended the worker ({status}): {}", last_words(&said)),
            }));
        }
        self.process = Some(process);
        Ok(answer.starts_with("contradiction").then(|| answer.trim_end().into()))
    }

    fn start(&self) -> Result<Process> {
        let limited = format!("ulimit -v {MOST_KIBIBYTES}; ulimit -c 0; exec \"$0\"");
        let mut child = Command::new("sh")
            .args(["-c", &limited])
            .arg(&self.program)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(self.folder.join("worker-stderr"))?)
            .spawn()
            .context("the worker could not be started")?;
        let (tasks, answers) = (child.stdin.take(), child.stdout.take());
        let (tasks, answers) = tasks.zip(answers).context("the worker has no pipes")?;
        Ok(Process { child, tasks, answers: BufReader::new(answers) })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(Process { mut child, tasks, .. }) = self.process.take() {
            // The worker ends when its input is closed.
            drop(tasks);
            let _ = child.wait();
        }
    }
}
