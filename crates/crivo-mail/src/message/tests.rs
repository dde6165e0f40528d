use proptest::prelude::*;

use super::*;

fn crlf(message: &str) -> String {
    message.replace('\n', "\r\n")
}

#[test]
fn line_endings_do_not_matter() {
    for message in [
        "Subject: one\n\ntwo\nthree\n",
        "Subject: at once\nthe body\nof two lines",
        "From: a@b.c\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\n\n<p>hi\n--x--\n",
        "Content-Transfer-Encoding: quoted-printable\nContent-Type: text/plain\n\nso=\nft =3D caf=E9\n",
        "no header\n\nat all\n",
    ] {
        assert_eq!(Message::read(message.as_bytes()), Message::read(crlf(message).as_bytes()), "{message}");
    }
}

#[test]
fn a_subject_needs_no_blank_line_after_it() {
    let message = Message::read(b"Subject: hello there\nfirst line\nsecond : line\n");
    assert_eq!(message.subject, "hello there");
    assert_eq!(message.text.trim(), "first line\nsecond : line");
}

#[test]
fn a_mark_of_the_byte_order_hides_no_header() {
    let plain = "From: a@b.c\nSubject: hello\n\nbody\n";
    assert_eq!(Message::read(format!("\u{feff}{plain}").as_bytes()), Message::read(plain.as_bytes()));
}

#[test]
fn transfer_encodings_and_character_sets_are_undone() {
    let base64 =
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nT2zDoSBtdW5kbw==\n";
    assert_eq!(Message::read(base64.as_bytes()).text.trim(), "Olá mundo");
    let latin = b"Content-Type: text/plain; charset=iso-8859-1\n\ncaf\xE9";
    assert_eq!(Message::read(latin).text.trim(), "café");
    assert_eq!(Message::read(b"Subject: x\n\ncaf\xE9").text.trim(), "café");
    let nonsense = b"Content-Type: text/plain; charset=klingon-7\n\nstill text";
    assert_eq!(Message::read(nonsense).text.trim(), "still text");
}

#[test]
fn pages_are_what_a_reader_sees_and_links_are_facts() {
    let page = "Content-Type: text/html\n\n<p>buy <b>n</b>ow <a href=\"http://www.shop.example/x\">here</a><img src=x>";
    let message = Message::read(page.as_bytes());
    assert_eq!(message.text.split_whitespace().collect::<Vec<_>>(), ["buy", "now", "here"]);
    for fact in ["link to shop.example", "page with images", "type text/html"] {
        assert!(message.facts.iter().any(|found| found == fact), "{fact} in {:?}", message.facts);
    }
}

#[test]
fn text_that_nobody_sees_is_no_text_but_a_fact() {
    let page = |inside: &str| {
        Message::read(format!("Content-Type: text/html\n\n{inside}<p>cheap pills</p>").as_bytes())
    };
    let bare = page("");
    for hidden in [
        "<div style='display:none'>meeting agenda draft</div>",
        "<div hidden>meeting agenda draft</div>",
        "<span style=\"font-size:0px\">meeting agenda draft</span>",
        "<font color=white>meeting agenda draft</font>",
        "<title>meeting agenda draft</title>",
        "<style>.x{display:none}</style><b class=x>meeting agenda draft</b>",
    ] {
        let message = page(hidden);
        assert_eq!(
            message.text.split_whitespace().collect::<Vec<_>>(),
            bare.text.split_whitespace().collect::<Vec<_>>(),
            "{hidden}"
        );
        assert!(message.facts.contains(&"page with hidden text".to_owned()), "{hidden}");
    }
    assert!(!bare.facts.contains(&"page with hidden text".to_owned()));
}

