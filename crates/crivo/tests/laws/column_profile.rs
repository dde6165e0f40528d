//! The laws of `ColumnProfile`: parts merge into the whole, exactly where that can be promised.

use crivo::ErrorKind;
use crivo::frequency::Reading;
use crivo::keys::{KeyBuffer, KeyScheme, Span};
use crivo::profile::{ColumnProfile, Kind, ProfileConfig};
use proptest::prelude::*;

use super::support::generator;

const CONFIG: ProfileConfig =
    ProfileConfig { precision: 8, counters: 40, sample: 5, accuracy: 0.01, bins: 64, longest: 20 };

/// Values of every kind: a column is mostly of one, and of some others.
fn column() -> impl Strategy<Value = Vec<String>> {
    (0..400_usize, any::<u64>(), 0..7_usize).prop_map(|(length, seed, main)| {
        let mut random = generator(&format!("column {seed}"));
        let mut value = || {
            let kind = if random.below(10) == 0 { random.below(7) } else { main };
            let number = random.bits();
            match kind {
                0 => (number % 100).to_string(),
                1 => (number as i64).to_string(),
                2 => format!("{}", random.unit() * 1000.0 - 300.0),
                3 => ["true", "false"][random.below(2)].to_owned(),
                4 => format!("2024-{:02}-{:02}", 1 + random.below(12), 1 + random.below(28)),
                5 => format!("2024-01-31T{:02}:00:00Z", random.below(24)),
                _ => "é".repeat(random.below(16)) + &(number % 9).to_string(),
            }
        };
        (0..length).map(|_| value()).collect()
    })
}

fn profile(seed: u64, columns: &[&[String]]) -> ColumnProfile {
    let mut profile = ColumnProfile::with_scheme(CONFIG, KeyScheme::bytes().with_seed(3), seed).unwrap();
    for column in columns {
        column.iter().for_each(|value| profile.insert(value).unwrap());
        profile.add_missing(column.len() as u64 / 3);
    }
    profile
}

/// Everything that does not depend on order and splits.
fn exact_answers(profile: &ColumnProfile) -> String {
    let kinds = Kind::ALL.map(|kind| profile.count_of(kind));
    let numbers = profile.numbers();
    format!(
        "{:?} {kinds:?} {} {} {:?} {:?} {:?} {:?} {:?} {:?} {} {numbers:?}",
        profile.column_type(),
        profile.missing(),
        profile.long(),
        profile.lengths(),
        profile.min(),
        profile.max(),
        profile.sum(),
        profile.mean(),
        profile.distinct(),
        profile.sample().len(),
        numbers = numbers.encode(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn profiles_of_parts_merge_into_that_of_the_whole((a, b, c) in (column(), column(), column())) {
        let (x, y, z) = (profile(1, &[&a]), profile(2, &[&b]), profile(3, &[&c]));
        let mut merged = x.clone();
        merged.merge(&y).unwrap();
        merged.merge(&z).unwrap();
        let mut other_way = z.clone();
        other_way.merge(&y).unwrap();
        other_way.merge(&x).unwrap();
        let mut whole = profile(4, &[&a, &b, &c]);
        whole.add_missing(merged.missing() - whole.missing());
        prop_assert_eq!(exact_answers(&merged), exact_answers(&whole));
        prop_assert_eq!(exact_answers(&merged), exact_answers(&other_way));
        prop_assert!(ColumnProfile::decode(&merged.encode()) == Ok(merged.clone()), "decoding inverts encoding");

        // The most frequent values keep their bounds, and the sample is of the column.
        let all: Vec<&String> = a.iter().chain(&b).chain(&c).collect();
        for part in [&merged, &other_way, &whole] {
            for hitter in part.top(100) {
                let name = hitter.key().to_string();
                let count = all.iter().filter(|value| **value == &name).count() as u64;
                prop_assert!(hitter.lower() <= count && count <= hitter.upper(), "{} of {}", count, name);
            }
            for value in all.iter().filter(|value| value.len() <= 20) {
                let count = all.iter().filter(|other| *other == value).count() as f64;
                prop_assert!(part.heavy_hitters().frequency(value.as_str()).unwrap().covers(count));
            }
            for key in part.sample() {
                let kept = key.to_string();
                prop_assert!(all.iter().any(|value| value.starts_with(&kept)), "{} was not there", kept);
                prop_assert!(kept.len() <= 20 && !kept.contains(char::REPLACEMENT_CHARACTER));
            }
        }
        let frequent = merged.heavy_hitters().above(0.2, Reading::NoFalsePositives).unwrap();
        prop_assert!(frequent.len() <= 5);
    }

    #[test]
    fn batches_equal_single_values(values in column(), length in 1_usize..200) {
        let mut batches = profile(1, &[]);
        for part in values.chunks(length) {
            let text = part.concat();
            let mut buffer = KeyBuffer::new(batches.scheme());
            let mut end = 0;
            for value in part {
                buffer.push_span(Span::new(end..end + value.len()).unwrap());
                end += value.len();
            }
            batches.insert_batch(&buffer.hash_spans(text.as_bytes()).unwrap()).unwrap();
        }
        batches.add_missing(values.len() as u64 / 3);
        prop_assert_eq!(batches.encode(), profile(1, &[&values]).encode());
    }
}

#[test]
fn profiles_of_other_sizes_or_keys_refuse_each_other() {
    let mut profile = ColumnProfile::new(CONFIG).unwrap();
    profile.insert("ana").unwrap();
    let before = profile.clone();
    let with = |change: &dyn Fn(&mut ProfileConfig)| {
        let mut config = CONFIG;
        change(&mut config);
        ColumnProfile::new(config).unwrap()
    };
    let seeded = ColumnProfile::with_scheme(CONFIG, KeyScheme::bytes().with_seed(1), 0).unwrap();
    for (other, field) in [
        (with(&|config| config.precision = 9), "precision"),
        (with(&|config| config.counters = 41), "counters"),
        (with(&|config| config.sample = 6), "sample"),
        (with(&|config| config.accuracy = 0.02), "accuracy"),
        (with(&|config| config.bins = 65), "bins"),
        (with(&|config| config.longest = 21), "longest"),
        (seeded, "seed"),
    ] {
        let error = profile.merge(&other).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
        assert_eq!(profile, before, "a refused merge changes nothing");
    }
}

#[test]
fn absurd_sizes_are_refused() {
    let refused = |change: &dyn Fn(&mut ProfileConfig)| {
        let mut config = CONFIG;
        change(&mut config);
        let error = ColumnProfile::new(config).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        error.field()
    };
    assert_eq!(refused(&|config| config.precision = 3), "precision");
    assert_eq!(refused(&|config| config.counters = 0), "counters");
    assert_eq!(refused(&|config| config.counters = u32::MAX), "counters");
    assert_eq!(refused(&|config| config.sample = 0), "sample");
    assert_eq!(refused(&|config| config.accuracy = f64::NAN), "relative error");
    assert_eq!(refused(&|config| config.bins = 1), "bins");
    assert_eq!(refused(&|config| config.longest = 7), "longest");
    assert_eq!(refused(&|config| config.longest = 4097), "longest");
    assert!(ProfileConfig::default().most_memory() < 300 << 10);
    assert_eq!(ColumnProfile::for_memory(1000).unwrap_err().field(), "memory");
    let error = ColumnProfile::with_scheme(CONFIG, KeyScheme::integers(), 0).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, "key kind"));
}
