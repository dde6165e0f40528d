//! The laws of HeavyHitters. Its counters depend on the order of the stream and on how it was
//! split, so that merging is not joining, bit for bit; `accuracy/heavy_hitters.rs` holds both to
//! the guarantee. What does hold: batches are their keys one by one, bytes lose nothing, merging
//! commutes, and as long as every key has a counter the state is that of an exact count.

use crivo::ErrorKind;
use crivo::frequency::HeavyHitters;
use crivo::keys::{KeyBatch, KeyBuffer, KeyRef, KeyScheme, Span};
use proptest::prelude::*;

use super::merged;
use super::support::generator;

const HASHES: KeyScheme = KeyScheme::hashes().with_seed(3);

fn hitters(capacity: u64) -> HeavyHitters {
    HeavyHitters::with_scheme(capacity, HASHES).unwrap()
}

/// Streams in which few keys are frequent. A key has fewer than `spread` significant bits.
fn streams() -> impl Strategy<Value = [Vec<u64>; 3]> {
    let stream = || {
        (0..3000_usize, 2..12_u32, any::<u64>()).prop_map(|(length, spread, seed)| {
            let mut random = generator(&format!("stream {seed}"));
            (0..length)
                .map(|_| random.bits() >> (64 - random.below(spread as usize) as u32).min(63))
                .collect()
        })
    };
    (stream(), stream(), stream()).prop_map(Into::into)
}

/// Few counters, as many as a chunk of a batch, and more than there are keys.
fn capacities() -> impl Strategy<Value = u64> {
    prop_oneof![1..5_u64, 28..40_u64, 50..400_u64, Just(10_000)]
}

fn one_by_one(mut sketch: HeavyHitters, stream: &[u64]) -> HeavyHitters {
    stream.iter().for_each(|&hash| sketch.add_ref(KeyRef::Hash(hash), 1).unwrap());
    sketch
}

fn in_batches(mut sketch: HeavyHitters, stream: &[u64], size: usize) -> HeavyHitters {
    for batch in stream.chunks(size) {
        sketch.insert_batch(&KeyBatch::from_hashes(HASHES, batch).unwrap()).unwrap();
    }
    sketch
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn batches_equal_single_insertions([a, b, _] in streams(), capacity in capacities(), size in 1..2000_usize) {
        let singly = one_by_one(hitters(capacity), &a);
        prop_assert_eq!(&in_batches(hitters(capacity), &a, size), &singly);
        let both = in_batches(singly.clone(), &b, size);
        prop_assert_eq!(&both, &one_by_one(singly, &b));
        prop_assert_eq!(both.encode(), in_batches(hitters(capacity), &[a, b].concat(), size).encode());
    }

    #[test]
    fn batches_of_integers_and_texts_equal_single_insertions([a, ..] in streams(), capacity in capacities()) {
        let scheme = KeyScheme::integers().with_seed(1);
        let mut singly = HeavyHitters::with_scheme(capacity, scheme).unwrap();
        let mut batched = singly.clone();
        a.iter().for_each(|key| singly.insert(key).unwrap());
        let mut buffer = KeyBuffer::new(scheme);
        for batch in a.chunks(700) {
            batched.insert_batch(&buffer.hash_integers(batch).unwrap()).unwrap();
        }
        prop_assert_eq!(&batched, &singly);

        let mut singly = HeavyHitters::new(capacity).unwrap();
        let mut batched = singly.clone();
        let mut buffer = KeyBuffer::new(KeyScheme::bytes());
        for batch in a.chunks(700) {
            let mut text = String::new();
            buffer.clear();
            for key in batch {
                let start = text.len();
                text.extend(std::iter::repeat_n(char::from(b'a' + (key % 26) as u8), *key as usize % 40));
                buffer.push_span(Span::new(start..text.len()).unwrap());
                singly.insert(&text[start..]).unwrap();
            }
            batched.insert_batch(&buffer.hash_spans(text.as_bytes()).unwrap()).unwrap();
        }
        prop_assert_eq!(batched.encode(), singly.encode());
    }

    /// What follows is the same, whether the sketch was written and read before or not.
    #[test]
    fn bytes_lose_nothing([a, b, c] in streams(), capacity in capacities()) {
        let before = one_by_one(hitters(capacity), &a);
        let read = HeavyHitters::decode(&before.encode()).unwrap();
        prop_assert_eq!(&read, &before);
        prop_assert_eq!(read.top(50), before.top(50));
        let (read, before) = (in_batches(read, &b, 100), in_batches(before, &b, 100));
        prop_assert_eq!(read.encode(), before.encode());
        let other = one_by_one(hitters(capacity + 3), &c);
        prop_assert_eq!(merged(&read, &other).encode(), merged(&before, &other).encode());
    }

    #[test]
    fn merging_commutes_and_an_empty_sketch_changes_nothing(
        [a, b, _] in streams(), capacity in capacities(), other in capacities(),
    ) {
        let (x, y) = (one_by_one(hitters(capacity), &a), one_by_one(hitters(other), &b));
        prop_assert_eq!(merged(&x, &y).encode(), merged(&y, &x).encode());
        prop_assert_eq!(merged(&x, &y).capacity(), capacity.min(other), "of two capacities the lower stays");
        prop_assert_eq!(&merged(&x, &hitters(capacity)), &x);
        prop_assert_eq!(&merged(&hitters(capacity), &x), &x);
    }

    /// As long as every key has a counter, only how often each came matters.
    #[test]
    fn exact_states_depend_on_the_counts_alone([a, b, c] in streams()) {
        let [x, y, z] = [&a, &b, &c].map(|stream| one_by_one(hitters(10_000), stream));
        let joined = one_by_one(hitters(10_000), &[&a[..], &b, &c].concat());
        prop_assert_eq!(merged(&merged(&x, &y), &z).encode(), joined.encode());
        prop_assert_eq!(merged(&x, &merged(&y, &z)).encode(), joined.encode());
        let mut backwards = [a, b, c].concat();
        backwards.reverse();
        prop_assert_eq!(one_by_one(hitters(10_000), &backwards).encode(), joined.encode());
        prop_assert_eq!(joined.max_error(), 0);
    }
}

#[test]
fn heavy_hitters_of_different_schemes_refuse_each_other() {
    let mut sketch = HeavyHitters::with_scheme(9, KeyScheme::bytes().with_seed(1)).unwrap();
    sketch.insert("ana").unwrap();
    let before = sketch.clone();
    for (scheme, field, found) in [
        (KeyScheme::bytes().with_seed(2), "seed", "2"),
        (KeyScheme::integers().with_seed(1), "key kind", "integer"),
        (KeyScheme::hashes().with_seed(1), "key kind", "hash"),
    ] {
        let error = sketch.merge(&HeavyHitters::with_scheme(9, scheme).unwrap()).unwrap_err();
        assert_eq!((error.kind(), error.field(), error.found()), (ErrorKind::Incompatible, field, found));
        assert_eq!(sketch, before, "a refused merge changes nothing");
    }
    let batch = KeyBatch::from_hashes(KeyScheme::hashes(), &[1]).unwrap();
    assert_eq!(sketch.insert_batch(&batch).unwrap_err().field(), "key kind");
    assert_eq!(sketch, before, "a refused batch changes nothing");
}
