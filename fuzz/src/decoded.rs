//! Whatever decodes is a sketch like any other.

use crivo::codec::{AnySketch, Family};
use crivo::counting::{CounterArray, MorrisCounter, SampledCounter, Tally};
use crivo::distinct::{
    ExactDistinct, HyperLogLog, KMinValues, LinearCounting, LogLog, ProbabilisticCounting, UltraLogLog,
};
use crivo::frequency::private::Protocol;
use crivo::frequency::{CountMin, HeavyHitters, Majority, PrivateCountMean, RangeCountMin, Reading};
use crivo::groups::Groups;
use crivo::membership::{BinaryFuse, BlockedBloom, Bloom, CombinedFilter, CountingBloom, DirectTable};
use crivo::profile::{ColumnProfile, ColumnType, DDSketch, DistinctGrowth, NearDuplicateShare, TableProfile};
use crivo::sampling::{Reservoir, RowSample, WeightedReservoir};
use crivo::similarity::MinHash;
use crivo::sketch::{ContainsHashes, InsertHashes, Sketch as _};
use crivo::window::Panes;
use crivo::{Confidence, Estimate};

/// Hashes to ask for: the ends of the range, and two between.
const HASHES: [u64; 4] = [0, 1, u64::MAX, 0x9E37_79B9_7F4A_7C15];

/// Returns true if an envelope, at the beginning or inside, has a version that is not written any
/// more.
fn holds_an_older_version(bytes: &[u8]) -> bool {
    let is_older = |family: &Family, head: &[u8]| head[5] == *family as u8 && head[6] < family.version();
    bytes
        .windows(7)
        .any(|head| head.starts_with(b"CRVO") && Family::ALL.iter().any(|family| is_older(family, head)))
}

/// Decodes the bytes and, if that succeeds, holds the sketch to its promises. An error is a fine
/// answer to any bytes; a panic, a huge allocation or a sketch that contradicts itself is not.
pub fn check_decoding(bytes: &[u8]) {
    let Ok(sketch) = AnySketch::decode(bytes) else { return };

    // The bytes are a function of the sketch. (An older layout is written again as the newest.)
    let encoded = sketch.encode();
    if !holds_an_older_version(bytes) {
        assert_eq!(encoded, bytes, "decoding and encoding changed the bytes");
    }
    assert_eq!(AnySketch::decode(&encoded).as_ref(), Ok(&sketch));

    let summary = sketch.summary();
    check_estimate(summary.items);
    for share in summary.fill.into_iter().chain(summary.false_positive_rate) {
        assert!((0.0..=1.0).contains(&share), "a share of {share}");
    }
    check_capabilities(&sketch);
    check_queries(&sketch);
    check_merge_with_itself(&sketch);
}

fn check_estimate(estimate: Estimate) {
    let (lower, value, upper) = (estimate.lower(), estimate.value(), estimate.upper());
    assert!(lower <= value && value <= upper, "{value} is not in [{lower}, {upper}]");
}

/// What every sketch with a capability promises, so that a family is checked before it has checks
/// of its own.
fn check_capabilities(sketch: &AnySketch) {
    if let Some(counter) = sketch.answers_cardinality() {
        check_estimate(counter.distinct());
    }
    if let Some(filter) = sketch.answers_membership() {
        check_estimate(filter.items());
        let rate = filter.false_positive_rate();
        assert!((0.0..=1.0).contains(&rate), "a rate of {rate}");
    }
    if let Some(quantiles) = sketch.answers_quantiles() {
        check_estimate(quantiles.count_below(0.0));
        [0.0, 0.3, 1.0].into_iter().filter_map(|share| quantiles.quantile(share)).for_each(check_estimate);
    }
    if let Some(hitters) = sketch.answers_top() {
        hitters.top(3).iter().for_each(|hitter| check_estimate(hitter.estimate()));
    }
    if let Some(sample) = sketch.answers_samples() {
        assert_eq!(sample.sample().count(), sample.sample().len());
    }
}

/// Runs the checks of whichever type the sketch is.
macro_rules! by_type {
    ($sketch:ident; $($type:ident: $name:ident => $check:expr;)*) => {
        $(if let Some($name) = $sketch.downcast_ref::<$type>() {
            $check;
        })*
    };
}

