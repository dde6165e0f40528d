//! HyperLogLog as printed, and where it needs corrections.
//!
//! The chapter counts the zeros before the first one, but uses the constant `0.7213/(1 + 1.079/k)`
//! for one more than that. So its formula gives half of the true count, because `2^−D` is twice
//! what the constant was made for. (Its LogLog, with 0.79402, fits the zeros.) The chapter also
//! leaves out two ranges. Below about `2.5k` items, some registers are still empty and the plain
//! formula is too high. A hash of 32 bits has at most 22 zeros to count beside the register number,
//! so from about `2^32` elements on the estimate is too low. The production sketch has one
//! estimator for all ranges and 64 bits.

use crivo::distinct::HyperLogLog;
use crivo::keys::KeyScheme;
use libm::{exp, pow, sqrt};

use super::longest_run;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "hyperloglog-printed",
    title: "HyperLogLog as printed, and its small and large ranges",
    claim: "Algorithm 5.12 as printed, which counts zeros and takes α = 0.7213/(1 + 1.079/k), gives the number of \
            different elements.",
    sources: &[(Text::Chapter, "§5.5, algorithms 5.11 and 5.12")],
    expected: Verdict::Refuted,
    run: |context| measure(context, 0.5),
};

const REGISTERS: usize = 1024;
const PRECISION: u8 = 10;

/// Draws the longest run of zeros in each register, or −1 for an empty one.
fn draw(n: f64, most: i32, random: &mut Random) -> Vec<i32> {
    let rate = n / REGISTERS as f64;
    (0..REGISTERS)
        .map(|_| if random.happens(exp(-rate)) { -1 } else { draw_used(rate, most, random) })
        .collect()
}

/// Draws the longest run for a register that is known to be used.
fn draw_used(rate: f64, most: i32, random: &mut Random) -> i32 {
    loop {
        // e < ν means that at least one item fell into the register.
        let e = random.exponential();
        if e < rate {
            return (libm::floor(libm::log2(rate / e)) as i32).clamp(0, most);
        }
    }
}

fn alpha() -> f64 {
    0.7213 / (1.0 + 1.079 / REGISTERS as f64)
}

/// Returns `α k²/Σ 2^−D`, where `extra` is added to every run of zeros. Registers start at 0, as
/// printed.
fn estimate(runs: &[i32], extra: i32) -> f64 {
    let k = REGISTERS as f64;
    let sum: f64 = runs.iter().map(|&run| pow(2.0, -f64::from(if run < 0 { 0 } else { run + extra }))).sum();
    alpha() * k * k / sum
}

/// `ratio` is the printed formula's estimate relative to the truth, by our explanation.
fn measure(context: &Context<'_>, ratio: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(400, 3_000, 30_000);
    report.parameter("registers", REGISTERS);
    report.parameter("trials", trials);
    let error = 1.039 / sqrt(REGISTERS as f64);
    let mut printed =
        Section::curve("Algorithm 5.12 as printed", "different elements", "answer / truth").log_x();
    let mut halved = Section::numbers("Algorithm 5.12 as printed gives half").control();
    let mut corrected = Section::numbers("With zeros + 1 the same constant fits").control();
    let mut loglog = Section::numbers("LogLog with 0.79402 fits the zeros").control();
    for n in [3e4, 1e5, 1e6, 1e7, 1e9] {
        context.advance(1, 2)?;
        let mut random = context.random(&format!("printed {n}"));
        let (mut as_printed, mut ranks, mut geometric) =
            (Sample::about(1.0), Sample::about(1.0), Sample::about(1.0));
        for _ in 0..trials {
            let runs = draw(n, 53, &mut random);
            as_printed.add(estimate(&runs, 0) / n);
            ranks.add(estimate(&runs, 1) / n);
            let mean = runs.iter().map(|&run| f64::from(run.max(0))).sum::<f64>() / REGISTERS as f64;
            geometric.add(0.794_02 * REGISTERS as f64 * pow(2.0, mean) / n);
        }
        // The constants are accurate to a few parts in ten thousand at this number of registers.
        let check = |sample: &Sample, theory: f64, error: f64, rough: f64| Measure::Normal {
            observed: sample.mean(),
            theory,
            deviation: theory * (error / sqrt(sample.trials() as f64) + rough),
            trials: sample.trials(),
            side: Side::Both,
        };
        printed.at(n, check(&as_printed, 1.0, error, 3e-4));
        halved.named(format!("{n:e} elements"), check(&as_printed, ratio, error, 3e-4));
        corrected.named(format!("{n:e} elements"), check(&ranks, 1.0, error, 3e-4));
        loglog.named(format!("{n:e} elements"), check(&geometric, 1.0, 1.3 / sqrt(REGISTERS as f64), 3e-4));
    }
    report.add(printed);
    report.add(halved);
    report.add(corrected);
    report.add(loglog);
    report.add(small_range(context, trials)?);
    report.add(large_range(context, trials, error)?);
    Ok(report)
}

