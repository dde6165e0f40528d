//! Count-Min against its theory.
//!
//! The theory needs no simulation. A row adds to a key the count of every other key that falls on
//! the same counter, each with probability `1/width`: the distribution of that noise is a
//! convolution, and that of the least of `depth` rows follows from its tail. Each trial draws a new
//! hash for every key, builds the sketch of the whole stream and asks it for one key.
//!
//! A mean may differ from theory by 1.5 %, which must be more than the noise of the trials, so that
//! what is off by 3 % fails.

use crivo::frequency::CountMin;
use crivo::keys::KeyScheme;
use crivo::{Confidence, Estimate};

use super::support::{Random, generator};

const TRIALS: u32 = 200_000;
const MARGIN: f64 = 0.015;

/// Deviations that a normal variable exceeds, either way, with a probability of 10⁻⁸: the tens of
/// checks of a test stay below 10⁻⁶ together.
const DEVIATIONS: f64 = 5.731;

// ---- theory ----

/// The probability of each sum of counts that meet a key in one row.
fn noise(counts: &[u64], width: u32) -> Vec<f64> {
    let meets = 1.0 / f64::from(width);
    let mut probabilities = vec![1.0];
    for &count in counts {
        let mut with = vec![0.0; probabilities.len() + count as usize];
        for (sum, probability) in probabilities.iter().enumerate() {
            with[sum] += probability * (1.0 - meets);
            with[sum + count as usize] += probability * meets;
        }
        probabilities = with;
    }
    probabilities
}

/// The distribution of the least of several rows.
struct Theory {
    /// `P(noise ≥ k)` at `k`.
    at_least: Vec<f64>,
}

impl Theory {
    fn new(counts: &[u64], width: u32, depth: u32) -> Self {
        let mut at_least = noise(counts, width);
        for sum in (1..at_least.len()).rev() {
            at_least[sum - 1] += at_least[sum];
        }
        at_least.iter_mut().for_each(|tail| *tail = tail.powi(depth as i32));
        Self { at_least }
    }

    fn mean(&self) -> f64 {
        self.at_least[1..].iter().sum()
    }

    fn deviation(&self) -> f64 {
        let square: f64 =
            self.at_least.iter().enumerate().skip(1).map(|(k, tail)| (2.0 * k as f64 - 1.0) * tail).sum();
        (square - self.mean().powi(2)).sqrt()
    }

    fn above(&self, margin: u64) -> f64 {
        self.at_least.get(margin as usize + 1).copied().unwrap_or(0.0)
    }
}

// ---- streams ----

/// How often each key comes.
struct Stream {
    name: &'static str,
    counts: Vec<u64>,
}

impl Stream {
    fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn uniform(keys: usize) -> Self {
        Self { name: "uniform", counts: vec![1; keys] }
    }

    fn zipf(keys: u64) -> Self {
        let count = |rank: u64| (400.0 / (rank as f64).powf(1.1)).ceil() as u64;
        Self { name: "Zipf 1.1", counts: (1..=keys).map(count).collect() }
    }

    /// A sketch of the stream under new hashes, and the hashes: one more than keys, for a key that
    /// does not come.
    fn sketch(&self, empty: &CountMin, hashes: &mut Vec<u64>, random: &mut Random) -> CountMin {
        hashes.resize(self.counts.len() + 1, 0);
        random.fill(hashes);
        let mut sketch = empty.clone();
        sketch.add_hashes(&hashes[1..], &self.counts).unwrap();
        sketch
    }
}

fn plain(width: u32, depth: u32) -> CountMin {
    CountMin::with_scheme(width, depth, KeyScheme::hashes()).unwrap()
}

// ---- judgement ----

/// What the trials showed of how far answers are above the truth.
#[derive(Default)]
struct Measured {
    trials: f64,
    sum: f64,
    /// How many were at least as far off as the key says.
    reached: Vec<(u64, f64)>,
}

