//! Keys whose hashes are crafted to collide take as long as ordinary ones, in every command.

use std::process::{Command, Stdio};

use crivo::keys::KeyScheme;

use crate::support::Scratch;

/// Returns keys whose hashes under the known seed agree in all but some of the middle bits.
fn crafted_keys(count: usize) -> Vec<[u8; 8]> {
    let keys = (1_u64..).map(|hash| key_of_hash(hash << 36 | 0x2A).to_le_bytes());
    let is_plain = |key: &[u8; 8]| key.iter().all(|byte| !matches!(byte, b'\n' | b'\r' | b'\t' | b'"' | 0));
    keys.filter(is_plain).take(count).collect()
}

/// Returns integers with such hashes.
fn crafted_integers(count: u64) -> impl Iterator<Item = u64> {
    (1..=count).map(|hash| integer_of_hash(hash << 36 | 0x2A))
}

const MULTIPLIER: u64 = 0x9FB2_1C65_1E98_DF25;

/// Returns the number whose product with the multiplier is `product`.
fn undo_product(product: u64) -> u64 {
    let inverse = (0..6).fold(MULTIPLIER, |inverse, _| {
        inverse.wrapping_mul(2_u64.wrapping_sub(MULTIPLIER.wrapping_mul(inverse)))
    });
    product.wrapping_mul(inverse)
}

/// Solves `x ^ x >> by = value`.
fn undo_shift(value: u64, by: u32) -> u64 {
    (0..=64 / by).fold(value, |undone, _| value ^ undone >> by)
}

/// Returns the eight bytes whose XXH3 with seed 0 is `hash`. Every step of `XXH3_len_4to8_64b` is
/// invertible.
fn key_of_hash(hash: u64) -> u64 {
    // Bytes 8 to 24 of the default secret, the two halves combined.
    const FLIP: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;
    let mut mixed = undo_product(undo_shift(hash, 28));
    // h ^= (h >> 35) + len
    let mut undone = mixed;
    for _ in 0..3 {
        undone = mixed ^ (undone >> 35).wrapping_add(8);
    }
    mixed = undo_product(undone);
    // h ^= rotl(h, 49) ^ rotl(h, 24) is linear over bits, and its inverse has the same form.
    let keyed = undo_rotations(mixed);
    // The halves were swapped: the low one is in the high bits.
    let both = keyed ^ FLIP;
    both.rotate_left(32)
}

/// Returns the integer whose Rrmxmx with seed 0 is `hash` (docs/format.md).
fn integer_of_hash(hash: u64) -> u64 {
    let turned = undo_product(undo_shift(undo_product(undo_shift(hash, 28)), 28));
    // Rotations to the right by 49 and 24 are rotations to the left by 15 and 40, so this map is a
    // circulant too.
    let keyed = (0..63).fold(turned, |x, _| x ^ x.rotate_right(49) ^ x.rotate_right(24));
    keyed ^ 0x6A09_E667_F3BC_C908
}

/// Solves `x ^ rotl(x, 49) ^ rotl(x, 24) = value`. The map is a circulant of order 64 = 2^6 over
/// two elements. So its 64th power is the identity, and 63 more applications invert one.
fn undo_rotations(value: u64) -> u64 {
    (0..63).fold(value, |x, _| x ^ x.rotate_left(49) ^ x.rotate_left(24))
}

#[test]
fn crafted_keys_have_the_hashes_they_were_crafted_for() {
    for hash in [0x2A, 1 << 36 | 0x2A, u64::MAX, 12345] {
        assert_eq!(xxhash_rust::xxh3::xxh3_64(&key_of_hash(hash).to_le_bytes()), hash);
        assert_eq!(KeyScheme::integers().hash(&integer_of_hash(hash)), Ok(hash));
    }
}

/// Returns the processor time of a run in seconds.
#[cfg(target_os = "linux")]
fn processor_seconds(scratch: &Scratch, command: &str) -> f64 {
    let program = scratch.command(&[]);
    let timed = format!("TIMEFORMAT='%U %S'; time \"$0\" {command} > output 2> errors");
    let mut bash = Command::new("bash");
    bash.args(["-c", &timed]).arg(program.get_program()).current_dir(scratch.path("")).stdin(Stdio::null());
    let output = bash.output().unwrap();
    let errors = String::from_utf8(scratch.read("errors")).unwrap();
    // Exit code 1 for a key that is certainly not in a set is no error.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {errors}");
    let text = String::from_utf8(output.stderr).unwrap();
    text.split_whitespace().map(|seconds| seconds.parse::<f64>().unwrap()).sum()
}

