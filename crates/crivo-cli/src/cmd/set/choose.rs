//! `crivo set keep` and `crivo set drop`: selects rows by a set, and copies them unchanged.

use std::path::PathBuf;
use std::process::ExitCode;

use crivo_rows::Predicate;

use crate::args::{InputArgs, KeyArgs};
use crate::cmd::Outcome;
use crate::filter::Filter;
use crate::output::Output;
use crate::store;

/// Print the rows whose field may be in the set, as they stand
///
/// With --words a row is kept if one of its items may be in the set.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo set keep customers.crivo -f user visits.csv.gz > visits-of-customers.csv
  crivo set keep wanted.crivo -f id 'events/*.parquet' > wanted.parquet")]
pub(super) struct KeepArgs {
    #[command(flatten)]
    by: ByArgs,
}

/// Print the rows whose field is certainly not in the set, as they stand
///
/// A row without a value is in no set, so it is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo set drop read.crivo articles.txt
  crivo set drop bots.crivo -f ip access.jsonl > people.jsonl")]
pub(super) struct DropArgs {
    #[command(flatten)]
    by: ByArgs,
}

#[derive(Debug, clap::Args)]
struct ByArgs {
    /// The filter
    #[arg(value_name = "SKETCH")]
    sketch: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,
}

pub(super) fn keep(args: &KeepArgs, out: &Output) -> Outcome {
    choose(&args.by, true, out)
}

pub(super) fn drop(args: &DropArgs, out: &Output) -> Outcome {
    choose(&args.by, false, out)
}

/// Prints the rows with a key that may be in the set, or all others.
fn choose(args: &ByArgs, members: bool, out: &Output) -> Outcome {
    let name = store::name_of(&args.sketch);
    let filter = Filter::to_ask(store::read(&args.sketch)?.sketch, &name)?;
    let pass = args.input.pass()?;
    args.keys.agree_with(filter.scheme(), &name)?;
    pass.require_keys(filter.scheme())?;
    pass.copy(
        filter.scheme(),
        out,
        Predicate::Each(&|batch, keep| {
            thread_local! {
                static FOUND: std::cell::RefCell<Vec<bool>> = const { std::cell::RefCell::new(Vec::new()) };
            }
            keep.fill(!members);
            let keys = batch.keys_with_rows(0)?;
            FOUND.with_borrow_mut(|found| {
                filter.contains(&keys.keys, found)?;
                for (&row, &found) in keys.rows.iter().zip(&*found) {
                    if found {
                        keep[row as usize] = members;
                    }
                }
                Ok(())
            })
        }),
    )?;
    Ok(ExitCode::SUCCESS)
}
