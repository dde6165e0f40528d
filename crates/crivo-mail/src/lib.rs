//! Is this mail wanted? A filter that learns from what its user calls spam and ham.
//!
//! message → evidence → probability → spam, ham or unsure, with reasons in words.
//!
//! | step | home |
//! |---|---|
//! | bytes to sender, subject, text and facts | [`Message`] |
//! | where mail comes from | [`Mail`] |
//! | words, pairs, characters and facts as hashed features | `features` |
//! | how much a feature is worth | `worth` |
//! | what each feature says for spam | `linear` |
//! | the learned message that says nearly the same | `alike` |
//! | a sender that suddenly writes a lot | `burst` |
//! | all evidence in one probability | `combine` |
//! | the thresholds between the answers | `thresholds`, [`Policy`] |
//! | senders that are always or never wanted | [`Lists`] |
//! | which lessons contradict their label | [`Audit`] |
//! | learned messages on disk, as a set | `store`, `exchange` |
//! | what is derived from them | `model` |
//! | the method all this grew from | `classic` |
//! | how good it is | [`Evaluation`], [`OnlineEvaluation`] |
//! | one filter for everyone who asks, and each user's own store | [`service`] |
//! | mail programs ask: spamd's protocol | [`spamd`] |
//! | mail servers ask: the milter protocol | [`milter`] |
//! | lessons from messages that are moved | [`Watch`] |
//! | is a set-up in order? | [`doctor`] |
//! | people ask: a page (feature `serve`) | `web` |
//!
//! ```
//! use crivo_mail::{Filter, Label, Verdict};
//!
//! let folder = tempfile::tempdir()?;
//! let filter = Filter::open_or_create(folder.path())?;
//! filter.learn(b"From: a@shop.example\n\nbuy cheap watches now", &Label::Spam)?;
//! filter.learn(b"From: ana@example.org\n\nsee you at lunch tomorrow", &Label::Ham)?;
//! let judgement = filter.check(b"From: b@shop.example\n\nbuy cheap watches today")?;
//! assert!(judgement.score > 0.5);
//! assert_eq!(judgement.verdict, Verdict::Unsure); // two messages prove nothing
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod alike;
mod audit;
mod burst;
mod cache;
mod classic;
mod combine;
#[cfg(feature = "serve")]
pub mod connections;
mod decay;
pub mod doctor;
mod error;
mod evaluate;
mod exchange;
mod features;
mod filter;
mod judgement;
mod judging;
mod label;
mod learn;
mod linear;
mod lists;
pub mod marks;
mod message;
pub mod milter;
mod model;
mod online;
mod passthrough;
mod policy;
mod prior;
pub mod service;
mod source;
pub mod spamd;
mod stats;
mod store;
mod thresholds;
mod watch;
#[cfg(feature = "serve")]
pub mod web;
mod worth;

pub use audit::{Audit, Contradiction};
pub use classic::Finding;
pub use error::{Error, Problem, Result};
pub use evaluate::{Caught, Evaluation, HAM_RATES, KnownMessage, Mistake, SweepRow, Verdicts};
pub use exchange::Joined;
pub use filter::Filter;
pub use judgement::{Judgement, Reason, Thresholds, Verdict};
pub use label::Label;
pub use learn::{Learned, Lesson, Trained, Unlearned};
pub use lists::{Listing, Lists};
pub use message::{Authentication, AuthenticationHeader, Message, authentication};
pub use online::{LearningPoint, OnlineEvaluation, Progress, Story, Teaching};
pub use passthrough::passthrough;
pub use policy::Policy;
#[doc(hidden)]
pub use prior::{Calibration, shipped_prior};
pub use source::{Location, Mail, READ as MESSAGE_LIMIT};
pub use stats::Stats;
pub use store::Method;
pub use watch::{LessonCause, Watch, WatchedLesson};
