//! Measures how long a filter that speaks spamd's protocol, or a milter, lets its clients wait when
//! many ask at once.
//!
//! ```console
//! cargo run --release -p crivo-mail --example load -- 127.0.0.1:783 FOLDER [SECONDS] [CONNECTIONS] [LESSONS]
//! cargo run --release -p crivo-mail --example load -- milter:127.0.0.1:8891 FOLDER [SECONDS] [CONNECTIONS]
//! ```
//!
//! Each connection asks CHECK about one message of the folder, half-closes as spamc does, and reads
//! the answer. The next connection follows at once, so the server always has as many requests as
//! there are connections. LESSONS is the percentage of requests that teach a message instead: as
//! spam if a folder of its path is called `spam`, and with a line of its own, so that each is new.
//! The times of questions and of lessons are those a client sees, from before it connects until the
//! end of the answer. The output is one line of JSON.
//!
//! With a milter, each connection asks about one message after the other, like a mail server that
//! reuses connections.
//!
//! Each client is a thread that mostly waits, because it shares the processors with the server it
//! measures.

#![expect(clippy::print_stdout, reason = "the report is what it is run for")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const PATIENCE: Duration = Duration::from_secs(30);

/// A message, and whether it is spam.
struct Sample {
    bytes: Vec<u8>,
    is_spam: bool,
}

/// The results of one thread, which opens one connection after the other.
#[derive(Default)]
struct Seen {
    milliseconds: Vec<f64>,
    lesson_milliseconds: Vec<f64>,
    errors: Vec<String>,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: load [milter:]ADDRESS FOLDER [SECONDS] [CONNECTIONS] [LESSONS]";
    let address = arguments.next().ok_or(usage)?;
    let (is_milter, address) = match address.strip_prefix("milter:") {
        Some(address) => (true, address),
        None => (false, address.as_str()),
    };
    let address: SocketAddr = address.parse()?;
    let mut messages = Vec::new();
    read_all(Path::new(&arguments.next().ok_or(usage)?), &mut messages)?;
    let seconds: f64 = arguments.next().map_or(Ok(60.0), |text| text.parse())?;
    let connections: usize = arguments.next().map_or(Ok(32), |text| text.parse())?;
    let lessons: f64 = arguments.next().map_or(Ok(0.0), |text| text.parse())?;
    if messages.is_empty() || connections == 0 {
        return Err("there is no connection, or no message to send".into());
    }
    if is_milter && lessons > 0.0 {
        return Err("a milter learns nothing: leave out LESSONS".into());
    }

    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..connections)
            .map(|number| {
                let rest = messages.iter().cycle().skip(number * messages.len() / connections);
                scope.spawn(move || {
                    if is_milter {
                        ask_milter_until(end, address, rest)
                    } else {
                        ask_until(end, address, rest, lessons / 100.0)
                    }
                })
            })
            .collect();
        clients.into_iter().filter_map(|client| client.join().ok()).collect()
    });

    let mut times: Vec<f64> = seen.iter().flat_map(|seen| seen.milliseconds.iter().copied()).collect();
    let mut lessons: Vec<f64> =
        seen.iter().flat_map(|seen| seen.lesson_milliseconds.iter().copied()).collect();
    let errors: Vec<&String> = seen.iter().flat_map(|seen| &seen.errors).collect();
    times.sort_by(f64::total_cmp);
    lessons.sort_by(f64::total_cmp);
    let at = |times: &[f64], share: f64| {
        times.get((share * times.len().saturating_sub(1) as f64) as usize).copied()
    };
    let report = serde_json::json!({
        "requests": times.len(),
        "errors": errors.len(),
        "first_error": errors.first(),
        "p50_ms": at(&times, 0.5),
        "p99_ms": at(&times, 0.99),
        "slowest_ms": at(&times, 1.0),
        "lessons": lessons.len(),
        "lesson_p50_ms": at(&lessons, 0.5),
        "lesson_p99_ms": at(&lessons, 0.99),
    });
    println!("{report}");
    Ok(())
}

fn ask_until<'a>(
    end: Instant,
    address: SocketAddr,
    messages: impl Iterator<Item = &'a Sample>,
    lessons: f64,
) -> Seen {
    let (mut seen, mut due) = (Seen::default(), 0.0);
    for message in messages {
        let start = Instant::now();
        if start >= end {
            break;
        }
        due += lessons;
        let teaches = due >= 1.0;
        if teaches {
            due -= 1.0;
        }
        let answered = if teaches { teach(address, message) } else { ask(address, message) };
        let beginning: &[u8] =
            if teaches { b"SPAMD/1.1 0 EX_OK\r\nDidSet: local" } else { b"SPAMD/1.1 0 EX_OK\r\nSpam: " };
        match answered {
            Ok(answer) if answer.starts_with(beginning) => {
                let times = if teaches { &mut seen.lesson_milliseconds } else { &mut seen.milliseconds };
                times.push(start.elapsed().as_secs_f64() * 1000.0);
            }
            Ok(answer) => seen.errors.push(String::from_utf8_lossy(&answer).into_owned()),
            Err(error) => seen.errors.push(error.to_string()),
        }
    }
    seen
}

