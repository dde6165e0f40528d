//! Each rule of the payload of the rank sketches.

use crivo::ErrorKind::InvalidContents;
use crivo::quantiles::{KeyQuantiles, NumberQuantiles};

use super::support::forge;
use super::{broken, set};

fn float(at: usize, value: f64) -> impl Fn(&mut Vec<u8>) {
    move |bytes| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes())
}

#[test]
fn each_broken_rule_of_rank_sketches_is_named() {
    let [empty, exact, sampled, tails, ..] = &forge::number_quantiles()[..] else { panic!("other samples") };
    let broken = |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<NumberQuantiles>(original, change);

    assert_eq!(broken(exact, &set(28, 7)), (InvalidContents, "size"));
    assert_eq!(broken(exact, &set(32, 2)), (InvalidContents, "accuracy"));
    assert_eq!(broken(exact, &set(33, 64)), (InvalidContents, "lowest level"));
    assert_eq!(broken(tails, &set(33, 1)), (InvalidContents, "lowest level"));
    assert_eq!(broken(exact, &set(34, 0)), (InvalidContents, "levels"));
    assert_eq!(broken(exact, &set(34, 65)), (InvalidContents, "levels"));
    assert_eq!(broken(exact, &set(35, 1)), (InvalidContents, "reserved byte"));
    assert_eq!(broken(exact, &set(36, 9)), (InvalidContents, "values"), "another count");
    assert_eq!(broken(empty, &|bytes| bytes[52..84].fill(0)), (InvalidContents, "generator"));
    assert_eq!(broken(exact, &set(84, 1)), (InvalidContents, "most error"));
    assert_eq!(broken(sampled, &|bytes| bytes[116..132].fill(0)), (InvalidContents, "most error"));
    for wrong in [f64::NAN, -0.0] {
        assert_eq!(broken(exact, &float(132, wrong)), (InvalidContents, "values"), "{wrong}");
    }
    assert_eq!(broken(exact, &float(132, 1e9)), (InvalidContents, "ends"));
    assert_eq!(broken(exact, &float(132, 1.5)), (InvalidContents, "values"), "outside of the ends");
    assert_eq!(broken(sampled, &set(155, 1)), (InvalidContents, "sampled block"));
    assert_eq!(broken(exact, &set(148, 1)), (InvalidContents, "compactions"));
    assert_eq!(broken(exact, &set(156, 3)), (InvalidContents, "coin"));
    assert_eq!(broken(exact, &set(156, 1)), (InvalidContents, "most error"), "a coin without a compaction");
    assert_eq!(broken(exact, &float(161, 5.0)), (InvalidContents, "values"), "out of order");
    assert_eq!(broken(exact, &|bytes| bytes.push(0)), (InvalidContents, "payload"));
    assert_eq!(broken(exact, &|bytes| bytes.truncate(170)), (InvalidContents, "values"));
    assert_eq!(broken(exact, &set(9, 1)), (InvalidContents, "hash function"));

    // The profile of errors is at the end: its last place is 24 bytes.
    let last = tails.len() - 4 - 24;
    assert_eq!(
        broken(tails, &|bytes| bytes[last + 8..last + 24].fill(0)),
        (InvalidContents, "places of error")
    );
    assert_eq!(broken(tails, &float(last, 1e300)), (InvalidContents, "places of error"));

    let keys = &forge::key_quantiles()[0];
    let mut longer = keys.clone();
    longer.push(0);
    assert!(KeyQuantiles::decode(&longer).is_err());
}
