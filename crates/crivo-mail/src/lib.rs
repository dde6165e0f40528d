//! Is this mail wanted? A filter that learns from what its user calls spam and ham.

#![forbid(unsafe_code)]

mod error;
mod filter;
mod judgement;
mod label;
pub mod service;
pub mod spamd;
#[cfg(feature = "serve")]
pub mod web;

pub use error::{Error, Problem, Result};
pub use filter::{Filter, Learned, Stats, Unlearned};
pub use judgement::{Judgement, Reason, Thresholds, Verdict};
pub use label::Label;
