//! Starting and stopping the server, and changes by other processes meanwhile.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::mail::{odd, spam};
use crate::support::{Office, eventually};

#[test]
fn signals_end_the_server_cleanly() {
    let office = Office::trained();
    for signal in ["TERM", "INT"] {
        let (code, rest) = office.serve(&[]).end(signal);
        assert_eq!((code, rest.as_str()), (Some(0), ""), "{signal}");
    }
}

#[cfg(unix)]
#[test]
fn a_hangup_does_not_end_the_server() {
    let office = Office::trained();
    let server = office.serve(&[]);
    server.signal("HUP");
    assert_eq!(server.spamc(&["-c"], &spam(5_000)).code, Some(1), "it still answers");
    assert_eq!(server.end("TERM").0, Some(0));
}

#[test]
fn a_request_under_way_is_answered_before_the_end() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let mut stream = TcpStream::connect(server.spamd).unwrap();
    stream.write_all(b"CHECK SPAMC/1.5\r\nContent-length: 9\r\n\r\n").unwrap();
    // The answer to a second client shows that the first was accepted.
    assert_eq!(server.spamc(&["-K"], "").code, Some(0));
    let (address, ending) = (server.spamd, std::thread::spawn(|| server.end("TERM")));
    eventually("the port is closed", || TcpStream::connect(address).is_err());
    stream.write_all(b"From: a\n\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("SPAMD/1.1 0 EX_OK\r\nSpam: "), "{reply}");
    assert_eq!(ending.join().unwrap().0, Some(0));
}

#[test]
fn what_another_process_learns_is_noticed() {
    let office = Office::trained();
    let server = office.serve(&[]);
    assert!(!server.spamc(&["-y"], &odd(99)).out.contains("CRIVO_SPAM"));
    for number in 0..12 {
        let learned = office.crivo(&["learn", "--store", "store", "spam"], &odd(number));
        assert_eq!(learned.code, Some(0), "{learned:?}");
    }
    eventually("the lessons are noticed", || server.spamc(&["-y"], &odd(99)).out.contains("CRIVO_SPAM"));
}

#[test]
fn a_store_that_is_not_there_is_made_and_told() {
    let office = Office::empty();
    let server = office.serve(&[]);
    assert_eq!(server.spamc(&["-y"], &spam(1)).out.split(',').next(), Some("CRIVO_UNSURE"));
    assert!(office.path("store").is_dir());
}

#[test]
fn addresses_that_others_reach_need_a_word_more() {
    let office = Office::trained();
    for option in ["--spamd", "--web"] {
        let refused = office.crivo(&["serve", "--store", "store", option, "0.0.0.0:0"], "");
        assert!(!matches!(refused.code, Some(0)), "{refused:?}");
        assert!(refused.err.contains("add --public if that is wanted"), "{refused:?}");
    }
}

#[test]
fn an_address_in_use_or_wrong_is_named() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let taken = office.crivo(&["serve", "--store", "store", "--spamd", &server.spamd.to_string()], "");
    assert!(taken.err.contains("cannot listen there; choose another port"), "{taken:?}");
    let wrong = office.crivo(&["serve", "--store", "store", "--web", "here"], "");
    assert!(wrong.err.contains("--web here: expected an address with a port"), "{wrong:?}");
}

#[test]
fn a_damaged_store_is_refused_and_left_alone() {
    let office = Office::trained();
    for entry in std::fs::read_dir(office.path("store")).unwrap() {
        std::fs::write(entry.unwrap().path(), b"not a store at all, but long enough to be looked at")
            .unwrap();
    }
    let refused = office.crivo(&["serve", "--store", "store", "--spamd", "127.0.0.1:0"], "");
    assert!(!matches!(refused.code, Some(0)) && !refused.err.is_empty(), "{refused:?}");
}

#[test]
fn a_read_only_server_teaches_nobody() {
    let office = Office::trained();
    let server = office.serve(&["--read-only"]);
    let told = server.spamc(&["-L", "spam"], &odd(1));
    assert!(!told.out.contains("successfully"), "{told:?}");
    assert_eq!(server.spamc(&["-c"], &spam(5_000)).code, Some(1), "it still answers");
}
