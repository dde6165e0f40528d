//! `crivo mail eval`: verdicts, the list of wrong messages, and the page with learning over time.

use crivo_browser_test::Browser;
use serde_json::Value;

use super::{mbox, message, trained};
use crate::support::{Random, Scratch};

/// Returns an mbox whose messages have dates.
fn dated(random: &mut Random, is_spam: bool, count: usize) -> String {
    let one = |day: usize| {
        let date = format!("Date: {} Jan 2024 10:00:00 +0000\n", day % 28 + 1);
        format!("From x Thu Jan  1 00:00:00 1970\n{date}{}\n", message(random, is_spam))
    };
    (0..count).map(one).collect()
}

#[test]
fn mail_in_the_order_of_dates_is_judged_and_then_taught() {
    let scratch = Scratch::new();
    let mut random = Random::new(5);
    scratch.write("spam.mbox", dated(&mut random, true, 60));
    scratch.write("ham.mbox", dated(&mut random, false, 60));
    let paths = ["--spam", "spam.mbox", "--ham", "ham.mbox", "--json"];
    let played = |store: &str, more: &[&str]| {
        let run = scratch.run(&[&["mail", "eval", "--store", store][..], more, &paths].concat());
        serde_json::from_str::<Value>(run.ok()).unwrap()
    };
    let all = played("a", &["--online", "everything", "--every", "10"]);
    assert_eq!((&all["lessons"], &all["spam"]["total"]), (&120.into(), &60.into()));
    assert_eq!(all["steps"].as_array().unwrap().len(), 10);
    let mistakes = played("m", &["--online", "mistakes", "--every", "5"]);
    assert!(mistakes["lessons"].as_u64().unwrap() < 120, "{mistakes}");
    played("n", &["--online", "everything", "--every", "20", "--noise", "5%"]);
    let stats = scratch.run(&["mail", "stats", "--store", "a", "--json"]).json();
    assert_eq!(stats["messages"], 120);
    let wrong = scratch.run(&[
        "mail",
        "eval",
        "--store",
        "x",
        "--online",
        "everything",
        "--noise",
        "80%",
        "--spam",
        "spam.mbox",
    ]);
    assert_eq!(wrong.code, Some(3));
}

/// Returns mail to replay. The last ham message has the words of spam and a hostile subject, so that
/// it is called spam.
fn with_a_trap() -> Scratch {
    let scratch = Scratch::new();
    let mut random = Random::new(6);
    scratch.write("spam.mbox", dated(&mut random, true, 90));
    let trap = message(&mut random, true).split_once("\n\n").unwrap().1.to_owned();
    let trap = format!(
        "From x Thu Jan  1 00:00:00 1970\nDate: 29 Jan 2024 10:00:00 +0000\nFrom: p1@shop.example\n\
         Subject: <script>window.evil=1</script><img src=x onerror=window.evil=2> & more\n\n{trap}\n"
    );
    scratch.write("ham.mbox", dated(&mut random, false, 90) + &trap);
    scratch
}

const REPLAY: [&str; 12] = [
    "mail",
    "eval",
    "--store",
    "s",
    "--online",
    "everything",
    "--every",
    "10",
    "--spam",
    "spam.mbox",
    "--ham",
    "ham.mbox",
];

