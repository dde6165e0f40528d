//! The page of the changes, with both tables side by side.

use crivo::profile::drift::{ChangeValue, ColumnDrift, TableDrift};
use crivo::profile::{TableColumn, TableProfile};
use crivo_page::{Axis, Bar, Bars, Cell, Column, Page, Plot, Series, Table, number, text};
use maud::{Markup, html};

use super::{Before, about};

/// The number of columns with pictures; all columns are in the list.
const MOST_CARDS: usize = 100;
/// The number of points of a distribution; more would look the same.
const POINTS: usize = 100;
/// The number of frequent values that are drawn.
const FREQUENT: usize = 10;

/// Returns the page.
pub(super) fn page(drift: &TableDrift, before: &Before, (after, name): (&TableProfile, &str)) -> String {
    let changed: Vec<&ColumnDrift> =
        drift.columns.iter().filter(|column| !column.changes.is_empty()).collect();
    let verdict =
        if drift.has_drifted() { "Something changed" } else { "Nothing changed by more than chance" };
    let lead = format!(
        "{verdict}: {} rows of {} against {} rows of {}.",
        number::whole(after.rows()),
        text::shorten(name, 60),
        number::whole(before.profile.rows()),
        text::shorten(&before.name, 60),
    );
    Page::new(format!("{} against {}", text::shorten(name, 60), text::shorten(&before.name, 60)))
        .lead(lead)
        .style(include_str!("../page/profile.css"))
        .body(html! {
            @for (what, names) in [("Added columns", &drift.added), ("Removed columns", &drift.removed)] {
                @if !names.is_empty() {
                    p.card {
                        (what) ": "
                        @for (at, name) in names.iter().enumerate() {
                            @if at > 0 { ", " }
                            bdi { (text::shorten_middle(name, 40)) }
                        }
                    }
                }
            }
            @if !changed.is_empty() { (overview(&changed)) }
            div.columns {
                @for (at, column) in changed.iter().enumerate().take(MOST_CARDS) {
                    (card(column, at, &before.profile, after))
                }
            }
        })
        .foot(html! {
            p {
                "Made by " code { "crivo profile --against" } ". " (drift.checks) " checks share a chance of 1 % that any "
                "of them reports a change though both tables come from the same source."
            }
        })
        .to_html()
}

fn shown(value: &ChangeValue) -> String {
    match value {
        ChangeValue::Number(value) => number::grouped(*value),
        ChangeValue::Share(share) => number::percent(*share),
        ChangeValue::Text(text) => text.clone(),
    }
}

fn overview(changed: &[&ColumnDrift]) -> Markup {
    let view = Table::new("Changes")
        .column(Column::text("column"))
        .column(Column::text("what"))
        .column(Column::text("before"))
        .column(Column::text("after"))
        .column(Column::number("effect"))
        .searchable("Find a column");
    let mut rows = view;
    for (at, column) in changed.iter().enumerate() {
        for change in &column.changes {
            let name = text::shorten_middle(&column.name, 40);
            let linked = html! {
                @if at < MOST_CARDS { a href={ "#c" (at) } { bdi { (name) } } } @else { bdi { (name) } }
            };
            rows = rows.row([
                Cell::markup(linked),
                Cell::text(&about(change)),
                Cell::text(&shown(&change.before)),
                Cell::text(&shown(&change.after)),
                Cell::markup(html! { (number::short(change.effect)) }).value(change.effect),
            ]);
        }
    }
    rows.markup()
}

fn card(drift: &ColumnDrift, at: usize, before: &TableProfile, after: &TableProfile) -> Markup {
    let find =
        |table: &TableProfile| table.columns().iter().find(|column| column.name() == drift.name).cloned();
    let (Some(old), Some(new)) = (find(before), find(after)) else { return html! {} };
    let id = format!("c{at}");
    html! {
        article.card.column id=(id) aria-labelledby={ (id) "-name" } tabindex="-1" {
            header { h3 id={ (id) "-name" } { bdi { (text::shorten(&drift.name, 400)) } } }
            ul { @for change in &drift.changes {
                li { (about(change)) ": " (shown(&change.before)) " → " (shown(&change.after)) }
            } }
            div.pictures {
                @if !old.ranks().is_empty() && !new.ranks().is_empty() { (distributions(&old, &new)) }
                (frequent("Most frequent before", &old))
                (frequent("Most frequent after", &new))
            }
        }
    }
}

/// Shows both distribution functions in one picture.
fn distributions(old: &TableColumn, new: &TableColumn) -> Markup {
    let curve = |column: &TableColumn| {
        let ranks = column.ranks();
        let shares = (0..=POINTS).map(|point| point as f64 / POINTS as f64);
        let at = |share: f64| Some((share, ranks.quantile(share)?.value()));
        shares.filter_map(at).collect::<Vec<_>>()
    };
    let plot = Plot::new(
        "Numbers from least to greatest",
        "The numbers of both tables, by the share of rows below them.",
    )
    .x(Axis::linear("share of rows").percent().range(0.0, 1.0))
    .y(Axis::linear("value"))
    .series(Series::line("before", curve(old)))
    .series(Series::line("after", curve(new)));
    html! { div data-picture="distributions" { (plot.figure()) } }
}

fn frequent(title: &str, column: &TableColumn) -> Markup {
    let profile = &column.data().profile;
    let top: Vec<_> = profile.top(FREQUENT).into_iter().filter(|hitter| hitter.lower() > 1).collect();
    let Some(values) = Some(profile.values() as f64).filter(|values| *values > 0.0 && !top.is_empty()) else {
        return html! {};
    };
    let bars = top.iter().fold(Bars::new(title, "Shares of all values."), |bars, hitter| {
        let share = |count: u64| count as f64 / values;
        let bar = Bar::new(hitter.key().to_string(), share(hitter.count()));
        bars.bar(bar.whisker(share(hitter.lower()), share(hitter.upper())))
    });
    html! { div data-picture="top" { (bars.percent().figure()) } }
}
