//! Lessons with the wrong label are put aside, and difficult but right ones are not.

use crivo_mail::{Filter, Label, Verdict};

use crate::support::{Writer, trained};

/// Writes 800 messages. If `wrong`, every hundredth of each class has the wrong label.
fn mail(writer: &mut Writer, wrong: bool) -> Vec<(Vec<u8>, Label)> {
    let mut mail = writer.mail(800);
    for (place, (_, label)) in mail.iter_mut().enumerate() {
        if wrong && place / 2 % 100 == 50 {
            *label = if *label == Label::Spam { Label::Ham } else { Label::Spam };
        }
    }
    mail
}

fn scores(filter: &Filter, name: &str) -> Vec<(f64, Verdict, bool)> {
    let mut writer = Writer::new(name);
    let judged = |i: usize| {
        let judgement = filter.check(&writer.message(i.is_multiple_of(2))).unwrap();
        (judgement.score, judgement.verdict, i.is_multiple_of(2))
    };
    (0..400).map(judged).collect()
}

#[test]
fn wrong_labels_are_put_aside_and_the_score_survives() {
    let lessons = mail(&mut Writer::new("wrong labels"), true);
    let (_folder, filter) = trained(&lessons);
    let put_aside = filter.stats().unwrap().put_aside;
    assert!((8..=12).contains(&put_aside), "{put_aside} of 8");
    for (score, verdict, is_spam) in scores(&filter, "asked") {
        assert_eq!(verdict, if is_spam { Verdict::Spam } else { Verdict::Ham }, "{score}");
    }
    // A message learned as ham is ham even if it is put aside. Spam that was put aside is unsure,
    // because it may be ham.
    for (message, label) in lessons.iter().skip(100).take(2) {
        let verdict = filter.check(message).unwrap().verdict;
        assert_eq!(verdict, if *label == Label::Spam { Verdict::Unsure } else { Verdict::Ham });
    }
}

#[test]
fn a_copy_of_spam_that_was_put_aside_says_so_and_a_new_lesson_about_it_counts_at_once() {
    let lessons = mail(&mut Writer::new("wrong labels"), true);
    let (_folder, filter) = trained(&lessons);
    let wrong = lessons.iter().skip(100).take(2).find(|(_, label)| *label == Label::Spam);
    let (message, _) = wrong.unwrap();
    let judged = filter.check(message).unwrap();
    assert!(judged.score > judged.thresholds.ham && judged.score < judged.thresholds.spam, "{judged:?}");
    assert!(judged.reasons[0].to_string().contains("which all other mail contradicts"), "{judged:?}");
    filter.unlearn(message, None).unwrap();
    filter.learn(message, &Label::Spam).unwrap();
    assert_eq!(filter.check(message).unwrap().verdict, Verdict::Spam);
}

#[test]
fn nothing_is_put_aside_where_labels_are_right() {
    let (_folder, filter) = trained(&mail(&mut Writer::new("right labels"), false));
    assert_eq!(filter.stats().unwrap().put_aside, 0);
}

#[test]
fn what_was_put_aside_counts_again_when_its_label_is_corrected() {
    let lessons = mail(&mut Writer::new("corrected"), true);
    let (_folder, filter) = trained(&lessons);
    let wrong: Vec<_> = lessons.iter().enumerate().filter(|(place, _)| place / 2 % 100 == 50).collect();
    for (_, (message, label)) in &wrong {
        let right = if *label == Label::Spam { Label::Ham } else { Label::Spam };
        filter.learn(message, &right).unwrap();
    }
    let right = mail(&mut Writer::new("corrected"), false);
    assert_eq!(filter.stats().unwrap().messages, right.len() as u64);
    assert_eq!(filter.stats().unwrap().put_aside, 0);
}
