//! The page by hand-written HTTP: its content without script, and the requests that it refuses.

use crate::mail::{ham, odd, spam};
use crate::support::{Office, Reply, Server};

const BOUNDARY: &str = "boundary-of-the-test";

/// Returns the form of the first page with these fields.
fn form(fields: &[(&str, &str)]) -> (String, Vec<u8>) {
    let mut body = String::new();
    for (name, value) in fields {
        let file = if *name == "file" { "; filename=\"message.eml\"" } else { "" };
        body.push_str(&format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n"
        ));
    }
    body.push_str(&format!("--{BOUNDARY}--\r\n"));
    (format!("multipart/form-data; boundary={BOUNDARY}"), body.into_bytes())
}

fn submit(server: &Server, headers: &str, fields: &[(&str, &str)]) -> Reply {
    let (kind, body) = form(fields);
    server.post("/check", headers, &kind, &body)
}

/// Checks a message, and follows the redirect to the decision.
fn check(server: &Server, message: &str) -> (String, Reply) {
    let sent = submit(server, "", &[("token", &server.token()), ("message", message)]);
    assert_eq!(sent.status, 303, "{sent:?}");
    let address = sent.header("location").unwrap().to_owned();
    let page = server.get(&address);
    assert_eq!(page.status, 200, "{page:?}");
    (address, page)
}

fn teach(server: &Server, address: &str, lesson: &str) -> Reply {
    let body = format!("token={}&{lesson}", server.token());
    server.post(&format!("{address}/teach"), "", "application/x-www-form-urlencoded", body.as_bytes())
}

/// Returns the text between two marks.
fn between<'a>(page: &'a str, before: &str, after: &str) -> &'a str {
    page.split_once(before).and_then(|(_, rest)| rest.split_once(after)).map_or("", |(text, _)| text)
}

#[test]
fn paste_and_check_works_without_script() {
    let office = Office::trained();
    let server = office.serve(&[]);
    for message in [spam(70_000), ham(70_000), odd(3)] {
        let (_, page) = check(&server, &message);
        let says = office.check("store", &message);
        let word = between(&page.body, "class=\"verdict-word\">", "<");
        assert_eq!(word, says["verdict"].as_str().unwrap());
        let score = between(&page.body, "id=\"score\">", "<");
        assert_eq!(score, format!("{:.4}", says["score"].as_f64().unwrap()));
        for reason in says["reasons"].as_array().unwrap() {
            let escaped = reason
                .as_str()
                .unwrap()
                .replace('&', "&amp;")
                .replace('"', "&quot;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            assert!(page.body.contains(&escaped), "{escaped} is not in {}", page.body);
        }
    }
}

#[test]
fn a_chosen_file_goes_before_pasted_text() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let sent =
        submit(&server, "", &[("token", &server.token()), ("message", &ham(1)), ("file", &spam(70_000))]);
    let page = server.get(sent.header("location").unwrap()).body;
    assert_eq!(between(&page, "class=\"verdict-word\">", "<"), "spam");
}

#[test]
fn teaching_changes_the_verdict_and_can_be_taken_back() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let (address, first) = check(&server, &odd(1));
    assert!(!first.body.contains("role=\"status\">Learned"), "{}", first.body);
    assert_eq!(teach(&server, &address, "as=spam").status, 303);
    let taught = server.get(&address).body;
    assert!(taught.contains("Learned as <strong>spam</strong>"), "{taught}");
    assert_eq!(
        between(&taught, "class=\"verdict-word\">", "<"),
        office.check("store", &odd(1))["verdict"].as_str().unwrap()
    );
    teach(&server, &address, "as=spam");
    assert!(server.get(&address).body.contains("It had been learned as <strong>spam</strong> already"));
    teach(&server, &address, "as=label&label=birds");
    assert!(server.get(&address).body.contains("Learned as <strong>label:birds</strong>"));
    teach(&server, &address, "as=forget");
    assert!(server.get(&address).body.contains("Forgotten."));
    let bad = teach(&server, &address, "as=label&label=two+words");
    assert!(bad.status == 400 && bad.body.contains("cannot be a label"), "{bad:?}");
    assert_eq!(teach(&server, "/decisions/999", "as=spam").status, 404);
}

