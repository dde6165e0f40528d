//! The laws of `NearDuplicateShare`: it depends on its texts only, not on their order or parts.

use crivo::ErrorKind;
use crivo::keys::KeyScheme;
use crivo::profile::NearDuplicateShare;
use proptest::prelude::*;

use super::{merged, support::generator};

fn sketch(texts: &[String]) -> NearDuplicateShare {
    let mut sketch = NearDuplicateShare::new(64).unwrap();
    texts.iter().for_each(|text| sketch.insert(text));
    sketch
}

/// Texts that share forms of several lengths, and some that come more than once.
fn texts() -> impl Strategy<Value = Vec<String>> {
    (0..400_usize, any::<u64>()).prop_map(|(length, seed)| {
        let mut random = generator(&format!("texts {seed}"));
        let form: Vec<String> = (0..12).map(|_| format!("{:x}", random.bits() >> 44)).collect();
        let text = |_| {
            let (shared, own) = (random.below(12), random.below(300));
            let own: Vec<String> = (shared..12).map(|word| format!("{:x}", own * 1000 + word)).collect();
            format!("{} {}", form[..shared].join(" "), own.join(" "))
        };
        (0..length).map(text).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn near_duplicate_share_depends_on_its_texts_only((a, b, c) in (texts(), texts(), texts())) {
        let [x, y, z] = [&a, &b, &c].map(|texts| sketch(texts));
        let mut joined = [a.clone(), b].concat();
        prop_assert_eq!(merged(&x, &y).encode(), sketch(&joined).encode(), "merge equals the joined stream");
        prop_assert!(merged(&x, &y) == merged(&y, &x), "merge commutes");
        prop_assert!(merged(&merged(&x, &y), &z) == merged(&x, &merged(&y, &z)), "merge associates");
        prop_assert!(merged(&x, &sketch(&[])) == x, "an empty sample changes nothing");
        joined.reverse();
        prop_assert_eq!(sketch(&joined).share(), merged(&x, &y).share(), "order does not matter");
        prop_assert!(NearDuplicateShare::decode(&x.encode()).as_ref() == Ok(&x), "decoding inverts encoding");
    }
}

#[test]
fn samples_of_other_sizes_and_schemes_refuse_each_other() {
    let mut mine = sketch(&[]);
    for (other, field) in [
        (NearDuplicateShare::new(65).unwrap(), "capacity"),
        (NearDuplicateShare::with_scheme(64, KeyScheme::bytes().with_seed(1)).unwrap(), "seed"),
    ] {
        let error = mine.merge(&other).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
    }
    for capacity in [0, 63, 8193, u64::MAX] {
        assert_eq!(NearDuplicateShare::new(capacity).unwrap_err().field(), "capacity");
    }
    let integers = NearDuplicateShare::with_scheme(64, KeyScheme::integers());
    assert_eq!(integers.unwrap_err().field(), "key kind");
}
