//! `--window` and `--time-field`: an answer about the last day of a stream that never ends.
//!
//! Rows go into a ring of sketches (panes), one for each 24th of the window, or each 20th of a
//! short window. The answer merges the panes in the window that ends at the latest time. Rows may
//! come in any order: a time inside the window finds its pane, and a time before the window is
//! counted as late. One thread reads the rows, so that the same rows give the same ring.

use anyhow::{Result, anyhow, bail};
use clap::Args;
use crivo::codec::AnySketch;
use crivo::sketch::{InsertKeys as _, Sketch as _};
use crivo::window::Panes;
use crivo_rows::{Counts, RowBatch};
use serde::Serialize;

use crate::args::Continued;
use crate::clock;
use crate::numbers::{self, FieldNumbers};
use crate::output::{self, Output};
use crate::pass::Pass;
use crate::tally::Weights;

/// The window moves by a 24th of its length: a window of a day moves by the hour.
const PANES: u32 = 24;
/// Windows shorter than this limit (in milliseconds) count time in milliseconds, and have another
/// number of panes. So the number of panes gives the unit of a ring, and only the same window
/// continues a ring.
const SHORT: u64 = 24_000;
const SHORT_PANES: u32 = 20;

/// Which time to look at.
#[derive(Debug, Args)]
#[command(next_help_heading = "Window")]
pub(crate) struct WindowArgs {
    /// Only rows within this time before the latest row, exact to a 24th of it: 500ms, 10s, 15m,
    /// 24h, 7d; needs --time-field
    #[arg(long, value_name = "TIME", value_parser = clock::duration, requires = "time_field")]
    window: Option<u64>,

    /// The field with the time of each row: seconds or milliseconds since 1970, or
    /// 2026-11-16T03:05:42Z
    #[arg(long, value_name = "FIELD", requires = "window")]
    time_field: Option<String>,
}

/// The times that an answer covers, in JSON.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Covered {
    /// The first and the last second.
    pub(crate) from: String,
    pub(crate) to: String,
    /// The number of rows that came after the window had passed their time.
    pub(crate) late: u64,
    /// The length of a pane in seconds. A window begins at the start of a pane, so it may begin up
    /// to this much earlier than requested.
    pub(crate) pane_seconds: f64,
}

/// A ring that rows are added to.
#[derive(Debug)]
pub(crate) struct Window {
    ring: Panes<AnySketch>,
}

impl WindowArgs {
    /// Returns true if the user requested a window.
    pub(crate) fn is_wanted(&self) -> bool {
        self.window.is_some()
    }

    /// Returns a ring of empty sketches, and adds the time field to the fields that the pass reads.
    pub(crate) fn begin(&self, empty: AnySketch, pass: &mut Pass) -> Result<Window> {
        let (Some(window), Some(field)) = (self.window, &self.time_field) else {
            bail!("--window needs --time-field, and that needs --window");
        };
        pass.read_beside(field, "--time-field")?;
        let ring = if window < SHORT {
            Panes::for_window(empty, window, SHORT_PANES)
        } else {
            Panes::for_window(empty, window.div_ceil(1000), PANES)
        };
        Ok(Window { ring: ring.map_err(|error| anyhow!("--window: {error}"))? })
    }

    /// Continues the ring of a file. Fails if its window is not the requested one.
    pub(crate) fn go_on(&self, ring: Panes<AnySketch>, name: &str, pass: &mut Pass) -> Result<Window> {
        let fresh = self.begin(ring.empty().clone(), pass)?;
        if fresh.ring.pane_width() != ring.pane_width() || fresh.ring.pane_count() != ring.pane_count() {
            let panes = ring.pane_width().saturating_mul(u64::from(ring.pane_count() - 1));
            let window = clock::shown_duration(panes.saturating_mul(unit_of(&ring)));
            bail!("--window: that of {name} is {window}, and it can only be continued so");
        }
        Ok(Window { ring })
    }
}

/// Returns the unit of a ring in milliseconds.
fn unit_of(ring: &Panes<AnySketch>) -> u64 {
    if ring.pane_count() == SHORT_PANES + 1 { 1 } else { 1000 }
}

