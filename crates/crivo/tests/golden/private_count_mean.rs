//! The files of private counts, and of reports.

use crivo::frequency::private::{PredictableBits, PrivateClient, PrivateCountMean, Protocol, reports_in};
use crivo::keys::{Key, KeyScheme};

use super::path;

/// The reports about some keys, with the coins of a seed.
fn reports<K: Key>(protocol: Protocol, keys: impl Iterator<Item = K>, seed: u64) -> Vec<u8> {
    let (mut file, mut coins) = (protocol.header(), PredictableBits::new(seed));
    let mut client = PrivateClient::new(protocol, 1e9).unwrap();
    keys.for_each(|key| client.encode(&key, &mut coins).unwrap().encode_to(&mut file));
    file
}

fn sketch(file: &[u8]) -> PrivateCountMean {
    let (protocol, reports) = reports_in(file).unwrap();
    let mut sketch = PrivateCountMean::new(protocol).unwrap();
    reports.for_each(|report| sketch.insert(&report.unwrap()).unwrap());
    sketch
}

fn texts() -> Vec<u8> {
    let protocol = Protocol::new(4.0, 16, 64).unwrap();
    reports(protocol, (0..1000).map(|i| format!("key {}", i * i % 10)), 7)
}

fn integers() -> Vec<u8> {
    let scheme = crate::xxh3_integers().with_seed(7);
    let protocol = Protocol::new(0.5, 100, 13).unwrap().with_scheme(scheme);
    reports(protocol, -20..20_i64, u64::MAX)
}

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let empty = Protocol::new(1.0, 3, 5).unwrap().with_scheme(KeyScheme::hashes().with_seed(9));
    vec![
        ("private_count_mean_v1_empty", PrivateCountMean::new(empty).unwrap().encode()),
        ("private_count_mean_v1_texts", sketch(&texts()).encode()),
        ("private_count_mean_v1_integers", sketch(&integers()).encode()),
    ]
}

/// Files of reports are no envelopes, and so have an ending of their own.
#[test]
fn stored_reports_are_written_the_same_today() {
    for (name, bytes) in
        [("private_reports_v1_texts", &texts()[..36 + 50 * 14]), ("private_reports_v1_integers", &integers())]
    {
        let path = path(name).with_extension("reports");
        if std::env::var_os("CRIVO_GOLDEN").is_some_and(|value| value == "write") && !path.exists() {
            std::fs::write(&path, bytes).unwrap();
        }
        let stored = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(stored == bytes, "{name}: the bytes written today differ from the stored file");
        let (protocol, reports) = reports_in(&stored).unwrap();
        let mut again = protocol.header();
        reports.for_each(|report| report.unwrap().encode_to(&mut again));
        assert!(again == stored, "{name} is not written back the same");
    }
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| PrivateCountMean::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let texts = stored("private_count_mean_v1_texts");
    let answers = ["key 0", "key 1", "key 2"].map(|key| texts.unbiased(key).unwrap().round());
    assert_eq!((texts.reports(), answers), (1000, [92.0, 187.0, -15.0]));
    let integers = stored("private_count_mean_v1_integers");
    assert_eq!(integers.reports(), 40);
    assert_eq!(integers.protocol().epsilon(), 0.5);
}