#[test]
fn of_two_versions_the_page_counts() {
    let read = |plain: &str, page: &str| {
        Message::read(
            format!(
                "Content-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/plain\n\n{plain}\n\
                 --x\nContent-Type: multipart/related; boundary=y\n\n--y\nContent-Type: text/html\n\n{page}\n--y--\n--x--\n"
            )
            .as_bytes(),
        )
    };
    let other = "the plain version says something else".to_owned();
    let words = "one two three four five six seven eight nine ten eleven twelve thirteen";
    let same = read(words, &format!("<p>{words} <b>click</b>"));
    assert_eq!(same.text.trim(), format!("{words} click"));
    assert!(!same.facts.contains(&other));
    let disguised = read(
        "please find attached the agenda of our next meeting with all the open points",
        "<p>cheap pills",
    );
    assert_eq!(disguised.text.trim(), "cheap pills");
    assert!(disguised.facts.contains(&other));
    // Without a page that is shown, the plain version is read.
    let alone =
        "Content-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/plain\n\nhello\n--x--\n";
    assert_eq!(Message::read(alone.as_bytes()).text.trim(), "hello");
    let mixed = "Content-Type: multipart/mixed; boundary=x\n\n--x\n\nhello\n--x\nContent-Type: text/html\n\n<p>there\n--x--\n";
    assert_eq!(
        Message::read(mixed.as_bytes()).text.split_whitespace().collect::<Vec<_>>(),
        ["hello", "there"]
    );
}

#[test]
fn senders_have_one_form() {
    let sender = |from: &str| Message::read(format!("From: {from}\n\nx").as_bytes()).sender;
    for from in [
        "ana@example.org",
        "Ana <ANA@Example.ORG>",
        "\"Ana, the one\" <ana+shop@example.org>",
        "<ana@example.org.>",
        "\"ana\"@example.org",
        "ana(comment)@example.org",
    ] {
        assert_eq!(sender(from).as_deref(), Some("ana@example.org"), "{from}");
    }
    for from in ["a@xn--bcher-kva.de", "A@Bücher.de", "\"a\"@BÜCHER.de", "a(x)@xn--bcher-kva.de"] {
        assert_eq!(sender(from).as_deref(), Some("a@xn--bcher-kva.de"), "{from}");
    }
    for from in ["", "nobody", "Ana <>", "@", "<@>"] {
        assert_eq!(sender(from), None, "{from}");
    }
}

#[test]
fn what_is_added_on_the_way_does_not_change_the_message() {
    let fingerprint = |message: &str| Message::read(message.as_bytes()).fingerprint;
    let sent = "From: a@b.c\nSubject: x\n\nbody\n";
    assert_eq!(
        fingerprint(sent),
        fingerprint("Received: by z\nX-Crivo: spam\nFrom: a@b.c\nStatus: RO\nSubject: x\n\nbody\n\n")
    );
    assert_eq!(
        fingerprint(sent),
        fingerprint("From a@b.c Thu Jan  1 00:00:00 1970\nFrom: a@b.c\nSubject: x\n\nbody\n")
    );
    assert_ne!(fingerprint(sent), fingerprint("From: a@b.c\nSubject: x\n\nbody!\n"));
    assert_ne!(fingerprint(sent), fingerprint("From: a@b.d\nSubject: x\n\nbody\n"));
}

#[test]
fn long_messages_are_the_same_whatever_their_way_added_and_however_their_lines_end() {
    let fingerprint = |message: &str| Message::read(message.as_bytes()).fingerprint;
    let body = |lines: usize| format!("{}\n", "x".repeat(75)).repeat(lines);
    for lines in [13_700, 13_797, 13_800, 50_000] {
        let sent = format!("From: a@b.c\nSubject: x\n\n{}", body(lines));
        let received = format!("{}{sent}", format!("Received: by {}\n", "z".repeat(50)).repeat(900));
        assert_eq!(fingerprint(&sent), fingerprint(&received), "{lines} lines");
        let stored = crlf(&received);
        assert_eq!(fingerprint(&sent), fingerprint(&stored), "{lines} lines");
        assert_eq!(fingerprint(&sent), fingerprint(&stored[..stored.len().min(crate::source::READ)]));
        assert_ne!(fingerprint(&sent), fingerprint(&sent.replacen("\n\nx", "\n\ny", 1)));
    }
}

