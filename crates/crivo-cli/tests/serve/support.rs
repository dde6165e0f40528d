//! A trained store, the server on it, and the client programs.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::mail;

/// The number of messages of each kind that are learned before a test begins.
const TRAINED: u64 = 150;

/// A folder with a trained store in `store`.
pub(crate) struct Office {
    folder: TempDir,
}

/// The exit code and the output of a program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Office {
    /// Returns a folder with a store that has learned both kinds of mail.
    pub(crate) fn trained() -> Self {
        let office = Self::empty();
        for (kind, message) in [("spam", mail::spam as fn(u64) -> String), ("ham", mail::ham)] {
            std::fs::create_dir(office.path(kind)).unwrap();
            for number in 0..TRAINED {
                std::fs::write(office.path(kind).join(format!("{number:04}.eml")), message(number)).unwrap();
            }
        }
        let trained = office.crivo(&["train", "--store", "store", "--spam", "spam", "--ham", "ham"], "");
        assert_eq!(trained.code, Some(0), "{trained:?}");
        for kind in ["spam", "ham"] {
            std::fs::remove_dir_all(office.path(kind)).unwrap();
        }
        office
    }

    /// Returns an empty folder.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs `crivo mail …` in the folder, with this standard input.
    pub(crate) fn crivo(&self, args: &[&str], input: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crivo"));
        fed(command.arg("mail").args(args).current_dir(&self.folder), input.as_bytes())
    }

    /// Returns the JSON of `crivo mail check --json`.
    pub(crate) fn check(&self, store: &str, message: &str) -> Value {
        let ran = self.crivo(&["check", "--store", store, "--json"], message);
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// Starts the server on the store, with further options.
    pub(crate) fn serve(&self, options: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crivo"));
        command.args(["mail", "serve", "--store", "store", "--spamd", "127.0.0.1:0", "--web", "127.0.0.1:0"]);
        Server::start(command.args(options).current_dir(&self.folder))
    }

    /// Starts the server as [`serve`](Self::serve) does, so that [`Server::limit_files`] makes its
    /// writes fail instead of ending it.
    pub(crate) fn serve_with_file_limits(&self, options: &[&str]) -> Server {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_crivo")]);
        command.args(["mail", "serve", "--store", "store", "--spamd", "127.0.0.1:0", "--web", "127.0.0.1:0"]);
        Server::start(command.args(options).current_dir(&self.folder))
    }
}

/// A running server, stopped when the value is dropped.
pub(crate) struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    pub(crate) spamd: SocketAddr,
    pub(crate) web: SocketAddr,
    /// The address of the milter, if one was requested.
    pub(crate) milter: Option<String>,
    /// The address of metrics, if they were requested.
    pub(crate) metrics: Option<String>,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let has = |option: &str| command.get_args().any(|argument| argument == option);
        let (has_milter, has_metrics) = (has("--milter"), has("--metrics"));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut address = |prefix: &str| {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            let address =
                line.trim().strip_prefix(prefix).unwrap_or_else(|| panic!("{prefix:?}, not {line:?}"));
            address.trim_end_matches('/').to_owned()
        };
        let spamd = address("spamd on ").parse().unwrap();
        let milter = has_milter.then(|| address("milter on "));
        let web = address("page on http://").parse().unwrap();
        let metrics = has_metrics.then(|| address("metrics on http://").replace("/metrics", ""));
        Self { child, output, spamd, web, milter, metrics }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
    }

    /// Sets the length beyond which the process can write to no file, in bytes or as `unlimited`.
    /// With 0 it behaves as on a full disk. This also holds for root, whom permissions do not stop.
    pub(crate) fn limit_files(&self, length: &str) {
        let id = self.child.id().to_string();
        let ran = program("prlimit").args(["--pid", &id, &format!("--fsize={length}:")]).status().unwrap();
        assert!(ran.success());
    }

    /// Ends the process with a signal. Returns its exit code and its further output.
    pub(crate) fn end(mut self, signal: &str) -> (Option<i32>, String) {
        self.signal(signal);
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        (status.code(), rest)
    }

    /// Runs `spamc` with options and a message.
    pub(crate) fn spamc(&self, options: &[&str], message: &str) -> Ran {
        let mut command = program("spamc");
        command.args(["-d", "127.0.0.1", "-p", &self.spamd.port().to_string()]).args(options);
        fed(&mut command, message.as_bytes())
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.web)
    }

    /// Sends bytes to the page's port, and reads until the connection closes.
    pub(crate) fn http(&self, request: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.web).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A server that refuses may close before everything is sent.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Reply::read(&bytes)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.http(
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.web).as_bytes(),
        )
    }

    /// Posts a form as a browser without script does, with further headers.
    pub(crate) fn post(&self, path: &str, headers: &str, kind: &str, body: &[u8]) -> Reply {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: {kind}\r\n{headers}Content-Length: {}\r\n\r\n",
            self.web,
            body.len()
        );
        self.http(&[head.as_bytes(), body].concat())
    }

    /// Returns the token that the forms carry.
    pub(crate) fn token(&self) -> String {
        let page = self.get("/").body;
        let (_, after) = page.split_once("name=\"token\"").unwrap();
        let (_, value) = after.split_once("value=\"").unwrap();
        value.split('"').next().unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A response of the page.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// Returns a program from Debian.
pub(crate) fn program(name: &str) -> Command {
    let there = Command::new("sh").args(["-c", &format!("command -v {name}")]).output().unwrap();
    assert!(
        there.status.success(),
        "this test needs {name}: `cargo xtask test` installs it; on Debian: sudo apt install {name}"
    );
    Command::new(name)
}

/// Returns a program that only root may run.
pub(crate) fn as_root(name: &str) -> Command {
    let id = Command::new("id").arg("-u").output().unwrap().stdout;
    if id.trim_ascii() == b"0" {
        return Command::new(name);
    }
    let mut command = Command::new("sudo");
    command.args(["-n", name]);
    command
}

/// Changes permissions, for programs that run as other users.
pub(crate) fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Returns the path of a program in `/usr/sbin`.
pub(crate) fn program_of_root(name: &str) -> String {
    let path = format!("/usr/sbin/{name}");
    assert!(
        Path::new(&path).exists(),
        "this test needs {name}: `cargo xtask test` installs it; on Debian: sudo apt install {name}"
    );
    path
}

/// Runs a program with this standard input.
pub(crate) fn fed(command: &mut Command, input: &[u8]) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The input is written by another thread, because a program may answer before it has read
    // everything.
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Waits until a condition is true.
#[track_caller]
pub(crate) fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(60), "still not: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
