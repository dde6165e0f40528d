//! The counts of senders are exact; the classic method's filter agrees with a plain map.

use std::collections::BTreeMap;

use crivo_mail::{Filter, Finding, Label, Message, Method, Policy, Reason, Verdict};

use crate::support::Writer;

#[test]
fn counts_are_those_of_a_plain_map() {
    let mut writer = Writer::new("senders");
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::open_or_create(folder.path()).unwrap();
    let mail: Vec<(Vec<u8>, Label)> = (0..300)
        .map(|_| (writer.message(true), if writer.below(3) == 0 { Label::Ham } else { Label::Spam }))
        .collect();
    filter.train(mail.iter().cloned().map(Ok)).unwrap();
    let mut exact: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (bytes, label) in &mail {
        let counts = exact.entry(Message::read(bytes).sender.unwrap()).or_default();
        *(if *label == Label::Spam { &mut counts.0 } else { &mut counts.1 }) += 1;
    }
    for (address, counts) in exact {
        let message = format!("From: {address}\n\nhello");
        let reasons = filter.check(message.as_bytes()).unwrap().reasons;
        let found = reasons.iter().find_map(|reason| match reason {
            Reason::Sender { spam, ham, .. } => Some((*spam, *ham)),
            _ => None,
        });
        assert_eq!(found, Some(counts), "{address}");
    }
}

#[test]
fn the_classic_method_blocks_whom_a_plain_map_blocks() {
    let mut writer = Writer::new("classic");
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::open_or_create_with(folder.path(), Method::Classic).unwrap();
    let message = |sender: usize, text: usize| {
        format!("From: s{sender}@x.example\nSubject: {text}\n\nthe number is {text} and the rest is {text}\n")
            .into_bytes()
    };
    let mail: Vec<Vec<u8>> = (0..400).map(|i| message(writer.below(300), i)).collect();
    filter.train(mail.iter().map(|bytes| Ok((bytes.clone(), Label::Spam)))).unwrap();
    let mut exact: BTreeMap<String, u64> = BTreeMap::new();
    for bytes in &mail {
        *exact.entry(Message::read(bytes).sender.unwrap()).or_default() += 1;
    }
    for sender in 0..300 {
        let bytes = format!("From: s{sender}@x.example\n\nsomething about the weather of another week\n");
        let probe = Message::read(bytes.as_bytes());
        let expected = exact.get(&format!("s{sender}@x.example")).copied().unwrap_or(0);
        let is_blocked = matches!(filter.classic_finding(&probe).unwrap(), Finding::Blocked(_));
        assert_eq!(is_blocked, expected >= 2, "s{sender}: {expected}");
    }
}

#[test]
fn the_classic_method_is_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::open_or_create_with(folder.path(), Method::Classic).unwrap();
    let spam =
        b"From: a@x.example\n\nthis is the best offer of the year and you will like it for all of your time";
    filter.learn(spam, &Label::Spam).unwrap();
    let find = |text: &str| filter.classic_finding(&Message::read(text.as_bytes())).unwrap();
    assert_eq!(find("From: b@y.example\n\nOk. Thanks"), Finding::Empty);
    assert_eq!(find("From: b@y.example\n\nthe cat sat on the mat in a small house"), Finding::Nothing);
    let alike = find("From: a@x.example\n\nthis is the best offer of the year and you will like it");
    assert!(matches!(alike, Finding::Alike(similarity) if similarity > 0.5), "{alike:?}");
    let verdict = |filter: &Filter| {
        filter
            .check(b"From: a@x.example\n\nthis is the best offer of the year and you will like it")
            .unwrap()
            .verdict
    };
    let (similar, policy) =
        (verdict(&filter), |spam_from| Policy { spam_from: Some(spam_from), ..Policy::default() });
    assert_eq!(similar, Verdict::Spam);
    let strict = Filter::open(folder.path()).unwrap().with_policy(policy(1.0)).unwrap();
    assert_eq!(verdict(&strict), Verdict::Ham, "the caller's threshold");
    filter.keep_policy(policy(1.0)).unwrap();
    assert_eq!(verdict(&filter), Verdict::Ham, "the owner's threshold");
    filter.keep_policy(policy(0.1)).unwrap();
    assert_eq!(verdict(&filter), Verdict::Spam);
    filter.learn(b"From: a@x.example\n\nanother message of the same sender", &Label::Spam).unwrap();
    assert_eq!(find("From: A+tag@X.example\n\nthe cat sat on the mat in a small house"), Finding::Blocked(2));
}