/// Fails if the sketch is a ring, for commands without a window.
pub(crate) fn refuse_ring(sketch: &AnySketch, name: &str) -> Result<()> {
    match sketch.downcast_ref::<Panes>() {
        Some(_) => bail!("{name}: was kept with --window and --time-field: name them again"),
        None => Ok(()),
    }
}

/// Returns the ring of a file that is to be continued, and the name of the file.
pub(crate) fn ring_of(before: Continued) -> Result<(Panes, String)> {
    let Continued { name, sketch } = before;
    match sketch.downcast() {
        Ok(ring) => Ok((ring, name)),
        Err(_) => bail!("{name}: was not kept with --window, and can only be continued without"),
    }
}

/// Returns the merged window of a ring at its latest time. Returns any other sketch unchanged.
pub(crate) fn seen_by(sketch: AnySketch) -> Result<AnySketch> {
    match sketch.downcast_ref::<Panes>() {
        Some(ring) => latest(ring),
        None => Ok(sketch),
    }
}

/// The ring that rows are added to, and the buffers for a batch.
struct WindowWorker {
    ring: Panes<AnySketch>,
    times: Vec<Option<i64>>,
    /// The column with the times.
    times_in: usize,
    /// The weights of the rows, if they have any.
    weights: Option<Weights>,
    /// The weight of each key in a run of rows of one pane.
    of_keys: Vec<u64>,
    /// The numbers of column 0, if the sketches take numbers instead of keys.
    numbers: Option<FieldNumbers>,
    skipped: u64,
    bad: u64,
}

impl Window {
    /// The empty sketch that every pane begins as.
    pub(crate) fn empty(&self) -> &AnySketch {
        self.ring.empty()
    }

    /// Adds every row to the pane of its time, with the weight in column 1 if `weighted`.
    pub(crate) fn fill(self, pass: &Pass, weighted: bool, out: &Output) -> Result<(Self, Counts)> {
        let scheme = self.ring.empty().scheme();
        let takes_numbers = self.ring.empty().clone().takes_numbers().is_some();
        let start = WindowWorker {
            ring: self.ring,
            times: Vec::new(),
            times_in: 1 + usize::from(weighted),
            weights: weighted.then(Weights::default),
            of_keys: Vec::new(),
            numbers: takes_numbers.then(FieldNumbers::default),
            skipped: 0,
            bad: 0,
        };
        let skip_bad = pass.skip_bad;
        let (worker, mut counts) =
            pass.fold_in_order(scheme, out, start, |worker, batch| worker.step(batch, skip_bad))?;
        if let Some(weights) = &worker.weights {
            weights.add_to(&mut counts);
        }
        let bad = worker.bad + worker.numbers.map_or(0, |numbers| numbers.bad);
        counts.skipped += worker.skipped;
        counts.bad += bad;
        counts.rows = counts.rows.saturating_sub(bad);
        Ok((Self { ring: worker.ring }, counts))
    }

    /// Returns the merged sketch of the present window.
    pub(crate) fn merged(&self) -> Result<AnySketch> {
        latest(&self.ring)
    }

    /// Returns the times of the present window, or `None` if the ring is empty.
    pub(crate) fn covered(&self) -> Result<Option<Covered>> {
        let Some(latest) = self.ring.latest() else { return Ok(None) };
        let times = self.ring.covered(*latest.end())?;
        let unit = unit_of(&self.ring);
        let shown = |time: i64| match unit {
            1 => format!("{}.{:03}", clock::shown(time.div_euclid(1000)), time.rem_euclid(1000)),
            _ => clock::shown(time),
        };
        let (from, to) = (shown(*times.start()), shown(*times.end()));
        let pane_seconds = (self.ring.pane_width() * unit) as f64 / 1000.0;
        Ok(Some(Covered { from, to, late: self.ring.late(), pane_seconds }))
    }

    pub(crate) fn into_sketch(self) -> AnySketch {
        self.ring.into()
    }
}

