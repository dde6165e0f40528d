//! The files of DDSketch.

use crivo::profile::DDSketch;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let numbers = |accuracy, bins, numbers: &mut dyn Iterator<Item = f64>| {
        let mut sketch = DDSketch::new(accuracy, bins).unwrap();
        numbers.for_each(|number| sketch.insert(number));
        sketch.encode()
    };
    let mut weights = DDSketch::new(0.05, 64).unwrap();
    (1..=20_u32).for_each(|i| weights.add(f64::from(i) / 4.0, 1 << i));
    let mut saturated = DDSketch::new(0.01, 100).unwrap();
    [1.0, -2.0].iter().for_each(|&number| saturated.add(number, u64::MAX - 1));
    let extremes = [f64::MAX, -f64::MAX, 5e-324, f64::MIN_POSITIVE, 0.0, -0.0, f64::NAN, f64::INFINITY];
    vec![
        ("ddsketch_v1_empty", numbers(0.01, 2073, &mut [].into_iter())),
        ("ddsketch_v1_integers", numbers(0.01, 2073, &mut (-100..=1000).map(f64::from))),
        ("ddsketch_v1_halves", numbers(0.001, 4096, &mut (-9..=9).map(|i| f64::from(i) / 2.0))),
        ("ddsketch_v1_joined", numbers(0.01, 50, &mut (0..4000).map(|i| f64::from(i * i + 1)))),
        ("ddsketch_v1_extremes", numbers(0.01, 16, &mut extremes.into_iter())),
        ("ddsketch_v1_weights", weights.encode()),
        ("ddsketch_v1_saturated", saturated.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| DDSketch::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let integers = stored("ddsketch_v1_integers");
    assert_eq!((integers.count(), integers.sum()), (1101, Some(495_450.0)));
    assert!(integers.quantile(0.5).unwrap().covers(450.0));
    let joined = stored("ddsketch_v1_joined");
    assert!(joined.is_collapsed() && joined.quantile(0.5).unwrap().covers(1999.0 * 1999.0 + 1.0));
    let extremes = stored("ddsketch_v1_extremes");
    assert_eq!((extremes.count(), extremes.zeros(), extremes.not_finite()), (6, 2, 2));
    assert_eq!(stored("ddsketch_v1_saturated").sum(), None);
}
