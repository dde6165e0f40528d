//! The cost of certainty: depth, and with it memory and time, grow as `ln 1/δ`.
//!
//! Each additional row divides the probability of a bad answer by at least `e`, so `⌈ln 1/δ⌉` rows
//! are enough. Memory is `width × depth` counters. An update and a query access one counter in each
//! row.
//!
//! Time is measured in counters, which repeat, not in seconds. *An update* adds a weight whose
//! eight bytes occur nowhere else by chance. The encoded sketch then shows how many counters were
//! changed. *A query* returns the least of the counters that it reads. In a sketch of one key all
//! other counters are zero, so if the answer is the key's whole weight, no other counter was read.
//! The times of both are noted separately.

use crivo::frequency::CountMin;
use crivo::keys::KeyScheme;
use libm::{ceil, exp, log};

use super::{above, counts, noise};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "count-min-cost",
    title: "Count-Min: cost grows as ln 1/δ",
    claim: "The depth, the memory and the time of a Count-Min sketch grow as ln(1/δ), and each row more divides the \
            chance of an answer off by more than εN by e at least.",
    sources: &[(Text::Slides, "“Оценки сложности”")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, std::f64::consts::E, 1.0),
};

const EPSILON: f64 = 0.02;
/// The number of updates and queries that are examined for each depth.
const KEYS: usize = 20;

/// `base` replaces `e` in the theory, and `touched` is the number of counters of a row that an
/// update and a query access.
fn measure(context: &Context<'_>, base: f64, touched: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let mut depths = Section::curve("Rows for a chance of failure δ", "1/δ", "rows").log_x();
    let mut memory = Section::numbers("Bytes of memory");
    let (width, _) = CountMin::size_for(EPSILON, 0.5)?;
    let bytes = |depth| -> Result<f64> {
        Ok(CountMin::with_scheme(width, depth, KeyScheme::hashes())?.memory() as f64)
    };
    let mut updates = Section::curve("Counters that an update changes", "1/δ", "counters").log_x();
    let mut questions = Section::curve("Counters that a question reads", "1/δ", "counters at most").log_x();
    let mut random = context.random("keys");
    let one = bytes(1)?;
    let row = bytes(2)? - one;
    for tenth in [3, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120] {
        let delta = libm::pow(10.0, -f64::from(tenth) / 10.0);
        let (_, depth) = CountMin::size_for(EPSILON, delta)?;
        let rows = ceil(log(1.0 / delta) / log(base) - 1e-9);
        depths.exact_at(1.0 / delta, depth.into(), rows, 0.0);
        let (changed, read) = context.timed(format!("{depth} rows, {KEYS} updates and questions"), || {
            most_touched(width, depth, &mut random)
        })?;
        updates.exact_at(1.0 / delta, changed as f64, touched * rows, 0.0);
        questions.exact_at(1.0 / delta, read as f64, touched * rows, 0.0);
        memory.equal(format!("{depth} rows"), bytes(depth)?, one + f64::from(depth - 1) * row);
    }
    memory.exact("bytes of a counter", row / f64::from(width), 8.0, 0.0);
    report.add(depths);
    report.add(updates);
    report.add(questions);
    report.add(memory);

    // The probability of a bad answer, on a stream that makes bad answers likely: two of the
    // heaviest keys in the same counter are enough to exceed the margin.
    let trials = context.size(20_000, 100_000, 1_000_000);
    report.parameter("trials", trials);
    let narrow = 20;
    let stream = counts(40, true);
    let total: u64 = stream.iter().sum();
    let margin = (std::f64::consts::E / f64::from(narrow) * total as f64) as u64;
    let of_row = noise(&stream[1..], narrow.into());
    let mut curve = Section::curve("Answers off by more than eN/width", "rows", "share of trials").log_y();
    let mut random = context.random("rows");
    let mut hashes = vec![0; stream.len()];
    for depth in 1..=5_u32 {
        context.advance(depth as usize, 5)?;
        let mut bad = 0;
        context.timed(format!("{depth} rows, {trials} sketches"), || -> Result<()> {
            for _ in 0..trials {
                random.fill(&mut hashes);
                let mut sketch = CountMin::with_scheme(narrow, depth, KeyScheme::hashes())?;
                sketch.add_hashes(&hashes, &stream)?;
                bad +=
                    u64::from(sketch.frequency_of_hash(hashes[0]).value() - stream[0] as f64 > margin as f64);
            }
            Ok(())
        })?;
        let theory = above(&of_row, depth).get(margin as usize).copied().unwrap_or(0.0);
        curve.share(f64::from(depth), bad, trials, theory);
    }
    curve.show("e^−d", (1..=5).map(|depth| (f64::from(depth), exp(-f64::from(depth)))));
    report.add(curve);
    Ok(report)
}

/// Returns the most counters that an update changes and that a query reads, over several keys, each
/// in its own sketch.
fn most_touched(width: u32, depth: u32, random: &mut Random) -> Result<(usize, usize)> {
    let (mut changed, mut read) = (0, 0);
    for _ in 0..KEYS {
        let mut sketch = CountMin::with_scheme(width, depth, KeyScheme::hashes())?;
        // Any two occurrences of these bytes are disjoint, because the lowest is odd and the
        // highest even. A query returns a floating-point number, which has 53 bits.
        let (key, weight) = (random.bits(), random.bits() >> 12 | 1);
        sketch.add_hash(key, weight);
        let own = counters_of(&sketch.encode(), weight);
        changed = changed.max(own);
        let is_whole = sketch.frequency_of_hash(key).value() == weight as f64;
        read = read.max(if is_whole { own } else { width as usize * depth as usize });
    }
    Ok((changed, read))
}

/// Returns the number of counters of an encoded sketch that have a weight which was added once. It
/// is one less than the number of occurrences, because the total has the same value.
fn counters_of(bytes: &[u8], weight: u64) -> usize {
    let places = bytes.windows(8).filter(|eight| *eight == weight.to_le_bytes()).count();
    places.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_base_three_percent_from_e_is_refuted() {
        for wrong in [0.97, 1.03].map(|factor| factor * std::f64::consts::E) {
            assert_eq!(verdict("count-min-cost", |context| measure(context, wrong, 1.0)), Verdict::Refuted);
        }
    }

    #[test]
    fn two_counters_of_a_row_are_refuted() {
        let verdict = verdict("count-min-cost", |context| measure(context, std::f64::consts::E, 2.0));
        assert_eq!(verdict, Verdict::Refuted);
    }

    /// The count is that of changed counters: two keys have twice as many counters, except those
    /// that they share.
    #[test]
    fn counters_are_found_among_the_bytes() {
        let mut sketch = CountMin::with_scheme(1 << 16, 6, KeyScheme::hashes()).unwrap();
        let weight = 0x000a_bcde_f012_3457;
        sketch.add_hash(1 << 40, weight);
        assert_eq!((counters_of(&sketch.encode(), weight), counters_of(&sketch.encode(), 5)), (6, 0));
        // The total is different now, so one occurrence too many is subtracted.
        sketch.add_hash(u64::MAX / 3, weight);
        assert_eq!(counters_of(&sketch.encode(), weight), 11);
    }
}
