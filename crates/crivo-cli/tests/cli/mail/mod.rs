//! `crivo mail`: exit codes that mail programs rely on, and messages that are never lost.

mod eval;

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Random, Scratch};

const SPAM: [&str; 8] = ["cheap", "offer", "winner", "prize", "click", "money", "pills", "bonus"];
const HAM: [&str; 8] = ["meeting", "report", "lunch", "project", "draft", "contract", "review", "agenda"];

pub(crate) fn message(random: &mut Random, is_spam: bool) -> String {
    let words = if is_spam { SPAM } else { HAM };
    let body: Vec<&str> = (0..30).map(|_| words[random.below(8) as usize]).collect();
    let (sender, number) = (random.below(9), random.below(1 << 40));
    format!(
        "From: p{sender}@{}.example\nSubject: {number}\n\n{}\n",
        if is_spam { "shop" } else { "work" },
        body.join(" ")
    )
}

pub(crate) fn mbox(random: &mut Random, is_spam: bool, count: usize) -> String {
    (0..count).map(|_| format!("From x Thu Jan  1 00:00:00 1970\n{}\n", message(random, is_spam))).collect()
}

/// Returns a store that has learned sixty messages of each kind.
pub(crate) fn trained() -> (Scratch, Random) {
    let mut random = Random::new(9);
    let scratch = Scratch::new();
    scratch.write("spam.mbox", mbox(&mut random, true, 60));
    scratch.write("ham.mbox", mbox(&mut random, false, 60));
    let run = scratch.run(&["mail", "train", "--store", "s", "--spam", "spam.mbox", "--ham", "ham.mbox"]);
    assert_eq!(run.ok(), "120 of 120 messages learned\n");
    (scratch, random)
}

pub(crate) fn check(scratch: &Scratch, message: &str) -> (Option<i32>, Value) {
    let run = scratch.feed(&["mail", "check", "--store", "s", "--json"], message);
    (run.code, serde_json::from_str(&run.out).unwrap())
}

#[test]
fn exit_codes_are_the_verdict() {
    let (scratch, mut random) = trained();
    for is_spam in [true, false] {
        for _ in 0..10 {
            let (code, report) = check(&scratch, &message(&mut random, is_spam));
            let expected = match report["verdict"].as_str() {
                Some("spam") => 0,
                Some("ham") => 1,
                Some("unsure") => 2,
                other => panic!("{other:?}"),
            };
            assert_eq!(code, Some(expected));
            assert_eq!(report["score"].as_f64().unwrap() >= 0.5, is_spam, "{report}");
            assert!(!report["reasons"].as_array().unwrap().is_empty() && report["labels"].is_object());
        }
    }
}

#[test]
fn the_exit_code_is_the_verdict_also_when_nobody_reads_it() {
    let (scratch, mut random) = trained();
    let mail = message(&mut random, false);
    let (expected, _) = check(&scratch, &mail);
    assert_ne!(expected, Some(0));
    for args in [&["mail", "check", "--store", "s"][..], &["mail", "check", "--store", "s", "--json"]] {
        let mut command = scratch.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(mail.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (expected, 0), "{args:?}: {output:?}");
    }
}

#[test]
fn a_path_that_is_not_there_is_named_once() {
    let scratch = Scratch::new();
    let run = scratch.run(&["mail", "train", "--store", "s", "--spam", "nothing"]);
    assert_eq!((run.code, run.err.matches("No such file").count()), (Some(3), 1), "{}", run.err);
    assert!(run.err.contains("nothing"));
}

#[test]
fn errors_are_3_and_mail_passes_through_them() {
    let (scratch, mut random) = trained();
    let mail = message(&mut random, true) + "\r\n\0 strange \u{200b} bytes";
    let wrong: [&[&str]; 6] = [
        &["mail", "check", "--store", "nothing"],
        &["mail", "check"],
        &["mail", "check", "--store", "s", "--wrong"],
        &["mail", "learn", "--store", "s", "neither"],
        &["mail", "wrong"],
        &["--quiet", "mail", "check", "--store"],
    ];
    for args in wrong {
        let run = scratch.feed(args, &mail);
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{args:?}");
        assert!(!run.err.is_empty());
        let passed = scratch.feed(&[args, &["--passthrough"]].concat(), &mail);
        assert_eq!((passed.code, passed.out), (Some(3), mail.clone()), "{args:?}");
    }
    let run = scratch.feed(&["mail", "learn", "--store", "s", "neither"], &mail);
    assert!(run.err.contains("expected spam, ham or label:NAME"), "{}", run.err);
    scratch.write("s/mail.sqlite", "this is no store");
    let passed = scratch.feed(&["mail", "check", "--store", "s", "--passthrough"], &mail);
    assert_eq!((passed.code, passed.out), (Some(3), mail));
    assert!(passed.err.contains("damaged"), "{}", passed.err);
    assert_eq!(scratch.run(&["mail", "check", "--help"]).code, Some(0));
}

