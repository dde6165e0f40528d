//! Private counts against their theory: the privacy of a report, and the error of an answer.
//!
//! **Privacy** is measured on what comes out of a client. All reports of a small protocol are
//! counted, for two keys, and held to their exact probabilities; the largest ratio between the two
//! keys is the `e^ε` that was promised.
//!
//! **Answers.** Each trial draws a hash for every key (so that the draw of the hash functions is
//! part of it), makes every report through a client, and asks the server. Mean and variance are
//! held to theory, intervals to the truth. A variance may differ from theory by 4 %, which must be
//! more than the noise of the trials; a scale wrong by 3 % makes 6 %.

use crivo::frequency::private::{PredictableBits, PrivateClient, PrivateCountMean, Protocol, RandomBits};
use crivo::keys::KeyScheme;

use super::chi_square::chi_square;
use super::shares::Share;
use super::support::generator;

/// Deviations that a normal variable exceeds, either way, with a probability of 10⁻⁸.
const DEVIATIONS: f64 = 5.731;
const VARIANCE_MARGIN: f64 = 0.04;

fn protocol(epsilon: f64, rows: u32, width: u32) -> Protocol {
    Protocol::new(epsilon, rows, width).unwrap().with_scheme(KeyScheme::hashes())
}

fn client(protocol: Protocol) -> PrivateClient {
    PrivateClient::new(protocol, 1e300).unwrap()
}

fn coins(name: &str) -> PredictableBits {
    PredictableBits::new(generator(name).bits())
}

// ---- privacy ----

const REPORTS: u32 = 4_000_000;

/// How often each report came: of a protocol of two rows and three places, 16 of them.
fn count_reports(protocol: Protocol, hash: u64, coins: &mut impl RandomBits) -> [u64; 16] {
    let (mut client, mut counts) = (client(protocol), [0; 16]);
    for _ in 0..REPORTS {
        let report = client.encode_hash(hash, coins).unwrap();
        counts[report.row() as usize * 8 + usize::from(report.bit_vector()[0])] += 1;
    }
    counts
}

/// The probability of each report of a key whose places in the two rows are given.
fn probabilities(epsilon: f64, places: [u32; 2]) -> Vec<f64> {
    let flip = 1.0 / (1.0 + (epsilon / 2.0).exp());
    (0..16_u32)
        .map(|report| {
            let (row, bits) = (report / 8, report % 8);
            let flipped = (bits ^ 1 << places[row as usize]).count_ones() as i32;
            0.5 * flip.powi(flipped) * (1.0 - flip).powi(3 - flipped)
        })
        .collect()
}

/// Two hashes whose places differ in both rows, with the places: found from reports that are hardly
/// ever flipped.
fn two_keys() -> [(u64, [u32; 2]); 2] {
    let protocol = protocol(32.0, 2, 3);
    let mut coins = coins("places");
    let places = |hash: u64, coins: &mut PredictableBits| {
        let mut places = [3, 3];
        while places.contains(&3) {
            let report = client(protocol).encode_hash(hash, coins).unwrap();
            places[report.row() as usize] = report.bit_vector()[0].trailing_zeros();
        }
        places
    };
    let first = (1 << 40, places(1 << 40, &mut coins));
    let mut random = generator("keys");
    let second = std::iter::repeat_with(|| random.bits())
        .map(|hash| (hash, places(hash, &mut coins)))
        .find(|(_, other)| other[0] != first.1[0] && other[1] != first.1[1])
        .unwrap();
    [first, second]
}

