//! `--verify`: all numbers, sorted.

use anyhow::Result;
use crivo::keys::KeyScheme;
use crivo_rows::Counts;

use crate::numbers::FieldNumbers;
use crate::output::Output;
use crate::pass::Pass;

/// Returns all numbers in order.
pub(super) fn numbers(pass: &Pass, out: &Output) -> Result<(Vec<f64>, Counts)> {
    let skip_bad = pass.skip_bad;
    let ((mut all, read), mut counts) = pass.fold(
        KeyScheme::bytes(),
        out,
        || (Vec::new(), FieldNumbers::default()),
        |(all, read), batch| {
            read.read(batch, 0, skip_bad)?;
            all.extend_from_slice(&read.values);
            Ok(())
        },
        |(all, read), (others, other)| {
            all.extend_from_slice(&others);
            read.bad += other.bad;
            Ok(())
        },
    )?;
    counts.bad += read.bad;
    counts.rows = counts.rows.saturating_sub(read.bad);
    all.sort_unstable_by(f64::total_cmp);
    Ok((all, counts))
}