#[test]
fn mail_passes_through_commands_that_nobody_understands() {
    let scratch = Scratch::new();
    let mail = "From: a@b.example\n\nnot lost\r\n";
    let wrong: [&[&str]; 5] = [
        &["--store", "few.s", "mail", "check"],
        &["--threads", "2", "mail", "check"],
        &["--store", "set", "mail", "check"],
        &["mial", "check"],
        &["check"],
    ];
    for args in wrong {
        let passed = scratch.feed(&[args, &["--passthrough"]].concat(), mail);
        assert_eq!((passed.code, passed.out.as_str()), (Some(3), mail), "{args:?}");
        assert!(!passed.err.is_empty());
    }
    // Only mail commands have their own exit code for errors, and only `--passthrough` returns the
    // message.
    let other = scratch.feed(&["count", "--wrong", "mail"], mail);
    assert_eq!((other.code, other.out.as_str()), (Some(2), ""));
    let no_pass = scratch.feed(&["--threads", "2", "mail", "check"], mail);
    assert_eq!((no_pass.code, no_pass.out.as_str()), (Some(3), ""));
}

#[test]
fn a_message_that_passes_through_has_one_verdict_and_keeps_its_bytes() {
    let (scratch, mut random) = trained();
    let mail = message(&mut random, false);
    let forged = format!("X-Crivo: ham; score=0.0000\n{mail}");
    for given in [&mail, &forged] {
        let run = scratch.feed(&["mail", "check", "--store", "s", "--passthrough"], given);
        let (first, rest) = run.ok().split_once('\n').unwrap();
        assert!(first.starts_with("X-Crivo: ") && first.contains("; score=0."), "{first}");
        assert_eq!(rest, mail);
    }
    // A message longer than the judged part is also returned whole.
    let long = format!("{mail}{}", "x".repeat(5 << 20));
    let run = scratch.feed(&["mail", "check", "--store", "s", "--passthrough"], &long);
    assert_eq!(run.ok().split_once('\n').unwrap().1.len(), long.len());
}

#[test]
fn feedback_corrects_and_can_be_taken_back() {
    let (scratch, mut random) = trained();
    let mail = message(&mut random, true);
    let before = check(&scratch, &mail);
    assert_eq!(scratch.feed(&["mail", "learn", "--store", "s", "ham"], &mail).ok(), "learned\n");
    assert_eq!(
        scratch.feed(&["mail", "learn", "--store", "s", "ham"], &mail).ok(),
        "learned before: nothing changed\n"
    );
    assert!(check(&scratch, &mail).1["score"].as_f64() < before.1["score"].as_f64());
    let moved = scratch.feed(&["mail", "learn", "--store", "s", "spam"], &mail);
    assert_eq!(moved.ok(), "moved from what it was learned as before\n");
    assert_eq!(scratch.feed(&["mail", "unlearn", "--store", "s", "spam"], &mail).ok(), "unlearned\n");
    assert_eq!(check(&scratch, &mail), before);
    assert_eq!(scratch.feed(&["mail", "unlearn", "--store", "s", "spam"], &mail).code, Some(1));
}

#[test]
fn stores_are_sets() {
    let (scratch, mut random) = trained();
    let mail = message(&mut random, true);
    let expected = check(&scratch, &mail);
    assert_eq!(scratch.run(&["mail", "export", "--store", "s", "all.exp"]).ok(), "all.exp: 120 messages\n");
    scratch.run(&["mail", "import", "--store", "t", "all.exp"]).ok();
    let merged = scratch.run(&["mail", "merge", "--store", "t", "s"]);
    assert_eq!(merged.ok(), "120 messages joined, 0 of them changed something\n");
    let run = scratch.feed(&["mail", "check", "--store", "t", "--json"], &mail);
    assert_eq!((run.code, run.json()), expected);
    let stats = scratch.run(&["mail", "stats", "--store", "t", "--verify", "--json"]).json();
    assert_eq!(
        (&stats["spam"], &stats["ham"], &stats["method"]),
        (&60.into(), &60.into(), &"default".into())
    );
    assert_eq!(
        scratch.run(&["mail", "expire", "--store", "t", "--older", "180d"]).ok(),
        "0 messages expired\n"
    );
    assert_eq!(scratch.run(&["mail", "import", "--store", "t", "spam.mbox"]).code, Some(3));
}

