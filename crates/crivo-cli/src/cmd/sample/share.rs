//! `crivo sample -n 10%`: copies each row with the same probability, in one pass.

use std::num::NonZero;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::bail;
use crivo::keys::KeyScheme;
use crivo::sampling::RowShare;
use crivo_rows::{Items, Predicate, RowBatch, Select};

use super::Args;
use crate::args::{at_least_one, share};
use crate::cmd::Outcome;
use crate::output::Output;
use crate::pass::Pass;

/// The value of `-n`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SampleSize {
    /// This number of rows.
    Rows(NonZero<u64>),
    /// Each row with this probability.
    Share(f64),
}

impl FromStr for SampleSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.ends_with('%') {
            let rows = at_least_one(text);
            return rows.map(Self::Rows).map_err(|_| {
                "expected a number of rows from 1 on, such as 1000 or 10k, or a share such as 10%".into()
            });
        }
        match share(text) {
            Ok(share) if share > 0.0 && share <= 1.0 => Ok(Self::Share(share)),
            _ => Err("expected a share above 0% and at most 100%".into()),
        }
    }
}

/// Copies the rows whose random number is below `share` of its range. The number is drawn from the
/// seed and the row's place.
pub(super) fn share_of_rows(args: &Args, mut pass: Pass, share: f64, out: &Output) -> Outcome {
    if args.groups.by().is_some() {
        bail!("--by: rows of each group are drawn by number: -n 3");
    }
    if args.weight.is_some() {
        bail!("--weight: rows of different weights are drawn by number: -n 1000");
    }
    if pass.items != Items::Values {
        bail!("--words: a sample is of whole rows, not of their words");
    }
    if !matches!(pass.select, Select::Fields(_)) {
        pass.select = Select::Fields(Vec::new());
    }
    let must_have = args.input.has_field();
    let sample = RowShare::new(share, args.seed.number()?)?;
    let has_value = |batch: &RowBatch<'_>, row: usize| !must_have || batch.column(0).get(row).is_some();
    if pass.input.is_rereadable() {
        let each = |batch: &mut RowBatch<'_>, keep: &mut [bool]| {
            for (row, keep) in keep.iter_mut().enumerate() {
                *keep = sample.draws(batch.id(row).to_u64()) && has_value(batch, row);
            }
            Ok(())
        };
        pass.copy(KeyScheme::bytes(), out, Predicate::Each(&each))?;
    } else {
        // A pipe is divided where its writer paused, so only the number of a row is a stable
        // position.
        let mut seen = 0;
        let mut in_order = |batch: &mut RowBatch<'_>, keep: &mut [bool]| {
            for (row, keep) in keep.iter_mut().enumerate() {
                *keep = sample.draws(seen + row as u64) && has_value(batch, row);
            }
            seen += keep.len() as u64;
            Ok(())
        };
        pass.copy(KeyScheme::bytes(), out, Predicate::InOrder(&mut in_order))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_a_number_or_a_share() {
        assert_eq!("1k".parse(), Ok(SampleSize::Rows(NonZero::new(1000).unwrap())));
        assert_eq!("10%".parse(), Ok(SampleSize::Share(0.1)));
        for wrong in ["0", "", "0%", "101%", "-1", "x%", "0.5"] {
            let error = wrong.parse::<SampleSize>().unwrap_err();
            assert!(error.starts_with("expected a "), "{wrong}: {error}");
        }
    }
}
