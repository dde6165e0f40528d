//! The page of `crivo profile` in a real browser: it shows the values of the JSON, and can be used.

use crivo_browser_test::{Browser, Theme};
use serde_json::Value;

use crate::support::{Random, Scratch};

/// Returns a table with columns of every kind, which repeat if there are more columns than kinds.
fn mixed(columns: usize, rows: u64) -> String {
    let names: Vec<String> =
        (0..columns).map(|column| format!("{} {column}", KINDS[column % KINDS.len()])).collect();
    let mut random = Random::new(8);
    let mut text = names.join(",") + "\n";
    for row in 0..rows {
        let fields: Vec<String> = (0..columns).map(|column| field(column, row, &mut random)).collect();
        text += &(fields.join(",") + "\n");
    }
    text
}

const KINDS: [&str; 7] = ["id", "city", "price", "sparse", "changing", "note", "flag"];

fn field(column: usize, row: u64, random: &mut Random) -> String {
    let cities = ["Lisboa", "Porto", "\"Vila Real, Norte\"", "東京", "</script><b>", "São Paulo"];
    match KINDS[column % KINDS.len()] {
        "id" => format!("{}", row * 7 + 10_000_000_000),
        "city" => cities[(random.below(6) * random.below(6) / 5) as usize].into(),
        "price" => format!("{}.{:02}", random.below(30) * random.below(3_000), random.below(100)),
        "sparse" => {
            if random.below(9) == 0 {
                format!("{}", random.below(5))
            } else {
                String::new()
            }
        }
        "changing" => {
            if row == 900 {
                "n/a".into()
            } else {
                format!("{}", random.below(400))
            }
        }
        "note" => format!(
            "the parcel number {} was left with the neighbour of house {}",
            random.below(40),
            random.below(9)
        ),
        _ => {
            if random.below(20) == 0 {
                "false".into()
            } else {
                "true".into()
            }
        }
    }
}

/// A page and the JSON of the same input.
struct Shown {
    scratch: Scratch,
    json: Value,
    browser: Browser,
}

fn show(files: &[(&'static str, String)]) -> Shown {
    let scratch = Scratch::with(files.iter().map(|(name, text)| (*name, text.as_bytes())));
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let run = |options: &[&str]| scratch.run(&[&["profile"], names.as_slice(), options].concat());
    let json = run(&["--json"]).json();
    run(&["--html", "page.html"]).ok();
    let browser = Browser::start();
    browser.open(&format!("file://{}", scratch.path("page.html").display()));
    Shown { scratch, json, browser }
}

/// A script that returns the contents of cards and overview: for each column its fields, and the
/// rows of each picture's table.
const CARDS: &str = "
    const number = (text) => text === undefined ? null : Number(text);
    return [...document.querySelectorAll('[data-column]')].map((card) => ({
        name: card.querySelector('h3').textContent,
        type: card.querySelector('.type').textContent,
        fields: [...document.querySelectorAll(`#${card.id} [data-field], [data-about=${card.id}] [data-field]`)].map((one) => ({
            field: one.dataset.field, text: one.textContent, value: number(one.dataset.value),
            lower: number(one.dataset.lower), upper: number(one.dataset.upper),
        })),
        pictures: Object.fromEntries([...card.querySelectorAll('[data-picture]')].map((picture) => [
            picture.dataset.picture,
            [...picture.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) =>
                cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value))),
        ])),
        sample: [...card.querySelectorAll('.sample li')].map((one) => one.textContent),
    }));";

/// Asserts that values are equal. Numbers are compared as floating-point numbers: 3 equals 3.0.
#[track_caller]
fn same(shown: &Value, told: &Value, what: &str) {
    let equal = if told.is_number() { shown.as_f64() == told.as_f64() } else { shown == told };
    assert!(equal, "{what}: the page has {shown}, the JSON {told}");
}

/// Asserts that texts are equal, or that the page has the beginning of a long text.
#[track_caller]
fn same_text(shown: &Value, told: &Value) {
    let (shown, told) = (shown.as_str().unwrap(), told.as_str().unwrap());
    let beginning =
        shown.strip_suffix('…').is_some_and(|beginning| beginning.len() > 8 && told.starts_with(beginning));
    assert!(shown == told || beginning, "the page has {shown}, the JSON {told}");
}

