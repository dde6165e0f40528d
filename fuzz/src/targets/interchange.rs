//! Any bytes are a sketch of Apache DataSketches or an error; what is read answers within its
//! bounds and reads back.

use crate::foreign;
use crivo_interchange::{Hll, Kll, Req, Theta};

/// Sketches that the changes begin with, one of each kind and state.
fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for items in [0, 5, 100, 5_000_u64] {
        let (mut hll, mut theta) = (Hll::new(8).expect("a valid size"), Theta::new(8).expect("a valid size"));
        let mut kll = Kll::<f64>::new(32).expect("a valid size");
        let mut req = Req::new(12, true).expect("a valid size");
        for item in 0..items {
            hll.insert_integer(item);
            theta.insert_integer(item);
            kll.insert(item as f64);
            req.insert(item as f32);
        }
        all.extend([hll.encode(), theta.encode(), kll.encode(), req.encode()]);
    }
    all
}

fn check_bytes(bytes: &[u8]) {
    if let Ok(sketch) = Hll::decode(bytes) {
        let estimate = sketch.estimate();
        assert!(estimate.lower() <= estimate.value() && estimate.value() <= estimate.upper());
        Hll::decode(&sketch.encode()).expect("what was read is written whole");
    }
    if let Ok(sketch) = Theta::decode(bytes, 8) {
        let estimate = sketch.estimate();
        assert!(estimate.lower() <= estimate.value() && estimate.value() <= estimate.upper());
        Theta::decode(&sketch.encode(), 8).expect("what was read is written whole");
    }
    if let Ok(mut sketch) = Kll::<f64>::decode(bytes) {
        assert_eq!(sketch.quantile(0.5).is_some(), sketch.count() > 0);
        let other = Kll::<f64>::decode(&sketch.encode()).expect("what was read is written whole");
        let _ = sketch.merge(&other);
    }
    if let Ok(sketch) = Req::decode(bytes) {
        assert_eq!(sketch.quantile(0.5).is_some(), sketch.count() > 0);
        Req::decode(&sketch.encode()).expect("what was read is written whole");
    }
}

/// Checks the promise for one input.
pub fn check(input: (Vec<foreign::Change>, u8)) {
    static SEEDS: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
    let seeds = SEEDS.get_or_init(seeds);
    let (changes, which) = input;
    let mut bytes = seeds[usize::from(which) % seeds.len()].clone();
    foreign::apply(&changes, &mut bytes);
    check_bytes(&bytes);
}
