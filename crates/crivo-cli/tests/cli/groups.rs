//! `--by`: one answer for each group, compared with an exact model.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::support::Scratch;

/// Returns the groups of a JSON answer by their keys.
fn groups(json: &Value) -> BTreeMap<Vec<String>, Value> {
    let key = |group: &Value| {
        let values = group["group"].as_array().unwrap();
        values.iter().map(|value| value.as_str().unwrap().to_string()).collect()
    };
    json["groups"].as_array().unwrap().iter().map(|group| (key(group), group.clone())).collect()
}

/// Returns rows of users, pages and amounts, with some empty fields, and their model.
fn visits(rows: u64, pages: u64) -> (String, Model) {
    let mut text = String::from("user,page,amount\n");
    let mut model = Model::default();
    for row in 0..rows {
        let number = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
        let user = if number % 17 == 0 { String::new() } else { format!("u{}", number % 900) };
        let page = match number >> 20 {
            number if number % 29 == 0 => String::new(),
            number => format!("/p{}", number % pages),
        };
        let cents = number >> 30 & 0xFFF;
        writeln!(text, "{user},{page},{}.{:02}", cents / 100, cents % 100).unwrap();
        if page.is_empty() {
            model.without_page += 1;
            model.lost += u64::from(user.is_empty()) + u64::from(!user.is_empty());
            continue;
        }
        let group = model.groups.entry(page).or_default();
        group.rows += 1;
        group.cents += cents;
        if user.is_empty() {
            model.lost += 1;
        } else {
            *group.users.entry(user).or_default() += 1;
        }
    }
    (text, model)
}

#[derive(Default)]
struct Model {
    groups: BTreeMap<String, GroupModel>,
    without_page: u64,
    /// The number of rows without a user or a page.
    lost: u64,
}

#[derive(Default)]
struct GroupModel {
    rows: u64,
    cents: u64,
    users: BTreeMap<String, u64>,
}

#[test]
fn every_group_has_the_answer_of_an_exact_model() {
    let (text, model) = visits(60_000, 300);
    let scratch = Scratch::with([("v.csv", &text)]);

    let json = scratch.run(&["distinct", "v.csv", "-f", "user", "--by", "page", "--json"]).json();
    assert_eq!((json["rows"].as_u64(), json["skipped"].as_u64()), (Some(60_000), Some(model.lost)));
    let found = groups(&json);
    assert_eq!(found.len(), model.groups.len());
    for (page, group) in &model.groups {
        assert_eq!(found[&vec![page.clone()]]["distinct"]["value"], group.users.len() as f64, "{page}");
    }

    let json = scratch.run(&["count", "v.csv", "--by", "page", "--sum", "amount", "--json"]).json();
    assert_eq!(json["skipped"].as_u64(), Some(model.without_page));
    let found = groups(&json);
    for (page, group) in &model.groups {
        let answer = &found[&vec![page.clone()]];
        assert_eq!(answer["count"]["value"], group.rows as f64, "{page}");
        let sum = answer["sum"].as_f64().unwrap();
        assert!((sum - group.cents as f64 / 100.0).abs() < 1e-6, "{page}: {sum}");
    }

    let json = scratch.run(&["top", "v.csv", "-f", "user", "-k", "3", "--by", "page", "--json"]).json();
    let found = groups(&json);
    for (page, group) in &model.groups {
        let top = found[&vec![page.clone()]]["top"].as_array().unwrap();
        let mut counts: Vec<u64> = group.users.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        for (line, count) in top.iter().zip(counts) {
            assert_eq!(line["count"]["value"], count as f64, "{page}");
            assert_eq!(group.users[line["key"].as_str().unwrap()], count);
        }
    }

    let sampled = scratch.run(&["sample", "v.csv", "-n", "2", "--by", "page"]);
    let mut lines = sampled.ok().lines();
    assert_eq!(lines.next(), Some("user,page,amount"));
    let mut drawn: BTreeMap<&str, u64> = BTreeMap::new();
    let all: BTreeSet<&str> = text.lines().collect();
    for line in lines {
        assert!(all.contains(line));
        *drawn.entry(line.split(',').nth(1).unwrap()).or_default() += 1;
    }
    assert!(drawn.values().all(|rows| *rows == 2) && drawn.len() == model.groups.len());
}

#[test]
fn threads_and_memory_change_no_byte() {
    let (text, model) = visits(400_000, 70_000);
    let scratch = Scratch::with([("v.csv", &text)]);
    for command in [&["distinct", "-f", "user"][..], &["count", "--sum", "amount"]] {
        let mut files = Vec::new();
        let mut answers = Vec::new();
        for more in [["--threads", "1"], ["--threads", "4"], ["--memory", "64M"]] {
            let file = format!("{}.crivo", files.len());
            let rest = ["v.csv", "--by", "page", "--json", "-o", &file];
            answers.push(scratch.run(&[command, &rest, &more].concat()).ok().to_string());
            files.push(std::fs::read(scratch.path(&file)).unwrap());
        }
        assert!(files.windows(2).all(|pair| pair[0] == pair[1]) && answers.windows(2).all(|p| p[0] == p[1]));
        assert_eq!(groups(&serde_json::from_str(&answers[0]).unwrap()).len(), model.groups.len());
    }
}