/// Asserts that a row of a picture's table has the given numbers first, and then the bounds if they
/// differ from the value.
#[track_caller]
fn same_row(row: &Value, first: &[&Value], interval: &Value) {
    let at = first.len();
    for (index, told) in first.iter().enumerate() {
        same(&row[index], told, "a row's name");
    }
    same(&row[at], &interval["value"], "value");
    if row.as_array().unwrap().len() > at + 1 {
        same(&row[at + 1], &interval["lower"], "lower");
        same(&row[at + 2], &interval["upper"], "upper");
    } else {
        same(&interval["lower"], &interval["upper"], "bounds that are not shown");
    }
}

#[test]
fn every_number_of_the_page_is_the_number_of_the_json() {
    let Shown { json, browser, .. } = show(&[("mixed.csv", mixed(7, 3_000))]);
    let cards = browser.run(CARDS);
    let columns = json["columns"].as_array().unwrap();
    assert_eq!(cards.as_array().unwrap().len(), columns.len());
    for (card, column) in cards.as_array().unwrap().iter().zip(columns) {
        same(&card["name"], &column["name"], "name");
        same(&card["type"], &column["type"], "type");
        let fields = card["fields"].as_array().unwrap();
        for field in fields {
            let path = format!("/{}", field["field"].as_str().unwrap().replace('.', "/"));
            let told = column.pointer(&path).unwrap_or_else(|| panic!("no {path} in {column}"));
            if told.is_object() {
                ["value", "lower", "upper"].iter().for_each(|end| same(&field[end], &told[end], &path));
            } else if told.is_number() {
                same(&field["value"], told, &path);
            } else {
                same_text(&field["text"], told);
            }
        }
        for required in [
            "distinct",
            "empty",
            "min",
            "max",
            "mean",
            "sum",
            "near_duplicates",
            "standard_deviation",
            "skew",
        ] {
            let times = fields.iter().filter(|field| field["field"] == *required).count();
            let overview = usize::from(matches!(required, "distinct" | "min" | "max" | "mean"));
            let wanted = if column[required].is_null() { 0 } else { 1 + overview };
            assert_eq!(times, wanted, "{required} of {}", column["name"]);
        }
        check_pictures(&card["pictures"], column);
        let (shown, told) = (card["sample"].as_array().unwrap(), column["sample"].as_array().unwrap());
        assert_eq!(shown.len(), told.len().min(12));
        shown.iter().zip(told).for_each(|(shown, told)| same_text(shown, told));
    }
}

#[track_caller]
fn check_pictures(pictures: &Value, column: &Value) {
    let top = column["top"].as_array().unwrap();
    if let Some(rows) = pictures["top"].as_array() {
        assert_eq!(rows.len(), top.len());
        rows.iter().zip(top).for_each(|(row, told)| same_row(row, &[&told["key"]], &told["count"]));
    } else {
        assert!(
            top.iter().all(|one| one["count"]["lower"].as_f64() <= Some(1.0)),
            "frequent values are drawn"
        );
    }
    let quantiles = &column["quantiles"];
    assert_eq!(pictures["quantiles"].is_null(), quantiles.is_null());
    for (share, name) in [(0.01, "p01"), (0.25, "p25"), (0.5, "p50"), (0.75, "p75"), (0.99, "p99")] {
        if !quantiles.is_null() {
            let rows = pictures["quantiles"].as_array().unwrap();
            let row =
                rows.iter().find(|row| row[0].as_f64() == Some(share)).expect("every quantile is drawn");
            same_row(row, &[&share.into()], &quantiles[name]);
        }
    }
    let patterns = column["patterns"].as_array().unwrap();
    assert_eq!(pictures["patterns"].is_null(), patterns.is_empty());
    for (row, told) in pictures["patterns"].as_array().into_iter().flatten().zip(patterns) {
        same_row(row, &[&told["pattern"]], &told["share"]);
    }
    if let Some(bars) = column["histogram"]["bars"].as_array() {
        let rows = pictures["histogram"].as_array().unwrap();
        assert_eq!(rows.len(), bars.len());
        for (row, bar) in rows.iter().zip(bars) {
            let middle = f64::midpoint(bar["from"].as_f64().unwrap(), bar["to"].as_f64().unwrap());
            same_row(row, &[&middle.into()], &bar["count"]);
        }
    }
    let growth = column["growth"].as_array().unwrap();
    // Categories have no growth curve, because it would be flat.
    let is_category = column["distinct"]["upper"].as_f64() <= Some(64.0) && column["key"] == false;
    assert_eq!(pictures["growth"].is_null(), is_category);
    let Some(curve) = pictures["growth"].as_array() else { return };
    assert!(curve.len() >= 10, "a curve of {} points", curve.len());
    for row in curve {
        let told = growth
            .iter()
            .find(|point| point["rows"].as_f64() == row[0].as_f64())
            .expect("a point of the JSON");
        same_row(row, &[&told["rows"]], &told["distinct"]);
    }
    same(&curve[curve.len() - 1][0], &growth[growth.len() - 1]["rows"], "the end of the curve");
}

