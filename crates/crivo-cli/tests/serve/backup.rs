//! Backups while the server learns: each is of one moment, and has every lesson that was
//! acknowledged before.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::mail::{ham, spam};
use crate::soak::teach;
use crate::support::{Office, Server, eventually};

/// The number of the first lesson. All that were trained are below.
const FIRST: u64 = 200_000;

/// Returns a lesson and its class, which is in turn spam and ham.
fn lesson(number: u64) -> (&'static str, String) {
    if number.is_multiple_of(2) { ("spam", spam(FIRST + number)) } else { ("ham", ham(FIRST + number)) }
}

/// Ends the teaching when it is dropped, also if a check fails.
struct Teaching<'a>(&'a AtomicBool);

impl Drop for Teaching<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Makes three backups with `back_up`, which gets the name of a store to make, while a client
/// teaches. Checks that each has the lessons that were acknowledged before it was begun.
fn backups_have_what_was_acknowledged(back_up: impl Fn(&Office, &Server, &str)) {
    let office = Office::trained();
    let server = office.serve(&[]);
    let (done, is_over) = (Mutex::new(0_u64), AtomicBool::new(false));
    let acknowledged = || *done.lock().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let (class, message) = lesson(number);
                teach(&server, class, &message).expect("a lesson");
                *done.lock().unwrap() = number + 1;
            }
        });
        let _teaching = Teaching(&is_over);
        for round in 0..3 {
            let enough = 8 * (round + 1);
            eventually("the server learns", || acknowledged() >= enough);
            let before = acknowledged();
            let copy = format!("copy{round}");
            back_up(&office, &server, &copy);
            has_lessons(&office, &copy, before);
            eventually("the server goes on learning", || acknowledged() > before);
        }
    });
}

/// Checks that every record of a store is whole, and that it has learned the first `count` lessons.
fn has_lessons(office: &Office, store: &str, count: u64) {
    let verified = office.crivo(&["stats", "--store", store, "--verify"], "");
    assert_eq!(verified.code, Some(0), "{verified:?}");
    for class in ["spam", "ham"] {
        std::fs::create_dir_all(office.path("taught").join(class)).unwrap();
    }
    for number in 0..count {
        let (class, message) = lesson(number);
        let file = office.path("taught").join(class).join(format!("{number}.eml"));
        std::fs::write(file, message).unwrap();
    }
    let again = ["train", "--store", store, "--spam", "taught/spam", "--ham", "taught/ham", "--json"];
    let trained: serde_json::Value = serde_json::from_str(&office.crivo(&again, "").out).unwrap();
    assert_eq!((&trained["already"], &trained["learned"]), (&count.into(), &0.into()), "{store}: {trained}");
}

#[test]
fn an_export_while_the_server_learns_has_every_acknowledged_lesson() {
    backups_have_what_was_acknowledged(|office, _, copy| {
        let file = format!("{copy}.crivo-mail");
        let exported = office.crivo(&["export", "--store", "store", &file], "");
        assert_eq!(exported.code, Some(0), "{exported:?}");
        let imported = office.crivo(&["import", "--store", copy, &file], "");
        assert_eq!(imported.code, Some(0), "{imported:?}");
    });
}

#[test]
fn a_store_merged_while_the_server_learns_has_every_acknowledged_lesson() {
    backups_have_what_was_acknowledged(|office, _, copy| {
        let merged = office.crivo(&["merge", "--store", copy, "store"], "");
        assert_eq!(merged.code, Some(0), "{merged:?}");
    });
}

/// A snapshot of a file system is of one moment. A stopped server writes nothing either, and is
/// stopped wherever it is just then.
#[test]
fn a_snapshot_of_the_files_has_every_acknowledged_lesson() {
    backups_have_what_was_acknowledged(|office, server, copy| {
        server.signal("STOP");
        let copied = Command::new("cp")
            .args([Path::new("-r"), &office.path("store"), &office.path(copy)])
            .status()
            .unwrap();
        server.signal("CONT");
        assert!(copied.success());
    });
}
