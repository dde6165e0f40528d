//! `crivo mail watch`: a reader moves messages in a Maildir, and the store learns.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::mail::{ham, spam};
use crate::support::{Office, eventually};

#[test]
fn moves_in_a_maildir_are_lessons_while_it_is_watched() {
    let office = Office::trained();
    for folder in ["md/cur", "md/new", "md/.Junk/cur", "md/.Junk/new"] {
        std::fs::create_dir_all(office.path(folder)).unwrap();
    }
    let (wanted, junk) = (ham(60_000), spam(60_001));
    std::fs::write(office.path("md/.Junk/cur/1:2,S"), &wanted).unwrap();
    std::fs::write(office.path("md/new/2"), &junk).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_crivo"))
        .args(["mail", "watch", "--store", "store", "md", "--every", "1s"])
        .current_dir(office.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "watching md");
    let learned = |message: &str| {
        let reasons = office.check("store", message)["reasons"].to_string();
        ["spam", "ham"].into_iter().find(|kind| reasons.contains(&format!("was learned as {kind}")))
    };
    assert_eq!((learned(&wanted), learned(&junk)), (None, None));
    std::fs::rename(office.path("md/.Junk/cur/1:2,S"), office.path("md/cur/1:2,S")).unwrap();
    std::fs::rename(office.path("md/new/2"), office.path("md/.Junk/cur/2:2,S")).unwrap();
    eventually("both are learned", || (learned(&wanted), learned(&junk)) == (Some("ham"), Some("spam")));
    let mut told: Vec<String> = (0..2).map(|_| lines.next().unwrap().unwrap()).collect();
    told.sort();
    assert!(told[0].starts_with("ham: ") && told[1].starts_with("spam: "), "{told:?}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_folder_that_is_no_maildir_is_refused() {
    let office = Office::empty();
    std::fs::create_dir(office.path("folder")).unwrap();
    let refused = office.crivo(&["watch", "--store", "store", "folder"], "");
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.err.contains("is no Maildir: it has neither cur nor new"), "{refused:?}");
}