fn check_queries(sketch: &AnySketch) {
    by_type! { sketch;
        HyperLogLog: sketch => check_levels(|level| sketch.estimate_at(level));
        ExactDistinct: sketch => check_levels(|level| sketch.estimate_at(level));
        LinearCounting: sketch => check_levels(|level| sketch.estimate_at(level));
        KMinValues: sketch => {
            check_levels(|level| sketch.estimate_at(level));
            let compared = sketch.compare(sketch).expect("the same scheme");
            check_levels(|level| compared.union_at(level));
            check_levels(|level| compared.intersection_at(level));
            check_levels(|level| compared.difference_at(level));
            check_levels(|level| compared.jaccard_at(level));
            assert_eq!(compared.jaccard().value(), 1.0, "a set differs from itself");
        };
        ProbabilisticCounting: sketch => check_levels(|level| sketch.estimate_at(level));
        LogLog: sketch => check_levels(|level| sketch.estimate_at(level));
        UltraLogLog: sketch => check_levels(|level| sketch.estimate_at(level));
        SampledCounter: counter => check_levels(|level| counter.estimate_at(level));
        MorrisCounter: counter => check_levels(|level| counter.estimate_at(level));
        CounterArray: array => {
            check_levels(|level| array.total_at(level));
            check_levels(|level| array.estimate_at(array.len() - 1, level).expect("the last counter"));
            assert!(array.estimate(array.len()).is_err());
        };
        DirectTable: table => check_direct_table(table);
        Bloom: filter => {
            check_filter(filter);
            check_levels(|level| filter.items_at(level));
            check_levels(|level| filter.shared_items_at(filter, level).expect("the same filter"));
        };
        BlockedBloom: filter => {
            check_filter(filter);
            check_levels(|level| filter.items_at(level));
            check_levels(|level| filter.shared_items_at(filter, level).expect("the same filter"));
        };
        BinaryFuse: filter => {
            check_answers(filter);
            assert!(filter.items().is_exact() && filter.fill() <= 1.0);
            assert!(filter.clone().merge(filter).is_err(), "a filter of a finished set was merged");
        };
        CombinedFilter: filter => {
            assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
            assert!(filter.items().lower() <= filter.items().upper());
        };
        CountingBloom: filter => {
            check_filter(filter);
            check_levels(|level| filter.items_at(level));
            check_levels(|level| filter.shared_items_at(filter, level).expect("the same filter"));
            check_counting_bloom(filter);
        };
        CountMin: sketch => check_count_min(sketch);
        RangeCountMin: sketch => check_range_count_min(sketch);
        Majority: sketch => check_majority(sketch);
        HeavyHitters: sketch => check_heavy_hitters(sketch);
        PrivateCountMean: sketch => check_private_count_mean(sketch);
        Reservoir: sample => {
            assert_eq!(sample.sample().len() as u64, sample.seen().min(sample.capacity()));
        };
        WeightedReservoir: sample => {
            assert_eq!(sample.sample().len() as u64, sample.seen().min(sample.capacity()));
        };
        TableProfile: table => {
            let rule = crivo::profile::drift::DriftRule::default();
            let drift = crivo::profile::drift::TableDrift::between(table, table, &rule, |_| false);
            assert!(!drift.has_drifted(), "a table differs from itself");
        };
        RowSample: sample => {
            let rows = sample.rows();
            assert_eq!(rows.len() as u64, sample.seen().min(sample.capacity()));
            assert!(rows.is_sorted_by(|one, next| one.place < next.place));
        };
        NearDuplicateShare: sample => {
            assert_eq!(sample.share().is_none(), sample.is_empty());
            sample.share().into_iter().for_each(|share| {
                check_estimate(share);
                assert!(share.lower() >= 0.0 && share.upper() <= 1.0);
            });
        };
        DistinctGrowth: sketch => {
            for level in [0.5, 0.95] {
                let level = Confidence::new(level).expect("a probability");
                let curve = sketch.growth_at(&[1, 1000, u64::MAX >> 1], level);
                assert!(curve.is_sorted_by(|one, next| one.value() <= next.value()));
                curve.into_iter().for_each(check_estimate);
            }
            assert_eq!(sketch.keys().map(|keys| keys.is_empty()), Ok(sketch.is_empty()));
        };
        MinHash: sketch => check_min_hash(sketch);
        Panes: ring => check_panes(ring);
        Tally: tally => {
            check_estimate(tally.estimate());
            assert!(tally.numbers() <= tally.count() && tally.sum().is_some() == (tally.numbers() > 0));
        };
        Groups: groups => {
            assert_eq!(groups.iter().count(), groups.len());
            assert!(groups.iter().all(|(key, _)| groups.get(key).is_some()));
        };
        ColumnProfile: profile => check_column_profile(profile);
        DDSketch: sketch => check_ddsketch(sketch);
    }
}

