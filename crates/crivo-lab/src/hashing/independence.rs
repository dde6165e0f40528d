//! Tests that the values of two hash functions are independent.
//!
//! This is a stronger test than correlation. It compares the share of texts in each cell of a grid
//! of 9 × 9 with the product of the shares of its row and column. For all 45 pairs of ten functions
//! it computes χ² with 64 degrees of freedom. The functions are XXH3 under ten seeds, the indexes
//! derived from one value, and DJB31MA, whose functions are one function shifted.

use crivo::hash::{Indexes, djb31ma, index, remix};
use crivo::keys::KeyScheme;
use libm::sqrt;

use super::texts;
use crate::prelude::*;
use crate::test::normal_quantile;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "hash-independence",
    title: "Pairwise independence of hash functions",
    claim: "Ten hash functions are independent in pairs: the share of texts in each cell of a grid differs from the \
            product of its margins by chance only, some 10^−4 to 10^−3 for 10^5 texts.",
    sources: &[(Text::Project, "§2.3.3, figure 2.3")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.0),
};

const SIZE: u32 = 1 << 20;
const FUNCTIONS: u32 = 10;
/// Ten equally spaced limits, as in the original, make nine groups.
const GROUPS: u32 = 9;

/// The share `linked` of the texts gets the value of the first function from all ten, as from
/// functions that are not independent.
fn measure(context: &Context<'_>, linked: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let count = context.size(20_000, 100_000, 1_000_000);
    report.parameter("texts", count);
    let mut random = context.random("texts");
    let texts = texts(count, &mut random);
    let seed = random.bits();
    let mut hashes = Vec::with_capacity(count);
    for text in &texts {
        hashes.push(KeyScheme::bytes().with_seed(seed).hash(text.as_str())?);
    }
    let linked = (linked * f64::from(1 << 16)) as u64;
    let place = |first: u64, value: u64| {
        index(if first & 0xffff < linked { first } else { value }, SIZE.into()) as u32
    };
    let seeded = |function: u32| -> Result<Vec<u32>> {
        let scheme = KeyScheme::bytes().with_seed(seed.wrapping_add(function.into()));
        let hashed = texts.iter().zip(&hashes);
        hashed.map(|(text, &first)| Ok(place(first, scheme.hash(text.as_str())?))).collect()
    };
    let derived = |function: u32| hashes.iter().map(|&hash| place(hash, remix(hash, function))).collect();
    let xxh3 = Indexes::from_columns(SIZE, (0..FUNCTIONS).map(seeded).collect::<Result<_>>()?)?;
    let rows = Indexes::from_columns(SIZE, (0..FUNCTIONS).map(derived).collect())?;
    // The deviation of a cell's share, and the bound on the largest error of all cells.
    let share = 1.0 / f64::from(GROUPS * GROUPS);
    let deviation = sqrt(share * (1.0 - share) / count as f64);
    let cells = f64::from(GROUPS * GROUPS * FUNCTIONS * (FUNCTIONS - 1) / 2);
    let most = normal_quantile(crate::test::LEVEL / cells) * deviation;
    let mut worst =
        Section::numbers("Largest difference between a cell's share and the product of its margins");
    for (name, indexes) in [("XXH3 under ten seeds", &xxh3), ("indexes derived from one value", &rows)] {
        context.advance(1, 2)?;
        let mut part = Section::curve(format!("χ² of all pairs, {name}"), "pair", "χ² at 64 degrees");
        let pairs = (0..FUNCTIONS as usize).flat_map(|first| (0..first).map(move |second| (second, first)));
        for (number, (first, second)) in (1..).zip(pairs) {
            let chi = indexes.independence(first, second, GROUPS)?;
            part.at(
                f64::from(number),
                Measure::ChiSquare {
                    statistic: chi.statistic(),
                    degrees: chi.degrees(),
                    trials: count as u64,
                },
            );
        }
        report.add(part);
        let found = indexes.largest_dependence(GROUPS)?.value;
        worst.between(name, found, 2.0 * deviation, most);
    }
    report.add(worst);
    // All texts have the same length, so under another seed all values move by the same amount.
    let words: Vec<String> = (0..50_000).map(|number| format!("{number:05}")).collect();
    let djb = Indexes::of(&words, 4, 1 << 16, |word, function| {
        djb31ma(word.as_bytes(), function.wrapping_mul(0x9E37_79B9)) % (1 << 16)
    })?;
    let mut part =
        Section::numbers("DJB31MA of the texts 00000 to 49999 under four seeds, which fails").control();
    part.between("largest difference of a cell", djb.largest_dependence(GROUPS)?.value, 0.03, 1.0);
    report.add(part);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn three_percent_of_linked_values_are_refuted() {
        is_refuted_at_usual_scale("hash-independence", &[0.03], measure);
    }
}
