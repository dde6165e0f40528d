//! The recipes of docs/mail-setups.md, run by the real procmail and maildrop.
//!
//! The recipes are read from the document itself, and its paths are replaced by those of the test.
//! So the tested recipes are those that people copy.

use std::os::unix::fs::PermissionsExt as _;

use crate::mail::{ham, spam};
use crate::support::{Office, Ran, fed, program};

const DOCUMENT: &str = include_str!("../../../../docs/mail-setups.md");

/// Returns the code block of the document that begins with this line, unchanged.
pub(crate) fn block(first_line: &str) -> &'static str {
    let blocks = DOCUMENT.split("\n```").skip(1).step_by(2);
    let mut found = blocks.filter_map(|block| block.split_once('\n')).map(|(_, code)| code);
    found.find(|code| code.starts_with(first_line)).expect(first_line)
}

/// Returns the code block of the document that begins with this line, with the test's paths.
fn recipe(office: &Office, first_line: &str) -> String {
    let code = block(first_line);
    let folder = office.folder().display().to_string();
    // `crivo` is not installed where tests run.
    code.replace("/usr/local/bin/crivo", env!("CARGO_BIN_EXE_crivo"))
        .replace("$HOME/.crivo-mail", &format!("{folder}/store"))
        .replace("$HOME/Mail", &folder)
}

fn inbox(office: &Office, name: &str) -> String {
    std::fs::read_to_string(office.path(name)).unwrap_or_default()
}

fn procmail(office: &Office, recipe: &str, message: &str) -> Ran {
    std::fs::write(office.path("procmailrc"), recipe).unwrap();
    let rc = office.path("procmailrc");
    fed(program("procmail").arg(rc).env("HOME", office.folder()), message.as_bytes())
}

fn maildrop(office: &Office, recipe: &str, message: &str) -> Ran {
    let filter = office.path("mailfilter");
    std::fs::write(&filter, recipe).unwrap();
    std::fs::set_permissions(&filter, std::fs::Permissions::from_mode(0o600)).unwrap();
    fed(program("maildrop").arg(filter).env("HOME", office.folder()), message.as_bytes())
}

/// Checks that spam and ham are sorted, and that no mail is lost.
fn sorts(office: &Office, deliver: impl Fn(&str) -> Ran) {
    for message in [spam(90_000), ham(90_000)] {
        let ran = deliver(&message);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let body = |message: &str| message.split_once("\n\n").unwrap().1.trim_end().to_owned();
    let (junk, wanted) = (inbox(office, "spam"), inbox(office, "inbox"));
    assert!(junk.contains(&body(&spam(90_000))) && !junk.contains(&body(&ham(90_000))), "{junk}");
    assert!(wanted.contains(&body(&ham(90_000))) && !wanted.contains(&body(&spam(90_000))), "{wanted}");
    assert!(junk.contains("X-Crivo: spam; score="), "{junk}");
}

/// Checks that mail is delivered as it was sent if the store is damaged.
fn delivers_all_the_same(office: &Office, deliver: impl Fn(&str) -> Ran) {
    for entry in std::fs::read_dir(office.path("store")).unwrap() {
        std::fs::write(entry.unwrap().path(), b"damaged").unwrap();
    }
    let ran = deliver(&spam(90_001));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let wanted = inbox(office, "inbox");
    assert!(wanted.contains(spam(90_001).trim_end()), "the message, unchanged: {wanted}");
    assert!(!wanted.contains("X-Crivo"), "{wanted}");
}

#[test]
fn procmail_sorts_by_the_verdict() {
    let office = Office::trained();
    let recipe = recipe(&office, "# ~/.procmailrc");
    sorts(&office, |message| procmail(&office, &recipe, message));
}

#[test]
fn procmail_delivers_whatever_happens_to_the_filter() {
    let office = Office::trained();
    let recipe = recipe(&office, "# ~/.procmailrc");
    delivers_all_the_same(&office, |message| procmail(&office, &recipe, message));
}

#[test]
fn procmail_delivers_when_there_is_no_filter_at_all() {
    let office = Office::trained();
    let recipe = recipe(&office, "# ~/.procmailrc").replace(env!("CARGO_BIN_EXE_crivo"), "/nowhere/crivo");
    assert_eq!(procmail(&office, &recipe, &spam(90_002)).code, Some(0));
    assert!(inbox(&office, "inbox").contains(spam(90_002).trim_end()));
}

#[test]
fn procmail_sorts_through_spamc() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let recipe = recipe(&office, "# ~/.procmailrc with a server")
        .replace("-p 1783", &format!("-p {}", server.spamd.port()));
    program("spamc");
    sorts(&office, |message| procmail(&office, &recipe, message));
}

#[test]
fn maildrop_sorts_by_the_verdict() {
    let office = Office::trained();
    let recipe = recipe(&office, "# ~/.mailfilter");
    sorts(&office, |message| maildrop(&office, &recipe, message));
}

#[test]
fn maildrop_delivers_whatever_happens_to_the_filter() {
    let office = Office::trained();
    let recipe = recipe(&office, "# ~/.mailfilter");
    delivers_all_the_same(&office, |message| maildrop(&office, &recipe, message));
}
