//! Is it in a set that is finished: BinaryFuse beside the same filter of crates.io, and beside
//! Bloom.

use std::hint::black_box;

use crivo::keys::KeyScheme;
use crivo::membership::{BinaryFuse, Bloom};
use xorf::{BinaryFuse8, Filter};

use crate::measure::{PhasedContender, nanoseconds_of_phases, seconds};
use crate::membership::{millions, random};
use crate::report::Page;

pub fn run() -> Page {
    let mut page = Page::new(
        "Is it in a set that is finished: BinaryFuse",
        "Random hashes, different ones, given as they are. All have a false-positive rate of 0.39 %: crivo and xorf the same table of \
         bytes, Bloom with eight indexes. crivo takes equal hashes for one and gives the same bytes for any order; xorf wants them \
         different.",
    );
    for items in [1_000_000, 10_000_000] {
        speed(&mut page, items);
    }
    size(&mut page);
    page
}

fn fuse(hashes: &[u64]) -> BinaryFuse {
    BinaryFuse::of_hashes(hashes, KeyScheme::hashes()).expect("memory")
}

fn peer(hashes: &[u64]) -> BinaryFuse8 {
    BinaryFuse8::try_from(hashes).expect("different hashes")
}

fn bloom(hashes: &[u64]) -> Bloom {
    let (items, rate) = (hashes.len() as u64, BinaryFuse::RATE);
    let mut filter = Bloom::for_items_with_scheme(items, rate, KeyScheme::hashes()).expect("a valid goal");
    filter.insert_hashes(hashes);
    filter
}

/// One round: build, ask for every key, ask for as many strangers.
fn round<F>(make: impl FnOnce() -> F, hits: impl Fn(&F) -> usize, misses: impl Fn(&F) -> usize) -> [f64; 3] {
    let mut filter = None;
    let building = seconds(|| filter = Some(make()));
    let filter = filter.expect("just made");
    [building, seconds(|| _ = black_box(hits(&filter))), seconds(|| _ = black_box(misses(&filter)))]
}

fn speed(page: &mut Page, items: usize) {
    let (keys, strangers) = (&random(items, 1), &random(items, 2));
    let mut contenders: Vec<PhasedContender<'_, 3>> = vec![
        (
            "crivo",
            Box::new(move || {
                let ask = |filter: &BinaryFuse, hashes: &[u64]| {
                    hashes.iter().filter(|&&hash| filter.contains_hash(hash)).count()
                };
                round(|| fuse(keys), |filter| ask(filter, keys), |filter| ask(filter, strangers))
            }),
        ),
        (
            "crivo Bloom",
            Box::new(move || {
                let ask = |filter: &Bloom, hashes: &[u64]| {
                    hashes.iter().filter(|&&hash| filter.contains_hash(hash)).count()
                };
                round(|| bloom(keys), |filter| ask(filter, keys), |filter| ask(filter, strangers))
            }),
        ),
        (
            "xorf BinaryFuse8",
            Box::new(move || {
                let ask = |filter: &BinaryFuse8, hashes: &[u64]| {
                    hashes.iter().filter(|hash| filter.contains(hash)).count()
                };
                round(|| peer(keys), |filter| ask(filter, keys), |filter| ask(filter, strangers))
            }),
        ),
    ];
    let rounds = (50_000_000 / items).clamp(3, 15);
    let figures = nanoseconds_of_phases(rounds, items, &mut contenders);
    for (phase, figures) in ["build", "hit", "miss"].into_iter().zip(figures) {
        page.add(format!("{}: {phase}", millions(items)), "ns a key", figures);
    }
}

fn size(page: &mut Page) {
    for items in [10_000, 1_000_000, 10_000_000] {
        let keys = &random(items, 1);
        let bits = |bytes: usize| 8.0 * bytes as f64 / items as f64;
        let figures = vec![
            ("crivo", bits(fuse(keys).memory())),
            ("crivo Bloom", bits(bloom(keys).memory())),
            ("xorf BinaryFuse8", bits(peer(keys).len() + size_of::<BinaryFuse8>())),
        ];
        page.add(format!("Memory for {items} keys"), "bits a key", figures);
    }
}