fn ask_milter_until<'a>(
    end: Instant,
    address: SocketAddr,
    messages: impl Iterator<Item = &'a Sample>,
) -> Seen {
    let (mut seen, mut mail_server) = (Seen::default(), None);
    for message in messages {
        let start = Instant::now();
        if start >= end {
            break;
        }
        match ask_milter(&mut mail_server, address, &message.bytes) {
            Ok(()) => seen.milliseconds.push(start.elapsed().as_secs_f64() * 1000.0),
            Err(error) => {
                mail_server = None;
                seen.errors.push(error.to_string());
            }
        }
    }
    seen
}

/// Asks about a message, over the open connection or a new one. An answer without headers is an
/// error.
fn ask_milter(open: &mut Option<TcpStream>, address: SocketAddr, message: &[u8]) -> Result<(), Failure> {
    let stream = match open {
        Some(stream) => stream,
        None => open.insert(negotiated(address)?),
    };
    let mut request = packet(b'M', b"<a@example.org>\0");
    request.extend(packet(b'R', b"<b@example.org>\0"));
    // A mail server takes the first line that is not a header as the beginning of the text, and
    // removes NUL from values.
    let mut body = message;
    while let Some(end) = body.iter().position(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(&body[..end]).replace(['\0', '\r'], "");
        let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
        match line.split_once(':').filter(|(name, _)| is_name(name)) {
            Some((name, value)) => {
                request.extend(packet(b'L', format!("{name}\0{}\0", value.trim_start()).as_bytes()));
                body = &body[end + 1..];
            }
            None if line.is_empty() => {
                body = &body[end + 1..];
                break;
            }
            None => break,
        }
    }
    request.extend(packet(b'N', b""));
    stream.write_all(&request)?;
    for piece in body.chunks(65_535) {
        stream.write_all(&packet(b'B', piece))?;
        if reply(stream)?.0 == b's' {
            break;
        }
    }
    stream.write_all(&packet(b'E', b""))?;
    let mut has_marks = false;
    loop {
        let (command, data) = reply(stream)?;
        has_marks |= data.windows(7).any(|found| found == b"X-Spam-");
        if !matches!(command, b'h' | b'i' | b'm' | b'q') {
            return if has_marks { Ok(()) } else { Err(format!("no marks before {command}").into()) };
        }
    }
}

/// Opens a connection on which the milter answers only the body and the end of a message.
fn negotiated(address: SocketAddr) -> Result<TcpStream, Failure> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    stream.write_all(&packet(b'O', b"\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff"))?;
    match reply(&mut stream)? {
        (b'O', _) => Ok(stream),
        (other, _) => Err(format!("the offer is answered by {other}").into()),
    }
}

fn packet(command: u8, data: &[u8]) -> Vec<u8> {
    [&(data.len() as u32 + 1).to_be_bytes()[..], &[command], data].concat()
}

fn reply(stream: &mut TcpStream) -> Result<(u8, Vec<u8>), Failure> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut data = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut data)?;
    let (command, data) = data.split_first().ok_or("an empty reply")?;
    Ok((*command, data.to_vec()))
}

fn ask(address: SocketAddr, message: &Sample) -> std::io::Result<Vec<u8>> {
    send(address, "CHECK SPAMC/1.5\r\n", &message.bytes)
}

fn teach(address: SocketAddr, message: &Sample) -> std::io::Result<Vec<u8>> {
    static LESSON: AtomicU64 = AtomicU64::new(0);
    let class = if message.is_spam { "spam" } else { "ham" };
    let number = LESSON.fetch_add(1, Ordering::Relaxed);
    let own_line = format!("\nlesson {number} of {}\n", std::process::id());
    let head = format!("TELL SPAMC/1.5\r\nMessage-class: {class}\r\nSet: local\r\n");
    send(address, &head, &[message.bytes.as_slice(), own_line.as_bytes()].concat())
}

fn send(address: SocketAddr, head: &str, message: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut request = format!("{head}Content-length: {}\r\n\r\n", message.len()).into_bytes();
    request.extend_from_slice(message);
    stream.write_all(&request)?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

/// Reads all files of a folder and of the folders below it.
fn read_all(folder: &Path, messages: &mut Vec<Sample>) -> std::io::Result<()> {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            read_all(&path, messages)?;
        } else {
            let is_spam = path.components().any(|part| part.as_os_str() == "spam");
            messages.push(Sample { bytes: std::fs::read(path)?, is_spam });
        }
    }
    Ok(())
}
