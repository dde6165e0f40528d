//! `crivo mail serve` behind a real Postfix, from acceptance to delivery: as a milter and through
//! `spamc`. The milter is also driven by `miltertest`.
//!
//! Postfix runs from a configuration folder of its own, on a free port of 127.0.0.1, with the lines
//! that docs/mail-setups.md tells administrators to write.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::mail::{ham, spam};
use crate::recipes::block;
use crate::support::{Office, Ran, Server, as_root, eventually, fed, open_to_all, program, program_of_root};

/// The address in the document.
const DOCUMENTED: &str = "127.0.0.1:8891";

/// The service that accepts mail, if the document has no other.
const SMTPD: &str = "smtp inet n - n - - smtpd\n";

/// A Postfix process, stopped when the value is dropped.
struct Postfix {
    folder: PathBuf,
    port: u16,
    child: Child,
}

impl Postfix {
    /// Starts Postfix with users ana and bob of example.test, and with these further settings.
    fn start(office: &Office, settings: &str) -> Self {
        Self::start_with_services(office, settings, SMTPD)
    }

    /// Starts Postfix as [`start`](Self::start) does, with services in which `smtp` stands for the
    /// port that it listens on.
    fn start_with_services(office: &Office, settings: &str, services: &str) -> Self {
        let postfix = program_of_root("postfix");
        let folder = office.path("postfix");
        let mail = office.path("mail");
        for made in [&folder, &mail, &folder.join("queue"), &folder.join("data")] {
            std::fs::create_dir(made).unwrap();
        }
        // Postfix's processes run as other users. They need access to the folder, and one writes
        // mail.
        open_to_all(office.folder(), 0o755);
        open_to_all(&mail, 0o777);
        let owned = as_root("chown").arg("postfix").arg(folder.join("data")).status().unwrap();
        assert!(owned.success());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let own = format!(
            "compatibility_level = 3.6\nqueue_directory = {0}/queue\ndata_directory = {0}/data\n\
             mail_owner = postfix\nsetgid_group = postdrop\nmaillog_file = {0}/log\nmaillog_file_prefixes = {0}\n\
             inet_interfaces = 127.0.0.1\ninet_protocols = ipv4\nmyhostname = mx.example.test\nmydestination =\n\
             smtpd_relay_restrictions = reject_unauth_destination\nvirtual_mailbox_domains = example.test\n\
             virtual_mailbox_base = {1}\nvirtual_uid_maps = static:65534\nvirtual_gid_maps = static:65534\n\
             virtual_mailbox_maps = inline:{{ {{ ana@example.test = ana/ }}, {{ bob@example.test = bob/ }} }}\n\
             {settings}\n",
            folder.display(),
            mail.display()
        );
        std::fs::write(folder.join("main.cf"), own).unwrap();
        let services = format!(
            "{}\ncleanup unix n - n - 0 cleanup\nqmgr unix n - n 300 1 qmgr\n\
             rewrite unix - - n - - trivial-rewrite\nbounce unix - - n - 0 bounce\ndefer unix - - n - 0 bounce\n\
             trace unix - - n - 0 bounce\nproxymap unix - - n - - proxymap\nanvil unix - - n - 1 anvil\n\
             virtual unix - n n - - virtual\nerror unix - - n - - error\nretry unix - - n - - error\n\
             postlog unix-dgram n - n - 1 postlogd\n",
            services.replace("smtp ", &format!("{port} "))
        );
        std::fs::write(folder.join("master.cf"), services).unwrap();
        let child = as_root(&postfix)
            .args([Path::new("-c"), &folder, Path::new("start-fg")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let postfix = Self { folder, port, child };
        eventually("Postfix answers", || TcpStream::connect(("127.0.0.1", postfix.port)).is_ok());
        postfix
    }

    /// Starts Postfix with the lines of the document that hand mail to `spamc`, which asks the
    /// server at this port.
    ///
    /// `spamc` hands mail back through `sendmail` and `postdrop`. The latter is privileged, and
    /// believes no configuration folder that the system's own does not name. So here it is a copy
    /// without privileges, which needs a queue that it may write to.
    fn through_spamc(office: &Office, port: u16) -> Self {
        let commands = office.path("commands");
        std::fs::create_dir(&commands).unwrap();
        for name in ["postconf", "postlog", "postsuper", "postalias", "postqueue"] {
            std::os::unix::fs::symlink(program_of_root(name), commands.join(name)).unwrap();
        }
        let postdrop = commands.join("postdrop");
        std::fs::copy(program_of_root("postdrop"), &postdrop).unwrap();
        open_to_all(&postdrop, 0o755);
        let settings = format!(
            "{}\nrecipient_delimiter = +\ncommand_directory = {}\n",
            block("# /etc/postfix/main.cf\n"),
            commands.display()
        );
        // The document's smtpd runs in a chroot, which a folder of the test is not.
        let services = block("# /etc/postfix/master.cf")
            .replace("       y       ", " n ")
            .replace("-p 1783", &format!("-p {port}"));
        // Mail that is handed in is looked for every second.
        let services = format!("{services}\npickup unix n - n 1 1 pickup\n");
        let postfix = Self::start_with_services(office, &settings, &services);
        let queue = postfix.folder.join("queue");
        for (mode, name) in [("o+wx", "maildrop"), ("o+x", "public")] {
            assert!(as_root("chmod").arg(mode).arg(queue.join(name)).status().unwrap().success());
        }
        postfix
    }

    /// Sends a message. Returns Postfix's answer at its end.
    fn send(&self, recipients: &[&str], message: &str) -> String {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut answer = move || loop {
            let line = lines.next().unwrap().unwrap();
            if line.as_bytes()[3] == b' ' {
                return line;
            }
        };
        let mut say = |line: String| {
            (&stream).write_all(line.as_bytes()).unwrap();
            answer()
        };
        say(String::new());
        say("EHLO client.example\r\n".into());
        assert!(say("MAIL FROM:<colleague@work.example>\r\n".into()).starts_with("250"));
        for recipient in recipients {
            let said = say(format!("RCPT TO:<{recipient}>\r\n"));
            assert!(said.starts_with("250"), "{said}: {}", self.log());
        }
        assert!(say("DATA\r\n".into()).starts_with("354"));
        say(format!("{}.\r\n", message.replace('\n', "\r\n")))
    }

    fn log(&self) -> String {
        let read = as_root("cat").arg(self.folder.join("log")).output().unwrap();
        String::from_utf8_lossy(&read.stdout).into_owned()
    }
}

impl Drop for Postfix {
    fn drop(&mut self) {
        let _ = as_root("/usr/sbin/postfix").arg("-c").arg(&self.folder).arg("stop").output();
        let _ = self.child.wait();
        // Files of other users would prevent the removal of the test's folder.
        let parent = self.folder.parent().unwrap();
        let _ = as_root("rm").arg("-rf").arg(&self.folder).arg(parent.join("mail")).output();
    }
}

/// Returns the settings of the document, with the test's address.
fn settings(address: &str) -> String {
    block("# /etc/postfix/main.cf with the milter").replace(DOCUMENTED, address)
}

/// Returns the server's options in the document, with the test's address.
fn milter_options(address: &str) -> Vec<String> {
    let line = block("$ crivo mail serve --store /var/lib/crivo-mail/shared --milter");
    let options = line.lines().next().unwrap().split_whitespace().skip_while(|word| *word != "--milter");
    options.map(|word| word.replace(DOCUMENTED, address)).collect()
}

/// Returns all messages that were delivered to a user.
fn delivered(office: &Office, user: &str) -> Vec<String> {
    let found = as_root("sh")
        .args([
            "-c",
            &format!(
                "cd {}/{user}/new 2>/dev/null && for f in *; do cat $f; printf '\\001'; done",
                office.path("mail").display()
            ),
        ])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    text.split('\u{1}').filter(|message| !message.is_empty()).map(str::to_owned).collect()
}

#[test]
fn postfix_delivers_mail_with_marks_and_without_forged_ones() {
    let office = Office::trained();
    let options = milter_options("127.0.0.1:0");
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let server = office.serve(&options);
    let postfix = Postfix::start(&office, &settings(server.milter.as_ref().unwrap()));
    let forged = |message: String| format!("X-Spam-Flag: NO\nX-Crivo: ham; score=0.0000\n{message}");
    let said = postfix.send(&["ana@example.test"], &forged(spam(90_000)));
    assert!(said.starts_with("250"), "{said}");
    postfix.send(&["bob@example.test"], &forged(ham(90_000)));
    eventually("both have mail", || {
        !delivered(&office, "ana").is_empty() && !delivered(&office, "bob").is_empty()
    });
    let (ana, bob) = (delivered(&office, "ana").remove(0), delivered(&office, "bob").remove(0));
    for (message, verdict, body) in [(&ana, "spam", spam(90_000)), (&bob, "ham", ham(90_000))] {
        let crivo: Vec<&str> = message.lines().filter(|line| line.starts_with("X-Crivo: ")).collect();
        assert!(
            crivo.len() == 1 && crivo[0].starts_with(&format!("X-Crivo: {verdict}; score=")),
            "{message}"
        );
        assert!(message.ends_with(body.split_once("\n\n").unwrap().1), "{message}");
        assert!(message.contains("\nX-Spam-Status: "), "{message}");
        assert!(!message.contains("X-Spam-Flag: NO"), "{message}");
    }
    assert!(ana.contains("\nX-Spam-Flag: YES\n") && !bob.contains("X-Spam-Flag"), "{ana}{bob}");
    let above = |line: &str| ana.lines().position(|other| other.starts_with(line)).unwrap();
    assert!(above("X-Spam-Flag") < above("X-Spam-Level") && above("X-Spam-Level") < above("X-Spam-Status"));
    assert!(above("X-Crivo") < above("Subject"), "{ana}");
    // The message that a user moves to the junk folder is the one that was judged.
    assert_eq!(server.spamc(&["-L", "spam"], &bob).code, Some(0));
    assert!(postfix.send(&["bob@example.test"], &ham(90_000)).starts_with("250"));
    eventually("it comes again", || delivered(&office, "bob").len() == 2);
    assert!(delivered(&office, "bob").iter().any(|message| message.contains("\nX-Spam-Flag: YES\n")));
}

#[test]
fn postfix_refuses_spam_while_the_sender_waits_if_asked_to() {
    let office = Office::trained();
    let server = office.serve(&["--milter", "127.0.0.1:0", "--on-spam", "reject"]);
    let postfix = Postfix::start(&office, &settings(server.milter.as_ref().unwrap()));
    let said = postfix.send(&["ana@example.test", "bob@example.test"], &spam(90_000));
    assert!(said.starts_with("550 5.7.1"), "{said}");
    assert!(postfix.send(&["ana@example.test"], &ham(90_000)).starts_with("250"));
    eventually("the ham arrives", || delivered(&office, "ana").len() == 1);
}

#[test]
fn postfix_keeps_spam_in_quarantine_if_asked_to() {
    let office = Office::trained();
    let server = office.serve(&["--milter", "127.0.0.1:0", "--on-spam", "quarantine"]);
    let postfix = Postfix::start(&office, &settings(server.milter.as_ref().unwrap()));
    assert!(postfix.send(&["ana@example.test"], &spam(90_000)).starts_with("250"));
    assert!(postfix.send(&["ana@example.test"], &ham(90_000)).starts_with("250"));
    eventually("the ham arrives", || delivered(&office, "ana").len() == 1);
    let held = as_root("ls").arg(postfix.folder.join("queue/hold")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&held.stdout).lines().count(), 1);
}

#[test]
fn postfix_delivers_through_spamc_with_each_recipients_own_store() {
    let office = Office::trained();
    std::fs::create_dir_all(office.path("users/ana")).unwrap();
    let server = office.serve(&["--users", "users"]);
    let postfix = Postfix::through_spamc(&office, server.spamd.port());
    // What ana wants is spam to others.
    assert_eq!(server.spamc(&["-u", "ana", "-L", "ham"], &spam(90_000)).code, Some(0));
    let forged = format!("X-Spam-Flag: NO\n{}", spam(90_000));
    let said = postfix.send(&["Ana+shop@example.test", "bob@example.test"], &forged);
    assert!(said.starts_with("250"), "{said}");
    let both = || [delivered(&office, "ana"), delivered(&office, "bob")];
    eventually("both have mail", || both().iter().all(|mail| mail.len() == 1));
    let [ana, bob] = both().map(|mut mail| mail.remove(0));
    for message in [&ana, &bob] {
        assert_eq!(message.matches("\nX-Spam-Status: ").count(), 1, "{message}");
        assert!(message.ends_with(spam(90_000).split_once("\n\n").unwrap().1), "{message}");
        assert!(!message.contains("X-Spam-Flag: NO"), "{message}");
    }
    assert!(bob.contains("\nX-Spam-Flag: YES\n") && !ana.contains("X-Spam-Flag"), "{ana}{bob}");

    // Without a server mail arrives as it came.
    assert_eq!(server.end("TERM").0, Some(0));
    assert!(postfix.send(&["bob@example.test"], &spam(90_001)).starts_with("250"));
    eventually("it arrives", || delivered(&office, "bob").len() == 2);
    let unmarked = delivered(&office, "bob").into_iter().filter(|message| !message.contains("X-Spam-"));
    assert_eq!(unmarked.count(), 1, "{}", postfix.log());
}

#[test]
fn postfix_delivers_when_the_filter_is_gone_or_broken() {
    let office = Office::trained();
    let server = office.serve(&["--milter", "127.0.0.1:0"]);
    let postfix = Postfix::start(&office, &settings(server.milter.as_ref().unwrap()));
    for entry in std::fs::read_dir(office.path("store")).unwrap() {
        std::fs::write(entry.unwrap().path(), b"damaged").unwrap();
    }
    assert!(postfix.send(&["ana@example.test"], &spam(90_000)).starts_with("250"));
    assert_eq!(server.end("TERM").0, Some(0));
    assert!(postfix.send(&["ana@example.test"], &spam(90_001)).starts_with("250"));
    eventually("both arrive", || delivered(&office, "ana").len() == 2);
}

#[test]
fn a_unix_socket_has_its_permissions_and_goes_with_the_server() {
    let office = Office::trained();
    let address = |name: &str| format!("unix:{}", office.path(name).display());
    let options = ["--milter", &address("m"), "--socket-mode", "622"];
    let server = office.serve(&options);
    let found = std::fs::metadata(office.path("m")).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o622);
    let postfix = Postfix::start(
        &office,
        &format!("smtpd_milters = {}\nmilter_default_action = tempfail\n", address("m")),
    );
    assert!(postfix.send(&["ana@example.test"], &spam(90_000)).starts_with("250"));
    eventually("it arrives", || delivered(&office, "ana").len() == 1);
    assert!(delivered(&office, "ana")[0].contains("X-Spam-Flag: YES"));
    let second = office.crivo(&["serve", "--store", "store", "--milter", &address("m")], "");
    assert!(second.err.contains("another server answers there"), "{second:?}");
    assert_eq!(server.end("TERM").0, Some(0));
    assert!(!office.path("m").exists());
}

