//! `cargo xtask attack`: is there a file that makes the program panic, hang, take too much memory,
//! or contradict itself?
//!
//! Each case takes a small valid file and changes it. One case in eight (`--commands`) passes it to
//! a command in a process of its own. The others pass it to the same library calls in a worker,
//! which is much quicker. Both have limits of memory and time. A case passes if the program answers
//! or refuses with a message. If two commands count the rows of one file, their counts must agree.
//! A finding is stored with the command that repeats it.
//!
//! [`mutate`] and [`fitting`] make the changes, [`seeds`] has the files and commands, and
//! [`worker`] runs the library calls.

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

/// The limit of memory of each run, in KiB. It limits address space, so reserved memory counts too.
const MOST_KIBIBYTES: u64 = 1 << 20;
/// The limit of a run's processor time in seconds. A run that takes longer is a finding.
const MOST_SECONDS: u64 = 5;
/// The pause between two checks of whether a run has ended.
const GLANCE: Duration = Duration::from_micros(500);
/// The limit of pauses, at least a minute. A run that has not ended by then is taken to hang.
/// Pauses are counted instead of time, so that a machine that was asleep causes no finding.
const MOST_GLANCES: u32 = 120_000;
/// The number of findings that ends the attack, because more would repeat the same few.
const MOST_FINDINGS: usize = 50;

/// The extent of an attack.
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
    /// The program that is attacked.
    crivo: PathBuf,
    /// Reads mutants by the same library calls as the program.
    worker: PathBuf,
    /// Writes the valid files that mutants are made from.
    seeds: PathBuf,
}

impl Programs {
    /// Builds the programs with the same features as the tests, so that little is left to build.
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

/// The number of cases of [`smoke`]. It is fixed, so that the same seed makes the same attack on
/// every machine.
const SMOKE_CASES: u64 = 20_000;

/// Attacks for less than a minute the program that the tests have built.
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

/// The number of runs on files of one kind, as commands and as tasks of a worker.
#[derive(Debug, Default)]
struct Runs {
    commands: AtomicU64,
    tasks: AtomicU64,
}

/// The data that the threads of an attack share.
struct Attacker<'a> {
    programs: &'a Programs,
    seeds: &'a Seeds,
    effort: Effort,
    began: Instant,
    next: AtomicU64,
    /// The number of runs of each kind, in the order of [`Kind::ALL`].
    runs: [Runs; Kind::ALL.len()],
    stopped: AtomicBool,
    findings: Mutex<Vec<String>>,
    folder: &'a Path,
}

/// How a run ended.
enum Ending {
    /// The program answered or refused with a message. Has its output.
    Fair(Output),
    /// The run is a finding. Has the reason.
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

    /// Makes one mutant and runs the commands of its kind. The result depends only on the seed and
    /// the number of the case.
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

    /// Runs the program with limits. `{}` in the arguments is replaced by the path of the file.
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
            // For a message, the exit code 2 is an answer: unsure.
            Some(2) if said.trim().is_empty() && output.stdout.is_empty() => {
                Ending::Foul("refused without a word".into())
            }
            Some(0..=3) => Ending::Fair(output),
            Some(code) => Ending::Foul(format!("ended with the code {code}: {}", last_words(&said))),
        })
    }

    /// Stores a mutant on which a command failed, and how to repeat the run.
    fn keep(&self, case: u64, seed: &Seed, mutant: &[u8], arguments: &[String], what: &str) -> Result<()> {
        let command = format!("ulimit -t {MOST_SECONDS}; crivo {}", arguments.join(" "));
        self.keep_with(case, seed, mutant, &command, what)
    }

    /// Stores a mutant on which a task of the worker failed.
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

    /// Prints the number of runs for each kind of files, and returns the sum.
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

/// Returns where a program panicked and why, or the last line of its output if it did not panic.
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
