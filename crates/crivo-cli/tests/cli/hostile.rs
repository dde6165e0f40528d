//! Hostile files and machines give an error in bounded time and memory, or the right answer.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Ran, Scratch, table};

/// Runs with an address space of one gibibyte.
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
    // A record that does not fit into memory is reported as such, and not as damage.
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
    // Ten times the columns may take ten times as long, and four times as much again on a busy
    // machine.
    assert!(many < few * 40 + Duration::from_secs(1), "{few:?} for 2,000 columns, {many:?} for 20,000");
}

#[test]
fn many_files_take_time_in_proportion() {
    let scratch = Scratch::new();
    for (folder, files) in [("few", 300), ("many", 3000)] {
        std::fs::create_dir(scratch.path(folder)).unwrap();
        (0..files)
            .for_each(|n| scratch.write(&format!("{folder}/{n}.csv"), format!("id,name\n{n},n{}\n", n % 7)));
    }
    let time = |pattern: &str| {
        let began = Instant::now();
        scratch.run(&["profile", pattern, "--json", "--threads", "1"]).ok();
        began.elapsed()
    };
    time("few/*.csv");
    let (few, many) = (time("few/*.csv"), time("many/*.csv"));
    // Ten times the files may take ten times as long, and four times as much again on a busy
    // machine.
    assert!(many < few * 40 + Duration::from_secs(1), "{few:?} for 300 files, {many:?} for 3,000");
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
    // Empty lines before the first record do not affect the format.
    assert_eq!(distinct("user", "\n\n{\"user\":\"ana\"}\n")["distinct"]["value"], 1.0);
    assert_eq!(distinct("user", "\r\nuser,n\nana,1\nrui,2\n")["rows"], 2);
    // Without a field, the input is read as lines.
    assert_eq!(scratch.feed(&["distinct", "--json"], "user,n\nana,1\n").json()["rows"], 2);
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
    // An existing file keeps its permissions.
    set("s.crivo", 0o640);
    scratch.run(&["distinct", "a.txt", "--into", "s.crivo"]).ok();
    assert_eq!(mode("s.crivo"), 0o640);
}

/// If only its owner may read an output, the same holds for its temporary file while it is written.
#[cfg(unix)]
#[test]
fn temporary_twin_has_the_permissions_of_the_file_it_replaces() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::with([("out.csv", "id\n1\n")]);
    std::fs::set_permissions(scratch.path("out.csv"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = scratch.command(&["filter", "id > 1", "-o", "out.csv", "--format", "csv"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"id\n1\n2\n").unwrap();
    let twin = (0..500).find_map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        scratch.names().into_iter().find(|name| name.ends_with(".partial"))
    });
    let mode = twin.map(|name| std::fs::metadata(scratch.path(&name)).unwrap().permissions().mode() & 0o777);
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(mode, Some(0o600));
    assert_eq!(scratch.read("out.csv"), b"id\n2\n");
    assert_eq!(scratch.names(), ["out.csv"]);
}

#[test]
fn similar_sets_are_found_under_any_seed() {
    let rows: String = (0..60).map(|n| format!("u{},i{}\n", n / 20, n % 20)).collect();
    let scratch = Scratch::with([("sets.csv", format!("u,i\n{rows}"))]);
    let pairs = |seed| {
        let args = ["similar", "pairs", "sets.csv", "--sets", "u,i", "--threshold", "0.9", "--seed", seed];
        scratch.run(&args).ok().to_owned()
    };
    assert_eq!(pairs("0").lines().count(), 3);
    assert_eq!((pairs("0"), pairs("0")), (pairs("7"), pairs("random")));
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

/// Otherwise the whole input would stay in the temporary folder, where other users may read it.
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

/// An output without rows is still a file of its format, with its columns.
#[test]
fn outputs_of_an_empty_parquet_file_are_parquet_files() {
    let scratch = Scratch::new();
    scratch.write("empty.parquet", table("parquet", &Vec::new()));
    scratch.run(&["set", "build", "empty.parquet", "-f", "value", "--items", "10", "-o", "set.crivo"]).ok();
    for command in [
        "sample empty.parquet -n 5",
        "sample empty.parquet -n 10%",
        "sample empty.parquet -n 1 --by value",
        "uniq empty.parquet -f value --items 10",
        "set keep set.crivo empty.parquet -f value",
        "set drop set.crivo empty.parquet -f value",
        "dedup empty.parquet --field value",
        "filter value=a empty.parquet",
    ] {
        let output = scratch.command(&command.split(' ').collect::<Vec<_>>()).output().unwrap();
        // No matching row is an answer, and no error.
        assert_eq!(output.status.code(), Some(command.starts_with("filter").into()), "{command}: {output:?}");
        scratch.write("copy.parquet", &output.stdout);
        let json = scratch.run(&["profile", "copy.parquet", "--json"]).json();
        let has_column = json["columns"].as_array().unwrap().iter().any(|column| column["name"] == "value");
        assert!(json["rows"] == 0 && has_column, "{command}: {json}");
    }
    for command in
        ["filter value=a empty.parquet -o out.parquet", "dedup empty.parquet --field value -o out.parquet"]
    {
        scratch.run(&command.split(' ').collect::<Vec<_>>());
        scratch.run(&["count", "out.parquet"]).ok();
        std::fs::remove_file(scratch.path("out.parquet")).unwrap();
    }
}
