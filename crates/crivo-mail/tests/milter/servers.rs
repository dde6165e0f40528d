//! The server over real sockets: mail servers that are correct, slow, hostile, or gone.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crivo_mail::connections::Limits;
use crivo_mail::milter::action::{OnSpam, Rules};
use crivo_mail::milter::server::serve;
use crivo_mail::service::{Service, Users};
use crivo_mail::{Label, Policy, Verdict};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::recorded::of_mail_server;
use crate::support::Scripted;

/// A server that ends with the test.
struct Server {
    address: SocketAddr,
    service: Arc<Service>,
    stop: watch::Sender<bool>,
    serving: tokio::task::JoinHandle<()>,
    runtime: Runtime,
}

impl Server {
    fn start(service: Service, rules: Rules, limits: Limits) -> Self {
        let (runtime, service) = (Runtime::new().unwrap(), Arc::new(service));
        let (stop, stopped) = watch::channel(false);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = runtime.spawn(serve(listener.into(), limits, rules, Arc::clone(&service), stopped));
        Self { address, service, stop, serving, runtime }
    }

    fn of(judge: Arc<Scripted>, on_spam: OnSpam) -> Self {
        let rules = Rules { on_spam, ..Rules::default() };
        Self::start(Service::new(judge).unwrap(), rules, Limits::default())
    }

    fn connect(&self) -> MailServer {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        MailServer(stream)
    }

