//! `cargo xtask attack`: is there a file that makes the program panic, hang, take too much memory,
//! or contradict itself?
//!
//! Each case takes a small valid file and changes it. One case in eight (`--commands`) gives it to
//! a command in a process of its own; the others give it to the same library calls in a worker,
//! which is much quicker. Both have limits of memory and time. A case passes if the program answers
//! or refuses with a message. Where two commands count the rows of one file, they must agree. A
//! finding is kept with the command that repeats it.
//!
//! [`mutate`] and [`fitting`] have the changes, [`seeds`] the files and commands, [`worker`] the
//! quick way.

mod fitting;
mod mutate;
mod seeds;
mod worker;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;

use self::mutate::Random;
use self::seeds::{Kind, Seed, Seeds};
use self::worker::Worker;
use crate::shell::{Step, root, target};
use crate::test::random_seed;

/// Memory of each run, in KiB: of addresses, so that what is reserved counts.
const MOST_KIBIBYTES: u64 = 1 << 20;
/// A run that takes more seconds of the processor is a finding.
const MOST_SECONDS: u64 = 5;
/// How long a run is waited for before looking again.
const GLANCE: Duration = Duration::from_micros(500);
/// A run that is still there after this number of glances, at least a minute, waits for ever.
/// Glances are counted and not time, so that a machine that was asleep is no finding.
const MOST_GLANCES: u32 = 120_000;
/// More findings than this are the same few over and over.
const MOST_FINDINGS: usize = 50;

/// How much to try.
#[derive(Debug, Clone, Copy)]
struct Effort {
    cases: u64,
    time: Option<Duration>,
    seed: u64,
    threads: Option<usize>,
    /// One case in this many is run as a whole command.
    commands: usize,
}

impl Effort {
    fn of(cases: u64, seed: u64) -> Self {
        Self { cases, time: None, seed, threads: None, commands: 8 }
    }
}

/// The programs of an attack.
#[derive(Debug)]
struct Programs {
    /// What is attacked.
    crivo: PathBuf,
    /// What reads mutants by the library calls of the program.
    worker: PathBuf,
    /// What writes files to begin with.
    seeds: PathBuf,
}

