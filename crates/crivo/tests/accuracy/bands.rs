//! Do pairs meet as often as the curve says, and are those that did not counted well?

use crivo::keys::KeyScheme;
use crivo::similarity::min_hash::sign;
use crivo::similarity::{Bands, LshIndex, MinHash};

use super::shares::Share;
use super::support::generator;

/// One of two sets goes into an index and the other asks for it. The sets are large, so that slots
/// are nearly independent: at 4,000 elements the curve is right to a tenth of what the check can
/// see.
#[test]
fn pairs_meet_with_the_probability_of_the_curve() {
    const SIZE: usize = 4_000;
    const TRIALS: u32 = 6_000;
    let mut random = generator("bands");
    let chosen = Bands::for_threshold(0.8, 128).unwrap();
    for bands in [chosen, Bands::new(16, 8).unwrap(), Bands::new(5, 3).unwrap()] {
        for percent in [30, 60, 80, 95] {
            let common = 2 * SIZE * percent / (100 + percent);
            let similarity = common as f64 / (2 * SIZE - common) as f64;
            let mut elements = vec![0; 2 * SIZE - common];
            let mut met = Share::default();
            for _ in 0..TRIALS {
                random.fill(&mut elements);
                let [mut a, mut b] = [128; 2].map(|k| MinHash::with_scheme(k, KeyScheme::hashes()).unwrap());
                a.insert_hashes(&elements[..SIZE]);
                b.insert_hashes(&elements[SIZE - common..]);
                let mut index = LshIndex::with_scheme(128, bands, KeyScheme::hashes()).unwrap();
                index.insert(1, &a).unwrap();
                met.add(index.candidates_to(&b).unwrap() == [1]);
            }
            // Written out once more, to share nothing with the code under test.
            let (b, r) = (bands.bands() as i32, bands.rows() as i32);
            let expected = 1.0 - (1.0 - similarity.powi(r)).powi(b);
            #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
            {
                println!(
                    "| {b} × {r} | {similarity:.3} | {TRIALS} | {:.2} % | {:.2} % |",
                    100.0 * expected,
                    100.0 * met.value()
                );
            }
            assert!(met.fits(expected), "{b} × {r} at {similarity}: {} instead of {expected}", met.value());
            if bands == chosen && percent >= 80 {
                assert!(met.may_reach(0.99), "recall at the threshold: {}", met.value());
            }
        }
    }
}

/// In small sets equal slots come more evenly than by chance, so the curve is steeper: at the
/// threshold no pair more is lost than it says.
#[test]
fn pairs_of_small_sets_at_the_threshold_meet_no_less_often() {
    let mut random = generator("small bands");
    let bands = Bands::for_threshold(0.8, 128).unwrap();
    for size in [9, 45, 180] {
        let common = size / 9 * 8;
        let mut met = Share::default();
        for _ in 0..20_000 {
            let mut elements = vec![0; 2 * size - common];
            random.fill(&mut elements);
            let [mut first, mut second] = [[0; 128]; 2];
            sign(&elements[..size], &mut first).unwrap();
            sign(&elements[size - common..], &mut second).unwrap();
            let [mut keys, mut others] = [vec![], vec![]];
            bands.keys(&first, &mut keys).unwrap();
            bands.keys(&second, &mut others).unwrap();
            met.add(keys.iter().zip(&others).any(|(key, other)| key == other));
        }
        assert!(met.value() >= 0.99, "{size} elements: {}", met.value());
        assert!(met.may_reach(bands.probability(0.8)));
    }
}

/// A curve of one row more, or one band fewer, is told from the right one.
#[test]
fn a_wrong_curve_is_caught() {
    let mut random = generator("wrong bands");
    let right = Bands::new(16, 8).unwrap();
    for similarity in [0.6, 0.8] {
        let mut met = Share::default();
        for _ in 0..6_000 {
            met.add(random.unit() < right.probability(similarity));
        }
        assert!(met.fits(right.probability(similarity)));
        for (bands, rows) in [(16, 9), (16, 7), (12, 8), (20, 8)] {
            let wrong = Bands::new(bands, rows).unwrap().probability(similarity);
            assert!(!met.fits(wrong), "{bands} × {rows} passes for 16 × 8 at {similarity}");
        }
    }
}

/// From the pairs that meet, the number of the pairs that do not is estimated without bias, and its
/// bounds hold in at least 94 % of trials.
#[test]
fn missed_pairs_are_counted_from_those_that_met() {
    const TRIALS: u32 = 20_000;
    let mut random = generator("missed");
    for (bands, pairs, from, to) in
        [(16, 1_000, 0.5, 1.0), (16, 300, 0.7, 0.9), (5, 200, 0.8, 1.0), (16, 40, 0.6, 0.8)]
    {
        let bands = Bands::new(bands, 8).unwrap();
        let (mut held, mut sum, mut squares) = (Share::default(), 0.0, 0.0);
        for _ in 0..TRIALS {
            let mut found = Vec::new();
            for _ in 0..pairs {
                let similarity = from + (to - from) * random.unit();
                if random.unit() < bands.probability(similarity) {
                    found.push(similarity);
                }
            }
            let missed = f64::from(pairs) - found.len() as f64;
            let estimate = bands.expected_missed(found).unwrap();
            held.add(estimate.covers(missed));
            sum += estimate.value() - missed;
            squares += (estimate.value() - missed).powi(2);
        }
        let trials = f64::from(TRIALS);
        let deviations = sum / squares.sqrt();
        #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
        {
            println!(
                "| {} × 8 | {pairs} of {from} to {to} | {TRIALS} | {:+.3} ± {:.3} | {:.2} % |",
                bands.bands(),
                sum / trials,
                (squares / trials).sqrt(),
                100.0 * held.value()
            );
        }
        assert!(deviations.abs() < 5.0, "a bias of {deviations} deviations of its mean");
        assert!(held.may_reach(0.94), "held in {}", held.value());
    }
}
