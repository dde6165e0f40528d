//! Files and machines that are hostile: an error in bounded time and memory, or the right answer.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Ran, Scratch, table};

/// Runs with a gibibyte of addresses.
#[cfg(unix)]
fn run_small(scratch: &Scratch, args: &[&str]) -> Ran {
    let program = scratch.command(args);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\""]).arg(program.get_program()).args(args);
    command.current_dir(scratch.path("")).stdin(Stdio::null()).output().unwrap().into()
}

#[cfg(unix)]
#[test]
fn record_that_never_ends_is_an_error_that_names_the_option() {
    let scratch = Scratch::new();
    let mut encoder =
        zstd::Encoder::new(std::fs::File::create(scratch.path("bomb.txt.zst")).unwrap(), 1).unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..2000 {
        std::io::Write::write_all(&mut encoder, &piece).unwrap();
    }
    encoder.finish().unwrap();
    let began = Instant::now();
    let run = run_small(&scratch, &["distinct", "bomb.txt.zst"]);
    run.fails_with("bomb.txt.zst:1: a record is longer than 64 MiB");
    assert!(run.err.contains("--max-record"), "{run:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
    // What has no room says so, and is not called damaged.
    let run = run_small(&scratch, &["distinct", "bomb.txt.zst", "--max-record", "2G"]);
    run.fails_with("there is no memory");
    assert!(!run.err.contains("corrupt"), "{run:?}");
    scratch.run(&["distinct", "bomb.txt.zst", "--max-record", "1k"]).fails_with("from 256K to 2G");
}

#[cfg(unix)]
#[test]
fn threads_that_cannot_start_are_done_without() {
    let text: String = (0..20_000).map(|n| format!("{n},{}\n", n % 7)).collect();
    let scratch = Scratch::with([("a.csv", format!("id,key\n{text}"))]);
    for args in [
        &["profile", "a.csv", "--threads", "64", "--json"][..],
        &["uniq", "a.csv", "-f", "key", "--threads", "1000"],
        &["distinct", "a.csv", "-f", "id", "--threads", "1000", "--json"],
    ] {
        run_small(&scratch, args).ok();
    }
}

#[test]
fn bytes_after_a_sketch_are_not_read() {
    let scratch = Scratch::with([("a.txt", "a\nb\n")]);
    scratch.run(&["distinct", "a.txt", "-o", "s.crivo"]).ok();
    let sketch = scratch.read("s.crivo");
    let mut longer = sketch.clone();
    longer.extend(vec![0; 50 << 20]);
    scratch.feed(&["show", "-"], &sketch).ok();
    scratch.feed(&["show", "-"], &longer).fails_with("standard input");
    let mut head = b"CRVO".to_vec();
    head.extend(vec![0; 1000]);
    scratch.feed(&["show", "-"], &head).fails_with("standard input");
}

#[test]
fn many_columns_take_time_in_proportion() {
    let wide = |columns: usize| {
        let names: Vec<String> = (0..columns).map(|n| format!("c{n}")).collect();
        let row: Vec<String> = (0..columns).map(|n| (n % 10).to_string()).collect();
        format!("{}\n{}\n{}\n", names.join(","), row.join(","), row.join(","))
    };
    let scratch = Scratch::with([("few.csv", wide(2_000)), ("many.csv", wide(20_000))]);
    let time = |name: &str| {
        let began = Instant::now();
        scratch.run(&["profile", name, "--json", "--threads", "1"]).ok();
        began.elapsed()
    };
    time("few.csv");
    let (few, many) = (time("few.csv"), time("many.csv"));
    // Ten times the columns; four times as much again for a machine that does other things.
    assert!(many < few * 40 + Duration::from_secs(1), "{few:?} for 2,000 columns, {many:?} for 20,000");
}

#[test]
fn memory_without_room_for_the_columns_is_said_before_reading() {
    let names: Vec<String> = (0..5000).map(|n| format!("c{n}")).collect();
    let scratch = Scratch::with([("wide.csv", names.join(",") + "\n1,2\n")]);
    scratch.run(&["profile", "wide.csv", "--memory", "32M"]).fails_with("5000 columns take at least");
}

#[test]
fn parquet_is_recognised_in_a_pipe_and_other_data_refused() {
    let scratch = Scratch::new();
    scratch.write("a.parquet", table("parquet", &vec!["ana".into(), "rui".into(), "ana".into()]));
    let bytes = scratch.read("a.parquet");
    let json = scratch.feed(&["distinct", "-f", "value", "--json"], &bytes).json();
    assert_eq!((json["rows"].as_u64(), json["distinct"]["value"].as_f64()), (Some(3), Some(2.0)));
    scratch.feed(&["distinct"], b"PK\x03\x04and so on").fails_with("standard input: is a zip archive");
    let wide: Vec<u8> = "user,time\nana,1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    scratch.feed(&["distinct"], wide).fails_with("standard input: is UTF-16 text");
    scratch.feed(&["distinct", "-f", "1"], &scratch.read("a.parquet")[..40]).fails_with("not a Parquet file");
}

#[test]
fn tables_on_standard_input_are_recognised_by_the_field() {
    let scratch = Scratch::new();
    let distinct = |field: &str, text: &str| scratch.feed(&["distinct", "-f", field, "--json"], text).json();
    assert_eq!(distinct("user", "user,n\nana,1\nrui,2\nana,3\n")["distinct"]["value"], 2.0);
    assert_eq!(distinct("user", "user\tn\nana\t1\n")["rows"], 1);
    assert_eq!(distinct("user", "{\"user\":\"ana\"}\n{\"user\":null}\n")["skipped"], 1);
    let run = scratch.feed(&["distinct", "-f", "colour"], "user,n\nana,1\n");
    run.fails_with("there is no field 'colour'");
    assert!(run.err.contains("--format csv"), "{run:?}");
    // Without a field a line is a line.
    assert_eq!(scratch.feed(&["distinct", "--json"], "user,n\nana,1\n").json()["rows"], 2);
}

/// Keys whose hashes under the known seed agree in all but 18 of the middle bits, found by inverting XXH3 of eight bytes.
fn crafted_keys(count: u64) -> Vec<u8> {
    let mut text = Vec::new();
    let mut hash: u64 = 0;
    let mut found = 0;
    while found < count {
        hash += 1;
        let key = key_of_hash(hash << 36 | 0x2A).to_le_bytes();
        if key.iter().all(|&byte| !matches!(byte, b'\n' | b'\r' | 0)) {
            text.extend_from_slice(&key);
            text.push(b'\n');
            found += 1;
        }
    }
    text
}

/// The eight bytes whose XXH3 with seed 0 is a given hash: every step of `XXH3_len_4to8_64b` can be undone.
fn key_of_hash(hash: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9FB2_1C65_1E98_DF25;
    // Bytes 8 to 24 of the default secret, the two halves combined.
    const FLIP: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;
    let inverse = (0..6).fold(MULTIPLIER, |inverse, _| {
        inverse.wrapping_mul(2_u64.wrapping_sub(MULTIPLIER.wrapping_mul(inverse)))
    });
    let unshift = |value: u64, by: u32| {
        let mut undone = value;
        for _ in 0..=64 / by {
            undone = value ^ undone >> by;
        }
        undone
    };
    let mut mixed = unshift(hash, 28).wrapping_mul(inverse);
    // h ^= (h >> 35) + len
    let mut undone = mixed;
    for _ in 0..3 {
        undone = mixed ^ (undone >> 35).wrapping_add(8);
    }
    mixed = undone.wrapping_mul(inverse);
    // h ^= rotl(h, 49) ^ rotl(h, 24) is linear over bits, and has an inverse of the same form: by elimination.
    let keyed = undo_rotations(mixed);
    // The halves were swapped: the low one in the high bits.
    let both = keyed ^ FLIP;
    both.rotate_left(32)
}

/// Solves `x ^ rotl(x, 49) ^ rotl(x, 24) = value`. The map is a circulant of order 64 = 2^6 over two elements, so that
/// its 64th power is the identity: 63 more applications undo one.
fn undo_rotations(value: u64) -> u64 {
    (0..63).fold(value, |x, _| x ^ x.rotate_left(49) ^ x.rotate_left(24))
}

#[test]
fn crafted_keys_have_the_hashes_they_were_crafted_for() {
    for hash in [0x2A, 1 << 36 | 0x2A, u64::MAX, 12345] {
        assert_eq!(xxhash_rust::xxh3::xxh3_64(&key_of_hash(hash).to_le_bytes()), hash);
    }
}

/// The seconds of the processor that a run took.
#[cfg(target_os = "linux")]
fn processor_seconds(scratch: &Scratch, args: &[&str]) -> f64 {
    let program = scratch.command(args);
    let mut command = Command::new("bash");
    command.args(["-c", "TIMEFORMAT='%U %S'; time \"$0\" \"$@\" > /dev/null 2>&1"]);
    command.arg(program.get_program()).args(args).current_dir(scratch.path("")).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    text.split_whitespace().map(|seconds| seconds.parse::<f64>().unwrap()).sum()
}

/// Three times as long at most, and a tenth of a second for what a machine does beside.
#[cfg(target_os = "linux")]
#[test]
fn crafted_keys_take_as_long_as_fair_ones() {
    const KEYS: u64 = 200_000;
    let scratch = Scratch::with([("crafted.txt", crafted_keys(KEYS))]);
    let fair: String = (0..KEYS).map(|n| format!("{:08x}\n", n * 2_654_435_761 % (1 << 32))).collect();
    scratch.write("fair.txt", fair);
    let sets = |name: &str| {
        let keys = scratch.read(name);
        let lines = keys.split(|&byte| byte == b'\n').filter(|key| !key.is_empty() && !key.contains(&b'\t'));
        let rows: Vec<u8> = lines.flat_map(|key| [key, b"\t", &key[..3], b"\n"].concat()).collect();
        rows
    };
    let (crafted, fair) = (sets("crafted.txt"), sets("fair.txt"));
    scratch.write("crafted.tsv", crafted);
    scratch.write("fair.tsv", fair);
    for command in [
        "distinct {}.txt",
        "distinct {}.txt --method kmv",
        "distinct {}.txt --method exact",
        "distinct {}.txt --method exact -o exact.crivo",
        "distinct {}.txt --verify",
        "top {}.txt",
        "top {}.txt -k 1000 --verify",
        "uniq {}.txt --items 200000",
        "set build {}.txt --items 200000 -o set.crivo",
        "count {}.txt --by 1 --bits 8 -o counts.crivo",
        "freq {}.txt -o frequencies.crivo",
        "profile {}.txt --json",
        "sample {}.txt -n 10",
        "similar pairs {}.tsv --no-header --sets 1,2 --threshold 1 --json",
    ] {
        let time = |which: &str| {
            let command = command.replace("{}", which) + " --threads 1";
            processor_seconds(&scratch, &command.split(' ').collect::<Vec<_>>())
        };
        time("fair");
        let (fair, crafted) = (time("fair"), time("crafted"));
        assert!(
            crafted <= 3.0 * fair + 0.1,
            "{command}: {crafted} s for crafted keys, {fair} s for fair ones"
        );
    }
}

#[cfg(unix)]
#[test]
fn dedup_and_the_index_do_without_threads_that_cannot_start() {
    let text: String =
        (0..3000).map(|n| format!("{{\"text\":\"some words of document number {n}\"}}\n")).collect();
    let scratch = Scratch::with([("a.jsonl", text)]);
    run_small(&scratch, &["dedup", "a.jsonl", "--threads", "1000", "--json"]).ok();
    run_small(&scratch, &["similar", "index", "index", "add", "a.jsonl", "--threads", "1000"]).ok();
}

#[cfg(unix)]
#[test]
fn outputs_are_readable_as_what_they_are_made_from() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::with([("a.txt", "a\nb\na\n")]);
    let set = |name: &str, mode| {
        std::fs::set_permissions(scratch.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = |name: &str| std::fs::metadata(scratch.path(name)).unwrap().permissions().mode() & 0o777;
    set("a.txt", 0o600);
    scratch.run(&["distinct", "a.txt", "-o", "s.crivo"]).ok();
    scratch.run(&["dedup", "a.txt", "-o", "kept.txt", "--clusters", "c.tsv"]).ok();
    scratch.run(&["profile", "a.txt", "--html", "p.html"]).ok();
    for name in ["s.crivo", "kept.txt", "c.tsv", "p.html"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    // A file that is there keeps what it has.
    set("s.crivo", 0o640);
    scratch.run(&["distinct", "a.txt", "--into", "s.crivo"]).ok();
    assert_eq!(mode("s.crivo"), 0o640);
}

#[cfg(unix)]
#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let scratch = Scratch::with([("a.txt", "a\nb\n"), (".crivo-x1y2z3.partial", "half")]);
    let old = std::time::SystemTime::now() - Duration::from_secs(3600);
    std::fs::File::open(scratch.path(".crivo-x1y2z3.partial")).unwrap().set_modified(old).unwrap();
    scratch.run(&["distinct", "a.txt", "-o", "s.crivo"]).ok();
    assert_eq!(scratch.names(), ["a.txt", "s.crivo"]);
}

/// The whole input would stay in the temporary folder, where others may look.
#[cfg(target_os = "linux")]
#[test]
fn standard_input_leaves_nothing_behind_when_dedup_is_killed() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("temporary")).unwrap();
    let mut command = scratch.command(&["dedup"]);
    command.env("TMPDIR", scratch.path("temporary")).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, &b"some secret text\n".repeat(10_000)).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(std::fs::read_dir(scratch.path("temporary")).unwrap().count(), 0);
    let run = scratch
        .feed(&["dedup"], "one text of some words\nanother text of other words\none text of some words\n");
    assert_eq!(run.ok().lines().count(), 2);
}

#[test]
fn a_sketch_that_would_be_too_large_is_refused_with_its_size() {
    let scratch = Scratch::with([("a.txt", "1\n2\n")]);
    let ranges = |error| ["freq", "a.txt", "--ranges", "64", "--error", error, "-o", "s.crivo"];
    let run = scratch.run(&ranges("0.0001"));
    run.fails_with("--ranges 64: takes");
    assert!(run.err.contains("--memory"), "{run:?}");
    scratch.run(&ranges("0.05")).ok();
    scratch.run(&["freq", "a.txt", "--memory", "1k", "-o", "s.crivo"]).fails_with("--memory");
}
