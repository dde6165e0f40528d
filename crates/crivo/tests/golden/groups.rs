//! The files of Groups and Tally.

use crivo::counting::Tally;
use crivo::distinct::HyperLogLog;
use crivo::frequency::HeavyHitters;
use crivo::groups::Groups;
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let mut tally = Tally::new();
    tally.add(2);
    [0.1, -1e300, 2.5].iter().for_each(|number| tally.add_number(*number));
    let empty = Groups::new(HyperLogLog::new(10).unwrap(), 2).unwrap();
    let scheme = KeyScheme::bytes().with_seed(7);
    let mut words = Groups::new(HyperLogLog::with_scheme(6, scheme).unwrap(), 1).unwrap();
    for i in 0..1000_u32 {
        let group = format!("group {}", i % 10 * (i % 3));
        words.insert(group.as_bytes(), format!("key {}", i / 2).as_str()).unwrap();
    }
    let mut sums = Groups::new(Tally::new(), 1).unwrap();
    for i in 0..100_u32 {
        let add = |tally: &mut Tally| {
            tally.add_number(f64::from(i) / 8.0);
            Ok(())
        };
        sums.update(&i.to_le_bytes()[..(i % 3) as usize], add).unwrap();
    }
    let mut hitters = Groups::new(HeavyHitters::new(4).unwrap(), 1).unwrap();
    for i in 0..100_u32 {
        hitters.insert(&[b'a' + (i % 2) as u8], format!("key {}", i % 7).as_str()).unwrap();
    }
    vec![
        ("tally_v1_empty", Tally::new().encode()),
        ("tally_v1_numbers", tally.encode()),
        ("groups_v1_empty", empty.encode()),
        ("groups_v1_words", words.encode()),
        ("groups_v1_sums", sums.encode()),
        ("groups_v1_hitters", hitters.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| std::fs::read(path(name)).unwrap();
    let tally = Tally::decode(&stored("tally_v1_numbers")).unwrap();
    assert_eq!((tally.count(), tally.numbers(), tally.sum()), (5, 3, Some(-1e300)));
    let words = Groups::<HyperLogLog>::decode(&stored("groups_v1_words")).unwrap();
    assert_eq!(words.len(), 15);
    assert!(words.get(b"group 18").unwrap().estimate().covers(33.0));
    let sums = Groups::<Tally>::decode(&stored("groups_v1_sums")).unwrap();
    assert_eq!(sums.get(b"").unwrap().sum(), Some((0..34).map(|i| f64::from(3 * i) / 8.0).sum()));
}
