//! Tests CPC, t-digest, frequent items and Bloom: answers within their errors, decoding of their
//! own bytes, and errors for damaged bytes.

#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use std::collections::BTreeMap;

use crivo::keys::OwnedKey;
use crivo::sketch::Quantiles;
use crivo_interchange::{AnyInterchange, AnyKll, Bloom, Cpc, Error, FrequentItems, NumberKind, Req, TDigest};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn cpc(keys: std::ops::Range<u64>, lg_k: u8) -> Cpc {
    let mut sketch = Cpc::new(lg_k).unwrap();
    keys.for_each(|key| sketch.insert_bytes(format!("key {key}").as_bytes()));
    sketch
}

/// Returns keys with a long tail: key `i` comes about `1/i` of the time. Also returns the exact
/// counts.
fn tail(rows: u32, seed: u64) -> (Vec<u64>, BTreeMap<u64, u64>) {
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(seed);
    let draw = |_| (f64::from(chance.next_u32()) / 4e9 * 9.0).exp() as u64;
    let keys: Vec<u64> = (0..rows).map(draw).collect();
    let mut exact = BTreeMap::new();
    keys.iter().for_each(|&key| *exact.entry(key).or_default() += 1);
    (keys, exact)
}

fn frequent(keys: &[u64], lg_size: u8) -> FrequentItems {
    let mut sketch = FrequentItems::new(lg_size, false).unwrap();
    keys.iter().for_each(|key| sketch.add_bytes(format!("key {key}").as_bytes(), 1).unwrap());
    sketch
}

fn digest(numbers: std::ops::Range<u32>, k: u16) -> TDigest {
    let mut sketch = TDigest::new(k).unwrap();
    numbers.for_each(|number| sketch.insert(f64::from(number.wrapping_mul(2_654_435_761) >> 8)));
    sketch
}

fn bloom(keys: std::ops::Range<u64>, items: u64) -> Bloom {
    let mut filter = Bloom::for_items(items, 0.01).unwrap();
    keys.for_each(|key| filter.insert_bytes(format!("key {key}").as_bytes()));
    filter
}

/// Every state of a CPC sketch: empty, sparse, hybrid, pinned and sliding.
#[test]
fn cpc_counts_and_comes_back() {
    for (count, lg_k) in [(0, 11), (1, 11), (100, 11), (1_000, 11), (5_000, 11), (100_000, 11), (60_000, 4)] {
        let sketch = cpc(0..count, lg_k);
        let estimate = sketch.estimate();
        // Six standard errors of a fixed hash.
        let error = 6.0 * 0.69 / f64::from(1_u32 << lg_k).sqrt() * count as f64;
        assert!((estimate.value() - count as f64).abs() <= error.max(0.5), "{estimate} of {count}");
        let again = Cpc::decode(&sketch.encode()).unwrap();
        assert_eq!(again, sketch, "{count}");
        let mut both = sketch.clone();
        both.merge(&cpc(count / 2..count + count / 2, lg_k));
        let truth = (count + count / 2) as f64;
        assert!((both.estimate().value() - truth).abs() <= (1.5 * error).max(0.5), "{both:?} of {truth}");
        assert_eq!(Cpc::decode(&both.encode()).unwrap(), both, "merged, {count}");
    }
    let mut small = cpc(0..50_000, 12);
    small.merge(&cpc(0..50_000, 8));
    assert_eq!(small.lg_k(), 8);
}

#[test]
fn frequent_items_are_within_certain_bounds() {
    let (keys, exact) = tail(100_000, 5);
    let whole = frequent(&keys, 8);
    let (first, second) = keys.split_at(40_000);
    let mut merged = frequent(first, 8);
    merged.merge(&frequent(second, 8)).unwrap();
    for sketch in [whole.clone(), merged, FrequentItems::decode(&whole.encode()).unwrap()] {
        assert_eq!(sketch.total(), 100_000);
        assert!(sketch.max_error() > 0 && sketch.max_error() < 100_000 * 4 / 256);
        for (key, &count) in &exact {
            let answer = sketch.frequency_bytes(format!("key {key}").as_bytes());
            assert!(answer.is_certain() && answer.covers(count as f64), "{answer} for {count}");
        }
        let top = sketch.top(5);
        let mut counts: Vec<u64> = exact.values().copied().collect();
        counts.sort_unstable();
        assert!(top[0].lower <= counts[counts.len() - 1] && counts[counts.len() - 1] <= top[0].upper);
        let listed = sketch.top(usize::MAX);
        for (key, count) in exact.iter().filter(|(_, count)| **count > sketch.max_error()) {
            let key = OwnedKey::Bytes(format!("key {key}").into_bytes().into());
            assert!(listed.iter().any(|item| item.key == key), "{key} came {count} times");
        }
    }
    let few = frequent(&[1, 2, 2], 8);
    assert!(few.frequency_bytes(b"key 2").is_exact() && few.max_error() == 0);
}

