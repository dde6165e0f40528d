//! Every example runs, and its own assertions hold.

#![allow(missing_docs)]

#[path = "../examples/dedup_a_stream.rs"]
mod dedup_a_stream;
#[path = "../examples/heavy_hitters_of_a_log.rs"]
mod heavy_hitters_of_a_log;
#[path = "../examples/shared_filter.rs"]
mod shared_filter;
#[path = "../examples/sketch_in_a_column.rs"]
mod sketch_in_a_column;
#[path = "../examples/visitors_a_day.rs"]
mod visitors_a_day;

#[test]
fn dedup_a_stream() {
    dedup_a_stream::main().unwrap();
}

#[test]
fn heavy_hitters_of_a_log() {
    heavy_hitters_of_a_log::main().unwrap();
}

#[test]
fn shared_filter() {
    shared_filter::main().unwrap();
}

#[test]
fn sketch_in_a_column() {
    sketch_in_a_column::main().unwrap();
}

#[test]
fn visitors_a_day() {
    visitors_a_day::main().unwrap();
}

#[test]
fn no_example_is_left_out() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let here = include_str!("examples.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(here.contains(&format!("../examples/{name}")), "{name} has no test");
    }
}
