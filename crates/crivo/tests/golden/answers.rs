//! What the stored files answer, in one text file.
//!
//! Every golden file is asked all that its sketch can answer, then it is fed and merged, and what
//! comes out is compared with `answers.txt`. The statistical tests say whether an estimator is
//! right; this test says at once that an answer changed. `cargo xtask golden` adds the answers of
//! new files. To change an answer on purpose, delete its lines first.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::keys::{KeyBatch, KeyBuffer, KeyKind, KeyRef, KeyScheme};

use super::path;

/// Keys of texts that the recipes use, and one that none of them has.
const TEXTS: [&[u8]; 5] = [b"key 0", b"key 1", b"key 4", b"key 77", b"no such key"];
/// Integers that the recipes use, and one that none of them has.
const INTEGERS: [u64; 5] = [0, 1, 4, 77, 0xFFFF_FFFF_0000];
/// Hashes whose leading and trailing bits differ.
const HASHES: [u64; 5] = [0, 1 << 61, 0x9E37_79B9_7F4A_7C15, u64::MAX, 77];

#[test]
fn stored_files_answer_as_before() {
    let file = path("x").with_file_name("answers.txt");
    let write_missing = std::env::var_os("CRIVO_GOLDEN").is_some_and(|value| value == "write");
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    let known = stored.split_inclusive("\n\n").map(|block| (block.lines().next().unwrap(), block));
    let mut known: BTreeMap<_, _> = known.collect();
    let mut all = String::new();
    for name in names() {
        let answers = answers_of(&name);
        match known.remove(name.as_str()) {
            Some(before) => assert_same(&name, before, &answers),
            None => assert!(write_missing, "{name}: no answers are stored; `cargo xtask golden` adds them"),
        }
        all += &answers;
    }
    assert!(known.is_empty(), "answers of files that are gone: {:?}", known.keys());
    if write_missing {
        std::fs::write(&file, all).unwrap();
    }
}

/// The names of all golden files, in order.
fn names() -> Vec<String> {
    let entries = std::fs::read_dir(path("x").with_file_name("")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "bin"));
    let mut names: Vec<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort_unstable();
    names
}

fn assert_same(name: &str, before: &str, now: &str) {
    for (before, now) in before.lines().zip(now.lines()) {
        assert_eq!(before, now, "{name}: an answer changed");
    }
    assert_eq!(before.lines().count(), now.lines().count(), "{name}: answers came or went");
}

/// Everything a stored sketch answers, a line each, below its name.
fn answers_of(name: &str) -> String {
    let sketch = AnySketch::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let mut out = format!("{name}\n");
    let summary = sketch.summary();
    writeln!(out, "parameters {:?}", summary.parameters).unwrap();
    writeln!(out, "items {}", written(summary.items)).unwrap();
    writeln!(out, "fill {:?} false positives {:?}", summary.fill, summary.false_positive_rate).unwrap();
    ask(&sketch, &mut out);
    feed(&sketch, &mut out);
    merge(&sketch, &mut out);
    out.push('\n');
    out
}

/// Asks for each capability that the sketch has.
fn ask(sketch: &AnySketch, out: &mut String) {
    if let Ok(counter) = sketch.cardinality() {
        let (distinct, exact) = (written(counter.distinct()), counter.exact_up_to());
        writeln!(out, "distinct {distinct} exact up to {exact} full {}", counter.is_full()).unwrap();
    }
    if let Ok(filter) = sketch.membership() {
        let has = keys(sketch.scheme()).map(|key| filter.contains_ref(key).unwrap());
        let mut batch = Vec::new();
        in_batch(sketch.scheme(), |keys| filter.contains_batch(keys, &mut batch).unwrap());
        writeln!(out, "contains {has:?} {batch:?} items {}", written(filter.items())).unwrap();
        let (rate, remove) = (filter.false_positive_rate(), filter.can_remove());
        writeln!(out, "rate {rate:e} capacity {:?} removes {remove}", filter.capacity()).unwrap();
    }
    if let Ok(counts) = sketch.frequency() {
        for key in keys(sketch.scheme()) {
            writeln!(out, "frequency {}", answer(counts.frequency_ref(key).map(written))).unwrap();
        }
    }
    if let Ok(top) = sketch.top() {
        writeln!(out, "top {:?}", top.top(3)).unwrap();
    }
    if let Ok(quantiles) = sketch.quantiles() {
        for share in [0.0, 0.01, 0.5, 0.9, 1.0] {
            let value = quantiles.quantile(share).map(written);
            writeln!(out, "quantile {share} {}", value.as_deref().unwrap_or("none")).unwrap();
        }
        for limit in [-10.0, 0.0, 50.0] {
            writeln!(out, "below {limit} {}", written(quantiles.count_below(limit))).unwrap();
        }
        for bar in quantiles.histogram(3) {
            writeln!(out, "bar {:e} {:e} {}", bar.from, bar.to, written(bar.count)).unwrap();
        }
    }
    if let Ok(sample) = sketch.samples() {
        let kept = sample.sample();
        writeln!(out, "sample of {} {:?}", kept.len(), kept.take(3).collect::<Vec<_>>()).unwrap();
    }
}