#[test]
fn frequent_integers_are_told_from_texts() {
    let mut integers = FrequentItems::new(6, true).unwrap();
    for key in [7, 7, 7, 4, u64::MAX] {
        integers.add_integer(key, 2).unwrap();
    }
    let again = FrequentItems::decode(&integers.encode()).unwrap();
    assert!(again.of_integers() && again.frequency_integer(u64::MAX).value() == 2.0);
    assert_eq!(again.top(1)[0].key, OwnedKey::Integer(7));
    let mut texts = FrequentItems::new(6, false).unwrap();
    texts.add_bytes(b"four", 4).unwrap();
    texts.add_bytes(b"abcd", 3).unwrap();
    let texts = FrequentItems::decode(&texts.encode()).unwrap();
    assert!(!texts.of_integers() && texts.frequency_bytes(b"four").value() == 4.0);
    assert!(integers.merge(&texts).is_err());
    let mut one = FrequentItems::new(6, true).unwrap();
    one.add_integer(4, 1).unwrap();
    assert!(FrequentItems::decode(&one.encode()).unwrap().of_integers(), "4 is no text of four NULs");
    let mut empty = FrequentItems::decode(&FrequentItems::new(6, true).unwrap().encode()).unwrap();
    empty.merge(&one).unwrap();
    assert_eq!(empty.total(), 1);
}

/// Readers with signed counts would take a greater total for a negative one.
#[test]
fn weights_add_up_to_less_than_2_to_the_63() {
    let most = i64::MAX.cast_unsigned();
    let mut heavy = FrequentItems::new(6, false).unwrap();
    assert!(heavy.add_bytes(b"a", most + 1).is_err());
    heavy.add_bytes(b"a", most - 1).unwrap();
    assert!(heavy.add_bytes(b"b", 2).unwrap_err().to_string().contains("less than 2^63"));
    let mut light = FrequentItems::new(6, false).unwrap();
    light.add_bytes(b"b", 2).unwrap();
    assert_eq!(heavy.clone().merge(&light), Err(Error::TooHeavy));
    heavy.add_bytes(b"b", 1).unwrap();
    let mut bytes = heavy.encode();
    assert_eq!(FrequentItems::decode(&bytes).unwrap().total(), most);
    // The total is the number at byte 16.
    bytes[23] |= 0x80;
    assert!(FrequentItems::decode(&bytes).unwrap_err().to_string().contains("2^63"));
}

#[test]
fn digests_are_near_and_say_nothing_certain_but_their_ends() {
    let digest = digest(0..100_000, 200);
    for digest in [digest.clone(), TDigest::decode(&digest.encode()).unwrap()] {
        for share in [0.001, 0.25, 0.5, 0.999] {
            let value = digest.quantile(share).unwrap();
            // The numbers are spread evenly over 2^24.
            assert!((value / f64::from(1 << 24) - share).abs() < 0.01, "{value} at {share}");
            let answer = Quantiles::quantile(&digest, share).unwrap();
            assert!(answer.is_certain() && answer.lower() < 300.0 && answer.upper() > 16_000_000.0);
        }
        assert!((digest.rank(f64::from(1 << 23)).unwrap() - 0.5).abs() < 0.01);
        assert_eq!(digest.count_below(-1.0).value(), 0.0);
        assert_eq!(digest.count_below(1e9).value(), 100_000.0);
    }
    let mut both = digest.clone();
    both.merge(&digest).unwrap();
    assert_eq!(both.count(), 200_000);
    assert!(TDigest::new(9).is_err());
}

