//! `crivo mail learn` and `unlearn`: learns or forgets one message.

use std::process::ExitCode;

use crivo_mail::{Filter, Label, Learned, Unlearned};

use super::super::Outcome;
use super::StoreArgs;
use crate::output::{self, Output};

/// Learns the message on standard input
///
/// Learning a message twice counts once. One that was learned as the opposite is moved. A store
/// that is not there is made.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail learn --store ~/.crivo-mail spam < message.eml
  crivo mail learn --store ~/.crivo-mail label:social < message.eml")]
pub(crate) struct LearnArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// What the message is: spam, ham or label:NAME
    #[arg(value_name = "LABEL")]
    label: Label,
}

/// Forgets what was learned from the message on standard input
///
/// The store is then as if the message had not been learned so. One that was learned as ham and
/// later as spam is unknown after spam is unlearned, and not ham again: to make it ham, learn ham.
/// Exit code 1 if there was nothing to forget.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail unlearn --store ~/.crivo-mail spam < message.eml
  crivo mail unlearn --store ~/.crivo-mail < message.eml")]
pub(crate) struct UnlearnArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// What to forget: spam, ham or label:NAME; without it, everything
    #[arg(value_name = "LABEL")]
    label: Option<Label>,
}

pub(crate) fn learn(args: &LearnArgs, out: &Output) -> Outcome {
    let message = super::message()?;
    let lesson = Filter::open_or_create(&args.store.store)?.without_renewal().teach(&message, &args.label)?;
    if let Some(score) = lesson.contradicted {
        let label = &args.label;
        out.warn(format_args!(
            "the filter was sure of the opposite (probability of spam {}): if {label} was a mistake, unlearn {label}",
            output::percent(score)
        ));
    }
    out.remark(match lesson.learned {
        Learned::New => "learned",
        Learned::Already => "learned before: nothing changed",
        Learned::Moved => "moved from what it was learned as before",
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn unlearn(args: &UnlearnArgs, out: &Output) -> Outcome {
    let message = super::message()?;
    match Filter::open(&args.store.store)?.without_renewal().unlearn(&message, args.label.as_ref())? {
        Unlearned::Removed => {
            out.remark("unlearned")?;
            Ok(ExitCode::SUCCESS)
        }
        Unlearned::Unknown => {
            out.remark("had not been learned: nothing changed")?;
            Ok(ExitCode::from(1))
        }
    }
}
