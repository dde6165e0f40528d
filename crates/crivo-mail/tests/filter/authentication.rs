//! Senders that are authenticated, senders that are forged, and hosts that are not trusted.

use std::sync::Arc;

use crivo_mail::{Authentication, Filter, Judgement, Label, Reason, Verdict};

use crate::support::Writer;

const TRUSTED: &str = "mx.home.example";

/// A filter that has learned two kinds of mail, and further messages of each kind. All ham comes
/// from Ana.
struct Mailbox {
    filter: Filter,
    later: Vec<(Vec<u8>, Vec<u8>)>,
    _folder: tempfile::TempDir,
}

impl Mailbox {
    fn trusting(hosts: &[&str]) -> Self {
        let mut writer = Writer::new("authentication");
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::open_or_create(folder.path()).unwrap();
        let mut mail = Vec::new();
        for _ in 0..150 {
            mail.push((writer.message(true), Label::Spam));
            mail.push((from_ana(&writer.message(false), ""), Label::Ham));
        }
        filter.train(mail.into_iter().map(Ok)).unwrap();
        let hosts: Arc<[String]> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let later = (0..300).map(|_| (writer.message(true), writer.message(false))).collect();
        Self { filter: filter.with_trusted_hosts(hosts), later, _folder: folder }
    }

    fn check(&self, message: &[u8]) -> Judgement {
        self.filter.check(message).unwrap()
    }
}

/// Returns the message with these headers on top, and with the sender of all learned ham.
fn from_ana(message: &[u8], headers: &str) -> Vec<u8> {
    let text = String::from_utf8(message.to_vec()).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("From: ")).collect();
    format!("{headers}From: Ana <ana@friend.example>\n{}\n", lines.join("\n")).into_bytes()
}

fn results(host: &str, results: &str) -> String {
    format!("Authentication-Results: {host}; {results}\n")
}

fn outcome(judgement: &Judgement) -> Option<(Authentication, bool)> {
    judgement.reasons.iter().find_map(|reason| match reason {
        Reason::Authentication { outcome, is_familiar } => Some((*outcome, *is_familiar)),
        _ => None,
    })
}

#[test]
fn three_hundred_forged_senders_are_never_ham() {
    let mailbox = Mailbox::trusting(&[TRUSTED]);
    let unproven = results(TRUSTED, "spf=pass smtp.mailfrom=spammer.example; dmarc=none");
    for (spam, ham) in &mailbox.later {
        let forged = mailbox.check(&from_ana(spam, &unproven));
        assert_ne!(forged.verdict, Verdict::Ham, "{forged:?}");
        assert_eq!(outcome(&forged), Some((Authentication::Unknown, true)));
        // A familiar name without proof is not ham because of its words alone.
        assert_ne!(mailbox.check(&from_ana(ham, &unproven)).verdict, Verdict::Ham);
    }
}

#[test]
fn without_trusted_hosts_a_familiar_sender_is_no_excuse() {
    let mailbox = Mailbox::trusting(&[]);
    let claim = results(TRUSTED, "dmarc=pass");
    for (spam, _) in &mailbox.later {
        let (plain, forged) = (mailbox.check(&from_ana(spam, "")), mailbox.check(&from_ana(spam, &claim)));
        assert_ne!(forged.verdict, Verdict::Ham);
        assert_eq!((forged.score, outcome(&forged)), (plain.score, None), "such headers are no evidence");
    }
}

#[test]
fn an_authenticated_familiar_sender_counts_and_others_do_not() {
    let mailbox = Mailbox::trusting(&[TRUSTED]);
    let passed = results(TRUSTED, "dkim=pass header.d=friend.example; dmarc=pass");
    let failed = results(TRUSTED, "dmarc=fail");
    for (spam, ham) in mailbox.later.iter().take(50) {
        let score = |message: &[u8], headers: &str| mailbox.check(&from_ana(message, headers)).score;
        for message in [spam, ham] {
            let (without, with) = (score(message, ""), score(message, &passed));
            assert!(with <= without && score(message, &failed) >= without, "{without} {with}");
            let of_another = results("mx.evil.example", "dmarc=pass");
            assert_eq!(score(message, &of_another), without, "forged results of other hosts are ignored");
        }
        assert_ne!(mailbox.check(&from_ana(spam, &passed)).verdict, Verdict::Ham, "words still count");
    }
}
