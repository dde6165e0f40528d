//! A few thousand drawn inputs for every target.
//!
//! The search itself is `cargo xtask fuzz`, which takes a build with coverage. Inputs that are
//! drawn without it find less, but they keep every target able to run and find what breaks on the
//! first few inputs.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crivo_fuzz::targets::{ALL, Target};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The most inputs of a target, and the time after which it stops. Each still sees hundreds of
/// inputs.
const SHORT: (usize, Duration) = (4_000, Duration::from_millis(1_500));
/// The same for the targets at the borders where bytes of unknown origin come in.
const LONG: (usize, Duration) = (100_000, Duration::from_secs(10));
/// Those targets.
const BORDERS: [&str; 12] = [
    "condition",
    "interchange",
    "mail_message",
    "milter_session",
    "page_text",
    "private_reports",
    "rows_compressed",
    "rows_csv",
    "rows_jsonl",
    "rows_parquet",
    "spamd_request",
    "times",
];
/// Bytes of the longest input.
const LONGEST_INPUT: u64 = 4 << 10;
/// Characters that mean something to one reader or another.
const PRINTABLE: &[u8] = b"{}[]\"',:;=<>!-.0129 aeTZ\n\r\t/";

/// Returns bytes of one of four kinds: any, small ones (which make short lengths and few kinds of
/// steps), printable ones, and valid files with a few bytes changed.
fn drawn(random: &mut Xoshiro256PlusPlus, files: &[Vec<u8>]) -> Vec<u8> {
    let kind = random.next_u64() % 4;
    if kind == 3 && !files.is_empty() {
        let mut bytes = files[random.next_u64() as usize % files.len()].clone();
        for _ in 0..random.next_u64() % 8 {
            let at = random.next_u64() as usize % bytes.len();
            bytes[at] = random.next_u64() as u8;
        }
        return bytes;
    }
    let len = random.next_u64() % (random.next_u64() % LONGEST_INPUT + 1);
    let byte = |random: &mut Xoshiro256PlusPlus| match kind {
        0 => random.next_u64() as u8,
        1 => (random.next_u64() % 8) as u8,
        _ => PRINTABLE[random.next_u64() as usize % PRINTABLE.len()],
    };
    (0..len).map(|_| byte(random)).collect()
}

/// Returns the small files of a folder, in the order of their names.
fn files_in(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let files = paths.iter().map(|path| std::fs::read(path).expect("a file"));
    files.filter(|file| (1..=LONGEST_INPUT as usize).contains(&file.len())).collect()
}

/// Runs a target and returns the number of its inputs. What it panics on is named. `golden` has
/// files of sketches, for targets that have no seeds of their own.
fn run((name, check): Target, seed: u64, golden: &[Vec<u8>]) -> usize {
    let began = Instant::now();
    let seeds = files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name));
    let files = if seeds.is_empty() { golden } else { &seeds };
    let (most, longest) = if BORDERS.contains(&name) { LONG } else { SHORT };
    for input in 0..most {
        if began.elapsed() > longest {
            return input;
        }
        let bytes = drawn(&mut Xoshiro256PlusPlus::seed_from_u64(seed ^ (input as u64) << 20), files);
        let outcome = std::panic::catch_unwind(|| check(&bytes));
        assert!(outcome.is_ok(), "{name}: seed {seed}, input {input}: {bytes:?}");
    }
    most
}

#[test]
fn targets_hold_for_drawn_inputs() {
    let seed = std::env::var("CRIVO_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let golden = files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/crivo/tests/golden"));
    let next = AtomicUsize::new(0);
    assert!(golden.len() > 20, "{}", golden.len());
    let work = || {
        while let Some(&target) = ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            let inputs = run(target, seed, &golden);
            println!("{}: {inputs} inputs", target.0);
            assert!(inputs > 50, "{}: {inputs} inputs only", target.0);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker.join().expect("no target fails");
        }
    });
}

#[test]
fn list_has_every_target_that_can_be_fuzzed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz_targets");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of targets")
        .flatten()
        .map(|entry| entry.path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ALL.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
    let known = |name: &str| names.iter().any(|known| known == name);
    assert!(BORDERS.iter().all(|name| known(name)));
    let seeds =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/seeds")).expect("the seeds").flatten();
    assert!(seeds.map(|entry| entry.file_name()).all(|name| known(&name.to_string_lossy())));
}