/// An answer at every level is an interval around its value.
fn check_levels(answer: impl Fn(Confidence) -> Estimate) {
    for level in [1e-9, 0.5, 0.95, 1.0 - 1e-12] {
        check_estimate(answer(Confidence::new(level).expect("a probability")));
    }
}

fn check_count_min(sketch: &CountMin) {
    for hash in HASHES {
        check_estimate(sketch.frequency_of_hash(hash));
        check_levels(|level| sketch.frequency_of_hash_at(hash, level));
    }
    if let Ok(product) = sketch.inner_product(sketch) {
        check_estimate(product);
    }
}

fn check_range_count_min(sketch: &RangeCountMin) {
    let greatest = sketch.greatest();
    for range in [0..=greatest, 0..=greatest / 3, greatest / 3..=greatest, 1..=greatest.max(2) - 1] {
        check_levels(|level| sketch.range_at(range.clone(), level).expect("a range of the universe"));
    }
    for share in [0.0, 0.3, 1.0] {
        let quantile = sketch.quantile(share);
        assert_eq!(quantile.is_err(), sketch.is_empty());
        quantile.into_iter().for_each(check_estimate);
    }
}

fn check_majority(sketch: &Majority) {
    let candidate = sketch.candidate();
    assert!(candidate.is_some() || !sketch.is_certain());
    if let Some(hitter) = candidate {
        check_estimate(hitter.estimate());
        assert_eq!(sketch.frequency_ref(hitter.key()), Ok(hitter.estimate()));
        assert!(sketch.is_saturated() || sketch.is_majority(hitter.upper()), "a candidate that cannot win");
    }
}

fn check_heavy_hitters(sketch: &HeavyHitters) {
    let listed = sketch.top(usize::MAX);
    assert_eq!(listed.len(), sketch.counters());
    for hitter in &listed {
        check_estimate(hitter.estimate());
        assert_eq!(sketch.frequency_ref(hitter.key()), Ok(hitter.estimate()));
    }
    assert_eq!(sketch.top(3), listed[..listed.len().min(3)]);
    for reading in [Reading::NoFalsePositives, Reading::NoFalseNegatives] {
        let frequent = sketch.above(0.1, reading).unwrap_or_default();
        assert!(frequent.iter().all(|hitter| listed.contains(hitter)));
    }
    // A guarantee that a file could break would be none.
    let limit = sketch.total() as f64 * HeavyHitters::guaranteed_share(sketch.capacity());
    assert!(sketch.is_saturated() || sketch.max_error() as f64 <= limit * (1.0 + 1e-9));
}

fn check_private_count_mean(sketch: &PrivateCountMean) {
    let (answers, reports) = (sketch.answers(), sketch.reports() as f64);
    for hash in HASHES {
        check_levels(|level| answers.frequency_of_hash_at(hash, level));
        let found = sketch.frequency_of_hash(hash);
        assert!(
            found.lower() >= 0.0 && found.upper() <= reports && sketch.unbiased_of_hash(hash).is_finite()
        );
    }
    let header = sketch.protocol().header();
    assert_eq!(Protocol::from_header(&header).as_ref(), Ok(sketch.protocol()));
}

fn check_min_hash(sketch: &MinHash) {
    check_levels(|level| sketch.items_at(level));
    assert_eq!(sketch.similarity(sketch).is_err(), sketch.is_empty(), "nothing is like nothing");
    if !sketch.is_empty() {
        check_levels(|level| sketch.similarity_at(sketch, level).expect("the same size and scheme"));
        assert_eq!(sketch.similarity(sketch).map(Estimate::value), Ok(1.0), "a set differs from itself");
    }
    let mut filled = sketch.clone();
    filled.insert_hashes(&HASHES);
    assert!(filled.slots().iter().zip(sketch.slots()).all(|(after, before)| after <= before));
}

fn check_panes(ring: &Panes) {
    let Some(latest) = ring.latest() else {
        assert!(ring.is_empty() && ring.late() == 0);
        return;
    };
    let now = *latest.end();
    let covered = ring.covered(now).expect("the latest window");
    assert!(covered.contains(&now) && covered.end() == latest.end());
    assert!(ring.panes().all(|(times, _)| covered.contains(times.start()) && covered.contains(times.end())));
    // Panes of one kind and size may still refuse each other: Count-Min after conservative updates
    // does.
    if let Ok(merged) = ring.merged(now) {
        assert_eq!(merged.family(), ring.empty().family());
        check_queries(&merged);
    }
}

