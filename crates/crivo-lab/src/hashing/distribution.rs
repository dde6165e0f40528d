//! Tests that hashes are distributed evenly.
//!
//! The test uses ten functions, random texts, and a hundred groups of hash values: Pearson's χ²
//! with 99 degrees of freedom for each function. The functions are XXH3 under ten seeds, and the
//! ten indexes that a sketch derives from one XXH3 value. DJB31MA, as an example of a failure, puts
//! all texts of five digits into one group of a hundred.

use crivo::hash::{Indexes, djb31ma, index, remix};
use crivo::keys::KeyScheme;

use super::texts;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "hash-distribution",
    title: "Distribution of hash values",
    claim: "The values of ten hash functions over random texts are uniformly distributed, under ten seeds as well as \
            derived from one hash.",
    sources: &[(Text::Project, "§2.3.1, figure 2.1")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.0),
};

const SIZE: u32 = 1 << 20;
const FUNCTIONS: u32 = 10;

/// The share `lean` of the hashes in the upper half is moved to the lower half, as by a function
/// that is not quite uniform.
fn measure(context: &Context<'_>, lean: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let count = context.size(20_000, 100_000, 1_000_000);
    report.parameter("texts", count);
    let mut random = context.random("texts");
    let texts = texts(count, &mut random);
    let seed = random.bits();
    let moved = (lean * f64::from(1 << 16)) as u64;
    let mut sums = Section::numbers("χ² of all ten functions");
    for (name, derived) in [("XXH3 under ten seeds", false), ("indexes derived from one XXH3 value", true)] {
        context.advance(usize::from(derived), 2)?;
        let mut columns = Vec::new();
        for function in 0..FUNCTIONS {
            let scheme =
                KeyScheme::bytes().with_seed(if derived { seed } else { seed.wrapping_add(function.into()) });
            let mut column = Vec::with_capacity(count);
            for text in &texts {
                let hash = scheme.hash(text.as_str())?;
                let value = if derived { remix(hash, function) } else { hash };
                let value = if value & 0xffff < moved { value & (u64::MAX >> 1) } else { value };
                column.push(index(value, SIZE.into()) as u32);
            }
            columns.push(column);
        }
        let indexes = Indexes::from_columns(SIZE, columns)?;
        let mut part = Section::curve(format!("χ² of {name}"), "function", "χ² at 99 degrees");
        let mut sum = 0.0;
        for function in 0..FUNCTIONS {
            let statistic = indexes.distribution(function as usize, 100)?.statistic();
            sum += statistic;
            part.at(
                f64::from(function + 1),
                Measure::ChiSquare { statistic, degrees: 99, trials: count as u64 },
            );
        }
        let (degrees, trials) = (99 * u64::from(FUNCTIONS), u64::from(FUNCTIONS) * count as u64);
        sums.named(name, Measure::ChiSquare { statistic: sum, degrees, trials });
        report.add(part);
    }
    report.add(sums);
    let words: Vec<String> = (0..50_000).map(|number| format!("{number:05}")).collect();
    let high =
        Indexes::of(&words, 1, 100, |word, _| ((u64::from(djb31ma(word.as_bytes(), 0)) * 100) >> 32) as u32)?;
    let mut part = Section::numbers("DJB31MA of the texts 00000 to 49999, which fails").control();
    part.between("χ² at 99 degrees", high.distribution(0, 100)?.statistic(), 1e5, f64::INFINITY);
    report.add(part);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn a_lean_of_three_percent_is_refuted() {
        is_refuted_at_usual_scale("hash-distribution", &[0.03], measure);
    }
}
