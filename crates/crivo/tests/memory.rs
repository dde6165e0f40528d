//! Does `memory` say what a sketch takes?
//!
//! Every golden file is read, and what that leaves allocated is compared with what the sketch says
//! of itself.

#![allow(clippy::unwrap_used, clippy::expect_used)] // this is how a test fails

use allocation_counter::measure;
use crivo::codec::AnySketch;

/// Sketches of sketches, which count those inside and not the list that they stand in.
const CONTAINERS: [&str; 3] = ["combined_filter_", "panes_", "table_profile_"];

/// Bytes by which the two may differ whatever the size: structs inside of structs, and what
/// allocators round up.
const SLACK: f64 = 320.0;
/// The share by which they may differ besides: nodes of trees and the spare room of lists.
const SHARE: f64 = 0.08;

#[test]
fn sketches_take_the_memory_that_they_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "bin") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        // Tables that are made once for all sketches are made now.
        drop(AnySketch::decode(&bytes).unwrap());
        let mut kept = None;
        let allocated = measure(|| kept = Some(AnySketch::decode(&bytes).unwrap())).bytes_current as f64;
        let sketch = kept.unwrap();
        let said = sketch.memory() as f64;
        assert_eq!(sketch.memory(), sketch.summary().memory, "{}", path.display());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if CONTAINERS.iter().any(|container| name.starts_with(container)) {
            assert!(
                said > allocated / 4.0 && said < 2.0 * allocated + SLACK,
                "{name}: {said}, not {allocated}"
            );
        } else if (said - allocated).abs() > SLACK + SHARE * allocated {
            wrong.push((name, allocated, said));
        }
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
    assert!(wrong.is_empty(), "name, bytes allocated, bytes said: {wrong:#?}");
}
