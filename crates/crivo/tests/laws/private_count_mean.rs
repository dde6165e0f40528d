//! The laws of private counts: reports add up, in any order and in any parts.

use crivo::ErrorKind;
use crivo::frequency::private::{
    PredictableBits, PrivateClient, PrivateCountMean, Protocol, Report, reports_in,
};
use crivo::keys::KeyScheme;
use proptest::prelude::*;

use super::merged;

fn reports_of(protocol: Protocol, count: usize, seed: u64) -> Vec<Report> {
    let (mut client, mut coins) = (PrivateClient::new(protocol, 1e9).unwrap(), PredictableBits::new(seed));
    (0..count as u64)
        .map(|i| client.encode_hash((i % 5).wrapping_mul(0x9E37_79B9_7F4A_7C15), &mut coins).unwrap())
        .collect()
}

fn sketch_of(protocol: Protocol, reports: &[Report]) -> PrivateCountMean {
    let mut sketch = PrivateCountMean::new(protocol).unwrap();
    reports.iter().for_each(|report| sketch.insert(report).unwrap());
    sketch
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn private_counts_obey_the_laws(
        epsilon in 0.001..32_f64, rows in 1_u32..200, width in 2_u32..300,
        counts in (0..80_usize, 0..80_usize, 0..80_usize), seed in any::<u64>(),
    ) {
        let scheme = KeyScheme::hashes().with_seed(3);
        let protocol = Protocol::new(epsilon, rows, width).unwrap().with_scheme(scheme);
        let empty = PrivateCountMean::new(protocol).unwrap();
        let [a, b, c] = [counts.0, counts.1, counts.2].map(|count| reports_of(protocol, count, seed));
        let [x, y, z] = [&a, &b, &c].map(|reports| sketch_of(protocol, reports));

        let joined = [a.clone(), b.clone()].concat();
        prop_assert_eq!(&merged(&x, &y), &sketch_of(protocol, &joined), "merge equals the joined reports");
        prop_assert_eq!(&merged(&x, &y), &merged(&y, &x), "merge commutes");
        prop_assert_eq!(&merged(&merged(&x, &y), &z), &merged(&x, &merged(&y, &z)), "merge associates");
        prop_assert_eq!(&merged(&x, &empty), &x, "merging an empty sketch changes nothing");
        let backwards: Vec<Report> = joined.iter().rev().cloned().collect();
        prop_assert_eq!(sketch_of(protocol, &backwards).encode(), merged(&x, &y).encode());
        prop_assert_eq!(PrivateCountMean::decode(&x.encode()), Ok(x.clone()), "decoding inverts encoding");
        prop_assert_eq!(x.reports(), a.len() as u64);

        // The same through bytes: a header and records, in one piece or several.
        let mut file = protocol.header();
        joined.iter().for_each(|report| report.encode_to(&mut file));
        let (read, reports) = reports_in(&file).unwrap();
        prop_assert_eq!(read, protocol);
        prop_assert_eq!(reports.collect::<Result<Vec<_>, _>>(), Ok(joined));
        let mut streamed = empty;
        let (first, second) = file[Protocol::HEADER_LEN..].split_at(a.len() * protocol.record_len());
        streamed.insert_records(first).unwrap();
        streamed.insert_records(second).unwrap();
        prop_assert_eq!(streamed, merged(&x, &y));
    }
}

#[test]
fn reports_and_sketches_of_other_protocols_are_refused() {
    let scheme = KeyScheme::integers().with_seed(1);
    let make =
        |epsilon, rows, width, scheme| Protocol::new(epsilon, rows, width).unwrap().with_scheme(scheme);
    let protocol = make(2.0, 4, 16, scheme);
    let mut sketch = sketch_of(protocol, &reports_of(protocol, 10, 1));
    let before = sketch.clone();
    for (other, field) in [
        (make(2.0_f64.next_up(), 4, 16, scheme), "epsilon"),
        (make(2.0, 5, 16, scheme), "rows"),
        (make(2.0, 4, 15, scheme), "width"),
        (make(2.0, 4, 16, scheme.with_seed(2)), "seed"),
        (make(2.0, 4, 16, KeyScheme::bytes().with_seed(1)), "key kind"),
    ] {
        let error = sketch.merge(&PrivateCountMean::new(other).unwrap()).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
        let foreign = &reports_of(other, 1, 1)[0];
        let error = sketch.insert(foreign).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, "report"));
        // As bytes too, even where the size is the same.
        let error = sketch.insert_records(&foreign.encode()).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Damaged, "report"), "{field}");
        assert_eq!(sketch, before, "a refusal changes nothing");
    }
}

#[test]
fn rows_that_are_full_refuse_more() {
    let protocol = Protocol::new(1.0, 1, 2).unwrap().with_scheme(KeyScheme::hashes());
    // A file that says 2^32 − 2 reports: 28 bytes of envelope and 16 of sizes before it.
    let mut bytes = sketch_of(protocol, &[]).encode();
    bytes[44..48].copy_from_slice(&(u32::MAX - 1).to_le_bytes());
    super::support::forge::seal(&mut bytes);
    let mut nearly = PrivateCountMean::decode(&bytes).unwrap();
    let report = &reports_of(protocol, 1, 1)[0];
    nearly.insert(report).unwrap();
    assert_eq!(nearly.reports(), u64::from(u32::MAX));
    let before = nearly.clone();
    assert_eq!(nearly.insert(report).unwrap_err().field(), "reports");
    assert_eq!(nearly.insert_records(&report.encode()).unwrap_err().field(), "reports");
    assert_eq!(nearly.merge(&before.clone()).unwrap_err().field(), "reports");
    assert_eq!(nearly, before);
}
