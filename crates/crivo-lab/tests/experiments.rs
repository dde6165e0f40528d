//! Runs every experiment as small as possible. Each must have its expected verdict, and the same
//! table on any number of threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // what fails here should fail loudly

use crivo_lab::{Outcome, Scale, Settings, experiments, page, run};

/// With `CRIVO_TEST_SEED` set (by `cargo xtask test --fresh-seeds`), all random numbers are
/// different, and the tests must still pass.
fn settings(threads: usize) -> Settings {
    let seed = match std::env::var("CRIVO_TEST_SEED") {
        Ok(seed) => seed.parse().unwrap_or_else(|_| panic!("CRIVO_TEST_SEED is no number: {seed}")),
        Err(_) => 0,
    };
    Settings { seed, scale: Scale::Tiny, threads, ..Settings::default() }
}

fn tables(outcomes: &[Outcome], settings: &Settings) -> Vec<(String, String)> {
    let csv = |file: &page::File| file.name != "index.html" && file.name != "times.csv";
    page::files(outcomes, settings).into_iter().filter(csv).map(|file| (file.name, file.text)).collect()
}

#[test]
fn every_experiment_gives_its_expected_verdict_and_repeats_on_any_threads() {
    let one = settings(1);
    let outcomes = run(experiments(), &one, &());
    let mut failed = Vec::new();
    for outcome in &outcomes {
        let name = outcome.experiment.name;
        let report = outcome.report.as_ref().unwrap_or_else(|error| panic!("{name}: {error}"));
        let judgement = report.judge();
        #[allow(clippy::print_stdout)] // with --nocapture: where the time goes
        {
            println!("{name} {:.2} s {} {}", outcome.seconds, judgement.verdict, judgement.reason());
        }
        if !outcome.is_expected() {
            failed.push(format!("{name}: {}: {}", judgement.verdict, judgement.reason()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // The page has every experiment, and tables begin with the settings that determine their bytes.
    let files = page::files(&outcomes, &one);
    let html = &files.iter().find(|file| file.name == "index.html").unwrap().text;
    for experiment in experiments() {
        assert!(html.contains(&format!("crivo lab run {}", experiment.name)), "{}", experiment.name);
    }
    let first = tables(&outcomes, &one);
    assert_eq!(first.len(), experiments().len());
    for (name, csv) in &first {
        let header = csv.lines().next().unwrap();
        assert!(header.starts_with("# crivo lab ") && header.contains("; seed="), "{name}: {header}");
        assert!(csv.lines().nth(1).unwrap().starts_with("part,role,label,x,observed,theory,"), "{name}");
    }

    outcomes.iter().for_each(every_check_can_fail);

    let two = settings(2);
    let again = tables(&run(experiments(), &two, &()), &two);
    for ((name, before), (_, after)) in first.iter().zip(&again) {
        assert!(before == after, "{name} depends on the number of threads");
    }
}

/// Checks that the bounds of a number exclude something, and that a bound alone is not shown as
/// theory.
fn every_check_can_fail(outcome: &Outcome) {
    let Ok(report) = &outcome.report else { return };
    for line in report.judge().lines {
        let (judged, subject) = (line.judged, line.subject());
        assert!(judged.lower.is_finite() || judged.upper.is_finite(), "{subject} has no bounds");
        assert_eq!(judged.theory.is_none(), judged.test == "bounds", "{subject}: {judged:?}");
        let is_share = judged.test == "binomial" || line.label.ends_with("of all");
        let all = judged.lower <= 0.0 && judged.upper >= 1.0;
        assert!(!(is_share && all), "{}: {subject} accepts every share", outcome.experiment.name);
    }
}

#[test]
fn another_seed_gives_other_numbers() {
    let pick = |seed| {
        let settings = Settings { seed, scale: Scale::Tiny, ..Settings::default() };
        let outcomes = run(&[crivo_lab::find("birthdays").unwrap()], &settings, &());
        tables(&outcomes, &settings).remove(0).1
    };
    let (one, other) = (pick(1), pick(2));
    assert_ne!(one.lines().nth(5), other.lines().nth(5));
}
