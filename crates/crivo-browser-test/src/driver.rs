//! The process of the driver, and one session with it.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::wire::{must, text};

/// The timeout. A machine that builds and tests on all its cores can take long to start a browser.
const PATIENCE: Duration = Duration::from_secs(180);

/// The process of `chromedriver`, which runs a browser.
pub(crate) struct Driver {
    process: Child,
    /// Kept open, because closing the pipe may end the program at its next write.
    output: Option<BufReader<ChildStdout>>,
    agent: ureq::Agent,
    session: String,
}

impl Driver {
    /// Starts the driver and the browser, on a port that the system chooses.
    pub(crate) fn start() -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false) // the body says what went wrong
            .build()
            .into();
        let process = Command::new("chromedriver")
            .args(["--port=0", "--log-level=SEVERE"]) // without a list of addresses it listens to this machine only
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let process = must(
            process,
            "cannot start chromedriver (`cargo xtask test` installs it; on Debian: apt install chromium chromium-driver)",
        );
        // From here on, a drop ends the process.
        let mut driver = Self { process, output: None, agent, session: String::new() };
        let server = format!("http://127.0.0.1:{}", driver.port());
        let session = driver.request(&format!("{server}/session"), &capabilities());
        driver.session = format!("{server}/session/{}", text(&session["sessionId"]));
        driver
    }

    /// Sends a command of the session.
    pub(crate) fn post(&self, command: &str, body: &Value) -> Value {
        self.request(&format!("{}/{command}", self.session), body)
    }

    fn request(&self, url: &str, body: &Value) -> Value {
        let mut response = must(self.agent.post(url).send_json(body), url);
        let limit = 256 << 20; // pictures of long pages
        let answer: Value = must(
            response.body_mut().with_config().limit(limit).read_json(),
            "the driver's answer is not JSON",
        );
        let value = &answer["value"];
        assert!(value.get("error").is_none() || value["message"].is_null(), "{url}: {}", value["message"]);
        value.clone()
    }

    /// Returns the port, which the driver prints when it is ready.
    fn port(&mut self) -> u16 {
        let output = self.output.insert(BufReader::new(
            self.process.stdout.take().unwrap_or_else(|| panic!("chromedriver has no output")),
        ));
        let mut lines = output.lines().map_while(Result::ok);
        // An earlier line has the requested port, which is 0 for any.
        let port = lines
            .find_map(|line| line.rsplit_once("successfully on port ")?.1.trim_end_matches('.').parse().ok());
        port.unwrap_or_else(|| panic!("chromedriver ended before it was ready"))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The end of the session ends the browser. Only then the driver may be killed.
        if !self.session.is_empty() {
            let _ = self.agent.delete(&self.session).call();
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs without a window, without a sandbox (tests run as root in containers), and with a log of
/// all requests.
fn capabilities() -> Value {
    json!({ "capabilities": { "alwaysMatch": {
        "browserName": "chrome",
        "goog:chromeOptions": { "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb",
            "--lang=en"
        ] },
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        "timeouts": { "pageLoad": 120_000, "script": 120_000 }
    } } })
}
