//! Whole distributions: does what was observed come from the probabilities that theory gives?
//!
//! A mean and a variance say little about a counter whose estimate is heavy-tailed, and nothing
//! about a sample. Pearson's χ² looks at every cell.

/// Cells are pooled with their neighbours until this many observations are expected in each. Then
/// the tails of a cell's count are nearly normal as far out as the limit below looks.
const EXPECTED: f64 = 1000.0;

/// The standard normal quantile of 10⁻⁸. Counts have somewhat heavier tails than the χ²
/// distribution, and the limit is an approximation of its own: a hundred times below the false
/// alarm that is allowed is enough for both.
const DEVIATIONS: f64 = 5.612;

/// Holds counts to probabilities. The error says how far they are from each other.
///
/// # Panics
/// If the probabilities do not add up to 1, or if there are too few observations for two cells.
pub(crate) fn chi_square(subject: &str, observed: &[u64], probabilities: &[f64]) -> Result<(), String> {
    assert_eq!(observed.len(), probabilities.len(), "{subject}");
    let sum: f64 = probabilities.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{subject}: probabilities add up to {sum}");
    let total: u64 = observed.iter().sum();

    let mut cells = vec![(0.0, 0.0)];
    for (&count, probability) in observed.iter().zip(probabilities) {
        if cells[cells.len() - 1].1 >= EXPECTED {
            cells.push((0.0, 0.0));
        }
        let last = cells.len() - 1;
        cells[last].0 += count as f64;
        cells[last].1 += probability * total as f64;
    }
    if let Some((count, expected)) = cells.pop_if(|cell| cell.1 < EXPECTED) {
        let last = cells.len() - 1;
        cells[last].0 += count;
        cells[last].1 += expected;
    }
    assert!(cells.len() > 1, "{subject}: too few observations to see anything");

    let statistic: f64 =
        cells.iter().map(|(count, expected)| (count - expected) * (count - expected) / expected).sum();
    let degrees = (cells.len() - 1) as f64;
    // Wilson and Hilferty: the cube root of a χ² variable is nearly normal. For one or two degrees
    // this is above the true quantile.
    let limit = degrees * (1.0 - 2.0 / (9.0 * degrees) + DEVIATIONS * (2.0 / (9.0 * degrees)).sqrt()).powi(3);
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the tables in docs/accuracy
    {
        println!("| {subject} | {total} | {degrees} | {statistic:.1} | {limit:.1} |");
    }
    if statistic <= limit {
        Ok(())
    } else {
        Err(format!("{subject}: χ² is {statistic:.1} at {degrees} degrees, limit {limit:.1}"))
    }
}

#[test]
fn a_fair_die_passes_and_a_loaded_one_does_not() {
    let mut random = super::support::generator("dice");
    let mut fair = [0_u64; 6];
    (0..200_000).for_each(|_| fair[random.below(6)] += 1);
    assert_eq!(chi_square("a fair die", &fair, &[1.0 / 6.0; 6]), Ok(()));
    let mut loaded = fair;
    loaded[5] += 2_000;
    assert!(chi_square("a loaded die", &loaded, &[1.0 / 6.0; 6]).is_err());
}
