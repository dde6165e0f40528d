//! `--interchange` in a build without the feature `interchange`: there is no such option.

use anyhow::Result;

use super::{Args, Counted};
use crate::output::Output;
use crate::pass::Pass;

/// The forms of other systems: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {}

pub(super) fn count(form: Form, _: &Args, _: &Pass, _: &Output) -> Result<Counted> {
    match form {}
}