impl Measured {
    fn at(points: &[u64]) -> Self {
        Self { reached: points.iter().map(|&point| (point, 0.0)).collect(), ..Self::default() }
    }

    fn add(&mut self, excess: f64) {
        self.trials += 1.0;
        self.sum += excess;
        for (point, count) in &mut self.reached {
            *count += f64::from(u8::from(excess >= *point as f64));
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.trials
    }
}

/// Holds the mean to theory within [`MARGIN`], and the share of answers that are at least so far
/// off within [`DEVIATIONS`] of it.
fn judge(subject: &str, theory: &Theory, measured: &Measured) -> Result<(), String> {
    let noise = theory.deviation() / theory.mean() / measured.trials.sqrt();
    assert!(MARGIN >= DEVIATIONS * noise, "{subject}: noise of {noise} is too much for the margin");
    let ratio = measured.mean() / theory.mean();
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the tables in docs/accuracy
    {
        println!("| {subject} | {:.0} | {:.4} | {ratio:.4} |", measured.trials, theory.mean());
    }
    let mut failures = Vec::new();
    if (ratio - 1.0).abs() > MARGIN {
        failures.push(format!("mean is {ratio:.4} of theory"));
    }
    for &(point, count) in &measured.reached {
        let (expected, found) = (theory.above(point - 1), count / measured.trials);
        let allowed = DEVIATIONS * (expected * (1.0 - expected) / measured.trials).sqrt();
        // A share is binomial, and normal only if it is expected some hundred times.
        assert!(expected * measured.trials > 300.0, "{subject}: {point} is too rare to judge");
        if (found - expected).abs() > allowed {
            failures.push(format!("{found:.5} are off by {point} or more instead of {expected:.5}"));
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

/// Points of the distribution worth comparing: where about a half, a tenth and a hundredth lie
/// above.
fn points(theory: &Theory) -> Vec<u64> {
    let mut points: Vec<u64> = [0.5, 0.1, 0.01]
        .iter()
        .filter_map(|share| theory.at_least.iter().position(|tail| tail <= share))
        .map(|point| point as u64)
        .filter(|&point| theory.above(point - 1) * f64::from(TRIALS) > 400.0)
        .collect();
    points.dedup();
    points
}

/// How far answers are off for a key that does not come.
fn measure_absent(stream: &Stream, width: u32, depth: u32, points: &[u64], random: &mut Random) -> Measured {
    let (empty, mut hashes, mut measured) = (plain(width, depth), Vec::new(), Measured::at(points));
    for _ in 0..TRIALS {
        let sketch = stream.sketch(&empty, &mut hashes, random);
        measured.add(sketch.frequency_of_hash(hashes[0]).value());
    }
    measured
}

// ---- claims ----

#[test]
fn theory_has_the_known_limits() {
    let stream = Stream::zipf(50);
    let row = Theory::new(&stream.counts, 20, 1);
    assert!((row.mean() - stream.total() as f64 / 20.0).abs() < 1e-9, "a row has N/width on average");
    assert!((row.at_least[0] - 1.0).abs() < 1e-12);
    let once = Theory::new(&[1; 30], 10, 1);
    assert!((once.deviation().powi(2) - 30.0 * 0.1 * 0.9).abs() < 1e-9, "binomial");
    let mean_of_two: f64 = (1..=30).map(|k| once.at_least[k].powi(2)).sum();
    assert!((Theory::new(&[1; 30], 10, 2).mean() - mean_of_two).abs() < 1e-9);
}

#[test]
fn a_row_holds_its_share_of_the_stream_on_average() {
    let mut random = generator("rows");
    for (stream, width) in [(Stream::uniform(400), 40), (Stream::uniform(1), 2), (Stream::zipf(300), 7)] {
        let theory = Theory::new(&stream.counts, width, 1);
        assert!((theory.mean() - stream.total() as f64 / f64::from(width)).abs() < 1e-6);
        let points = points(&theory);
        let measured = measure_absent(&stream, width, 1, &points, &mut random);
        let subject = format!("{} | {} | {width} × 1", stream.name, stream.total());
        assert_eq!(judge(&subject, &theory, &measured), Ok(()), "{subject}");
    }
}

/// Rows must be independent: were they not, the least of them would be larger.
#[test]
fn the_least_of_the_rows_is_distributed_as_theory_says() {
    let mut random = generator("minimum");
    for (stream, width, depth) in [
        (Stream::uniform(100), 30, 2),
        (Stream::uniform(300), 50, 4),
        (Stream::uniform(150), 27, 8),
        (Stream::zipf(200), 20, 3),
        (Stream::zipf(100), 16, 5),
    ] {
        let theory = Theory::new(&stream.counts, width, depth);
        let points = points(&theory);
        let measured = measure_absent(&stream, width, depth, &points, &mut random);
        let subject = format!("{} | {} | {width} × {depth}", stream.name, stream.total());
        assert_eq!(judge(&subject, &theory, &measured), Ok(()), "{subject}");
    }
}

/// Every key of the stream: never below the truth, and as far above as the others make it.
#[test]
fn keys_that_come_are_never_below_the_truth() {
    let mut random = generator("present");
    let stream = Stream::zipf(100);
    let (empty, mut hashes) = (plain(27, 3), Vec::new());
    let asked = [0, 4, 60];
    let theories = asked.map(|key| {
        let mut others = stream.counts.clone();
        others.remove(key);
        Theory::new(&others, 27, 3)
    });
    let mut measured = theories.each_ref().map(|theory| Measured::at(&points(theory)));
    for _ in 0..TRIALS {
        let sketch = stream.sketch(&empty, &mut hashes, &mut random);
        for (&key, measured) in asked.iter().zip(&mut measured) {
            let excess = sketch.frequency_of_hash(hashes[key + 1]).value() - stream.counts[key] as f64;
            measured.add(excess);
        }
        let mut answers = Vec::new();
        sketch.frequencies_of_hashes(&hashes[1..], &mut answers);
        assert!(answers.iter().zip(&stream.counts).all(|(answer, truth)| answer >= truth));
    }
    for ((key, theory), measured) in asked.iter().zip(&theories).zip(&measured) {
        let subject = format!("key {key} of Zipf 1.1 | {} | 27 × 3", stream.total());
        assert_eq!(judge(&subject, theory, measured), Ok(()), "{subject}");
    }
}

/// The share of answers outside their interval is what theory says of the stream, and never more
/// than the interval allows: at `1 − δ`, where the margin is εN, and at other confidences.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let mut random = generator("intervals");
    for (stream, width, depth) in [
        (Stream::uniform(100), 100, 1),
        (Stream::zipf(200), 27, 2),
        (Stream::zipf(200), 272, 4),
        // The stream for which Markov's inequality is an equality: one key that is everything.
        (Stream { name: "one key", counts: vec![1000] }, 5, 2),
    ] {
        let theory = Theory::new(&stream.counts, width, depth);
        let levels = [0.5, 0.9, 0.95, 0.99].map(|level| Confidence::new(level).unwrap());
        let (empty, mut hashes) = (plain(width, depth), Vec::new());
        let (mut outside, mut outside_at) = (0.0, [0.0; 4]);
        let mut margins = (0, [0; 4]);
        for _ in 0..TRIALS {
            let sketch = stream.sketch(&empty, &mut hashes, &mut random);
            let missed = |estimate: Estimate| f64::from(u8::from(!estimate.covers(0.0)));
            outside += missed(sketch.frequency_of_hash(hashes[0]));
            for (outside, &level) in outside_at.iter_mut().zip(&levels) {
                *outside += missed(sketch.frequency_of_hash_at(hashes[0], level));
            }
            margins = (sketch.margin(), levels.map(|level| sketch.margin_at(level)));
        }
        assert_eq!(margins.0, (CountMin::epsilon(width) * stream.total() as f64) as u64);
        let all = [(CountMin::delta(depth), margins.0, outside)]
            .into_iter()
            .chain(levels.iter().zip(margins.1).zip(outside_at).map(|((l, m), o)| (1.0 - l.level(), m, o)));
        for (allowed, margin, outside) in all {
            let (expected, found) = (theory.above(margin), outside / f64::from(TRIALS));
            let deviation = (expected.max(1e-5) / f64::from(TRIALS)).sqrt();
            let subject = format!("{} | {width} × {depth} | {:.4}", stream.name, 1.0 - allowed);
            #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
            {
                println!("| {subject} | {margin} | {allowed:.4} | {expected:.5} | {found:.5} |");
            }
            assert!(expected <= allowed, "{subject}: theory exceeds the promise with {expected}");
            assert!(
                (found - expected).abs() <= 2.0 * DEVIATIONS * deviation,
                "{subject}: {found} instead of {expected}"
            );
        }
    }
}

/// One key that is everything: an absent key meets it in all rows with probability `width^−depth`,
/// and a margin of 95 % must be short of it then. A margin larger by a tenth would hide all misses.
#[test]
fn margins_are_no_larger_than_they_must_be() {
    let stream = Stream { name: "one key", counts: vec![100_000] };
    let theory = Theory::new(&stream.counts, 5, 2);
    let mut sketch = plain(5, 2);
    sketch.add_hash(1, 100_000);
    let margin = sketch.margin_at(Confidence::P95);
    assert_eq!(margin, (100_000.0 * 20_f64.sqrt() / 5.0) as u64);
    assert!((theory.above(margin) - 0.04).abs() < 1e-12 && theory.above(margin * 113 / 100) == 0.0);
}

/// Keys hashed from integers, all of them asked for, under many seeds.
#[test]
fn whole_streams_keep_the_promise_of_for_bound() {
    let (epsilon, delta) = (0.01, 0.02);
    let (width, depth) = CountMin::size_for(epsilon, delta).unwrap();
    let mut random = generator("seeds");
    for stream in [Stream::uniform(20_000), Stream::zipf(5_000)] {
        let (mut asked, mut outside) = (0.0, 0.0);
        for _ in 0..40 {
            let scheme = KeyScheme::integers().with_seed(random.bits());
            let mut sketch = CountMin::with_scheme(width, depth, scheme).unwrap();
            for (key, &count) in stream.counts.iter().enumerate() {
                sketch.add(&(key as u64), count).unwrap();
            }
            assert_eq!(sketch.total(), stream.total());
            for (key, &count) in stream.counts.iter().enumerate() {
                let found = sketch.frequency(&(key as u64)).unwrap();
                assert!(found.value() >= count as f64 && found.upper() == found.value());
                assert!(found.value() - found.lower() <= epsilon * stream.total() as f64);
                asked += 1.0;
                outside += f64::from(u8::from(!found.covers(count as f64)));
            }
        }
        assert!(outside <= delta * asked, "{}: {outside} of {asked} outside", stream.name);
    }
}

/// Conservative update, in an order that is the worst for it (heavy keys last) and in the best.
#[test]
fn conservative_update_is_never_above_plain_and_closer_on_skewed_streams() {
    let mut random = generator("conservative");
    let stream = Stream::zipf(200);
    let (plain, careful) =
        (plain(30, 4), CountMin::conservative_with_scheme(30, 4, KeyScheme::hashes()).unwrap());
    for (name, backwards) in [("heavy keys first", false), ("heavy keys last", true)] {
        let (mut hashes, mut sums, trials) = (vec![0; 200], [0.0; 2], 4_000);
        for _ in 0..trials {
            random.fill(&mut hashes);
            let mut sketches = [plain.clone(), careful.clone()];
            for sketch in &mut sketches {
                let one_by_one = |key: usize, sketch: &mut CountMin| {
                    (0..stream.counts[key]).for_each(|_| sketch.insert_hash(hashes[key]));
                };
                if backwards {
                    (0..200).rev().for_each(|key| one_by_one(key, sketch));
                } else {
                    (0..200).for_each(|key| one_by_one(key, sketch));
                }
            }
            for (hash, &truth) in hashes.iter().zip(&stream.counts) {
                let [plain, careful] = sketches.each_ref().map(|s| s.frequency_of_hash(*hash).value());
                assert!(truth as f64 <= careful && careful <= plain);
                sums[0] += plain - truth as f64;
                sums[1] += careful - truth as f64;
            }
        }
        let means = sums.map(|sum| sum / f64::from(trials) / 200.0);
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            println!("| {name} | {:.3} | {:.3} | {:.3} |", means[0], means[1], means[1] / means[0]);
        }
        assert!(means[1] < 0.8 * means[0], "{name}: {means:?}");
    }
}

/// The mean of one row is exact theory; several rows are held to their bound.
#[test]
fn inner_products_are_what_theory_says() {
    let mut random = generator("products");
    let (a, b) =
        (Stream::uniform(150), Stream { name: "", counts: (0..100).map(|key| 1 + key % 3).collect() });
    // The first sixty keys are in both streams.
    let truth: u64 = b.counts[..60].iter().sum();
    let product = (a.total() * b.total()) as f64;
    let mut hashes = vec![0; 190];
    for (width, depth) in [(40, 1), (30, 3)] {
        let empty = plain(width, depth);
        let (mut sum, mut squares, mut outside) = (0.0, 0.0, 0.0);
        for _ in 0..TRIALS {
            random.fill(&mut hashes);
            let (mut x, mut y) = (empty.clone(), empty.clone());
            x.insert_hashes(&hashes[..150]);
            y.add_hashes(&hashes[..60], &b.counts[..60]).unwrap();
            y.add_hashes(&hashes[150..], &b.counts[60..]).unwrap();
            let found = x.inner_product(&y).unwrap();
            assert!(found.value() >= truth as f64);
            let excess = found.value() - truth as f64;
            sum += excess;
            squares += excess * excess;
            outside += f64::from(u8::from(!found.covers(truth as f64)));
            assert_eq!(
                found.lower(),
                (found.value() - (CountMin::epsilon(width) * product).floor()).max(0.0)
            );
        }
        let trials = f64::from(TRIALS);
        let mean = sum / trials;
        assert!(outside / trials <= CountMin::delta(depth), "{outside} outside");
        if depth == 1 {
            let expected = (product - truth as f64) / f64::from(width);
            let noise = (squares / trials - mean * mean).sqrt() / mean / trials.sqrt();
            assert!(MARGIN >= DEVIATIONS * noise);
            #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
            {
                println!("| {width} × {depth} | {truth} | {expected:.3} | {:.4} |", mean / expected);
            }
            assert!((mean / expected - 1.0).abs() <= MARGIN, "{mean} instead of {expected}");
        }
    }
}

#[test]
fn what_is_wrong_by_three_percent_is_caught() {
    let mut random = generator("mutant");
    let stream = Stream::uniform(300);
    let right = Theory::new(&stream.counts, 50, 4);
    let points = points(&right);
    let measured = measure_absent(&stream, 50, 4, &points, &mut random);

    let mut larger = Measured { sum: 1.03 * measured.sum, ..Measured::at(&[]) };
    larger.trials = measured.trials;
    assert!(judge("answers larger by 3 %", &right, &larger).unwrap_err().contains("mean"));
    // Rows narrower or wider by 4 %, the least that whole numbers allow here, and one row less.
    for (width, depth) in [(48, 4), (52, 4), (50, 3)] {
        let wrong = Theory::new(&stream.counts, width, depth);
        let failures = judge("another table", &wrong, &measured).unwrap_err();
        assert!(failures.contains("mean") && failures.contains("are off by"), "{failures}");
    }
}
