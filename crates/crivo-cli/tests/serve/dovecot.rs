//! Learning by moving mail: a real Dovecot with the settings and scripts of docs/mail-setups.md,
//! and a client that moves messages by IMAP.
//!
//! Dovecot runs from a configuration folder of its own, on a free port of 127.0.0.1.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::mail::{ham, spam};
use crate::recipes::block;
use crate::support::{Office, Server, as_root, eventually, open_to_all, program, program_of_root};

/// The folder of the scripts in the document.
const SCRIPTS: &str = "/usr/local/lib/dovecot/sieve";

/// A Dovecot process, stopped when the value is dropped.
struct Dovecot {
    folder: PathBuf,
    port: u16,
    child: Child,
}

impl Dovecot {
    /// Starts Dovecot for any user with the password `secret`. Lessons go to `server`.
    fn start(office: &Office, server: &Server) -> Self {
        let dovecot = program_of_root("dovecot");
        let folder = office.path("dovecot");
        let (scripts, homes) = (folder.join("sieve"), folder.join("homes"));
        for made in [&folder, &scripts, &homes] {
            std::fs::create_dir(made).unwrap();
        }
        // Mail belongs to another system user, which must be able to reach its home.
        open_to_all(office.folder(), 0o755);
        open_to_all(&homes, 0o777);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let own = format!(
            "base_dir = {0}/run\nstate_dir = {0}/run\nlog_path = {0}/log\nprotocols = imap\nssl = no\n\
             disable_plaintext_auth = no\nlisten = 127.0.0.1\nmail_location = maildir:~/Maildir\n\
             passdb {{\n driver = static\n args = password=secret\n}}\n\
             userdb {{\n driver = static\n args = uid=65534 gid=65534 home={0}/homes/%n\n}}\n\
             service imap-login {{\n inet_listener imap {{\n port = {port}\n }}\n \
             inet_listener imaps {{\n port = 0\n }}\n}}\n\
             namespace inbox {{\n inbox = yes\n mailbox Junk {{\n auto = create\n }}\n \
             mailbox Trash {{\n auto = create\n }}\n}}\n{1}",
            folder.display(),
            documented("# /etc/dovecot/conf.d/90-crivo.conf", &scripts)
        );
        std::fs::write(folder.join("dovecot.conf"), own).unwrap();
        for name in ["learn-spam.sieve", "learn-ham.sieve"] {
            let script = scripts.join(name);
            std::fs::write(&script, documented(&format!("# {SCRIPTS}/{name}"), &scripts)).unwrap();
            let compiled =
                program("sievec").arg("-c").arg(folder.join("dovecot.conf")).arg(&script).output().unwrap();
            assert!(compiled.status.success(), "{compiled:?}");
        }
        let learn = scripts.join("crivo-learn");
        let port_option = format!("-p {}", server.spamd.port());
        let script = documented("#!/bin/sh\n# /usr/local/lib/dovecot/sieve/crivo-learn", &scripts);
        std::fs::write(&learn, script.replace("-p 1783", &port_option)).unwrap();
        open_to_all(&learn, 0o755);
        let child = as_root(&dovecot)
            .args([Path::new("-F"), Path::new("-c"), &folder.join("dovecot.conf")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let dovecot = Self { folder, port, child };
        eventually("Dovecot answers", || TcpStream::connect(("127.0.0.1", dovecot.port)).is_ok());
        dovecot
    }

    fn log(&self) -> String {
        let read = as_root("cat").arg(self.folder.join("log")).output().unwrap();
        String::from_utf8_lossy(&read.stdout).into_owned()
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        let id = as_root("cat").arg(self.folder.join("run/master.pid")).output().unwrap().stdout;
        let id = String::from_utf8_lossy(&id).trim().to_owned();
        if !id.is_empty() {
            let _ = as_root("kill").arg(&id).output();
        }
        let _ = self.child.wait();
        // Files of other users would prevent the removal of the test's folder.
        let _ = as_root("rm").arg("-rf").arg(&self.folder).output();
    }
}

/// Returns a block of the document, with the test's folder of scripts.
fn documented(first_line: &str, scripts: &Path) -> String {
    block(first_line).replace(SCRIPTS, &scripts.display().to_string())
}

/// A mail program with one IMAP connection.
struct Client {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
    number: u32,
}

impl Client {
    fn login(dovecot: &Dovecot, user: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", dovecot.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        let mut client = Self { stream, lines, number: 0 };
        client.line();
        client.say(dovecot, &format!("LOGIN {user} secret"));
        client
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// Sends a command and waits until it is done.
    fn say(&mut self, dovecot: &Dovecot, command: &str) {
        self.number += 1;
        let tag = format!("a{} ", self.number);
        self.stream.write_all(format!("{tag}{command}\r\n").as_bytes()).unwrap();
        let answer = loop {
            let line = self.line();
            assert!(!line.is_empty(), "{command}: {}", dovecot.log());
            if let Some(answer) = line.strip_prefix(&tag) {
                break answer.to_owned();
            }
        };
        assert!(answer.starts_with("OK"), "{command}: {answer} {}", dovecot.log());
    }

    /// Puts a message into a folder and opens that. The folder is created, unless it is INBOX.
    fn put(&mut self, dovecot: &Dovecot, folder: &str, message: &str) {
        if folder != "INBOX" {
            self.say(dovecot, &format!("CREATE {folder}"));
        }
        let message = message.replace('\n', "\r\n");
        // A literal that is sent without waiting for the server.
        self.say(dovecot, &format!("APPEND {folder} {{{}+}}\r\n{message}", message.len()));
        self.say(dovecot, &format!("SELECT {folder}"));
    }

    /// Moves the messages of the open folder to another, and opens that.
    fn moves(&mut self, dovecot: &Dovecot, folder: &str) {
        self.say(dovecot, &format!("MOVE 1 {folder}"));
        self.say(dovecot, &format!("SELECT {folder}"));
    }
}

/// Returns the verdict of a user's own store, and whether it has learned this very message.
fn own(office: &Office, message: &str) -> (String, bool) {
    let found = office.check("users/ana", message);
    let reasons = found["reasons"].to_string();
    (found["verdict"].as_str().unwrap().to_owned(), reasons.contains("this very message was learned"))
}

#[test]
fn moving_mail_teaches_and_moving_it_back_unteaches() {
    let office = Office::trained();
    std::fs::create_dir_all(office.path("users/ana")).unwrap();
    let server = office.serve(&["--users", "users"]);
    program("spamc");
    let dovecot = Dovecot::start(&office, &server);
    let mut client = Client::login(&dovecot, "ana@example.test");

    let rescued = ham(70_000);
    client.put(&dovecot, "INBOX", &rescued);
    assert!(!office.path("users/ana/mail.sqlite").exists(), "arriving teaches nothing");
    client.moves(&dovecot, "Junk");
    let log = || dovecot.log();
    assert_eq!(own(&office, &rescued), ("spam".into(), true), "{}", log());
    client.moves(&dovecot, "INBOX");
    assert_eq!(own(&office, &rescued), ("ham".into(), true), "{}", log());

    // Older mail programs copy a message, and delete the original afterwards.
    let junk = spam(70_001);
    client.put(&dovecot, "Archive", &junk);
    client.say(&dovecot, "COPY 1 Junk");
    assert_eq!(own(&office, &junk), ("spam".into(), true), "{}", log());

    // Moving messages from the junk folder to the bin is no lesson.
    client.say(&dovecot, "SELECT Junk");
    client.moves(&dovecot, "Trash");
    assert_eq!(own(&office, &junk), ("spam".into(), true), "{}", log());

    // The lessons are those of one user: the shared store has learned nothing.
    assert!(!office.check("store", &rescued)["reasons"].to_string().contains("this very message"));

    // A message is moved while the filter is down.
    let waiting = spam(70_002);
    client.put(&dovecot, "Later", &waiting);
    assert_eq!(server.end("TERM").0, Some(0));
    client.moves(&dovecot, "Junk");
    assert!(!own(&office, &waiting).1);
}

#[test]
fn mail_is_sorted_by_its_mark_at_delivery() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let dovecot = Dovecot::start(&office, &server);
    let script = dovecot.folder.join("sort.sieve");
    std::fs::write(&script, block("require [\"fileinto\"];")).unwrap();
    for (message, folder) in [(spam(70_000), "Junk"), (ham(70_000), "INBOX")] {
        let marked = dovecot.folder.join("marked.eml");
        std::fs::write(&marked, server.spamc(&[], &message).out).unwrap();
        // Says what a delivery would do.
        let ran = as_root("sieve-test")
            .args([Path::new("-c"), &dovecot.folder.join("dovecot.conf"), Path::new("-u")])
            .args([Path::new("ana@example.test"), &script, &marked])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&ran.stdout);
        assert!(
            ran.status.success() && told.contains(&format!("store message in folder: {folder}\n")),
            "{ran:?}"
        );
    }
}
