//! The register sketches, for the tests that hold for all of them.
//!
//! A new one adds a line to the list, and its `RegisterModel`.

use std::collections::BTreeSet;

use crivo::distinct::hyperloglog::HighestRank;
use crivo::distinct::ultraloglog::ThreeLevels;
use crivo::distinct::{RegisterKind, RegisterSketch};
use crivo::keys::KeyScheme;

/// What docs/format.md says of a kind of register: it has the highest level of its hashes, and
/// which of the `BELOW` levels below that one occurred.
#[allow(unreachable_pub)] // the fuzz targets, which include this file, name it
pub trait RegisterModel: RegisterKind {
    const BELOW: u32;
}

impl RegisterModel for HighestRank {
    const BELOW: u32 = 0;
}

impl RegisterModel for ThreeLevels {
    const BELOW: u32 = 2;
}

/// Calls `suite!` with the name and the kind of every register sketch.
macro_rules! for_each_register_sketch {
    ($suite:ident) => {
        $suite! {
            hyperloglog: crivo::distinct::hyperloglog::HighestRank;
            ultraloglog: crivo::distinct::ultraloglog::ThreeLevels;
        }
    };
}
pub(crate) use for_each_register_sketch;

/// How the sketches of [`of_hashes`] hash.
pub(crate) const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(3);

/// An empty sketch of hashes.
pub(crate) fn of_hashes<K: RegisterModel>(precision: u8) -> RegisterSketch<K> {
    RegisterSketch::with_scheme(precision, SCHEME).unwrap()
}

/// The level of a hash: one more than the zeros at its end, as far as its low bits go.
pub(crate) fn level(hash: u64, precision: u8) -> u32 {
    hash.trailing_zeros().min(64 - u32::from(precision)) + 1
}

/// The register that saw these levels, from the words of docs/format.md.
pub(crate) fn register<K: RegisterModel>(levels: &BTreeSet<u32>) -> u8 {
    let Some(&highest) = levels.last() else { return 0 };
    let below = (1..=K::BELOW).map(|back| {
        let occurred = highest > back && levels.contains(&(highest - back));
        u8::from(occurred) << (K::BELOW - back)
    });
    ((highest as u8) << K::BELOW) + below.sum::<u8>()
}

/// The registers that a set of hashes leaves.
pub(crate) fn registers<K: RegisterModel>(hashes: &[u64], precision: u8) -> Vec<u8> {
    let mut levels = vec![BTreeSet::new(); 1 << precision];
    for &hash in hashes {
        levels[(hash >> (64 - u32::from(precision))) as usize].insert(level(hash, precision));
    }
    levels.iter().map(register::<K>).collect()
}

/// The file, in the first version of the format, of the sketch of these different hashes.
pub(crate) fn version_1<K: RegisterModel>(ascending: &[u64], precision: u8) -> Vec<u8> {
    let mut payload = vec![precision];
    if ascending.len() <= RegisterSketch::<K>::exact_up_to(precision) {
        payload.push(0);
        payload.extend((ascending.len() as u32).to_le_bytes());
        payload.extend(ascending.iter().flat_map(|hash| hash.to_le_bytes()));
    } else {
        payload.push(1);
        payload.extend(registers::<K>(ascending, precision));
    }
    let mut bytes = b"CRVO\x01".to_vec();
    bytes.extend([K::FAMILY as u8, 1, 0, SCHEME.function() as u8, SCHEME.kind() as u8, 0, 0]);
    bytes.extend(SCHEME.seed().to_le_bytes());
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(payload);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}
