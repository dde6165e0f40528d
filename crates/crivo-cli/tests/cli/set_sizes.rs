//! Sets of different sizes, and intersections that report their own error rates.

use crate::support::Scratch;

fn numbers(range: std::ops::Range<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

fn built(scratch: &Scratch, name: &str, range: std::ops::Range<u32>, options: &[&str]) {
    let input = format!("{name}.txt");
    scratch.write(&input, numbers(range));
    let output = format!("{name}.crivo");
    scratch.run(&[&["set", "build", &input, "-o", &output, "-q"], options].concat()).ok();
}

#[test]
fn sets_that_were_built_the_plain_way_can_be_combined() {
    for options in [&[][..], &["--blocked"], &["--counting", "8"]] {
        let scratch = Scratch::new();
        built(&scratch, "few", 0..300, options);
        built(&scratch, "many", 200..20_000, options);
        scratch.run(&["set", "union", "few.crivo", "many.crivo", "-o", "u.crivo", "-q"]).ok();
        scratch.run(&["set", "intersect", "many.crivo", "few.crivo", "-o", "i.crivo", "-q"]).ok();
        for key in ["0", "250", "19999"] {
            scratch.run(&["set", "has", "u.crivo", key, "-q"]).ok();
        }
        scratch.run(&["set", "has", "i.crivo", "200", "299", "-q"]).ok();
        // A key in neither set is taken for a member of the union at most as often as the union
        // reports.
        scratch.write("other.txt", numbers(100_000..120_000));
        for (set, most) in [("u.crivo", 0.025), ("i.crivo", 0.011)] {
            let shown = scratch.run(&["show", set, "--json"]).json();
            assert!(shown["fpr"].as_f64().unwrap() < most, "{options:?}: {shown}");
            let kept = scratch.run(&["set", "keep", set, "other.txt"]).out.lines().count();
            assert!((kept as f64) < most * 1.5 * 20_000.0, "{set}: {kept}");
        }
        let items = scratch.run(&["show", "u.crivo", "--json"]).json()["items"].clone();
        assert!(items["lower"].as_f64().unwrap() <= 20_000.0 && items["upper"].as_f64().unwrap() >= 20_000.0);
        // A key of only one set is taken for a shared key as often as the other filter is wrong.
        let shown = scratch.run(&["show", "i.crivo", "--json"]).json();
        assert!(shown["parameters"]["rate_for_keys_of_some_sets"].as_f64().unwrap() > 0.001, "{shown}");
    }
}

#[test]
fn an_intersection_knows_how_many_keys_are_shared() {
    let scratch = Scratch::new();
    for (name, step) in [("a", 2), ("b", 3)] {
        let text: String = (0..20_000).step_by(step).map(|number| format!("{number}\n")).collect();
        scratch.write(&format!("{name}.txt"), text);
        let (input, output) = (format!("{name}.txt"), format!("{name}.crivo"));
        scratch.run(&["set", "build", &input, "--items", "20000", "-o", &output, "-q"]).ok();
    }
    scratch.run(&["set", "intersect", "a.crivo", "b.crivo", "-o", "i.crivo", "-q"]).ok();
    let items = scratch.run(&["show", "i.crivo", "--json"]).json()["items"].clone();
    let (lower, upper) = (items["lower"].as_f64().unwrap(), items["upper"].as_f64().unwrap());
    assert!(lower <= 3_334.0 && upper >= 3_334.0 && upper - lower < 700.0, "{items}");
    let said = scratch.run(&["ask", "i.crivo", "6"]);
    assert!(said.ok().contains("in none of the sets") && said.out.contains("in one set"), "{said:?}");
}

#[test]
fn full_sketches_fail_if_asked_to() {
    let scratch = Scratch::with([("n.txt", numbers(0..20_000))]);
    let linear = ["distinct", "--method", "linear", "--precision", "11", "n.txt", "--on-full", "fail"];
    scratch.run(&linear).fails_with("the sketch is full");
    built(&scratch, "a", 0..100, &["--items", "100"]);
    built(&scratch, "b", 100..200, &["--items", "100"]);
    for command in [&["set", "union"][..], &["merge"]] {
        let rest = ["a.crivo", "b.crivo", "-o", "c.crivo", "--on-full", "fail"];
        scratch.run(&[command, &rest].concat()).fails_with("was made for 100 items");
        assert!(!scratch.path("c.crivo").exists());
    }
}
