//! Clients that are slow, wrong, greedy or compressed, and many clients at once.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crivo_mail::service::Service;
use crivo_mail::spamd::server::Limits;

use crate::support::{Scripted, Server, reply, request};

const MESSAGE: &[u8] = b"From: a@example.org\nSubject: hi\n\nBuy now\n";
const SPAM: &str = "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 15.5 / 5.0\r\n\r\n";

fn text(reply: &[u8]) -> String {
    String::from_utf8_lossy(reply).into_owned()
}

fn impatient(limits: Limits) -> Server {
    Server::start(Service::new(Scripted::spam()).unwrap(), limits)
}

#[test]
fn a_client_that_sends_byte_by_byte_is_understood() {
    let server = Server::of(Scripted::spam());
    let mut stream = server.connect();
    stream.set_nodelay(true).unwrap();
    for byte in request("CHECK", "User: x\r\n", MESSAGE) {
        stream.write_all(&[byte]).unwrap();
    }
    assert_eq!(text(&reply(stream)), SPAM, "without half-closing");
}

#[test]
fn a_client_that_neither_ends_its_last_line_nor_half_closes_is_answered() {
    let server = Server::of(Scripted::spam());
    let mut stream = server.connect();
    stream.write_all(&request("CHECK", "", b"From: a\n\nno line end")).unwrap();
    assert_eq!(text(&reply(stream)), SPAM);
}

#[test]
fn slow_clients_are_told_and_let_go_while_others_are_served() {
    let patience = Duration::from_secs(1);
    let server = impatient(Limits { patience, ..Limits::default() });
    let start = Instant::now();
    let mut waiting = server.connect();
    let mut halfway = server.connect();
    halfway.write_all(b"CHECK SPAMC/1.5\r\nContent-length: 100\r\n\r\nFrom:").unwrap();
    waiting.write_all(b"CHE").unwrap();
    assert_eq!(text(&server.ask(&request("CHECK", "", MESSAGE))), SPAM);
    assert_eq!(
        text(&reply(waiting)),
        "SPAMD/1.0 79 Timeout: (1 second timeout while trying to read headers)\r\n"
    );
    assert_eq!(text(&reply(halfway)), "SPAMD/1.0 79 Timeout: (1 second timeout while trying to CHECK)\r\n");
    assert!(start.elapsed() >= patience);
}

#[test]
fn more_clients_than_places_are_all_served_in_turn() {
    let server = impatient(Limits { connections: 3, patience: Duration::from_secs(1), ..Limits::default() });
    // Three connections take all the places and send nothing.
    let idle: Vec<_> = (0..3).map(|_| server.connect()).collect();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| assert_eq!(text(&server.ask(&request("CHECK", "", MESSAGE))), SPAM));
        }
    });
    drop(idle);
}

#[test]
fn hundreds_of_idle_clients_hold_up_nobody() {
    let server = Server::of(Scripted::spam());
    let idle: Vec<_> = (0..200).map(|_| server.connect()).collect();
    let start = Instant::now();
    assert_eq!(text(&server.ask(&request("CHECK", "", MESSAGE))), SPAM);
    assert!(start.elapsed() < Duration::from_secs(20));
    drop(idle);
}

/// Half-open clients: of 400, a third sends nothing, a third stops within the head, and a third
/// within the message.
#[test]
fn hundreds_of_half_open_clients_delay_no_other() {
    let server = Server::of(Scripted::spam());
    let beginnings: [&[u8]; 3] =
        [b"", b"CHECK SPAMC/1.5\r\nContent-le", b"CHECK SPAMC/1.5\r\nContent-length: 100\r\n\r\nFrom:"];
    let half_open: Vec<_> = (0..400)
        .map(|number| {
            let mut stream = server.connect();
            stream.write_all(beginnings[number % 3]).unwrap();
            stream
        })
        .collect();
    let start = Instant::now();
    for _ in 0..10 {
        assert_eq!(text(&server.ask(&request("CHECK", "", MESSAGE))), SPAM);
    }
    // Half-open clients are closed after 10 s: the answers came before that.
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    drop(half_open);
}

/// Clients that stop within their message keep their places only for a moment, even if they have
/// taken all places.
#[test]
fn clients_that_stop_within_their_message_make_room_for_others() {
    let server =
        impatient(Limits { connections: 4, silence: Duration::from_millis(300), ..Limits::default() });
    let mut half_open: Vec<_> = (0..12).map(|_| server.connect()).collect();
    for stream in &mut half_open {
        stream.write_all(b"CHECK SPAMC/1.5\r\nContent-length: 100\r\n\r\nFrom:").unwrap();
    }
    let start = Instant::now();
    assert_eq!(text(&server.ask(&request("CHECK", "", MESSAGE))), SPAM);
    // Without that limit they would keep their places for the 60 s of a whole request.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let told = text(&reply(half_open.remove(0)));
    assert!(told.starts_with("SPAMD/1.0 79 Timeout: "), "{told}");
}

