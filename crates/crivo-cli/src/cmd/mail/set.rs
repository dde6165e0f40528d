//! `crivo mail expire`, `export`, `import` and `merge`: stores as sets of messages.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use crivo_mail::{Filter, Joined, Method};

use super::super::Outcome;
use super::StoreArgs;
use crate::clock::duration;
use crate::output::{self, Output};
use crate::store::reason;
use crate::used_files::UsedFiles;

/// Forgets what was learned long ago
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail expire --store ~/.crivo-mail --older 180d
  crivo mail expire --store ~/.crivo-mail --older 24h")]
pub(crate) struct ExpireArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// How long ago: 180d, 24h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    older: u64,
}

/// Writes all that was learned into one file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail export --store ~/.crivo-mail learned.crivo-mail
  crivo mail export --store /var/lib/crivo backup.crivo-mail")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// The file to write
    file: PathBuf,
}

/// Joins an exported file to the store
///
/// Where both know a message, the later mark counts. A store that is not there is made.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail import --store ~/.crivo-mail learned.crivo-mail
  crivo mail import --store new/ backup.crivo-mail")]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// The file to read
    file: PathBuf,
}

/// Joins another store to the store
///
/// Where both know a message, the later mark counts. The other store stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail merge --store ~/.crivo-mail /mnt/other/crivo-mail
  crivo mail merge --store all/ monday/")]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// The folder of the other store
    other: PathBuf,
}

/// Derives weights, thresholds and look-up tables anew from the learned messages
///
/// For a store that is said to be damaged: what was derived can be made again. A damaged message
/// cannot, and is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail repair --store ~/.crivo-mail
  crivo mail stats --store ~/.crivo-mail --verify")]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    store: StoreArgs,
}

pub(crate) fn repair(args: &RepairArgs, out: &Output) -> Outcome {
    let messages = Filter::repair(&args.store.store)?;
    out.remark(format_args!("derived anew from {} messages", output::count(messages)))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn expire(args: &ExpireArgs, out: &Output) -> Outcome {
    let filter = Filter::open(&args.store.store)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    let before = now.saturating_sub(i64::try_from(args.older).unwrap_or(i64::MAX));
    let expired = filter.expire(before)?;
    out.remark(format_args!("{} messages expired", output::count(expired)))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn export(args: &ExportArgs, out: &Output) -> Outcome {
    let store = &args.store.store;
    let destination = UsedFiles::reading(&[]).and_reading_database(store).output(&args.file)?;
    let mut written = 0;
    destination.write_with(|file| {
        written = Filter::export_from(store, file)??;
        Ok(())
    })?;
    out.remark(format_args!("{}: {} messages", destination.name(), output::count(written)))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn import(args: &ImportArgs, out: &Output) -> Outcome {
    let name = args.file.display();
    let file = File::open(&args.file).map_err(|error| anyhow!("{name}: {}", reason(&error)))?;
    let joined =
        in_old_or_new(&args.store.store, |filter| filter.import(&mut BufReader::new(file), &args.file))?;
    tell(joined, out)
}

pub(crate) fn merge(args: &MergeArgs, out: &Output) -> Outcome {
    tell(in_old_or_new(&args.store.store, |filter| filter.merge(&args.other))?, out)
}

/// Changes a store. If there is no store, one is created with the change, or not at all if the
/// change fails.
fn in_old_or_new<T>(
    store: &Path,
    change: impl FnOnce(&Filter) -> crivo_mail::Result<T>,
) -> crivo_mail::Result<T> {
    match Filter::open(store) {
        Err(error) if error.is_missing_store() => Filter::create(store, Method::Default, change),
        opened => change(&opened?),
    }
}

fn tell(joined: Joined, out: &Output) -> Outcome {
    let [changed, read] = [joined.changed, joined.read].map(output::count);
    out.remark(format_args!("{read} messages joined, {changed} of them changed something"))?;
    Ok(ExitCode::SUCCESS)
}
