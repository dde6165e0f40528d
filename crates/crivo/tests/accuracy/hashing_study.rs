//! The textbook's hash, shown to fail; collisions and feature hashing against their theory.

use std::collections::BTreeSet;

use crivo::hash::{
    FeatureHasher, Indexes, approximate_collision_probability, collision_probability, djb31ma, index,
};
use crivo::keys::KeyScheme;

use super::shares::Share;
use super::support::generator;

/// Deviations that a normal variable exceeds, either way, with a probability of 10⁻⁸.
const DEVIATIONS: f64 = 5.731;

// ---- the textbook's hash, which fails ----

fn djb31ma_index(value: u32, size: u32) -> u32 {
    ((u64::from(value) * u64::from(size)) >> 32) as u32
}

#[test]
fn djb31ma_fails_where_it_is_said_to() {
    let words: Vec<String> = (0..50_000).map(|i| format!("{i:05}")).collect();
    // The high bits of short texts: all of them choose the same of a hundred indexes.
    let high =
        Indexes::of(&words, 1, 100, |word, _| djb31ma_index(djb31ma(word.as_bytes(), 0), 100)).unwrap();
    let uneven = high.distribution(0, 100).unwrap();
    assert!(uneven.p_value() < 1e-300, "{uneven:?}");
    // The low bits of numbers in a row: more even than chance.
    let low = Indexes::of(&words, 1, 997, |word, _| djb31ma(word.as_bytes(), 0) % 997).unwrap();
    let even = low.distribution(0, 997).unwrap();
    assert!(even.p_value_even() < 1e-12, "{even:?}");
    // Seeds: one function, shifted.
    let seeds = [0_u32, 1, 0x9E37_79B9, 0xDEAD_BEEF];
    let family = |size: u32| {
        Indexes::of(&words, 4, size, |word, seed| djb31ma(word.as_bytes(), seeds[seed as usize]) % size)
            .unwrap()
    };
    let correlated = family(1 << 16).largest_correlation().unwrap();
    assert!(correlated.value.abs() > 0.4, "{correlated:?}");
    let dependent = family(1 << 16).largest_dependence(10).unwrap();
    assert!(dependent.value > 0.03, "{dependent:?}");
    #[allow(clippy::print_stdout)] // with --nocapture: figures of docs/accuracy
    {
        println!("χ² of high bits {uneven:?}, of low bits {even:?} with {:.1e}", even.p_value_even());
        println!("{correlated:?}, {dependent:?}");
    }
}

/// Whatever collides under one seed collides under every other: as a family, k of them are one.
#[test]
fn djb31ma_collides_under_every_seed_at_once() {
    let mut random = generator("collisions");
    let texts: Vec<String> = (0..500_000)
        .map(|_| (0..8).map(|_| (b'a' + random.below(26) as u8) as char).collect())
        .collect::<BTreeSet<String>>()
        .into_iter()
        .collect();
    let mut sorted: Vec<(u32, &str)> =
        texts.iter().map(|text| (djb31ma(text.as_bytes(), 0), &**text)).collect();
    sorted.sort_unstable();
    let pairs: Vec<(&str, &str)> =
        sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| (pair[0].1, pair[1].1)).collect();
    let expected = texts.len() as f64 * (texts.len() as f64 - 1.0) / 2_f64.powi(33);
    #[allow(clippy::print_stdout)] // with --nocapture: a figure of docs/accuracy
    {
        println!("{} collisions of {} texts, {expected:.1} by chance", pairs.len(), texts.len());
    }
    assert!(pairs.len() > 3, "a search among that number of texts finds some");
    for (a, b) in pairs {
        for _ in 0..100 {
            let seed = random.bits() as u32;
            assert_eq!(djb31ma(a.as_bytes(), seed), djb31ma(b.as_bytes(), seed));
        }
    }
}

// ---- collisions ----

#[test]
fn keys_collide_as_often_as_birthdays() {
    let mut random = generator("birthdays");
    for (items, places) in [(23_u64, 365_u64), (100, 10_000), (40, 365), (300, 1 << 16)] {
        let scheme = KeyScheme::integers();
        let mut collided = Share::default();
        // In which trial a place was last taken.
        let mut taken = vec![0_u32; places as usize];
        for trial in 1..=300_000 {
            let seeded = scheme.with_seed(random.bits());
            collided.add((0..items).any(|item| {
                let place = index(seeded.hash(&item).unwrap(), places) as usize;
                std::mem::replace(&mut taken[place], trial) == trial
            }));
        }
        let exact = collision_probability(items, places);
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            let approximate = approximate_collision_probability(items, places);
            println!("| {items} | {places} | {approximate:.4} | {exact:.4} | {:.4} |", collided.value());
        }
        assert!(collided.fits(exact), "{items} in {places}: {} instead of {exact}", collided.value());
        assert!(!collided.fits(1.03 * exact), "3 % are noticed");
    }
}

