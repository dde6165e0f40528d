//! The stores that answer and learn, if users have stores of their own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crivo_mail::service::{Origin, Service, Users};
use crivo_mail::spamd::server::Limits;
use crivo_mail::{Label, Policy, Verdict};

use crate::support::{Scripted, Server, request};

const MESSAGE: &[u8] = b"From: a@example.org\n\nBuy now\n";

type Stores = Arc<Mutex<BTreeMap<PathBuf, Arc<Scripted>>>>;

/// Starts a server with a folder for stores of users. All of these say ham, and the shared store
/// says spam.
fn server(folder: &std::path::Path) -> (Server, Arc<Scripted>, Stores) {
    let shared = Scripted::spam();
    let stores = Stores::default();
    let opened = Arc::clone(&stores);
    let users = Users::opened_by(folder, move |path, create| {
        if create {
            std::fs::create_dir_all(path).unwrap();
        }
        let mut opened = opened.lock().unwrap();
        let store = opened.entry(path.to_path_buf()).or_insert_with(|| Scripted::saying(Verdict::Ham, 0.001));
        Ok(Arc::clone(store) as _)
    });
    let service = Service::new(shared.clone()).unwrap().with_users(users.creating(true));
    (Server::start(service, Limits::default()), shared, stores)
}

fn check(server: &Server, user: &str) -> String {
    String::from_utf8(server.ask(&request("CHECK", &format!("User: {user}\r\n"), MESSAGE))).unwrap()
}

fn teach(server: &Server, user: &str) -> String {
    let headers = format!("User: {user}\r\nMessage-class: ham\r\nSet: local\r\n");
    String::from_utf8(server.ask(&request("TELL", &headers, MESSAGE))).unwrap()
}

#[test]
fn a_lesson_makes_a_store_that_answers_for_its_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (server, shared, stores) = server(folder.path());
    assert!(check(&server, "alice").contains("Spam: True"), "the shared store answers");
    assert!(stores.lock().unwrap().is_empty(), "asking makes no store");
    assert!(teach(&server, "alice").contains("DidSet: local"));
    assert!(check(&server, "alice").contains("Spam: False"), "her own store answers");
    assert!(check(&server, "bob").contains("Spam: True"), "and not for others");
    assert!(shared.told.lock().unwrap().is_empty());
    assert_eq!(stores.lock().unwrap()[&folder.path().join("alice")].told.lock().unwrap().len(), 1);
}

#[test]
fn an_unsure_store_leaves_the_answer_to_the_shared_one() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _, stores) = server(folder.path());
    teach(&server, "alice");
    *stores.lock().unwrap()[&folder.path().join("alice")].says.lock().unwrap() = Some((Verdict::Unsure, 0.5));
    assert!(check(&server, "alice").contains("Spam: True"));
}

#[test]
fn a_damaged_store_leaves_the_answer_to_the_shared_one_and_that_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("eve")).unwrap();
    std::fs::write(folder.path().join("eve/mail.sqlite"), b"junk, and no store").unwrap();
    let service =
        Service::new(Scripted::spam()).unwrap().with_users(Users::new(folder.path(), Policy::default()));
    let judgement = service.check(Some("eve"), MESSAGE, Origin::Spamd).unwrap();
    assert_eq!(judgement.verdict, Verdict::Spam);
    assert!(format!("{:?}", judgement.reasons).contains("the own store of eve cannot be read"));
    assert!(service.learn(Some("eve"), MESSAGE, &Label::Ham).is_err(), "a lesson is not put elsewhere");
    let told = service.journal().take_trouble().unwrap();
    assert!(told.contains("eve/mail.sqlite") && told.contains("damaged"), "{told}");
    assert_eq!(service.journal().take_trouble(), None);
    assert_eq!(service.journal().failures, 2);
}

#[test]
fn names_that_are_paths_have_no_store_and_their_mail_is_judged_all_the_same() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("users");
    std::fs::create_dir_all(outside.path().join("elsewhere")).unwrap();
    let (server, shared, stores) = server(&folder);
    for user in ["../elsewhere", "..", ".", "/etc", "a/../b", "a\\b", "%2e%2e", "-rf"] {
        assert!(check(&server, user).contains("Spam: True"), "{user}");
        let refused = teach(&server, user);
        assert!(refused.starts_with("SPAMD/1.0 69 Service Unavailable: the user"), "{refused}");
    }
    assert!(stores.lock().unwrap().is_empty() && shared.told.lock().unwrap().is_empty());
    let left: Vec<_> =
        std::fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["elsewhere"]);
}

#[test]
fn hundreds_of_users_are_served_with_few_stores_open() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _, stores) = server(folder.path());
    for user in 0..100 {
        teach(&server, &format!("user{user}"));
    }
    for user in 0..100 {
        assert!(check(&server, &format!("user{user}")).contains("Spam: False"), "user{user}");
    }
    assert_eq!(stores.lock().unwrap().len(), 100);
}

#[test]
fn a_name_without_a_folder_gets_no_store_unless_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("alice")).unwrap();
    let users = Users::new(folder.path(), Policy::default());
    let service = Service::new(Scripted::spam()).unwrap().with_users(users);
    let refused = service.learn(Some("mallory"), MESSAGE, &Label::Ham).unwrap_err().to_string();
    assert!(refused.contains("mallory") && refused.contains("makes the folder"), "{refused}");
    assert!(!folder.path().join("mallory").exists());
    assert_eq!(service.check(Some("alice"), MESSAGE, Origin::Spamd).unwrap().verdict, Verdict::Spam);
    service.learn(Some("alice"), MESSAGE, &Label::Ham).unwrap();
    assert!(folder.path().join("alice/mail.sqlite").exists());
}

#[test]
fn a_message_rescued_by_a_user_is_ham_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let users = Users::new(folder.path(), Policy::default()).creating(true);
    let service = Service::new(Scripted::spam()).unwrap().with_users(users);
    let body = "the monthly letter of the garden club with all the dates of the summer and of the autumn";
    let letter =
        |number: u32| format!("From: club@example.org\nSubject: letter\n\n{body} {number}\n").into_bytes();
    service.learn(Some("alice"), &letter(1), &Label::Ham).unwrap();
    for number in [1, 2] {
        let judgement = service.check(Some("alice"), &letter(number), Origin::Spamd).unwrap();
        assert_eq!(judgement.verdict, Verdict::Ham, "letter {number}");
    }
    assert_eq!(service.check(Some("alice"), MESSAGE, Origin::Spamd).unwrap().verdict, Verdict::Spam);
}
