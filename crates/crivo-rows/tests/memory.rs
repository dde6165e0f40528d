//! A pass needs little memory, however large the input.

#![allow(clippy::unwrap_used)] // what fails here should fail loudly

use std::io::Write;
use std::sync::Once;

use crivo::distinct::HyperLogLog;
use crivo_rows::{Input, Predicate, Scan, Select};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Folds and copies 160 MB of CSV on four threads, in less than 8 MB each.
///
/// If there are fewer than four processors, each pass first checks whether there is memory for all
/// threads: it reserves some and frees it without using it. So the peak is measured from the start
/// of the threads on.
#[test]
fn memory_does_not_grow_with_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.csv.zst");
    let mut encoder = zstd::Encoder::new(std::fs::File::create(&path).unwrap(), 1).unwrap();
    encoder.write_all(b"id,text\n").unwrap();
    let block: String =
        (0..10_000).fold(String::new(), |text, n| text + &n.to_string() + ",\"some text\nof a row\"\n");
    let blocks = 160_000_000 / block.len();
    for _ in 0..blocks {
        encoder.write_all(block.as_bytes()).unwrap();
    }
    encoder.finish().unwrap();
    drop(block);

    let input = Input::file(&path);
    let empty = HyperLogLog::new(12).unwrap();
    let scan = Scan::of(&input).select(Select::field("id")).threads(4);
    let folded = scan.fold(
        || {
            ALLOCATOR.reset_peak_usage();
            empty.clone()
        },
        |sketch, batch| Ok(sketch.insert_batch(&batch.keys(0)?)?),
        |sketch, other| Ok(sketch.merge(&other)?),
    );
    assert_eq!(folded.unwrap().counts.rows, 10_000 * blocks as u64);
    let peak = ALLOCATOR.peak_usage_as_mb();
    assert!(peak < 8.0, "folded in {peak} MB");

    let started = Once::new();
    let copied = scan.copy_rows(
        Predicate::Each(&|_, keep| {
            started.call_once(|| ALLOCATOR.reset_peak_usage());
            keep.fill(true);
            Ok(())
        }),
        &mut std::io::sink(),
    );
    assert_eq!(copied.unwrap().kept, 10_000 * blocks as u64);
    let peak = ALLOCATOR.peak_usage_as_mb();
    assert!(peak < 8.0, "copied in {peak} MB");

    long_field_takes_its_size(folder.path());
}

/// Checks what docs/profile.md promises: a field takes up to twice its length in memory, because a
/// chunk that is too short grows by doubling, and up to three times its length if it has quotes.
fn long_field_takes_its_size(folder: &std::path::Path) {
    const LENGTH: usize = 40_000_000;
    let path = folder.join("long.csv");
    for (quote, most) in [("", 2.1), ("\"", 3.1)] {
        let field = if quote.is_empty() { "x".repeat(LENGTH) } else { "x\"\"".repeat(LENGTH / 3) };
        std::fs::write(&path, format!("id,text\n1,{quote}{field}{quote}\n2,b\n")).unwrap();
        drop(field);
        ALLOCATOR.reset_peak_usage();
        let input = Input::file(&path);
        let folded = Scan::of(&input).select(Select::All).threads(1).fold(
            || 0,
            |longest, batch| {
                let lengths = batch.column(1).iter().flatten().map(<[u8]>::len);
                *longest = lengths.fold(*longest, usize::max);
                Ok(())
            },
            |_, _| Ok(()),
        );
        let peak = ALLOCATOR.peak_usage_as_mb() * 1_048_576.0 / 1e6;
        assert!(folded.unwrap().state > LENGTH / 2);
        assert!(f64::from(peak) < most * LENGTH as f64 / 1e6, "{peak} MB for a field of 40 MB");
    }
}