#[test]
fn requests_of_other_sites_are_refused_and_change_nothing() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let (address, _) = check(&server, &odd(2));
    let token = server.token();
    let lesson = format!("token={token}&as=spam");
    let kind = "application/x-www-form-urlencoded";
    for headers in
        ["Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n"]
    {
        let refused = server.post(&format!("{address}/teach"), headers, kind, lesson.as_bytes());
        assert_eq!(refused.status, 403, "{headers}");
        let (kind, body) = form(&[("token", &token), ("message", "x")]);
        assert_eq!(server.post("/check", headers, &kind, &body).status, 403, "{headers}");
    }
    for wrong in ["as=spam", "token=&as=spam", "token=00000000000000000000000000000000&as=spam"] {
        let refused = server.post(&format!("{address}/teach"), "", kind, wrong.as_bytes());
        assert!(matches!(refused.status, 400 | 403), "{wrong}: {refused:?}");
    }
    assert_eq!(submit(&server, "", &[("message", "x")]).status, 403);
    assert!(!server.get(&address).body.contains("Learned as"), "nothing was learned");
    let get = server.get(&format!("{address}/teach?token={token}&as=spam"));
    assert_eq!(get.status, 405, "what changes something is never a GET");
}

#[test]
fn names_of_other_peoples_choosing_are_not_answered() {
    let office = Office::trained();
    let server = office.serve(&["--web-name", "mail.example"]);
    let port = server.web.port();
    let status = |host: &str| {
        server.http(format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes()).status
    };
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), "mail.example".into()] {
        assert_eq!(status(&host), 200, "{host}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "mail.example.evil"] {
        assert_eq!(status(host), 421, "{host}");
    }
}

#[test]
fn every_answer_forbids_frames_sniffing_caching_and_foreign_script() {
    let office = Office::trained();
    let server = office.serve(&[]);
    for path in ["/", "/decisions", "/statistics", "/nothing-here", "/decisions/77"] {
        let page = server.get(path);
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"), "{policy}");
        assert!(policy.contains("form-action 'self'") && !policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(page.header(name), Some(value), "{path}");
        }
        assert!(page.header("set-cookie").is_none());
    }
}

#[test]
fn hostile_messages_are_shown_as_text() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&";
    let message = format!("From: {evil} <x@y.example>\nSubject: {evil}\nX-Other: \u{202e}{evil}\n\n{evil}\n");
    let (_, page) = check(&server, &message);
    assert!(!page.body.contains("<script>alert") && !page.body.contains("<img"), "{}", page.body);
    assert!(page.body.contains("&lt;script&gt;alert(1)"));
    assert!(page.body.contains("⟨U+202E⟩"), "what turns the direction of writing is shown");
}

#[test]
fn too_much_is_refused_and_nothing_is_asked_back() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let huge = "x".repeat(11 << 20);
    let refused = submit(&server, "", &[("token", &server.token()), ("message", &huge)]);
    assert!(matches!(refused.status, 413 | 0), "{}", refused.head);
    assert_eq!(submit(&server, "", &[("token", &server.token()), ("message", "")]).status, 400);
    let garbled = server.post("/check", "", "multipart/form-data; boundary=x", b"not a form");
    assert!(matches!(garbled.status, 400 | 403), "{garbled:?}");
    assert_eq!(server.get("/").status, 200, "the server goes on");
}

#[test]
fn any_bytes_are_a_message_here_too() {
    let office = Office::trained();
    let server = office.serve(&[]);
    for message in ["\0\u{1}\u{2}", "From:", "no head at all", &"A: b\n".repeat(20_000), &"\n".repeat(1000)] {
        check(&server, message);
    }
}

#[test]
fn mail_through_spamd_is_listed_without_its_text() {
    let office = Office::trained();
    let server = office.serve(&["--users", "users", "--create-users"]);
    server.spamc(&["-u", "alice", "-c"], &format!("Subject: private words\n{}", spam(3)));
    let list = server.get("/decisions").body;
    assert!(list.contains("spamd, alice") && !list.contains("private words"), "{list}");
    assert_eq!(server.get("/decisions/1").status, 404);
}

#[test]
fn a_read_only_page_has_nothing_to_teach_with() {
    let office = Office::trained();
    let server = office.serve(&["--read-only"]);
    let (address, page) = check(&server, &odd(4));
    assert!(!page.body.contains("/teach"), "{}", page.body);
    assert_eq!(teach(&server, &address, "as=spam").status, 500);
}
