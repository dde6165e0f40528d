//! Tails of the hypergeometric distribution: Fisher's exact test of two shares.
//!
//! If two samples come from the same source, chance alone decides in which sample each success of
//! either is. So, given the number in both samples together, the number in the second sample is
//! that of a draw without replacement.
//!
//! The largest term is a quotient of three binomial terms (Loader, *Fast and accurate computation
//! of binomial probabilities*, 2000), and the other terms follow from it.

use super::binomial::{NEGLIGIBLE, exactly};

/// Returns the probability that a draw of `draws` items has at least `count` marked ones. The draw
/// is from `population` items, `successes` of them marked. All are whole numbers.
pub(crate) fn drawn_at_least(count: f64, draws: f64, successes: f64, population: f64) -> f64 {
    let least = (draws + successes - population).max(0.0);
    let most = draws.min(successes);
    if count <= least {
        return 1.0;
    }
    if count > most {
        return 0.0;
    }
    let mean = draws * successes / population;
    if count > mean {
        return sum_up(count, draws, successes, population).min(1.0);
    }
    // The other tail is a tail of this kind over the unmarked items.
    let others = population - successes;
    let below = sum_up(draws - (count - 1.0), draws, others, population);
    (1.0 - below).clamp(0.0, 1.0)
}

/// Adds up the probabilities of `count`, `count + 1` and so on. They decrease, because `count` is
/// above the mean.
fn sum_up(mut count: f64, draws: f64, successes: f64, population: f64) -> f64 {
    let most = draws.min(successes);
    let mut term = drawn_exactly(count, draws, successes, population);
    let mut sum = 0.0;
    while count <= most && term > sum * NEGLIGIBLE {
        sum += term;
        let others_left = population - successes - draws + count + 1.0;
        term *= (successes - count) * (draws - count) / ((count + 1.0) * others_left);
        count += 1.0;
    }
    sum
}

fn drawn_exactly(count: f64, draws: f64, successes: f64, population: f64) -> f64 {
    let p = draws / population;
    if p >= 1.0 {
        return 1.0;
    }
    exactly(count, successes, p) * exactly(draws - count, population - successes, p)
        / exactly(draws, population, p)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same probability by binomial coefficients.
    fn by_counting(count: u64, draws: u64, successes: u64, population: u64) -> f64 {
        let choose = |n: u64, k: u64| {
            if k > n { 0.0 } else { (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64) }
        };
        let ways = |x: u64| choose(successes, x) * choose(population - successes, draws - x);
        (count..=draws.min(successes)).map(ways).sum::<f64>() / choose(population, draws)
    }

    #[test]
    fn tails_are_those_of_counting() {
        for population in [1, 2, 7, 30] {
            for successes in 0..=population {
                for draws in 0..=population {
                    for count in 0..=draws {
                        let expected = by_counting(count, draws, successes, population);
                        let [c, d, s, n] = [count, draws, successes, population].map(|n| n as f64);
                        let found = drawn_at_least(c, d, s, n);
                        let context = format!("{count} of {draws}, {successes} of {population}");
                        assert!((found - expected).abs() < 1e-10, "{context}: {found} {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn large_samples_are_nearly_normal() {
        // Two samples of a million with 10 % each: four standard deviations above.
        let (n, share) = (1e6_f64, 0.1);
        let deviation = (n * share * (1.0 - share) / 2.0_f64).sqrt();
        let found = drawn_at_least((n * share + 4.0 * deviation).round(), n, 2.0 * n * share, 2.0 * n);
        assert!((found / 3.17e-5 - 1.0).abs() < 0.02, "{found}");
        assert!(drawn_at_least(1e9, 2e9, 1.9e9, 4e9) < 1e-300);
    }
}
