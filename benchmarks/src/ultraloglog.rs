//! How many different, in how little memory: UltraLogLog beside HyperLogLog and the sketches of
//! crates.io that also spend their bits better than it.

use std::hint::black_box;

use crivo::distinct::hyperloglog::HighestRank;
use crivo::distinct::ultraloglog::ThreeLevels;
use crivo::distinct::{HyperLogLog, UltraLogLog};
use crivo::keys::KeyScheme;
use datasketches::cpc::{CpcSketch, CpcUnion};
use datasketches::hll::{HllSketch, HllType, HllUnion};
use exaloglog::ExaLogLog;
use foldhash::fast::FixedState;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use ultraloglog::UltraLogLog as PeerUltra;

use crate::measure::{Contender, nanoseconds_each};
use crate::register_sketch::{
    ITEMS, empty, hashes, hashes_in_batches, hashes_one_by_one, integers_in_batches, integers_one_by_one,
    merged,
};
use crate::report::Page;

/// ExaLogLog's registers have 28 bits: at this precision it takes about the memory of the others
/// at 12.
const EXA_PRECISION: u32 = 10;

fn peer(precision: u8) -> PeerUltra {
    PeerUltra::new(precision.into()).expect("a valid precision")
}

fn cpc() -> CpcSketch {
    CpcSketch::new(12).expect("a valid precision")
}

fn hll4() -> HllSketch {
    HllSketch::new(12, HllType::Hll4).expect("a valid precision")
}

pub fn run() -> Page {
    let mut page = Page::new(
        "How many different, in how little memory: UltraLogLog",
        "Precision 12 unless said; exaloglog, whose registers have 28 bits, at 10, which takes about the same \
         memory. crivo's HyperLogLog is the yardstick: an insert into UltraLogLog may take twice its time. \
         Memory × variance is what an error costs, whatever the precision: bits × mean square relative error. \
         datasketches' sketches read the order of arrival (HIP), which makes them sharper until they are \
         merged, and keep a running answer. crivo's do so on request (`with_history`). CPC and crivo are stored compressed, and take more memory in use. Stored and merged, crivo is as small as CPC. Where crivo \
         is not best: without a history, CPC needs fewer bits for the same error until it is merged, in memory exaloglog and CPC do, and both are slower \
         to fill; ultraloglog is quicker one by one at high precision with few items a register, where the \
         processor cannot foresee whether an insert changes the state (precision 18). An estimate counts the registers \
         first, 0.3 ns for each.",
    );
    for precision in [12, 14, 18] {
        insert_hashes(&mut page, precision);
    }
    insert_integers(&mut page);
    estimate(&mut page);
    merge(&mut page);
    memory_times_variance(&mut page);
    page
}

fn insert_hashes(page: &mut Page, precision: u8) {
    let hashes = &hashes(1);
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, one by one", hashes_one_by_one::<ThreeLevels>(precision, hashes)),
        ("crivo, batches of 1,024", hashes_in_batches::<ThreeLevels>(precision, hashes)),
        ("crivo HyperLogLog, one by one", hashes_one_by_one::<HighestRank>(precision, hashes)),
        ("crivo HyperLogLog, batches of 1,024", hashes_in_batches::<HighestRank>(precision, hashes)),
        (
            "ultraloglog",
            Box::new(move || {
                let mut sketch = peer(precision);
                for &hash in hashes {
                    sketch.add(hash);
                }
                black_box(&sketch);
            }),
        ),
    ];
    if precision == 12 {
        contenders.push((
            "exaloglog",
            Box::new(move || {
                let mut sketch = ExaLogLog::new(EXA_PRECISION);
                hashes.iter().for_each(|&hash| sketch.add_hash(hash));
                black_box(&sketch);
            }),
        ));
    }
    let job = format!("Insert a million different hashes, precision {precision}");
    page.add(job, "ns an insert", nanoseconds_each(ITEMS, &mut contenders));
}