#[test]
fn fifty_columns_are_a_small_page_that_opens_at_once() {
    let Shown { scratch, browser, .. } = show(&[("wide.csv", mixed(50, 2_000))]);
    let size = scratch.read("page.html").len();
    assert!(size < 1_000_000, "{size} bytes");
    // The best of several loads counts, so that other work on the machine does not fail the test.
    let opened = (0..10).map(|_| {
        browser.run("location.reload()");
        let milliseconds =
            browser.run("return performance.getEntriesByType('navigation')[0].loadEventEnd").as_f64();
        milliseconds.filter(|&milliseconds| milliseconds > 0.0).unwrap_or(f64::INFINITY)
    });
    let opened: Vec<f64> = opened.collect();
    assert!(opened.iter().any(|&milliseconds| milliseconds < 1_000.0), "milliseconds to open: {opened:?}");
    assert_eq!(browser.foreign_requests(), Vec::<String>::new());
    browser.audit();
}

#[test]
fn ten_thousand_columns_are_a_page_that_opens() {
    let names = (0..10_000).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",");
    let row =
        |row: usize| (0..10_000).map(|column| (column * row % 97).to_string()).collect::<Vec<_>>().join(",");
    let text = (1..4).fold(names, |text, number| text + "\n" + &row(number)) + "\n";
    let scratch = Scratch::with([("wide.csv", text)]);
    scratch.run(&["profile", "wide.csv", "--html", "page.html"]).ok();
    let size = scratch.read("page.html").len();
    assert!(size < 20_000_000, "{size} bytes");
    let browser = Browser::start();
    browser.open(&format!("file://{}", scratch.path("page.html").display()));
    assert_eq!(browser.run("return document.querySelectorAll('tbody tr').length > 9999"), true);
    assert_eq!(browser.run("return document.querySelectorAll('[data-column]').length"), 300);
}

#[test]
fn type_changes_are_marked_and_linked_in_the_overview() {
    let Shown { json, browser, .. } = show(&[("mixed.csv", mixed(7, 3_000))]);
    let change = &column_named(&json, "changing 4")["changes"][0];
    assert_eq!(change["row"], 901);
    let link = browser.run("const link = document.querySelector('.changed'); return [link.textContent, link.getAttribute('href')]");
    assert_eq!(link, serde_json::json!(["changes in row 901", "#t0-c4"]));
    // All columns of the overview fit at 1280 pixels.
    let room = browser.run("const table = document.querySelector('.table table'); return table.scrollWidth <= table.parentElement.clientWidth + 1");
    assert_eq!(room, true);
}

fn column_named<'a>(json: &'a Value, name: &str) -> &'a Value {
    json["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap()
}

#[test]
fn search_leaves_the_columns_that_match_in_overview_and_cards() {
    let Shown { browser, .. } = show(&[("mixed.csv", mixed(14, 200))]);
    let seen = |selector: &str| {
        let script = format!(
            "return [...document.querySelectorAll('{selector}')].filter((one) => one.offsetParent).length"
        );
        browser.run(&script).as_u64().unwrap()
    };
    assert_eq!((seen("tbody tr[data-about]"), seen("[data-column]")), (14, 14));
    browser.type_into(".search input", "city");
    assert_eq!((seen("tbody tr[data-about]"), seen("[data-column]")), (2, 2));
    browser.type_into(".search input", " nowhere");
    assert_eq!((seen("tbody tr[data-about]"), seen("[data-column]")), (0, 0));
    assert_eq!(browser.run_for_text("return document.querySelector('.found').textContent"), "0 of 14 rows");
}

