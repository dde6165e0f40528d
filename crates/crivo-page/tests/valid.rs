//! Any text and any number give a valid page: nothing panics, no text escapes its element, and all
//! numeric attributes are numbers.

mod support;

use crivo_page::{Axis, Bar, Bars, Cell, Column, Page, Plot, Series, Strip, Table, meter, text};
use maud::{Markup, html};
use proptest::collection::vec;
use proptest::prelude::*;

use support::{check_html, check_picture};

/// Generates text that tries to break out of its element.
fn any_text() -> impl Strategy<Value = String> {
    let hostile = prop::sample::select(vec![
        "</script><script>alert(1)</script>",
        "</style><img src=x onerror=alert(1)>",
        "\"><svg onload=alert(1)>",
        "' onmouseover='alert(1)",
        "<!--",
        "-->",
        "]]>",
        "&amp;&#0;&lt;",
        "\0\u{1}\u{8}\u{b}\u{1f}\u{7f}\u{80}\u{9f}",
        "\u{202e}\u{2066}\u{200f}\u{feff}\u{fffe}\u{ffff}\u{10ffff}",
        "e\u{301}\u{301}\u{301} 👩‍👩‍👧‍👦 🇵🇹 漢字 مرحبا",
        "",
    ]);
    prop_oneof![hostile.prop_map(String::from), any::<String>()]
}

/// Generates any number, and more often those that are hard to place.
fn any_number() -> impl Strategy<Value = f64> {
    let hard = prop::sample::select(vec![
        0.0,
        -0.0,
        1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        f64::EPSILON,
        1e300,
        1e-300,
        1e15 + 0.5,
    ]);
    prop_oneof![hard, proptest::num::f64::ANY, -1e3..1e3]
}

fn any_pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    vec((any_number(), any_number()), 0..20)
}

fn any_axis() -> impl Strategy<Value = Axis> {
    let range = prop::option::of((any_number(), any_number()));
    (any_text(), any::<bool>(), any::<bool>(), range).prop_map(|(label, log, percent, range)| {
        let axis = if log { Axis::log(label) } else { Axis::linear(label) };
        let axis = if percent { axis.percent() } else { axis };
        range.map_or(axis.clone(), |(one, other)| axis.range(one, other))
    })
}

fn any_series() -> impl Strategy<Value = Series> {
    (any_text(), 0..4, any_pairs(), any_pairs()).prop_map(|(name, shape, points, others)| match shape {
        0 => Series::line(name, points),
        1 => Series::dots(name, points).whiskers(others),
        2 => Series::steps(name, points),
        _ => Series::band(name, points, others),
    })
}

prop_compose! {
    fn any_plot()(
        (title, description) in (any_text(), any_text()),
        (x, y) in (any_axis(), any_axis()),
        series in vec(any_series(), 0..8),
        size in prop::option::of(any::<(u16, u16)>()),
    ) -> (String, Plot) {
        let plot = Plot::new(title.clone(), description).x(x).y(y);
        let plot = series.into_iter().fold(plot, Plot::series);
        (title, size.map_or(plot.clone(), |(width, height)| plot.size(width, height)))
    }
}

prop_compose! {
    fn any_bars()(
        (title, description) in (any_text(), any_text()),
        bars in vec((any_text(), any_number(), prop::option::of((any_number(), any_number())), any_text()), 0..10),
        percent in any::<bool>(),
        most in prop::option::of(any_number()),
    ) -> (String, Bars) {
        let mut picture = Bars::new(title.clone(), description);
        for (label, value, bounds, note) in bars {
            let bar = Bar::new(label, value).note(note);
            picture = picture.bar(bounds.map_or(bar.clone(), |(low, high)| bar.whisker(low, high)));
        }
        let picture = if percent { picture.percent() } else { picture };
        (title, most.map_or(picture.clone(), |most| picture.out_of(most)))
    }
}

