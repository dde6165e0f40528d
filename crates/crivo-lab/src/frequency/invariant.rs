//! Why the majority algorithm is correct: tests its invariant in all six cases.
//!
//! After `i` votes, with candidate `c` and counter `s`, no candidate has more than `(i + s)/2`
//! votes, and none but `c` has more than `(i − s)/2`. There are three kinds of steps: the vote is
//! for `c`; it is not and `s > 0`; it is not and `s = 0`. The claim has two parts. That makes six
//! cases, and the text proves two of them. Here the invariant is tested step by step in every
//! stream of three candidates up to a length, and in random streams of five.

use crivo::frequency::Majority;
use crivo::keys::{KeyRef, KeyScheme};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "majority-invariant",
    title: "The majority algorithm's invariant",
    claim: "After every vote, whichever of the six cases it is, the candidate has at most (i + s)/2 votes and every other \
            at most (i − s)/2.",
    sources: &[(Text::Chapter, "exercise 5.3")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0),
};

#[derive(Default)]
struct Tally {
    /// For each case, how often it occurred, and how often the claim did not hold.
    cases: [(u64, u64); 6],
    /// How often crivo's own sketch had another candidate.
    differs: u64,
}

const CASES: [&str; 6] = [
    "a vote for the candidate: the candidate",
    "a vote for the candidate: the others",
    "a vote against, s > 0: the candidate",
    "a vote against, s > 0: the others",
    "a vote against, s = 0: the candidate",
    "a vote against, s = 0: the others",
];

/// `slack` is subtracted from the counter in the claim.
fn measure(context: &Context<'_>, slack: i64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let (length, streams) = (context.size(8, 11, 13), context.size(200, 2_000, 20_000));
    report.parameter("exhaustive_length", length);
    report.parameter("random_streams", streams);
    let mut tally = Tally::default();
    let all = 3_usize.pow(length);
    for number in 0..all {
        let mut rest = number;
        let stream: Vec<u64> = (0..length)
            .map(|_| {
                let vote = rest % 3;
                rest /= 3;
                vote as u64
            })
            .collect();
        walk(&stream, slack, &mut tally)?;
        if number % 10_000 == 0 {
            context.advance(number, all)?;
        }
    }
    let mut random = context.random("streams");
    for _ in 0..streams {
        let favourite = random.unit();
        let stream: Vec<u64> =
            (0..200).map(|_| if random.happens(favourite) { 0 } else { random.below(5) as u64 }).collect();
        walk(&stream, slack, &mut tally)?;
    }
    let mut part = Section::numbers("Steps in which the invariant does not hold");
    for (name, (_, broken)) in CASES.iter().zip(tally.cases) {
        part.equal(*name, broken as f64, 0.0);
    }
    report.add(part);
    let mut part = Section::numbers("Steps of each case").control();
    for (name, (steps, _)) in CASES.iter().zip(tally.cases) {
        part.between(*name, steps as f64, 1_000.0, f64::INFINITY);
    }
    part.equal("streams in which crivo's sketch keeps another candidate", tally.differs as f64, 0.0);
    report.add(part);
    Ok(report)
}

/// Runs the text's algorithm 5.15 step by step, and also counts all votes.
fn walk(stream: &[u64], slack: i64, tally: &mut Tally) -> Result<()> {
    let (mut candidate, mut s) = (None, 0_i64);
    let mut votes = [0_i64; 5];
    for (&vote, i) in stream.iter().zip(1_i64..) {
        let case = if candidate == Some(vote) {
            s += 1;
            0
        } else if s > 0 {
            s -= 1;
            1
        } else {
            (candidate, s) = (Some(vote), 1);
            2
        };
        votes[vote as usize] += 1;
        let (own, others) = &mut tally.cases[2 * case..2 * case + 2].split_at_mut(1);
        let claimed = s - slack;
        for (&count, who) in votes.iter().zip(0_u64..) {
            let (tallied, most) =
                if Some(who) == candidate { (&mut own[0], i + claimed) } else { (&mut others[0], i - s) };
            tallied.0 += 1;
            tallied.1 += u64::from(2 * count > most);
        }
    }
    let mut sketch = Majority::with_scheme(KeyScheme::integers());
    for vote in stream {
        sketch.insert(vote)?;
    }
    // With the counter at 0 the candidate is arbitrary.
    let kept =
        sketch.candidate().map(|hitter| hitter.key() == KeyRef::Integer(candidate.unwrap_or(u64::MAX)));
    tally.differs += u64::from(s > 0 && kept != Some(true));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_bound_one_vote_lower_is_refuted() {
        assert_eq!(verdict("majority-invariant", |context| measure(context, 1)), Verdict::Refuted);
    }
}
