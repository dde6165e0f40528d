//! After forty messages, a filter knows enough to give some answers, but not to be sure of many.

use crivo_mail::{Filter, Label, Message, Reason, Verdict};

use crate::support::{Writer, trained};

#[test]
fn from_forty_messages_on_it_is_unsure_rather_than_wrong() {
    let mut writer = Writer::new("forty");
    let (_folder, filter) = trained(&writer.mail(40));
    let (mut wrong, mut right_side) = (0, 0);
    for i in 0..200 {
        let is_spam = i % 2 == 0;
        let judgement = filter.check(&writer.message(is_spam)).unwrap();
        wrong += usize::from(judgement.verdict == if is_spam { Verdict::Ham } else { Verdict::Spam });
        right_side += usize::from((judgement.score >= 0.5) == is_spam);
    }
    assert_eq!(wrong, 0);
    assert!(right_side >= 190, "{right_side} of 200 on the right side");
}

#[test]
fn with_one_class_or_nothing_it_is_unsure_and_says_why() {
    let mut writer = Writer::new("one class");
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::open_or_create(folder.path()).unwrap();
    for learned in 0..3 {
        let judgement = filter.check(&writer.message(learned % 2 == 0)).unwrap();
        assert_eq!(judgement.verdict, Verdict::Unsure);
        assert!(judgement.reasons.iter().any(|reason| matches!(reason, Reason::Note(_))));
        filter.learn(&writer.message(true), &Label::Spam).unwrap();
    }
}

#[test]
fn a_store_that_knows_ham_only_recognises_ham_and_calls_nothing_spam() {
    let mut writer = Writer::new("ham only");
    let ham: Vec<_> = (0..60).map(|_| (writer.message(false), Label::Ham)).collect();
    let (_folder, filter) = trained(&ham);
    let verdicts = |writer: &mut Writer, is_spam: bool| -> Vec<Verdict> {
        (0..50).map(|_| filter.check(&writer.message(is_spam)).unwrap().verdict).collect()
    };
    let found = verdicts(&mut writer, false);
    let recognised = found.iter().filter(|verdict| **verdict == Verdict::Ham).count();
    assert!(recognised >= 40, "{recognised} of 50");
    // Half of the words of spam are also those of ham. So nearly all spam is unsure, and none is
    // called spam.
    let found = verdicts(&mut writer, true);
    let unsure = found.iter().filter(|verdict| **verdict == Verdict::Unsure).count();
    assert!(unsure >= 40 && !found.contains(&Verdict::Spam), "{unsure} of 50");
    // With only spam learned, nothing is decided, so that no mail is lost by a guess.
    let spam: Vec<_> = (0..60).map(|_| (writer.message(true), Label::Spam)).collect();
    let (_folder, filter) = trained(&spam);
    for is_spam in [true, false] {
        let verdict = filter.check(&writer.message(is_spam)).unwrap().verdict;
        assert_eq!(verdict, Verdict::Unsure);
    }
}

#[test]
fn reasons_name_the_nearest_message_the_sender_and_what_weighs() {
    let mut writer = Writer::new("reasons");
    let (_folder, filter) = trained(&writer.mail(60));
    let mut message = writer.message(true);
    filter.learn(&message, &Label::Spam).unwrap();
    message.extend_from_slice(b"one more line\n");
    let reasons = filter.check(&message).unwrap().reasons;
    let alike = |reason: &Reason| matches!(reason, Reason::Alike { class: Verdict::Spam, similarity, .. } if *similarity > 0.6);
    assert!(reasons.iter().any(alike), "{reasons:?}");
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::Sender { spam, ham: 0, .. } if *spam > 0)));
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::Feature { .. })));
    assert!(reasons.iter().all(|reason| !reason.to_string().is_empty()));
}