    fn trouble(&self) -> Option<String> {
        let start = Instant::now();
        loop {
            let trouble = self.service.journal().take_trouble();
            if trouble.is_some() || start.elapsed() > Duration::from_secs(20) {
                return trouble;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The mail server's side of a connection.
struct MailServer(TcpStream);

fn packet(command: u8, data: &[u8]) -> Vec<u8> {
    [&u32::try_from(data.len() + 1).unwrap().to_be_bytes()[..], &[command], data].concat()
}

impl MailServer {
    fn send(&mut self, command: u8, data: &[u8]) {
        self.0.write_all(&packet(command, data)).unwrap();
    }

    fn reply(&mut self) -> (char, Vec<u8>) {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).unwrap();
        let mut data = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut data).unwrap();
        (char::from(data[0]), data[1..].to_vec())
    }

    fn is_closed(&mut self) -> bool {
        matches!(self.0.read(&mut [0; 1]), Ok(0) | Err(_))
    }

    /// Negotiates with all steps offered, so that only the body and the end are answered.
    fn negotiated(mut self) -> Self {
        self.send(b'O', b"\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff");
        assert_eq!(self.reply(), ('O', b"\0\0\0\x06\0\0\0\x11\0\x04\xf7\x80".to_vec()));
        self
    }

    /// Sends a message. Returns the commands after its end, and their data.
    fn message(&mut self, recipients: &[&str], headers: &[(&str, &str)], body: &str) -> Vec<(char, String)> {
        self.send(b'M', b"<a@example.org>\0");
        for recipient in recipients {
            self.send(b'R', format!("<{recipient}>\0").as_bytes());
        }
        for (name, value) in headers {
            self.send(b'L', format!("{name}\0{value}\0").as_bytes());
        }
        self.send(b'N', b"");
        for piece in body.as_bytes().chunks(65_535) {
            self.send(b'B', piece);
            if self.reply().0 == 's' {
                break;
            }
        }
        self.send(b'E', b"");
        let mut replies = Vec::new();
        loop {
            let (command, data) = self.reply();
            replies.push((command, String::from_utf8(data).unwrap()));
            if !matches!(command, 'i' | 'm' | 'q') {
                return replies;
            }
        }
    }
}

const HEADERS: &[(&str, &str)] = &[("From", "a@example.org"), ("Subject", "hi"), ("X-Spam-Flag", "NO")];

fn commands(replies: &[(char, String)]) -> String {
    replies.iter().map(|(command, _)| command).collect()
}

#[test]
fn spam_is_marked_forgeries_go_and_the_connection_is_used_again() {
    let server = Server::of(Scripted::spam(), OnSpam::Mark);
    let mut client = server.connect().negotiated();
    for _ in 0..3 {
        let replies = client.message(&["b@example.test"], HEADERS, "Buy now\r\n");
        assert_eq!(commands(&replies), "miiiic");
        assert_eq!(replies[0].1, "\0\0\0\u{1}X-Spam-Flag\0\0");
        assert_eq!(replies[1].1, "\0\0\0\0X-Crivo\0spam; score=1.0000\0");
        assert_eq!(replies[4].1, "\0\0\0\0X-Spam-Flag\0YES\0");
    }
    client.send(b'M', b"<given@up>\0");
    client.send(b'A', b"");
    client.send(b'K', b"");
    assert_eq!(commands(&client.message(&["b@x"], &[], "x")), "iiiic");
    client.send(b'Q', b"");
    assert!(client.is_closed());
    assert_eq!(server.service.journal().checks(), 4);
}

#[test]
fn spam_is_held_back_only_as_asked_for() {
    for (on_spam, expected, text) in [
        (OnSpam::Quarantine, "iiiiqc", "crivo: spam"),
        (OnSpam::Reject, "y", "550 5.7.1"),
        (OnSpam::Tempfail, "y", "451 4.7.1"),
    ] {
        let server = Server::of(Scripted::spam(), on_spam);
        let mut client = server.connect();
        client.send(b'O', b"\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff");
        assert_eq!(client.reply().0, 'O');
        let replies = client.message(&["b@x"], &[], "Buy now\r\n");
        assert_eq!(commands(&replies), expected);
        assert!(replies.iter().any(|(_, data)| data.starts_with(text)), "{replies:?}");
    }
    let server = Server::of(Scripted::saying(Verdict::Ham, 0.001), OnSpam::Reject);
    assert_eq!(commands(&server.connect().negotiated().message(&["b@x"], &[], "Hi\r\n")), "iiic");
}

#[test]
fn a_store_that_fails_passes_mail_without_marks_but_cleaned() {
    let broken = || Arc::new(Scripted { broken: true, ..Scripted::default() });
    let server = Server::of(broken(), OnSpam::Reject);
    assert_eq!(commands(&server.connect().negotiated().message(&["b@x"], HEADERS, "Hi\r\n")), "mc");
    assert!(server.trouble().unwrap().contains("the store is damaged"));
    let rules = Rules { tempfail_on_failure: true, ..Rules::default() };
    let server = Server::start(Service::new(broken()).unwrap(), rules, Limits::default());
    let replies = server.connect().negotiated().message(&["b@x"], &[], "Hi\r\n");
    assert!(replies[0].0 == 'y' && replies[0].1.starts_with("451"), "{replies:?}");
}

#[test]
fn recipients_have_stores_of_their_own_and_the_mildest_verdict_counts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("ana")).unwrap();
    let users = Users::new(folder.path(), Policy::default());
    let service = Service::new(Scripted::spam()).unwrap().with_users(users);
    let body = "the monthly letter of the garden club with all the dates of the summer and of the autumn\r\n";
    let letter = format!("From: a@example.org\nSubject: hi\n\n{body}").replace('\r', "");
    service.learn(Some("ana"), letter.as_bytes(), &Label::Ham).unwrap();
    let server = Server::start(service, Rules::default(), Limits::default());
    let mut client = server.connect().negotiated();
    let headers = &HEADERS[..2];
    for (recipients, verdict) in [
        (&["Ana+club@example.test"][..], "ham"),
        (&["bob@example.test"], "spam"),
        (&["bob@example.test", "ana@example.test"], "ham"),
        (&["../ana@example.test"], "spam"),
    ] {
        let replies = client.message(recipients, headers, body);
        let marks: String = replies.iter().map(|(_, data)| data.as_str()).collect();
        assert!(marks.contains(&format!("X-Crivo\0{verdict}; score=")), "{recipients:?}: {marks:?}");
    }
}

