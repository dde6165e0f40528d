//! A store is a set of messages: its answers depend only on its messages, and not on how they got
//! there.

use crivo_mail::{Filter, Label, Learned, Unlearned, Verdict};

use crate::support::{Writer, seen, trained};

fn probes(writer: &mut Writer) -> Vec<Vec<u8>> {
    (0..6).map(|i| writer.message(i % 2 == 0)).collect()
}

#[test]
fn unlearning_restores_every_bit() {
    // The first count has all messages in the base, the second does not.
    for count in [60, 1200] {
        let mut writer = Writer::new("unlearning");
        let (_folder, filter) = trained(&writer.mail(count));
        let probes = probes(&mut writer);
        let before = seen(&filter, &probes);
        for is_spam in [true, false, true] {
            let message = writer.message(is_spam);
            let label = if is_spam { Label::Spam } else { Label::Ham };
            assert_eq!(filter.learn(&message, &label).unwrap(), Learned::New);
            assert_ne!(seen(&filter, &probes), before);
            assert_eq!(filter.unlearn(&message, Some(&label)).unwrap(), Unlearned::Removed);
            assert_eq!(seen(&filter, &probes), before, "{count} messages");
            assert_eq!(filter.unlearn(&message, None).unwrap(), Unlearned::Unknown);
        }
    }
}

#[test]
fn learning_twice_counts_once_whatever_the_line_endings() {
    let mut writer = Writer::new("twice");
    let (_folder, filter) = trained(&writer.mail(20));
    let (message, probes) = (writer.message(true), probes(&mut writer));
    filter.learn(&message, &Label::Spam).unwrap();
    let once = seen(&filter, &probes);
    let crlf = String::from_utf8(message).unwrap().replace('\n', "\r\n").into_bytes();
    assert_eq!(filter.learn(&crlf, &Label::Spam).unwrap(), Learned::Already);
    assert_eq!(seen(&filter, &probes), once);
    assert_eq!(filter.learn(&crlf, &Label::Ham).unwrap(), Learned::Moved);
    let stats = filter.stats().unwrap();
    assert_eq!((stats.spam, stats.ham, stats.messages), (10, 11, 21));
}

#[test]
fn quick_updates_are_those_of_a_store_that_derives_everything() {
    let mut writer = Writer::new("quick");
    let (place, filter) = trained(&writer.mail(1200));
    // Another process teaches the same store. So the state that each process has in memory is often
    // older than the store.
    let second = Filter::open(place.path()).unwrap();
    let probes = probes(&mut writer);
    let mut lessons = Vec::new();
    // Lessons are fitted in blocks of 64. These are lessons before a block is whole, when it is,
    // after it, and after one of its lessons was unlearned.
    for (count, unlearned) in [(5, None), (64, None), (70, None), (71, Some(66)), (73, Some(3))] {
        while lessons.len() < count {
            let is_spam = lessons.len() % 2 == 0;
            let message = writer.message(is_spam);
            let teacher = if lessons.len() % 3 == 0 { &second } else { &filter };
            teacher.learn(&message, if is_spam { &Label::Spam } else { &Label::Ham }).unwrap();
            lessons.push(message);
        }
        if let Some(lesson) = unlearned {
            filter.unlearn(&lessons[lesson], None).unwrap();
        } else {
            filter.learn(&writer.message(true), &Label::named("offers").unwrap()).unwrap();
        }
        let mut exported = Vec::new();
        filter.export(&mut exported).unwrap().unwrap();
        // An import of more than a hundred messages derives everything from the records.
        let folder = tempfile::tempdir().unwrap();
        let other = Filter::open_or_create(folder.path()).unwrap();
        other.import(&mut exported.as_slice(), "export".as_ref()).unwrap();
        filter.refresh().unwrap();
        let found = seen(&filter, &probes);
        assert_eq!(seen(&other, &probes), found, "{count} lessons");
        // The state that lessons changed in memory is the state that another process reads.
        assert_eq!(
            seen(&Filter::open(place.path()).unwrap(), &probes),
            found,
            "{count} lessons, opened again"
        );
        filter.verify().unwrap();
    }
}

#[test]
fn merging_is_a_union_in_any_order_and_however_often() {
    let mut writer = Writer::new("merging");
    let mail = writer.mail(90);
    let probes = probes(&mut writer);
    // The two have thirty messages in common.
    let ((one_at, one), (other_at, other)) = (trained(&mail[..60]), trained(&mail[30..]));
    let [both, back] = [(&one_at, &other_at), (&other_at, &one_at)].map(|(first, second)| {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::open_or_create(folder.path()).unwrap();
        for store in [first, second, first] {
            filter.merge(store.path()).unwrap();
        }
        seen(&filter, &probes)
    });
    assert_eq!(both, back);
    assert_eq!((both.0, both.1), (45, 45));
    one.merge(other_at.path()).unwrap();
    assert_eq!(seen(&one, &probes), both);
    assert_eq!(one.merge(one_at.path()).unwrap().changed, 0);
    drop(other);
}

