//! Runs the program as a user does, and checks its output, exit code and files.
//!
//! Each command has a file of tests. `input`, `files` and `streams` have the tests of what all
//! commands share, and `agreement` those that every format gives the library's bytes.

// A failure should stop the test at once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::format_collect,
    clippy::format_push_string
)]

mod agreement;
mod ask;
mod completions;
mod condition;
mod count;
mod crafted_keys;
mod dedup;
mod dedup_containment;
mod dedup_folders;
mod dedup_units;
mod distinct;
mod documents;
mod files;
mod filter;
mod follow;
mod freq;
mod groups;
mod hostile;
mod input;
mod interchange;
mod joins;
mod lab;
mod mail;
mod mail_store;
mod man;
mod merge;
mod output;
mod overlap;
mod passages;
mod plan;
mod private;
mod profile;
mod profile_detail;
mod profile_honest;
mod profile_page;
mod profile_rules;
mod profile_saved;
mod profile_tables;
mod quantile;
mod sample;
mod set;
mod set_parquet;
mod set_sizes;
mod show;
mod similar;
mod similar_index;
mod streams;
mod support;
mod top;
mod uniq;
mod used_files;
mod window;
mod writers;