fn check_column_profile(profile: &ColumnProfile) {
    check_levels(|level| profile.distinct_at(level));
    check_ddsketch(profile.numbers());
    check_heavy_hitters(profile.heavy_hitters());
    let has_values = profile.values() > 0;
    assert_eq!(profile.lengths().is_some(), has_values);
    assert_eq!(profile.column_type() == ColumnType::Empty, !has_values);
    assert!(has_values || !profile.could_be_key());
    if profile.column_type() == ColumnType::Text {
        assert!(profile.min().is_some() && profile.max().is_some());
    }
    assert_eq!(profile.sum().is_some(), profile.mean().is_some());
    assert!(profile.majority().is_none_or(|hitter| hitter.upper() > profile.values() / 2));
}

fn check_ddsketch(sketch: &DDSketch) {
    let shares = [0.0, 0.01, 0.5, 0.99, 1.0];
    let quantiles = sketch.quantiles(&shares);
    assert!(quantiles.iter().all(|quantile| quantile.is_none() == sketch.is_empty()));
    let (Some(min), Some(max)) = (sketch.min(), sketch.max()) else { return };
    let mut last = min;
    for quantile in quantiles.into_iter().flatten() {
        check_estimate(quantile);
        assert!(quantile.lower() >= min && quantile.upper() <= max && quantile.value() >= last);
        last = quantile.value();
    }
    for limit in [f64::NEG_INFINITY, min, 0.0, max, f64::INFINITY, f64::NAN] {
        check_estimate(sketch.count_below(limit));
    }
    assert!(sketch.mean().is_none_or(|mean| min <= mean && mean <= max));
    assert!(sketch.relative_error() >= sketch.accuracy() && sketch.relative_error() <= 1.0);
}

/// A filter answers for many as it does for one.
fn check_answers<F: ContainsHashes>(filter: &F) {
    let mut found = Vec::new();
    filter.contains_hashes(&HASHES, &mut found);
    assert!(found.iter().zip(HASHES).all(|(&found, hash)| found == filter.contains_hash(hash)));
}

/// A filter answers for many as it does for one, and finds what is put into it.
fn check_filter<F: ContainsHashes + InsertHashes + Clone>(filter: &F) {
    check_answers(filter);
    let mut filled = filter.clone();
    filled.insert_hashes(&HASHES);
    assert!(HASHES.iter().all(|&hash| filled.contains_hash(hash)));
}

fn check_direct_table(table: &DirectTable) {
    assert!(table.iter().all(|key| table.contains(&key) == Ok(true)));
    assert_eq!(table.iter().count() as u64, table.len());
    assert_eq!(table.contains(&table.universe()), Ok(false));
    assert_eq!(table.jaccard(table), Ok(1.0));
}

fn check_counting_bloom(filter: &CountingBloom) {
    for hash in HASHES {
        check_levels(|level| filter.count_hash_at(hash, level));
        assert_eq!(filter.contains_hash(hash), filter.count_hash(hash).value() >= 1.0, "found means counted");
    }
    let mut rest = filter.shared_cells(filter).expect("the same filter");
    assert_eq!(&rest, filter, "intersecting with itself changed the filter");
    rest.subtract(filter).expect("all of it is in there");
    let stays = filter.saturated() as f64 / filter.cells() as f64;
    assert_eq!(rest.fill(), stays, "only saturated counters stay");
}

fn check_merge_with_itself(sketch: &AnySketch) {
    let mut merged = sketch.clone();
    let outcome = merged.merge(sketch);
    // Sketches of sets know each item once; those that count know it twice then.
    let is_set = matches!(
        sketch.family(),
        Family::HyperLogLog
            | Family::ExactDistinct
            | Family::LinearCounting
            | Family::KMinValues
            | Family::ProbabilisticCounting
            | Family::LogLog
            | Family::UltraLogLog
            | Family::DirectTable
            | Family::Bloom
            | Family::BlockedBloom
            | Family::MinHash
    );
    if is_set {
        assert_eq!(outcome, Ok(()));
        let mut again = merged.clone();
        assert_eq!(again.merge(sketch), Ok(()));
        assert_eq!(again, merged, "merging a second time changed the sketch");
    }
    // A merge ends a history.
    let keeps_history = sketch.summary().parameters.iter().any(|(name, _)| *name == "history");
    if (is_set && !keeps_history) || outcome.is_err() {
        assert_eq!(&merged, sketch, "merging with itself, or a refusal to, changed the sketch");
    }
    assert_eq!(AnySketch::decode(&merged.encode()), Ok(merged));
}