/// Adds to copies of the sketch in each way it takes.
fn feed(sketch: &AnySketch, out: &mut String) {
    let mut add = |what: &str, insert: &dyn Fn(&mut AnySketch) -> bool| {
        let mut fed = sketch.clone();
        if insert(&mut fed) {
            writeln!(out, "with {what} {} bytes {}", written(fed.summary().items), fingerprint(&fed))
                .unwrap();
        }
    };
    add("a hash", &|fed| fed.hashes_mut().map(|hashes| hashes.insert_hash(HASHES[2])).is_ok());
    add("hashes", &|fed| fed.hashes_mut().map(|hashes| hashes.insert_hashes(&HASHES)).is_ok());
    let scheme = sketch.scheme();
    add("keys", &|fed| {
        fed.keys_mut().is_ok_and(|sketch| {
            let mut taken = false;
            in_batch(scheme, |keys| taken = sketch.insert_batch(keys).is_ok());
            taken
        })
    });
    add("a weight", &|fed| {
        fed.weights_mut().is_ok_and(|weights| weights.add_ref(keys(scheme)[2], 3).is_ok())
    });
    add("weights", &|fed| {
        fed.weights_mut().is_ok_and(|sketch| {
            let mut taken = false;
            in_batch(scheme, |keys| taken = sketch.add_batch(keys, &[1, 2, 3, 0, 5]).is_ok());
            taken
        })
    });
    add("numbers", &|fed| fed.numbers_mut().map(|sketch| sketch.insert_numbers(&[-1.5, 0.0, 3e9])).is_ok());
    add("events", &|fed| fed.events_mut().map(|counter| counter.add(1000)).is_ok());
}

/// Merges the sketch with itself.
fn merge(sketch: &AnySketch, out: &mut String) {
    let mut merged = sketch.clone();
    let items = merged.merge(sketch).map(|()| written(merged.summary().items));
    writeln!(out, "merged with itself {} bytes {}", answer(items), fingerprint(&merged)).unwrap();
}

fn answer(result: crivo::Result<String>) -> String {
    result.unwrap_or_else(|_| "refused".to_owned())
}

/// An estimate with ten digits, which leaves out what another order of additions changes.
fn written(estimate: Estimate) -> String {
    let [value, lower, upper] =
        [estimate.value(), estimate.lower(), estimate.upper()].map(|x| format!("{x:.9e}"));
    format!("{value} [{lower}, {upper}] {}", estimate.confidence().level())
}

fn keys(scheme: KeyScheme) -> [KeyRef<'static>; 5] {
    match scheme.kind() {
        KeyKind::Bytes => TEXTS.map(KeyRef::Bytes),
        KeyKind::Integer => INTEGERS.map(KeyRef::Integer),
        KeyKind::Hash => HASHES.map(KeyRef::Hash),
    }
}

fn in_batch(scheme: KeyScheme, mut use_keys: impl FnMut(&KeyBatch<'_>)) {
    let mut buffer = KeyBuffer::new(scheme);
    let batch = match scheme.kind() {
        KeyKind::Bytes => buffer.hash_slices(&TEXTS),
        KeyKind::Integer => buffer.hash_integers(&INTEGERS),
        KeyKind::Hash => KeyBatch::from_hashes(scheme, &HASHES),
    };
    use_keys(&batch.unwrap());
}

fn fingerprint(sketch: &AnySketch) -> String {
    format!("{:016x}", KeyScheme::bytes().hash(&sketch.encode()).unwrap())
}
