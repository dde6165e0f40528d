//! The files of the direct table.

use crivo::membership::DirectTable;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let multiples = |universe, seed, step: usize| {
        let scheme = crate::xxh3_integers().with_seed(seed);
        let mut table = DirectTable::with_scheme(universe, scheme).unwrap();
        (0..universe).step_by(step).for_each(|i| assert!(table.insert(&i).unwrap()));
        table.encode()
    };
    vec![
        ("direct_table_v1_empty", DirectTable::with_scheme(1000, crate::xxh3_integers()).unwrap().encode()),
        ("direct_table_v1_multiples", multiples(1682, 0, 7)),
        ("direct_table_v1_full", multiples(100, 7, 1)),
        ("direct_table_v1_one", multiples(1, u64::MAX, 1)),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| DirectTable::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    assert!(stored("direct_table_v1_empty").is_empty());
    assert!(stored("direct_table_v1_multiples").iter().eq((0..1682).step_by(7)));
    assert_eq!(stored("direct_table_v1_full").len(), 100);
    assert_eq!(stored("direct_table_v1_one").contains(&0), Ok(true));
}
