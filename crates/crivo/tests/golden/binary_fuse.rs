//! The files of the binary fuse filter.

use crivo::keys::KeyScheme;
use crivo::membership::BinaryFuse;

use super::path;

/// The states that stored files hold, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let texts = BinaryFuse::of_keys((0..1_000).map(|i| format!("key {i}"))).unwrap();
    let integers =
        BinaryFuse::of_keys_with_scheme(-100..100_i64, crate::xxh3_integers().with_seed(7)).unwrap();
    // These lie together, so they are spread by a seed.
    let hashes: Vec<u64> = (0..300).map(|i| i << 40).collect();
    let hashes = BinaryFuse::of_hashes(&hashes, KeyScheme::hashes().with_seed(u64::MAX)).unwrap();
    vec![
        ("binary_fuse_v1_empty", BinaryFuse::of_keys::<&str>([]).unwrap().encode()),
        ("binary_fuse_v1_one", BinaryFuse::of_keys(["ana"]).unwrap().encode()),
        ("binary_fuse_v1_texts", texts.encode()),
        ("binary_fuse_v1_integers", integers.encode()),
        ("binary_fuse_v1_hashes", hashes.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let read = |name| BinaryFuse::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    assert!(read("binary_fuse_v1_empty").is_empty());
    assert!(!read("binary_fuse_v1_empty").contains("ana").unwrap());
    assert!(read("binary_fuse_v1_one").contains("ana").unwrap());
    assert!(!read("binary_fuse_v1_one").contains("rui").unwrap());
    let texts = read("binary_fuse_v1_texts");
    assert!((0..1_000).all(|i| texts.contains(&format!("key {i}")).unwrap()));
    assert_eq!(texts.items().value(), 1_000.0);
    assert!((-100..100_i64).all(|i| read("binary_fuse_v1_integers").contains(&i).unwrap()));
    let hashes = read("binary_fuse_v1_hashes");
    assert!((0..300_u64).all(|i| hashes.contains_hash(i << 40)));
}

/// Many sizes in one number, in which every table and seed takes part.
#[test]
fn fingerprint_of_many_states_does_not_change() {
    let mut fingerprint = 0;
    for count in (0..200).chain([1_000, 5_000, 70_000]) {
        let filter = BinaryFuse::of_keys_with_scheme(0..count as u64, KeyScheme::integers()).unwrap();
        fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&filter.encode()).unwrap();
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0xF351_51E4_0C58_C424;