#[test]
fn the_page_has_the_figures_of_the_json() {
    let scratch = with_a_trap();
    let json = scratch.run(&[&REPLAY[..], &["--json", "--html", "page.html"]].concat()).json();
    let count = |class: &str, verdict: &str| json[class][verdict].as_f64().unwrap();
    assert_eq!((count("spam", "total"), count("ham", "total")), (90.0, 91.0));
    let browser = Browser::start();
    browser.open(&format!("file://{}", scratch.path("page.html").display()));

    let shown = browser.run(
        "return [...document.querySelectorAll('[data-field]')].map((one) => [one.dataset.field, one.dataset.value])",
    );
    let field = |name: &str| -> f64 {
        let found = shown.as_array().unwrap().iter().find(|pair| pair[0] == name);
        let value = &found.unwrap_or_else(|| panic!("no {name} in {shown}"))[1];
        value.as_str().unwrap_or_else(|| panic!("no number of {name} in {shown}")).parse().unwrap()
    };
    for class in ["spam", "ham"] {
        assert_eq!(field(&format!("{class}.total")), count(class, "total"));
        for verdict in ["spam", "unsure", "ham"] {
            let name = format!("{class}.{verdict}");
            assert_eq!(field(&name), count(class, verdict), "{name}");
            assert_eq!(
                field(&format!("{name}.share")),
                count(class, verdict) / count(class, "total"),
                "{name}"
            );
        }
    }
    assert_eq!(field("caught"), count("spam", "spam") / 90.0);
    assert_eq!(field("ham_called_spam"), count("ham", "spam") / 91.0);
    assert_eq!(field("unsure"), (count("spam", "unsure") + count("ham", "unsure")) / 181.0);
    assert_eq!((field("lessons"), json["lessons"].as_f64()), (181.0, Some(181.0)));
    assert_eq!(field("area_above_roc"), json["area_above_roc"].as_f64().unwrap());
    for at in 0..3 {
        let told = json["caught_at"][at]["spam_caught"].as_f64().unwrap();
        assert_eq!(field(&format!("caught_at.{at}.spam_caught")), told);
    }
    for (at, step) in json["steps"].as_array().unwrap().iter().enumerate() {
        let share = step["spam"]["spam"].as_f64().unwrap() / step["spam"]["total"].as_f64().unwrap();
        assert_eq!(field(&format!("steps.{at}.spam.spam.share")), share);
        assert_eq!(field(&format!("steps.{at}.ham.total")), step["ham"]["total"].as_f64().unwrap());
    }

    // Plots with few points have a table of their numbers.
    let curve = json["curve"].as_array().unwrap();
    for (picture, name) in [("lessons", "lessons"), ("ham", "ham_called_spam")] {
        let script = format!(
            "return [...document.querySelectorAll('[data-picture={picture}] tbody tr')].map((row) =>
                 [...row.cells].map((cell) => cell.dataset.value))"
        );
        let rows = browser.run(&script);
        let rows = rows.as_array().unwrap();
        assert_eq!((rows.len(), curve.len()), (60, 60), "{picture}");
        for (row, point) in rows.iter().zip(curve) {
            let number = |at: usize| row[at].as_str().unwrap().parse::<f64>().unwrap();
            assert_eq!(number(0), point["messages"].as_f64().unwrap());
            match point[name].as_f64() {
                Some(told) => assert_eq!(number(1), told, "{picture}: {point}"),
                None => assert!(number(1).is_nan(), "{picture}: {point}"),
            }
        }
    }
    assert_eq!(browser.run("return document.querySelectorAll('svg[role=img] > svg .line').length"), 4);
}

#[test]
fn the_page_lists_wrong_messages_and_their_subjects_do_nothing() {
    let scratch = with_a_trap();
    let json = scratch.run(&[&REPLAY[..], &["--json", "--html", "page.html"]].concat()).json();
    let wrong = json["mistakes"].as_array().unwrap();
    let trap = wrong.iter().find(|one| one["class"] == "ham").expect("the trap is called spam");
    assert_eq!(
        (&trap["path"], &trap["number"], &trap["place"]),
        (&"ham.mbox".into(), &91.into(), &180.into())
    );
    let subject = trap["subject"].as_str().unwrap();
    assert!(subject.starts_with("<script>"), "{subject}");

    let page = String::from_utf8(scratch.read("page.html")).unwrap();
    assert!(!page.contains(subject) && page.contains("&lt;script&gt;window.evil=1&lt;/script&gt;"));
    let browser = Browser::start();
    browser.open(&format!("file://{}", scratch.path("page.html").display()));
    let rows = browser.run(
        "return [...document.querySelectorAll('.about')].map((one) => ({
             subject: one.querySelector('.subject').textContent,
             reasons: [...one.querySelectorAll('li')].map((reason) => reason.textContent),
             row: [...one.closest('tr').cells].map((cell) => cell.textContent),
         }))",
    );
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), wrong.len());
    let shown = &rows[0];
    assert_eq!(shown["subject"], subject, "ham is first");
    assert_eq!(shown["reasons"], trap["reasons"]);
    assert_eq!((&shown["row"][0], &shown["row"][1]), (&"181".into(), &"ham called spam".into()));
    assert_eq!(shown["row"][3], "2024-01-29 10:00:00");
    assert_eq!(browser.run("return window.evil ?? null"), Value::Null);
    assert_eq!(browser.run("return document.querySelectorAll('main script, main img').length"), 0);
    assert_eq!(browser.foreign_requests(), Vec::<String>::new());
    // Readable in both themes, and no sideways scrolling on a phone.
    browser.audit();
    if let Some(folder) = std::env::var_os("CRIVO_SCREENSHOTS") {
        browser.screenshot(&std::path::Path::new(&folder).join("mail-learning-light.png"));
        browser.prefer(crivo_browser_test::Theme::Dark);
        browser.resize(390, 844);
        browser.screenshot(&std::path::Path::new(&folder).join("mail-learning-phone-dark.png"));
    }
}