#[test]
fn of_a_huge_message_the_beginning_is_judged_and_the_whole_is_never_promised() {
    let server = impatient(Limits { message: 1000, ..Limits::default() });
    let huge = [MESSAGE, &b"x".repeat(3_000_000), b"\n"].concat();
    assert_eq!(text(&server.ask(&request("CHECK", "", &huge))), SPAM);
    let refused = text(&server.ask(&request("PROCESS", "", &huge)));
    assert!(
        refused.starts_with("SPAMD/1.0 69 Service Unavailable: the message is longer than 1000 bytes"),
        "{refused}"
    );
}

#[test]
fn a_length_that_no_message_has_costs_nothing() {
    let server = impatient(Limits { patience: Duration::from_secs(1), ..Limits::default() });
    let claim = format!("CHECK SPAMC/1.5\r\nContent-length: {}\r\n\r\nFrom: a\n", u64::MAX);
    let answer = text(&server.ask(claim.as_bytes()));
    assert_eq!(
        answer,
        format!(
            "SPAMD/1.0 76 Bad header line: (Content-Length mismatch: Expected {} bytes, got 8 bytes)\r\n",
            u64::MAX
        )
    );
}

#[test]
fn compressed_messages_are_unpacked_and_damage_is_told() {
    let judge = Scripted::spam();
    let server = Server::of(judge.clone());
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(MESSAGE).unwrap();
    let mut packed = packer.finish().unwrap();
    let tell = |packed: &[u8]| {
        text(&server.ask(&request("TELL", "Message-class: spam\r\nSet: local\r\nCompress: zlib\r\n", packed)))
    };
    assert!(tell(&packed).contains("DidSet: local"));
    assert_eq!(judge.told.lock().unwrap()[0].1, MESSAGE);
    packed[4] ^= 0xff;
    assert_eq!(tell(&packed), "SPAMD/1.0 76 Bad header line: (damaged zlib data)\r\n");
    let endless = text(&server.ask(b"CHECK SPAMC/1.5\r\nCompress: zlib\r\n\r\nxx"));
    assert_eq!(endless, "SPAMD/1.0 69 Service Unavailable: Compress requires Content-length header\r\n");
}

#[test]
fn learning_again_changes_nothing_and_says_so() {
    let server = Server::of(Scripted::spam());
    let tell = request("TELL", "Message-class: spam\r\nSet: local\r\n", MESSAGE);
    assert!(text(&server.ask(&tell)).contains("DidSet: local\r\n"));
    assert_eq!(text(&server.ask(&tell)), "SPAMD/1.1 0 EX_OK\r\nContent-length: 2\r\n\r\n\r\n");
}

#[test]
fn a_read_only_service_refuses_lessons_as_the_original_does() {
    let judge = Scripted::spam();
    let server = Server::start(Service::new(judge.clone()).unwrap().read_only(true), Limits::default());
    let answer = text(&server.ask(&request("TELL", "Message-class: spam\r\nSet: local\r\n", MESSAGE)));
    assert!(
        answer.starts_with("SPAMD/1.0 69 Service Unavailable: TELL commands are not enabled"),
        "{answer}"
    );
    assert!(judge.told.lock().unwrap().is_empty());
}

#[test]
fn a_broken_store_is_told_in_one_line() {
    let server = Server::of(Arc::new(Scripted { broken: true, ..Scripted::default() }));
    let answer = text(&server.ask(&request("CHECK", "", MESSAGE)));
    assert_eq!(answer, "SPAMD/1.0 69 Service Unavailable: the store is damaged in two lines\r\n");
}

#[test]
fn heads_that_end_early_are_told() {
    let server = Server::of(Scripted::spam());
    assert_eq!(text(&server.ask(b"")), "SPAMD/1.0 76 Bad header line: (closed before headers)\r\n");
    assert_eq!(
        text(&server.ask(b"CHECK SPAMC/1.5\r\nUser: a")),
        "SPAMD/1.0 76 Bad header line: (EOF during headers)\r\n"
    );
}

#[test]
fn a_client_that_vanishes_takes_nobody_with_it() {
    let server = Server::of(Scripted::spam());
    for cut in [0, 3, 30, 70] {
        let mut stream = server.connect();
        stream.write_all(&request("PROCESS", "", MESSAGE)[..cut]).unwrap();
        drop(stream);
    }
    assert_eq!(text(&server.ask(&request("CHECK", "", MESSAGE))), SPAM);
}

#[test]
fn stopping_answers_those_under_way_and_no_others() {
    let server = Server::of(Scripted::spam());
    let mut under_way = server.connect();
    under_way.write_all(b"CHECK SPAMC/1.5\r\nContent-length: 41\r\n\r\n").unwrap();
    // The answer to a later connection shows that the first connection was accepted too.
    assert_eq!(text(&server.ask(b"PING SPAMC/1.5\r\n\r\n")), "SPAMD/1.5 0 PONG\r\n");
    let address = server.address;
    let finishing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        under_way.write_all(MESSAGE).unwrap();
        under_way.shutdown(Shutdown::Write).unwrap();
        let mut reply = String::new();
        under_way.read_to_string(&mut reply).unwrap();
        reply
    });
    server.stop();
    assert_eq!(finishing.join().unwrap(), SPAM);
    assert!(std::net::TcpStream::connect(address).is_err(), "the port is closed");
}