#[test]
fn a_large_message_is_skipped_when_enough_of_it_is_there() {
    let server = Server::of(Scripted::spam(), OnSpam::Mark);
    let body = "all work and no play\r\n".repeat(200_000);
    let started = Instant::now();
    assert_eq!(commands(&server.connect().negotiated().message(&["b@x"], &[], &body)), "iiiic");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn malformed_packets_close_their_connection_with_a_line_and_nothing_else() {
    let server = Server::of(Scripted::spam(), OnSpam::Mark);
    let mut well = server.connect().negotiated();
    for (bytes, line) in [
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "a packet of 1195725856 bytes"),
        (packet(b'H', b"early\0"), "a packet before the negotiation"),
        (packet(b'?', b""), "an unknown command"),
        (packet(b'O', b"short"), "damaged data of 5 bytes in a packet 'O'"),
        (packet(b'O', b"\0\0\0\x06\0\0\0\0\0\0\0\0"), "allows the changes 0x0"),
    ] {
        let mut client = server.connect();
        client.0.write_all(&bytes).unwrap();
        assert!(client.is_closed(), "{line}");
        let told = server.trouble().unwrap_or_default();
        assert!(told.contains(line) && told.contains("127.0.0.1"), "{told}");
    }
    assert_eq!(commands(&well.message(&["b@x"], &[], "x")), "iiiic");
}

#[test]
fn slow_and_half_open_connections_are_closed_in_time() {
    let limits = Limits {
        patience: Duration::from_millis(500),
        head: Duration::from_millis(300),
        ..Limits::default()
    };
    let server = Server::start(Service::new(Scripted::spam()).unwrap(), Rules::default(), limits);
    let mut silent = server.connect();
    let mut stuck = server.connect().negotiated();
    stuck.0.write_all(b"\0\0\0\x10M<a@").unwrap();
    let mut idle = server.connect().negotiated();
    assert!(silent.is_closed() && stuck.is_closed());
    assert!(server.trouble().unwrap().contains("a packet that does not end"));
    assert_eq!(commands(&idle.message(&["b@x"], &[], "x")), "iiiic", "an idle one may stay");
}

#[test]
fn connections_that_say_nothing_keep_others_out_for_a_moment_only() {
    let limits = Limits { connections: 4, head: Duration::from_millis(300), ..Limits::default() };
    let server = Server::start(Service::new(Scripted::spam()).unwrap(), Rules::default(), limits);
    let _silent: Vec<MailServer> = (0..12).map(|_| server.connect()).collect();
    let started = Instant::now();
    assert_eq!(commands(&server.connect().negotiated().message(&["b@x"], &[], "x")), "iiiic");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn the_recorded_conversation_is_answered_over_a_socket() {
    let server = Server::of(Scripted::spam(), OnSpam::Mark);
    let mut client = server.connect();
    client.0.write_all(&of_mail_server().concat()).unwrap();
    let mut commands = String::new();
    let mut bytes = Vec::new();
    client.0.read_to_end(&mut bytes).unwrap();
    let mut rest = &bytes[..];
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        commands.push(char::from(after[0]));
        rest = &after[u32::from_be_bytes(*length) as usize..];
    }
    assert_eq!(commands, "O".to_owned() + &"c".repeat(12) + "iiii" + "c");
}

#[test]
fn a_server_that_stops_ends_idle_connections_and_finishes_messages() {
    let server = Server::of(Scripted::spam(), OnSpam::Mark);
    let mut idle = server.connect().negotiated();
    let mut busy = server.connect().negotiated();
    busy.send(b'M', b"<a@x>\0");
    busy.send(b'B', b"x");
    assert_eq!(busy.reply().0, 'c');
    server.stop.send_replace(true);
    assert!(idle.is_closed());
    busy.send(b'E', b"");
    assert_eq!(busy.reply().0, 'i');
    server.runtime.block_on(server.serving).unwrap();
}
