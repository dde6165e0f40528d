//! Majority against exact counts, on every short stream there is; and the width of its bounds
//! against theory.

use std::collections::HashMap;

use crivo::frequency::Majority;
use crivo::keys::{KeyRef, KeyScheme};

use super::support::generator;

fn empty() -> Majority {
    Majority::with_scheme(KeyScheme::integers())
}

fn feed(mut sketch: Majority, votes: &[(u64, u64)]) -> Majority {
    votes.iter().for_each(|(key, weight)| sketch.add(key, *weight).unwrap());
    sketch
}

fn votes_for(key: u64, votes: &[(u64, u64)]) -> u64 {
    votes.iter().filter(|vote| vote.0 == key).map(|vote| vote.1).sum()
}

/// The candidate, if any, with its bounds.
fn candidate(sketch: &Majority) -> Option<(u64, u64, u64)> {
    sketch.candidate().map(|hitter| match hitter.key() {
        KeyRef::Integer(key) => (key, hitter.lower(), hitter.upper()),
        other => panic!("{other:?} is no integer"),
    })
}

/// Every stream of up to `length` votes, each one of `choices`.
fn every_stream(choices: &[(u64, u64)], length: usize, mut visit: impl FnMut(&[(u64, u64)])) {
    let mut stream = Vec::new();
    for length in 0..=length {
        for number in 0..choices.len().pow(length as u32) {
            stream.clear();
            let digits = (0..length as u32).map(|place| number / choices.len().pow(place) % choices.len());
            stream.extend(digits.map(|digit| choices[digit]));
            visit(&stream);
        }
    }
}

const KEYS: u64 = 4;

fn check(sketch: &Majority, votes: &[(u64, u64)]) {
    let total: u64 = votes.iter().map(|vote| vote.1).sum();
    assert_eq!(sketch.total(), total, "{votes:?}");
    let candidate = candidate(sketch);
    for key in 0..KEYS {
        let count = votes_for(key, votes);
        let has_majority = 2 * count > total;
        assert_eq!(sketch.is_majority(count), has_majority, "{votes:?}");
        let estimate = sketch.frequency(&key).unwrap();
        assert!(estimate.is_certain() && estimate.covers(count as f64), "{votes:?}: {key} in {estimate:?}");
        match candidate {
            Some((leader, lower, upper)) if leader == key => {
                assert!(lower <= count && count <= upper, "{votes:?}: {lower} to {upper}");
                assert!(!sketch.is_certain() || has_majority, "{votes:?}: certain, but wrong");
            }
            _ => assert!(!has_majority, "{votes:?}: {key} has the majority, {candidate:?} was named"),
        }
    }
    if candidate.is_none() {
        assert!(!sketch.is_certain(), "{votes:?}");
    }
}

#[test]
fn the_statement_holds_for_every_short_stream() {
    let ones: Vec<(u64, u64)> = (0..KEYS).map(|key| (key, 1)).collect();
    every_stream(&ones, 8, |votes| check(&feed(empty(), votes), votes));
    let weighted: Vec<(u64, u64)> = (0..3).flat_map(|key| [(key, 1), (key, 2), (key, 5)]).collect();
    every_stream(&weighted, 5, |votes| check(&feed(empty(), votes), votes));
}

#[test]
fn the_statement_holds_however_a_short_stream_is_split_and_merged() {
    let choices = [(0, 1), (1, 1), (2, 1), (0, 3), (1, 2)];
    every_stream(&choices, 6, |votes| {
        for first in 0..=votes.len() {
            for second in first..=votes.len() {
                let [a, b, c] = [&votes[..first], &votes[first..second], &votes[second..]]
                    .map(|part| feed(empty(), part));
                let mut left = a.clone();
                left.merge(&b).unwrap();
                left.merge(&c).unwrap();
                check(&left, votes);
                let (mut right, mut first) = (b, a);
                right.merge(&c).unwrap();
                first.merge(&right).unwrap();
                check(&first, votes);
            }
        }
    });
}

