//! A store that cannot be written, as on a full disk: mail is judged, lessons are refused, and both
//! work again when the disk has room.

use std::time::{Duration, Instant};

use crate::mail::{ham, odd, spam};
use crate::milter::miltertest;
use crate::soak::teach;
use crate::support::Office;

#[test]
fn a_full_disk_refuses_lessons_and_nothing_else_until_there_is_room() {
    let office = Office::trained();
    let server = office.serve_with_file_limits(&["--milter", "127.0.0.1:0"]);
    // The second time, the server has already opened the store for writing.
    for round in 0..2 {
        let (junk, wanted, lesson) = (spam(6_000 + round), ham(6_000 + round), odd(round));
        let before = server.spamc(&["-y"], &lesson).out;
        server.limit_files("0");
        let began = Instant::now();
        let refused = teach(&server, "spam", &lesson).unwrap_err();
        assert!(refused.starts_with("SPAMD/1.0 69 Service Unavailable: "), "{refused}");
        assert!(refused.contains("store") && refused.contains("mail.sqlite"), "{refused}");
        let told = server.spamc(&["-L", "spam"], &lesson);
        assert!(!told.out.contains("successfully"), "{told:?}");

        assert_eq!(server.spamc(&["-c"], &junk).code, Some(1));
        assert_eq!(server.spamc(&["-c"], &wanted).code, Some(0));
        let passed = server.spamc(&[], &junk).out;
        assert!(passed.starts_with("X-Spam-Flag: YES\n") && passed.ends_with(&junk), "{passed}");
        let ran = miltertest(&office, &server, &junk);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(server.spamc(&["-y"], &lesson).out, before, "nothing was learned");
        assert_eq!(server.get("/statistics").status, 200);
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());

        server.limit_files("unlimited");
        teach(&server, "spam", &lesson).expect("there is room again");
        assert!(server.spamc(&["-y"], &lesson).out.starts_with("CRIVO_SPAM"));
    }
    assert_eq!(server.end("TERM").0, Some(0));
    let stats = office.crivo(&["stats", "--store", "store", "--verify"], "");
    assert!(stats.code == Some(0) && stats.out.starts_with("302 messages learned\n"), "{stats:?}");
}

#[test]
fn a_user_without_a_store_gets_none_on_a_full_disk_and_one_later() {
    let office = Office::trained();
    let server = office.serve_with_file_limits(&["--users", "users", "--create-users"]);
    server.limit_files("0");
    let refused = server.spamc(&["-u", "ana", "-L", "spam"], &odd(1));
    assert!(!refused.out.contains("successfully"), "{refused:?}");
    assert_eq!(server.spamc(&["-u", "ana", "-c"], &spam(6_000)).code, Some(1), "the shared store answers");
    assert!(!office.path("users/ana/mail.sqlite").exists(), "no half of a store is left");
    server.limit_files("unlimited");
    let told = server.spamc(&["-u", "ana", "-L", "spam"], &odd(1));
    assert_eq!(told.out, "Message successfully un/learned\n", "{told:?}");
    assert_eq!(office.check("users/ana", &odd(1))["verdict"], "spam");
}
