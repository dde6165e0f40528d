//! Makes pictures of a page: `light.png`, `dark.png` and `phone.png`. Run it with
//! `cargo run -p crivo-browser-test --example screenshot PAGE.html FOLDER`.

#![allow(clippy::panic)] // a developer's tool: a failure is shown as a panic

use std::path::Path;

use crivo_browser_test::{Browser, Theme};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(page), Some(folder)) = (arguments.next(), arguments.next()) else {
        panic!("two arguments: the page, and the folder for its pictures");
    };
    let page = std::path::absolute(&page).unwrap_or_else(|error| panic!("{page}: {error}"));
    let folder = Path::new(&folder);
    let browser = Browser::start();
    browser.open(&format!("file://{}", page.display()));
    browser.screenshot(&folder.join("light.png"));
    browser.prefer(Theme::Dark);
    browser.screenshot(&folder.join("dark.png"));
    browser.resize(360, 740);
    browser.screenshot(&folder.join("phone.png"));
}
