//! DDSketch against exact quantiles, counts and sums: the bounds are certain, so that no single
//! answer may break them, and the error of theory is reached, so that nothing is wasted.

use crivo::profile::DDSketch;

use super::support::generator;

const SHARES: [f64; 13] = [0.0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0];

/// The quantile by its definition, of sorted numbers.
fn truth(sorted: &[f64], share: f64) -> f64 {
    let rank = ((share * sorted.len() as f64).ceil() as usize).saturating_sub(1);
    sorted[rank.min(sorted.len() - 1)]
}

/// Sets of numbers as data has them, and as an enemy would choose them.
fn data(name: &str) -> Vec<f64> {
    let mut random = generator(name);
    let mut draw = |number: &mut dyn FnMut(f64) -> f64| -> Vec<f64> {
        (0..20_000).map(|_| number(random.unit())).collect()
    };
    match name {
        "uniform" => draw(&mut |unit| unit),
        "exponential" => draw(&mut |unit| -unit.ln()),
        "pareto" => draw(&mut |unit| unit.powf(-2.0)),
        "normal about 0" => draw(&mut |unit| (12.0 * unit - 6.0).sinh()),
        "lognormal, wide" => draw(&mut |unit| ((unit - 0.5) * 80.0).exp()),
        "integers" => draw(&mut |unit| (unit * 100.0).floor() - 20.0),
        "any bits" => {
            let mut random = generator("bits");
            std::iter::repeat_with(|| f64::from_bits(random.bits()))
                .filter(|x| x.is_finite())
                .take(20_000)
                .collect()
        }
        "borders of bins" => {
            // Powers of γ and their neighbours: where a wrong rounding would show.
            let gamma = 1.01_f64 / 0.99;
            (-700..700)
                .flat_map(|power| {
                    let border = gamma.powi(power);
                    [border.next_down(), border, border.next_up()]
                })
                .collect()
        }
        other => panic!("no data {other}"),
    }
}

const NAMES: [&str; 8] = [
    "uniform",
    "exponential",
    "pareto",
    "normal about 0",
    "lognormal, wide",
    "integers",
    "any bits",
    "borders of bins",
];

/// The largest relative error of all quantiles of a set, by the answer times `factor`; every bound
/// is checked on the way.
fn largest_error(name: &str, accuracy: f64, bins: u32, factor: f64) -> f64 {
    let mut sorted = data(name);
    let mut sketch = DDSketch::new(accuracy, bins).unwrap();
    sketch.insert_all(&sorted);
    sorted.sort_by(f64::total_cmp);
    let mut largest: f64 = 0.0;
    let shares: Vec<f64> = (0..=2000).map(|step| f64::from(step) / 2000.0).collect();
    for (&share, answer) in shares.iter().zip(sketch.quantiles(&shares)) {
        let (truth, answer) = (truth(&sorted, share), answer.unwrap());
        assert!(answer.is_certain() && answer.covers(truth), "{name}: {truth} is not in {answer:?}");
        if truth != 0.0 {
            largest = largest.max((answer.value() * factor / truth - 1.0).abs());
        }
    }
    for limit in sorted.iter().step_by(97).flat_map(|&x| [x.next_down(), x, x.next_up(), x * 1.003]) {
        let below = sorted.partition_point(|&x| x < limit) as f64;
        let answer = sketch.count_below(limit);
        assert!(
            answer.is_certain() && answer.covers(below),
            "{name}: {below} below {limit} not in {answer:?}"
        );
    }
    assert_eq!((sketch.min(), sketch.max()), (sorted.first().copied(), sorted.last().copied()));
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
    {
        let (used, promised) = (sketch.bins(), 100.0 * sketch.relative_error());
        println!(
            "| {name} | {} | {accuracy} | {used} of {bins} | {promised:.3} % | {:.3} % |",
            sorted.len(),
            100.0 * largest
        );
    }
    assert!(
        largest <= sketch.relative_error() * factor,
        "{name}: {largest} above {}",
        sketch.relative_error()
    );
    largest
}