#[test]
fn an_empty_mailbox_has_no_message_and_a_compressed_one_has_its_own() {
    let (scratch, mut random) = trained();
    scratch.write("empty", "");
    let run = scratch.run(&["mail", "train", "--store", "s", "--spam", "empty"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), "0 of 0 messages learned\n"));
    let mut zipped = zstd::encode_all(mbox(&mut random, true, 7).as_bytes(), 3).unwrap();
    scratch.write("more.mbox.zst", &zipped);
    let run = scratch.run(&["mail", "train", "--store", "s", "--spam", "more.mbox.zst"]);
    assert_eq!(run.ok(), "7 of 7 messages learned\n");
    zipped.truncate(zipped.len() - 5);
    scratch.write("more.mbox.zst", &zipped);
    assert_eq!(scratch.run(&["mail", "train", "--store", "s", "--spam", "more.mbox.zst"]).code, Some(3));
}

#[test]
fn hidden_words_do_not_buy_a_verdict() {
    let (scratch, mut random) = trained();
    let (spam, ham) = (message(&mut random, true), message(&mut random, false));
    let (head, body) = spam.split_once("\n\n").unwrap();
    let words = ham.split_once("\n\n").unwrap().1.repeat(5);
    let page = |hidden: &str| format!("{head}\nContent-Type: text/html\n\n<p>{body}</p>{hidden}\n");
    let (_, bare) = check(&scratch, &page(""));
    assert!(bare["score"].as_f64().unwrap() >= 0.5);
    for hidden in [
        format!("<div style='display:none'>{words}</div>"),
        format!("<div hidden>{words}</div>"),
        format!("<p style='font-size:0px'>{words}</p>"),
        format!("<title>{words}</title>"),
    ] {
        let (_, report) = check(&scratch, &page(&hidden));
        assert!(report["score"].as_f64().unwrap() >= 0.5, "{hidden}: {report}");
    }
    let alternative = format!(
        "{head}\nContent-Type: multipart/alternative; boundary=x\n\n--x\n\n{words}\n--x\nContent-Type: text/html\n\n<p>{body}\n--x--\n"
    );
    let (_, report) = check(&scratch, &alternative);
    assert!(report["score"].as_f64().unwrap() >= 0.5, "{report}");
}

#[test]
fn labels_are_probabilities_and_keywords() {
    let (scratch, mut random) = trained();
    let args = ["mail", "train", "--store", "s", "--label", "shop=spam.mbox", "--label", "work=ham.mbox"];
    assert_eq!(scratch.run(&args).ok(), "120 of 120 messages learned\n");
    let mail = message(&mut random, false);
    let labels = &check(&scratch, &mail).1["labels"];
    assert!(labels["work"].as_f64().unwrap() > 0.5 && labels["shop"].as_f64().unwrap() < 0.5, "{labels}");
    let run = scratch.feed(&["mail", "check", "--store", "s", "--passthrough"], &mail);
    assert!(run.ok().contains("\nX-Crivo-Keywords: $category-work\n"), "{}", run.out);
}

#[test]
fn the_classic_method_has_labels_too() {
    let scratch = Scratch::new();
    let heron =
        "From: a@birds.example\n\nthe heron stood by the river at dusk and it was on the other side\n";
    scratch.write("heron.eml", heron);
    let train = ["mail", "train", "--store", "s", "--method", "classic", "--label", "birds=heron.eml"];
    assert_eq!(scratch.run(&train).ok(), "1 of 1 messages learned\n");
    let labels = |message: &str| check(&scratch, message).1["labels"].clone();
    assert_eq!(labels(&heron.replace("a@", "b@")), serde_json::json!({"birds": 1.0}));
    assert_eq!(labels("From: b@x.example\n\nall of that is for you\n"), serde_json::json!({"birds": 0.0}));
    let run = scratch.feed(&["mail", "unlearn", "--store", "s", "label:birds"], heron);
    assert_eq!(run.ok(), "unlearned\n");
    assert_eq!(labels(heron), serde_json::json!({}));
}