/// Every command that puts keys into a table; `{}` is `crafted` or `fair`.
#[cfg(target_os = "linux")]
const COMMANDS: [&str; 52] = [
    "distinct {}.txt",
    "distinct {}.txt --method ull",
    "distinct {}.txt --method kmv",
    "distinct {}.txt --method kmv --error 0.002",
    "distinct {}.txt --method minhash",
    "distinct {}.txt --method linear",
    "distinct {}.txt --method loglog",
    "distinct {}.txt --method probabilistic",
    "distinct {}.txt --method exact -o exact-{}.crivo",
    "show exact-{}.crivo",
    "merge exact-{}.crivo exact-{}.crivo -o merged.crivo",
    "distinct {}.txt --precision 18",
    "distinct {}.txt --verify",
    "distinct {}.int --keys int --method exact",
    "distinct {}.int --keys int --method kmv --error 0.002",
    "distinct {}.tsv --no-header -f 2 --by 1 -o groups-{}.crivo",
    "distinct {}.tsv --no-header -f 1 --by 3",
    "merge groups-{}.crivo groups-{}.crivo -o merged.crivo",
    "top {}.txt",
    "top {}.txt -k 1000 --verify",
    "top {}.int --keys int -k 1000",
    "top {}.txt -k 50000 -o top-{}.crivo",
    "ask top-{}.crivo - < {}.txt",
    "top {}.tsv --no-header -f 2 --by 1",
    "top {}.tsv --no-header -f 1 --by 3",
    "uniq {}.txt --items 100000",
    "uniq {}.int --keys int --items 100000",
    "set build {}.txt --items 100000 -o set-{}.crivo",
    "set build {}.txt --items 100000 --blocked -o blocked-{}.crivo",
    "set build {}.txt --items 100000 --counting 4 -o counting-{}.crivo",
    "set keep set-{}.crivo {}.txt",
    "set drop blocked-{}.crivo {}.txt",
    "ask set-{}.crivo - < {}.txt",
    "count {}.txt --by 1 --bits 8 -o counts.crivo",
    "count {}.tsv --no-header --by 1",
    "count {}.tsv --no-header --by 1,3",
    "freq {}.txt -o frequencies-{}.crivo",
    "freq {}.txt --conservative -o conservative-{}.crivo",
    "ask frequencies-{}.crivo - < {}.txt",
    "freq {}.int --keys int --ranges 64 --error 0.05 -o ranges.crivo",
    "quantile {}.int",
    "quantile {}.int --tails",
    "profile {}.txt --json",
    "profile {}.int --json",
    "sample {}.txt -n 10",
    "sample {}.tsv --no-header -n 1 --by 1",
    "private encode {}.txt --epsilon 2 --rows 16 --width 64 -o {}.reports",
    "private aggregate {}.reports -o private.crivo",
    "similar pairs {}.tsv --no-header --sets 1,2 --threshold 1 --json",
    "similar pairs {}.tsv --no-header --sets 3,1 --threshold 0.5 --json",
    "dedup {}.txt --shingle chars:5 --dry-run",
    "dedup {}.txt --unit line --dry-run",
];

/// Crafted keys take at most three times as long as ordinary ones, and some hundredths of a second
/// more for a busy machine. The faster of two runs counts.
#[cfg(target_os = "linux")]
#[allow(clippy::print_stdout)] // the table of times, shown with --no-capture
#[test]
fn crafted_keys_take_as_long_as_fair_ones() {
    const KEYS: usize = 100_000;
    const SLACK: f64 = 0.03;
    let scratch = Scratch::new();
    let fair = (0..KEYS as u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let fair_keys: Vec<[u8; 8]> =
        fair.clone().map(|n| *format!("{n:016x}").as_bytes().first_chunk().unwrap()).collect();
    let crafted: Vec<u64> = crafted_integers(KEYS as u64).collect();
    let files = [("crafted", crafted_keys(KEYS), crafted), ("fair", fair_keys, fair.collect())];
    for (name, keys, integers) in files {
        let lines: Vec<u8> = keys.iter().flat_map(|key| [key, &b"\n"[..]].concat()).collect();
        scratch.write(&format!("{name}.txt"), lines);
        // The key, a value that it shares with one other key, and one of 300 groups.
        let rows = keys.iter().enumerate().flat_map(|(number, key)| {
            let rest = format!("\t{}\t{}\n", number / 2, number % 300);
            [key, rest.as_bytes()].concat()
        });
        scratch.write(&format!("{name}.tsv"), rows.collect::<Vec<u8>>());
        scratch.write(&format!("{name}.int"), integers.iter().map(|n| format!("{n}\n")).collect::<String>());
    }
    let mut slow = Vec::new();
    for command in COMMANDS {
        let time = |name: &str| {
            let threads = if command.starts_with("show")
                || command.starts_with("merge")
                || command.contains("ask ")
                || command.starts_with("private aggregate")
            {
                ""
            } else {
                " --threads 1"
            };
            let command = command.replace("{}", name);
            let command = match command.split_once(" <") {
                Some((command, input)) => format!("{command}{threads} <{input}"),
                None => command + threads,
            };
            (0..2).map(|_| processor_seconds(&scratch, &command)).fold(f64::INFINITY, f64::min)
        };
        let (fair, crafted) = (time("fair"), time("crafted"));
        println!("{:5.2} {fair:6.3} {crafted:6.3}  {command}", crafted / fair);
        if crafted > 3.0 * fair + SLACK {
            slow.push(format!("{command}: {crafted} s for crafted keys, {fair} s for fair ones"));
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
