//! Running a server: readiness, metrics, health, the log, and the doctor.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::mail::{ham, odd, spam};
use crate::recipes::block;
use crate::support::{Office, eventually};

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn metrics_and_health_are_told_by_http() {
    let office = Office::trained();
    let server = office.serve(&["--metrics", "127.0.0.1:0"]);
    let metrics = server.metrics.clone().unwrap();
    assert_eq!(server.spamc(&["-c"], &spam(5_000)).code, Some(1));
    server.spamc(&["-c"], &ham(5_000));
    server.spamc(&["-L", "spam"], &odd(1));
    let page = get(&metrics, "/metrics");
    for line in [
        "HTTP/1.1 200 OK",
        "# TYPE crivo_mail_checks_total counter",
        "crivo_mail_checks_total{verdict=\"spam\"} 1",
        "crivo_mail_checks_total{verdict=\"ham\"} 1",
        "crivo_mail_lessons_total 1",
        "crivo_mail_failures_total 0",
        "crivo_mail_check_seconds_count 2",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}: {page}");
    }
    let memory = page.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
    assert!(memory.unwrap().parse::<u64>().unwrap() > 1 << 20);
    assert!(get(&metrics, "/healthz").starts_with("HTTP/1.1 200 OK"));
    for entry in std::fs::read_dir(office.path("store")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    eventually("a store that is gone is told", || get(&metrics, "/healthz").starts_with("HTTP/1.1 503"));
}

#[test]
fn the_service_manager_is_told_when_the_server_is_ready_and_when_it_stops() {
    let office = Office::trained();
    let socket = UnixDatagram::bind(office.path("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_crivo"))
        .args(["mail", "serve", "--store", "store", "--spamd", "127.0.0.1:0"])
        .env("NOTIFY_SOCKET", office.path("notify"))
        .current_dir(office.folder())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let told = || {
        let mut bytes = [0; 100];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    assert_eq!(told(), "READY=1");
    assert!(Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(told(), "STOPPING=1");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn each_decision_has_a_line_in_the_log_if_asked_for() {
    let office = Office::trained();
    let mut child = Command::new(env!("CARGO_BIN_EXE_crivo"))
        .args([
            "mail",
            "serve",
            "--store",
            "store",
            "--spamd",
            &format!("unix:{}", office.path("s").display()),
            "--log",
        ])
        .current_dir(office.folder())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let socket = office.path("s").display().to_string();
    let ask = || {
        let mut spamc = crate::support::program("spamc");
        crate::support::fed(spamc.args(["-U", &socket, "-u", "ana", "-c"]), spam(7).as_bytes())
    };
    eventually("it answers", || ask().code == Some(1));
    assert!(Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap().success());
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    child.wait().unwrap();
    let line =
        log.lines().find(|line| line.starts_with("spamd user=ana id=<s7@offers.example> ")).expect(&log);
    for field in [" verdict=spam ", " points=", " score=", " bytes=", " ms="] {
        assert!(line.contains(field), "{line}");
    }
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let office = Office::trained();
    std::fs::create_dir_all(office.path("users/ana")).unwrap();
    let server = office.serve(&["--milter", "127.0.0.1:0"]);
    let (spamd, milter) = (server.spamd.to_string(), server.milter.clone().unwrap());
    let arguments =
        ["doctor", "--store", "store", "--users", "users", "--spamd", &spamd, "--milter", &milter];
    let well = office.crivo(&arguments, "");
    assert_eq!(well.code, Some(0), "{well:?}");
    assert!(well.out.contains("ok: lessons of store: 150 spam and 150 ham learned\n"), "{well:?}");
    assert!(well.out.contains(&format!("ok: milter {milter}: answers\n")), "{well:?}");
    assert!(!well.out.contains("warning") && !well.out.contains("problem"), "{well:?}");
    server.end("TERM");
    std::fs::create_dir(office.path("users/.hidden")).unwrap();
    for entry in std::fs::read_dir(office.path("store")).unwrap() {
        std::fs::set_permissions(entry.unwrap().path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let ill = office.crivo(&arguments, "");
    assert_eq!(ill.code, Some(1), "{ill:?}");
    for part in [
        "problem: user .hidden: no user has this name",
        "warning: file ",
        "problem: spamd ",
        "problem: milter ",
    ] {
        assert!(ill.out.contains(part), "{part}: {ill:?}");
    }
    let json = office.crivo(&["doctor", "--store", "nowhere", "--json"], "");
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["problems"], 1);
    assert_eq!(json["checks"][0]["state"], "problem");
}

#[test]
fn the_unit_of_the_document_starts_the_server_that_it_names() {
    let unit = block("# /etc/systemd/system/crivo-mail.service");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let mut words = start.split_whitespace();
    assert_eq!(words.next(), Some("/usr/local/bin/crivo"));
    let office = Office::trained();
    let socket = UnixDatagram::bind(office.path("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let arguments: Vec<String> = words
        .map(|word| {
            let word = word.replace("/var/lib/crivo-mail", &office.folder().display().to_string());
            let word = word.replace("/run/crivo-mail", &office.folder().display().to_string());
            word.replace("127.0.0.1:1783", "127.0.0.1:0").replace("127.0.0.1:9783", "127.0.0.1:0")
        })
        .collect();
    let mut child = Command::new(env!("CARGO_BIN_EXE_crivo"))
        .args(arguments)
        .env("NOTIFY_SOCKET", office.path("notify"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut bytes = [0; 100];
    let length = socket.recv(&mut bytes).unwrap();
    assert_eq!(&bytes[..length], b"READY=1");
    child.kill().unwrap();
    child.wait().unwrap();
    for line in ["Type=notify", "ExecReload=/bin/kill -HUP $MAINPID"] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
}