#[test]
fn evaluation_counts_every_message() {
    let (scratch, mut random) = trained();
    scratch.write("new-spam.mbox", mbox(&mut random, true, 30));
    scratch.write("new-ham.mbox", mbox(&mut random, false, 20));
    let paths = ["--spam", "new-spam.mbox", "--ham", "new-ham.mbox"];
    let report = scratch.run(&[&["mail", "eval", "--store", "s", "--json"][..], &paths].concat()).json();
    for (class, total) in [("spam", 30), ("ham", 20)] {
        let count = |verdict: &str| report[class][verdict].as_u64().unwrap();
        assert_eq!((count("total"), count("spam") + count("unsure") + count("ham")), (total, total));
    }
    assert_eq!(report["at_half"]["spam_caught"], 1.0);
    assert_eq!(report["at_half"]["ham_caught"], 0.0);
    assert_eq!(
        (&report["caught_at"][1]["spam_caught"], &report["area_above_roc"]),
        (&1.0.into(), &0.0.into())
    );
    assert!(report["seconds"].as_f64().unwrap() > 0.0);

    // Columns of the classic method are not shown for other methods.
    let table = scratch.run(&[&["mail", "eval", "--store", "s", "--sweep"][..], &paths].concat());
    assert!(table.ok().contains("spam caught  ham caught  threshold"), "{}", table.out);

    let classic = ["mail", "train", "--store", "c", "--method", "classic", "--spam", "spam.mbox"];
    scratch.run(&classic).ok();
    let table = scratch.run(&[&["mail", "eval", "--store", "c", "--sweep"][..], &paths].concat());
    assert!(table.ok().contains("blocked"), "{}", table.out);
    // A similarity can be set, but no threshold for ham.
    let policy = ["mail", "check", "--store", "c", "--ham-to", "0.1"];
    let run = scratch.feed(&policy, "Subject: x\n\ny\n");
    assert_eq!(run.code, Some(3));
    assert!(run.err.contains("classic"), "{}", run.err);
    let report =
        scratch.run(&[&["mail", "eval", "--store", "c", "--sweep", "--json"][..], &paths].concat()).json();
    let rows = report["sweep"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["threshold"], &rows[9]["threshold"]), (10, &0.1.into(), &1.0.into()));
    // No word is a stop word, so no shingle can be made.
    assert_eq!((&rows[0]["ham_caught"], &rows[0]["ham_empty"]), (&1.0.into(), &1.0.into()));
}

#[test]
fn subfolders_of_a_maildir_are_mailboxes_of_their_own() {
    let scratch = Scratch::new();
    let mut random = Random::new(3);
    for folder in ["md/cur", "md/new", "md/.Junk/cur"] {
        std::fs::create_dir_all(scratch.path(folder)).unwrap();
    }
    for number in 0..6 {
        scratch.write(&format!("md/cur/{number}"), message(&mut random, false));
        scratch.write(&format!("md/.Junk/cur/{number}"), message(&mut random, true));
    }
    let args = ["mail", "train", "--store", "s", "--spam", "md/.Junk", "--ham", "md", "--json"];
    assert_eq!(scratch.run(&args).json()["learned"], 12);
    let stats = scratch.run(&["mail", "stats", "--store", "s", "--json"]).json();
    assert_eq!((&stats["spam"], &stats["ham"]), (&6.into(), &6.into()));
}

#[test]
fn a_message_under_both_labels_is_an_error_that_names_it() {
    let scratch = Scratch::new();
    scratch.write("a.eml", "From: ana@example.org\nSubject: lunch on friday\n\nbody\n");
    scratch.write("b.eml", "From: b@example.org\nSubject: other\n\nbody\n");
    let run = scratch.run(&["mail", "train", "--store", "s", "--spam", "a.eml", "b.eml", "--ham", "a.eml"]);
    assert_eq!(run.code, Some(3));
    assert!(run.err.contains("lunch on friday") && run.err.contains("as spam and as ham"), "{}", run.err);
    assert!(!scratch.path("s").join("mail.sqlite").exists());
}