#[test]
fn filters_have_all_members_and_few_others() {
    let filter = bloom(0..10_000, 10_000);
    for filter in [filter.clone(), Bloom::decode(&filter.encode()).unwrap()] {
        assert!((0..10_000).all(|key| filter.contains_bytes(format!("key {key}").as_bytes())));
        let others =
            (0..100_000).filter(|key| filter.contains_bytes(format!("other {key}").as_bytes())).count();
        // 1,000 are expected; six standard deviations of that many more.
        assert!(others < 1_200, "{others}");
        assert!((0.005..0.013).contains(&filter.false_positive_rate()));
        assert!(filter.items().covers(10_000.0), "{}", filter.items());
    }
    let mut both = filter.clone();
    both.merge(&bloom(5_000..15_000, 10_000)).unwrap();
    assert!(both.items().covers(15_000.0), "{}", both.items());
    assert!(both.merge(&bloom(0..1, 20_000)).is_err());
    let mut integers = Bloom::for_items(100, 0.01).unwrap();
    integers.insert_integer(u64::MAX);
    assert!(integers.contains_integer(u64::MAX) && !integers.contains_bytes(b""));
    for (items, rate) in [(0, 0.1), (10, 0.0), (10, 1.0), (10, f64::NAN), (u64::MAX, 0.01)] {
        assert!(Bloom::for_items(items, rate).is_err(), "{items} {rate}");
    }
}

#[test]
fn numbers_of_quantiles_are_recognised() {
    for count in [0, 1, 2, 5_000] {
        for kind in [NumberKind::Double, NumberKind::Float, NumberKind::Long] {
            let mut sketch = AnyKll::new(100, kind).unwrap();
            (0..count).for_each(|number| sketch.insert(f64::from(number) + 1.0));
            let again = AnyKll::decode(&sketch.encode()).unwrap();
            assert!(count == 0 || again == sketch, "{count} {kind:?}");
            assert_eq!(Quantiles::count(&again), u64::from(count as u32));
        }
    }
    let mut negative = AnyKll::new(100, NumberKind::Long).unwrap();
    [-5.0, 3.0, 7.0].iter().for_each(|&number| negative.insert(number));
    let again = AnyKll::decode(&negative.encode()).unwrap();
    assert_eq!(Quantiles::quantile(&again, 0.5).unwrap().value(), 3.0);
    assert_eq!(again.count_below(6.5).value(), 2.0);
    // Numbers of 32 bits that are whole would be floats next to zero.
    let mut tiny = AnyKll::new(100, NumberKind::Float).unwrap();
    (1..300_u32).for_each(|number| tiny.insert(f64::from(f32::from_bits(number))));
    assert!(AnyKll::decode(&tiny.encode()).unwrap_err().to_string().contains("whole numbers of 32 bits"));
    let k = AnyKll::k_for(0.0133).unwrap();
    assert!((195..=205).contains(&k), "Spark's 200 has this error: {k}");
    assert!(AnyKll::k_for(0.0).is_err() && AnyKll::k_for(f64::NAN).is_err());
}

#[test]
fn whole_numbers_keep_all_digits() {
    let numbers = [i64::MIN, -(1 << 53) - 1, (1 << 53) + 1, i64::MAX];
    let mut sketch = AnyKll::new(100, NumberKind::Long).unwrap();
    numbers.iter().for_each(|&number| sketch.insert_whole(number));
    let AnyKll::Longs(sketch) = AnyKll::decode_as(&sketch.encode(), NumberKind::Long).unwrap() else {
        unreachable!("it was decoded as whole numbers");
    };
    assert_eq!([0.25, 0.5, 0.75, 1.0].map(|share| sketch.quantile(share).unwrap()), numbers);
}

/// The bounds of ranks cover the true ranks.
#[test]
fn bounds_of_quantiles_cover_the_truth() {
    let mut kll = AnyKll::new(200, NumberKind::Double).unwrap();
    let mut req = Req::new(12, true).unwrap();
    for number in (0..100_000_u32).map(|i| i * 7919 % 100_003) {
        kll.insert(number.into());
        req.insert(number as f32);
    }
    let sketches: [&dyn Quantiles; 2] = [&kll, &req];
    for sketch in sketches {
        let mut missed = 0;
        for percent in 1..100 {
            let answer = sketch.quantile(f64::from(percent) / 100.0).unwrap();
            missed += u32::from(!answer.covers(f64::from(percent) * 1_000.03 - 1.0));
        }
        // 5 % may miss, and they miss together, because one unlucky compaction moves many ranks.
        assert!(missed <= 30, "{missed}");
        let below = sketch.count_below(50_000.0);
        assert!((below.value() / 50_000.0 - 1.0).abs() < 0.1, "{below}");
    }
}

