//! Filters in Parquet files, written and asked.

use crate::support::Scratch;

fn visits() -> Scratch {
    let rows: String = (0..900).fold(String::new(), |text, n| text + &format!("user {n},{}\n", n % 40));
    Scratch::with([("visits.csv", format!("user,page\n{rows}"))])
}

#[test]
fn filters_are_written_and_asked() {
    let scratch = visits();
    let build = ["set", "build", "--parquet-filter", "-f", "user,page", "visits.csv", "-o", "v.parquet"];
    scratch.run(&build).ok();
    let two = ["set", "has", "v.parquet", "-f", "user", "user 1", "user 899"];
    assert!(scratch.run(&two).ok().starts_with("user 1    yes\nuser 899  yes\n"));
    let no = scratch.feed(&["set", "has", "v.parquet", "-f", "page", "-", "--json"], "7\n40\n");
    assert_eq!(no.code, Some(1));
    let json: serde_json::Value = serde_json::from_str(&no.out).unwrap();
    assert_eq!((json["all"].as_bool(), json["answers"][0]["member"].as_bool()), (Some(false), Some(true)));
    assert_eq!(json["answers"][1]["member"], false);
    assert!(json["answers"][1]["fpr"].as_f64().is_some_and(|rate| rate < 0.01), "{json}");
    // A copy of some rows, again as Parquet, with a filter of one column.
    let copy = ["filter", "page = 7", "v.parquet", "-o", "seven.parquet", "--parquet-filter", "user"];
    scratch.run(&copy).ok();
    assert_eq!(scratch.run(&["set", "has", "seven.parquet", "user 47"]).code, Some(0));
    assert_eq!(scratch.run(&["set", "has", "seven.parquet", "user 48", "--quiet"]).code, Some(1));
    assert!(scratch.run(&["count", "seven.parquet", "-f", "user"]).ok().contains("23"));
}

#[test]
fn what_cannot_be_asked_or_written_is_named() {
    let scratch = visits();
    scratch.run(&["set", "build", "-f", "user", "visits.csv", "-o", "s.crivo"]).ok();
    scratch.run(&["set", "has", "s.crivo", "-f", "user", "x"]).fails_with("is no Parquet file");
    let build =
        |more: &[&str]| scratch.run(&[&["set", "build", "--parquet-filter", "visits.csv"], more].concat());
    build(&["-o", "v.parquet"]).fails_with("name the columns that get a filter");
    build(&["-f", "user"]).fails_with("name it with -o");
    build(&["-f", "user", "-o", "v.crivo"]).fails_with("name it .parquet");
    build(&["-f", "user", "--into", "v.parquet"]).fails_with("makes a new Parquet file");
    build(&["-f", "usr", "-o", "v.parquet"]).fails_with("did you mean 'user'?");
    build(&["-f", "user", "--fpr", "2", "-o", "v.parquet"]).fails_with("expected a share between 0 and 1");
    assert!(!scratch.names().contains(&"v.parquet".to_owned()));
    scratch.run(&["filter", "true", "visits.csv", "--parquet-filter", "user"]).fails_with("name one with -o");
    scratch.run(&["filter", "true", "visits.csv", "-o", "v.parquet"]).ok();
    scratch.run(&["set", "has", "v.parquet", "x"]).fails_with("is a Parquet file without filters");
    scratch
        .run(&["set", "has", "v.parquet", "-f", "user", "x"])
        .fails_with("has no filter in row group 1 of 1");
    build(&["-f", "user", "-o", "v.parquet"]).ok();
    scratch.run(&["set", "has", "v.parquet", "--keys", "int", "7"]).fails_with("the type of column 'user'");
}