#[test]
fn the_page_is_written_instead_of_the_table_and_replaces_no_mail() {
    let scratch = with_a_trap();
    let run = scratch.run(&[&REPLAY[..], &["--html", "page.html"]].concat());
    assert_eq!(run.ok(), "Wrote page.html.\n");
    // Neither mail nor the store is replaced, not even one that is made first.
    std::fs::create_dir(scratch.path("new")).unwrap();
    for (store, output) in
        [("s", "spam.mbox"), ("s", "./ham.mbox"), ("s", "s/mail.sqlite"), ("new", "new/mail.sqlite")]
    {
        let before = std::fs::read(scratch.path(output)).ok();
        let mut args = REPLAY.to_vec();
        args[3] = store;
        let run = scratch.run(&[&args[..], &["--html", output]].concat());
        assert_eq!(run.code, Some(3), "{output}: {run:?}");
        assert!(run.err.contains("is read, and would be replaced"), "{}", run.err);
        assert!(std::fs::read(scratch.path(output)).ok() == before, "{output}");
    }
    // A path that cannot be written is found before anything is taught.
    let mut args = REPLAY.to_vec();
    args[3] = "untouched";
    let run = scratch.run(&[&args[..], &["--html", "nowhere/page.html"]].concat());
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(!scratch.path("untouched").exists());
}

#[test]
fn a_page_needs_a_replay_and_says_what_to_type() {
    let scratch = with_a_trap();
    let args = ["mail", "eval", "--store", "s", "--spam", "spam.mbox", "--html", "page.html"];
    let run = scratch.run(&args);
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""));
    assert!(run.err.contains("add --online everything or --online mistakes"), "{}", run.err);
    assert!(!scratch.path("page.html").exists());
    scratch.write("empty", "");
    let args =
        ["mail", "eval", "--store", "t", "--online", "mistakes", "--ham", "empty", "--html", "page.html"];
    assert_eq!(scratch.run(&args).code, Some(1), "there was no message");
    assert!(String::from_utf8(scratch.read("page.html")).unwrap().contains("There was no message to judge."));
}

#[test]
fn wrong_messages_are_listed_with_their_files() {
    let (scratch, mut random) = trained();
    // Spam in the folder of ham, and ham in the mbox of spam.
    std::fs::create_dir(scratch.path("ham")).unwrap();
    for number in 0..25 {
        scratch.write(&format!("ham/{number:02}.eml"), message(&mut random, true));
    }
    scratch.write("ham/25.eml", message(&mut random, false));
    scratch.write("spam.mbox", mbox(&mut random, true, 3) + &mbox(&mut random, false, 2));
    // All verdicts are sure, so that every message of the other kind is wrong.
    scratch.write("one.mbox", mbox(&mut random, true, 1));
    let sure = ["--spam-from", "0.5", "--ham-to", "0.49"];
    scratch.run(&[&["mail", "train", "--store", "s", "--spam", "one.mbox"][..], &sure].concat()).ok();
    let eval = ["mail", "eval", "--store", "s", "--spam", "spam.mbox", "--ham", "ham"];
    let json = scratch.run(&[&eval[..], &["--json"]].concat()).json();
    let wrong = json["wrong"].as_array().unwrap();
    assert_eq!((wrong.len(), &json["ham"]["spam"], &json["spam"]["ham"]), (27, &25.into(), &2.into()));
    let (first, other) = (&wrong[0], &wrong[2]);
    assert_eq!((&first["path"], &first["number"]), (&"spam.mbox".into(), &4.into()));
    assert_eq!((&first["is"], &first["verdict"]), (&"spam".into(), &"ham".into()));
    assert_eq!((&other["path"], &other["number"]), (&"ham/00.eml".into(), &Value::Null));
    assert_eq!((&other["is"], &other["verdict"]), (&"ham".into(), &"spam".into()));
    assert!(first["score"].as_f64().unwrap() < 0.5 && other["score"].as_f64().unwrap() > 0.5, "{json}");
    assert!(wrong.iter().all(|one| !one["reasons"].as_array().unwrap().is_empty()), "{json}");

    let text = scratch.run(&eval);
    let listed: Vec<&str> = text.ok().lines().filter(|line| line.contains(" called ")).collect();
    assert_eq!(listed.len(), 20, "{}", text.out);
    assert!(listed[0].starts_with("ham called spam: ham/00.eml, score "), "{}", listed[0]);
    assert!(text.out.contains("\nand 7 more: --json lists all\n"), "{}", text.out);
    let quiet = scratch.run(&[&["--quiet"][..], &eval].concat());
    assert!(!quiet.ok().contains(" called ") && !quiet.out.contains("more: "), "{}", quiet.out);

    // Without a wrong message the list is empty.
    let right = ["mail", "eval", "--store", "s", "--spam", "one.mbox", "--json"];
    assert_eq!(scratch.run(&right).json()["wrong"], serde_json::json!([]));
}
