//! `--verify`: all values, sorted.

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

/// Returns all texts in order.
pub(super) fn texts(pass: &Pass, out: &Output) -> Result<(Vec<Box<[u8]>>, Counts)> {
    let (mut all, counts) = pass.fold(
        KeyScheme::bytes(),
        out,
        Vec::new,
        |all: &mut Vec<Box<[u8]>>, batch| {
            all.extend(batch.column(0).iter().flatten().map(Box::from));
            Ok(())
        },
        |all, others| {
            all.extend(others);
            Ok(())
        },
    )?;
    all.sort_unstable();
    Ok((all, counts))
}