/// With little memory, the groups of the earlier file wait in the temporary file.
#[test]
fn a_large_file_is_continued_to_the_same_bytes_in_any_memory() {
    let (text, _) = visits(400_000, 70_000);
    let (header, rows) = text.split_once('\n').unwrap();
    let (one, two) = rows.split_at(rows[..rows.len() / 2].rfind('\n').unwrap() + 1);
    let part = |rows: &str| format!("{header}\n{rows}");
    let scratch = Scratch::with([("1.csv", part(one)), ("2.csv", part(two)), ("all.csv", text.clone())]);
    let run = |args: &[&str]| {
        scratch.run(&[&["distinct", "-f", "user", "--by", "page", "--json"], args].concat()).ok().to_string()
    };
    let answers = run(&["all.csv", "-o", "all.crivo"]);
    for memory in ["64M", "1G"] {
        run(&["1.csv", "-o", "part.crivo"]);
        let continued = run(&["2.csv", "--into", "part.crivo", "--memory", memory]);
        assert!(scratch.read("part.crivo") == scratch.read("all.crivo"), "{memory}");
        let groups_of = |json: &str| groups(&serde_json::from_str(json).unwrap());
        assert!(groups_of(&continued) == groups_of(&answers), "{memory}");
    }
}

#[test]
fn files_with_all_groups_are_merged_continued_and_asked() {
    let scratch = Scratch::with([
        ("a.csv", "user,page,country\nana,/,PT\nrui,/,PT\nana,/help,PT\n"),
        ("b.csv", "user,page,country\neva,/,BR\nana,/,BR\n"),
    ]);
    let by = ["-f", "user", "--by", "page"];
    scratch.run(&[&["distinct", "a.csv", "-o", "a.crivo"], &by[..]].concat()).ok();
    scratch.run(&[&["distinct", "b.csv", "-o", "b.crivo"], &by[..]].concat()).ok();
    scratch.run(&[&["distinct", "a.csv", "b.csv", "-o", "all.crivo"], &by[..]].concat()).ok();
    scratch.run(&["merge", "a.crivo", "b.crivo", "-o", "merged.crivo"]).ok();
    scratch.run(&[&["distinct", "b.csv", "--into", "a.crivo"], &by[..]].concat()).ok();
    let read = |name: &str| std::fs::read(scratch.path(name)).unwrap();
    assert!(read("all.crivo") == read("merged.crivo") && read("all.crivo") == read("a.crivo"));
    let shown = scratch.run(&["show", "all.crivo", "--json"]).json();
    assert_eq!((shown["kind"].as_str(), shown["items"]["value"].as_f64()), (Some("Groups"), Some(2.0)));
    let asked = scratch.run(&["ask", "all.crivo", "--group", "/", "--json"]).json();
    assert_eq!((asked["group"][0].as_str(), asked["distinct"]["value"].as_f64()), (Some("/"), Some(3.0)));
    assert_eq!(scratch.run(&["ask", "all.crivo", "--group", "/none"]).code, Some(1));
    scratch.run(&["ask", "all.crivo", "ana"]).fails_with("--group");
    let other = ["distinct", "b.csv", "-f", "user", "--by", "page,country", "--into", "a.crivo"];
    scratch.run(&other).fails_with("fields 2 was asked for");

    scratch.run(&["count", "a.csv", "b.csv", "--by", "country,page", "-o", "c.crivo"]).ok();
    let asked = scratch.run(&["ask", "c.crivo", "--group", "PT,/", "--json"]).json();
    assert_eq!((asked["group"][1].as_str(), asked["count"]["value"].as_f64()), (Some("/"), Some(2.0)));
    scratch.run(&["top", "a.csv", "-f", "user", "--by", "country", "-o", "t.crivo"]).ok();
    let asked = scratch.run(&["ask", "t.crivo", "--group", "PT", "--json"]).json();
    assert_eq!((asked["top"][0]["key"].as_str(), asked["total"].as_u64()), (Some("ana"), Some(3)));
    let asked = scratch.run(&["ask", "t.crivo", "--group", "PT", "rui", "--json"]).json();
    assert_eq!(asked["answers"][0]["count"]["value"], 1.0);
}

