//! The report as a page with pictures.
//!
//! The page has an overview of all columns that can be sorted and searched, and a card for each. It
//! is a view of the report and has no other data. Every number on it has the name of its field
//! (`data-field`) and the full value (`data-value`), so that tests can compare it with `--json`.
//! Only data that a picture shows better than a table are drawn.

mod card;
mod relations;
pub(in crate::cmd) mod show;

use crivo_page::{Cell, Column, Page, Table, meter, number, text};
use maud::{Markup, html};

use super::report::{ColumnReport, Join, ProfileReport, TableReport};
use crate::output;

/// The most columns that have a card with plots, because a page with more takes long to open. All
/// columns are in the overview.
const MOST_CARDS: usize = 300;

/// Returns the page.
pub(crate) fn page(report: &ProfileReport) -> String {
    let title = match report.tables.as_slice() {
        [table] => table.name.clone(),
        tables => format!("{} tables", tables.len()),
    };
    Page::new(title)
        .lead(lead(&report.tables))
        .style(include_str!("profile.css"))
        .body(html! {
            @if !report.joins.is_empty() || report.undecided > 0 { (joins(report)) }
            @for (index, table) in report.tables.iter().enumerate() {
                section data-table=(index) { (section(table, index, report.tables.len() > 1)) }
            }
        })
        .foot(html! {
            p {
                "Made in one pass by " code { "crivo profile" } ". Whiskers and ± are the bounds between which the truth "
                "lies; " code { "crivo profile --json" } " gives the same numbers, and how sure each bound is."
            }
        })
        .to_html()
}

/// Returns the number of bytes read.
fn lead(tables: &[TableReport]) -> String {
    let sum = |of: fn(&TableReport) -> u64| tables.iter().map(of).sum::<u64>();
    let bad = sum(|table| table.bad);
    let bad = if bad > 0 { format!(", {} bad records left out", number::whole(bad)) } else { String::new() };
    format!("{} read in one pass{bad}.", output::bytes(sum(|table| table.bytes) as usize))
}

fn section(table: &TableReport, index: usize, named: bool) -> Markup {
    let id = |column: usize| format!("t{index}-c{column}");
    html! {
        @if named { h2 { bdi { (text::visible(&table.name)) } } }
        @if table.columns.is_empty() {
            p.card { "There is no column to look at: the input is empty." }
        } @else {
            (tiles(table, id))
            (overview(table, id))
            (relations::section(table))
            div.columns {
                @for (number, column) in table.columns.iter().enumerate().take(MOST_CARDS) {
                    (card::card(column, number, &id(number), table.rows))
                }
            }
            @if table.columns.len() > MOST_CARDS {
                p.card {
                    "The first " (MOST_CARDS) " columns have a card. The others are in the list above; "
                    code { "crivo profile -f NAME" } " shows one of them, and " code { "--json" } " has all."
                }
            }
        }
    }
}

/// Shows the main numbers of the table.
fn tiles(table: &TableReport, id: impl Fn(usize) -> String) -> Markup {
    let cells = table.rows.saturating_mul(table.columns.len() as u64);
    let empty: u64 = table.columns.iter().map(|column| column.empty).sum();
    let keys = table.columns.iter().filter(|column| column.key).count();
    let changed = table.columns.iter().filter(|column| !column.changes.is_empty()).count();
    html! {
        ul.tiles {
            (tile("rows", &show::count("rows", table.rows)))
            (tile("columns", &html! { (number::whole(table.columns.len() as u64)) }))
            (tile("of all cells are empty", &html! { (number::percent(show::share(empty, cells))) }))
            (tile(if keys == 1 { "could be a key" } else { "could be keys" }, &html! { (keys) }))
            @if changed > 0 {
                @let first = table.columns.iter().position(|column| !column.changes.is_empty()).unwrap_or(0);
                (tile(if changed == 1 { "changes its type" } else { "change their type" }, &html! {
                    @if first < MOST_CARDS { a href={ "#" (id(first)) } { (changed) } } @else { (changed) }
                }))
            }
        }
    }
}

