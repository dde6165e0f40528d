//! `--window`, `--time-field` and `--follow`.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use crate::support::{Random, Scratch};

/// Returns visits over ten days as second and visitor. Times are in order except for a few minutes.
fn visits(rows: u64, seed: u64) -> Vec<(i64, String)> {
    let mut random = Random::new(seed);
    let begin = 1_763_000_000;
    (0..rows)
        .map(|n| {
            let time = begin + (n * 864_000 / rows) as i64 - random.below(300) as i64;
            (time, format!("v{}", random.below(3_000)))
        })
        .collect()
}

fn csv(visits: &[(i64, String)]) -> String {
    visits
        .iter()
        .fold(String::from("time,visitor\n"), |text, (time, visitor)| text + &format!("{time},{visitor}\n"))
}

/// Returns the visits of the panes in the window: from the beginning of the hour a day before the
/// latest hour.
fn last_day(visits: &[(i64, String)]) -> impl Iterator<Item = &String> {
    let latest = visits.iter().map(|visit| visit.0).max().unwrap().div_euclid(3600);
    visits.iter().filter(move |visit| visit.0.div_euclid(3600) >= latest - 24).map(|visit| &visit.1)
}

#[test]
fn only_the_last_day_is_counted() {
    let visits = visits(30_000, 1);
    let scratch = Scratch::with([("visits.csv", csv(&visits))]);
    let window = ["visits.csv", "-f", "visitor", "--window", "24h", "--time-field", "time", "--json"];
    let different: HashSet<_> = last_day(&visits).collect();
    for threads in ["1", "3"] {
        let args = [&["distinct", "--threads", threads, "--method", "exact"], &window[..]].concat();
        let json = scratch.run(&args).json();
        assert_eq!(json["distinct"]["value"], different.len() as f64, "{json}");
        assert_eq!((json["rows"].as_u64(), json["window"]["late"].as_u64()), (Some(30_000), Some(0)));
    }
    let mut counts: HashMap<&String, u64> = HashMap::new();
    last_day(&visits).for_each(|visitor| *counts.entry(visitor).or_default() += 1);
    let json = scratch.run(&[&["top", "-k", "5"], &window[..]].concat()).json();
    assert_eq!(json["top"].as_array().unwrap().len(), 5);
    for line in json["top"].as_array().unwrap() {
        let key = line["key"].as_str().unwrap().to_string();
        assert_eq!(line["count"]["value"], counts[&key] as f64, "{line}");
    }
    scratch.run(&[&["freq", "-o", "f.crivo"], &window[..7]].concat()).ok();
    let (busiest, times) = counts.iter().max_by_key(|(_, times)| **times).unwrap();
    let json = scratch.run(&["ask", "f.crivo", busiest, "--json"]).json();
    assert_eq!(json["answers"][0]["count"]["value"], *times as f64);
}

#[test]
fn ring_is_kept_and_continued() {
    let visits = visits(20_000, 2);
    let (first, second) = visits.split_at(12_000);
    let scratch = Scratch::with([("a.csv", csv(first)), ("b.csv", csv(second))]);
    let window = ["-f", "visitor", "--window", "24h", "--time-field", "time", "--json"];
    scratch.run(&[&["distinct", "a.csv", "--into", "w.crivo"], &window[..]].concat()).json();
    let continued = scratch.run(&[&["distinct", "b.csv", "--into", "w.crivo"], &window[..]].concat()).json();
    let whole =
        scratch.run(&[&["distinct", "a.csv", "b.csv", "-o", "all.crivo"], &window[..]].concat()).json();
    assert_eq!((&continued["distinct"], &continued["window"]), (&whole["distinct"], &whole["window"]));
    assert!(scratch.read("w.crivo") == scratch.read("all.crivo"));
    assert_eq!(scratch.run(&["show", "w.crivo", "--json"]).json()["kind"], "Panes");
    scratch
        .run(&["distinct", "b.csv", "-f", "visitor", "--into", "w.crivo"])
        .fails_with("was kept with --window");
    scratch
        .run(&[
            "distinct",
            "b.csv",
            "-f",
            "visitor",
            "--into",
            "w.crivo",
            "--window",
            "7d",
            "--time-field",
            "time",
        ])
        .fails_with("--window: that of w.crivo is 1 d");
    scratch.run(&["distinct", "b.csv", "-f", "visitor", "-o", "plain.crivo"]).ok();
    scratch
        .run(&[&["distinct", "b.csv", "--into", "plain.crivo"], &window[..]].concat())
        .fails_with("was not kept with --window");
}