#[test]
fn thresholds_can_be_asked_for_and_are_kept() {
    let (scratch, mut random) = trained();
    let mail = message(&mut random, true);
    let verdict = |more: &[&str]| {
        let args = [&["mail", "check", "--store", "s", "--json"][..], more].concat();
        let report: Value = serde_json::from_str(&scratch.feed(&args, &mail).out).unwrap();
        report["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict(&["--spam-from", "0.5"]), "spam");
    assert_eq!(verdict(&["--spam-from", "1", "--ham-to", "0.999999"]), "ham");
    let wrong = scratch.feed(&["mail", "check", "--store", "s", "--false-positive-rate", "2"], &mail);
    assert!(wrong.code == Some(3) && wrong.err.contains("0.000001 to 0.5"), "{}", wrong.err);
    let crossed =
        scratch.feed(&["mail", "check", "--store", "s", "--spam-from", "0.4", "--ham-to", "0.6"], &mail);
    assert_eq!(crossed.code, Some(3));
    scratch.write("one.mbox", mbox(&mut random, true, 1));
    scratch.run(&["mail", "train", "--store", "s", "--spam", "one.mbox", "--spam-from", "0.51"]).ok();
    assert_eq!(verdict(&[]), "spam");
    assert_eq!(verdict(&["--spam-from", "1"]), "unsure");
    let stats = scratch.run(&["mail", "stats", "--store", "s", "--json"]).json();
    assert_eq!(stats["spam_from"], 0.51);
}

#[test]
fn lessons_that_contradict_their_label_are_listed_and_told() {
    let (scratch, mut random) = trained();
    scratch.write("more-spam.mbox", mbox(&mut random, true, 200));
    scratch.write("more-ham.mbox", mbox(&mut random, false, 200));
    let more = ["mail", "train", "--store", "s", "--spam", "more-spam.mbox", "--ham", "more-ham.mbox"];
    scratch.run(&more).ok();
    assert_eq!(scratch.run(&["mail", "audit", "--store", "s"]).code, Some(1), "nothing contradicts yet");
    let mail = message(&mut random, true);
    let run = scratch.feed(&["mail", "learn", "--store", "s", "ham"], &mail);
    let subject = mail.lines().nth(1).unwrap().trim_start_matches("Subject: ").to_owned();
    assert_eq!(run.code, Some(0));
    let audit = scratch.run(&["mail", "audit", "--store", "s", "--json"]).json();
    assert_eq!((&audit["messages"], &audit["contradictions"]), (&521.into(), &1.into()), "{audit}");
    let listed = &audit["listed"][0];
    assert_eq!((&listed["subject"], &listed["learned_as"]), (&subject.into(), &"ham".into()), "{audit}");
    assert!(listed["score"].as_f64().unwrap() > 0.9 && !listed["reasons"].as_array().unwrap().is_empty());
    let text = scratch.run(&["mail", "audit", "--store", "s"]);
    assert!(text.ok().contains("learned as ham"), "{}", text.out);
}

#[test]
fn senders_are_allowed_and_blocked() {
    let (scratch, mut random) = trained();
    let from =
        |sender: &str, message: String| format!("From: {sender}\n{}", message.split_once('\n').unwrap().1);
    let list = |args: &[&str]| scratch.run(&[&["mail"][..], args].concat());
    assert_eq!(list(&["block", "--store", "s"]).code, Some(1), "nothing is listed");
    let blocked = list(&["block", "--store", "s", "@Casino.example", "x@shop.example"]);
    assert_eq!(blocked.ok(), "blocked now: 2 of 2\n");
    assert_eq!(list(&["block", "--store", "s"]).ok(), "@casino.example\nx@shop.example\n");
    let (code, report) = check(&scratch, &from("a@casino.example", message(&mut random, false)));
    assert_eq!(code, Some(0), "{report}");
    list(&["allow", "--store", "s", "x@shop.example"]).ok();
    let (code, report) = check(&scratch, &from("x@shop.example", message(&mut random, true)));
    assert_eq!(code, Some(1), "{report}");
    let lists = list(&["allow", "--store", "s", "--json"]).json();
    assert_eq!(lists, serde_json::json!({"allowed": ["x@shop.example"], "blocked": ["@casino.example"]}));
    let removed = list(&["allow", "--store", "s", "--remove", "x@shop.example"]);
    assert_eq!(removed.ok(), "not allowed now: 1 of 1\n");
    assert_eq!(list(&["allow", "--store", "s", "--remove", "x@shop.example"]).code, Some(1));
    let refused = list(&["block", "--store", "s", "nobody"]);
    assert_eq!(refused.code, Some(3));
    assert!(refused.err.contains("such as ana@example.org"), "{}", refused.err);
}
