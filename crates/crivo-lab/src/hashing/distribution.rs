//! Do hashes fall evenly?
//!
//! Ten functions, random texts, a hundred groups of hash values: Pearson's χ² with 99 degrees for each, for XXH3 under
//! ten seeds and for the ten indexes that a sketch derives from one XXH3 value. DJB31MA, to show a failure, puts all
//! texts of five digits into one group of a hundred.

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
    run: |context| measure(context, 100),
};

const SIZE: u32 = 1 << 20;
const FUNCTIONS: u32 = 10;

/// `groups` is how many groups of equal size theory takes the hashes to fall into.
fn measure(context: &Context<'_>, groups: u32) -> Result<Report> {
    let mut report = Report::new();
    let count = context.size(20_000, 100_000, 1_000_000);
    report.parameter("texts", count);
    let mut random = context.random("texts");
    let texts = texts(count, &mut random);
    let seed = random.bits();
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
                column.push(index(value, SIZE.into()) as u32);
            }
            columns.push(column);
        }
        let indexes = Indexes::from_columns(SIZE, columns)?;
        let mut part = Part::curve(format!("χ² of {name}"), "function", "χ² at 99 degrees");
        for function in 0..FUNCTIONS {
            let chi = indexes.distribution(function as usize, 100)?;
            part.at(
                f64::from(function + 1),
                Measure::ChiSquare {
                    statistic: chi.statistic(),
                    degrees: u64::from(groups) - 1,
                    trials: count as u64,
                },
            );
        }
        report.add(part);
    }
    let words: Vec<String> = (0..50_000).map(|number| format!("{number:05}")).collect();
    let high =
        Indexes::of(&words, 1, 100, |word, _| ((u64::from(djb31ma(word.as_bytes(), 0)) * 100) >> 32) as u32)?;
    let mut part = Part::numbers("DJB31MA of the texts 00000 to 49999, which fails").control();
    part.between("χ² at 99 degrees", high.distribution(0, 100)?.statistic(), 1e5, f64::INFINITY);
    report.add(part);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn other_degrees_of_freedom_are_refuted() {
        assert_eq!(verdict("hash-distribution", |context| measure(context, 200)), Verdict::Refuted);
        assert_eq!(verdict("hash-distribution", |context| measure(context, 40)), Verdict::Refuted);
    }
}