fn any_table() -> impl Strategy<Value = Markup> {
    let rows = vec((any_text(), any_number(), prop::option::of(any_text())), 0..6);
    (any_text(), any_text(), rows).prop_map(|(caption, heading, rows)| {
        let table =
            Table::new(caption.clone()).column(Column::text(heading.clone())).column(Column::number(heading));
        rows.into_iter()
            .fold(table.searchable(caption), |table, (name, value, about)| {
                let cells = [Cell::text(&name), Cell::number(value), Cell::empty()];
                match about {
                    Some(id) => table.row_about(id, cells),
                    None => table.row(cells),
                }
            })
            .markup()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plots_are_valid_pictures_of_any_points((title, plot) in any_plot()) {
        check_picture(&plot.to_svg_file(), &title)?;
    }

    #[test]
    fn bars_are_valid_pictures_of_any_amounts((title, bars) in any_bars()) {
        check_picture(&bars.to_svg_file(), &title)?;
    }

    #[test]
    fn strips_are_valid_pictures_of_any_parts(
        title in any_text(),
        parts in vec((any_text(), any_number(), any::<bool>()), 0..9),
    ) {
        let strip = parts.into_iter().fold(Strip::new(title.clone(), ""), |strip, (label, amount, missing)| {
            if missing { strip.missing(label, amount) } else { strip.part(label, amount) }
        });
        check_picture(&strip.to_svg_file(), &title)?;
    }

    #[test]
    fn pages_hold_any_text_and_run_none_of_it(
        (title, lead) in (any_text(), any_text()),
        (_, plot) in any_plot(),
        (_, bars) in any_bars(),
        (table, share) in (any_table(), any_number()),
        (style, script) in (any_text(), any_text()),
    ) {
        let page = Page::new(title)
            .lead(lead)
            .style(&style)
            .script(&script)
            .body(html! { (plot.figure()) (bars.figure()) (meter(share)) (table) });
        check_html(&page.to_html())?;
    }

    #[test]
    fn cut_text_is_no_wider_than_asked_and_the_beginning_of_what_is_visible(content in any_text(), columns in 0_usize..40) {
        let cut = text::shorten(&content, columns);
        let whole = text::visible(&content);
        let beginning = cut.strip_suffix('…').unwrap_or(&cut);
        prop_assert!(whole.starts_with(beginning));
        prop_assert!(cut == whole || cut.ends_with('…'));
        let wide: usize = unicode_segmentation::UnicodeSegmentation::graphemes(cut.as_str(), true)
            .map(|one| unicode_width::UnicodeWidthStr::width(one).clamp(1, 2))
            .sum();
        prop_assert!(wide <= columns.max(1), "{wide} columns for {columns}: {cut:?}");
    }
}

#[test]
fn a_short_name_of_wide_letters_has_room() {
    let picture = Bars::new("Short", "Short.").bar(Bar::new("spam", 1.0)).to_svg_file();
    let (_, name) = picture.split_once("<svg x=\"0\"").unwrap();
    let width: f64 = name.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    // In the widest of the common fonts the text takes 33.
    assert!((34.0..50.0).contains(&width), "{width}");
}

#[test]
fn a_megabyte_in_every_text_gives_a_small_page() {
    let long = "<&\u{202e}漢".repeat(200_000);
    let bars = Bars::new("Long", "Long.").bar(Bar::new(long.clone(), 1.0).whisker(0.5, 2.0));
    let plot = Plot::new("Long", "Long.")
        .x(Axis::linear(long.clone()))
        .y(Axis::linear(long.clone()))
        .series(Series::dots(long.clone(), [(1.0, 1.0)]))
        .series(Series::line(long.clone(), [(1.0, 1.0)]));
    let table = Table::new("Long").column(Column::text(long.clone())).row([Cell::text(&long)]);
    let html = Page::new("Long").body(html! { (bars.figure()) (plot.figure()) (table.markup()) }).to_html();
    assert!(html.len() < 40_000, "{} bytes", html.len());
    check_html(&html).unwrap();
}

#[test]
fn many_points_give_a_small_picture() {
    let points = || (0..300_000).map(|i| (f64::from(i), f64::from(i % 1000)));
    let plot =
        Plot::new("Many", "Many.").series(Series::line("", points())).series(Series::steps("", points()));
    let svg = plot.to_svg_file();
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    check_picture(&svg, "Many").unwrap();
}