#[test]
fn merging_copies_with_different_headers_gives_the_same_in_any_order() {
    for count in [40, 1200] {
        let mut writer = Writer::new("copies");
        let mail = writer.mail(count);
        let received = |message: &[u8]| {
            let line = b"Received: from shop.example (mx.shop.example [192.0.2.1])\n\tby x with SMTP\n";
            [&line[..], message].concat()
        };
        let (message, mut probes) = (writer.message(true), probes(&mut writer));
        probes.push(received(&writer.message(false)));
        let (one_at, one) = trained(&mail);
        one.learn(&message, &Label::Spam).unwrap();
        let (other_at, other) = trained(&mail[..30]);
        other.learn(&received(&message), &Label::Spam).unwrap();
        let export = |filter: &Filter| {
            let mut export = Vec::new();
            filter.export(&mut export).unwrap().unwrap();
            export
        };
        let (of_one, of_other) = (export(&one), export(&other));
        one.import(&mut of_other.as_slice(), "other".as_ref()).unwrap();
        other.import(&mut of_one.as_slice(), "one".as_ref()).unwrap();
        assert!(export(&one) == export(&other), "{count} messages");
        let found = seen(&one, &probes);
        assert_eq!(found, seen(&other, &probes), "{count} messages");
        assert_eq!(one.merge(other_at.path()).unwrap().changed, 0);
        assert_eq!(other.merge(one_at.path()).unwrap().changed, 0);
        Filter::repair(one_at.path()).unwrap();
        assert_eq!(seen(&Filter::open(one_at.path()).unwrap(), &probes), found, "{count} messages");
    }
}

#[test]
fn a_lesson_about_a_message_says_nothing_about_what_another_boundary_shows() {
    for count in [60, 1200] {
        let mut writer = Writer::new("boundaries");
        let (place, filter) = trained(&writer.mail(count));
        let probes = probes(&mut writer);
        let body = |is_spam| {
            let message = String::from_utf8(writer.message(is_spam)).unwrap();
            message.split_once("\n\n").unwrap().1.to_owned()
        };
        let [wanted, spam] = [false, true].map(body);
        let bounded_by = |boundary: &str| {
            format!(
                "From: new@mail.example\nSubject: hello\nContent-Type: multipart/mixed; boundary={boundary}\n\n\
                 --A\n\n{wanted}\n--A--\n\n--B\n\n{spam}\n--B--\n"
            )
            .into_bytes()
        };
        let (wanted, spam) = (bounded_by("A"), bounded_by("B"));
        let is_learned = |message: &[u8]| {
            let reasons = filter.check(message).unwrap().reasons;
            reasons.iter().any(|reason| reason.to_string().contains("this very message"))
        };
        let verdict = |message: &[u8]| filter.check(message).unwrap().verdict;
        filter.learn(&wanted, &Label::Ham).unwrap();
        assert!(is_learned(&wanted) && !is_learned(&spam));
        assert_eq!((verdict(&wanted), verdict(&spam)), (Verdict::Ham, Verdict::Spam));
        // They are one message, so the lesson about the other takes its place.
        assert_eq!(filter.learn(&spam, &Label::Spam).unwrap(), Learned::Moved);
        assert!(is_learned(&spam) && !is_learned(&wanted));
        let found = seen(&filter, &probes);
        Filter::repair(place.path()).unwrap();
        assert_eq!(seen(&Filter::open(place.path()).unwrap(), &probes), found, "{count} messages");
    }
}

#[test]
fn what_is_old_expires_as_if_it_had_never_been() {
    let mut writer = Writer::new("expiring");
    let (old, new) = (writer.mail(40), writer.mail(40));
    let probes = probes(&mut writer);
    let (_folder, filter) = trained(&old);
    std::thread::sleep(std::time::Duration::from_millis(5));
    let middle = filter.stats().unwrap().newest.unwrap() + 1;
    filter.train(new.iter().cloned().map(Ok)).unwrap();
    assert_eq!(filter.expire(middle).unwrap(), 40);
    assert_eq!(filter.expire(middle).unwrap(), 0);
    assert_eq!(seen(&filter, &probes), seen(&trained(&new).1, &probes));
}

#[test]
fn labels_stand_beside_spam_and_ham() {
    let mut writer = Writer::new("labels");
    let (_folder, filter) = trained(&writer.mail(20));
    let [work, shop] = ["work", "shop"].map(|name| Label::named(name).unwrap());
    let labelled =
        (0..40).map(|i| (writer.message(i % 2 == 0), if i % 2 == 0 { shop.clone() } else { work.clone() }));
    filter.train(labelled.map(Ok)).unwrap();
    let judgement = filter.check(&writer.message(false)).unwrap();
    assert!(judgement.labels["work"] > 0.5 && judgement.labels["shop"] < 0.5, "{:?}", judgement.labels);
    let judgement = filter.check(&writer.message(true)).unwrap();
    assert!(judgement.labels["work"] < 0.5 && judgement.labels["shop"] > 0.5, "{:?}", judgement.labels);
    let message = writer.message(true);
    filter.learn(&message, &Label::Spam).unwrap();
    filter.learn(&message, &shop).unwrap();
    assert_eq!(filter.unlearn(&message, Some(&Label::Spam)).unwrap(), Unlearned::Removed);
    assert_eq!(filter.stats().unwrap().labels["shop"], 21);
}

