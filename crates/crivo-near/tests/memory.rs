//! The engine under a hard memory limit: the system refuses allocations beyond `memory` and 64 MB.
//! Clusters are made with both ways of linking.
//!
//! A limit holds for a whole process. So the test starts itself again with the limit set, and the
//! child process runs the engine on documents that are computed while they are read.

// What fails here should fail loudly.
#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

use std::fmt::Write;
use std::process::Command;

use crivo_near::{
    Clusters, Documents, Keep, Linking, Result, Settings, TakeText, deal, near_duplicates, thread_count,
};

const MEMORY: u64 = 48 << 20;
const DOCUMENTS: u64 = 1_000_000;

/// Documents that are computed from their number. One in twenty is in a single huge cluster of
/// near-duplicates, one in twenty has a text that many share, and six in twenty are in pairs that
/// are far from each other.
struct MadeDocuments;

impl MadeDocuments {
    fn text(number: u64, text: &mut String) {
        text.clear();
        let words = |from: u64, count: u64, text: &mut String| {
            for word in from..from + count {
                let _ = write!(text, "w{:x} ", word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40);
            }
        };
        match number % 20 {
            // One huge cluster.
            0 => {
                words(7, 60, text);
                let _ = write!(text, "number {number}");
            }
            // Contents that many documents have.
            1 => words(1000 + number % 640, 12, text),
            // Pairs whose documents are far from each other in the collection.
            2..8 => words(number % (DOCUMENTS / 2) * 100, 25, text),
            _ => words(number * 100 + 50, 8, text),
        }
    }
}

impl Documents for MadeDocuments {
    fn read<S: Send>(&self, make: &(dyn Fn() -> S + Sync), take: &TakeText<'_, S>) -> Result<Vec<S>> {
        let make = || (make(), String::new());
        let states = deal(2, (DOCUMENTS / 1000) as usize, make, |(state, text), task| {
            for number in task as u64 * 1000..(task as u64 + 1) * 1000 {
                Self::text(number, text);
                take(state, number, text.as_bytes())?;
            }
            Ok(())
        })?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}

/// Runs the engine in the child process, which aborts if an allocation is refused.
fn run_engine() {
    let settings = Settings { memory: MEMORY, threads: thread_count(2), ..Settings::default() };
    let outcome = near_duplicates(&MadeDocuments, &settings, &()).unwrap();
    assert_eq!(u64::from(outcome.documents()), DOCUMENTS);
    for keep in [Keep::First, Keep::Longest] {
        let mut least_gone = 200_000;
        for linking in [Linking::Kept, Linking::Chains] {
            let clusters = Clusters::of(&outcome, linking, keep).unwrap();
            assert!(clusters.sizes()[0].1 > 40_000, "{:?}", &clusters.sizes()[..3]);
            let (mut removed, gone) = (0, DOCUMENTS as usize - clusters.kept_count());
            let count = |_, _, _| {
                removed += 1;
                Ok(())
            };
            clusters.for_each_removed(&outcome, count).unwrap();
            match linking {
                Linking::Kept => assert_eq!(removed, gone, "everything that goes has a witness"),
                // The ends of a chain were not compared.
                Linking::Chains => assert!(removed <= gone, "{removed} of {gone}"),
            }
            // A chain holds at least what is near the member that stays.
            assert!(gone >= least_gone, "{gone}, not {least_gone}");
            least_gone = gone;
        }
    }
    let mut pairs = 0;
    let count = |_, _, _| {
        pairs += 1;
        Ok(())
    };
    outcome.for_each_pair(count).unwrap();
    assert_eq!(pairs, outcome.pairs());
}

#[test]
fn a_million_documents_take_no_more_than_was_given() {
    const CHILD: &str = "CRIVO_TEST_WITHIN_LIMIT";
    if std::env::var_os(CHILD).is_some() {
        return run_engine();
    }
    let limit = MEMORY + (64 << 20);
    let run = Command::new("prlimit")
        .arg(format!("--data={limit}"))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_million_documents_take_no_more_than_was_given", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{}\n{out}\n{err}", run.status);
}
