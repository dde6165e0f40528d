//! Messages that are moved in a Maildir, and the lessons that follow.

use super::*;

/// A Maildir with messages that tests move.
struct WatchedMaildir {
    folder: tempfile::TempDir,
    filter: Filter,
}

impl WatchedMaildir {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for mailbox in ["", ".Junk", ".Trash", ".Sent", ".Drafts", "Archive/2024"] {
            for part in ["cur", "new", "tmp"] {
                fs::create_dir_all(folder.path().join("mail").join(mailbox).join(part)).unwrap();
            }
        }
        let filter = Filter::open_or_create(&folder.path().join("store")).unwrap();
        Self { folder, filter }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("mail").join(name)
    }

    fn put(&self, name: &str, subject: &str) {
        let text = format!(
            "From: a@example.org\nMessage-ID: <{subject}@x>\nSubject: {subject}\n\nHello {subject}\n"
        );
        fs::write(self.at(name), text).unwrap();
    }

    fn moves(&self, from: &str, to: &str) {
        fs::rename(self.at(from), self.at(to)).unwrap();
    }

    fn watch(&self, learns_replies: bool) -> Watch {
        Watch::begin(&self.at(""), None, learns_replies).unwrap()
    }

    /// Looks once, and returns the subject and label of each lesson.
    fn look(&self, watch: &mut Watch) -> Vec<(String, Label)> {
        let (lessons, trouble) = watch.look(&self.filter).unwrap();
        assert!(trouble.is_none(), "{trouble:?}");
        lessons.into_iter().map(|lesson| (lesson.subject, lesson.label)).collect()
    }
}

#[test]
fn moves_teach_and_deliveries_do_not() {
    let maildir = WatchedMaildir::new();
    maildir.put("cur/1:2,S", "one");
    maildir.put(".Junk/cur/2:2,", "two");
    let mut watch = maildir.watch(false);
    assert!(watch.has_junk());
    assert_eq!(maildir.look(&mut watch), [], "what is there is no lesson");
    maildir.put("new/3", "three");
    maildir.put(".Junk/new/4", "four");
    assert_eq!(maildir.look(&mut watch), [], "what is delivered is no lesson");
    maildir.moves("cur/1:2,S", "cur/1:2,RS");
    maildir.moves(".Junk/new/4", ".Junk/cur/4:2,S");
    assert_eq!(maildir.look(&mut watch), [], "flags are no lesson");
    maildir.moves("cur/1:2,RS", ".Junk/cur/1.other:2,S");
    maildir.moves(".Junk/cur/4:2,S", "Archive/2024/cur/4:2,S");
    let mut lessons = maildir.look(&mut watch);
    lessons.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(lessons, [("four".into(), Label::Ham), ("one".into(), Label::Spam)]);
    maildir.moves(".Junk/cur/1.other:2,S", "cur/1:2,S");
    assert_eq!(maildir.look(&mut watch), [("one".into(), Label::Ham)], "and back");
    assert_eq!(maildir.filter.stats().unwrap().messages, 2);
}

#[test]
fn the_bin_is_no_lesson_but_coming_out_of_it_is() {
    let maildir = WatchedMaildir::new();
    maildir.put(".Junk/cur/1:2,", "one");
    maildir.put("cur/2:2,", "two");
    let mut watch = maildir.watch(false);
    maildir.moves(".Junk/cur/1:2,", ".Trash/cur/1:2,");
    maildir.moves("cur/2:2,", ".Trash/cur/2:2,");
    assert_eq!(maildir.look(&mut watch), []);
    maildir.moves(".Trash/cur/1:2,", "cur/1:2,");
    maildir.moves(".Trash/cur/2:2,", "cur/2:2,");
    assert_eq!(maildir.look(&mut watch), [("one".into(), Label::Ham)]);
}

#[test]
fn a_move_that_is_seen_in_two_halves_is_one() {
    let maildir = WatchedMaildir::new();
    maildir.put("cur/1:2,", "one");
    let mut watch = maildir.watch(false);
    fs::rename(maildir.at("cur/1:2,"), maildir.folder.path().join("away")).unwrap();
    assert_eq!(maildir.look(&mut watch), []);
    fs::rename(maildir.folder.path().join("away"), maildir.at(".Junk/cur/1:2,")).unwrap();
    assert_eq!(maildir.look(&mut watch), [("one".into(), Label::Spam)]);
    for _ in 0..2 {
        watch.forget_gone();
    }
    assert_eq!(watch.places.len(), 1);
    fs::remove_file(maildir.at(".Junk/cur/1:2,")).unwrap();
    maildir.look(&mut watch);
    for _ in 0..2 {
        watch.forget_gone();
    }
    assert_eq!(watch.places.len(), 0, "what is gone for long is forgotten");
}

#[test]
fn a_lesson_that_fails_is_tried_again() {
    let maildir = WatchedMaildir::new();
    maildir.put("cur/1:2,", "one");
    let mut watch = maildir.watch(false);
    maildir.moves("cur/1:2,", ".Junk/cur/1:2,");
    let classic = maildir.folder.path().join("damaged");
    let damaged = Filter::open_or_create(&classic).unwrap();
    for entry in fs::read_dir(&classic).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let (lessons, trouble) = watch.look(&damaged).unwrap();
    assert!(lessons.is_empty() && trouble.is_some());
    assert_eq!(maildir.look(&mut watch), [("one".into(), Label::Spam)]);
    assert_eq!(maildir.look(&mut watch), []);
}

