//! The recorded exchange, packet by packet, and the same with mutated bytes.

use crivo_mail::milter::packet::{Command, Parsed, parse};
use crivo_mail::milter::session::{Ended, Next, Session};
use proptest::prelude::*;

use crate::recordings::unescape;

/// A packet, and which side sent it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sent {
    ByMailServer(Vec<u8>),
    ByFilter(Vec<u8>),
}

/// Reads the recording, which has lines such as `MTA->milter len=10 'B' b'Buy now\r\n'`.
pub(crate) fn exchange() -> Vec<Sent> {
    let lines = include_str!("milter_recorded.txt").lines();
    lines
        .map(|line| {
            let (command, data) = line.split_once(" b'").unwrap();
            let command = command.as_bytes()[command.len() - 2];
            let data = unescape(&format!("'{data}"));
            let length = u32::try_from(data.len() + 1).unwrap();
            if let Some((_, said)) = line.split_once("len=") {
                assert_eq!(said.split(' ').next(), Some(length.to_string().as_str()), "{line}");
            }
            let packet = [&length.to_be_bytes()[..], &[command], &data].concat();
            if line.starts_with("MTA") { Sent::ByMailServer(packet) } else { Sent::ByFilter(packet) }
        })
        .collect()
}

/// Returns the packets of the mail server. The recorded filter accepted none of the offered steps,
/// so none is offered here.
pub(crate) fn of_mail_server() -> Vec<Vec<u8>> {
    let sent = exchange().into_iter().filter_map(|sent| match sent {
        Sent::ByMailServer(packet) => Some(packet),
        Sent::ByFilter(_) => None,
    });
    let mut packets: Vec<Vec<u8>> = sent.collect();
    packets[0][13..].fill(0);
    packets
}

/// Replays bytes in a session until it closes or the bytes end. Returns its replies and the number
/// of bytes left, or the fault that ended it.
fn replayed(mut bytes: &[u8]) -> Result<(Vec<Next>, usize), String> {
    let mut session = Session::new(1 << 20, false);
    let mut said = Vec::new();
    loop {
        match parse(bytes).map_err(|fault| fault.to_string())? {
            Parsed::Incomplete => return Ok((said, bytes.len())),
            Parsed::Whole(command, taken) => {
                let next = session.take(command).map_err(|fault| fault.to_string())?;
                bytes = &bytes[taken..];
                let close = next == Next::Close;
                said.push(next);
                if close {
                    return Ok((said, bytes.len()));
                }
            }
        }
    }
}

#[test]
fn every_recorded_packet_is_understood_and_not_before_its_last_byte() {
    let mut understood = 0;
    for sent in exchange() {
        let Sent::ByMailServer(packet) = sent else { continue };
        let Ok(Parsed::Whole(_, taken)) = parse(&packet) else { panic!("{packet:?}") };
        assert_eq!(taken, packet.len());
        for cut in 0..packet.len() {
            assert_eq!(parse(&packet[..cut]), Ok(Parsed::Incomplete), "{packet:?} cut at {cut}");
        }
        understood += 1;
    }
    assert_eq!(understood, 30);
}

#[test]
fn the_recorded_conversation_gets_the_recorded_answers() {
    let (said, rest) = replayed(&of_mail_server().concat()).unwrap();
    assert_eq!(rest, 0);
    let mut answers = exchange().into_iter().filter_map(|sent| match sent {
        Sent::ByFilter(packet) => Some(packet),
        Sent::ByMailServer(_) => None,
    });
    assert_eq!(answers.next().unwrap()[4], b'O', "the offer is answered by what each filter needs");
    let mut ended = None;
    for next in said.into_iter().skip(1) {
        match next {
            Next::Reply(reply) => assert_eq!(Some(reply), answers.next()),
            Next::Judge(message) => ended = Some(*message),
            Next::Wait | Next::Close => {}
        }
    }
    let of_the_message: Vec<u8> = answers.map(|packet| packet[4]).collect();
    assert_eq!(of_the_message, b"hc", "what is left is said when the message is judged");
    let expected = "Return-Path: <a@example.org>\nReceived: from [127.0.0.1] (localhost [127.0.0.1])\n\
                    \tby mx.example.test with SMTP\nFrom: a@example.org\nTo: b@example.test\nSubject: hi\n\
                    Message-Id: <20261115180104.032689CA98D@mx.example.test>\n\
                    Date: Sun, 15 Nov 2026 18:01:03 +0000 (UTC)\n\nBuy now\r\n";
    let expected = Ended {
        message: expected.into(),
        recipients: vec![b"<b@example.test>".to_vec()],
        cleaning: Vec::new(),
        queue_id: "032689CA98D".into(),
    };
    assert_eq!(ended, Some(expected));
}

#[test]
fn one_changed_byte_is_understood_or_refused_and_never_more() {
    let whole = of_mail_server().concat();
    let (mut refused, mut understood) = (0, 0);
    for at in 0..whole.len() {
        for change in [0x01, 0x20, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            match replayed(&bytes) {
                Ok((said, rest)) => {
                    assert!(said.len() <= 30 && rest <= bytes.len());
                    understood += 1;
                }
                Err(fault) => {
                    assert!(!fault.is_empty() && !fault.contains(char::is_control), "{fault:?}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 500 && understood > 500, "{refused} refused, {understood} understood");
}

proptest! {
    #[test]
    fn packets_in_any_order_end_in_a_state_that_takes_the_next(order in prop::collection::vec(0_usize..30, 0..60)) {
        let packets = of_mail_server();
        let mut session = Session::new(1000, false);
        for number in order {
            let Ok(Parsed::Whole(command, _)) = parse(&packets[number]) else { panic!() };
            // A refused command changes nothing.
            let _ = session.take(command);
        }
        let _ = session.take(Command::Abort);
        prop_assert!(!session.has_message());
    }

    #[test]
    fn bytes_that_follow_the_negotiation_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut whole = of_mail_server()[0].clone();
        whole.extend(bytes);
        let _ = replayed(&whole);
    }
}
