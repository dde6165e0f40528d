//! `crivo ask`.

use crate::support::Scratch;

#[test]
fn sketch_that_knows_no_keys_says_what_it_answers_and_who_made_it() {
    let scratch = Scratch::new();
    scratch.feed(&["distinct", "-o", "s.crivo"], "a\n").ok();
    for more in [&[][..], &["--json"]] {
        let run = scratch.run(&[&["ask", "s.crivo", "a"], more].concat());
        run.fails_with("s.crivo: this is a HyperLogLog made by `crivo distinct`");
        run.fails_with("only how many different: crivo show s.crivo");
    }
}

#[test]
fn missing_keys_and_files_are_errors() {
    let scratch = Scratch::with([("data.csv", "a,b\n")]);
    scratch.run(&["ask", "data.csv"]).fails_with("required");
    scratch.run(&["ask", "data.csv", "a"]).fails_with("this is not a crivo sketch");
    scratch.run(&["ask", "none.crivo", "a"]).fails_with("none.crivo: no such file");
}