#[test]
fn what_a_filter_wrote_is_no_evidence() {
    let facts = |message: &str| Message::read(message.as_bytes()).facts;
    assert_eq!(
        facts(
            "From: a@b.c\nX-Spam-Flag: YES\nX-SPAM-Status: Yes,\n\tscore=9\nX-Crivo-Keywords: $category-x\n\nbody\n"
        ),
        facts("From: a@b.c\n\nbody\n")
    );
    assert_ne!(facts("From: a@b.c\nX-Mailer: z\n\nbody\n"), facts("From: a@b.c\n\nbody\n"));
}

#[test]
fn ten_thousand_nested_parts_cost_neither_stack_nor_time() {
    for kind in ["multipart/mixed; boundary=\"b{}\"", "message/rfc822"] {
        let mut message = String::from("Subject: deep\n");
        for depth in 0..10_000 {
            let kind = kind.replace("{}", &depth.to_string());
            message.extend([
                "Content-Type: ",
                &kind,
                "

--b",
                &depth.to_string(),
                "
",
            ]);
        }
        message.push_str("\nthe end");
        let began = std::time::Instant::now();
        assert_eq!(Message::read(message.as_bytes()).subject, "deep");
        assert!(began.elapsed().as_secs() < 10);
    }
}

#[test]
fn very_long_attachments_are_looked_at_up_to_a_limit() {
    let mut message = b"Subject: long\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nthe text\n--b\n\
        Content-Type: application/zip\nContent-Transfer-Encoding: base64\n\n"
        .to_vec();
    for _ in 0..100_000 {
        message.extend_from_slice(b"QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB\r\n");
    }
    let read = Message::read(&message);
    assert!(read.text.contains("the text"));
    assert!(read.facts.iter().any(|fact| fact == "type application/zip"));
}

proptest! {
    #[test]
    fn any_bytes_are_a_message(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let message = Message::read(&bytes);
        prop_assert_eq!(&message, &Message::read(&bytes));
    }

    #[test]
    fn any_soup_of_mail_is_a_message(parts in prop::collection::vec(prop::sample::select(vec![
        "Content-Type: multipart/mixed; boundary=b\n", "\n", "--b\n", "--b--\n", "Content-Type: message/rfc822\n",
        "Content-Transfer-Encoding: base64\n", "Content-Transfer-Encoding: quoted-printable\n", "=\n", "=3", "QUJD\n",
        "Subject: =?utf-8?b?", "?=\n", "From: <", "@", ">\n", "Content-Type: text/html; charset=utf-7\n", "<a href=",
        "http://x.y/", "--", "\r\n", "\u{200b}", "а", " ", "Date: Thu, 99 Foo\n", "Content-Type: text/plain; charset=\"\n",
    ]), 0..60)) {
        let soup = parts.concat();
        Message::read(soup.as_bytes());
        let unix = soup.replace("\r\n", "\n");
        prop_assert_eq!(Message::read(unix.as_bytes()), Message::read(crlf(&unix).as_bytes()));
    }
}

#[test]
fn an_attachment_that_is_cut_off_is_no_text() {
    let head = "From: a@b.example\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n";
    let text = "--x\nContent-Type: text/plain\n\nsee the attachment\n";
    let attachment = "--x\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n";
    let bytes = "Q3Jpdm8gbWVhbnMgc2lldmUu\n".repeat(40);
    let whole = Message::read(format!("{head}{text}{attachment}{bytes}--x--\n").as_bytes());
    assert_eq!(whole.text.trim(), "see the attachment");
    for end in [1, 2, 26, 27, 500] {
        let cut = &bytes[..bytes.len() - end];
        let message = Message::read(format!("{head}{text}{attachment}{cut}").as_bytes());
        assert_eq!(message.text.trim(), "see the attachment", "without the last {end} bytes");
        assert!(message.facts.iter().any(|fact| fact.starts_with("attachment of about")));
    }
    // A text that is cut off is still read.
    let encoded = "--x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n";
    let message = Message::read(format!("{head}{encoded}{bytes}").as_bytes());
    assert!(message.text.contains("means sieve"), "{:?}", message.text);
}