impl Programs {
    /// Builds them with the features that the tests have built everything with, so that little is
    /// left to build.
    fn build() -> Result<Self> {
        Step::cargo("build --workspace --bin crivo --example attack_worker --example attack_seeds").run()?;
        let built =
            |name: &str| target().join("debug").join(name).with_extension(std::env::consts::EXE_EXTENSION);
        Ok(Self {
            crivo: built("crivo"),
            worker: built("examples/attack_worker"),
            seeds: built("examples/attack_seeds"),
        })
    }
}

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let mut effort = Effort::of(10_000, random_seed().parse()?);
    let (mut program, mut kind) = (None, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("cases") => effort.cases = arguments.value()?.parse()?,
            Long("seconds") => effort.time = Some(Duration::from_secs(arguments.value()?.parse()?)),
            Long("seed") => effort.seed = arguments.value()?.parse()?,
            Long("threads") => effort.threads = Some(arguments.value()?.parse()?),
            Long("commands") => effort.commands = arguments.value()?.parse()?,
            Long("program") => program = Some(PathBuf::from(arguments.value()?)),
            Long("kind") => kind = Some(arguments.value()?.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let mut programs = Programs::build()?;
    if let Some(program) = program {
        programs.crivo = program.canonicalize().with_context(|| format!("{}", program.display()))?;
    }
    attack(&programs, effort, kind.as_deref())
}

/// The cases of [`smoke`]. A fixed number, so that the same seed makes the same attack on every
/// machine.
const SMOKE_CASES: u64 = 20_000;

/// Less than a minute of it, with the program as the tests have built it.
pub(crate) fn smoke(seed: u64) -> Result<()> {
    let effort = Effort { time: Some(Duration::from_secs(50)), ..Effort::of(SMOKE_CASES, seed) };
    attack(&Programs::build()?, effort, None)
}

fn attack(programs: &Programs, effort: Effort, kind: Option<&str>) -> Result<()> {
    ensure!(cfg!(unix), "the limits of memory are set by a shell's ulimit: run this on a Unix system");
    let folder = target().join("attack");
    let findings = folder.join("findings");
    fs::create_dir_all(&findings)?;
    let seeds = Seeds::prepare(programs, &folder.join("seeds"), kind)?;
    println!("\nSeed of the attack: {}; {} files to begin with", effort.seed, seeds.len());
    let attacker = Attacker {
        programs,
        seeds: &seeds,
        effort,
        began: Instant::now(),
        next: AtomicU64::new(0),
        runs: Kind::ALL.map(|_| Runs::default()),
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
    let runs = attacker.print_runs();
    let found = attacker.findings.into_inner().unwrap_or_default();
    if found.is_empty() {
        println!("No finding in {runs} runs, seed {}", effort.seed);
        return Ok(());
    }
    bail!("{} findings in {runs} runs, seed {}:\n{}", found.len(), effort.seed, found.join("\n"))
}

/// The number of runs on files of one kind.
#[derive(Debug, Default)]
struct Runs {
    commands: AtomicU64,
    tasks: AtomicU64,
}

/// What the threads of an attack share.
struct Attacker<'a> {
    programs: &'a Programs,
    seeds: &'a Seeds,
    effort: Effort,
    began: Instant,
    next: AtomicU64,
    /// By kind, in the order of [`Kind::ALL`].
    runs: [Runs; Kind::ALL.len()],
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
        let mut worker = Worker::new(&self.programs.worker, &place);
        while !self.stopped.load(Ordering::Relaxed) {
            let case = self.next.fetch_add(1, Ordering::Relaxed);
            if case >= self.effort.cases || self.effort.time.is_some_and(|time| self.began.elapsed() > time) {
                break;
            }
            self.try_case(case, &place, &mut worker)?;
        }
        Ok(())
    }

    /// One mutant and the commands that belong to its kind. Depends on the seed and the number of
    /// the case only.
    fn try_case(&self, case: u64, place: &Path, worker: &mut Worker) -> Result<()> {
        let mut random = Random::new(self.effort.seed ^ case.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let seed = self.seeds.pick(&mut random);
        let mutant = seed.mutate(&mut random);
        let file = seed.place_in(place, &mutant)?;
        let runs = &self.runs[seed.kind() as usize];
        if !seed.has_commands() || !random.one_in(self.effort.commands) {
            runs.tasks.fetch_add(1, Ordering::Relaxed);
            return match worker.perform(seed.task(), &file)? {
                Some(what) => self.keep_task(case, seed, &mutant, &what),
                None => Ok(()),
            };
        }
        let mut rows: Vec<(String, u64)> = Vec::new();
        for arguments in seed.commands(&mut random) {
            runs.commands.fetch_add(1, Ordering::Relaxed);
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
            .arg(&self.programs.crivo)
            .args(arguments.iter().map(|argument| argument.replace("{}", &file.to_string_lossy())))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out)?)
            .stderr(fs::File::create(&err)?)
            .spawn()
            .context("the program could not be started")?;
        let mut glances = 0;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if glances > MOST_GLANCES {
                child.kill()?;
                child.wait()?;
                return Ok(Ending::Foul("waited for more than a minute".into()));
            }
            glances += 1;
            std::thread::sleep(GLANCE);
        };
        let output = Output { status, stdout: fs::read(&out)?, stderr: fs::read(&err)? };
        let said = String::from_utf8_lossy(&output.stderr);
        Ok(match status.code() {
            None => Ending::Foul(format!("was ended by a signal ({status}): {}", last_words(&said))),
            Some(0..=3) if said.contains("panicked at") => {
                Ending::Foul(format!("panicked: {}", last_words(&said)))
            }
            // Of a message, 2 is an answer: unsure.
            Some(2) if said.trim().is_empty() && output.stdout.is_empty() => {
                Ending::Foul("refused without a word".into())
            }
            Some(0..=3) => Ending::Fair(output),
            Some(code) => Ending::Foul(format!("ended with the code {code}: {}", last_words(&said))),
        })
    }

    /// Keeps a mutant on which a command was foul, and how to repeat the run.
    fn keep(&self, case: u64, seed: &Seed, mutant: &[u8], arguments: &[String], what: &str) -> Result<()> {
        let command = format!("ulimit -t {MOST_SECONDS}; crivo {}", arguments.join(" "));
        self.keep_with(case, seed, mutant, &command, what)
    }

    /// Keeps a mutant on which a task of the worker was foul.
    fn keep_task(&self, case: u64, seed: &Seed, mutant: &[u8], what: &str) -> Result<()> {
        let worker = &self.programs.worker;
        let worker = worker.strip_prefix(root()).unwrap_or(worker).display();
        self.keep_with(case, seed, mutant, &format!("{worker} {} {{}}", seed.task()), what)
    }

    fn keep_with(&self, case: u64, seed: &Seed, mutant: &[u8], command: &str, what: &str) -> Result<()> {
        let place = self.folder.join(format!("{}-{case}", self.effort.seed));
        fs::create_dir_all(&place)?;
        let file = seed.place_in(&place, mutant)?;
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        let line = format!("  {what}\n    (ulimit -v {MOST_KIBIBYTES}; {})", command.replace("{}", &shown));
        fs::write(place.join("repeat.txt"), format!("{line}\n"))?;
        let mut findings = self.findings.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        println!("{line}");
        findings.push(line);
        if findings.len() >= MOST_FINDINGS {
            self.stopped.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Prints how often files of each kind were read, and returns the sum.
    fn print_runs(&self) -> u64 {
        println!("{:<12} {:>10} {:>10}", "kind", "commands", "tasks");
        let mut sum = 0;
        for ((_, name), runs) in Kind::ALL.iter().zip(&self.runs) {
            let (commands, tasks) =
                (runs.commands.load(Ordering::Relaxed), runs.tasks.load(Ordering::Relaxed));
            println!("{name:<12} {commands:>10} {tasks:>10}");
            sum += commands + tasks;
        }
        sum
    }
}

/// What a program said at its end: where it panicked and why, or its last line.
fn last_words(text: &str) -> String {
    let mut lines = text.trim_end().lines().skip_while(|line| !line.contains("panicked at"));
    match (lines.next(), lines.next()) {
        (Some(place), Some(reason)) => format!("{place} {reason}"),
        _ => text.trim_end().lines().last().unwrap_or("it said nothing").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_by_its_place_and_reason() {
        let text = "some words\nthread 'main' panicked at a.rs:1:2:\nindex out of bounds\nnote: run with\n";
        assert_eq!(last_words(text), "thread 'main' panicked at a.rs:1:2: index out of bounds");
        assert_eq!(last_words("one\ntwo\n"), "two");
        assert_eq!(last_words(""), "it said nothing");
    }
}
