//! Starts a real browser for tests of pages.
//!
//! [`Browser`] starts Chromium without a window, through its driver, and controls it by `WebDriver`
//! on this machine: a dozen commands in plain HTTP with JSON. Each test starts its own browser, on
//! a port that the system chooses. Browser and driver end when the value is dropped, also when the
//! test fails. Tests act like a reader, by clicks and keys, and query the page for what a reader
//! would see.
//!
//! All functions panic with the cause of a failure, because they are for tests. `cargo xtask test`
//! installs the browser if it is missing.

#![allow(clippy::panic, clippy::missing_panics_doc)] // for tests, which fail by panicking

mod audit;
mod driver;
mod wire;

use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::driver::Driver;
use crate::wire::{must, text};

/// The Enter key, for [`Browser::press`].
pub const ENTER: &str = "\u{e007}";
/// The Tab key.
pub const TAB: &str = "\u{e004}";
/// The space bar.
pub const SPACE: &str = " ";

/// A browser with one window, which is closed when the value is dropped.
pub struct Browser {
    driver: Driver,
    folder: TempDir,
}

/// The preferred colour scheme of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Dark text on light paper.
    Light,
    /// Light text on dark paper.
    Dark,
}

impl Browser {
    /// Starts a new browser, with a window of 1200 × 900.
    pub fn start() -> Self {
        let folder = must(TempDir::new(), "cannot make a folder for the page");
        let browser = Self { driver: Driver::start(), folder };
        browser.resize(1200, 900);
        browser.prefer(Theme::Light);
        browser
    }

    /// Opens a page and waits until it is loaded.
    pub fn open(&self, url: &str) {
        self.driver.post("url", &json!({ "url": url }));
    }

    /// Opens a document as a file.
    pub fn open_html(&self, html: &str) {
        let file = self.folder.path().join("page.html");
        must(std::fs::write(&file, html), "cannot write the page");
        self.open(&format!("file://{}", file.display()));
    }

    /// Runs a function body inside the page, and returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.run_with(script, &[])
    }

    /// Runs a script like [`run`](Self::run), with arguments, which it reads as `arguments[0]` and
    /// so on.
    pub fn run_with(&self, script: &str, arguments: &[Value]) -> Value {
        self.driver.post("execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// Runs a script like [`run`](Self::run) that returns text.
    pub fn run_for_text(&self, script: &str) -> String {
        text(&self.run(script)).into()
    }

    /// Clicks in the middle of the first element that a CSS selector finds, as a mouse does.
    pub fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.driver.post(&format!("element/{element}/click"), &json!({}));
    }

    /// Types into an element.
    pub fn type_into(&self, selector: &str, keys: &str) {
        let element = self.find(selector);
        self.driver.post(&format!("element/{element}/value"), &json!({ "text": keys }));
    }

    /// Presses a key in the element with the focus.
    pub fn press(&self, key: &str) {
        let actions = json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        self.driver.post(
            "actions",
            &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }),
        );
    }

    /// Sets the width and height of the visible window.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Sets the colour scheme that the reader prefers.
    pub fn prefer(&self, theme: Theme) {
        let value = if theme == Theme::Dark { "dark" } else { "light" };
        self.devtools(
            "Emulation.setEmulatedMedia",
            // A page with moving elements cannot be clicked.
            &json!({ "features": [
                { "name": "prefers-color-scheme", "value": value },
                { "name": "prefers-reduced-motion", "value": "reduce" }
            ] }),
        );
    }

    /// Sends a command of Chromium's own protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.driver.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Returns the warnings and errors on the browser's console since the last call.
    pub fn complaints(&self) -> Vec<String> {
        let entries = self.driver.post("se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        let serious = |entry: &&Value| matches!(text(&entry["level"]), "SEVERE" | "WARNING");
        entries.iter().filter(serious).map(|entry| text(&entry["message"]).into()).collect()
    }

    /// Returns the URLs that the browser requested from the network or the disk since the last
    /// call, the documents themselves included.
    pub fn requests(&self) -> Vec<String> {
        let entries = self.driver.post("se/log", &json!({ "type": "performance" }));
        let events = entries.as_array().into_iter().flatten().filter_map(|entry| {
            serde_json::from_str::<Value>(text(&entry["message"])).ok().map(|event| event["message"].clone())
        });
        let events: Vec<Value> = events.collect();
        // The log also has the requests that a content policy blocked.
        let stopped = |id: &Value| {
            let reason = |event: &&Value| {
                event["params"]["requestId"] == *id && event["params"]["blockedReason"] == "csp"
            };
            events.iter().any(|event| reason(&event))
        };
        events
            .iter()
            .filter(|event| {
                event["method"] == "Network.requestWillBeSent" && !stopped(&event["params"]["requestId"])
            })
            .map(|event| text(&event["params"]["request"]["url"]).into())
            .collect()
    }

    /// Saves a picture of the whole page, as PNG.
    pub fn screenshot(&self, file: &Path) {
        let shot = self.devtools("Page.captureScreenshot", &json!({ "captureBeyondViewport": true }));
        self.save(&shot, file);
    }

    /// Saves a picture of the visible part of the page, as PNG.
    pub fn screenshot_of_window(&self, file: &Path) {
        let shot = self.devtools("Page.captureScreenshot", &json!({}));
        self.save(&shot, file);
    }

    #[allow(clippy::unused_self)] // belongs to the two above
    fn save(&self, shot: &Value, file: &Path) {
        let bytes = base64::engine::general_purpose::STANDARD.decode(text(&shot["data"]));
        must(std::fs::write(file, must(bytes, "the picture is not base64")), "cannot write the picture");
    }

    /// Returns the driver's name for the first element that a CSS selector finds.
    fn find(&self, selector: &str) -> String {
        let found = self.driver.post("element", &json!({ "using": "css selector", "value": selector }));
        let name = found.as_object().and_then(|object| object.values().next());
        text(name.unwrap_or(&Value::Null)).into()
    }
}