#[test]
fn a_report_spends_the_privacy_that_it_says() {
    let mut coins = coins("privacy");
    let keys = two_keys();
    for epsilon in [0.5, 1.0, 2.0] {
        let counts = keys.map(|(hash, places)| {
            let counts = count_reports(protocol(epsilon, 2, 3), hash, &mut coins);
            let subject = format!("{epsilon}");
            assert_eq!(chi_square(&subject, &counts, &probabilities(epsilon, places)), Ok(()));
            counts
        });
        // The likelihood ratio of every report, and the noise of the largest.
        let ratios = counts[0].iter().zip(&counts[1]).map(|(&a, &b)| {
            let (a, b) = (a as f64, b as f64);
            ((a / b).ln().abs(), (1.0 / a + 1.0 / b).sqrt())
        });
        let (measured, noise) = ratios.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            println!("| {epsilon} | {REPORTS} | {measured:.4} | {noise:.4} |");
        }
        assert!((measured - epsilon).abs() <= DEVIATIONS * noise, "{epsilon}: {measured} ± {noise}");
    }
}

#[test]
fn a_privacy_wrong_by_three_percent_is_caught() {
    let mut coins = coins("other privacy");
    let (hash, places) = two_keys()[0];
    let counts = count_reports(protocol(1.03, 2, 3), hash, &mut coins);
    assert!(chi_square("1.03 for 1", &counts, &probabilities(1.0, places)).is_err());
    assert!(chi_square("1.03", &counts, &probabilities(1.03, places)).is_ok());
}

// ---- answers ----

/// How often each key is reported; the first is the one that is asked for.
struct Population {
    name: &'static str,
    counts: Vec<u32>,
}

impl Population {
    fn reports(&self) -> f64 {
        self.counts.iter().map(|&count| f64::from(count)).sum()
    }

    /// The variance of an answer for the first key: coins, and collisions (Pan 2024).
    fn variance(&self, epsilon: f64, rows: u32, width: u32) -> f64 {
        let (n, k, m) = (self.reports(), f64::from(rows), f64::from(width));
        let power = (epsilon / 2.0).exp();
        let coins = n * power / (power - 1.0).powi(2);
        let collisions: f64 = self.counts[1..]
            .iter()
            .map(|&count| f64::from(count))
            .map(|count| (count + count * (count - 1.0) / k) * (1.0 / m) * (1.0 - 1.0 / m))
            .sum();
        (m / (m - 1.0)).powi(2) * (coins + collisions)
    }
}

fn zipf(asked: u32) -> Population {
    let mut counts = vec![asked];
    counts.extend((1..=12_u32).map(|rank| 32 / rank));
    Population { name: "Zipf", counts }
}

/// Half of all reports are about one key.
fn dominated(asked: u32, heavy: u32) -> Population {
    let mut counts = vec![asked, heavy];
    counts.extend(vec![1; (heavy - asked) as usize]);
    Population { name: "half one key", counts }
}

fn distinct(reports: usize) -> Population {
    Population { name: "all different", counts: vec![1; reports] }
}

fn one_other(reports: u32) -> Population {
    Population { name: "one other key", counts: vec![0, reports] }
}

#[derive(Default)]
struct Measured {
    errors: Vec<f64>,
    covered: Share,
    margin: f64,
}

impl Measured {
    /// The mean of a power of the errors.
    fn moment(&self, power: i32) -> f64 {
        self.errors.iter().map(|error| error.powi(power)).sum::<f64>() / self.errors.len() as f64
    }
}

fn measure(
    population: &Population,
    protocol: Protocol,
    trials: u32,
    coins: &mut PredictableBits,
) -> Measured {
    let (empty, mut client) = (PrivateCountMean::new(protocol).unwrap(), client(protocol));
    let truth = f64::from(population.counts[0]);
    let mut measured = Measured::default();
    for _ in 0..trials {
        let mut sketch = empty.clone();
        let asked = coins.bits();
        let mut hash = asked;
        for &count in &population.counts {
            for _ in 0..count {
                sketch.insert(&client.encode_hash(hash, coins).unwrap()).unwrap();
            }
            hash = coins.bits();
        }
        let answer = sketch.frequency_of_hash(asked);
        measured.errors.push(sketch.unbiased_of_hash(asked) - truth);
        measured.covered.add(answer.covers(truth));
        // Limits cut bounds off; the larger side is the margin.
        measured.margin += (answer.upper() - answer.value()).max(answer.value() - answer.lower());
    }
    measured
}

