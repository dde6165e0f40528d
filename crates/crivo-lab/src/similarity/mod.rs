//! Similarity of sets.

pub(crate) mod all_pairs;
pub(crate) mod bands;
pub(crate) mod columns;
pub(crate) mod exact;
pub(crate) mod min_hash;

use crate::random::Random;

/// Two sets of random hashes whose similarity is as near as possible to the requested one.
struct Sets {
    elements: Vec<u64>,
    size: usize,
}

impl Sets {
    /// Returns two sets whose union has the given number of elements, or one more.
    fn new(union: usize, similarity: f64) -> Self {
        let common = libm::round(union as f64 * similarity) as usize;
        // Both sets have the same size, so the number of elements that are not common must be even.
        let union = union + (union - common) % 2;
        Self { elements: vec![0; union], size: common + (union - common) / 2 }
    }

    /// Returns the exact similarity of the sets.
    fn similarity(&self) -> f64 {
        (2 * self.size - self.elements.len()) as f64 / self.elements.len() as f64
    }

    /// Draws new elements.
    fn draw(&mut self, random: &mut Random) -> (&[u64], &[u64]) {
        random.fill(&mut self.elements);
        let start = self.elements.len() - self.size;
        (&self.elements[..self.size], &self.elements[start..])
    }
}
