//! Are samples of rows uniform over the seeds, and by weight as successive draws are?

use crivo::sampling::RowSample;

use super::chi_square::chi_square;
use super::reservoir::sets_observed;
use super::support::generator;
use super::weighted_reservoir::{WEIGHTS, sets_expected};

fn places(sample: &RowSample) -> Vec<u64> {
    sample.rows().iter().map(|kept| kept.place).collect()
}

/// Claims that over random seeds every set of k of 6 rows is equally likely. 100,000 trials; χ² at
/// 10⁻⁸.
#[test]
fn every_set_of_rows_is_equally_likely() {
    for k in 1..=4 {
        let mut random = generator("sets of rows");
        let observed = sets_observed(6, k, 100_000, || {
            let mut first = RowSample::new(k.into(), random.bits()).unwrap();
            let mut other = first.clone();
            for place in 0..6 {
                let part = if place % 2 == 0 { &mut first } else { &mut other };
                part.insert(place, b"").unwrap();
            }
            first.merge(&other).unwrap();
            places(&first)
        });
        let expected = vec![1.0 / observed.len() as f64; observed.len()];
        assert_eq!(chi_square(&format!("{k} of 6 rows"), &observed, &expected), Ok(()));
    }
}

/// Claims that sets come up as `k` draws without replacement by weight would find them. 100,000
/// trials; χ² at 10⁻⁸.
#[test]
fn weighted_sets_have_the_probabilities_of_successive_draws() {
    for weights in WEIGHTS {
        for k in 1..=3 {
            let mut random = generator("weighted sets of rows");
            let observed = sets_observed(weights.len() as u64, k, 100_000, || {
                let mut sample = RowSample::weighted(k.into(), random.bits()).unwrap();
                for (place, &weight) in (0..).zip(weights) {
                    sample.insert_weighted(place, weight, || b"").unwrap();
                }
                places(&sample)
            });
            let expected = sets_expected(weights, k as usize);
            assert_eq!(chi_square(&format!("{k} of {weights:?}"), &observed, &expected), Ok(()));
        }
    }
}

/// Claims that in a long table a random one of the sampled rows is in any twentieth of it with the
/// same probability, for row numbers that are in order and for seeds that differ in a bit only.
/// 100,000 rows drawn; χ² at 10⁻⁸.
#[test]
fn rows_of_a_long_table_are_drawn_evenly() {
    let base = generator("long table").bits();
    let mut observed = [0; 20];
    for trial in 0..500 {
        let mut sample = RowSample::new(200, base ^ trial).unwrap();
        (0..20_000).for_each(|place| sample.insert(place, b"").unwrap());
        places(&sample).iter().for_each(|place| observed[*place as usize / 1_000] += 1);
    }
    assert_eq!(chi_square("rows of a long table", &observed, &[0.05; 20]), Ok(()));
}
