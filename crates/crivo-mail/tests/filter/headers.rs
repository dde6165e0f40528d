//! Headers count as evidence after a few messages. The folder in which mail was kept does not.

use crivo_mail::{Label, Verdict};

use crate::support::{Writer, trained};

/// Writes a message whose words do not depend on its class. Its headers are those of one of two
/// programs.
fn message(writer: &mut Writer, number: usize, is_spam: bool, trace: &str) -> Vec<u8> {
    let body = writer.message(number.is_multiple_of(2));
    let body = String::from_utf8(body).unwrap();
    let (_, body) = body.split_once("\n\n").unwrap();
    let head = if is_spam {
        format!(
            "Message-ID: <{number}$7a@blast.example>\nX-Mailer: Blaster 3\nDate: Thu, 6 Jun 2002 07:17:38 -0600"
        )
    } else {
        format!(
            "Message-ID: <{number}.abc@desk.example>\nX-Mailer: Desk 10\nDate: Thu, 6 Jun 2002 07:17:38 +0200 (CEST)"
        )
    };
    format!("From: p{number}@home.example\n{trace}{head}\nSubject: {number}\n\n{body}").into_bytes()
}

#[test]
fn forty_messages_of_the_same_words_are_told_apart_by_what_their_headers_say() {
    let mut writer = Writer::new("headers");
    let label = |is_spam: bool| if is_spam { Label::Spam } else { Label::Ham };
    let mail: Vec<_> = (0..40).map(|i| (message(&mut writer, i, i % 4 < 2, ""), label(i % 4 < 2))).collect();
    let (_folder, filter) = trained(&mail);
    for i in 100..200 {
        let is_spam = i % 4 < 2;
        let judgement = filter.check(&message(&mut writer, i, is_spam, "")).unwrap();
        assert_eq!(judgement.score >= 0.5, is_spam, "{i}: {}", judgement.score);
        assert_ne!(judgement.verdict, if is_spam { Verdict::Ham } else { Verdict::Spam });
    }
}

#[test]
fn traces_of_a_mailbox_change_no_score() {
    let mut writer = Writer::new("traces");
    let (_folder, filter) = trained(&writer.mail(60));
    let traces = "Status: RO\nX-UID: 17\nX-Keywords: NonJunk\nX-Mozilla-Status: 0001\nX-Folder: in\nDelivered-To: a@b.example\n";
    for i in 0..20 {
        let with = message(&mut Writer::new("same"), i, i % 2 == 0, traces);
        let without = message(&mut Writer::new("same"), i, i % 2 == 0, "");
        assert_eq!(filter.check(&with).unwrap().score, filter.check(&without).unwrap().score);
    }
}

#[test]
fn a_store_with_little_ham_does_not_call_new_ham_spam() {
    // Eight ham messages beside 160 of spam. Of 400 new ham messages at most 2 % are called spam.
    let mut writer = Writer::new("little ham");
    let mut mail: Vec<_> = (0..160).map(|_| (writer.message(true), Label::Spam)).collect();
    mail.extend((0..8).map(|_| (writer.message(false), Label::Ham)));
    let (_folder, filter) = trained(&mail);
    let called =
        |filter: &crivo_mail::Filter, message: &[u8]| filter.check(message).unwrap().verdict == Verdict::Spam;
    let wrong = (0..400).filter(|_| called(&filter, &writer.message(false))).count();
    assert!(wrong <= 8, "{wrong} of 400");
}
