//! Replays recorded exchanges of the real programs.

use crivo_mail::{Label, Verdict};

use crate::recordings::{Exchange, read};
use crate::support::{Scripted, Server};

const HEAD: &str = "From: a@example.org\r\nTo: b@example.com\r\nSubject: hi\r\nMessage-ID: <1@example.org>\r\n\
                    Date: Sun, 15 Nov 2026 10:00:00 +0000\r\n\r\n";
const HAM: &str = "hello, lunch at noon?\r\n";
/// GTUBE, the test text that every filter takes for spam.
const SPAM: &str = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X\r\n";

/// Returns the lines of a reply's head, without its length, and the body.
fn parts(reply: &[u8]) -> (Vec<String>, Vec<u8>) {
    let end = reply.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(reply[..end].to_vec()).unwrap();
    let body = reply[end + 4..].to_vec();
    let lines = head.split("\r\n").map(|line| match line.split_once("Content-length: ") {
        Some((before, length)) => {
            assert_eq!(length.parse::<usize>().unwrap(), body.len(), "{head}");
            format!("{before}Content-length: (that of its body)")
        }
        None => line.to_owned(),
    });
    (lines.collect(), body)
}

#[test]
fn every_request_of_the_real_spamc_gets_the_recorded_reply() {
    let exchanges = read(include_str!("spamc_recorded.txt"));
    let mut exact = 0;
    for Exchange { title, request, reply, .. } in exchanges.iter().filter(|each| each.reply.is_some()) {
        // Each message is new to its server, as it was in the recording.
        let judge = Scripted::spam();
        let server = Server::of(judge.clone());
        let (reply, ours) = (reply.as_ref().unwrap(), server.ask(request));
        let text = String::from_utf8_lossy(&ours);
        if matches!(&request[..4], b"SYMB" | b"REPO" | b"HEAD" | b"PROC") {
            // The wording of the body differs between filters; the head does not.
            let ((head, body), (recorded, _)) = (parts(&ours), parts(reply));
            assert_eq!(head, recorded, "{title}");
            assert!(!body.is_empty(), "{title}: {text}");
        } else {
            assert_eq!(text, String::from_utf8_lossy(reply), "{title}");
            exact += 1;
        }
        let told: Vec<_> = judge.told.lock().unwrap().iter().map(|(label, _)| label.clone()).collect();
        let expected = match title.as_str() {
            "spamc -L spam" | "spamc -C report" => vec![Some(Label::Spam)],
            "spamc -L ham" | "spamc -C revoke" => vec![Some(Label::Ham)],
            "spamc -L forget" => vec![None],
            _ => vec![],
        };
        assert_eq!(told, expected, "{title}");
    }
    assert_eq!(exact, 8, "PING, two of CHECK, five of TELL");
}

#[test]
fn the_message_comes_back_marked_and_otherwise_as_it_was() {
    let exchanges = read(include_str!("spamc_recorded.txt"));
    let server = Server::of(Scripted::spam());
    let process = exchanges.iter().find(|each| each.request.starts_with(b"PROCESS")).unwrap();
    let (_, message) = parts(&server.ask(&process.request));
    let message = String::from_utf8(message).unwrap();
    assert!(message.starts_with("X-Spam-Flag: YES\n"), "{message}");
    assert!(
        message.contains("\nX-Spam-Status: Yes, score=15.5 required=5.0 tests=CRIVO_SPAM,SENDER_SPAM\n"),
        "{message}"
    );
    let sent = "From: a@example.org\nTo: b@example.com\nSubject: hi\n\nBuy now\n";
    assert!(message.ends_with(sent), "{message}");
    let headers = exchanges.iter().find(|each| each.request.starts_with(b"HEADERS")).unwrap();
    let (_, head) = parts(&server.ask(&headers.request));
    assert_eq!(String::from_utf8(head).unwrap(), message.strip_suffix("Buy now\n").unwrap());
}

/// Returns the complete request of an exchange in the second recording.
fn whole(exchange: &Exchange) -> Vec<u8> {
    let mut request = exchange.request.clone();
    if exchange.cut {
        let text = String::from_utf8(exchange.request.clone()).unwrap();
        let body = if text.contains("Content-length: 193") { SPAM } else { HAM };
        let message = HEAD.to_owned() + body;
        let start = text.find("\r\n\r\n").unwrap() + 4;
        assert!(message.starts_with(&text[start..]), "{text}");
        request.truncate(start);
        request.extend_from_slice(message.as_bytes());
    }
    request
}

#[test]
fn faults_and_plain_questions_get_the_real_spamds_replies() {
    let exchanges = read(include_str!("spamd_recorded.txt"));
    let mut exact = Vec::new();
    for exchange in &exchanges {
        let Exchange { title, reply, .. } = exchange;
        let request = whole(exchange);
        // Points of 0 are unsure here, where the original prints -0.0.
        let points = match title.as_str() {
            "CHECK spam" | "SYMBOLS" | "TELL (no -l)" => (Verdict::Spam, 1.0),
            _ => (Verdict::Unsure, 0.5),
        };
        let server = Server::of(Scripted::saying(points.0, points.1));
        let ours = String::from_utf8(server.ask(&request)).unwrap();
        let ours = ours.replace(" ; 0.0 /", " ; -0.0 /").replace(" ; 99.9 /", " ; 1000.0 /");
        let theirs = String::from_utf8(reply.clone().unwrap()).unwrap();
        match title.as_str() {
            // The original ran without learning, and it words its replies differently.
            "TELL (no -l)" | "SYMBOLS" | "REPORT" | "HEADERS" | "PROCESS ham" => {
                let codes = [&ours, &theirs].map(|reply| reply.split(' ').nth(1).unwrap().to_owned());
                assert!(title.starts_with("TELL") || codes[0] == codes[1], "{title}: {ours}");
            }
            _ => {
                assert_eq!(ours, theirs, "{title}");
                exact.push(title.as_str());
            }
        }
    }
    let expected = [
        "PING",
        "CHECK spam",
        "CHECK ham",
        "REPORT_IFSPAM ham",
        "SKIP",
        "bad verb",
        "CHECK wrong length",
        "CHECK without length",
    ];
    assert_eq!(exact, expected);
}
