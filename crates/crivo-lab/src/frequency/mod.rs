//! Counting frequencies: Count-Min, private counts, majorities.

pub(crate) mod cost;
pub(crate) mod count_min;
pub(crate) mod invariant;
pub(crate) mod join_size;
pub(crate) mod majority;
pub(crate) mod private;
pub(crate) mod ranges;

/// Returns the probability of each sum of the counts that share a key's counter in one row of the
/// given width. Each of the other keys is in this counter with probability `1/width`.
fn noise(counts: &[u64], width: f64) -> Vec<f64> {
    let meets = 1.0 / width;
    let mut probabilities = vec![1.0];
    for &count in counts {
        let mut with = vec![0.0; probabilities.len() + count as usize];
        for (sum, probability) in probabilities.iter().enumerate() {
            with[sum] += probability * (1.0 - meets);
            with[sum + count as usize] += probability * meets;
        }
        // Sums of negligible probability would only take time.
        while with.last().is_some_and(|&probability| probability < 1e-30) {
            with.pop();
        }
        probabilities = with;
    }
    probabilities
}

/// Returns the probability that the least of `depth` rows is above each sum.
fn above(noise: &[f64], depth: u32) -> Vec<f64> {
    let mut tail = 0.0;
    let mut above: Vec<f64> = noise
        .iter()
        .rev()
        .map(|probability| {
            let before = tail;
            tail += probability;
            libm::pow(before, depth.into())
        })
        .collect();
    above.reverse();
    above
}

/// Returns the counts of the given number of keys: all 1, or if `zipf` is true `200/rank^1.1`,
/// rounded up.
fn counts(keys: u64, zipf: bool) -> Vec<u64> {
    (1..=keys)
        .map(|rank| if zipf { libm::ceil(200.0 / libm::pow(rank as f64, 1.1)) as u64 } else { 1 })
        .collect()
}
