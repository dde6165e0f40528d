//! The bytes of KLL and REQ can be decoded, and other bytes are refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

use crivo_interchange::{Hll, Kll, Req};

#[test]
fn quantiles_come_back_from_their_bytes() {
    let mut doubles = Kll::<f64>::new(200).unwrap();
    let (mut floats, mut whole) = (Kll::<f32>::new(200).unwrap(), Kll::<i64>::new(200).unwrap());
    let mut tails = Req::new(12, true).unwrap();
    for i in (0..100_000_i32).map(|i| i * 7919 % 100_003) {
        doubles.insert(i.into());
        floats.insert(i as f32);
        whole.insert(i.into());
        tails.insert(i as f32);
    }
    doubles.insert(f64::NAN);
    tails.insert(f32::NAN);
    // An error of 5 % is five times the error that KLL states at 99 %.
    let near = |rank: f64| (rank / 50_000.0 - 1.0).abs() < 0.1;
    let doubles = Kll::<f64>::decode(&doubles.encode()).unwrap();
    assert!(near(doubles.quantile(0.5).unwrap()) && doubles.count() == 100_000);
    assert!(near(Kll::<f32>::decode(&floats.encode()).unwrap().quantile(0.5).unwrap().into()));
    assert!(near(Kll::<i64>::decode(&whole.encode()).unwrap().quantile(0.5).unwrap() as f64));
    let stored = Req::decode(&tails.encode()).unwrap();
    assert!(stored.quantile(0.999).unwrap() > 99_000.0 && stored.count() == 100_000);
    let rank = doubles.rank(50_000.0).unwrap();
    assert!(!rank.is_exact() && rank.lower() < 0.5 && rank.upper() > 0.45);
    let mut both = doubles.clone();
    both.merge(&doubles).unwrap();
    assert_eq!((both.count(), both.k()), (200_000, 200));
}

#[test]
fn other_bytes_are_refused() {
    let mut small = Kll::<f64>::new(8).unwrap();
    (0..1000).for_each(|i| small.insert(f64::from(i)));
    let bytes = small.encode();
    for length in 0..bytes.len() {
        assert!(Kll::<f64>::decode(&bytes[..length]).is_err(), "{length}");
    }
    let hll = Hll::new(12).unwrap().encode();
    assert!(Kll::<f64>::decode(&hll).is_err() && Req::decode(&hll).is_err());
    assert!(Kll::<f64>::new(7).is_err() && Req::new(3, true).is_err());
    assert_eq!(Kll::<f64>::new(7).unwrap_err().to_string(), "k: expected 8 to 65535, found 7");
}

#[test]
fn few_values_are_exact() {
    let mut few = Kll::<i64>::new(200).unwrap();
    [3, 1, 2].iter().for_each(|&number| few.insert(number));
    assert_eq!(few.quantile(0.5), Some(2));
    assert!(few.rank(2).unwrap().is_exact());
    assert_eq!(Kll::<i64>::decode(&few.encode()).unwrap(), few);
}
