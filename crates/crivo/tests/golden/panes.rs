//! The files of Panes.

use crivo::counting::SampledCounter;
use crivo::distinct::{ExactDistinct, HyperLogLog};
use crivo::sampling::Reservoir;
use crivo::window::Panes;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let empty = Panes::new(HyperLogLog::new(10).unwrap(), 3600, 24).unwrap();
    let mut words = Panes::for_window(HyperLogLog::new(6).unwrap(), 1000, 10).unwrap();
    for time in 0..3000 {
        words.pane_mut(time, 1).unwrap().insert(format!("key {}", time / 2).as_str()).unwrap();
    }
    assert!(words.pane_mut(1000, 5).is_none());
    let integers = crate::xxh3_integers().with_seed(7);
    let mut before = Panes::new(ExactDistinct::with_scheme(integers), 10, 5).unwrap();
    for time in [-1, -45, -11, -41, 0, -41, -50, -10] {
        if let Some(pane) = before.pane_mut(time, 2) {
            pane.insert(&time).unwrap();
        }
    }
    let mut samples = Panes::new(Reservoir::new(3, 7).unwrap(), 100, 4).unwrap();
    (0..1000).for_each(|i| samples.pane_mut(i, 1).unwrap().insert(format!("key {i}").as_str()).unwrap());
    let mut counters = Panes::new(SampledCounter::new(0.5, 7).unwrap(), 1, 3).unwrap();
    [i64::MAX, i64::MAX - 1].iter().for_each(|&time| counters.pane_mut(time, 1).unwrap().add(1000));
    vec![
        ("panes_v1_empty", empty.encode()),
        ("panes_v1_words", words.encode()),
        ("panes_v1_before", before.encode()),
        ("panes_v1_samples", samples.encode()),
        ("panes_v1_counters", counters.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| std::fs::read(path(name)).unwrap();
    let words = Panes::<HyperLogLog>::decode(&stored("panes_v1_words")).unwrap();
    assert_eq!((words.covered(2999), words.late()), (Ok(1900..=2999), 5));
    assert!(words.merged(2999).unwrap().estimate().covers(550.0));
    let before = Panes::<ExactDistinct>::decode(&stored("panes_v1_before")).unwrap();
    assert_eq!((before.covered(0), before.late()), (Ok(-40..=9), 4));
    assert_eq!(before.merged(0).unwrap().estimate().value(), 4.0);
    let samples = Panes::<Reservoir>::decode(&stored("panes_v1_samples")).unwrap();
    assert_eq!(samples.merged(999).unwrap().seen(), 400);
}