#[test]
fn another_process_is_noticed() {
    let mut writer = Writer::new("noticed");
    let (folder, filter) = trained(&writer.mail(20));
    let (message, other) = (writer.message(true), Filter::open(folder.path()).unwrap());
    other.learn(&message, &Label::Ham).unwrap();
    let before = filter.check(&message).unwrap().score;
    filter.refresh().unwrap();
    assert!(filter.check(&message).unwrap().score < before);
}

#[test]
fn a_few_wrong_labels_do_not_silence_the_filter() {
    // Claim: if one in a hundred of 400 messages has the wrong label, at least nine tenths of the
    // spam caught before are still caught.
    let mut writer = Writer::new("wrong labels");
    let mail = writer.mail(400);
    let probes: Vec<Vec<u8>> = (0..200).map(|_| writer.message(true)).collect();
    let caught = |mail: &[(Vec<u8>, Label)]| {
        let (_folder, filter) = trained(mail);
        let is_spam = |probe: &&Vec<u8>| filter.check(probe).unwrap().verdict == crivo_mail::Verdict::Spam;
        (probes.iter().filter(is_spam).count(), filter.audit().unwrap().contradictions.len())
    };
    let (clean, none) = caught(&mail);
    let mut noisy = mail.clone();
    for (_, label) in noisy.iter_mut().step_by(100) {
        *label = Label::Ham;
    }
    let (after, found) = caught(&noisy);
    assert!(clean >= 180, "{clean} of 200 caught");
    assert!(after * 10 >= clean * 9, "{clean} caught, and {after} after four wrong labels");
    assert_eq!((none, found), (0, 4));
}

#[test]
fn a_known_sender_is_no_excuse() {
    let mut writer = Writer::new("forged");
    let (_folder, filter) = trained(&writer.mail(400));
    for _ in 0..50 {
        let spam = String::from_utf8(writer.message(true)).unwrap();
        let (_, rest) = spam.split_once('\n').unwrap();
        let forged = format!("From: Person 3 <p3@work.example>\n{rest}");
        let (plain, disguised) =
            (filter.check(spam.as_bytes()).unwrap(), filter.check(forged.as_bytes()).unwrap());
        assert_ne!(disguised.verdict, crivo_mail::Verdict::Ham);
        assert!(plain.verdict != crivo_mail::Verdict::Spam || disguised.score > 0.5);
    }
}

#[test]
fn ham_that_never_travelled_teaches_nothing_about_travelling() {
    // Ham from a folder of sent mail has no transport headers. All new mail has some.
    let mut writer = Writer::new("sent folder");
    let travelled = |message: Vec<u8>| {
        let way = "Return-Path: <x@relay.example>\nReceived: from mx.relay.example (mx.relay.example [10.0.0.1]) by home.example\n\
                   Message-ID: <1@relay.example>\nDelivered-To: me@home.example\nX-UID: 17\nStatus: RO\n";
        [way.as_bytes(), &message].concat()
    };
    let mail: Vec<_> = writer
        .mail(200)
        .into_iter()
        .map(
            |(message, label)| {
                if label == Label::Spam { (travelled(message), label) } else { (message, label) }
            },
        )
        .collect();
    let (_folder, filter) = trained(&mail);
    for _ in 0..50 {
        let ham = writer.message(false);
        let (plain, arrived) =
            (filter.check(&ham).unwrap().score, filter.check(&travelled(ham)).unwrap().score);
        assert!((plain - arrived).abs() < 0.1, "{plain} as sent, {arrived} as it arrives");
    }
}

/// A process that ends after its lesson does not load the derived data. The data that it stores
/// depend only on the set of messages.
#[test]
fn lessons_without_renewal_are_stored_like_all_others() {
    let mut writer = Writer::new("without renewal");
    let (folder, filter) = trained(&writer.mail(300));
    let (filter, probes) = (filter.without_renewal(), probes(&mut writer));
    let before = seen(&Filter::open(folder.path()).unwrap(), &probes);
    for number in 0..70 {
        let is_spam = number % 2 == 0;
        let message = writer.message(is_spam);
        filter.learn(&message, if is_spam { &Label::Spam } else { &Label::Ham }).unwrap();
        if number % 9 == 0 {
            assert_eq!(filter.unlearn(&message, None).unwrap(), Unlearned::Removed);
        }
    }
    filter.refresh().unwrap();
    let after = seen(&filter, &probes);
    assert_ne!(after, before);
    assert_eq!(seen(&Filter::open(folder.path()).unwrap(), &probes), after);
    drop(filter);
    Filter::repair(folder.path()).unwrap();
    assert_eq!(seen(&Filter::open(folder.path()).unwrap(), &probes), after, "derived anew");
}