// ---- features ----

/// A name and its weight.
type Feature = (String, f32);

/// Returns two vectors of named features that share some of the features.
fn vectors() -> (Vec<Feature>, Vec<Feature>) {
    let x = (0..12_u8).map(|i| (format!("feature {i}"), 1.0 + f32::from(i % 4))).collect();
    let y = (6..20_u8).map(|i| (format!("feature {i}"), 2.0 - f32::from(i % 3) / 2.0)).collect();
    (x, y)
}

/// Returns the dot product, and the variance that hashing into `slots` slots adds (Weinberger and
/// others 2009).
fn theory(x: &[Feature], y: &[Feature], slots: f64) -> (f64, f64) {
    let of = |vector: &[Feature], name: &str| {
        vector.iter().find(|(other, _)| other == name).map_or(0.0, |&(_, weight)| f64::from(weight))
    };
    let names: BTreeSet<&str> = x.iter().chain(y).map(|(name, _)| name.as_str()).collect();
    let pairs: Vec<(f64, f64)> = names.iter().map(|name| (of(x, name), of(y, name))).collect();
    let mut variance = 0.0;
    for (i, a) in pairs.iter().enumerate() {
        for b in pairs.iter().enumerate().filter(|(j, _)| i != *j).map(|(_, b)| b) {
            variance += (a.0 * a.0 * b.1 * b.1 + a.0 * a.1 * b.0 * b.1) / slots;
        }
    }
    (pairs.iter().map(|(a, b)| a * b).sum(), variance)
}

#[test]
fn dot_products_of_hashed_features_are_unbiased_with_the_variance_of_theory() {
    let mut random = generator("features");
    let (x, y) = vectors();
    for bits in [2, 4, 7] {
        let (product, variance) = theory(&x, &y, f64::from(1_u32 << bits));
        let trials = 100_000;
        let errors: Vec<f64> = (0..trials)
            .map(|_| {
                let hasher = FeatureHasher::new(bits).unwrap().with_seed(random.bits());
                let [hashed_x, hashed_y] =
                    [&x, &y].map(|vector| hasher.sparse(vector.iter().map(|(name, weight)| (name, *weight))));
                hashed_x.dot(&hashed_y) - product
            })
            .collect();
        let moment = |power: i32| errors.iter().map(|e| e.powi(power)).sum::<f64>() / f64::from(trials);
        let (bias, ratio) = (moment(1) / variance.sqrt(), moment(2) / variance);
        let noise = ((moment(4) / moment(2).powi(2) - 1.0) / f64::from(trials)).sqrt();
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            println!(
                "| {bits} | {product} | {:.3} | {ratio:.4} | {bias:+.4} | {noise:.4} |",
                variance.sqrt()
            );
        }
        assert!(bias.abs() < DEVIATIONS / f64::from(trials).sqrt(), "{bits} bits: {bias}");
        assert!((ratio - 1.0).abs() < DEVIATIONS * noise, "{bits} bits: {ratio} ± {noise}");
        assert!(DEVIATIONS * noise < 0.06, "weights wrong by 3 % would be seen: {noise}");
    }
}

/// Without signs products would be too large, by far: the sum of all products, shared among the
/// slots.
#[test]
fn without_signs_products_are_biased() {
    let mut random = generator("unsigned");
    let (x, y) = vectors();
    let (product, _) = theory(&x, &y, 16.0);
    let mut sum = 0.0;
    for _ in 0..20_000 {
        let hasher = FeatureHasher::new(4).unwrap().with_seed(random.bits());
        let mut slots = [[0.0; 2]; 16];
        for (which, vector) in [&x, &y].into_iter().enumerate() {
            for (name, weight) in vector {
                let (slot, weight) = hasher.place(name, *weight);
                slots[slot as usize][which] += f64::from(weight.abs());
            }
        }
        sum += slots.iter().map(|[a, b]| a * b).sum::<f64>();
    }
    let weight = |vector: &[Feature]| vector.iter().map(|&(_, w)| f64::from(w)).sum::<f64>();
    let expected = product + (weight(&x) * weight(&y) - product) / 16.0;
    assert!((sum / 20_000.0 / expected - 1.0).abs() < 0.02 && expected > 1.3 * product);
}
