//! The format is a promise: bytes written once are read forever, and written the same.
//!
//! Each case has a stored file, `<family>_v<version>_<case>.bin`. The current version's files must
//! be what the code writes today; files of every version must be read. A missing file fails: only
//! `cargo xtask golden` writes one, and never over another.
//!
//! The cases of each sketch stand in the file of its name. Besides the files, a fingerprint over
//! many seeded states freezes the rest of the bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "../support/mod.rs"]
#[allow(dead_code)] // only what is said of register sketches is used
mod support;

mod answers;
mod binary_fuse;
mod bloom;
mod column_profile;
mod count_min;
mod counters;
mod counting_bloom;
mod ddsketch;
mod direct_table;
mod distinct_growth;
mod exact_distinct;
mod groups;
mod heavy_hitters;
mod integer_keys;
mod k_min_values;
mod linear_counting;
mod log_log;
mod majority;
mod min_hash;
mod near_duplicate_share;
mod panes;
mod private_count_mean;
mod probabilistic_counting;
mod quantiles;
mod range_count_min;
mod register_sketch;
mod reservoirs;
mod row_sample;
mod table_profile;

use std::path::PathBuf;

use crivo::codec::AnySketch;
use crivo::keys::{HashFunction, KeyScheme};

/// Every case: the name of its file and the bytes it must hold.
fn cases() -> Vec<(&'static str, Vec<u8>)> {
    [
        register_sketch::cases(),
        exact_distinct::cases(),
        linear_counting::cases(),
        k_min_values::cases(),
        probabilistic_counting::cases(),
        log_log::cases(),
        direct_table::cases(),
        bloom::cases(),
        binary_fuse::cases(),
        counting_bloom::cases(),
        count_min::cases(),
        range_count_min::cases(),
        counters::cases(),
        heavy_hitters::cases(),
        majority::cases(),
        reservoirs::cases(),
        private_count_mean::cases(),
        min_hash::cases(),
        panes::cases(),
        groups::cases(),
        ddsketch::cases(),
        column_profile::cases(),
        row_sample::cases(),
        near_duplicate_share::cases(),
        distinct_growth::cases(),
        integer_keys::cases(),
        quantiles::cases(),
        table_profile::cases(),
    ]
    .concat()
}

/// The scheme of integer keys before Rrmxmx: its files must stay what they are. New cases are in
/// `integer_keys`.
fn xxh3_integers() -> KeyScheme {
    KeyScheme::integers().with_function(HashFunction::Xxh3).unwrap()
}

/// Files that hold a HyperLogLog or an UltraLogLog of the first version inside of another sketch.
const WITH_OLD_REGISTERS: [&str; 10] = [
    "panes_v1_empty",
    "panes_v1_words",
    "groups_v1_empty",
    "groups_v1_words",
    "column_profile_v1_empty",
    "column_profile_v1_missing",
    "column_profile_v1_integers",
    "column_profile_v1_large",
    "column_profile_v1_kinds",
    "column_profile_v1_merged",
];

/// The file that holds what is written today for the case of a name.
fn written_today(name: &str) -> String {
    match name.split_once("loglog_v1_") {
        Some((kind, case)) => format!("{kind}loglog_v2_{case}"),
        // A table of the first version has no detail, and gets none.
        None if name.starts_with("table_profile_v1_") => {
            format!("{}_plain", name.replace("profile_v1", "profile_v2"))
        }
        None if WITH_OLD_REGISTERS.contains(&name) => format!("{name}_coded"),
        None => name.to_owned(),
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.bin"))
}

#[test]
fn stored_files_are_written_the_same_today() {
    let write_missing = std::env::var_os("CRIVO_GOLDEN").is_some_and(|value| value == "write");
    for (name, bytes) in cases() {
        let path = path(&written_today(name));
        if write_missing && !path.exists() {
            std::fs::write(&path, &bytes).unwrap();
        }
        let stored = std::fs::read(&path).unwrap_or_else(|error| {
            panic!("{}: {error}; `cargo xtask golden` writes missing files", path.display())
        });
        assert!(stored == bytes, "{name}: the bytes written today differ from the stored file");
    }
}

#[test]
fn stored_files_are_read() {
    let folder = path("x").with_file_name("");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "bin") {
            let stored = std::fs::read(&path).unwrap();
            let sketch =
                AnySketch::decode(&stored).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let name = written_today(path.file_stem().unwrap().to_str().unwrap());
            let written = std::fs::read(path.with_file_name(format!("{name}.bin"))).unwrap();
            assert!(sketch.encode() == written, "{} is not written back the same", path.display());
            read += 1;
        }
    }
    assert!(read >= cases().len());
}
