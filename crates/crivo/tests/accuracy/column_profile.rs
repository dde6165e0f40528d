//! `ColumnProfile` against exact answers, on columns of every type; and its memory against what it
//! was given.

use std::collections::{HashMap, HashSet};

use crivo::Confidence;
use crivo::profile::{ColumnProfile, ColumnType, ProfileConfig, Value};

use super::support::{Random, generator};

/// Returns a column of the named type with the given number of rows.
fn column(name: &str, rows: usize, random: &mut Random) -> Vec<String> {
    let value = |row: usize| match name {
        "key" => row.to_string(),
        "integers" => ((random.unit() * 1000.0) as i64 - 500).to_string(),
        "prices" => format!("{:.2}", -random.unit().ln() * 20.0),
        "floats" => format!("{:e}", (random.unit() - 0.5) * 1e-3),
        "booleans" => (random.unit() < 0.7).to_string(),
        "days" => {
            format!("20{:02}-{:02}-{:02}", random.below(30), 1 + random.below(12), 1 + random.below(28))
        }
        "moments" => {
            format!("2024-05-{:02} {:02}:{:02}:00", 1 + random.below(28), random.below(24), random.below(60))
        }
        "words" => format!("word{}", (1.0 / random.unit()) as u64 % 100_000),
        "texts" => "lorem ipsum dolor ".repeat(1 + random.below(40)),
        "majority" => {
            if random.unit() < 0.6 {
                "yes".into()
            } else {
                format!("no {}", random.below(1000))
            }
        }
        "mixed" => {
            if row % 500 == 3 {
                "n/a".into()
            } else {
                random.below(100).to_string()
            }
        }
        other => panic!("no column {other}"),
    };
    (0..rows).map(value).collect()
}

const COLUMNS: [(&str, ColumnType); 11] = [
    ("key", ColumnType::Integer),
    ("integers", ColumnType::Integer),
    ("prices", ColumnType::Float),
    ("floats", ColumnType::Float),
    ("booleans", ColumnType::Boolean),
    ("days", ColumnType::Date),
    ("moments", ColumnType::Timestamp),
    ("words", ColumnType::Text),
    ("texts", ColumnType::Text),
    ("majority", ColumnType::Text),
    ("mixed", ColumnType::Text),
];

/// What is sure with a false alarm of 10⁻⁷ for each column.
fn sure() -> Confidence {
    Confidence::new(1.0 - 1e-7).unwrap()
}

fn check(name: &str, expected: ColumnType, values: &[String], profile: &ColumnProfile) {
    assert_eq!((profile.column_type(), profile.rows()), (expected, values.len() as u64 + 7), "{name}");
    let mut counts: HashMap<&str, u64> = HashMap::new();
    values.iter().for_each(|value| *counts.entry(value).or_default() += 1);
    assert!(profile.distinct_at(sure()).covers(counts.len() as f64), "{name}: {:?}", profile.distinct());

    for hitter in profile.top(20) {
        let count = counts[hitter.key().to_string().as_str()];
        assert!(hitter.lower() <= count && count <= hitter.upper(), "{name}: {hitter:?} of {count}");
    }
    let longest = profile.config().longest as usize;
    let most =
        counts.iter().filter(|entry| entry.0.len() <= longest).map(|entry| *entry.1).max().unwrap_or(0);
    let has_majority = most > values.len() as u64 / 2;
    assert!(!has_majority || profile.majority().is_some_and(|hitter| hitter.upper() >= most), "{name}");
    assert!(profile.majority().is_none_or(|hitter| hitter.lower() <= most), "{name}");

    let lengths = profile.lengths().unwrap();
    let exact: Vec<usize> = values.iter().map(|value| value.chars().count()).collect();
    assert_eq!(
        (lengths.min, lengths.max),
        (exact.iter().min().copied().unwrap() as u64, exact.iter().max().copied().unwrap() as u64)
    );
    assert!((lengths.mean - exact.iter().sum::<usize>() as f64 / exact.len() as f64).abs() < 1e-9);

    let mut numbers: Vec<f64> = values.iter().filter_map(|value| value.parse().ok()).collect();
    numbers.sort_by(f64::total_cmp);
    assert_eq!(profile.numbers().count(), numbers.len() as u64, "{name}");
    if expected.is_number() {
        let ends = [profile.min(), profile.max()].map(|value| match value {
            Some(Value::Integer(integer)) => integer as f64,
            Some(Value::Float(float)) => float,
            other => panic!("{name}: {other:?}"),
        });
        assert_eq!(ends, [numbers[0], numbers[numbers.len() - 1]], "{name}");
        let sum: f64 = numbers.iter().sum();
        assert!(
            (profile.sum().unwrap() - sum).abs() <= 1e-9 * numbers.iter().map(|x| x.abs()).sum::<f64>(),
            "{name}"
        );
        for share in [0.01, 0.25, 0.5, 0.75, 0.99] {
            let truth = numbers[((share * numbers.len() as f64).ceil() as usize).saturating_sub(1)];
            let quantile = profile.quantile(share).unwrap();
            assert!(quantile.covers(truth) && quantile.is_certain(), "{name}: {truth} not in {quantile:?}");
        }
    } else {
        let (first, last) = (values.iter().min().unwrap(), values.iter().max().unwrap());
        let cut = |text: &str| Some(Value::Text(text.as_bytes()[..text.len().min(longest)].to_vec()));
        assert_eq!((profile.min(), profile.max()), (cut(first), cut(last)), "{name}");
    }
}

