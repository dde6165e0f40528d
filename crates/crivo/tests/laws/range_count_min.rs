//! The laws of `RangeCountMin`, which takes keys and not hashes.

use crivo::frequency::RangeCountMin;
use crivo::keys::{KeyBuffer, KeyScheme};
use proptest::prelude::*;

use super::{merged, streams};

const SCHEME: KeyScheme = KeyScheme::integers().with_seed(3);

fn sketch_of(levels: u32, width: u32, streams: &[&[u64]]) -> RangeCountMin {
    let mut sketch = RangeCountMin::with_scheme(levels, width, 3, SCHEME).unwrap();
    let mut buffer = KeyBuffer::new(SCHEME);
    for stream in streams {
        let keys: Vec<u64> = stream.iter().map(|key| key >> (64 - levels)).collect();
        sketch.insert_batch(&buffer.hash_integers(&keys).unwrap()).unwrap();
    }
    sketch
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn range_count_min_obeys_the_laws(streams in streams(), levels in 1_u32..=64, width in 1_u32..300) {
        let (a, b, c) = &streams;
        let of = |streams: &[&[u64]]| sketch_of(levels, width, streams);
        let [x, y, z] = [a, b, c].map(|stream| of(&[stream]));
        prop_assert_eq!(merged(&x, &y), of(&[a, b]), "merge equals the joined stream");
        prop_assert_eq!(merged(&x, &y), merged(&y, &x), "merge commutes");
        prop_assert_eq!(merged(&merged(&x, &y), &z), merged(&x, &merged(&y, &z)), "merge associates");
        prop_assert_eq!(&merged(&x, &of(&[])), &x, "merging an empty sketch changes nothing");

        let mut one_by_one = of(&[]);
        a.iter().for_each(|key| one_by_one.insert(&(key >> (64 - levels))).unwrap());
        prop_assert_eq!(&one_by_one, &x, "batches equal single insertions");
        let mut backwards = a.clone();
        backwards.reverse();
        prop_assert_eq!(of(&[&backwards]).encode(), x.encode(), "bytes do not depend on order");
        prop_assert_eq!(RangeCountMin::decode(&x.encode()), Ok(x), "decoding inverts encoding");
    }
}