#[test]
fn spamc_asks_through_a_unix_socket_and_a_killed_server_is_replaced() {
    let office = Office::trained();
    let path = office.path("s").display().to_string();
    let arguments = ["mail", "serve", "--store", "store", "--spamd", &format!("unix:{path}")];
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crivo"));
        command.args(arguments).current_dir(office.folder()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let ask = || -> Ran { fed(program("spamc").args(["-U", &path, "-c"]), spam(5_000).as_bytes()) };
    for _ in 0..2 {
        let mut child = start();
        eventually("it answers", || ask().code == Some(1));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(office.path("s").exists(), "a killed server leaves its socket");
    }
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);
}

/// Hands spam with a forged header to the milter twice, as `miltertest` does it. Its exit code is 0
/// if every answer is the expected one, and the message is marked.
pub(crate) fn miltertest(office: &Office, server: &Server, message: &str) -> Ran {
    let port = server.milter.as_ref().unwrap().rsplit_once(':').unwrap().1.to_owned();
    let (head, body) = message.split_once("\n\n").unwrap();
    let headers: Vec<String> = head
        .lines()
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| format!("mt.header(conn, [[{name}]], [[{value}]])\nexpect(SMFIR_CONTINUE)\n"))
        .collect();
    let headers = headers.concat();
    let script = format!(
        "conn = mt.connect(\"inet:{port}@127.0.0.1\")\n\
         if conn == nil then error(\"no connection\") end\n\
         function expect(reply) if mt.getreply(conn) ~= reply then error(\"another reply\") end end\n\
         mt.conninfo(conn, \"mx.shop.example\", \"10.0.0.1\")\nexpect(SMFIR_CONTINUE)\n\
         mt.helo(conn, \"shop\")\nexpect(SMFIR_CONTINUE)\n\
         for turn = 1, 2 do\n\
         mt.mailfrom(conn, \"<a@shop.example>\")\nexpect(SMFIR_CONTINUE)\n\
         mt.rcptto(conn, \"<ana@example.test>\")\nexpect(SMFIR_CONTINUE)\n\
         mt.header(conn, \"X-Spam-Flag\", \"NO\")\nexpect(SMFIR_CONTINUE)\n{headers}\
         mt.eoh(conn)\nexpect(SMFIR_CONTINUE)\n\
         mt.bodystring(conn, [[{}]])\nexpect(SMFIR_CONTINUE)\n\
         mt.eom(conn)\nexpect(SMFIR_CONTINUE)\n\
         if not mt.eom_check(conn, MT_HDRINSERT, \"X-Spam-Flag\", \"YES\") then error(\"not marked\") end\n\
         if not mt.eom_check(conn, MT_HDRDELETE, \"X-Spam-Flag\") then error(\"forgery left\") end\n\
         end\n\
         mt.disconnect(conn)\n",
        body.replace('\n', "\r\n")
    );
    std::fs::write(office.path("script.lua"), script).unwrap();
    fed(program("miltertest").arg("-s").arg(office.path("script.lua")), b"")
}

#[test]
fn miltertest_finds_nothing_to_complain_about() {
    let office = Office::trained();
    let server = office.serve(&["--milter", "127.0.0.1:0"]);
    let ran = miltertest(&office, &server, &spam(90_000));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
