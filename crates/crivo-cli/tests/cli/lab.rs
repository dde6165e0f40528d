//! `crivo lab`: its list, its verdicts, its files, and the errors that it reports before any work.

use crate::support::Scratch;

#[test]
fn list_names_every_experiment_with_its_source() {
    let scratch = Scratch::new();
    let listed = scratch.run(&["lab", "list", "--json"]).json();
    let experiments = listed["experiments"].as_array().unwrap().clone();
    assert!(experiments.len() >= 39, "{}", experiments.len());
    for experiment in &experiments {
        assert!(
            experiment["claim"].as_str().unwrap().ends_with('.')
                && !experiment["sources"].as_array().unwrap().is_empty()
        );
        assert!(["confirmed", "refuted"].contains(&experiment["expected"].as_str().unwrap()));
    }
    let text = scratch.run(&["lab", "list"]);
    assert!(text.ok().contains("morris") && text.ok().contains("(to be refuted)"));
}

#[test]
fn run_writes_tables_times_and_a_page_that_repeat() {
    let scratch = Scratch::new();
    let run = |folder: &str, threads: &str| {
        scratch.run(&[
            "lab",
            "run",
            "optimum-k",
            "partition",
            "errata",
            "--scale",
            "tiny",
            "--seed",
            "7",
            "--threads",
            threads,
            "-o",
            folder,
            "--json",
        ])
    };
    let report = run("one", "1").json();
    assert_eq!(
        (report["seed"].as_u64(), report["scale"].as_str(), report["expected"].as_u64()),
        (Some(7), Some("tiny"), Some(3))
    );
    assert_eq!(report["experiments"][2]["verdict"], "refuted");
    assert_eq!(report["experiments"][2]["as_expected"], true);
    let mut names: Vec<String> = std::fs::read_dir(scratch.path("one"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["errata.csv", "index.html", "optimum-k.csv", "partition.csv", "times.csv"]);
    run("two", "2").json();
    for name in ["errata.csv", "optimum-k.csv", "partition.csv"] {
        assert_eq!(scratch.read(&format!("one/{name}")), scratch.read(&format!("two/{name}")), "{name}");
    }
    // In an existing folder the files are replaced, and no temporary files are left.
    run("one", "2").json();
    assert_eq!(std::fs::read_dir(scratch.path("one")).unwrap().count(), 5);
    let page = String::from_utf8(scratch.read("one/index.html")).unwrap();
    assert!(
        page.contains("crivo lab run partition --seed 7 --scale tiny")
            && page.contains("refuted, as expected")
    );
}

#[test]
fn verdicts_are_told_with_their_numbers() {
    let ran = Scratch::new().run(&["lab", "run", "optimum-k", "--scale", "tiny"]);
    assert!(ran.ok().contains("confirmed: all") && ran.ok().contains("1 of 1 verdicts are as expected"));
}

#[test]
fn an_unknown_experiment_gets_the_nearest_names() {
    Scratch::new().run(&["lab", "run", "moris"]).fails_with("moris: no such experiment; did you mean morris");
    Scratch::new()
        .run(&["lab", "run", "xyzzy"])
        .fails_with("xyzzy: no such experiment; `crivo lab list` names them all");
}

#[test]
fn what_cannot_be_written_is_known_before_any_work() {
    let scratch = Scratch::with([("file", "x")]);
    scratch.run(&["lab", "all", "-o", "file"]).fails_with("file: is no folder");
    scratch.run(&["lab", "all", "-o", "no/such/folder"]).fails_with("cannot be made in");
}

#[test]
fn files_of_another_shape_are_refused_before_any_work() {
    let scratch = Scratch::with([("ratings.csv", "userId,movieId,rating\n1,2,3\n")]);
    let movielens = |path: &str| scratch.run(&["lab", "run", "similar-users", "--movielens", path]);
    movielens("ratings.csv").fails_with("ratings.csv:1: expected user, film, rating and time");
    movielens("none.dat").fails_with("none.dat: no such file");
    movielens(".").fails_with("has neither u.data nor ratings.dat");
    let mail = |path: &str| scratch.run(&["lab", "run", "mail", "--mail", path]);
    mail(".").fails_with("expected a folder with the folders spam and ham");
    mail("none").fails_with("none: no such folder");
    std::fs::create_dir_all(scratch.path("one/spam")).unwrap();
    scratch.write("one/spam/1", "From: ana@example.org\n\nHello\n");
    std::fs::create_dir(scratch.path("one/ham")).unwrap();
    mail("one").fails_with("one/spam: expected two messages or more");
}

#[test]
fn a_folder_of_mail_is_asked_about_and_named_in_the_command() {
    let scratch = Scratch::new();
    for folder in ["my mail/spam", "my mail/ham"] {
        std::fs::create_dir_all(scratch.path(folder)).unwrap();
    }
    for number in 0..6 {
        // Spam with repeated words, and ham without.
        let spam = "you win the prize of this week and the offer is for you in the shop of your town";
        scratch.write(
            &format!("my mail/spam/{number}"),
            format!("From: a{number}@example.org\n\n{spam} {number}\n"),
        );
        let ham =
            format!("the {number} of a{number} to b{number} and in c{number} for d{number} with e{number}");
        scratch.write(&format!("my mail/ham/{number}"), format!("From: b{number}@example.org\n\n{ham}\n"));
    }
    let run = ["lab", "run", "mail", "mail", "--scale", "tiny", "--mail", "my mail", "-o", "out"];
    let report = scratch.run(&[&run[..], &["--json"]].concat()).json();
    assert_eq!(report["experiments"].as_array().unwrap().len(), 1, "{report}");
    let table = String::from_utf8(scratch.read("out/mail.csv")).unwrap();
    assert!(table.contains("; learned_of_folder=3; asked_of_folder=6; spam_filtered=1.0000 "), "{table}");
    let page = String::from_utf8(scratch.read("out/index.html")).unwrap();
    assert!(page.contains("crivo lab run mail --scale tiny --mail 'my mail'"));

    // All spam is caught, which differs from the published figures. That is a separate verdict,
    // which does not affect the first.
    let mail = &report["experiments"][0];
    assert_eq!((&mail["verdict"], &mail["published"]["verdict"]), (&"confirmed".into(), &"refuted".into()));
    assert!(table.starts_with("# crivo lab ") && table.contains("; verdict=confirmed; published=refuted; "));
    let figures = "The folder of mail beside the original's figures,published,";
    assert!(
        table.contains(&format!(
            "{figures}\"spam that is filtered at 0.1, of all\",,1,,0.765,0.835,0,bounds,false\n"
        )),
        "{table}"
    );
    assert!(page.contains("published figures: refuted"));
    let told = scratch.run(&run);
    assert!(
        told.ok().contains(
            "published figures refuted: 100.0 % of the folder's spam and 0.0 % of its ham are filtered at 0.1"
        ),
        "{told:?}"
    );
}

/// Ratings without similar users confirm nothing.
#[test]
fn ratings_without_similar_users_leave_the_verdict_in_doubt() {
    let scratch = Scratch::with([("u.data", "1\t1\t4\t881250949\n2\t2\t4\t881250949\n")]);
    let ran = scratch.run(&["lab", "run", "similar-users", "--movielens", "u.data"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.out.contains("doubtful, expected confirmed") && ran.out.contains("similar pairs in the list")
    );
}

/// Ratings in both formats of MovieLens give the same sets.
#[test]
fn ratings_are_read_in_both_forms() {
    let mut tabs = String::new();
    for user in 1..=60_u32 {
        // Every third user has nearly the same films as the one before.
        for film in 0..25_u32 {
            let shared = if user % 3 == 0 { user - 1 } else { user };
            let film = if user % 3 == 0 && film < 2 { 5_000 + user } else { shared * 100 + film };
            tabs += &format!("{user}\t{film}\t4\t881250949\n");
        }
    }
    let scratch = Scratch::new();
    scratch.write("u.data", &tabs);
    scratch.write("ratings.dat", tabs.replace('\t', "::"));
    let run = |path: &str| {
        let report =
            scratch.run(&["lab", "run", "similar-users", "equal-sets", "--movielens", path, "--json"]).json();
        assert_eq!(report["expected"], 2, "{report}");
        report["experiments"][0]["checks"].as_u64().unwrap()
    };
    assert_eq!(run("u.data"), run("ratings.dat"));
}
