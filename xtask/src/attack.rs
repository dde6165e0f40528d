//! `cargo xtask attack`: is there a file that makes the program panic, hang, take too much memory, or contradict itself?
//!
//! Each case takes a small valid file, changes it, and gives it to a command in a process of its own, with limits of
//! memory and time. A case passes if the program answers or refuses with a message. Where two commands count the
//! rows of one file, they must agree. A finding is kept with the command that repeats it.
//!
//! [`mutate`] has the changes, [`seeds`] the files and commands.

mod mutate;
mod seeds;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;

use self::mutate::Random;
use self::seeds::{Seed, Seeds};
use crate::shell::{Step, root, target};
use crate::test::random_seed;

/// Memory of each run, in KiB: of addresses, so that what is reserved counts.
const MOST_KIBIBYTES: u64 = 1 << 20;
/// A run that takes more seconds of the processor is a finding.
const MOST_SECONDS: u64 = 5;
/// So is one that waits for ever. Longer than the above, because a machine may have other things to do.
const SLOWEST: Duration = Duration::from_secs(60);
/// How long a run is waited for before looking again.
const GLANCE: Duration = Duration::from_micros(500);
/// More findings than this are the same few over and over.
const MOST_FINDINGS: usize = 50;

/// How much to try.
#[derive(Debug, Clone, Copy)]
struct Effort {
    cases: u64,
    time: Option<Duration>,
    seed: u64,
    threads: Option<usize>,
}

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let mut effort = Effort { cases: 10_000, time: None, seed: random_seed().parse()?, threads: None };
    let (mut program, mut kind) = (None, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("cases") => effort.cases = arguments.value()?.parse()?,
            Long("seconds") => effort.time = Some(Duration::from_secs(arguments.value()?.parse()?)),
            Long("seed") => effort.seed = arguments.value()?.parse()?,
            Long("threads") => effort.threads = Some(arguments.value()?.parse()?),
            Long("program") => program = Some(PathBuf::from(arguments.value()?)),
            Long("kind") => kind = Some(arguments.value()?.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let program = if let Some(program) = program {
        program.canonicalize().with_context(|| format!("{}", program.display()))?
    } else {
        Step::cargo("build --workspace --bin crivo").run()?;
        built_program()
    };
    attack(&program, effort, kind.as_deref())
}

/// About a minute of it, with the program as the tests have built it.
pub(crate) fn smoke(seed: u64) -> Result<()> {
    let effort = Effort { cases: u64::MAX, time: Some(Duration::from_secs(60)), seed, threads: None };
    attack(&built_program(), effort, None)
}

fn built_program() -> PathBuf {
    target().join("debug/crivo").with_extension(std::env::consts::EXE_EXTENSION)
}

fn attack(program: &Path, effort: Effort, kind: Option<&str>) -> Result<()> {
    ensure!(cfg!(unix), "the limits of memory are set by a shell's ulimit: run this on a Unix system");
    let folder = target().join("attack");
    let findings = folder.join("findings");
    fs::create_dir_all(&findings)?;
    let seeds = Seeds::prepare(program, &folder.join("seeds"), kind)?;
    println!("\nSeed of the attack: {}; {} files to begin with", effort.seed, seeds.len());
    let attacker = Attacker {
        program,
        seeds: &seeds,
        effort,
        began: Instant::now(),
        next: AtomicU64::new(0),
        runs: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
        findings: Mutex::new(Vec::new()),
        folder: &findings,
    };
    let threads = effort.threads.unwrap_or(std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                scope.spawn({
                    let attacker = &attacker;
                    move || attacker.work(number)
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(outcome) => outcome,
            Err(_) => bail!("a thread of the attack panicked"),
        })
    })?;
    let runs = attacker.runs.load(Ordering::Relaxed);
    let found = attacker.findings.into_inner().unwrap_or_default();
    if found.is_empty() {
        println!("No finding in {runs} runs, seed {}", effort.seed);
        return Ok(());
    }
    bail!("{} findings in {runs} runs, seed {}:\n{}", found.len(), effort.seed, found.join("\n"))
}

/// What the threads of an attack share.
struct Attacker<'a> {
    program: &'a Path,
    seeds: &'a Seeds,
    effort: Effort,
    began: Instant,
    next: AtomicU64,
    runs: AtomicU64,
    stopped: AtomicBool,
    findings: Mutex<Vec<String>>,
    folder: &'a Path,
}

