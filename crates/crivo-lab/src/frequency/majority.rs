//! The majority element, for streams with and without one.
//!
//! One candidate and one counter find the element with more than half of the votes, in any order.
//! Without such an element some candidate still remains, and a second pass detects this. There are
//! false positives, but never false negatives.

use crivo::frequency::Majority;
use crivo::keys::{KeyRef, KeyScheme};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "majority",
    title: "The majority element",
    claim: "One candidate and one counter keep the majority element of every stream that has one, in any order, and \
            without a majority a second pass refuses whatever candidate is left.",
    sources: &[(Text::Chapter, "§5.7, theorem 5.8")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.5),
};

/// `share` is the share of the votes that a majority needs, in theory.
fn measure(context: &Context<'_>, share: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(200, 2_000, 20_000);
    let votes = 1_001_usize;
    report.parameter("trials", trials);
    report.parameter("votes", votes);
    let mut found =
        Section::curve("Streams whose winner is the candidate", "share of the votes", "share of streams");
    let mut random = context.random("streams");
    // Above the share, the element is always found. Below it, that depends on the order. Random
    // orders are easy cases, so the worst order is tested too.
    for tenth in [1_usize, 20, 100, 300] {
        let winner = (votes as f64 * share) as usize + tenth;
        for order in ["random", "winner first", "winner last", "alternating"] {
            let mut kept = 0;
            for _ in 0..trials / 4 {
                let mut stream: Vec<u64> = vec![7; winner];
                stream.extend((winner..votes).map(|_| 100 + random.below(5) as u64));
                match order {
                    "random" => random.shuffle(&mut stream),
                    "winner last" => stream.reverse(),
                    "alternating" => {
                        let others = stream.split_off(winner);
                        let mut woven = Vec::with_capacity(votes);
                        for place in 0..winner {
                            woven.extend(others.get(place));
                            woven.push(7);
                        }
                        stream = woven;
                    }
                    _ => {}
                }
                let sketch = sketch_of(&stream)?;
                let is_winner = sketch.candidate().is_some_and(|hitter| hitter.key() == KeyRef::Integer(7));
                kept += u64::from(is_winner && sketch.is_majority(winner as u64));
            }
            let x = winner as f64 / votes as f64;
            if order == "random" {
                found.exact_at(x, kept as f64 / (trials / 4) as f64, 1.0, 0.0);
            } else {
                found.exact(
                    format!("{winner} of {votes}, {order}"),
                    kept as f64 / (trials / 4) as f64,
                    1.0,
                    0.0,
                );
            }
        }
    }
    report.add(found);

    let mut part = Section::numbers("Streams without a majority");
    let (mut confirmed, mut candidates) = (0, 0);
    for trial in 0..trials {
        // Two leaders with 40 % of the votes each, or votes spread evenly over twenty candidates.
        let mut stream: Vec<u64> = (0..votes)
            .map(|place| match trial % 2 {
                0 if place * 5 < votes * 4 => (place % 2) as u64,
                _ => 2 + random.below(20) as u64,
            })
            .collect();
        random.shuffle(&mut stream);
        let sketch = sketch_of(&stream)?;
        if let Some(candidate) = sketch.candidate() {
            candidates += 1;
            let KeyRef::Integer(key) = candidate.key() else { continue };
            let counted = stream.iter().filter(|&&vote| vote == key).count() as u64;
            confirmed += u64::from(sketch.is_majority(counted));
        }
    }
    part.equal("candidates that the second pass takes for a majority", confirmed as f64, 0.0);
    part.between("streams that leave a candidate, of all", candidates as f64 / trials as f64, 0.5, 1.0);
    report.add(part);
    Ok(report)
}

fn sketch_of(stream: &[u64]) -> Result<Majority> {
    let mut sketch = Majority::with_scheme(KeyScheme::integers());
    for key in stream {
        sketch.insert(key)?;
    }
    Ok(sketch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_majority_of_less_than_a_half_is_refuted() {
        assert_eq!(verdict("majority", |context| measure(context, 0.485)), Verdict::Refuted);
    }
}
