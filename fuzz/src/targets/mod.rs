//! The promises, one module each. libFuzzer hands its inputs to the functions `check` through
//! `fuzz_targets`; the test of this crate hands them inputs that are merely drawn.

use arbitrary::{Arbitrary, Unstructured};

pub mod condition;
pub mod decode_any;
pub mod decode_resealed;
pub mod interchange;
pub mod mail_message;
pub mod milter_session;
pub mod ops_count_min;
pub mod ops_counting;
pub mod ops_counting_bloom;
pub mod ops_distinct;
pub mod ops_distinct_sets;
pub mod ops_filters;
pub mod ops_heavy_hitters;
pub mod ops_lsh_index;
pub mod ops_profile;
pub mod ops_sampling;
pub mod ops_similarity;
pub mod ops_ultraloglog;
pub mod ops_window;
pub mod page_text;
pub mod private_reports;
pub mod rows_compressed;
pub mod rows_csv;
pub mod rows_jsonl;
pub mod rows_parquet;
pub mod spamd_request;
pub mod times;

/// A target: its name, and what it does with the bytes that an input is made from.
pub type Target = (&'static str, fn(&[u8]));

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), |bytes| made_from(bytes, $name::check))),*]
    };
}

/// Every target.
pub const ALL: &[Target] = targets![
    condition,
    decode_any,
    decode_resealed,
    interchange,
    mail_message,
    milter_session,
    ops_count_min,
    ops_counting,
    ops_counting_bloom,
    ops_distinct,
    ops_distinct_sets,
    ops_filters,
    ops_heavy_hitters,
    ops_lsh_index,
    ops_profile,
    ops_sampling,
    ops_similarity,
    ops_ultraloglog,
    ops_window,
    page_text,
    private_reports,
    rows_compressed,
    rows_csv,
    rows_jsonl,
    rows_parquet,
    spamd_request,
    times,
];

/// Checks the input that the bytes stand for, as libFuzzer would; some stand for none.
fn made_from<'a, Input: Arbitrary<'a>>(bytes: &'a [u8], check: impl Fn(Input)) {
    if let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(bytes)) {
        check(input);
    }
}
