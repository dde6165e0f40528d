//! The files of the counters.

use crivo::codec::AnySketch;
use crivo::counting::{CounterArray, MorrisCounter, SampledCounter};
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let sampled = |probability, seed, events| {
        let mut counter = SampledCounter::new(probability, seed).unwrap();
        counter.add(events);
        counter
    };
    let mut sampled_merged = sampled(0.25, 1, 1000);
    sampled_merged.merge(&sampled(0.25, 2, 500)).unwrap();
    let morris = |base, bits, seed, events| {
        let mut counter = MorrisCounter::new(base, bits, seed).unwrap();
        counter.add(events);
        counter
    };
    let mut morris_merged = morris(1.084, 8, 1, 100_000);
    morris_merged.merge(&morris(1.084, 8, 2, 50_000)).unwrap();
    morris_merged.add(10);
    let array = |len, bits, base, seed| {
        let mut array = CounterArray::new(len, base, bits, seed).unwrap();
        // Index i has 1,000/(i + 1) events.
        for index in 0..len {
            array.increment_batch(&vec![index; (1000 / (index + 1)) as usize]).unwrap();
        }
        array
    };
    let mut array_merged = array(20, 8, 1.084, 5);
    array_merged.merge(&array(20, 8, 1.084, 6)).unwrap();
    array_merged.add(19, 1_000_000).unwrap();
    vec![
        ("sampled_counter_v1_empty", sampled(0.5, 0, 0).encode()),
        ("sampled_counter_v1_half", sampled(0.5, 7, 10_000).encode()),
        ("sampled_counter_v1_rare", sampled(1.0 / 64.0, u64::MAX, 1_000_000).encode()),
        ("sampled_counter_v1_every", sampled(1.0, 3, 123_456_789).encode()),
        ("sampled_counter_v1_merged", sampled_merged.encode()),
        ("morris_counter_v1_empty", morris(2.0, 8, 0, 0).encode()),
        ("morris_counter_v1_base_two", morris(2.0, 8, 7, 1_000_000).encode()),
        ("morris_counter_v1_byte", morris(1.084, 8, 7, 1_000_000_000).encode()),
        ("morris_counter_v1_wide", morris(1.0002, 16, 7, 1_000_000).encode()),
        ("morris_counter_v1_saturated", morris(2.0, 4, 1, 10_000_000).encode()),
        ("morris_counter_v1_merged", morris_merged.encode()),
        ("counter_array_v1_nibbles", array(31, 4, 1.5, 7).encode()),
        ("counter_array_v1_bytes", array(100, 8, 1.084, 7).encode()),
        ("counter_array_v1_words", array(50, 16, 1.01, 7).encode()),
        ("counter_array_v1_merged", array_merged.encode()),
    ]
}

#[test]
fn answers_of_stored_counters_do_not_change() {
    let items = |name| AnySketch::decode(&std::fs::read(path(name)).unwrap()).unwrap().summary().items;
    // Elementary functions come from `libm`, so these hold to the last bit on every platform.
    for (name, value) in [
        ("sampled_counter_v1_empty", 0.0),
        ("sampled_counter_v1_half", 9792.0),
        ("sampled_counter_v1_rare", 997_056.0),
        ("sampled_counter_v1_every", 123_456_789.0),
        ("sampled_counter_v1_merged", 1516.0),
        ("morris_counter_v1_empty", 0.0),
        ("morris_counter_v1_base_two", 262_143.0),
        ("morris_counter_v1_byte", 711_576_104.537_084_1),
        ("morris_counter_v1_wide", 1_013_724.102_447_634_3),
        ("morris_counter_v1_saturated", 32_767.0),
        ("morris_counter_v1_merged", 175_459.072_979_089_28),
        ("counter_array_v1_nibbles", 3_393.823_669_433_593_8),
        ("counter_array_v1_bytes", 5_414.475_158_572_454),
        ("counter_array_v1_words", 4_497.830_881_450_114),
        ("counter_array_v1_merged", 961_659.941_717_876_6),
    ] {
        assert_eq!(items(name).value(), value, "{name}");
    }
    assert!(items("morris_counter_v1_saturated").upper().is_infinite());
}

/// Many bases, widths and lengths of stream in one number: it freezes every draw.
#[test]
fn fingerprint_of_many_counters_does_not_change() {
    let mut fingerprint = 0;
    let mut take = |bytes: Vec<u8>| {
        fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&bytes).unwrap();
    };
    for seed in 0..40_u64 {
        let share = (seed + 1) as f64 / 40.0;
        let mut sampled = SampledCounter::new(share, seed).unwrap();
        let mut morris = MorrisCounter::new(1.0 + share, 4 + (seed % 13) as u8, seed).unwrap();
        let mut array =
            CounterArray::new(99, 1.0 + share, CounterArray::COUNTER_BITS[seed as usize % 3], seed).unwrap();
        for power in 0..16 {
            sampled.add(1 << power);
            morris.add(3 << power);
            array.increment(power).unwrap();
            array.add(50 + power, 1 << power).unwrap();
            take(sampled.encode());
            take(morris.encode());
            take(array.encode());
        }
        let twin = morris.clone();
        morris.merge(&twin).unwrap();
        take(morris.encode());
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0x9A56_9064_1F90_A761;