/// Below `2.5k`, the plain formula is wrong by the amount that the Poisson model gives, and the
/// library's estimate is right.
fn small_range(context: &Context<'_>, trials: usize) -> Result<Section> {
    let mut part = Section::curve("Small range: crivo's estimate", "elements a register", "answer / truth")
        .control()
        .log_x();
    let mut plain = Vec::new();
    for tenths in [2_u64, 5, 10, 20, 30, 50, 100] {
        context.advance(tenths as usize, 100)?;
        let n = REGISTERS as u64 * tenths / 10;
        let rate = tenths as f64 / 10.0;
        let mut random = context.random(&format!("small {n}"));
        let mut sample = Sample::about(1.0);
        for _ in 0..trials {
            let mut sketch = HyperLogLog::with_scheme(PRECISION, KeyScheme::hashes())?;
            random.feed(&mut sketch, n);
            sample.add(sketch.estimate().value() / n as f64);
        }
        part.at(
            rate,
            Measure::Normal {
                observed: sample.mean(),
                theory: 1.0,
                deviation: 0.0325 / sqrt(sample.trials() as f64) + 3e-4,
                trials: sample.trials(),
                side: Side::Both,
            },
        );
        // E 2^−M of a register. M is one more than its zeros, and 0 if it is unused.
        let at_most = |value: i32| exp(-rate * pow(2.0, -f64::from(value)));
        let mean: f64 = at_most(0)
            + (1..60).map(|v| pow(2.0, -f64::from(v)) * (at_most(v) - at_most(v - 1))).sum::<f64>();
        plain.push((rate, alpha() / mean / rate));
    }
    part.show("the plain formula, in theory", plain.iter().copied().filter(|(_, ratio)| *ratio < 2.0));
    let at_one = plain.iter().find(|(rate, _)| *rate == 1.0).map_or(0.0, |(_, ratio)| *ratio);
    part.between("the plain formula at one element a register, in theory", at_one, 1.1, 1.4);
    Ok(part)
}

/// Near `2^32`, a hash of 32 bits has at most 22 zeros to count, so registers stop at 23.
fn large_range(context: &Context<'_>, trials: usize, error: f64) -> Result<Section> {
    let full = pow(2.0, 32.0);
    let mut part =
        Section::curve("Large range: a hash of 32 bits", "elements / 2^32", "answer / truth").control();
    for eighths in [1_u32, 2, 4, 8, 12, 16] {
        context.advance(eighths as usize, 16)?;
        let x = f64::from(eighths) / 8.0;
        let rate = x * full / REGISTERS as f64;
        let mut random = context.random(&format!("large {eighths}"));
        let (mut plain, mut crivo) = (Sample::about(1.0), Sample::about(1.0));
        for trial in 0..trials {
            let runs: Vec<i32> = (0..REGISTERS).map(|_| longest_run(rate, 22, &mut random)).collect();
            plain.add(estimate(&runs, 1) / (x * full));
            if trial % 4 == 0 {
                let mut sketch = HyperLogLog::with_scheme(PRECISION, KeyScheme::hashes())?;
                for register in 0..REGISTERS as u64 {
                    sketch.insert_hash(register << 54 | 1 << longest_run(rate, 53, &mut random));
                }
                crivo.add(sketch.estimate().value() / (x * full));
            }
        }
        let at_most = |value: i32| if value >= 23 { 1.0 } else { exp(-rate * pow(2.0, -f64::from(value))) };
        let mean: f64 = (1..=23).map(|v| pow(2.0, -f64::from(v)) * (at_most(v) - at_most(v - 1))).sum();
        let theory = alpha() / mean / rate;
        part.at(
            x,
            Measure::Normal {
                observed: plain.mean(),
                theory,
                deviation: theory * (error / sqrt(plain.trials() as f64) + 1e-3),
                trials: plain.trials(),
                side: Side::Both,
            },
        );
        part.named(
            format!("crivo's 64 bits, {x} × 2^32 elements"),
            Measure::Normal {
                observed: crivo.mean(),
                theory: 1.0,
                deviation: error / sqrt(crivo.trials() as f64) + 3e-4,
                trials: crivo.trials(),
                side: Side::Both,
            },
        );
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    /// If the printed formula gave anything but half, the explanation would be wrong.
    #[test]
    fn anything_but_half_casts_doubt() {
        for wrong in [0.485, 0.515] {
            assert_eq!(verdict("hyperloglog-printed", |context| measure(context, wrong)), Verdict::Doubtful);
        }
    }
}
