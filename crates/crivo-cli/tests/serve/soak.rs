//! Many clients at once: no errors, fast answers, and memory that does not grow.
//!
//! The short run is part of every test run. It asserts only what holds on a busy machine: no errors
//! and no growth. `cargo test -p crivo-cli --test serve -- --ignored --nocapture` runs for a minute
//! and prints the times. `benchmarks/commands/serve.py` measures the release build.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::mail::{ham, odd, spam};
use crate::support::{Office, Server};

const CONNECTIONS: u64 = 32;

/// Sends one request as spamc does. Returns whether the reply says spam.
fn ask(server: &Server, message: &str) -> Result<bool, String> {
    let wrong = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(server.spamd).map_err(wrong)?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(wrong)?;
    let request =
        format!("CHECK SPAMC/1.5\r\nUser: root\r\nContent-length: {}\r\n\r\n{message}", message.len());
    stream.write_all(request.as_bytes()).map_err(wrong)?;
    stream.shutdown(Shutdown::Write).map_err(wrong)?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).map_err(wrong)?;
    match reply.strip_prefix("SPAMD/1.1 0 EX_OK\r\nSpam: ") {
        Some(rest) => Ok(rest.starts_with("True")),
        None => Err(reply),
    }
}

/// Sends one lesson as spamc does. Returns the reply as an error if it is not the expected one.
pub(crate) fn teach(server: &Server, class: &str, message: &str) -> Result<(), String> {
    let wrong = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(server.spamd).map_err(wrong)?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(wrong)?;
    let length = message.len();
    let request = format!(
        "TELL SPAMC/1.5\r\nMessage-class: {class}\r\nSet: local\r\nContent-length: {length}\r\n\r\n{message}"
    );
    stream.write_all(request.as_bytes()).map_err(wrong)?;
    stream.shutdown(Shutdown::Write).map_err(wrong)?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).map_err(wrong)?;
    if reply.starts_with("SPAMD/1.1 0 EX_OK\r\nDidSet: local") { Ok(()) } else { Err(reply) }
}

/// Asks and teaches on all connections. One in twenty requests is a lesson. Numbers of lessons
/// begin with `first`.
fn soak_with_lessons(server: &Server, rounds: u64, first: u64) {
    let next = AtomicU64::new(first);
    std::thread::scope(|scope| {
        for client in 0..CONNECTIONS {
            let next = &next;
            scope.spawn(move || {
                for round in 0..rounds {
                    let number = 20_000 + client * rounds + round;
                    if round % 20 == client % 20 {
                        let lesson = next.fetch_add(1, Ordering::Relaxed);
                        let (class, message) = if lesson.is_multiple_of(2) {
                            ("spam", spam(lesson))
                        } else {
                            ("ham", ham(lesson))
                        };
                        teach(server, class, &message).expect("a lesson");
                    } else if round.is_multiple_of(2) {
                        assert!(ask(server, &spam(number)).expect("a reply"), "spam {number}");
                    } else {
                        assert!(!ask(server, &ham(number)).expect("a reply"), "ham {number}");
                    }
                }
            });
        }
    });
}

/// Returns the resident memory in KiB.
fn resident(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Sends requests on all connections for a while. Returns the times of the answers, sorted.
fn soak(server: &Server, time: Duration) -> Vec<Duration> {
    let (start, next) = (Instant::now(), AtomicU64::new(0));
    let mut times = Vec::new();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                scope.spawn(|| {
                    let mut times = Vec::new();
                    while start.elapsed() < time {
                        let number = 10_000 + next.fetch_add(1, Ordering::Relaxed) % 5_000;
                        let [bad, good, _] = [spam(number), ham(number), odd(number)].map(|message| {
                            let asked = Instant::now();
                            let verdict = ask(server, &message);
                            times.push(asked.elapsed());
                            verdict.expect("a reply")
                        });
                        assert!(bad && !good, "message {number}");
                    }
                    times
                })
            })
            .collect();
        for client in clients {
            times.extend(client.join().unwrap());
        }
    });
    times.sort();
    times
}

#[test]
fn thirty_two_connections_for_some_seconds_without_an_error_or_growth() {
    let office = Office::trained();
    let server = office.serve(&[]);
    soak(&server, Duration::from_secs(2));
    let before = resident(&server);
    let times = soak(&server, Duration::from_secs(4));
    let after = resident(&server);
    assert!(times.len() > 150, "{} requests", times.len());
    assert!(after < before + 8 * 1024, "grew from {before} kB to {after} kB");
    // The server learns at the same time.
    let pages = std::thread::scope(|scope| {
        let teacher = scope.spawn(|| {
            for number in 0..10 {
                assert_eq!(server.spamc(&["-L", "spam"], &odd(number)).code, Some(0));
            }
        });
        let reader = scope.spawn(|| (0..10).map(|_| server.get("/statistics").status).collect::<Vec<_>>());
        soak(&server, Duration::from_secs(1));
        teacher.join().unwrap();
        reader.join().unwrap()
    });
    assert_eq!(pages, [200; 10]);
}

/// Each lesson replaces megabytes of weights, on any of several threads.
#[test]
fn memory_stays_small_and_flat_while_clients_teach() {
    let office = Office::trained();
    let server = office.serve(&[]);
    soak_with_lessons(&server, 40, 50_000);
    let before = resident(&server);
    soak_with_lessons(&server, 80, 60_000);
    let after = resident(&server);
    assert!(after < before + 24 * 1024, "grew from {before} kB to {after} kB");
    assert!(after < 150 * 1024, "{after} kB");
}

#[test]
#[ignore = "takes a minute and wants a quiet machine"]
fn a_minute_of_traffic_is_answered_within_twenty_milliseconds() {
    let office = Office::trained();
    let server = office.serve(&[]);
    soak(&server, Duration::from_secs(5));
    let before = resident(&server);
    let times = soak(&server, Duration::from_secs(60));
    let after = resident(&server);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let (middle, late) = (at(0.5), at(0.99));
    #[allow(clippy::print_stderr)] // the figures are what the run is for
    {
        eprintln!(
            "{} requests, p50 {middle:?}, p99 {late:?}, {before} kB before, {after} kB after",
            times.len()
        );
    }
    assert!(after < before + 8 * 1024, "grew from {before} kB to {after} kB");
    assert!(late <= Duration::from_millis(20), "p99 {late:?}");
}
