//! Combined filters against what follows from the theory of their parts: of sets that share
//! nothing, a stranger is found in a union with `1 − (1 − p)(1 − q)` and in an intersection with
//! `pq`; a key of one set with the rate of the other.

use crivo::keys::KeyScheme;
use crivo::membership::{Bloom, CombinedFilter};

use super::bloom::bloom_theory;
use super::support::{Random, generator};

/// Five of these are a chance below 10⁻⁶, two-sided.
const DEVIATIONS: f64 = 5.0;
/// As many pairs of filters, because their fills vary.
const PAIRS: u32 = 40;
/// As many hits are expected: 3 % are more than ten deviations then.
const HITS: f64 = 300_000.0;

/// A filter sized for some items at a rate, with as many random keys, and those.
fn filled(items: u64, rate: f64, random: &mut Random) -> (Bloom, Vec<u64>) {
    let mut filter = Bloom::for_items_with_scheme(items, rate, KeyScheme::hashes()).unwrap();
    let mut keys = vec![0; items as usize];
    random.fill(&mut keys);
    filter.insert_hashes(&keys);
    (filter, keys)
}

/// The theory of a filter that is sized for its items: the rate, and its relative deviation between
/// filters.
fn theory(items: u64, rate: f64) -> (f64, f64) {
    let (bits, hashes) = Bloom::size_for(items, rate).unwrap();
    bloom_theory(bits, hashes, items)
}

/// Compares the share of probes that were found with theory, to 3 %.
fn hold(name: &str, found: f64, probes: f64, (rate, between): (f64, f64)) {
    let expected = probes * rate;
    let deviation = ((1.0 - rate) / expected + between * between / f64::from(PAIRS)).sqrt();
    let ratio = found / expected;
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
    {
        println!("| {name} | {:.4} % | {ratio:.4} | {deviation:.4} |", 100.0 * rate);
    }
    assert!(2.0 * DEVIATIONS * deviation < 0.03, "{name}: too few probes to see 3 %: {deviation}");
    assert!((ratio - 1.0).abs() < DEVIATIONS * deviation, "{name}: {ratio} of theory, deviation {deviation}");
}

#[test]
fn combined_filters_are_wrong_as_often_as_theory_says() {
    let mut random = generator("combined filters");
    let ((few, p_asked), (many, q_asked)) = ((20_000, 0.3), (50_000, 0.05));
    let ((p, p_between), (q, q_between)) = (theory(few, p_asked), theory(many, q_asked));
    let of_union = p + q - p * q;
    let between_union = (p * p_between).hypot(q * q_between) / of_union;
    let probes = (HITS / (p * q) / f64::from(PAIRS)) as u64;
    let (mut in_union, mut in_both, mut of_few, mut asked) = (0_u64, 0_u64, 0_u64, 0_u64);
    for _ in 0..PAIRS {
        let (first, keys) = filled(few, p_asked, &mut random);
        let (second, _) = filled(many, q_asked, &mut random);
        let both = CombinedFilter::intersection(first.clone().into(), second.clone().into()).unwrap();
        let union = CombinedFilter::union(first.into(), second.into()).unwrap();
        assert!(union.false_positive_rate() >= of_union * 0.9 && union.false_positive_rate() < 1.2 * (p + q));
        for _ in 0..probes {
            let stranger = random.bits();
            in_both += u64::from(both.contains_hash(stranger));
            in_union += u64::from(union.contains_hash(stranger));
        }
        of_few += keys.iter().filter(|&&key| both.contains_hash(key)).count() as u64;
        asked += keys.len() as u64;
    }
    let probes = (probes * u64::from(PAIRS)) as f64;
    hold("union, keys of no set", in_union as f64, probes, (of_union, between_union));
    hold("intersection, keys of no set", in_both as f64, probes, (p * q, p_between.hypot(q_between)));
    // Fewer are asked here, which see 5 %.
    let (expected, found) = (asked as f64 * q, of_few as f64);
    let deviation = (expected + (expected * q_between).powi(2) / f64::from(PAIRS)).sqrt();
    assert!((found - expected).abs() < DEVIATIONS * deviation, "{found} instead of {expected}");
}

/// How much the sets of a union share is not known, so that its bounds have room for all or
/// nothing; the truth is outside of at most 5 % of 400 unions, and five deviations more.
#[test]
fn bounds_of_a_union_hold_whatever_its_sets_share() {
    let mut random = generator("items of unions");
    let unions = 400;
    let mut missed = 0;
    for round in 0..unions {
        let (first, keys) = filled(2_000, 0.01, &mut random);
        let shared = round * 2_000 / unions;
        let mut second = Bloom::for_items_with_scheme(3_000, 0.01, KeyScheme::hashes()).unwrap();
        second.insert_hashes(&keys[..shared]);
        (0..1_000).for_each(|_| _ = second.insert_hash(random.bits()));
        let union = CombinedFilter::union(first.into(), second.into()).unwrap();
        missed += u32::from(!union.items().covers(3_000.0));
    }
    let most = 0.05 * unions as f64;
    let deviation = (most * 0.95).sqrt();
    assert!(f64::from(missed) < most + DEVIATIONS * deviation, "{missed} of {unions} missed");
}

/// Filters of different sizes for the same keys: the largest of their lower bounds is the union's,
/// so the more there are, the more often one of them is too high. Of 400 unions of eight filters at
/// most 5 % miss the truth, and five deviations more: a chance below 10⁻⁶.
#[test]
fn bounds_of_a_union_hold_however_many_sets_it_has() {
    let mut random = generator("items of large unions");
    let unions = 400;
    let mut missed = 0;
    for _ in 0..unions {
        let mut keys = vec![0; 2_000];
        random.fill(&mut keys);
        let filter = |size: u64| {
            let items = 2_000 + 100 * size;
            let mut filter = Bloom::for_items_with_scheme(items, 0.1, KeyScheme::hashes()).unwrap();
            filter.insert_hashes(&keys);
            filter
        };
        let mut union = CombinedFilter::union(filter(0).into(), filter(1).into()).unwrap();
        for size in 2..8 {
            union.merge(&CombinedFilter::union(filter(size).into(), filter(size).into()).unwrap()).unwrap();
        }
        assert_eq!(union.filters(), 8);
        missed += u32::from(!union.items().covers(2_000.0));
    }
    let most = 0.05 * f64::from(unions);
    let deviation = (most * 0.95).sqrt();
    assert!(f64::from(missed) < most + DEVIATIONS * deviation, "{missed} of {unions} missed");
}
