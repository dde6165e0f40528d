//! Set operations on filters: union, intersection, and parallel construction.
//!
//! The OR of two filters is the filter of the union, bit for bit. So a filter can be built in parts
//! on any number of threads. The AND finds all keys that are in both sets. But it also has bits
//! that different keys of the two sets share by chance: `1 − qA − qB + q∪` of the bits are set,
//! with `q = (1 − 1/m)^(kn)` of either set and of the union. That is more than in the filter of the
//! common keys alone.

use crivo::keys::KeyScheme;
use crivo::membership::Bloom;
use libm::{exp, log1p, sqrt};

use super::{Probed, fill};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "bloom-sets",
    title: "Bloom filters: union, intersection, parallel building",
    claim: "The OR of filters is the filter of the union, so that building splits over threads, and the AND finds the \
            intersection with a share 1 − qA − qB + q∪ of bits set.",
    sources: &[(Text::Slides, "“Операции над множествами”")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

const HASHES: u32 = 5;

/// `shared_bits` multiplies the part of the AND's bits that different keys share by chance.
fn measure(context: &Context<'_>, shared_bits: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let keys = context.size(4_000, 40_000, 400_000);
    let bits = 10 * keys as u64;
    report.parameter("keys", keys);
    report.parameter("bits", bits);
    let mut random = context.random("sets");
    let empty = || Bloom::with_scheme(bits, HASHES, KeyScheme::hashes());

    let mut part = Section::numbers("Building in parallel: filters that differ from the one built at once");
    let all = random.hashes(keys);
    let mut whole = empty()?;
    whole.insert_hashes(&all);
    for threads in [2, 3, 8] {
        let merged = context.timed(format!("{threads} threads"), || in_parallel(&all, threads, &empty))?;
        part.equal(format!("{threads} threads"), f64::from(u8::from(merged.encode() != whole.encode())), 0.0);
    }
    report.add(part);

    let mut unions = Section::numbers("Unions that differ from the filter of all keys");
    let mut fills = Section::curve(
        "Bits set in the intersection of two sets",
        "shared keys, as a share of each",
        "share of bits",
    );
    let mut lost = Section::numbers("Shared keys that the intersection does not find");
    let mut rates = Section::numbers("Strangers found in the intersection, given its fill");
    let repeats = context.size(4_u32, 10, 20);
    for tenths in [0_usize, 1, 2, 5, 8, 10] {
        context.advance(tenths, 11)?;
        let share = tenths as f64 / 10.0;
        let half = keys / 2;
        let common = half * tenths / 10;
        let mut probed = Probed::default();
        let (mut differ, mut missing) = (0, 0);
        for _ in 0..repeats {
            let hashes = random.hashes(2 * half - common);
            let (mut a, mut b, mut both) = (empty()?, empty()?, empty()?);
            a.insert_hashes(&hashes[..half]);
            b.insert_hashes(&hashes[half - common..]);
            both.insert_hashes(&hashes);
            let mut union = a.clone();
            union.merge(&b)?;
            differ += u32::from(union != both);
            let shared = a.shared_cells(&b)?;
            missing +=
                hashes[half - common..half].iter().filter(|&&hash| !shared.contains_hash(hash)).count();
            probed.ask(&shared, context.size(5_000, 50_000, 500_000), &mut random);
        }
        unions.equal(format!("{common} of {half} keys shared"), differ.into(), 0.0);
        lost.equal(format!("{common} of {half} keys shared"), missing as f64, 0.0);
        let zero = |n: usize| exp(f64::from(HASHES) * n as f64 * log1p(-1.0 / bits as f64));
        let alone = 1.0 - zero(common);
        let by_chance = (1.0 - 2.0 * zero(half) + zero(2 * half - common)) - alone;
        let theory = alone + shared_bits * by_chance;
        let deviation = sqrt(theory * (1.0 - theory) / bits as f64 / f64::from(repeats));
        fills.at(
            share,
            Measure::Normal {
                observed: probed.fills / f64::from(repeats),
                theory,
                deviation,
                trials: repeats.into(),
                side: Side::Both,
            },
        );
        rates.named(format!("{common} of {half} keys shared"), probed.check_given_fill());
    }
    let half = keys as f64 / 2.0;
    fills.show(
        "filter of the shared keys alone",
        (0..=20).map(|i| (f64::from(i) / 20.0, fill(bits as f64, HASHES.into(), half * f64::from(i) / 20.0))),
    );
    report.add(fills);
    report.add(unions);
    report.add(lost);
    report.add(rates);
    Ok(report)
}

fn in_parallel(
    hashes: &[u64],
    threads: usize,
    empty: &(impl Fn() -> crivo::Result<Bloom> + Sync),
) -> Result<Bloom> {
    let built: Vec<std::thread::Result<crivo::Result<Bloom>>> = std::thread::scope(|scope| {
        let parts: Vec<_> = hashes
            .chunks(hashes.len().div_ceil(threads))
            .map(|part| {
                scope.spawn(move || {
                    let mut filter = empty()?;
                    filter.insert_hashes(part);
                    Ok(filter)
                })
            })
            .collect();
        parts.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let mut merged = empty()?;
    for part in built {
        let part = part.map_err(|_| Error::Experiment("a thread panicked".into()))?;
        merged.merge(&part?)?;
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn chance_bits_wrong_by_three_percent_are_refuted() {
        is_refuted_at_usual_scale("bloom-sets", &[0.97, 1.03], measure);
    }
}