#[test]
fn late_rows_are_counted_and_bad_times_named() {
    let scratch = Scratch::with([
        (
            "late.csv",
            "time,v\n2026-01-10T12:00:00Z,a\n2026-01-10 11:59:00,b\n2026-01-01,c\n,d\n2026-01-10T13:00+01:00,e\n",
        ),
        ("bad.csv", "time,v\n2026-01-10,a\nsoon,b\n"),
    ]);
    let window = ["-f", "v", "--window", "1h", "--time-field", "time", "--json"];
    let json = scratch.run(&[&["distinct", "late.csv"], &window[..]].concat()).json();
    assert_eq!((json["distinct"]["value"].as_f64(), json["window"]["late"].as_u64()), (Some(3.0), Some(1)));
    assert_eq!((json["rows"].as_u64(), json["skipped"].as_u64()), (Some(5), Some(1)));
    scratch.run(&[&["distinct", "bad.csv"], &window[..]].concat()).fails_with(
        "crivo: bad.csv:3: column 'time': expected a time such as 1763262342 or 2025-11-16T03:05:42Z, \
         found 'soon'",
    );
    let json = scratch.run(&[&["distinct", "bad.csv", "--skip-bad"], &window[..]].concat()).json();
    assert_eq!((json["distinct"]["value"].as_f64(), json["bad"].as_u64()), (Some(1.0), Some(1)));
    for (args, message) in [
        (&["--window", "24h"][..], "--time-field"),
        (&["--time-field", "time"], "--window"),
        (&["--window", "soon", "--time-field", "time"], "such as 500ms, 90s, 15m, 24h or 7d"),
        (&["--window", "1h", "--time-field", "time", "--verify"], "--verify"),
        (&["--window", "1h", "--time-field", "when"], "there is no field 'when'"),
    ] {
        scratch.run(&[&["distinct", "late.csv", "-f", "v"], args].concat()).fails_with(message);
    }
    scratch.run(&["distinct", "late.csv", "--window", "1h", "--time-field", "time"]).fails_with("-f NAME");
}

