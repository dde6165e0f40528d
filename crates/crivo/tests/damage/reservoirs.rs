//! Each rule of the payloads of the samples.

use crivo::ErrorKind::InvalidContents;
use crivo::sampling::{Reservoir, WeightedReservoir};

use super::support::forge;
use super::{broken, set};

fn float(at: usize, value: f64) -> impl Fn(&mut Vec<u8>) {
    move |bytes| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes())
}

#[test]
fn each_broken_rule_of_reservoir_is_named() {
    let [_, filling, full, ..] = &forge::reservoirs()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<Reservoir>(original, change);

    assert_eq!(broken(full, &|bytes| bytes[28..32].fill(0)), (InvalidContents, "capacity"));
    assert_eq!(broken(full, &|bytes| bytes[32..40].fill(0xFF)), (InvalidContents, "seen"));
    assert_eq!(broken(filling, &set(48, 1)), (InvalidContents, "chance and skip"));
    assert_eq!(broken(filling, &float(40, 0.5)), (InvalidContents, "chance and skip"));
    for wrong in [0.0, -0.5, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY] {
        assert_eq!(broken(full, &float(40, wrong)), (InvalidContents, "chance"), "{wrong}");
    }
    assert_eq!(broken(full, &|bytes| bytes[48..56].fill(0xFF)), (InvalidContents, "skip"));
    assert_eq!(broken(full, &|bytes| bytes[56..88].fill(0)), (InvalidContents, "generator"));
    assert_eq!(broken(full, &|bytes| bytes.truncate(100)), (InvalidContents, "items"));
    assert_eq!(broken(full, &|bytes| bytes.push(0)), (InvalidContents, "payload"));
    assert_eq!(broken(filling, &set(32, 2)), (InvalidContents, "payload"), "one item less was seen");
    assert_eq!(broken(filling, &set(32, 4)), (InvalidContents, "items"), "one item more was seen");
}

#[test]
fn each_broken_rule_of_weighted_reservoir_is_named() {
    let [_, filling, full, ..] = &forge::weighted_reservoirs()[..] else { panic!("other samples") };
    let broken =
        |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<WeightedReservoir>(original, change);

    assert_eq!(broken(full, &|bytes| bytes[28..32].fill(0)), (InvalidContents, "capacity"));
    assert_eq!(broken(full, &set(39, 0x80)), (InvalidContents, "seen and weightless"));
    assert_eq!(broken(full, &set(47, 0x80)), (InvalidContents, "seen and weightless"));
    for wrong in [-0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(broken(full, &float(48, wrong)), (InvalidContents, "jump"), "{wrong}");
    }
    assert_eq!(
        broken(filling, &float(48, 1.0)),
        (InvalidContents, "jump"),
        "nothing is skipped before it is full"
    );
    assert_eq!(broken(full, &|bytes| bytes[56..88].fill(0)), (InvalidContents, "generator"));
    for wrong in [-0.0, f64::INFINITY, f64::NAN] {
        assert_eq!(broken(full, &float(88, wrong)), (InvalidContents, "clocks"), "{wrong}");
    }
    assert_eq!(broken(full, &float(88, 1e300)), (InvalidContents, "clocks"), "out of order");
    assert_eq!(broken(full, &|bytes| bytes.truncate(100)), (InvalidContents, "items"));
    assert_eq!(broken(filling, &set(32, 2)), (InvalidContents, "payload"), "one item less was seen");
}
