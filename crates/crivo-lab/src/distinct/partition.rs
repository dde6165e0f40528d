//! Partitions the input into four, as in figure 5.2.
//!
//! Ten elements have hashes of eight bits. The last two bits choose one of four parts. In the first
//! six, the zeros before the first one are counted. The figure's own hashes are not in the text, so
//! the experiment uses ten others. Because eight bits are few, everything about the example can be
//! counted: each part has 64 of the 256 hashes. Half of them begin with a one, a quarter with one
//! zero, and so on. That determines the distribution of each part's longest run for ten random
//! elements.

use libm::pow;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "partition",
    title: "Four estimates from one hash",
    claim: "The last two of eight bits divide the elements into four equal parts whose longest runs of zeros in the other \
            six are estimates of their own: P(D ≤ z) = (3/4 + (1 − 2^−(z+1))/4)^10 for ten elements.",
    sources: &[(Text::Chapter, "§5.5, figure 5.2")],
    expected: Verdict::Confirmed,
    run: |context| Ok(measure(context, 4.0)),
};

/// Returns the part that a hash belongs to, and its zeros before the first one: six if there is
/// none.
fn split(hash: u8) -> (usize, u32) {
    (usize::from(hash & 3), (hash >> 2).leading_zeros() - 2)
}

/// Returns the longest run of each part.
fn runs(hashes: &[u8]) -> [u32; 4] {
    let mut longest = [0; 4];
    for &hash in hashes {
        let (part, zeros) = split(hash);
        longest[part] = zeros.max(longest[part]);
    }
    longest
}

/// `parts` replaces four in the theory.
fn measure(context: &Context<'_>, parts: f64) -> ExperimentReport {
    let mut report = ExperimentReport::new();
    let trials = context.size(40_000, 400_000, 4_000_000);
    report.parameter("trials", trials);
    // First the zeros, then the part: 00010110 has three zeros and is in the third part.
    let example = [
        0b0001_0110,
        0b1011_0001,
        0b0100_1100,
        0b0010_1011,
        0b1110_0010,
        0b0000_0101,
        0b0111_1000,
        0b1000_1111,
        0b0011_0010,
        0b0101_0101,
    ];
    let mut part = Section::numbers("Ten elements");
    let expected = [1.0, 5.0, 3.0, 2.0];
    for (number, (run, expected)) in runs(&example).into_iter().zip(expected).enumerate() {
        part.equal(format!("longest run of part {}", number + 1), run.into(), expected);
    }
    // 4 · 2^((1 + 5 + 3 + 2)/4) before the constant.
    let mean = runs(&example).into_iter().map(f64::from).sum::<f64>() / 4.0;
    part.exact("k times the geometric mean of 2^D", 4.0 * pow(2.0, mean), parts * pow(2.0, 2.75), 1e-9);
    report.add(part);

    let mut part = Section::numbers("All 256 hashes");
    let mut counts = [[0_u32; 7]; 4];
    for hash in 0..=u8::MAX {
        let (number, zeros) = split(hash);
        counts[number][zeros as usize] += 1;
    }
    for (number, counts) in counts.iter().enumerate() {
        part.equal(
            format!("hashes of part {}", number + 1),
            counts.iter().sum::<u32>().into(),
            256.0 / parts,
        );
        for (zeros, &count) in counts.iter().enumerate() {
            let share = if zeros == 6 { 1.0 / 64.0 } else { pow(2.0, -(zeros as f64 + 1.0)) };
            part.equal(format!("with {zeros} zeros, part {}", number + 1), count.into(), 64.0 * share);
        }
    }
    report.add(part);

    let mut random = context.random("ten");
    let mut at_most = [0_u64; 6];
    for _ in 0..trials {
        let hashes: [u8; 10] = std::array::from_fn(|_| random.bits() as u8);
        let longest = runs(&hashes)[0];
        at_most.iter_mut().zip(0..).for_each(|(count, zeros)| *count += u64::from(longest <= zeros));
    }
    let mut part =
        Section::curve("Longest run of one part, ten random elements", "zeros", "share at most so long");
    for (zeros, &count) in at_most.iter().enumerate() {
        let longer = pow(2.0, -(zeros as f64 + 1.0));
        part.share(zeros as f64, count, trials, pow(1.0 - longer / parts, 10.0));
    }
    report.add(part);
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn another_number_of_parts_is_refuted() {
        for wrong in [3.0, 4.12] {
            assert_eq!(verdict("partition", |context| Ok(measure(context, wrong))), Verdict::Refuted);
        }
    }
}
