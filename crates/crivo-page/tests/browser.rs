//! The gallery in a real browser: what it shows, and how a reader can use it.

#![allow(clippy::unwrap_used)] // what fails here should fail loudly

#[path = "../examples/gallery/page.rs"]
mod page;

use crivo_browser_test::{Browser, ENTER, SPACE, TAB, Theme};
use crivo_page::Page;

fn open_gallery() -> Browser {
    let browser = Browser::start();
    browser.open_html(&page::gallery().to_html());
    browser
}

/// Returns the names in the table, in the displayed order.
fn names(browser: &Browser) -> Vec<String> {
    let names = browser.run(
        "return [...document.querySelectorAll('.table tbody tr')]
             .filter((row) => !row.hidden).map((row) => row.cells[0].textContent)",
    );
    names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().into()).collect()
}

fn first(browser: &Browser, count: usize) -> Vec<String> {
    names(browser).into_iter().take(count).collect()
}

#[test]
fn every_promise_of_a_page_holds_for_the_gallery() {
    let browser = open_gallery();
    assert_eq!(browser.foreign_requests(), Vec::<String>::new());
    browser.audit();
}

#[test]
fn policy_of_a_page_stops_what_is_not_its_own() {
    let browser = Browser::start();
    let smuggled = "<script>window.smuggled = true</script><img src='https://example.org/x.png' onerror='window.smuggled = true'>";
    let html = Page::new("Smuggling").to_html().replace("</main>", &format!("{smuggled}</main>"));
    browser.open_html(&html);
    assert_eq!(browser.run("return window.smuggled === undefined"), true);
    let complaints = browser.complaints();
    assert!(
        complaints.iter().all(|complaint| complaint.contains("Content Security Policy")),
        "{complaints:?}"
    );
    assert!(complaints.len() >= 2, "{complaints:?}");
    assert!(browser.foreign_requests().iter().all(|url| !url.starts_with("https:")));
}

#[test]
fn tables_sort_by_clicks_in_three_orders() {
    let browser = open_gallery();
    let as_written = names(&browser);
    let basin = ".table th:nth-child(3) button";
    browser.click(basin);
    assert_eq!(first(&browser, 2), ["Côa", "Mondego"]);
    assert_eq!(names(&browser).last().unwrap(), "Rio <b>10</b>", "cells without a number come last");
    browser.click(basin);
    assert_eq!(first(&browser, 2), ["Douro", "Ebro"]);
    assert_eq!(names(&browser).last().unwrap(), "Rio <b>10</b>", "in both directions");
    assert_eq!(
        browser.run_for_text("return document.querySelector('.table th:nth-child(3)').ariaSort"),
        "descending"
    );
    browser.click(basin);
    assert_eq!(names(&browser), as_written);
    browser.click(".table th:nth-child(1) button");
    assert_eq!(first(&browser, 3), ["Côa", "Douro", "Ebro"]);
}

#[test]
fn tables_sort_and_search_by_keyboard_alone() {
    let browser = open_gallery();
    browser.run(
        "document.querySelector('.table').previousElementSibling.scrollIntoView();
                 document.querySelector('.table input').focus()",
    );
    browser.press("c");
    browser.press("o");
    browser.press("a");
    assert_eq!(names(&browser), ["Côa"], "accents do not hide a row");
    assert_eq!(browser.run_for_text("return document.querySelector('.found').textContent"), "1 of 12 rows");
    browser.run("document.querySelector('.table input').select()");
    browser.press("\u{e003}"); // backspace
    assert_eq!(names(&browser).len(), 12);
    // The first tab moves from the field to the scrolled region, the second to the first heading.
    browser.press(TAB);
    browser.press(TAB);
    browser.press(ENTER);
    assert_eq!(first(&browser, 2), ["Côa", "Douro"]);
    browser.press(TAB);
    browser.press(SPACE);
    assert_eq!(first(&browser, 2), ["Rio <b>10</b>", "Côa"]);
    let outlined = "const style = getComputedStyle(document.activeElement); return style.outlineStyle + style.outlineWidth";
    assert_eq!(browser.run_for_text(outlined), "solid3px", "the focus is seen");
}

#[test]
fn keyboard_reaches_the_content_at_once() {
    let browser = open_gallery();
    browser.press(TAB);
    assert_eq!(browser.run_for_text("return document.activeElement.textContent"), "Skip to content");
    browser.press(ENTER);
    assert_eq!(browser.run_for_text("return document.activeElement.id"), "content");
}

#[test]
fn colours_follow_the_reader() {
    let browser = open_gallery();
    let paper = |theme| {
        browser.prefer(theme);
        browser.run_for_text("return getComputedStyle(document.body).backgroundColor")
    };
    assert_ne!(paper(Theme::Light), paper(Theme::Dark));
}

#[test]
fn pictures_tell_their_numbers_to_those_who_do_not_see_them() {
    let browser = open_gallery();
    let told = browser.run_for_text(
        "const picture = document.querySelector('figure');
         picture.querySelector('details').open = true;
         return picture.querySelector('tbody').rows[15].innerText",
    );
    assert!(told.starts_with("observed, with 95 % bounds\t256\t6."), "{told}");
    let image = browser.run_for_text("return document.querySelector('svg').getAttribute('role')");
    assert_eq!(image, "img");
}