/// How a run ended.
enum Ending {
    /// With an answer or a refusal: what it printed.
    Fair(Output),
    /// In a way that is a finding.
    Foul(String),
}

impl Attacker<'_> {
    fn work(&self, thread: usize) -> Result<()> {
        let place = self.folder.with_file_name(format!("worker-{thread}"));
        fs::create_dir_all(&place)?;
        while !self.stopped.load(Ordering::Relaxed) {
            let case = self.next.fetch_add(1, Ordering::Relaxed);
            if case >= self.effort.cases || self.effort.time.is_some_and(|time| self.began.elapsed() > time) {
                break;
            }
            self.try_case(case, &place)?;
        }
        Ok(())
    }

    /// One mutant and the commands that belong to its kind. Depends on the seed and the number of the case only.
    fn try_case(&self, case: u64, place: &Path) -> Result<()> {
        let mut random = Random::new(self.effort.seed ^ case.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let seed = self.seeds.pick(&mut random);
        let mutant = seed.mutate(&mut random);
        let file = seed.place_in(place, &mutant)?;
        let mut rows: Vec<(String, u64)> = Vec::new();
        for arguments in seed.commands(&mut random) {
            self.runs.fetch_add(1, Ordering::Relaxed);
            match self.run_program(&arguments, &file, place)? {
                Ending::Foul(what) => self.keep(case, seed, &mutant, &arguments, &what)?,
                Ending::Fair(output) => {
                    rows.extend(seed.rows_in(&arguments, &output).map(|rows| (arguments.join(" "), rows)));
                }
            }
        }
        if let [(first, rows), .., (last, others)] = rows.as_slice()
            && rows != others
        {
            let what = format!("`{first}` found {rows} rows and `{last}` {others}");
            self.keep(case, seed, &mutant, std::slice::from_ref(last), &what)?;
        }
        Ok(())
    }

    /// Runs the program with limits. `{}` among the arguments stands for the file.
    fn run_program(&self, arguments: &[String], file: &Path, folder: &Path) -> Result<Ending> {
        let limited =
            format!("ulimit -v {MOST_KIBIBYTES}; ulimit -t {MOST_SECONDS}; ulimit -c 0; exec \"$0\" \"$@\"");
        let (out, err) = (folder.join("stdout"), folder.join("stderr"));
        let mut child = Command::new("sh")
            .args(["-c", &limited])
            .arg(self.program)
            .args(arguments.iter().map(|argument| argument.replace("{}", &file.to_string_lossy())))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out)?)
            .stderr(fs::File::create(&err)?)
            .spawn()
            .context("the program could not be started")?;
        let deadline = Instant::now() + SLOWEST;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                child.kill()?;
                child.wait()?;
                return Ok(Ending::Foul(format!("took longer than {} seconds", SLOWEST.as_secs())));
            }
            std::thread::sleep(GLANCE);
        };
        let output = Output { status, stdout: fs::read(&out)?, stderr: fs::read(&err)? };
        let said = String::from_utf8_lossy(&output.stderr);
        Ok(match status.code() {
            None => Ending::Foul(format!("was ended by a signal ({status}): {}", last_line(&said))),
            Some(0..=3) if said.contains("panicked at") => {
                Ending::Foul(format!("panicked: {}", last_line(&said)))
            }
            // Of a message, 2 is an answer: unsure.
            Some(2) if said.trim().is_empty() && output.stdout.is_empty() => {
                Ending::Foul("refused without a word".into())
            }
            Some(0..=3) => Ending::Fair(output),
            Some(code) => Ending::Foul(format!("ended with the code {code}: {}", last_line(&said))),
        })
    }

    /// Keeps the mutant and how to repeat the run.
    fn keep(&self, case: u64, seed: &Seed, mutant: &[u8], arguments: &[String], what: &str) -> Result<()> {
        let place = self.folder.join(format!("{}-{case}", self.effort.seed));
        fs::create_dir_all(&place)?;
        let file = seed.place_in(&place, mutant)?;
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        let command = arguments.join(" ").replace("{}", &shown);
        let line =
            format!("  {what}\n    (ulimit -v {MOST_KIBIBYTES}; ulimit -t {MOST_SECONDS}; crivo {command})");
        fs::write(place.join("repeat.txt"), format!("{line}\n"))?;
        let mut findings = self.findings.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        println!("{line}");
        findings.push(line);
        if findings.len() >= MOST_FINDINGS {
            self.stopped.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or("it said nothing")
}
