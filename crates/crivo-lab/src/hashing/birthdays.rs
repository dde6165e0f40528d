//! Birthdays: the number of keys until two collide.
//!
//! `m` keys in `n` places are all distinct with probability `Π (1 − i/n) ≈ e^(−m²/2n)`. The
//! probability of a collision is one half from `m ≈ 1.177√n` on: 23 people for 365 days.

use crivo::hash::index;
use crivo::keys::KeyScheme;
use libm::{ceil, exp, log1p, sqrt};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "birthdays",
    title: "Birthday collisions",
    claim: "Of m keys hashed to n places two meet with probability 1 − Π(1 − i/n), about 1 − e^(−m²/2n): half of the \
            time for 23 in 365, and from m ≈ 1.177√n on in general.",
    sources: &[(Text::Summary, "§3.1, figure 2")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.177_41),
};

/// Returns the probability that two of `m` keys in `n` places collide.
fn meet(m: u64, n: u64) -> f64 {
    let log: f64 = (1..m).map(|i| log1p(-(i as f64) / n as f64)).sum();
    1.0 - exp(log)
}

/// `constant` is the factor of `√n` in theory.
fn measure(context: &Context<'_>, constant: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(20_000, 100_000, 1_000_000);
    report.parameter("trials", trials);
    let mut random = context.random("365");
    let mut curve = Section::curve("People of whom two share a birthday", "people", "probability");
    let sizes = [2, 5, 10, 15, 20, 22, 23, 24, 30, 40, 50, 60];
    for (step, &m) in sizes.iter().enumerate() {
        context.advance(step, sizes.len())?;
        curve.share(m as f64, collisions(m, 365, trials, &mut random)?, trials, meet(m, 365));
    }
    curve.show("1 − e^(−m²/2n)", (0..=60).map(|m| (f64::from(m), 1.0 - exp(-f64::from(m * m) / 730.0))));
    report.add(curve);

    let mut part = Section::numbers("From how many on half of the time?");
    let mut random = context.random("half");
    let trials = trials / 10;
    for n in [365_u64, 10_000, 1_000_000] {
        let least = (1..=n).find(|&m| meet(m, n) >= 0.5).unwrap_or(0);
        if n == 365 {
            part.equal("people of 365 days", least as f64, 23.0);
        }
        // The approximation of m(m − 1) by m² changes the result by half a key, and rounding up by
        // up to one.
        part.exact(
            format!("least m of {n} places, over √n"),
            least as f64 / sqrt(n as f64),
            constant,
            1.6 / sqrt(n as f64),
        );
        let m = ceil(constant * sqrt(n as f64)) as u64;
        part.named_share(
            format!("share that meets with 1.177√n keys in {n}"),
            collisions(m, n, trials, &mut random)?,
            trials,
            meet(m, n),
        );
        part.exact(
            format!("probability to meet with 1.177√n keys in {n}"),
            meet(m, n),
            0.5,
            1.0 / sqrt(n as f64),
        );
    }
    report.add(part);
    Ok(report)
}

/// Returns the number of trials in which two of `m` keys have the same one of `n` places.
fn collisions(m: u64, n: u64, trials: u64, random: &mut Random) -> Result<u64> {
    let mut last = vec![0_u64; n as usize];
    let mut met = 0;
    for trial in 1..=trials {
        let scheme = KeyScheme::integers().with_seed(random.bits());
        for key in 0..m {
            let place = index(scheme.hash(&key)?, n) as usize;
            if std::mem::replace(&mut last[place], trial) == trial {
                met += 1;
                break;
            }
        }
    }
    Ok(met)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_constant_wrong_by_three_percent_is_refuted() {
        for wrong in [0.97, 1.03] {
            let verdict = verdict("birthdays", |context| measure(context, wrong * 1.177_41));
            assert_eq!(verdict, Verdict::Refuted);
        }
    }
}
