//! `crivo show`.

use crivo::distinct::HyperLogLog;
use crivo::keys::KeyScheme;

use crate::support::Scratch;

fn sketch(items: u32) -> HyperLogLog {
    let mut sketch = HyperLogLog::with_scheme(12, KeyScheme::integers().with_seed(9)).unwrap();
    (0..items).for_each(|n| sketch.insert(&n).unwrap());
    sketch
}

#[test]
fn json_has_every_field_of_the_contract() {
    for items in [0, 3, 10_000] {
        let sketch = sketch(items);
        let scratch = Scratch::with([("s.crivo", sketch.encode())]);
        let json = scratch.run(&["show", "s.crivo", "--json"]).json();
        assert_eq!(json["kind"], "HyperLogLog");
        assert_eq!(json["version"], 2);
        assert_eq!(json["parameters"]["precision"], 12);
        assert_eq!(json["keys"], "int");
        assert_eq!(json["seed"], 9);
        assert_eq!(json["hash"], "Rrmxmx");
        let estimate = sketch.estimate();
        assert_eq!(json["items"]["value"], estimate.value());
        assert_eq!(json["items"]["lower"], estimate.lower());
        assert_eq!(json["items"]["upper"], estimate.upper());
        assert_eq!(json["items"]["confidence"], estimate.confidence().level());
        assert_eq!(json["fill"].is_null(), items < 1000, "{json}");
        assert!(json["fpr"].is_null());
        assert_eq!(json["bytes"], sketch.memory());
        assert_eq!(json["file_bytes"], sketch.encode().len());
    }
}

#[test]
fn table_names_the_kind_its_maker_and_fits_40_columns() {
    let scratch = Scratch::with([("s.crivo", sketch(10_000).encode())]);
    let run = scratch.run(&["show", "s.crivo"]);
    for part in ["HyperLogLog, version 2", "crivo distinct", "how many different", " ± ", "int", "1.6 %"] {
        assert!(run.ok().contains(part), "{part}: {}", run.out);
    }
    assert!(run.out.lines().all(|line| line.chars().count() <= 40), "{}", run.out);
}

#[test]
fn sketch_is_read_from_standard_input_too() {
    let json = Scratch::new().feed(&["show", "-", "--json"], sketch(3).encode()).json();
    assert_eq!(json["items"]["value"], 3.0);
}

#[test]
fn damage_of_every_kind_is_refused_with_its_place() {
    let whole = sketch(10_000).encode();
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let scratch = Scratch::with([
        ("flipped.crivo", changed(1000)),
        ("seed.crivo", changed(13)),
        ("cut.crivo", whole[..whole.len() / 2].to_vec()),
        ("header.crivo", whole[..10].to_vec()),
        ("longer.crivo", [whole.as_slice(), b"x"].concat()),
        ("newer.crivo", [&whole[..4], &[99], &whole[5..]].concat()),
        ("empty.crivo", Vec::new()),
        ("data.csv", b"user,time\nana,1\n".to_vec()),
    ]);
    let cut = format!("cut.crivo: payload: expected {} bytes, found {}", whole.len(), whole.len() / 2);
    for (name, message) in [
        ("flipped.crivo", "flipped.crivo: checksum: expected"),
        ("seed.crivo", "seed.crivo: checksum: expected"),
        ("cut.crivo", cut.as_str()),
        ("header.crivo", "header.crivo: header: expected 28 bytes, found 10"),
        ("longer.crivo", "longer.crivo: end: expected nothing after the sketch, found 1 more bytes"),
        ("newer.crivo", "newer.crivo: envelope version: expected at most 1, found 99"),
        ("empty.crivo", "empty.crivo: header: expected 28 bytes, found 0"),
        (
            "data.csv",
            "data.csv: magic: expected the bytes \"CRVO\", found \"user\" (this is not a crivo sketch)",
        ),
        ("none.crivo", "none.crivo: no such file"),
        (".", ".: is a folder"),
    ] {
        scratch.run(&["show", name]).fails_with(&format!("crivo: {message}"));
        scratch.run(&["show", name, "--json"]).fails_with(message);
    }
}