fn tile(what: &str, value: &Markup) -> Markup {
    html! { li { strong { (value) } " " (what) } }
}

/// Shows one row for each column.
fn overview(table: &TableReport, id: impl Fn(usize) -> String) -> Markup {
    let view = Table::new(format!("Columns of {}", text::shorten(&table.name, 80)))
        .column(Column::text("column"))
        .column(Column::text("type"))
        .column(Column::number("empty"))
        .column(Column::number("distinct"))
        .column(Column::text("key"))
        .column(Column::number("min"))
        .column(Column::number("max"))
        .column(Column::number("mean"))
        .searchable("Find a column");
    let row = |view: Table, (number, column): (usize, &ColumnReport)| {
        let id = id(number);
        let has_card = number < MOST_CARDS;
        let cells = cells(column, has_card.then_some(&*id), table.rows);
        if has_card { view.row_about(id, cells) } else { view.row(cells) }
    };
    table.columns.iter().enumerate().fold(view, row).markup()
}

fn cells(column: &ColumnReport, card: Option<&str>, rows: u64) -> [Cell; 8] {
    let empty = show::share(column.empty, rows);
    [
        Cell::markup(html! {
            @match card {
                Some(id) => a href={ "#" (id) } { (show::name(&column.name)) },
                None => (show::name(&column.name)),
            }
        }),
        Cell::markup(html! {
            span.type { (column.kind) }
            @if let Some(change) = column.changes.last() {
                @let row = number::whole(change.row);
                @match card {
                    Some(id) => a.changed href={ "#" (id) } { "changes in row " (row) },
                    None => span.changed { "changes in row " (row) },
                }
            }
        }),
        Cell::markup(html! { span.share { (meter(empty)) span { (number::percent(empty)) } } })
            .value(column.empty as f64),
        Cell::markup(show::interval("distinct", &column.distinct)).value(column.distinct.value),
        match (column.key, column.is_certain_key()) {
            (true, true) => Cell::markup(html! { span.yes { "yes" } }),
            (true, false) => Cell::markup(html! { span.yes { "could be" } }),
            _ => Cell::markup(html! {}),
        },
        show::scalar_cell("min", column.min.as_ref()),
        show::scalar_cell("max", column.max.as_ref()),
        column.mean.map_or_else(Cell::empty, |mean| Cell::markup(show::number("mean", mean)).value(mean)),
    ]
}

/// Shows the columns of different tables that have values in common.
fn joins(report: &ProfileReport) -> Markup {
    let view = Table::new("Columns that could join")
        .column(Column::text("column"))
        .column(Column::text("other column"))
        .column(Column::number("common values"))
        .column(Column::number("of the first in the second"))
        .column(Column::number("of the second in the first"));
    let row = |view: Table, join: &Join| {
        let column = |name: &super::report::ColumnName| {
            Cell::markup(html! { (show::name(&name.column)) br; span.muted { (show::name(&name.file)) } })
        };
        let share = |field, interval: &output::Interval| {
            Cell::markup(
                html! { span.share { (meter(interval.value)) (show::share_interval(field, interval)) } },
            )
            .value(interval.value)
        };
        view.row([
            column(&join.left),
            column(&join.right),
            Cell::markup(show::interval("common", &join.common)).value(join.common.value),
            share("left_in_right", &join.left_in_right),
            share("right_in_left", &join.right_in_left),
        ])
    };
    html! {
        section.joins {
            h2 { "Columns that could join" }
            @if !report.joins.is_empty() { (report.joins.iter().fold(view, row).markup()) }
            @if report.undecided > 0 {
                p.muted {
                    (show::count("undecided", report.undecided)) " "
                    (if report.undecided == 1 { "pair" } else { "pairs" })
                    " of columns could join or not: too few of their values were compared to tell."
                }
            }
        }
    }
}
