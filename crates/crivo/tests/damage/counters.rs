//! Each rule of the payloads of the counters.

use crivo::ErrorKind::InvalidContents;
use crivo::counting::{CounterArray, MorrisCounter, SampledCounter};

use super::support::forge;
use super::{broken, set};

#[test]
fn each_broken_rule_of_sampled_counter_is_named() {
    let [_, counted, every] = &forge::sampled_counters()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<SampledCounter>(original, change);

    let probability = |p: f64| move |bytes: &mut Vec<u8>| bytes[28..36].copy_from_slice(&p.to_le_bytes());
    for wrong in [0.0, -0.5, 1.0 + f64::EPSILON, 1e-20, f64::NAN, f64::INFINITY] {
        assert_eq!(broken(counted, &probability(wrong)), (InvalidContents, "probability"), "{wrong}");
    }
    assert_eq!(broken(counted, &|bytes| bytes[44..52].fill(0xFF)), (InvalidContents, "skip"));
    assert_eq!(broken(every, &set(44, 1)), (InvalidContents, "skip"));
    assert_eq!(broken(counted, &|bytes| bytes[52..84].fill(0)), (InvalidContents, "generator"));
    assert_eq!(broken(counted, &|bytes| bytes.truncate(80)), (InvalidContents, "generator"));
    assert_eq!(broken(counted, &|bytes| bytes.push(0)), (InvalidContents, "payload"));
    // A counter has no keys.
    assert_eq!(broken(counted, &set(12, 1)), (InvalidContents, "key kind"));
    assert_eq!(
        broken(counted, &|bytes| bytes[8..10].copy_from_slice(&[1, 1])),
        (InvalidContents, "key kind")
    );
}

#[test]
fn each_broken_rule_of_morris_counter_is_named() {
    let [_, counted, saturated, far] = &forge::morris_counters()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<MorrisCounter>(original, change);

    let base = |base: f64| move |bytes: &mut Vec<u8>| bytes[28..36].copy_from_slice(&base.to_le_bytes());
    for wrong in [1.0, 0.5, 2.0 + 4.0 * f64::EPSILON, f64::NAN, f64::INFINITY] {
        assert_eq!(broken(counted, &base(wrong)), (InvalidContents, "base"), "{wrong}");
    }
    assert_eq!(broken(counted, &set(36, 3)), (InvalidContents, "bits"));
    assert_eq!(broken(counted, &set(36, 17)), (InvalidContents, "bits"));
    assert_eq!(broken(counted, &set(38, 1)), (InvalidContents, "value"));
    assert_eq!(broken(far, &set(38, 4)), (InvalidContents, "value"), "2^1000 events are the most");
    assert_eq!(broken(counted, &|bytes| bytes[39..47].fill(0xFF)), (InvalidContents, "skip"));
    assert_eq!(broken(saturated, &set(39, 0)), (InvalidContents, "skip"));
    assert_eq!(broken(counted, &|bytes| bytes[47..79].fill(0)), (InvalidContents, "generator"));
    assert_eq!(broken(counted, &set(12, 1)), (InvalidContents, "key kind"));
}

#[test]
fn each_broken_rule_of_counter_array_is_named() {
    let [nibbles, bytes_each, words] = &forge::counter_arrays()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<CounterArray>(original, change);

    assert_eq!(broken(bytes_each, &|bytes| bytes[28..36].fill(0)), (InvalidContents, "len"));
    assert_eq!(broken(bytes_each, &|bytes| bytes[28..36].fill(0xFF)), (InvalidContents, "counters"));
    assert_eq!(broken(bytes_each, &set(36, 5)), (InvalidContents, "bits"));
    assert_eq!(broken(bytes_each, &set(44, 0)), (InvalidContents, "base"));
    assert_eq!(broken(bytes_each, &|bytes| bytes[45..77].fill(0)), (InvalidContents, "generator"));
    assert_eq!(broken(bytes_each, &|bytes| bytes.truncate(90)), (InvalidContents, "counters"));
    let last = nibbles.len() - 5;
    assert_eq!(broken(nibbles, &|bytes| bytes[last] |= 0x10), (InvalidContents, "counters"));
    assert_eq!(broken(words, &set(78, 0xFF)), (InvalidContents, "counters"));
    assert_eq!(broken(words, &set(12, 1)), (InvalidContents, "key kind"));
}
