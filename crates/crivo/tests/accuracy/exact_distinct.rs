//! `ExactDistinct`: what it counts is what there is.

use crivo::Estimate;
use crivo::distinct::ExactDistinct;
use crivo::keys::KeyScheme;

use super::support::generator;

#[test]
fn every_count_is_exact_and_certain() {
    let mut random = generator("exact distinct");
    let mut sketch = ExactDistinct::with_scheme(KeyScheme::hashes());
    let mut earlier = Vec::new();
    for count in 1..=300_000_u64 {
        // That a random 64-bit number comes twice has a chance of 10⁻⁹ over the whole test.
        let hash = random.bits();
        sketch.insert_hash(hash);
        if count % 1_000 == 1 {
            earlier.push(hash);
            sketch.insert_hashes(&earlier);
            assert_eq!(sketch.estimate(), Estimate::exact(count as f64));
        }
    }
    assert_eq!(sketch.estimate(), Estimate::exact(300_000.0));
    assert!(sketch.memory() < 22 * 300_000, "{} bytes", sketch.memory());
}
