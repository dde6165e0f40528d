//! The laws of LogLog.

use crivo::distinct::LogLog;
use crivo::keys::KeyScheme;
use proptest::prelude::*;

use super::{different_schemes_refuse_each_other, laws_of_sets, merged, sketch_of, streams};

fn loglog(precision: u8) -> LogLog {
    LogLog::with_scheme(precision, KeyScheme::hashes().with_seed(3)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn log_log_obeys_the_laws(streams in streams(), precision in 6_u8..=18) {
        laws_of_sets(|| loglog(precision), &streams);
    }

    /// Of two precisions the lower one stays, as if it had been used from the start.
    #[test]
    fn log_log_merges_down_to_the_lower_precision(
        streams in streams(), p in 6_u8..=18, q in 6_u8..=18,
    ) {
        let (a, b, _) = &streams;
        let (x, y) = (sketch_of(loglog(p), &[a]), sketch_of(loglog(q), &[b]));
        let joined = sketch_of(loglog(p.min(q)), &[a, b]);
        prop_assert_eq!(merged(&x, &y).encode(), joined.encode());
        prop_assert_eq!(merged(&y, &x).encode(), joined.encode());
    }
}

#[test]
fn log_logs_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(|scheme| LogLog::with_scheme(12, scheme).unwrap());
}
