//! The page in a real browser: no warning or error, no request, every plot drawn and every
//! experiment found.

#![allow(clippy::unwrap_used)] // what fails here should fail loudly

use crivo_browser_test::Browser;
use crivo_lab::{Scale, Settings, find, page, run};

fn page_of(names: &[&str]) -> String {
    let chosen: Vec<_> = names.iter().map(|name| find(name).unwrap()).collect();
    let settings = Settings { scale: Scale::Tiny, ..Settings::default() };
    page::html(&run(&chosen, &settings, &()), &settings)
}

#[test]
fn page_keeps_every_promise_in_a_browser() {
    let browser = Browser::start();
    browser.open_html(&page_of(&["birthdays", "bands", "private-emoji", "all-pairs", "errata", "optimum-k"]));
    assert_eq!(browser.foreign_requests(), Vec::<String>::new());
    browser.audit();
    let count = |script: &str| browser.run(script).as_u64().unwrap();
    assert_eq!(count("return document.querySelectorAll('section.experiment').length"), 6);
    assert!(count("return document.querySelectorAll('section.experiment svg').length") >= 9);
    assert!(
        browser
            .run_for_text("return document.querySelector('#errata .verdict').textContent")
            .contains("refuted, as expected")
    );
    // The full names of checks are shown, on as many lines as needed. None is wider than its
    // column.
    let names =
        "return [...document.querySelectorAll('.checks th[scope=row]')].map((one) => one.textContent)";
    let names = browser.run(names);
    let names: Vec<&str> = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(
        names.iter().any(|name| name.chars().count() > 60) && !names.iter().any(|name| name.contains('…'))
    );
    let cut = "document.querySelectorAll('details').forEach((one) => { one.open = true; });
        return [...document.querySelectorAll('.checks th[scope=row]')].filter((one) => one.scrollWidth > one.clientWidth).length";
    assert_eq!(count(cut), 0);
    let lines = "return Math.max(...[...document.querySelectorAll('.checks th[scope=row] bdi')].map((one) => one.getClientRects().length))";
    assert!(count(lines) > 1);
    // Searching leaves only the matching experiments, in the list and on the page.
    browser.type_into("input[type=search]", "birthday");
    let visible = "return [...document.querySelectorAll('section.experiment')].filter((one) => one.getBoundingClientRect().height > 0).length";
    assert_eq!(count(visible), 1);
}
