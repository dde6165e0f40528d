//! Senders that are allowed or blocked, whatever their mail contains.

use std::sync::Arc;

use crivo_mail::{Filter, Label, Listing, Method, Reason, Verdict};

use crate::support::{Writer, trained};

/// Returns the message with another sender.
fn from(sender: &str, message: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(message.to_vec()).unwrap();
    format!("From: {sender}\n{}", text.split_once('\n').unwrap().1).into_bytes()
}

#[test]
fn lists_decide_whatever_the_mail_says() {
    let mut writer = Writer::new("lists");
    let (folder, filter) = trained(&writer.mail(100));
    let other = Filter::open(folder.path()).unwrap();
    filter
        .change_lists(|lists| {
            lists.put("ana@friend.example", Listing::Allowed)?;
            lists.put("@casino.example", Listing::Blocked)
        })
        .unwrap();
    other.refresh().unwrap();
    for filter in [&filter, &other, &Filter::open(folder.path()).unwrap()] {
        for _ in 0..10 {
            let allowed = filter.check(&from("Ana <ANA@friend.example>", &writer.message(true))).unwrap();
            assert_eq!(allowed.verdict, Verdict::Ham, "{allowed:?}");
            assert!(allowed.score <= allowed.thresholds.ham, "a score fits its verdict");
            let blocked = filter.check(&from("x@www.casino.example", &writer.message(false))).unwrap();
            assert_eq!(blocked.verdict, Verdict::Spam, "{blocked:?}");
            assert!(blocked.score >= blocked.thresholds.spam);
            let named =
                |reason: &Reason| reason.to_string() == "x@www.casino.example is blocked: @casino.example";
            assert!(blocked.reasons.iter().any(named), "{:?}", blocked.reasons);
        }
    }
    filter.change_lists(|lists| lists.remove("@casino.example", Listing::Blocked)).unwrap();
    assert_ne!(
        filter.check(&from("x@casino.example", &writer.message(false))).unwrap().verdict,
        Verdict::Spam
    );
}

#[test]
fn a_lesson_about_the_very_message_comes_before_a_list() {
    let mut writer = Writer::new("lists and lessons");
    let (_folder, filter) = trained(&writer.mail(40));
    let rescued = from("x@casino.example", &writer.message(false));
    filter.change_lists(|lists| lists.put("@casino.example", Listing::Blocked)).unwrap();
    assert_eq!(filter.check(&rescued).unwrap().verdict, Verdict::Spam);
    filter.learn(&rescued, &Label::Ham).unwrap();
    assert_eq!(filter.check(&rescued).unwrap().verdict, Verdict::Ham);
}

#[test]
fn an_allowed_name_without_proof_is_not_allowed() {
    let mut writer = Writer::new("forged lists");
    let (folder, filter) = trained(&writer.mail(100));
    filter.change_lists(|lists| lists.put("@friend.example", Listing::Allowed)).unwrap();
    let hosts: Arc<[String]> = Arc::new(["mx.home.example".to_owned()]);
    let filter = Filter::open(folder.path()).unwrap().with_trusted_hosts(hosts);
    let spam = from("ana@friend.example", &writer.message(true));
    let with = |results: &str| {
        let header = format!("Authentication-Results: mx.home.example; {results}\n");
        filter.check(&[header.as_bytes(), &spam].concat()).unwrap().verdict
    };
    assert_eq!(with("dmarc=pass header.from=friend.example"), Verdict::Ham);
    assert_ne!(with("dmarc=fail header.from=friend.example"), Verdict::Ham);
    assert_ne!(with("dmarc=none"), Verdict::Ham);
}

#[test]
fn what_cannot_be_listed_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::open_or_create(folder.path()).unwrap();
    let refused = filter.change_lists(|lists| {
        lists.put("@good.example", Listing::Allowed)?;
        lists.put("nobody", Listing::Allowed)
    });
    assert!(refused.unwrap_err().to_string().contains("such as ana@example.org"));
    assert_eq!(filter.lists().unwrap().entries(Listing::Allowed).count(), 0, "all of it or nothing");
    let classic = tempfile::tempdir().unwrap();
    let classic = Filter::open_or_create_with(classic.path(), Method::Classic).unwrap();
    assert!(classic.change_lists(|lists| lists.put("@a.example", Listing::Blocked)).is_err());
}
