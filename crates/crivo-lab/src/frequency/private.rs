//! Counts emoji in two languages without seeing the choice of any person.
//!
//! Each of many people reports one emoji, hidden by random bits, with privacy `ε`. A frequency
//! recovered from `n` reports has the variance
//! `(m/(m−1))² n e^(ε/2)/(e^(ε/2)−1)² + (n − f + Σ f'(f'−1)/k)/(m−1)`: the cost of the random bits,
//! and the cost of collisions.

use crivo::frequency::private::{PredictableBits, PrivateClient, PrivateCountMean, Protocol, RandomBits};
use crivo::keys::KeyScheme;
use libm::{exp, sqrt};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "private-emoji",
    title: "Private counts: the emoji of two languages",
    claim: "From ε-private reports of many people the distribution of emoji in each of two languages is recovered, \
            unbiased, with the variance of coins and collisions that theory gives for every ε and number of people.",
    sources: &[(Text::Slides, "“Пример от Apple”")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

const EMOJI: [&str; 8] = ["😂", "❤", "😍", "😊", "😘", "😭", "👍", "🙏"];
/// Invented shares, in percent: laughter leads in one language, hearts in the other.
const ENGLISH: [u64; 8] = [32, 14, 12, 10, 6, 12, 9, 5];
const FRENCH: [u64; 8] = [12, 30, 16, 8, 20, 4, 6, 4];

/// The rows and the width of the server's table.
type Size = (u32, u32);
/// Many rows, so that no single collision has much weight and errors are nearly normal.
const LARGE: Size = (1024, 256);
const SMALL: Size = (64, 64);

/// Returns the variance of the estimate for the key which `counts[asked]` of all people report.
/// `coins` multiplies the cost of the random bits.
fn variance(size: Size, epsilon: f64, counts: &[u64], asked: usize, coins: f64) -> f64 {
    let (k, m) = (f64::from(size.0), f64::from(size.1));
    let n = counts.iter().sum::<u64>() as f64;
    let power = exp(epsilon / 2.0);
    let tossed = coins * n * power / ((power - 1.0) * (power - 1.0));
    let others = counts.iter().enumerate().filter(|(key, _)| *key != asked).map(|(_, &count)| count as f64);
    let collisions: f64 =
        others.map(|count| (count + count * (count - 1.0) / k) * (1.0 / m) * (1.0 - 1.0 / m)).sum();
    let spread = m / (m - 1.0);
    spread * spread * (tossed + collisions)
}

/// Makes one report for each person, and returns the estimates, which may be below 0.
fn answers(size: Size, epsilon: f64, counts: &[u64], coins: &mut PredictableBits) -> Result<Vec<f64>> {
    let protocol = Protocol::new(epsilon, size.0, size.1)?.with_scheme(KeyScheme::hashes());
    let mut server = PrivateCountMean::new(protocol)?;
    // One client represents all people: each of its reports is made like that of a new person.
    let mut client = PrivateClient::new(protocol, 1e12)?;
    let hashes: Vec<u64> = counts.iter().map(|_| coins.bits()).collect();
    for (&hash, &count) in hashes.iter().zip(counts) {
        for _ in 0..count {
            server.insert(&client.encode_hash(hash, coins)?)?;
        }
    }
    Ok(hashes.iter().map(|&hash| server.unbiased_of_hash(hash)).collect())
}

/// `coins` multiplies the part of the variance from the random bits, in theory.
fn measure(context: &Context<'_>, coins: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let people = context.size(4_000, 50_000, 1_000_000);
    report.parameter("people", people);
    for (language, shares) in [("English", ENGLISH), ("French", FRENCH)] {
        let mut bits = PredictableBits::new(context.random(language).bits());
        let counts = shares.map(|percent| people * percent / 100);
        let title = format!("{language}: {}", EMOJI.join(" "));
        let mut part = Section::curve(title, "emoji", "share of people").separate();
        let n = counts.iter().sum::<u64>() as f64;
        for (asked, answer) in answers(LARGE, 4.0, &counts, &mut bits)?.into_iter().enumerate() {
            part.at(
                asked as f64 + 1.0,
                Measure::Normal {
                    observed: answer / n,
                    theory: counts[asked] as f64 / n,
                    deviation: sqrt(variance(LARGE, 4.0, &counts, asked, coins)) / n,
                    trials: people,
                    side: Side::Both,
                },
            );
        }
        report.add(part);
    }
    let trials = context.size(60, 250, 2_500);
    report.parameter("trials", trials);
    let mut bias = Section::numbers("Mean error");
    let mut against = |title: &str, x: &str, cases: &[(f64, u64, f64)]| -> Result<Section> {
        let mut part = Section::curve(title, x, "standard error / people").log_x().log_y();
        for &(epsilon, people, at) in cases {
            context.advance(1, 2)?;
            let counts = ENGLISH.map(|percent| people * percent / 100);
            let n = counts.iter().sum::<u64>() as f64;
            let mut bits = PredictableBits::new(context.random(&format!("{epsilon} {people}")).bits());
            // Each estimate is divided by its own deviation. The estimates of one trial are nearly
            // independent.
            let mut sample = Sample::about(0.0);
            let mut sum_of_variances = 0.0;
            for _ in 0..trials {
                for (asked, answer) in answers(LARGE, epsilon, &counts, &mut bits)?.into_iter().enumerate() {
                    let variance = variance(LARGE, epsilon, &counts, asked, coins);
                    sample.add((answer - counts[asked] as f64) / sqrt(variance));
                    sum_of_variances += variance;
                }
            }
            let usual = sqrt(sum_of_variances / sample.trials() as f64) / n;
            // The relative error of a root is half of that of the variance. The keys of a trial
            // share collisions, so their errors depend slightly on each other. Twice the deviation
            // of independent errors allows for that.
            let noise = sqrt((sample.kurtosis() - 1.0) / sample.trials() as f64);
            part.at(
                at,
                Measure::Normal {
                    observed: usual * sqrt(sample.variance()),
                    theory: usual,
                    deviation: usual * noise,
                    trials: sample.trials(),
                    side: Side::Both,
                },
            );
            bias.named(format!("ε = {epsilon}, {people} people, in standard errors"), sample.check_mean(2.0));
        }
        Ok(part)
    };
    let by_epsilon: Vec<(f64, u64, f64)> =
        [1.0, 2.0, 4.0, 8.0].map(|epsilon| (epsilon, 1_000, epsilon)).into();
    let by_people: Vec<(f64, u64, f64)> =
        [250, 1_000, 4_000].map(|people| (4.0, people, people as f64)).into();
    let part = against("Error against ε, of 1,000 people", "ε", &by_epsilon)?;
    report.add(part);
    let part = against("Error against the number of people, ε = 4", "people", &by_people)?;
    report.add(part);
    report.add(bias);
    report.add(small_groups(context, coins)?);
    Ok(report)
}

/// Uses small reports of two hundred people, so often that three percent of the cost of the random
/// bits are detected.
fn small_groups(context: &Context<'_>, coins: f64) -> Result<Section> {
    let (epsilon, counts) = (1.0, ENGLISH.map(|percent| 2 * percent));
    let trials = context.size(500, 40_000, 100_000);
    let variances: Vec<f64> =
        (0..counts.len()).map(|asked| variance(SMALL, epsilon, &counts, asked, coins)).collect();
    let mut bits = PredictableBits::new(context.random("small groups").bits());
    // Each trial gives one number, so that the dependence of its estimates does not matter.
    let mut sample = Sample::about(1.0);
    for trial in 0..trials {
        if trial % 1000 == 0 {
            context.advance(trial, trials)?;
        }
        let answers = answers(SMALL, epsilon, &counts, &mut bits)?;
        let squares = answers.iter().zip(&counts).zip(&variances).map(|((answer, &count), variance)| {
            let error = answer - count as f64;
            error * error / variance
        });
        sample.add(squares.sum::<f64>() / counts.len() as f64);
    }
    let mut part = Section::numbers("Squared errors over their variance, of 200 people");
    part.named(format!("ε = {epsilon}, mean"), sample.check_mean(sample.variance()));
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn coins_whose_cost_is_wrong_by_three_percent_are_refuted() {
        is_refuted_at_usual_scale("private-emoji", &[0.97, 1.03], measure);
    }
}