#[cfg(unix)]
#[test]
fn followed_file_is_answered_at_the_interrupt() {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let scratch = Scratch::with([("log.txt", "a\nb\n")]);
    let mut command = scratch.command(&["distinct", "--follow", "log.txt", "-o", "s.crivo", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let mut log = std::fs::OpenOptions::new().append(true).open(scratch.path("log.txt")).unwrap();
    log.write_all(b"c\nd\n").unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
    let ran = crate::support::Ran::from(child.wait_with_output().unwrap());
    let json = ran.json();
    assert_eq!((json["rows"].as_u64(), json["distinct"]["value"].as_f64()), (Some(4), Some(4.0)));
    assert_eq!(scratch.run(&["show", "s.crivo", "--json"]).json()["items"]["value"], 4.0);
}

#[test]
fn weights_count_in_their_pane() {
    let scratch = Scratch::with([(
        "sales.csv",
        "time,who,cents\n2026-11-14T10:00:00Z,ana,500\n2026-11-16T09:00:00Z,ana,30\n2026-11-16T09:30:00Z,rui,40\n\
         2026-11-16T10:00:00Z,ana,25\n"
            .to_string(),
    )]);
    let window = ["sales.csv", "-f", "who", "--weight", "cents", "--window", "24h", "--time-field", "time"];
    let json = scratch.run(&[&["top", "--json"], &window[..]].concat()).json();
    let top: Vec<_> = json["top"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["key"].as_str(), line["count"]["value"].as_f64()))
        .collect();
    assert_eq!(top, [(Some("ana"), Some(55.0)), (Some("rui"), Some(40.0))]);
    scratch.run(&[&["freq", "-o", "f.crivo"], &window[..]].concat()).ok();
    let json = scratch.run(&["ask", "f.crivo", "ana", "--json"]).json();
    assert_eq!(json["answers"][0]["count"]["value"], 55.0);
}

#[test]
fn set_forgets_what_the_window_has_passed() {
    let visits = visits(20_000, 3);
    let (before, after) = visits.split_at(12_000);
    let scratch =
        Scratch::with([("before.csv", csv(before)), ("after.csv", csv(after)), ("all.csv", csv(&visits))]);
    let window = ["-f", "visitor", "--window", "24h", "--time-field", "time"];
    for blocked in [&[][..], &["--blocked"]] {
        let build = [
            &["set", "build", "before.csv", "--items", "3000", "--fpr", "1e-6", "-o", "s.crivo"],
            &window[..],
            blocked,
        ];
        scratch.run(&build.concat()).ok();
        scratch.run(&[&["set", "build", "after.csv", "--into", "s.crivo"], &window[..]].concat()).ok();
        let recent: HashSet<_> = last_day(&visits).collect();
        let everyone: HashSet<_> = visits.iter().map(|visit| &visit.1).collect();
        assert!(recent.len() < everyone.len());
        let rows = scratch.run(&["set", "keep", "s.crivo", "-f", "visitor", "all.csv"]);
        let kept: HashSet<_> =
            rows.ok().lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_string()).collect();
        assert_eq!(kept, recent.iter().map(|visitor| (*visitor).clone()).collect());
    }
    scratch
        .run(&[&["set", "build", "all.csv", "-o", "t.crivo"], &window[..]].concat())
        .fails_with("--items 1M");
    scratch
        .run(&["set", "build", "all.csv", "-f", "visitor", "--into", "s.crivo"])
        .fails_with("--window and --time-field");
    scratch
        .run(
            &[&["set", "build", "all.csv", "--counting", "4", "--items", "9", "-o", "t.crivo"], &window[..]]
                .concat(),
        )
        .fails_with("--counting");
}

/// One row for each second, and one for each tenth of a second: the window is as long as requested,
/// to within one pane.
#[test]
fn short_windows_are_as_long_as_they_say() {
    let seconds: String = (0..100).map(|n| format!("{n},{}\n", 1_763_262_000 + n)).collect();
    let tenths: String = (0..1000).map(|n| format!("{n},{}.{}\n", 1_763_262_000 + n / 10, n % 10)).collect();
    let scratch = Scratch::with([("s.csv", format!("v,t\n{seconds}")), ("t.csv", format!("v,t\n{tenths}"))]);
    let seen = |file: &str, window: &str| {
        let args = ["distinct", file, "-f", "v", "--window", window, "--time-field", "t", "--json"];
        let found = scratch.run(&args).json();
        (found["distinct"]["value"].as_f64().unwrap(), found["window"]["pane_seconds"].as_f64().unwrap())
    };
    // The ten seconds before the latest row, that row, and at most one more pane.
    assert_eq!(seen("s.csv", "10s"), (11.0, 0.5));
    let (rows, pane) = seen("t.csv", "2s");
    assert!((20.0..=22.0).contains(&rows) && pane == 0.1, "{rows}");
    assert_eq!(seen("s.csv", "24s").1, 1.0);
    let text = scratch.run(&["distinct", "s.csv", "-f", "v", "--window", "10s", "--time-field", "t"]);
    assert!(text.ok().contains("exact to a pane of 500 ms"), "{text:?}");
    // A ring is continued only by its own window. The same number in another unit is refused too.
    let into = |window: &str| {
        scratch.run(&[
            "distinct",
            "s.csv",
            "-f",
            "v",
            "--window",
            window,
            "--time-field",
            "t",
            "--into",
            "r.crivo",
        ])
    };
    into("10s").ok();
    into("10s").ok();
    into("12000s").fails_with("--window: that of r.crivo is 10 s");
}
