//! Tests that a hundred hash functions are uncorrelated.
//!
//! The coefficient of two independent functions over `n` texts is nearly normal with deviation
//! `1/√n`. There are 4,950 pairs, so the largest coefficient is about `3.9/√n`, which is below 0.01
//! only from about `4·10⁵` texts on. To confirm that with a false alarm of one in a million takes
//! slightly more texts, so half a million are used here.

use crivo::keys::KeyScheme;
use libm::sqrt;

use crate::prelude::*;
use crate::test::normal_quantile;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "hash-correlation",
    title: "Correlation of a hundred hash functions",
    claim: "The correlation coefficients of all 4,950 pairs of a hundred hash functions are below 0.01, given the 4·10⁵ \
            texts or more that this takes.",
    sources: &[(Text::Project, "§2.3.2, figure 2.2")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

const FUNCTIONS: usize = 100;
const PAIRS: usize = FUNCTIONS * (FUNCTIONS - 1) / 2;
/// The number of texts that are hashed at once: a hundred columns of them stay in the cache.
const CHUNK: usize = 500;

/// `spread` multiplies the deviation of the theory.
fn measure(context: &Context<'_>, spread: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let functions = context.size(30, FUNCTIONS, FUNCTIONS);
    let sizes = context.size(
        &[20_000, 100_000][..],
        &[10_000, 30_000, 100_000, 200_000, 400_000, 500_000],
        &[10_000, 30_000, 100_000, 200_000, 400_000, 500_000, 1_000_000],
    );
    report.parameter("functions", functions);
    let mut random = context.random("texts");
    let seed = random.bits();
    let mut sums = Sums::new(functions);
    let mut done = 0;
    // For each chunk by itself, (n − 1) r² has exactly the mean 1, and squares of different pairs
    // are uncorrelated.
    let (mut chunk_squares, mut chunk_coefficients) = (0.0, 0_u64);
    let mut largest =
        Section::curve("Largest coefficient of all pairs", "texts", "absolute coefficient").log_x().log_y();
    let mut squares = Section::numbers("Sum of the squares of all coefficients, times the number of texts");
    for &size in sizes {
        while done < size {
            let chunk = sums.add_chunk(seed, &mut random)?;
            for coefficient in chunk.coefficients() {
                chunk_squares += (CHUNK - 1) as f64 * coefficient * coefficient;
                chunk_coefficients += 1;
            }
            done += CHUNK;
            if done % 20_000 == 0 {
                context.advance(done, sizes.last().copied().unwrap_or(done))?;
            }
        }
        let coefficients = sums.coefficients();
        let n = done as f64;
        let most = coefficients.iter().fold(0.0, |most: f64, coefficient| most.max(coefficient.abs()));
        // The largest coefficient of all pairs is below the quantile at the level divided by the
        // number of pairs. It exceeds half of its usual size almost certainly.
        let pairs = coefficients.len() as f64;
        let bound = spread * normal_quantile(crate::test::LEVEL / 20.0 / pairs) / sqrt(n);
        let usual = spread * normal_quantile(1.0 / pairs) / sqrt(n);
        largest.at(n, Measure::Between { observed: most, lower: usual / 2.0, upper: bound });
        let sum: f64 = coefficients.iter().map(|coefficient| n * coefficient * coefficient).sum();
        squares.named(
            format!("{size} texts"),
            Measure::Normal {
                observed: sum,
                theory: pairs * spread * spread,
                deviation: sqrt(2.0 * pairs),
                trials: done as u64,
                side: Side::Both,
            },
        );
        if size >= 500_000 || sizes.last() == Some(&size) {
            let limit = context.size(0.03, 0.01, 0.01);
            squares.between(format!("largest coefficient, {size} texts"), most, 0.0, limit);
        }
    }
    let mut chunks = Section::numbers(format!("Coefficients of {CHUNK} texts, many times"));
    chunks.named(
        "mean of their squares, times the number of texts less one",
        Measure::Normal {
            observed: chunk_squares / chunk_coefficients as f64,
            theory: spread * spread,
            deviation: sqrt(2.0 / chunk_coefficients as f64),
            trials: chunk_coefficients,
            side: Side::Both,
        },
    );
    largest.show("0.01", [(sizes[0] as f64, 0.01), (done as f64, 0.01)]);
    report.add(largest);
    report.add(squares);
    report.add(chunks);
    report.note(format!("{PAIRS} pairs of a hundred functions; of 400,000 texts a family without fault exceeds 0.01 once in 800,000 times."));
    Ok(report)
}

/// The sums of the products of all pairs of functions.
struct Sums {
    functions: usize,
    /// The centred values of a chunk of texts, a row for each function.
    values: Vec<f32>,
    products: Vec<f64>,
    totals: Vec<f64>,
    count: f64,
}

impl Sums {
    fn new(functions: usize) -> Self {
        Self {
            functions,
            values: vec![0.0; functions * CHUNK],
            products: vec![0.0; functions * functions],
            totals: vec![0.0; functions],
            count: 0.0,
        }
    }

    /// Adds a chunk of texts, and returns the sums of this chunk alone.
    fn add_chunk(&mut self, seed: u64, random: &mut Random) -> Result<Self> {
        for place in 0..CHUNK {
            let text = super::text(self.count as usize + place, random);
            for function in 0..self.functions {
                let hash =
                    KeyScheme::bytes().with_seed(seed.wrapping_add(function as u64)).hash(text.as_str())?;
                // The highest 24 bits, centred at 0, which are exact as a float.
                self.values[function * CHUNK + place] = (hash >> 40) as f32 / (1 << 24) as f32 - 0.5;
            }
        }
        let mut chunk = Self { values: Vec::new(), count: CHUNK as f64, ..Self::new(self.functions) };
        let rows: Vec<&[f32]> = self.values.chunks_exact(CHUNK).collect();
        for (first, row) in rows.iter().enumerate() {
            chunk.totals[first] = row.iter().map(|&value| f64::from(value)).sum::<f64>();
            for (second, other) in rows.iter().enumerate().take(first + 1) {
                chunk.products[first * self.functions + second] = f64::from(product(row, other));
            }
        }
        let add =
            |sums: &mut [f64], more: &[f64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.totals, &chunk.totals);
        add(&mut self.products, &chunk.products);
        self.count += chunk.count;
        Ok(chunk)
    }

    fn coefficients(&self) -> Vec<f64> {
        let covariance = |a: usize, b: usize| {
            self.products[a * self.functions + b] / self.count
                - self.totals[a] * self.totals[b] / self.count / self.count
        };
        let pairs = (0..self.functions).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs.map(|(a, b)| covariance(a, b) / sqrt(covariance(a, a) * covariance(b, b))).collect()
    }
}

/// Computes eight partial sums in parallel, which the processor adds at once.
fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest = a.len() / 8 * 8;
    sums.iter().sum::<f32>() + a[rest..].iter().zip(&b[rest..]).map(|(a, b)| a * b).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_deviation_three_percent_from_one_over_root_n_is_refuted() {
        for wrong in [0.97, 1.03] {
            assert_eq!(verdict("hash-correlation", |context| measure(context, wrong)), Verdict::Refuted);
        }
    }
}
