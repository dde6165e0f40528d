//! The real `spamc`, option by option.

use crate::mail::{ham, odd, spam};
use crate::support::{Office, Ran};

const NEW: u64 = 1_000_000;

#[test]
fn ping_is_answered() {
    let (office, message) = (Office::trained(), "");
    let pong = office.serve(&[]).spamc(&["-K"], message);
    assert_eq!((pong.code, pong.out.as_str()), (Some(0), "SPAMD/1.5 0\n"), "{pong:?}");
}

#[test]
fn check_gives_the_verdict_as_exit_code_and_points() {
    let office = Office::trained();
    let server = office.serve(&[]);
    for number in NEW..NEW + 5 {
        let (bad, good) = (server.spamc(&["-c"], &spam(number)), server.spamc(&["-c"], &ham(number)));
        assert_eq!((bad.code, good.code), (Some(1), Some(0)), "{bad:?} {good:?}");
        let points = |ran: &Ran| ran.out.strip_suffix("/5.0\n").unwrap().parse::<f64>().unwrap();
        assert!(points(&bad) >= 5.0 && points(&good) < 0.0, "{bad:?} {good:?}");
    }
}

#[test]
fn verdicts_are_those_of_the_command() {
    let office = Office::trained();
    let server = office.serve(&[]);
    for message in [spam(NEW), ham(NEW), odd(1)] {
        let says = office.check("store", &message);
        let symbols = server.spamc(&["-y"], &message).out;
        let verdict = says["verdict"].as_str().unwrap().to_uppercase();
        assert!(symbols.starts_with(&format!("CRIVO_{verdict}")), "{symbols} {says}");
    }
}

#[test]
fn a_message_passes_through_with_headers_on_top_and_forged_ones_gone() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let sent = spam(NEW);
    let forged = format!("X-Spam-Flag: NO\nX-Spam-Status: No, score=-9\n\ttests=NONE\n{sent}");
    let passed = server.spamc(&[], &forged);
    assert_eq!(passed.code, Some(0));
    assert!(passed.out.starts_with("X-Spam-Flag: YES\nX-Spam-Level: *****"), "{passed:?}");
    assert!(passed.out.contains("\nX-Spam-Status: Yes, score="), "{passed:?}");
    assert!(passed.out.ends_with(&sent) && !passed.out.contains("NO\n"), "{passed:?}");
    assert_eq!(server.spamc(&["-E"], &sent).code, Some(1), "-E gives the verdict too");
    let wanted = server.spamc(&[], &ham(NEW));
    assert!(!wanted.out.contains("X-Spam-Flag") && wanted.out.contains("X-Spam-Status: No, "), "{wanted:?}");
    assert!(wanted.out.ends_with(&ham(NEW)));
}

#[test]
fn headers_alone_come_back_with_spamcs_own_copy_of_the_body() {
    let office = Office::trained();
    let server = office.serve(&[]);
    assert_eq!(server.spamc(&["--headers"], &spam(NEW)).out, server.spamc(&[], &spam(NEW)).out);
}

#[test]
fn reports_say_why() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let report = server.spamc(&["-R"], &spam(NEW)).out;
    assert!(report.contains("crivo calls this message spam.") && report.contains("Why:\n * "), "{report}");
    let reasons = office.check("store", &spam(NEW))["reasons"].as_array().unwrap().clone();
    for reason in reasons {
        assert!(report.contains(reason.as_str().unwrap()), "{reason} in {report}");
    }
    assert!(server.spamc(&["-R"], &ham(NEW)).out.contains("crivo calls this message ham."));
    assert!(server.spamc(&["-r"], &spam(NEW)).out.contains("crivo calls this message spam."));
    assert!(!server.spamc(&["-r"], &ham(NEW)).out.contains("crivo"), "no report on ham was asked for");
}

#[test]
fn lessons_are_learned_once_and_taken_back() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let (done, already) = ("Message successfully un/learned\n", "Message was already un/learned\n");
    for (option, expected) in
        [("spam", done), ("spam", already), ("ham", done), ("forget", done), ("forget", already)]
    {
        let told = server.spamc(&["-L", option], &odd(7));
        assert_eq!((told.code, told.out.as_str()), (Some(0), expected), "{option}: {told:?}");
    }
}

#[test]
fn a_few_lessons_change_the_verdict_and_survive_the_server() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let before = server.spamc(&["-y"], &odd(99)).out;
    for number in 0..12 {
        assert_eq!(server.spamc(&["-L", "spam"], &odd(number)).code, Some(0));
    }
    let after = server.spamc(&["-y"], &odd(99)).out;
    assert!(!before.contains("CRIVO_SPAM") && after.contains("CRIVO_SPAM"), "{before} → {after}");
    server.end("KILL");
    assert_eq!(
        office.check("store", &odd(99))["verdict"],
        "spam",
        "what was reported learned is on the disk"
    );
}

#[test]
fn each_user_has_a_store_beside_the_shared_one() {
    let office = Office::trained();
    let server = office.serve(&["--users", "users", "--create-users"]);
    for number in 0..25 {
        assert_eq!(server.spamc(&["-u", "alice", "-L", "ham"], &spam(number)).code, Some(0));
        assert_eq!(server.spamc(&["-u", "alice", "-L", "spam"], &ham(number)).code, Some(0));
    }
    let symbols = |user: &str| server.spamc(&["-u", user, "-y"], &spam(NEW)).out;
    assert!(symbols("bob").starts_with("CRIVO_SPAM"), "{}", symbols("bob"));
    assert!(!symbols("alice").starts_with("CRIVO_SPAM"), "alice likes it: {}", symbols("alice"));
    let stores: Vec<_> =
        std::fs::read_dir(office.path("users")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(stores, ["alice"], "asking makes no store");
}

#[test]
fn a_message_above_spamcs_limit_passes_unchanged() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let message = spam(NEW) + &"x".repeat(5000);
    let passed = server.spamc(&["-s", "1000"], &message);
    assert_eq!((passed.code, passed.out == message), (Some(0), true));
}

#[test]
fn a_message_above_the_servers_limit_is_judged_but_not_sent_back() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let message = spam(NEW) + &"x".repeat(33 << 20);
    assert_eq!(server.spamc(&["-c", "-s", "100000000"], &message).code, Some(1));
    let passed = server.spamc(&["-s", "100000000"], &message);
    assert_eq!(
        (passed.code, passed.out == message),
        (Some(0), true),
        "spamc falls back to the message as it was"
    );
}

#[test]
fn without_a_server_no_mail_is_lost() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let port = server.spamd.port().to_string();
    drop(server);
    let dead = |options: &[&str]| {
        let mut command = crate::support::program("spamc");
        command.args(["-d", "127.0.0.1", "-p", &port, "--connect-retries=1"]).args(options);
        crate::support::fed(&mut command, spam(1).as_bytes())
    };
    assert_eq!((dead(&[]).code, dead(&[]).out), (Some(0), spam(1)));
    assert_eq!(dead(&["-x"]).code, Some(69));
}
