//! Do the estimators keep what they promise?
//!
//! One harness ([`harness`]) measures every estimator in the same way: bias, root-mean-square
//! error against theory, and how often its intervals hold the truth. An estimator plugs in with
//! its theory and its sizes; see `hyperloglog.rs`, and CONTRIBUTING.md for how to add one.
//!
//! **These tests cannot be tuned green.** Each check knows the chance that a correct estimator
//! fails it, computed from its margin and its number of trials, and refuses to run if that is
//! above 10⁻⁶. So a failure is a defect, never bad luck, with any seed: `cargo xtask test
//! --fresh-seeds` draws new ones.
//!
//! **These tests can fail.** `a_constant_wrong_by_three_percent_is_caught` multiplies each
//! answer by 1.03 and asserts that the checks of bias, error and coverage all object.
//!
//! Streams are random 64-bit hashes, as many as the size says. Beyond a million that would take
//! hours, so larger sizes simulate only the hashes that decide the state: for each register the
//! highest rank that `n` random hashes would have brought it, drawn from its distribution
//! `P(rank ≤ k) = (1 − 2^−k/m)^n` and inserted through the public door. Where both are affordable
//! (a million) both are held to the same theory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "../support/mod.rs"]
mod support;

mod bands;
mod binary_fuse;
mod bloom;
mod chi_square;
mod column_profile;
mod combined_filter;
mod count_min;
mod counter_array;
mod counting_bloom;
mod ddsketch;
mod direct_table;
mod distinct_growth;
mod drift;
mod exact_distinct;
mod harness;
mod hashing;
mod hashing_integers;
#[cfg(feature = "study")]
mod hashing_study;
mod heavy_hitters;
mod history;
mod hyperloglog;
mod join_search;
mod joinability;
mod k_min_values;
mod k_min_values_sets;
mod linear_counting;
mod log_log;
mod majority;
mod min_hash;
mod morris_counter;
mod near_duplicate_share;
mod panes;
mod private_count_mean;
mod probabilistic_counting;
mod quantiles;
mod range_count_min;
mod register_sketch;
mod reservoir;
mod row_sample;
mod sampled_counter;
mod shares;
mod ultraloglog;
mod weighted_reservoir;
