//! The page in a real browser, as a person uses it.

use crivo_browser_test::{Browser, Theme};

use crate::mail::{ham, odd, spam};
use crate::support::{Office, Server, eventually};

fn paste(browser: &Browser, server: &Server, message: &str) {
    browser.open(&server.url("/"));
    browser.run_with("document.querySelector('#message').value = arguments[0]", &[message.into()]);
    browser.click("form.check button");
    eventually("the decision is shown", || {
        browser.run("return !!document.querySelector('.verdict-word')") == true
    });
}

fn text(browser: &Browser, selector: &str) -> String {
    browser.run_for_text(&format!("return document.querySelector('{selector}')?.innerText ?? ''"))
}

#[test]
fn what_is_shown_is_what_the_command_says() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let browser = Browser::start();
    for message in [spam(80_000), ham(80_000)] {
        paste(&browser, &server, &message);
        let says = office.check("store", &message);
        assert_eq!(text(&browser, ".verdict-word"), says["verdict"].as_str().unwrap());
        assert_eq!(text(&browser, "#score"), format!("{:.4}", says["score"].as_f64().unwrap()));
        let shown =
            browser.run("return [...document.querySelectorAll('.why')].map((one) => one.textContent)");
        assert_eq!(shown, says["reasons"]);
        browser.audit();
    }
}

#[test]
fn a_button_teaches() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let browser = Browser::start();
    paste(&browser, &server, &odd(1));
    browser.click("button[value=ham]");
    eventually("the lesson is told", || text(&browser, "[role=status]").starts_with("Learned as ham."));
    assert_eq!(text(&browser, ".verdict-word"), office.check("store", &odd(1))["verdict"].as_str().unwrap());
    browser.type_into("#label", "birds");
    browser.click("button[value=label]");
    eventually("the label is told", || {
        text(&browser, "[role=status]").starts_with("Learned as label:birds.")
    });
    browser.audit();
    browser.click("button[value=forget]");
    eventually("it is forgotten", || text(&browser, "[role=status]").starts_with("Forgotten."));
}

#[test]
fn the_keyboard_is_enough() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let browser = Browser::start();
    browser.open(&server.url("/"));
    browser.type_into("#message", "Subject: hello\n\nlunch tomorrow with the team");
    // Ctrl+Enter, in the driver's codes for the keys.
    browser.type_into("#message", "\u{e009}\u{e007}");
    eventually("the decision is shown", || {
        browser.run("return !!document.querySelector('.verdict-word')") == true
    });
}

#[test]
fn a_dropped_file_is_checked() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let browser = Browser::start();
    browser.open(&server.url("/"));
    browser.run_with(
        "const carried = new DataTransfer();
         carried.items.add(new File([arguments[0]], 'message.eml', { type: 'message/rfc822' }));
         for (const type of ['dragenter', 'dragover', 'drop'])
             document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: carried }));",
        &[spam(80_001).into()],
    );
    eventually("the decision is shown", || text(&browser, ".verdict-word") == "spam");
}

#[test]
fn an_empty_form_is_not_sent() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let browser = Browser::start();
    browser.open(&server.url("/"));
    browser.click("form.check button");
    assert_eq!(text(&browser, ".status"), "Paste a message or choose a file first.");
    assert_eq!(browser.run("return document.activeElement.id"), "message");
}

#[test]
fn hostile_text_does_nothing() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let browser = Browser::start();
    let evil = "</textarea></pre><script>window.evil=1</script><img src=x onerror=window.evil=2><a href=javascript:window.evil=3>x</a>";
    let message = format!(
        "From: \"{evil}\" <{evil}@x.example>\nSubject: {evil}\n\n{evil}\n<svg onload=window.evil=4>\n"
    );
    paste(&browser, &server, &message);
    assert_eq!(browser.run("return window.evil ?? null"), serde_json::Value::Null);
    let inside = "return document.querySelectorAll('main script, main img, main a[href^=javascript]').length";
    assert_eq!(browser.run(inside), 0);
    assert!(
        browser
            .run_for_text("return document.querySelector('.source pre').textContent")
            .contains("<svg onload")
    );
    assert_eq!(browser.foreign_requests().iter().filter(|url| !url.starts_with(&server.url(""))).count(), 0);
    browser.audit();
}

#[test]
fn a_form_on_another_site_cannot_teach() {
    let office = Office::trained();
    let server = office.serve(&[]);
    let browser = Browser::start();
    paste(&browser, &server, &odd(5));
    let decision = browser.run_for_text("return location.pathname");
    let token = server.token();
    // Even another site that knows the token is refused.
    browser.open_html(&format!(
        "<form method=post action='{}/teach'><input name=token value={token}><input name=as value=spam><button>go</button></form>",
        server.url(&decision)
    ));
    browser.click("button");
    eventually("it is refused", || text(&browser, "h1") == "Not from here");
    browser.open(&server.url(&decision));
    assert!(!browser.run_for_text("return document.body.innerText").contains("Learned as"));
    browser.open_html(&format!("<iframe src='{}'></iframe>", server.url("/")));
    let framed = browser.run_for_text(
        "return document.querySelector('iframe').contentDocument?.body?.innerText ?? 'foreign'",
    );
    assert!(!framed.contains("Paste"), "{framed}");
}

#[test]
fn every_page_is_readable_in_both_themes_and_on_a_phone() {
    let office = Office::trained();
    let server = office.serve(&["--users", "users", "--create-users"]);
    let browser = Browser::start();
    for number in 0..6 {
        server.spamc(&["-u", "alice", "-c"], &spam(number));
        server.spamc(&["-u", "bob", "-c"], &ham(number));
    }
    paste(&browser, &server, &spam(80_002));
    for path in ["/", "/decisions", "/statistics", "/decisions/13", "/nothing"] {
        browser.open(&server.url(path));
        browser.complaints(); // that a page is not there is said in the console too
        browser.audit();
        if let Some(folder) = std::env::var_os("CRIVO_SCREENSHOTS") {
            let name = path.trim_matches('/').replace('/', "-");
            let shot = |kind: &str| std::path::Path::new(&folder).join(format!("mail-{name}-{kind}.png"));
            browser.screenshot(&shot("light"));
            browser.prefer(Theme::Dark);
            browser.resize(390, 844);
            browser.screenshot(&shot("phone-dark"));
            browser.prefer(Theme::Light);
            browser.resize(1200, 900);
        }
    }
}
