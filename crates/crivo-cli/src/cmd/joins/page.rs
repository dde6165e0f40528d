//! The joins as a page: a graph of tables, and a searchable list of pairs.
//!
//! Tables are the nodes. Choosing one, by mouse or keyboard, writes its name into the search field.
//! The list below then shows its pairs, and the graph its neighbours.

use std::collections::BTreeMap;

use crivo_page::{Cell, Column, Graph, Page, Table, meter, number, text};
use maud::{Markup, html};

use super::answer::{Answer, ColumnName};
use crate::cmd::profile::page::show;
use crate::output::Interval;

/// The most pairs in the list, because a longer list takes long to open.
const MOST_PAIRS: usize = 2_000;
/// The most tables in the graph, because a larger graph is not readable.
const MOST_TABLES: usize = 200;

/// Returns the page.
pub(super) fn page(answer: &Answer<'_>) -> String {
    let found = answer.found;
    let lead = format!(
        "{} pairs of columns could join, in {} tables with {} columns.",
        number::whole(found.found),
        number::whole(answer.search.tables()),
        number::whole(answer.search.columns()),
    );
    Page::new("Columns that could join")
        .lead(lead)
        .style(include_str!("../profile/page/profile.css"))
        .style(Graph::STYLE)
        .style("td .share { flex-wrap: wrap; justify-content: end; max-width: 13rem; gap: 0 .5rem; }\n")
        .script(Graph::SCRIPT)
        .body(html! {
            @for (table, error) in &answer.read.unreadable {
                p.notice { bdi { (text::shorten_middle(table, 80)) } " was not read: " (text::shorten(error, 200)) }
            }
            @if answer.is_empty() {
                p.card { "No two columns hold enough of each other's values." }
            } @else {
                (graph(answer))
                (list(answer))
            }
            @if found.undecided > 0 { (undecided(answer)) }
        })
        .foot(html! {
            p {
                "Made by " code { "crivo joins" } ". Shares are of different values, with bounds at 95 %; "
                code { "crivo joins --json" } " has the same numbers."
            }
        })
        .to_html()
}

/// Returns the graph of the tables with most joins. A line connects tables that could join.
fn graph(answer: &Answer<'_>) -> Markup {
    let mut lines: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut degrees: BTreeMap<u32, u32> = BTreeMap::new();
    for pair in &answer.found.joins {
        *lines.entry((pair.left.table, pair.right.table)).or_default() += 1;
    }
    for &(left, right) in lines.keys() {
        *degrees.entry(left).or_default() += 1;
        *degrees.entry(right).or_default() += 1;
    }
    let mut tables: Vec<(u32, u32)> = degrees.into_iter().collect();
    let all = tables.len();
    tables.sort_by_key(|&(table, degree)| (std::cmp::Reverse(degree), table));
    tables.truncate(MOST_TABLES);
    let places: BTreeMap<u32, usize> =
        tables.iter().enumerate().map(|(place, (table, _))| (*table, place)).collect();
    let mut graph = Graph::new("Tables and their joins", "A line stands for columns that could join.");
    for (table, _) in &tables {
        let name = answer.read.names.get(*table as usize).map_or("", String::as_str);
        graph = graph.node(short(name), name);
    }
    for ((left, right), pairs) in lines {
        if let (Some(left), Some(right)) = (places.get(&left), places.get(&right)) {
            graph = graph.line(*left, *right, pairs);
        }
    }
    html! {
        (graph.figure())
        @if all > MOST_TABLES {
            p.muted { "The " (MOST_TABLES) " tables with most neighbours of " (number::whole(all as u64)) "." }
        }
    }
}

/// Returns the last part of a path.
fn short(name: &str) -> &str {
    name.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or(name)
}

fn list(answer: &Answer<'_>) -> Markup {
    let view = Table::new("Pairs of columns")
        .column(Column::text("column"))
        .column(Column::text("other column"))
        .column(Column::text("key"))
        .column(Column::number("first in second"))
        .column(Column::number("second in first"))
        .column(Column::number("common values"))
        .searchable("Find a table or column");
    let row = |view: Table, pair| {
        let join = answer.join(pair);
        view.row([
            side(join.left),
            side(join.right),
            Cell::markup(html! { @if let Some(key) = join.key { span.yes { (which(key)) } } }),
            share("left_in_right", &join.left_in_right),
            share("right_in_left", &join.right_in_left),
            Cell::markup(show::interval("common", &join.common)).value(join.common.value),
        ])
    };
    html! {
        (answer.found.joins.iter().take(MOST_PAIRS).fold(view, row).markup())
        @if answer.found.found > MOST_PAIRS as u64 {
            p.muted {
                "The first " (number::whole(MOST_PAIRS as u64)) " of " (number::whole(answer.found.found)) " pairs; "
                code { "--output tsv" } " lists all."
            }
        }
    }
}

fn which(key: &str) -> &str {
    match key {
        "left" => "first",
        "right" => "second",
        both => both,
    }
}

fn side(name: ColumnName<'_>) -> Cell {
    Cell::markup(html! { (show::name(name.column)) br; span.muted { (show::name(name.table)) } })
}

fn share(field: &str, share: &Interval) -> Cell {
    let shown = html! { span.share { (meter(share.value)) (show::share_interval(field, share)) } };
    Cell::markup(shown).value(share.value)
}

fn undecided(answer: &Answer<'_>) -> Markup {
    let view = Table::new("The first undecided pairs")
        .column(Column::text("column"))
        .column(Column::text("other column"))
        .searchable("Find a table or column");
    let row = |view: Table, pair| {
        let join = answer.join(pair);
        view.row([side(join.left), side(join.right)])
    };
    html! {
        h2 { "Undecided" }
        p {
            (show::count("undecided", answer.found.undecided))
            " pairs of columns could join or not: too few of their values were compared to tell. "
            code { "--hashes" } " with a larger number decides more."
        }
        (answer.found.undecided_pairs.iter().take(200).fold(view, row).markup())
    }
}