/// For every state that votes lead to, there is a stream that leads to it and reaches each bound:
/// nothing closer would be certain.
#[test]
fn no_closer_bounds_are_certain() {
    // What was reached: the least and the most votes of the candidate, and the most of another key.
    let mut reached: HashMap<Vec<u8>, (u64, u64, u64)> = HashMap::new();
    let mut bounds = HashMap::new();
    let ones: Vec<(u64, u64)> = (0..KEYS).map(|key| (key, 1)).collect();
    every_stream(&ones, 8, |votes| {
        let sketch = feed(empty(), votes);
        let leader = candidate(&sketch);
        let own = leader.map_or(0, |(key, ..)| votes_for(key, votes));
        let others = (0..KEYS).filter(|&key| leader.is_none_or(|leader| leader.0 != key));
        let other = others.clone().map(|key| votes_for(key, votes)).max().unwrap();
        let most = others.map(|key| sketch.frequency(&key).unwrap().upper() as u64).max().unwrap();
        let state = reached.entry(sketch.encode()).or_insert((own, own, other));
        *state = (state.0.min(own), state.1.max(own), state.2.max(other));
        bounds.insert(sketch.encode(), (leader.map_or(0, |l| l.1), leader.map_or(0, |l| l.2), most));
    });
    assert_eq!(reached, bounds);
    assert!(reached.len() > 100, "{} states", reached.len());
}

#[test]
fn a_majority_of_one_vote_is_found_in_long_streams() {
    let mut random = generator("long");
    for _ in 0..200 {
        let half = 1 + random.below(2000);
        let mut votes = vec![(0, 1); half + 1];
        votes.extend((0..half).map(|_| (1 + random.below(3) as u64, 1)));
        for i in (1..votes.len()).rev() {
            votes.swap(i, random.below(i + 1));
        }
        let whole = feed(empty(), &votes);
        check(&whole, &votes);
        assert_eq!(candidate(&whole).map(|leader| leader.0), Some(0));
        let parts = votes.chunks(1 + random.below(votes.len()));
        let merged = parts.map(|part| feed(empty(), part)).reduce(|mut a, b| {
            a.merge(&b).unwrap();
            a
        });
        check(&merged.unwrap(), &votes);
    }
}

/// Between two keys the lead is a random walk, and the width of the bounds is the number of pairs
/// before its last return to zero. With a share `p` and `q = 1 − p` that is `n` with probability
/// `C(2n, n)(pq)^n (p − q)`, which has the mean `2pq/(p − q)²` and the variance
/// `2pq/(p − q)² + 8(pq)²/(p − q)⁴`.
fn theory(share: f64) -> (f64, f64) {
    let (product, gap) = (share * (1.0 - share), (2.0 * share - 1.0).powi(2));
    (2.0 * product / gap, 2.0 * product / gap + 8.0 * (product / gap).powi(2))
}

/// The mean width of many trials may differ from theory by this share of it.
const MARGIN: f64 = 0.014;

/// Returns the mean width of the bounds over many trials. `votes` must be large enough that the
/// chance of a later return to zero is below 10⁻⁷ of the width; it falls as `(4pq)^n`.
fn measured(share: f64, votes: usize, trials: usize) -> f64 {
    let mut random = generator("width");
    let limit = (share * u64::MAX as f64) as u64;
    let (mut widths, mut certain) = (0, 0);
    for _ in 0..trials {
        let mut sketch = empty();
        (0..votes).for_each(|_| sketch.insert(&u8::from(random.bits() < limit)).unwrap());
        if let Some((_, lower, upper)) = candidate(&sketch) {
            widths += upper - lower;
        }
        certain += usize::from(sketch.is_certain());
    }
    let mean = widths as f64 / trials as f64;
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
    {
        let sure = 100.0 * certain as f64 / trials as f64;
        println!("| {share} | {votes} | {trials} | {:.3} | {mean:.3} | {sure:.3} % |", theory(share).0);
    }
    mean
}

#[test]
fn the_width_of_the_bounds_is_that_of_theory() {
    for (share, votes, trials) in [(0.6, 1600, 300_000), (0.7, 320, 350_000), (0.9, 60, 1_100_000)] {
        let (mean, variance) = theory(share);
        let deviations = MARGIN * mean / (variance / trials as f64).sqrt();
        assert!(deviations > 4.892, "a false alarm above 10⁻⁶: {deviations} deviations");
        let ratio = measured(share, votes, trials) / mean;
        assert!((ratio - 1.0).abs() <= MARGIN, "{share}: {ratio} of theory");
        assert!((1.03 * ratio - 1.0).abs() > MARGIN, "a constant wrong by 3 % would be caught");
    }
}