#[test]
fn long_names_are_whole_in_headings_differ_in_the_overview_and_are_found_by_any_part() {
    let start = "a_rather_long_name_of_a_column_that_begins_like_others_";
    let table = format!("{start}street,{start}city,short\nx,y,z\nx,w,z\n");
    let Shown { json, browser, .. } = show(&[("names.csv", table)]);
    let texts = |selector: &str| {
        browser.run(&format!(
            "return [...document.querySelectorAll('{selector}')].map((one) => one.textContent)"
        ))
    };
    let names: Vec<&Value> =
        json["columns"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(texts("[data-column] h3").as_array().unwrap().iter().collect::<Vec<_>>(), names);
    let overview = texts("tbody tr[data-about] th");
    assert!(
        overview[0].as_str().unwrap().ends_with("_street")
            && overview[1].as_str().unwrap().ends_with("_city")
    );
    assert!(overview[0].as_str().unwrap().contains('…'), "{overview}");
    // The search finds the parts of names that the overview cuts.
    browser.type_into(".search input", "column_that_begins");
    let seen = "return [...document.querySelectorAll('tbody tr[data-about]')].filter((one) => one.offsetParent).length";
    assert_eq!(browser.run(seen), 2);
    browser.type_into(".search input", " like_others_city");
    assert_eq!(browser.run(seen), 1);
    browser.audit();
}

#[test]
fn columns_without_frequent_values_say_how_often_any_can_have_come() {
    let ids = (0..20_000).fold(String::from("id,pair\n"), |text, i| text + &format!("{i},{}\n", i / 2));
    let Shown { json, browser, .. } = show(&[("ids.csv", ids)]);
    for (at, column) in json["columns"].as_array().unwrap().iter().enumerate() {
        assert_eq!(column["top"], serde_json::json!([]));
        let card = browser.run_for_text(&format!("return document.querySelector('#t0-c{at}').textContent"));
        let most = column["others_at_most"].as_u64().unwrap();
        assert!(
            most > 1 && card.contains(&format!("no value comes more than {most} times")),
            "{most}: {card}"
        );
    }
}

#[test]
fn overview_sorts_by_the_share_that_is_empty() {
    let Shown { browser, .. } = show(&[("mixed.csv", mixed(7, 500))]);
    let first = || browser.run_for_text("return document.querySelector('tbody th').textContent");
    browser.click("thead th:nth-child(3) button");
    browser.click("thead th:nth-child(3) button");
    assert_eq!(first(), "sparse 3");
    browser.click("thead th:nth-child(1) button");
    assert_eq!(first(), "changing 4");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn tables_that_could_join_say_so_on_one_page() {
    let orders =
        (0..900).fold(String::from("order,customer\n"), |text, i| text + &format!("o{i},c{}\n", i % 300));
    let customers =
        (0..400).fold(String::from("customer,name\n"), |text, i| text + &format!("c{i},Person {i}\n"));
    let Shown { json, browser, .. } = show(&[("orders.csv", orders), ("customers.csv", customers)]);
    let shown = browser.run(
        "const row = document.querySelector('.joins tbody tr');
         return [row.cells[0].innerText, row.cells[1].innerText,
             ...[...row.querySelectorAll('[data-field]')].map((one) => Number(one.dataset.value))]",
    );
    let join = &json["joins"][0];
    for (index, side) in ["left", "right"].iter().enumerate() {
        let name =
            format!("{}\n{}", join[side]["column"].as_str().unwrap(), join[side]["file"].as_str().unwrap());
        assert_eq!(shown[index], name.as_str());
    }
    for (index, field) in ["common", "left_in_right", "right_in_left"].iter().enumerate() {
        same(&shown[index + 2], &join[field]["value"], field);
    }
    browser.audit();
}

#[test]
fn nothing_to_show_is_a_page_too() {
    for text in ["", "name,city\n", "name\n\n\n"] {
        let Shown { browser, .. } = show(&[("empty.csv", text.into())]);
        browser.prefer(Theme::Dark);
        browser.audit();
    }
}