impl Covered {
    /// Prints the times that the answer covers.
    pub(crate) fn print(&self, out: &Output) -> Result<()> {
        let Self { from, to, late, pane_seconds } = self;
        let pane = clock::shown_duration((pane_seconds * 1000.0) as u64);
        out.detail(format_args!("from {from}, exact to a pane of {pane}"))?;
        out.detail(format_args!("to   {to}, {} late", output::count(*late)))
    }
}

/// Returns the merged window of a ring at its latest time.
pub(crate) fn latest(ring: &Panes<AnySketch>) -> Result<AnySketch> {
    match ring.latest() {
        Some(latest) => Ok(ring.merged(*latest.end())?),
        None => Ok(ring.empty().clone()),
    }
}

impl WindowWorker {
    fn step(&mut self, batch: &mut RowBatch<'_>, skip_bad: bool) -> crivo_rows::Result<()> {
        self.read_times(batch, skip_bad)?;
        if let Some(weights) = &mut self.weights {
            weights.read(batch, skip_bad)?;
        }
        if let Some(numbers) = &mut self.numbers {
            numbers.read(batch, 0, skip_bad)?;
            return self.step_numbers();
        }
        let Self { ring, times, weights, of_keys, .. } = self;
        let width = ring.pane_width() as i64;
        let found = batch.keys_with_rows(0)?;
        let pane_of = |at: usize| times[found.rows[at] as usize].map(|time| time.div_euclid(width));
        // Times mostly ascend, so runs of rows of one pane are long.
        let mut start = 0;
        while start < found.rows.len() {
            let pane = pane_of(start);
            let run = (start..found.rows.len()).take_while(|&at| pane_of(at) == pane).count();
            if let Some(time) = times[found.rows[start] as usize]
                && let Some(sketch) = ring.pane_mut(time, run as u64)
            {
                let keys = found.keys.slice(start..start + run);
                match weights {
                    None => sketch.insert_batch(&keys)?,
                    Some(weights) => {
                        of_keys.clear();
                        let rows = &found.rows[start..start + run];
                        of_keys.extend(rows.iter().map(|&row| weights.of_rows[row as usize]));
                        sketch.weights_mut()?.add_batch(&keys, of_keys)?;
                    }
                }
            }
            start += run;
        }
        Ok(())
    }

    /// Adds every number to the pane of its row's time.
    fn step_numbers(&mut self) -> crivo_rows::Result<()> {
        let Self { ring, times, numbers: Some(numbers), .. } = self else { return Ok(()) };
        let width = ring.pane_width() as i64;
        let pane_of = |at: usize| times[numbers.rows[at]].map(|time| time.div_euclid(width));
        let mut start = 0;
        while start < numbers.rows.len() {
            let pane = pane_of(start);
            let run = (start..numbers.rows.len()).take_while(|&at| pane_of(at) == pane).count();
            if let Some(time) = times[numbers.rows[start]]
                && let Some(sketch) = ring.pane_mut(time, run as u64)
            {
                sketch.numbers_mut()?.insert_numbers(&numbers.values[start..start + run]);
            }
            start += run;
        }
        Ok(())
    }

    fn read_times(&mut self, batch: &RowBatch<'_>, skip_bad: bool) -> crivo_rows::Result<()> {
        let keys = batch.column(0);
        self.times.clear();
        let read = if unit_of(&self.ring) == 1 { clock::milliseconds } else { clock::seconds };
        for (row, text) in batch.column(self.times_in).iter().enumerate() {
            let time = text.and_then(read);
            match text {
                Some(text) if time.is_none() => {
                    if !skip_bad {
                        let found = numbers::shown(text);
                        let message = format!(
                            "expected a time such as 1763262342 or 2025-11-16T03:05:42Z, found '{found}'"
                        );
                        return Err(batch.value_error(self.times_in, row, message));
                    }
                    self.bad += 1;
                }
                None if keys.get(row).is_some() => self.skipped += 1,
                _ => {}
            }
            self.times.push(time);
        }
        Ok(())
    }
}