fn insert_integers(page: &mut Page) {
    let keys = &hashes(2);
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, one by one", integers_one_by_one::<ThreeLevels>(keys)),
        ("crivo, batches of 1,024", integers_in_batches::<ThreeLevels>(keys)),
        ("crivo HyperLogLog, batches of 1,024", integers_in_batches::<HighestRank>(keys)),
        (
            "ultraloglog + foldhash",
            Box::new(move || {
                let mut sketch = peer(12);
                let build = FixedState::default();
                for key in keys {
                    sketch.add_value_with_build_hasher(key, &build);
                }
                black_box(&sketch);
            }),
        ),
        (
            "exaloglog (SipHash)",
            Box::new(move || {
                let mut sketch = ExaLogLog::new(EXA_PRECISION);
                keys.iter().for_each(|key| sketch.add(key));
                black_box(&sketch);
            }),
        ),
        (
            "datasketches CPC (murmur3)",
            Box::new(move || {
                let mut sketch = cpc();
                keys.iter().for_each(|&key| sketch.update(key));
                black_box(&sketch);
            }),
        ),
        (
            "datasketches HLL_4 (murmur3)",
            Box::new(move || {
                let mut sketch = hll4();
                keys.iter().for_each(|&key| sketch.update(key));
                black_box(&sketch);
            }),
        ),
    ];
    page.add("Insert a million different u64 keys", "ns an insert", nanoseconds_each(ITEMS, &mut contenders));
}

fn estimate(page: &mut Page) {
    const QUERIES: usize = 100;
    let All { ours, hyper, ultra, exa, cpc, hll4, .. } = &All::of(&hashes(4));
    let mut largest = empty::<ThreeLevels>(18, KeyScheme::hashes());
    largest.insert_hashes(&hashes(4));
    let largest = &largest;
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, value and bounds", repeated(QUERIES, || black_box(ours).estimate().upper())),
        (
            "crivo, value and bounds, precision 18",
            repeated(QUERIES, || black_box(largest).estimate().upper()),
        ),
        ("crivo HyperLogLog, value and bounds", repeated(QUERIES, || black_box(hyper).estimate().upper())),
        ("ultraloglog, value", repeated(QUERIES, || black_box(ultra).get_distinct_count_estimate())),
        ("exaloglog, value", repeated(QUERIES, || black_box(exa).estimate())),
        ("datasketches CPC, value", repeated(QUERIES, || black_box(cpc).estimate())),
        ("datasketches HLL_4, value", repeated(QUERIES, || black_box(hll4).estimate())),
    ];
    page.add("Estimate, a million inserted", "ns a query", nanoseconds_each(QUERIES, &mut contenders));
}

fn merge(page: &mut Page) {
    const MERGES: usize = 100;
    let (a, b) = &(All::of(&hashes(5)), All::of(&hashes(6)));
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo", repeated(MERGES, || merged(&a.ours, &b.ours))),
        ("crivo HyperLogLog", repeated(MERGES, || merged(&a.hyper, &b.hyper))),
        ("ultraloglog", repeated(MERGES, || PeerUltra::merge(&a.ultra, &b.ultra).expect("two sketches"))),
        ("exaloglog", repeated(MERGES, || merged_exa(&a.exa, &b.exa))),
        ("datasketches CPC", repeated(MERGES, || united_cpc(&a.cpc, &b.cpc))),
        ("datasketches HLL_4", repeated(MERGES, || united_hll4(&a.hll4, &b.hll4))),
    ];
    page.add(
        "Copy and merge two sketches of a million",
        "ns a merge",
        nanoseconds_each(MERGES, &mut contenders),
    );
}

/// The same work many times over, so that the clock's own cost does not show.
fn repeated<'a, T>(times: usize, mut work: impl FnMut() -> T + 'a) -> Box<dyn FnMut() + 'a> {
    Box::new(move || {
        for _ in 0..times {
            black_box(work());
        }
    })
}

/// One of each, of the same items.
struct All {
    ours: UltraLogLog,
    /// The same with the history of its stream, which a merge ends.
    ours_kept: UltraLogLog,
    hyper: HyperLogLog,
    hyper_kept: HyperLogLog,
    ultra: PeerUltra,
    exa: ExaLogLog,
    cpc: CpcSketch,
    hll4: HllSketch,
}

const NAMES: [&str; 8] = [
    "crivo",
    "crivo, with history",
    "crivo HyperLogLog",
    "crivo HyperLogLog, with history",
    "ultraloglog",
    "exaloglog",
    "datasketches CPC",
    "datasketches HLL_4",
];

impl All {
    fn of(items: &[u64]) -> Self {
        let mut all = Self {
            ours: empty(12, KeyScheme::hashes()),
            ours_kept: empty(12, KeyScheme::hashes()).with_history().expect("an empty sketch"),
            hyper: empty(12, KeyScheme::hashes()),
            hyper_kept: empty(12, KeyScheme::hashes()).with_history().expect("an empty sketch"),
            ultra: peer(12),
            exa: ExaLogLog::new(EXA_PRECISION),
            cpc: cpc(),
            hll4: hll4(),
        };
        all.ours.insert_hashes(items);
        all.ours_kept.insert_hashes(items);
        all.hyper.insert_hashes(items);
        all.hyper_kept.insert_hashes(items);
        for &item in items {
            all.ultra.add(item);
            all.exa.add_hash(item);
            all.cpc.update(item);
            all.hll4.update(item);
        }
        all
    }