#[test]
fn any_bytes_are_judged() {
    let (_folder, filter) = trained(&Writer::new("any bytes").mail(40));
    let (long, broken) = (vec![b'a'; 100_000], vec![0xC3; 3000]);
    for bytes in [&b""[..], b"\0", b"\xFF\xFE", b"From: <", b"Subject:", b"\r\n\r\n", &long, &broken] {
        let judgement = filter.check(bytes).unwrap();
        assert!((0.0..=1.0).contains(&judgement.score));
    }
}

#[test]
fn a_new_sender_that_writes_a_lot_is_named() {
    let mut writer = Writer::new("burst");
    let (_folder, filter) = trained(&writer.mail(40));
    let message =
        |i: usize| format!("From: new@unknown.example\nSubject: {i}\n\nhello {i} there\n").into_bytes();
    let first = filter.check_arriving(&message(0)).unwrap();
    assert!(!first.reasons.iter().any(|reason| matches!(reason, Reason::Burst { .. })));
    for i in 0..20 {
        filter.check_arriving(&message(i)).unwrap();
    }
    let late = filter.check_arriving(&message(0)).unwrap();
    assert!(late.reasons.iter().any(|reason| matches!(reason, Reason::Burst { messages: 20, .. })));
    assert!(late.score > first.score);
}

#[test]
fn one_message_to_many_people_is_no_burst() {
    let mut writer = Writer::new("one message");
    let (_folder, filter) = trained(&writer.mail(40));
    let message =
        b"From: new@unknown.example\nMessage-ID: <1@unknown.example>\nSubject: invitation\n\nhello\n";
    let first = filter.check_arriving(message).unwrap();
    for _ in 0..100 {
        assert_eq!(filter.check_arriving(message).unwrap().score, first.score);
    }
}

#[test]
fn asking_changes_nothing_and_reasons_cost_no_score() {
    let mut writer = Writer::new("pure");
    let (_folder, filter) = trained(&writer.mail(40));
    let message =
        |i: usize| format!("From: new@unknown.example\nSubject: {i}\n\nhello {i} there\n").into_bytes();
    for i in 0..40 {
        let judgement = filter.check(&message(i)).unwrap();
        let (verdict, score) = filter.verdict(&Message::read(&message(i))).unwrap();
        assert_eq!((judgement.verdict, judgement.score), (verdict, score));
        assert!(!judgement.reasons.iter().any(|reason| matches!(reason, Reason::Burst { .. })));
    }
}

#[test]
fn a_label_is_given_once_messages_without_it_are_known() {
    let mut writer = Writer::new("only positives");
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::open_or_create(folder.path()).unwrap();
    let social = Label::named("social").unwrap();
    for _ in 0..20 {
        filter.learn(&writer.message(true), &social).unwrap();
    }
    let probability = |filter: &Filter, message: &[u8]| filter.check(message).unwrap().labels["social"];
    let (like, unlike) = (writer.message(true), writer.message(false));
    assert!(probability(&filter, &like) < 0.5 && probability(&filter, &unlike) < 0.5);
    for _ in 0..20 {
        filter.learn(&writer.message(false), &Label::Ham).unwrap();
    }
    assert!(probability(&filter, &like) > 0.5 && probability(&filter, &unlike) < 0.5);
}

/// Returns the CPU time of this thread, in milliseconds.
#[cfg(target_os = "linux")]
fn cpu_milliseconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}

/// Lessons in a store of a few hundred messages once took 300 ms each, because each derived
/// everything anew. The median of 25 is compared with a limit far above the cost of a step, so that
/// the test also passes on a busy machine.
#[cfg(target_os = "linux")]
#[test]
fn most_lessons_of_a_young_store_are_one_step() {
    let mut writer = Writer::new("cost of lessons");
    let (_folder, filter) = trained(&writer.mail(400));
    let mut costs: Vec<f64> = (0..25)
        .map(|number| {
            let (message, is_spam) = (writer.message(number % 2 == 0), number % 2 == 0);
            let before = cpu_milliseconds();
            filter.learn(&message, if is_spam { &Label::Spam } else { &Label::Ham }).unwrap();
            cpu_milliseconds() - before
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    assert!(costs[12] < 60.0, "{costs:?}");
}