#[test]
fn profiles_answer_as_an_exact_model_does() {
    let mut random = generator("columns");
    for (name, expected) in COLUMNS {
        for (rows, memory) in [(40, 16 << 10), (20_000, 32 << 10), (60_000, 256 << 10)] {
            let values = column(name, rows, &mut random);
            let mut parts: Vec<ColumnProfile> = Vec::new();
            for (part, chunk) in values.chunks(rows / 3 + 1).enumerate() {
                let config = ProfileConfig::for_memory(memory).unwrap();
                let mut profile =
                    ColumnProfile::with_scheme(config, crivo::keys::KeyScheme::bytes(), part as u64).unwrap();
                chunk.iter().for_each(|value| profile.insert(value).unwrap());
                parts.push(profile);
            }
            let mut whole = parts.remove(0);
            parts.iter().for_each(|part| whole.merge(part).unwrap());
            // Of many rows a key is told by chance: see below.
            let different = values.iter().collect::<HashSet<_>>().len();
            if rows == 40 || different < rows * 9 / 10 {
                assert_eq!(whole.could_be_key(), different == rows, "{name} of {rows} rows");
            }
            whole.add_missing(7);
            assert!(!whole.could_be_key(), "a missing value");
            check(name, expected, &values, &whole);
            assert!(whole.memory() <= memory, "{name}: {} of {memory}", whole.memory());
        }
    }
}

/// Keys that are no numbers: the answer "no" by chance has a probability of 10⁻⁴ for each, so that
/// of 300 columns 13 or more are refused with a probability below 10⁻⁶·10⁻¹⁵; and a column with one
/// repetition in ten is never taken for a key.
#[test]
fn keys_are_told_from_other_columns() {
    let mut random = generator("keys");
    let mut refused = 0;
    for round in 0..300 {
        let rows = 2000 + random.below(6000);
        let salt = random.bits();
        let mut key = ColumnProfile::for_memory(32 << 10).unwrap();
        (0..rows).for_each(|row| key.insert(&format!("{salt:x}-{row}")).unwrap());
        refused += usize::from(!key.could_be_key());
        let mut other = ColumnProfile::for_memory(32 << 10).unwrap();
        (0..rows).for_each(|row| other.insert(&format!("{salt:x}-{}", row * 9 / 10)).unwrap());
        assert!(!other.could_be_key(), "round {round}");
    }
    assert!(refused <= 12, "{refused} of 300 keys were taken for none");
}

/// Values chosen to take memory: all different, long ones, in an order that purges often.
#[test]
fn no_column_takes_more_memory_than_was_given() {
    for memory in [16 << 10, 50_000, 128 << 10, 1 << 20, 8 << 20] {
        let config = ProfileConfig::for_memory(memory).unwrap();
        assert!(config.most_memory() <= memory, "{memory}: {config:?}");
        let longest = config.longest as usize;
        let mut random = generator("memory");
        for length in [1, longest / 2, longest, 3 * longest] {
            let mut profile = ColumnProfile::new(config).unwrap();
            let mut most = 0;
            for row in 0..30_000 {
                let mut text = format!("{}e{}", random.bits(), row % 300);
                text.truncate(length);
                text.extend(std::iter::repeat_n('x', length - text.len()));
                profile.insert(&text).unwrap();
                if row % 100 == 0 {
                    most = most.max(profile.memory());
                }
            }
            let mut numbers = ColumnProfile::new(config).unwrap();
            (0..30_000)
                .for_each(|_| numbers.insert(&format!("{:e}", f64::from_bits(random.bits()))).unwrap());
            most = most.max(numbers.memory()).max(profile.memory());
            profile.merge(&numbers).unwrap();
            most = most.max(profile.memory());
            #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
            {
                println!("| {memory} | {length} | {most} | {:.2} |", most as f64 / memory as f64);
            }
            assert!(most <= memory, "{memory} was given, {most} taken by values of {length} bytes");
        }
    }
}

/// Integers beyond what floats hold are added exactly, whatever the order.
#[test]
fn sums_of_large_integers_are_exact() {
    let mut random = generator("large");
    for _ in 0..50 {
        let values: Vec<i64> = (0..300).map(|_| random.bits() as i64 >> random.below(20)).collect();
        let mut profile = ColumnProfile::for_memory(32 << 10).unwrap();
        values.iter().for_each(|value| profile.insert(&value.to_string()).unwrap());
        let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
        assert_eq!(profile.sum(), Some(sum as f64));
        let (least, greatest) = (values.iter().min().unwrap(), values.iter().max().unwrap());
        assert_eq!(profile.min(), Some(Value::Integer(*least)));
        assert_eq!(profile.max(), Some(Value::Integer(*greatest)));
    }
    let mut beyond = ColumnProfile::for_memory(32 << 10).unwrap();
    beyond.insert("123456789012345678901234567890").unwrap();
    beyond.insert("5").unwrap();
    assert_eq!((beyond.column_type(), beyond.min()), (ColumnType::Integer, Some(Value::Integer(5))));
    assert_eq!(beyond.max(), Some(Value::Float(123_456_789_012_345_678_901_234_567_890.0)));
}
