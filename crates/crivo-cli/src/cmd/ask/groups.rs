//! `crivo ask --group`: asks the sketch of one group.

use anyhow::{Result, anyhow, bail};
use crivo::codec::AnySketch;
use crivo::counting::Tally;
use crivo::frequency::HeavyHitters;
use crivo::groups::Groups;
use crivo::quantiles::KeyQuantiles;
use crivo::sketch::Sketch as _;
use crivo_rows::{join_values, split_values};
use serde::Serialize;

use super::Args;
use crate::cmd::{count, distinct, top};
use crate::groups::{GroupAnswer, shown_group};
use crate::kinds;
use crate::output::{Cell, Form, Listing, Output};

/// The sketch of one group.
pub(super) struct Found {
    /// Empty if the file does not have the group.
    pub(super) sketch: AnySketch,
    pub(super) group: Vec<String>,
    pub(super) is_known: bool,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct GroupsReport<'a, A> {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a [String]>,
    #[serde(flatten)]
    answer: A,
}

/// Returns the sketch of a group.
pub(super) fn find(sketch: &AnySketch, group: &[u8], name: &str) -> Result<Found> {
    let Some(groups) = sketch.downcast_ref::<Groups>() else {
        return Err(kinds::refusal(sketch, name, "and holds no groups: --group needs a file made with --by"));
    };
    let fields = usize::from(groups.kind().fields());
    // The user types the group as a CSV record, perhaps with quotes that are not needed.
    let key = if fields > 1 { join_values(split_values(group, fields)) } else { group.to_vec() };
    let group = shown_group(&key, fields);
    let found = groups.get(&key);
    let is_known = found.is_some();
    Ok(Found { sketch: found.unwrap_or_else(|| groups.kind().empty().clone()), group, is_known })
}

/// Prints what a sketch answers without a key. The sketch is that of a group or of a file.
pub(super) fn answer(
    sketch: &AnySketch,
    group: Option<&[String]>,
    name: &str,
    args: &Args,
    out: &Output,
) -> Result<()> {
    let form = args.form.get();
    if let Some(set) = sketch.answers_cardinality() {
        return print(group, &distinct::groups::Answer::from(set.distinct()), form, out);
    }
    if let Some(tally) = sketch.downcast_ref::<Tally>() {
        return print(group, &count::groups::Answer::new(tally, tally.sum().is_some()), form, out);
    }
    if let Some(hitters) = sketch.downcast_ref::<HeavyHitters>() {
        return print(group, &top::groups::Answer::most_frequent(hitters, out)?, form, out);
    }
    if sketch.answers_quantiles().is_some() || sketch.downcast_ref::<KeyQuantiles>().is_some() {
        return print(group, &args.asked.answers(&args.shares, sketch)?, form, out);
    }
    let (whose, kind) = (if group.is_some() { "its groups answer" } else { "answers" }, kinds::of(sketch));
    let knows_keys = sketch.answers_frequency().is_some() || sketch.answers_membership().is_some();
    let answers = kind.answers;
    if !knows_keys {
        bail!("{name}: {whose} {answers}: {}", kind.query_of(name));
    }
    Err(anyhow!("{name}: {whose} {answers}: name a key too, crivo ask {name} KEY"))
}

/// Prints an answer in the requested form. A table for programs has the values of the group first.
pub(super) fn print(
    group: Option<&[String]>,
    answer: &impl GroupAnswer,
    form: Form,
    out: &Output,
) -> Result<()> {
    match form {
        Form::Json => out.json(&GroupsReport { group, answer }),
        Form::Table => {
            answer.rows().iter().try_for_each(|row| out.line(crate::output::harmless(row.join("  "))))
        }
        form => {
            let group = group.unwrap_or_default();
            let of_group: Vec<String> = match group.len() {
                0 | 1 => vec!["group".into(); group.len()],
                fields => (1..=fields).map(|field| format!("group_{field}")).collect(),
            };
            let columns = answer.columns().iter().map(|column| column.name().to_owned());
            let names: Vec<String> = of_group.into_iter().chain(columns).collect();
            let mut listing = Listing::named(names.iter().cloned());
            for cells in answer.cells() {
                let row = group.iter().cloned().map(Cell::Text).chain(cells);
                listing.push(names.iter().cloned().zip(row));
            }
            out.listing(&listing, form)
        }
    }
}