/// Any bytes give an error, or a sketch that answers, merges and can be encoded: about 60,000 of
/// them.
#[test]
fn damaged_bytes_never_end_the_program() {
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(12);
    let (keys, _) = tail(3_000, 7);
    let mut originals: Vec<Vec<u8>> = Vec::new();
    for count in [0, 1, 40, 300, 700, 20_000] {
        originals.push(cpc(0..count, 8).encode());
        originals.push(digest(0..count as u32, 20).encode());
        originals.push(bloom(0..count, 300).encode());
        originals.push(frequent(&keys[..keys.len().min(count as usize)], 6).encode());
    }
    for kind in [NumberKind::Double, NumberKind::Float, NumberKind::Long] {
        let mut sketch = AnyKll::new(20, kind).unwrap();
        (0..500).for_each(|number| sketch.insert(f64::from(number)));
        originals.push(sketch.encode());
    }
    for original in &originals {
        check(original).unwrap();
        for end in 0..original.len().min(200) {
            let _ = check(&original[..end]);
        }
        // Empty sketches may become large by a change of their size, and to fill memory takes time.
        let mutants = if original.len() < 40 { 40 } else { 1_500 };
        for _ in 0..mutants {
            let mut bytes = original.clone();
            for _ in 0..=chance.next_u32() % 3 {
                let near_the_start = chance.next_u32().is_multiple_of(2);
                let reach = if near_the_start { bytes.len().min(48) } else { bytes.len() };
                let place = chance.next_u64() as usize % reach;
                bytes[place] = chance.next_u32() as u8;
            }
            let _ = check(&bytes);
        }
    }
}

/// Calls every query, merges the sketch with itself, and encodes it.
fn check(bytes: &[u8]) -> Result<(), Error> {
    let mut sketch = AnyInterchange::decode(bytes)?;
    let copy = sketch.clone();
    match &mut sketch {
        AnyInterchange::Cpc(sketch) => sketch.insert_bytes(b"one more"),
        AnyInterchange::TDigest(sketch) => sketch.insert(1.0),
        AnyInterchange::Bloom(filter) => {
            filter.insert_bytes(b"one more");
            assert!(filter.contains_bytes(b"one more"));
        }
        AnyInterchange::FrequentItems(sketch) => {
            let _ = sketch.add_bytes(b"one more", 1);
            sketch.top(10);
            sketch.frequency_bytes(b"one more");
        }
        AnyInterchange::Kll(sketch) => sketch.insert(1.0),
        _ => {}
    }
    let _ = sketch.quantiles().map(|sketch| (sketch.quantile(0.5), sketch.rank(3.0), sketch.histogram(10)));
    let items = sketch.items();
    assert!(items.lower() <= items.value() && items.value() <= items.upper(), "{items}");
    let _ = sketch.merge(&copy);
    sketch.parameters();
    sketch.encode();
    Ok(())
}

/// A few bytes must not allocate gigabytes.
#[test]
fn empty_sketches_of_enormous_sizes_are_refused() {
    let mut filter = Bloom::for_items(10, 0.1).unwrap().encode();
    filter[16..20].copy_from_slice(&i32::MAX.to_le_bytes());
    assert!(Bloom::decode(&filter).unwrap_err().to_string().contains("2147483647 words"));
    let mut items = frequent(&[1, 2, 3], 16).encode();
    items[3] = 30;
    assert!(FrequentItems::decode(&items).unwrap_err().to_string().contains("2^30 places"));
    let mut rows = cpc(0..100, 10).encode();
    rows[3] = 26;
    assert!(Cpc::decode(&rows).unwrap_err().to_string().contains("lg_k 26"));
    for lg_k in [0, 3, 17, 255] {
        assert!(Cpc::new(lg_k).is_err() && FrequentItems::new(lg_k.max(17), false).is_err());
    }
}

#[test]
fn what_is_no_sketch_is_not_taken_for_one() {
    assert!(!AnyInterchange::may_be(b"CRVO") && !AnyInterchange::may_be(b"a"));
    assert!(AnyInterchange::may_be(b"ab\ncd\n") && !AnyInterchange::is_certainly(b"ab\ncd\n"));
    assert!(AnyInterchange::decode(b"ab\ncd\nef\ngh\n").is_err());
    assert!(AnyInterchange::is_certainly(&cpc(0..9, 8).encode()));
    let (mut one, other) = (AnyInterchange::Cpc(cpc(0..9, 8)), AnyInterchange::Bloom(bloom(0..9, 9)));
    let refused = one.merge(&other).unwrap_err();
    assert_eq!(refused.to_string(), "is a DataSketches Bloom, and the first a DataSketches CPC");
}
