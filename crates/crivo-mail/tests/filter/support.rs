//! Mail made by a seeded generator, with two styles that share half of their words.

use std::collections::BTreeMap;

use crivo_mail::{Filter, Label};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const COMMON: [&str; 16] = [
    "the", "and", "you", "for", "this", "with", "please", "today", "have", "your", "from", "message", "time",
    "more", "will", "can",
];
const SPAM: [&str; 16] = [
    "cheap",
    "offer",
    "buy",
    "winner",
    "prize",
    "click",
    "free",
    "money",
    "deal",
    "pills",
    "credit",
    "guarantee",
    "limited",
    "cash",
    "bonus",
    "discount",
];
const HAM: [&str; 16] = [
    "meeting", "report", "lunch", "project", "draft", "schedule", "contract", "team", "review", "notes",
    "friday", "office", "agenda", "budget", "attached", "regards",
];

pub(crate) struct Writer(Xoshiro256PlusPlus);

impl Writer {
    /// Makes a writer. `CRIVO_TEST_SEED` changes the mail of all tests.
    pub(crate) fn new(name: &str) -> Self {
        let base: u64 = std::env::var("CRIVO_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        let label =
            name.bytes().fold(base, |label, byte| label.wrapping_mul(0x100_0000_01B3) ^ u64::from(byte));
        Self(Xoshiro256PlusPlus::seed_from_u64(label))
    }

    pub(crate) fn below(&mut self, below: usize) -> usize {
        ((u128::from(self.0.next_u64()) * below as u128) >> 64) as usize
    }

    pub(crate) fn message(&mut self, is_spam: bool) -> Vec<u8> {
        let own = if is_spam { SPAM } else { HAM };
        let words: Vec<&str> =
            (0..40).map(|i| if i % 2 == 0 { own[self.below(16)] } else { COMMON[self.below(16)] }).collect();
        let (sender, number) = (self.below(10), self.below(1_000_000_000));
        let domain = if is_spam { "shop.example" } else { "work.example" };
        format!(
            "From: Person {sender} <p{sender}@{domain}>\nSubject: {} {number}\n\n{}\n",
            words[..4].join(" "),
            words[4..].join(" ")
        )
        .into_bytes()
    }

    pub(crate) fn mail(&mut self, count: usize) -> Vec<(Vec<u8>, Label)> {
        let label = |i: usize| if i.is_multiple_of(2) { Label::Spam } else { Label::Ham };
        (0..count).map(|i| (self.message(i.is_multiple_of(2)), label(i))).collect()
    }
}

/// Returns everything that a user can see of a store.
pub(crate) fn seen(filter: &Filter, probes: &[Vec<u8>]) -> (u64, u64, BTreeMap<String, u64>, Vec<u64>) {
    let stats = filter.stats().unwrap();
    let scores = probes.iter().flat_map(|probe| {
        let judgement = filter.check(probe).unwrap();
        let labels: Vec<u64> = judgement.labels.values().map(|probability| probability.to_bits()).collect();
        [vec![judgement.score.to_bits(), judgement.thresholds.spam.to_bits()], labels].concat()
    });
    (stats.spam, stats.ham, stats.labels.clone(), scores.collect())
}

pub(crate) fn trained(mail: &[(Vec<u8>, Label)]) -> (tempfile::TempDir, Filter) {
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::open_or_create(folder.path()).unwrap();
    filter.train(mail.iter().cloned().map(Ok)).unwrap();
    (folder, filter)
}
