//! Rows that a reader sorts and searches.
//!
//! Headings hold buttons, because a button is reached by keyboard and announced as one; a column
//! says in which order it stands by `aria-sort`. Numbers sort by `data-value`, which holds them in
//! full however they are written. The script is the page's own; without it the table is a table.

use maud::{Markup, html};

use crate::{number, text};

/// Wider texts in a cell are cut; the whole is told when they are pointed at.
const WIDEST_TEXT: usize = 48;
/// What is told when a cell is pointed at.
const WIDEST_HINT: usize = 400;

/// A table with buttons to sort it and, if asked for, a field to search it.
///
/// ```
/// use crivo_page::{Cell, Column, Table};
///
/// let table = Table::new("Rivers")
///     .column(Column::text("name"))
///     .column(Column::number("length in km"))
///     .searchable("Find a river")
///     .row([Cell::text("Douro"), Cell::number(897.0)])
///     .row([Cell::text("Tejo"), Cell::number(1_007.0)]);
/// assert!(table.markup().into_string().contains("data-value=\"1007\""));
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    caption: String,
    search: Option<String>,
    columns: Vec<Column>,
    rows: Vec<Row>,
}

/// A column: its heading, and whether it holds numbers.
#[derive(Debug, Clone)]
pub struct Column {
    heading: String,
    numbers: bool,
}

/// A cell: what is shown, and the number by which it sorts.
#[derive(Debug, Clone)]
pub struct Cell {
    shown: Markup,
    value: Option<f64>,
}

#[derive(Debug, Clone)]
struct Row {
    about: Option<String>,
    cells: Vec<Cell>,
}

impl Column {
    /// Sorts by text, as people sort: `a2` before `a10`.
    pub fn text(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), numbers: false }
    }

    /// Sorts by number; cells without one come last.
    pub fn number(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), numbers: true }
    }
}

impl Cell {
    /// Text from anywhere.
    pub fn text(content: &str) -> Self {
        let shown = text::shorten(content, WIDEST_TEXT);
        let hint = (shown != content).then(|| text::shorten(content, WIDEST_HINT));
        Self { shown: html! { bdi title=[hint] { (shown) } }, value: None }
    }

    /// A number, written in groups of three digits.
    pub fn number(value: f64) -> Self {
        Self::markup(html! { (number::grouped(value)) }).value(value)
    }

    /// Anything.
    pub fn markup(shown: Markup) -> Self {
        Self { shown, value: None }
    }

    /// Nothing: comes last, however the table is sorted.
    pub fn empty() -> Self {
        Self::markup(html! { span.muted aria-hidden="true" { "–" } })
    }

    /// The number by which the cell sorts.
    #[must_use]
    pub fn value(mut self, value: f64) -> Self {
        self.value = Some(value);
        self
    }
}

impl Table {
    /// A table without columns; the caption says what its rows are.
    pub fn new(caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), search: None, columns: Vec::new(), rows: Vec::new() }
    }

    /// One more column, to the right.
    #[must_use]
    pub fn column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// A field above the table that leaves the rows that hold what is typed into it.
    #[must_use]
    pub fn searchable(mut self, label: impl Into<String>) -> Self {
        self.search = Some(label.into());
        self
    }

    /// One more row. Its first cell names it; cells beyond the columns are left out.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(Row { about: None, cells: cells.into_iter().collect() });
        self
    }

    /// A row about something elsewhere on the page, by its `id`: searching hides both or none.
    #[must_use]
    pub fn row_about(mut self, id: impl Into<String>, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(Row { about: Some(id.into()), cells: cells.into_iter().collect() });
        self
    }

    /// The table, its field and the line that says what was found.
    pub fn markup(&self) -> Markup {
        let caption = text::visible(&self.caption);
        html! {
            div.table {
                @if let Some(label) = &self.search {
                    // Shown by the script, without which it would do nothing.
                    div.search hidden {
                        label { (text::visible(label)) " " input type="search" autocomplete="off" spellcheck="false"; }
                    }
                }
                p.found.muted role="status" {}
                div.scroll role="region" aria-label=(caption) tabindex="0" {
                    table {
                        caption.unseen { (caption) }
                        thead { tr { @for column in &self.columns { (heading(column)) } } }
                        tbody { @for row in &self.rows { (self.draw_row(row)) } }
                    }
                }
            }
        }
    }

    fn draw_row(&self, row: &Row) -> Markup {
        let cells = self.columns.iter().zip(&row.cells).enumerate();
        html! {
            tr data-about=[row.about.as_deref().map(text::visible)] {
                @for (index, (column, cell)) in cells {
                    @let value = cell.value.map(number::exact);
                    @if index == 0 {
                        th scope="row" data-value=[value] { (cell.shown) }
                    } @else {
                        td.number[column.numbers] data-value=[value] { (cell.shown) }
                    }
                }
            }
        }
    }
}

fn heading(column: &Column) -> Markup {
    html! {
        th.number[column.numbers] scope="col" aria-sort="none" {
            button type="button" { (text::shorten(&column.heading, 40)) span.arrow aria-hidden="true" {} }
        }
    }
}