#[test]
fn a_group_is_answered_in_every_form() {
    let scratch = Scratch::with([("v.csv", "user,page,n\nana,/,1\nrui,/,2.5\nana,/help,3\nana,/,\n")]);
    scratch.run(&["distinct", "v.csv", "-f", "user", "--by", "page", "-o", "d.crivo"]).ok();
    scratch.run(&["top", "v.csv", "-f", "user", "--by", "page,page", "-o", "t.crivo"]).ok();
    scratch.run(&["count", "v.csv", "--by", "page", "--sum", "n", "-o", "c.crivo"]).ok();
    let ask = |file: &str, group: &str, form: &str| {
        scratch.run(&["ask", file, "--group", group, "--output", form]).ok().to_string()
    };
    assert_eq!(ask("d.crivo", "/", "table"), "2\n");
    assert_eq!(
        ask("d.crivo", "/", "tsv"),
        "group\tdistinct\tdistinct_lower\tdistinct_upper\tdistinct_confidence\n/\t2\t2\t2\t1\n"
    );
    assert_eq!(
        ask("t.crivo", "/,/", "csv"),
        "group_1,group_2,value,count,count_lower,count_upper,count_confidence,share\n\
         /,/,ana,2,2,2,1,0.6666666666666666\n/,/,rui,1,1,1,1,0.3333333333333333\n"
    );
    assert_eq!(
        ask("c.crivo", "/", "markdown"),
        "| group | count | count_lower | count_upper | count_confidence | sum | mean |\n\
         |---|---|---|---|---|---|---|\n| / | 3 | 3 | 3 | 1 | 3.5 | 1.75 |\n"
    );
    let line: Value = serde_json::from_str(&ask("c.crivo", "/", "jsonl")).unwrap();
    assert_eq!((line["group"].as_str(), line["sum"].as_f64()), (Some("/"), Some(3.5)));
    let object: Value = serde_json::from_str(&ask("d.crivo", "/help", "json")).unwrap();
    assert_eq!(
        (object["group"][0].as_str(), object["distinct"]["value"].as_f64()),
        (Some("/help"), Some(1.0))
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    use std::io::Read as _;
    let text: String = (0..20_000).map(|row| format!("u,page {row}\n")).collect();
    let scratch = Scratch::with([("v.csv", &("user,page\n".to_string() + &text))]);
    for form in ["table", "tsv", "json"] {
        let mut command =
            scratch.command(&["distinct", "v.csv", "-f", "user", "--by", "page", "--output", form]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 10]).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{form}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{form}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn conditions_formats_and_tables_work_with_groups() {
    let scratch = Scratch::with([
        ("v.csv", "user,page\nana,/\nrui,/\nana,/help\n"),
        (
            "v.jsonl",
            "{\"user\":\"ana\",\"page\":\"/\"}\n{\"user\":\"rui\",\"page\":\"/\"}\n{\"user\":\"ana\",\"page\":\"/help\"}\n",
        ),
    ]);
    for file in ["v.csv", "v.jsonl"] {
        let args = ["distinct", file, "-f", "user", "--by", "page"];
        let table = scratch.run(&args);
        assert!(table.ok().starts_with("page   distinct\n/             2\n/help         1\n"), "{table:?}");
        let json = scratch.run(&[&args[..], &["--where", "user = ana", "--json"]].concat()).json();
        let found = groups(&json);
        assert_eq!(found[&vec!["/".to_string()]]["distinct"]["value"], 1.0);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let scratch = Scratch::with([("v.csv", "user,page\nana,/\n")]);
    for (args, message) in [
        (&["distinct", "v.csv", "-f", "user", "--by", "page", "--verify"][..], "cannot be used with --by"),
        (&["distinct", "v.csv", "-f", "user", "--by", "none"], "there is no field 'none'"),
        (&["distinct", "v.csv", "--by", "page"], "-f NAME"),
        (&["distinct", "v.csv", "-f", "user", "--by", "page", "--memory", "1M"], "at least 64M"),
        (&["distinct", "v.csv", "-f", "user", "--memory", "1G"], "--by"),
    ] {
        scratch.run(args).fails_with(message);
    }
}

/// Returns 359,503 groups, which need more than 64 MiB.
#[cfg(target_os = "linux")]
fn many_groups() -> Scratch {
    let mut text = String::from("user,page\n");
    for row in 0..1_500_000_u64 {
        let number = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
        writeln!(text, "u{},a rather long page/{}", number % 977, number % 500_000).unwrap();
    }
    Scratch::with([("v.csv", &text)])
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_with_many_groups_keeps_to_its_memory() {
    let scratch = many_groups();
    let args = ["distinct", "v.csv", "-f", "user", "--by", "page", "--memory", "64M", "--threads", "2"];
    let (text, peak) = scratch.run_with_peak(&args);
    assert!(text.contains("359503 groups, ") && text.contains(" in a temporary file"), "{}", text.len());
    assert!(peak <= 64 << 10, "{peak} KiB at most, 64 MiB were given");
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_process_leaves_nothing_behind() {
    let scratch = many_groups();
    let folder = scratch.path("tmp");
    std::fs::create_dir(&folder).unwrap();
    let args = ["distinct", "v.csv", "-f", "user", "--by", "page", "--memory", "64M", "-o", "g.crivo"];
    for wait in [50, 300, 900] {
        let mut command = scratch.command(&args);
        command.env("TMPDIR", &folder).stdout(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "after {wait} ms");
    }
}

#[test]
fn groups_of_bytes_that_are_no_text_look_different() {
    let scratch = Scratch::with([("a.txt", b"a\xFF\na\xFE\na\xFE\n")]);
    let json = scratch.run(&["count", "a.txt", "--by", "1", "--json"]).json();
    let groups: Vec<_> = json["groups"].as_array().unwrap().iter().map(|group| &group["group"][0]).collect();
    assert_eq!(groups, ["a\\xFE", "a\\xFF"]);
}