/// Holds a measurement to theory. The error lists what failed.
fn judge(subject: &str, variance: f64, widest: f64, measured: &Measured) -> Result<(), String> {
    let trials = measured.errors.len() as f64;
    let (mean, square) = (measured.moment(1), measured.moment(2));
    let ratio = square / variance;
    let kurtosis = measured.moment(4) / (square * square);
    let noise = ((kurtosis - 1.0) / trials).sqrt();
    let bias = mean / variance.sqrt();
    let width = measured.margin / trials / (1.96 * variance.sqrt());
    #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
    {
        println!(
            "| {subject} | {trials} | {:.2} | {ratio:.3} | {bias:+.3} | {:.2} % | {width:.2} |",
            variance.sqrt(),
            100.0 * measured.covered.value()
        );
    }
    assert!(DEVIATIONS * noise <= VARIANCE_MARGIN, "{subject}: noise of {noise} needs more trials");
    let mut failures = Vec::new();
    if (ratio - 1.0).abs() > VARIANCE_MARGIN {
        failures.push(format!("variance is {ratio:.4} of theory"));
    }
    if bias.abs() > DEVIATIONS / trials.sqrt() {
        failures.push(format!("bias is {bias:.4} of the standard error"));
    }
    if !measured.covered.may_reach(0.94) {
        failures.push(format!("intervals hold the truth in {:.4}", measured.covered.value()));
    }
    if width > widest {
        failures.push(format!("intervals are {width:.2} times as wide as they need be"));
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

#[test]
fn answers_are_unbiased_with_the_variance_and_coverage_of_theory() {
    let mut coins = coins("answers");
    // The last number: how much wider than ±1.96 standard errors intervals may be on average.
    for (population, epsilon, rows, width, trials, widest) in [
        (zipf(30), 2.0, 16, 32, 55_000, 1.35),
        (zipf(0), 1.0, 8, 16, 55_000, 1.45),
        (zipf(80), 6.0, 16, 64, 75_000, 1.45),
        (zipf(20), 4.0, 300, 16, 55_000, 1.1),
        (distinct(150), 3.0, 64, 32, 55_000, 1.2),
        (dominated(10, 80), 8.0, 16, 32, 120_000, 1.9),
        (dominated(30, 60), 8.0, 64, 16, 75_000, 1.35),
    ] {
        let measured = measure(&population, protocol(epsilon, rows, width), trials, &mut coins);
        let subject = format!(
            "{} | {} of {} | {epsilon} | {rows} × {width}",
            population.name,
            population.counts[0],
            population.reports()
        );
        let variance = population.variance(epsilon, rows, width);
        assert_eq!(judge(&subject, variance, widest, &measured), Ok(()), "{subject}");
    }
}

/// Where collisions decide and are anything but normal: one key has every report, and is met in a
/// row or not. And where rows are too few to show it.
#[test]
fn intervals_hold_the_truth_where_errors_are_not_normal() {
    let mut coins = coins("not normal");
    for (population, epsilon, rows, width) in [
        (one_other(400), 16.0, 8, 64),
        (one_other(400), 16.0, 16, 128),
        (one_other(400), 8.0, 64, 512),
        (one_other(400), 12.0, 32, 8),
        (one_other(400), 16.0, 1, 8),
        (one_other(400), 4.0, 2, 16),
        (dominated(5, 200), 12.0, 4, 32),
        (dominated(5, 200), 12.0, 12, 100),
        (zipf(60), 2.0, 1, 64),
        (zipf(60), 2.0, 4, 32),
    ] {
        let measured = measure(&population, protocol(epsilon, rows, width), 10_000, &mut coins);
        let variance = population.variance(epsilon, rows, width);
        let trials = measured.errors.len() as f64;
        let width_ratio = measured.margin / trials / (1.96 * variance.sqrt());
        let share = measured.covered.value();
        let subject = format!(
            "{} | {} of {} | {epsilon} | {rows} × {width}",
            population.name,
            population.counts[0],
            population.reports()
        );
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            println!(
                "| {subject} | {trials} | {:.2} | {:.2} % | {width_ratio:.2} |",
                variance.sqrt(),
                100.0 * share
            );
        }
        assert!(measured.covered.may_reach(0.94), "{subject}: {share}");
        assert!(width_ratio < 3.0, "{subject}: {width_ratio} times as wide as normal errors need");
    }
}

#[test]
fn what_is_wrong_by_three_percent_is_caught() {
    let mut coins = coins("mutant");
    let population = zipf(30);
    let (epsilon, rows, width) = (2.0, 16, 32);
    let right = measure(&population, protocol(epsilon, rows, width), 55_000, &mut coins);
    let variance = population.variance(epsilon, rows, width);
    // Answers multiplied by 1.03, and errors as a scale wrong by 3 % makes them.
    let larger =
        Measured { errors: right.errors.iter().map(|e| 1.03 * (e + 30.0) - 30.0).collect(), ..right };
    let failures = judge("answers larger by 3 %", variance, 1.35, &larger).unwrap_err();
    assert!(failures.contains("variance") && failures.contains("bias"), "{failures}");
    // A server that takes ε for 3 % more than it is.
    let (mut client, wrong) = (client(protocol(epsilon, rows, width)), protocol(1.03 * epsilon, rows, width));
    let mut sum = 0.0;
    for _ in 0..2_000 {
        let mut sketch = PrivateCountMean::new(wrong).unwrap();
        let mut records = Vec::new();
        for _ in 0..200 {
            let report = client.encode_hash(7, &mut coins).unwrap();
            records.push(report);
        }
        for report in records {
            // Relabelled, as a forger would: the checksum is that of the other protocol.
            let mut bytes = report.encode();
            relabel(&wrong, &mut bytes);
            sketch.insert_records(&bytes).unwrap();
        }
        sum += sketch.unbiased_of_hash(7);
    }
    assert!((sum / 2_000.0 / 200.0 - 1.0).abs() > 0.01, "a mean of {}", sum / 2_000.0);
}

fn relabel(protocol: &Protocol, record: &mut [u8]) {
    let header = protocol.header();
    let (body, checksum) = record.split_at_mut(record.len() - 4);
    let bytes = [&header[header.len() - 4..], &*body].concat();
    checksum.copy_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
}

/// For fixed hash functions, a key that shares a row's place with a frequent key is off by that
/// row's share of it, every time. Apple's analysis claims no bias here.
#[test]
fn answers_are_unbiased_only_over_the_draw_of_the_hash_functions() {
    let mut coins = coins("given");
    let (protocol, truth) = (protocol(4.0, 4, 8), 100.0);
    let mut client = client(protocol);
    let mut mean = |other: u64| {
        let mut sum = 0.0;
        for _ in 0..2_000 {
            let mut sketch = PrivateCountMean::new(protocol).unwrap();
            for _ in 0..100 {
                sketch.insert(&client.encode_hash(1 << 60, &mut coins).unwrap()).unwrap();
                sketch.insert(&client.encode_hash(other, &mut coins).unwrap()).unwrap();
            }
            sum += sketch.unbiased_of_hash(1 << 60);
        }
        sum / 2_000.0
    };
    // Two of four rows are met. The noise of the mean is 0.2.
    let (met, expected) = (mean((1 << 60) + 1), truth + 100.0 * 8.0 / 7.0 * (2.0 / 4.0 - 1.0 / 8.0));
    assert!((met - expected).abs() < 1.2, "{met} instead of {expected}");
}
