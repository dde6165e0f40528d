//! Tables with a header and very many rows. They are printed row by row, in columns whose widths
//! are known beforehand.

use std::fmt::Write as _;

use anyhow::Result;

use super::{FAINT, Output, harmless};

/// The number of bytes that are printed at once.
const PIECE: usize = 1 << 16;

/// A table that is printed row by row. Every row is measured before the first is printed, so that
/// all cells fit in their columns.
#[derive(Debug)]
pub(crate) struct Grid {
    header: Vec<String>,
    /// The number of leading columns that are text. The others are numbers.
    texts: usize,
    widths: Vec<usize>,
    text: String,
}

impl Grid {
    pub(crate) fn new(header: Vec<String>, texts: usize) -> Self {
        let widths = header.iter().map(|name| name.chars().count()).collect();
        Self { header, texts, widths, text: String::new() }
    }

    /// Widens the columns so that a row fits.
    pub(crate) fn measure(&mut self, row: &[String]) {
        for (width, cell) in self.widths.iter_mut().zip(row) {
            *width = harmless(cell).chars().count().max(*width);
        }
    }

    /// Prints the header.
    pub(crate) fn begin(&mut self) -> Result<()> {
        let header = std::mem::take(&mut self.header);
        write!(self.text, "{FAINT}")?;
        self.add(&header)?;
        self.text.pop();
        writeln!(self.text, "{FAINT:#}")?;
        Ok(())
    }

    /// Prints a row, at once or together with the next ones.
    pub(crate) fn row(&mut self, row: &[String], out: &Output) -> Result<()> {
        self.add(row)?;
        if self.text.len() > PIECE {
            self.end(out)?;
        }
        Ok(())
    }

    /// Prints the buffered rows.
    pub(crate) fn end(&mut self, out: &Output) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        out.styled(&text)
    }

    fn add(&mut self, row: &[String]) -> Result<()> {
        let last = row.len().saturating_sub(1);
        for (column, (cell, width)) in row.iter().zip(&self.widths).enumerate() {
            let cell = harmless(cell);
            let space = " ".repeat(width.saturating_sub(cell.chars().count()));
            let gap = if column < last { "  " } else { "" };
            match (column < self.texts, column == last) {
                (true, true) => write!(self.text, "{cell}")?,
                (true, false) => write!(self.text, "{cell}{space}{gap}")?,
                (false, _) => write!(self.text, "{space}{cell}{gap}")?,
            }
        }
        self.text.push('\n');
        Ok(())
    }
}
