//! `crivo count --by --bits`: one small counter for every key.
//!
//! An integer is the index of its counter (`--keys int`). Any other key finds its counter by its
//! hash. There are enough counters that few keys share one.

use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo::codec::AnySketch;
use crivo::counting::CounterArray;
use crivo::keys::{KeyKind, KeyRef, KeyScheme};
use crivo_rows::{Counts, Items, RowBatch, Select};

use super::{Args, CountOptions, refuse};
use crate::cmd::set::count_items;
use crate::cmd::{Outcome, show};
use crate::numbers;
use crate::output::{self, Form, Output};
use crate::pass::Pass;
use crate::store::Stored;

/// The number of counters for each key. With 32, 3 % of the keys share a counter.
const ROOM: u64 = 32;
const DEFAULT_BITS: u8 = 8;
const DEFAULT_REACH: f64 = 1e10;
/// The largest count of a counter with 4 bits.
const REACH_OF_4_BITS: f64 = 32_767.0;

pub(super) fn run(args: &Args, pass: &mut Pass, field: &str, out: &Output) -> Outcome {
    if pass.items != Items::Values {
        bail!("--by counts the values of a field, not their words");
    }
    if args.how.sum.is_some() || args.input.has_field() {
        bail!("--sum, -f: small counters count rows only: leave --bits, --reach and --items out");
    }
    if !args.sketch.is_wanted() {
        bail!("--bits: the answer is a sketch: name a file for it, such as -o views.crivo");
    }
    pass.select = Select::field(field);
    let before = args.sketch.to_continue()?;
    let Some(destination) = args.sketch.destination(&args.input)? else { return Ok(ExitCode::SUCCESS) };
    let array = match before {
        None => new_array(args, pass, out)?,
        Some(before) => {
            let refusal = before.refusal();
            let Ok(array) = before.sketch.downcast::<CounterArray>() else { return Err(refusal) };
            let scheme = array.scheme();
            if scheme.kind() != KeyKind::Hash {
                args.keys.agree_with(scheme, &before.name)?;
            } else if args.keys.are_text() {
                bail!("--keys text: {} has counters for integers", before.name);
            }
            require_same_sizes(&args.how, &array, &before.name)?;
            array
        }
    };
    let (array, counts) = count(pass, array, out)?;
    let saturated = array.saturated();
    if saturated > 0 {
        let message = format!(
            "{} at {} end, {}: more --bits or a larger --reach go further",
            if saturated == 1 {
                "1 counter is".into()
            } else {
                format!("{} counters are", output::count(saturated))
            },
            if saturated == 1 { "its" } else { "their" },
            output::number(array.reach())
        );
        args.how.on_full.report(&message, out)?;
    }
    let sketch = AnySketch::from(array);
    let bytes = sketch.encode();
    destination.write(&bytes)?;
    if args.how.form.get() == Form::Json {
        show::print_json(&Stored { sketch, file_bytes: bytes.len() }, out)?;
    } else {
        let summary = sketch.summary();
        let (rows, name) = (output::rows_of(counts.rows), destination.name());
        out.remark(format_args!("{rows} counted into {name}"))?;
        out.remark(format_args!("{}, then crivo ask {name} KEY", output::bytes(summary.memory)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes sure that the counters have the requested sizes, if any were requested.
fn require_same_sizes(how: &CountOptions, array: &CounterArray, name: &str) -> Result<()> {
    let room = if array.scheme().kind() == KeyKind::Hash { 1 } else { ROOM };
    let (bits, items) = (array.counter_bits(), array.len() / room);
    if let Some(asked) = how.bits.filter(|asked| *asked != bits) {
        bail!("--bits {asked}: the counters of {name} have {bits}, and can only be continued so");
    }
    if let Some(asked) = how.items.filter(|asked| *asked != items) {
        bail!("--items {asked}: {name} was made for {items}, and can only be continued so");
    }
    let reach = how.reach.filter(|&reach| CounterArray::base_for(reach, bits).ok() != Some(array.base()));
    if let Some(asked) = reach {
        let found = output::number(array.reach());
        bail!("--reach {asked}: the counters of {name} reach {found}, and can only be continued so");
    }
    Ok(())
}

fn new_array(args: &Args, pass: &Pass, out: &Output) -> Result<CounterArray> {
    let scheme = args.keys.scheme()?;
    let bits = args.how.bits.unwrap_or(DEFAULT_BITS);
    let reach = args.how.reach.unwrap_or(if bits == 4 { REACH_OF_4_BITS } else { DEFAULT_REACH });
    let is_integer = scheme.kind() == KeyKind::Integer;
    let items = match args.how.items {
        Some(items) => items,
        None if is_integer => largest(pass, scheme, out)?,
        None => count_items(pass, scheme, out)?,
    };
    let len = if is_integer { items } else { items.saturating_mul(ROOM) };
    // Integers are indexes themselves. Other keys find their counter by their hash.
    let keys = if is_integer { KeyScheme::hashes() } else { scheme };
    let array = CounterArray::for_reach_with_scheme(len, reach, bits, keys, scheme.seed());
    array.map_err(|error| refuse("--bits and --reach", &error))
}

/// Returns one more than the largest integer.
fn largest(pass: &Pass, scheme: KeyScheme, out: &Output) -> Result<u64> {
    pass.require_twice("without --items, --by")?;
    let (largest, _) = pass.fold(
        scheme,
        out,
        || 0_u64,
        |largest, batch| {
            for (key, _) in batch.keys(0)?.iter() {
                if let KeyRef::Integer(integer) = key {
                    *largest = integer.max(*largest);
                }
            }
            Ok(())
        },
        |largest, other| {
            *largest = other.max(*largest);
            Ok(())
        },
    )?;
    Ok(largest.saturating_add(1))
}

/// Counts on one thread. The result of a counter depends on the order of its random draws, and so
/// would depend on the number of threads.
fn count(pass: &Pass, array: CounterArray, out: &Output) -> Result<(CounterArray, Counts)> {
    let scheme = match array.scheme() {
        scheme if scheme.kind() == KeyKind::Hash => KeyScheme::integers(),
        scheme => scheme,
    };
    let (skip_bad, len) = (pass.skip_bad, array.len());
    let ((array, bad, _), mut counts) =
        pass.fold_in_order(scheme, out, (array, 0, Vec::new()), |(array, bad, indexes), batch| {
            if array.scheme().kind() != KeyKind::Hash {
                return Ok(array.increment_hashes(batch.keys(0)?.hashes())?);
            }
            *bad += integers_below(len, batch, indexes, skip_bad)?;
            Ok(array.increment_batch(indexes)?)
        })?;
    counts.bad += bad;
    counts.rows = counts.rows.saturating_sub(bad);
    Ok((array, counts))
}

/// Collects the integers of a batch that have a counter. Returns how many have none.
fn integers_below(
    len: u64,
    batch: &mut RowBatch<'_>,
    indexes: &mut Vec<u64>,
    skip_bad: bool,
) -> crivo_rows::Result<u64> {
    indexes.clear();
    let found = batch.keys_with_rows(0)?;
    let mut beyond = None;
    let mut bad = 0;
    for ((key, _), &row) in found.keys.iter().zip(found.rows) {
        match key {
            KeyRef::Integer(integer) if integer < len => indexes.push(integer),
            _ => {
                bad += 1;
                beyond.get_or_insert((row as usize, key.to_owned()));
            }
        }
    }
    match beyond {
        Some((row, key)) if !skip_bad => {
            // The key of a negative integer is one from 2^63 on.
            let value = batch.value(0, row).filter(|_| !batch.has_elements(0));
            let found = value.map_or_else(|| key.to_string(), numbers::shown);
            let message = format!("{found} has no counter: --items {len} keeps those from 0 to {}", len - 1);
            Err(batch.value_error(0, row, message))
        }
        _ => Ok(bad),
    }
}
