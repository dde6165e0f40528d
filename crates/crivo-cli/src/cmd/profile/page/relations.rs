//! Shows the columns of a table that depend on each other.

use crivo_page::{Cell, Column, Table, number, text};
use maud::{Markup, html};

use super::super::report::{CorrelationReport, DependencyReport, TableReport};
use super::show;
use crate::output::Interval;

/// The most pairs that are listed.
const MOST: usize = 30;

/// Shows dependencies and correlations, or nothing if there are none.
pub(super) fn section(table: &TableReport) -> Markup {
    let left_out = table.not_compared.numbers + table.not_compared.few_values;
    html! {
        @if !table.dependencies.is_empty() || !table.correlations.is_empty() {
            details.card.relations open[table.dependencies.len() + table.correlations.len() <= 12] {
                summary { "Columns that go together" }
                @if !table.dependencies.is_empty() { (dependencies(table)) }
                @if !table.correlations.is_empty() { (correlations(table)) }
                @if left_out > 0 {
                    p.muted { (number::whole(left_out as u64)) " more columns were not compared with others." }
                }
            }
        }
    }
}

fn dependencies(table: &TableReport) -> Markup {
    let view = Table::new(format!("Columns of {} that decide others", text::shorten(&table.name, 80)))
        .column(Column::text("column"))
        .column(Column::text("decides"))
        .column(Column::number("in this share of rows"))
        .column(Column::number("rows compared"));
    let row = |view: Table, one: &DependencyReport| {
        view.row([
            Cell::markup(show::name(&one.from)),
            Cell::markup(show::name(&one.to)),
            Cell::markup(show::share_interval("share", &one.share)).value(one.share.value),
            Cell::markup(show::count("rows", one.rows as u64)).value(one.rows as f64),
        ])
    };
    table.dependencies.iter().take(MOST).fold(view, row).markup()
}

fn correlations(table: &TableReport) -> Markup {
    let view =
        Table::new(format!("Columns of {} that rise and fall together", text::shorten(&table.name, 80)))
            .column(Column::text("column"))
            .column(Column::text("other column"))
            .column(Column::number("rank correlation"))
            .column(Column::number("Pearson's correlation"))
            .column(Column::number("rows compared"));
    let row = |view: Table, one: &CorrelationReport| {
        let pearson = match &one.pearson {
            Some(found) => Cell::markup(coefficient("pearson", found)).value(found.value),
            None => Cell::markup(html! { span.muted { "not known" } }),
        };
        view.row([
            Cell::markup(show::name(&one.left)),
            Cell::markup(show::name(&one.right)),
            Cell::markup(coefficient("rank_correlation", &one.rank_correlation))
                .value(one.rank_correlation.value),
            pearson,
            Cell::markup(show::count("rows", one.rows as u64)).value(one.rows as f64),
        ])
    };
    table.correlations.iter().take(MOST).fold(view, row).markup()
}

/// Shows a correlation with its bounds, unless it is exact.
fn coefficient(field: &str, found: &Interval) -> Markup {
    html! {
        span data-field=(field) data-value=(number::exact(found.value)) data-lower=(number::exact(found.lower))
            data-upper=(number::exact(found.upper)) {
            (format!("{:.3}", found.value))
            @if found.lower != found.upper {
                " " span.muted { (format!("({:.2} to {:.2})", found.lower, found.upper)) }
            }
        }
    }
}
