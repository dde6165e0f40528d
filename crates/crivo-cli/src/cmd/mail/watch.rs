//! `crivo mail watch`: learns from messages that a reader moves in a Maildir.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use crivo_mail::{Filter, LessonCause, Watch};

use super::super::Outcome;
use super::StoreArgs;
use crate::clock::duration;
use crate::output::Output;

/// Learns from messages that are moved to the junk folder of a Maildir, and out of it, until
/// stopped
///
/// A message that is moved to the junk folder is learned as spam, one that is moved out of it as
/// ham, unless it goes to the bin. What is delivered there is no lesson, and neither is what was
/// moved while this command did not run. With Dovecot, imapsieve does the same at once: see
/// docs/mail-setups.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo mail watch --store ~/.crivo-mail ~/Maildir
  crivo mail watch --store ~/.crivo-mail ~/Maildir --junk Werbung --learn-replies")]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,

    /// The Maildir, with its other mailboxes below it
    maildir: PathBuf,

    /// The name of the junk folder [default: Junk, Spam, Junk E-mail or Junk Email]
    #[arg(long, value_name = "NAME")]
    junk: Option<String>,

    /// Learn a message as ham when a reply to it appears in the folder Sent, unless it was learned
    /// before
    #[arg(long)]
    learn_replies: bool,

    /// Learn a message as ham when it appears in the folder Sent, unless it was learned before
    #[arg(long)]
    learn_sent: bool,

    /// How often to look: 2s, 1m
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    every: u64,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let filter = Filter::open_or_create(&args.store.store)?;
    let mut watch = Watch::begin(&args.maildir, args.junk.as_deref(), args.learn_replies)?;
    if args.learn_sent {
        watch = watch.with_sent_messages();
    }
    if !watch.has_junk() {
        let name = args.junk.as_deref().unwrap_or("Junk");
        out.warn(format_args!("{} has no folder {name} yet", args.maildir.display()));
    }
    out.line(format_args!("watching {}", args.maildir.display()))?;
    let mut told = String::new();
    loop {
        sleep(Duration::from_millis(args.every.max(100)));
        // The folder may be on a disk that is temporarily missing, so watching continues after an
        // error.
        let (lessons, trouble) = watch.look(&filter).unwrap_or_else(|error| (Vec::new(), Some(error)));
        for lesson in lessons {
            let why = match lesson.cause {
                LessonCause::Moved => "",
                LessonCause::Answered => ", which was answered",
                LessonCause::Sent => ", which was sent",
            };
            out.line(format_args!("{}: {:?}{why}", lesson.label, lesson.subject))?;
        }
        // The same trouble is reported once, until it is over.
        let trouble = trouble.map(|error| error.to_string()).unwrap_or_default();
        if !trouble.is_empty() && trouble != told {
            out.warn(format_args!("{trouble}"));
        }
        told = trouble;
    }
}
