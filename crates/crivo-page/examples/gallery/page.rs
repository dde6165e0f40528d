//! The page of the gallery. The tests open it in a browser.

use crivo_page::{Axis, Bar, Bars, Cell, Column, Page, Plot, Series, Strip, Table, number};
use maud::{Markup, html};

/// Returns the whole page.
pub(crate) fn gallery() -> Page {
    Page::new("Gallery")
        .lead("Every kind of picture that a page can hold, with data that is hard to draw among it.")
        .body(html! {
            h2 { "Plots" }
            div.grid-of-cards {
                @for picture in [theory_and_observation(), band(), steps(), six_series(), single_point(), nothing()] {
                    section.card { (picture.figure()) }
                }
            }
            h2 { "Bars" }
            div.grid-of-cards {
                @for picture in [frequencies(), hostile_names(), differences()] {
                    section.card { (picture.figure()) }
                }
            }
            h2 { "Parts" }
            div.grid-of-cards { section.card { (kinds().figure()) } }
            h2 { "Table" }
            (rivers())
        })
        .foot(html! { p { "Written by the example " code { "gallery" } " of crivo-page." } })
}

/// Returns numbers that look random and are the same in every run.
fn noise(index: u32) -> f64 {
    let mixed = index.wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(0x9e37_79b1);
    f64::from(mixed >> 8) / f64::from(1 << 24)
}

fn theory_and_observation() -> Plot {
    let error = |registers: f64| 1.04 / registers.sqrt();
    let sizes = || (4..=14).map(|power| f64::from(1 << power));
    let observed: Vec<(f64, f64)> =
        sizes().zip(0..).map(|(m, i)| (m, error(m) * (0.93 + 0.14 * noise(i)))).collect();
    let bounds: Vec<(f64, f64)> = observed.iter().map(|&(_, y)| (y * 0.85, y * 1.18)).collect();
    Plot::new("Error by memory", "Observed errors lie on the line that theory predicts.")
        .x(Axis::log("registers"))
        .y(Axis::log("relative error").percent())
        .series(Series::line("theory", sizes().map(|m| (m, error(m)))))
        .series(Series::dots("observed, with 95 % bounds", observed).whiskers(bounds))
}

fn band() -> Plot {
    let rows = || (0..=40).map(|i| f64::from(i) * 25_000.0);
    let truth = |x: f64| 40_000.0 * (1.0 - (-x / 300_000.0).exp());
    Plot::new("Growth of distinct values", "The number of different values flattens at about forty thousand.")
        .x(Axis::linear("rows"))
        .y(Axis::linear("different values"))
        .series(Series::band(
            "95 % bounds",
            rows().map(|x| (x, truth(x) * 0.95)),
            rows().map(|x| (x, truth(x) * 1.05)),
        ))
        .series(Series::line("estimate", rows().map(|x| (x, truth(x)))))
}

fn steps() -> Plot {
    Plot::new("Share of values below", "Half of all values are below twelve.")
        .x(Axis::linear("value"))
        .y(Axis::linear("share of rows").percent().range(0.0, 1.0))
        .series(Series::steps(
            "",
            [(0.0, 0.02), (4.0, 0.1), (9.0, 0.3), (12.0, 0.5), (14.0, 0.85), (21.0, 1.0)],
        ))
}

fn six_series() -> Plot {
    (0..6_u32).fold(
        Plot::new("Six at once", "Six curves that differ in slope.")
            .x(Axis::linear("x"))
            .y(Axis::linear("y")),
        |plot, s| {
            let points = (0..=8).map(move |i| (f64::from(i), f64::from(i * (s + 1))));
            plot.series(if s % 2 == 0 {
                Series::line(format!("line {s}"), points)
            } else {
                Series::dots(format!("dots {s}"), points)
            })
        },
    )
}

fn single_point() -> Plot {
    Plot::new("One point, no number beside it", "A single point; its neighbours are not numbers.")
        .x(Axis::linear("x"))
        .y(Axis::linear("y"))
        .series(Series::dots("", [(f64::NAN, 1.0), (3.0, 7.0), (4.0, f64::INFINITY)]))
}

fn nothing() -> Plot {
    Plot::new("Nothing to show", "There are no points.")
        .x(Axis::log("x"))
        .y(Axis::linear("y"))
        .series(Series::line("", []))
}

fn frequencies() -> Bars {
    let counts = [
        ("Lisboa", 91_204.0),
        ("Porto", 64_870.0),
        ("Braga", 22_118.0),
        ("Coimbra", 21_640.0),
        ("Aveiro", 9_870.0),
    ];
    counts
        .into_iter()
        .fold(Bars::new("Most frequent cities", "Lisboa leads by a third."), |bars, (city, count)| {
            bars.bar(Bar::new(city, count).whisker(count - 2_400.0, count + 900.0))
        })
}

fn hostile_names() -> Bars {
    Bars::new("Names from the wild", "Names that try to break the page do not.")
        .bar(Bar::new("</script><script>alert(1)</script>", 9.0))
        .bar(Bar::new("photo\u{202e}gpj.exe", 8.0).whisker(6.0, 9.0))
        .bar(Bar::new("tab\tand\nline", 7.0))
        .bar(Bar::new("漢字かな交じり文の長い名前はここで切れます", 6.0))
        .bar(Bar::new("مرحبا بالعالم", 5.0))
        .bar(Bar::new("👩‍👩‍👧‍👦🇵🇹 family", 4.0))
        .bar(Bar::new("W".repeat(1 << 20), 3.0))
        .bar(Bar::new("", 2.0).note("no name"))
}

fn differences() -> Bars {
    Bars::new("Change", "Two shares rose, one fell.")
        .percent()
        .bar(Bar::new("up", 0.125).whisker(0.1, 0.15))
        .bar(Bar::new("down", -0.08).whisker(-0.1, -0.05))
        .bar(Bar::new("hardly", 0.004))
}

fn kinds() -> Strip {
    Strip::new("What the rows hold", "Nearly all rows hold an integer; a few are empty.")
        .part("integer", 9_120.0)
        .part("float", 640.0)
        .part("text", 3.0)
        .missing("empty", 237.0)
}

/// Names, lengths in km and basins in km² of rivers of the Iberian Peninsula.
const RIVERS: [(&str, f64, Option<f64>); 12] = [
    ("Tejo", 1_007.0, Some(80_100.0)),
    ("Ebro", 930.0, Some(85_362.0)),
    ("Douro", 897.0, Some(97_290.0)),
    ("Guadiana", 818.0, Some(67_733.0)),
    ("Guadalquivir", 657.0, Some(57_071.0)),
    ("Júcar", 498.0, Some(21_578.0)),
    ("Segura", 325.0, Some(18_870.0)),
    ("Minho", 340.0, Some(17_080.0)),
    ("Mondego", 258.0, Some(6_645.0)),
    ("Zêzere", 214.0, None),
    ("Côa", 130.0, Some(2_521.0)),
    ("Rio <b>10</b>", 10.0, None),
];

fn rivers() -> Markup {
    let table = Table::new("Rivers")
        .column(Column::text("name"))
        .column(Column::number("length"))
        .column(Column::number("basin"))
        .searchable("Find a river");
    RIVERS
        .into_iter()
        .fold(table, |table, (name, length, basin)| {
            let length = Cell::markup(html! { (number::grouped(length)) " km" }).value(length);
            table.row([Cell::text(name), length, basin.map_or_else(Cell::empty, Cell::number)])
        })
        .markup()
}