    fn merged(&self, other: &Self) -> Self {
        Self {
            ours: merged(&self.ours, &other.ours),
            ours_kept: merged(&self.ours_kept, &other.ours_kept),
            hyper: merged(&self.hyper, &other.hyper),
            hyper_kept: merged(&self.hyper_kept, &other.hyper_kept),
            ultra: PeerUltra::merge(&self.ultra, &other.ultra).expect("two sketches"),
            exa: merged_exa(&self.exa, &other.exa),
            cpc: united_cpc(&self.cpc, &other.cpc),
            hll4: united_hll4(&self.hll4, &other.hll4),
        }
    }

    fn estimates(&self) -> [f64; NAMES.len()] {
        [
            self.ours.estimate().value(),
            self.ours_kept.estimate().value(),
            self.hyper.estimate().value(),
            self.hyper_kept.estimate().value(),
            self.ultra.get_distinct_count_estimate(),
            self.exa.estimate(),
            self.cpc.estimate(),
            self.hll4.estimate(),
        ]
    }

    fn stored_bytes(&self) -> [usize; NAMES.len()] {
        [
            self.ours.encode().len(),
            self.ours_kept.encode().len(),
            self.hyper.encode().len(),
            self.hyper_kept.encode().len(),
            self.ultra.get_state().len(),
            self.exa.to_bytes().len(),
            self.cpc.serialize().len(),
            self.hll4.serialize().len(),
        ]
    }

    fn memory(&self) -> [usize; NAMES.len()] {
        [
            self.ours.memory(),
            self.ours_kept.memory(),
            self.hyper.memory(),
            self.hyper_kept.memory(),
            size_of::<PeerUltra>() + self.ultra.get_state().len(),
            size_of::<ExaLogLog>() + self.exa.register_bytes(),
            self.cpc.estimated_size(),
            self.hll4.estimated_size(),
        ]
    }
}

fn merged_exa(a: &ExaLogLog, b: &ExaLogLog) -> ExaLogLog {
    let mut merged = a.clone();
    merged.merge(b).expect("the same precision");
    merged
}

fn united_cpc(a: &CpcSketch, b: &CpcSketch) -> CpcSketch {
    let mut union = CpcUnion::new(12).expect("a valid precision");
    union.update(a).expect("the same seed");
    union.update(b).expect("the same seed");
    union.to_sketch()
}

fn united_hll4(a: &HllSketch, b: &HllSketch) -> HllSketch {
    let mut union = HllUnion::new(12).expect("a valid precision");
    union.update(a);
    union.update(b);
    union.to_sketch(HllType::Hll4)
}

/// Bits times mean square relative error, over many sketches of random items.
fn memory_times_variance(page: &mut Page) {
    for (n, trials, merged) in [
        (10_240, 2_000, false),
        (100_000, 2_000, false),
        (1_000_000, 500, false),
        (100_000, 2_000, true),
        (1_000_000, 500, true),
    ] {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut items = vec![0; n];
        let (mut squares, mut stored, mut used) =
            ([0.0; NAMES.len()], [0.0; NAMES.len()], [0.0; NAMES.len()]);
        for _ in 0..trials {
            items.iter_mut().for_each(|item| *item = random.next_u64());
            let all = if merged {
                let (left, right) = items.split_at(n / 2);
                All::of(left).merged(&All::of(right))
            } else {
                All::of(&items)
            };
            let (values, bytes, memory) = (all.estimates(), all.stored_bytes(), all.memory());
            for who in 0..NAMES.len() {
                squares[who] += (values[who] / n as f64 - 1.0).powi(2) / f64::from(trials);
                stored[who] += bytes[who] as f64 / f64::from(trials);
                used[who] += memory[who] as f64 / f64::from(trials);
            }
        }
        let how = if merged { ", merged from two halves" } else { "" };
        for (what, bytes) in [("Stored", stored), ("Memory in use", used)] {
            let figures = NAMES
                .into_iter()
                .zip(std::array::from_fn::<_, { NAMES.len() }, _>(|who| 8.0 * bytes[who] * squares[who]));
            page.add(
                format!("{what} × variance at {n} different items{how}, {trials} sketches"),
                "bits",
                figures.collect(),
            );
        }
    }
}