#[test]
fn a_message_that_cannot_be_read_keeps_no_other_from_teaching() {
    let maildir = WatchedMaildir::new();
    // A folder in the place of a message can be opened, but not read.
    fs::create_dir(maildir.at("cur/0:2,")).unwrap();
    for name in ["one", "two", "three"] {
        maildir.put(&format!("cur/{name}:2,"), name);
    }
    let mut watch = maildir.watch(false);
    fs::create_dir(maildir.at(".Junk/cur/0:2,")).unwrap();
    fs::create_dir(maildir.at(".Junk/cur/z:2,")).unwrap();
    maildir.moves("cur/one:2,", ".Junk/cur/one:2,");
    let long_ago = SystemTime::now() - 10 * GRAIN;
    for mailbox in [".Junk", ""] {
        for part in ["cur", "new"] {
            let folder = fs::File::open(maildir.at(mailbox).join(part)).unwrap();
            folder.set_modified(long_ago).unwrap();
        }
    }
    let look = |watch: &mut Watch| {
        let (lessons, trouble) = watch.look(&maildir.filter).unwrap();
        (lessons.into_iter().map(|lesson| lesson.subject).collect::<Vec<_>>(), trouble.is_some())
    };
    assert_eq!(look(&mut watch), (vec!["one".to_owned()], true));
    assert_eq!(look(&mut watch), (vec![], true), "it is tried again, although nothing has changed");
    for name in ["cur/0:2,", ".Junk/cur/0:2,", ".Junk/cur/z:2,"] {
        fs::remove_dir(maildir.at(name)).unwrap();
    }
    maildir.moves("cur/two:2,", ".Junk/cur/two:2,");
    assert_eq!(look(&mut watch), (vec!["two".to_owned()], false));
}

#[test]
fn replies_teach_gently_and_only_if_asked_for() {
    for learns_replies in [false, true] {
        let maildir = WatchedMaildir::new();
        maildir.put("cur/1:2,S", "one");
        maildir.put("cur/2:2,S", "two");
        maildir.put(".Junk/cur/3:2,S", "three");
        let two = fs::read(maildir.at("cur/2:2,S")).unwrap();
        maildir.filter.learn(&two, &Label::Spam).unwrap();
        let mut watch = maildir.watch(learns_replies);
        for answered in ["one", "two", "three", "unknown"] {
            let reply = format!("From: me@x\nIn-Reply-To: <{answered}@x>\nSubject: Re\n\nYes {answered}\n");
            fs::write(maildir.at(&format!(".Sent/cur/{answered}:2,S")), reply).unwrap();
        }
        let expected: &[_] = if learns_replies { &[("one".into(), Label::Ham)] } else { &[] };
        assert_eq!(maildir.look(&mut watch), expected);
        assert_eq!(maildir.look(&mut watch), []);
    }
}

#[test]
fn sent_mail_teaches_gently_and_only_if_asked_for() {
    for learns_sent in [false, true] {
        let maildir = WatchedMaildir::new();
        maildir.put(".Sent/cur/1:2,S", "before");
        maildir.put("cur/2:2,S", "moved");
        maildir.put(".Junk/cur/3:2,S", "rescued");
        let mut watch = maildir.watch(false);
        if learns_sent {
            watch = watch.with_sent_messages();
        }
        maildir.put(".Sent/cur/4:2,S", "sent");
        maildir.put(".Sent/cur/5:2,S", "forgery");
        let forgery = fs::read(maildir.at(".Sent/cur/5:2,S")).unwrap();
        maildir.filter.learn(&forgery, &Label::Spam).unwrap();
        maildir.put("cur/6:2,S", "delivered");
        maildir.moves("cur/2:2,S", ".Sent/cur/2:2,S");
        let expected: &[_] = if learns_sent { &[("sent".into(), Label::Ham)] } else { &[] };
        assert_eq!(maildir.look(&mut watch), expected);
        maildir.moves(".Junk/cur/3:2,S", ".Sent/cur/3:2,S");
        let lessons = watch.look(&maildir.filter).unwrap().0;
        assert_eq!(lessons.len(), 1);
        assert_eq!(lessons[0].cause, LessonCause::Moved, "moved, not sent");
    }
}

#[test]
fn the_junk_folder_may_have_any_name_and_no_maildir_is_refused() {
    let maildir = WatchedMaildir::new();
    assert!(Watch::begin(maildir.folder.path(), None, false).is_err());
    fs::create_dir_all(maildir.at(".Werbung/cur")).unwrap();
    maildir.put("cur/1:2,", "one");
    let mut watch = Watch::begin(&maildir.at(""), Some("Werbung"), false).unwrap();
    maildir.moves("cur/1:2,", ".Werbung/cur/1:2,");
    assert_eq!(maildir.look(&mut watch), [("one".into(), Label::Spam)]);
    maildir.moves(".Werbung/cur/1:2,", ".Junk/cur/1:2,");
    assert_eq!(maildir.look(&mut watch), [("one".into(), Label::Ham)], "another mailbox by now");
}