#[test]
fn no_quantile_is_wrong_by_more_than_the_relative_error() {
    for name in NAMES {
        for accuracy in [0.001, 0.01, 0.05] {
            largest_error(name, accuracy, 1 << 16, 1.0);
        }
    }
}

#[test]
fn after_joining_bins_the_relative_error_is_the_one_stated() {
    for name in ["uniform", "pareto", "lognormal, wide", "any bits"] {
        for bins in [16, 100, 1000] {
            largest_error(name, 0.01, bins, 1.0);
        }
    }
}

/// The promise is not idle: the error comes close to it, and an answer that is 3 % of it too large
/// breaks it.
#[test]
fn the_relative_error_is_reached() {
    for accuracy in [0.001, 0.01, 0.05] {
        let largest = largest_error("lognormal, wide", accuracy, 1 << 16, 1.0);
        assert!(largest > 0.98 * accuracy, "{largest} of {accuracy}");
        let mut sorted = data("lognormal, wide");
        let mut sketch = DDSketch::new(accuracy, 1 << 16).unwrap();
        sketch.insert_all(&sorted);
        sorted.sort_by(f64::total_cmp);
        let shares: Vec<f64> = (0..=2000).map(|step| f64::from(step) / 2000.0).collect();
        let broken = shares.iter().zip(sketch.quantiles(&shares)).any(|(&share, answer)| {
            let answer = answer.unwrap().value() * (1.0 + 0.03 * accuracy);
            (answer / truth(&sorted, share) - 1.0).abs() > accuracy
        });
        assert!(broken, "{accuracy}: a constant wrong by 3 % would not be noticed");
    }
}

/// Against the sum of whole numbers, which is exact.
#[test]
fn sums_and_means_are_rounded_once() {
    let mut random = generator("sums");
    for _ in 0..200 {
        // Numbers of a common unit: their sum is known exactly.
        let unit = (random.unit() * 600.0 - 300.0).exp2().log2().floor().exp2();
        let units: Vec<i64> = (0..500).map(|_| (random.bits() >> 20) as i64 - (1 << 43)).collect();
        let mut sketch = DDSketch::for_bound(0.01).unwrap();
        units.iter().for_each(|&count| sketch.insert(count as f64 * unit));
        let exact: i64 = units.iter().sum();
        assert_eq!(sketch.sum(), Some(exact as f64 * unit));
        assert_eq!(sketch.mean(), Some(exact as f64 * unit / 500.0));
    }
    let mut huge = DDSketch::for_bound(0.01).unwrap();
    huge.insert_all(&[1e308, 1.2e308, 1.4e308]);
    assert_eq!(huge.sum(), Some(f64::INFINITY));
    assert!((huge.mean().unwrap() / 1.2e308 - 1.0).abs() < 1e-15);
}

#[test]
fn few_numbers_have_exact_ends() {
    let mut sketch = DDSketch::for_bound(0.02).unwrap();
    assert_eq!((sketch.quantile(0.5), sketch.min(), sketch.mean()), (None, None, None));
    assert_eq!(sketch.sum(), Some(0.0));
    sketch.insert(-7.5);
    for share in SHARES {
        assert!(sketch.quantile(share).unwrap().is_exact());
        assert_eq!(sketch.quantile(share).unwrap().value(), -7.5);
    }
    for share in [-0.1, 1.1, f64::NAN] {
        assert_eq!(sketch.quantile(share), None);
    }
    sketch.insert(0.0);
    sketch.insert(3.0);
    assert_eq!(sketch.quantile(0.5).map(|median| median.is_exact() && median.value() == 0.0), Some(true));
    assert_eq!(sketch.count_below(0.0).value(), 1.0);
    assert!(sketch.count_below(f64::INFINITY).is_exact());
}
