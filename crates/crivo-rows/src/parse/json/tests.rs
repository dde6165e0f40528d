use super::escapes::plain_prefix;
use super::*;

fn scan(text: &str) -> Scanned<Vec<(String, Value)>> {
    let mut found = Vec::new();
    let mut scanner = Scanner::new(text.as_bytes(), 0);
    scanner.object(|name, _, value| found.push((text[name].to_owned(), value)))?;
    scanner.skip_blanks();
    if scanner.at_line_end() { Ok(found) } else { scanner.fault("after the object") }
}

#[test]
fn parts_of_an_object_are_found() {
    let found = scan(r#" {"a" : 1, "b":-2.5e3,"c":"x\"y","d":[1, {"e":"]"}], "f":null,"g":true} "#).unwrap();
    let kinds: Vec<_> = found.iter().map(|(name, value)| format!("{name} {value:?}")).collect();
    assert_eq!(
        kinds,
        [
            "a Plain(8..9)",
            "b Float(15..21)",
            "c String { text: 27..31, escaped: true }",
            "d Nested(37..51)",
            "f Null",
            "g Plain(66..70)"
        ]
    );
    assert_eq!(scan("{}"), Ok(vec![]));
    assert_eq!(scan(r#"{"z":-0}"#).unwrap()[0].1, Value::Plain(6..7));
}

#[test]
fn paths_lead_through_objects_and_elements_out_of_arrays() {
    let text = br#"{"a":{"b":{"c":[1, "x\u0041", null, 2.50, {"d": []}]},"b":{"c":["last"]}}}"#;
    let mut top = None;
    Scanner::new(text, 0).object(|_, _, value| top = Some(value)).unwrap();
    let path = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>();
    let top = top.unwrap();
    let shown = |value: Option<Value>| {
        let mut out = Vec::new();
        if let Some(value) = value {
            value.push_text(text, &mut out);
        }
        String::from_utf8(out).unwrap()
    };
    assert_eq!(shown(top.follow(text, &path(&["b", "c"]))), "[\"last\"]");
    assert_eq!(shown(top.follow(text, &path(&["b", "c", "d"]))), "");
    assert!(top.follow(text, &path(&["x"])).is_none());
    let mut elements = Vec::new();
    let array = br#"[1, "x\u0041", null, 2.50, {"d": [ ]}]"#;
    each_element(array, |element| {
        let mut out = Vec::new();
        element.push_text(array, &mut out);
        elements.push(String::from_utf8(out).unwrap());
        Ok(())
    })
    .unwrap();
    assert_eq!(elements, ["1", "xA", "", "2.5", "{\"d\":[]}"]);
}

#[test]
fn what_is_no_json_is_refused() {
    for text in [
        "",
        "1",
        "[1]",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":+1}",
        "{\"a\":1e}",
        "{\"a\":tru}",
        "{\"a\":nul}",
        "{\"a\":'b'}",
        "{a:1}",
        "{\"a\":\"b}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\\u12",
        "{\"a\":\"\t\"}",
        "{\"a\":[1,]}",
        "{\"a\":[1 2]}",
        "{\"a\":1}}",
        "{\"a\":1} x",
        "{\"a\":NaN}",
        "{\"a\":-}",
    ] {
        assert!(scan(text).is_err(), "{text}");
    }
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
    assert_eq!(scan(&deep).unwrap_err().message, "nested too deeply");
}

#[test]
fn escapes_are_resolved() {
    let resolve = |text: &str| {
        let mut out = Vec::new();
        unescape(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(resolve(r#"a\"\\\/\b\f\n\r\tz"#), "a\"\\/\u{8}\u{c}\n\r\tz");
    assert_eq!(resolve(r"\u00e9\ud83d\ude00!"), "é😀!");
    assert_eq!(resolve(r"\ud83d!\ude00\ud83d\u0041"), "\u{FFFD}!\u{FFFD}\u{FFFD}A");
}

#[test]
fn escapes_are_found_and_resolved_wherever_they_stand() {
    for length in 0..100 {
        for at in 0..=length {
            for (escape, stands_for) in [("\\n", "\n"), ("\\\"", "\""), ("\\u00e9", "é"), ("\\\\\\t", "\\\t")]
            {
                let (before, after) = ("x".repeat(at), "y".repeat(length - at));
                let text = format!("{before}{escape}{after}{escape}");
                let mut out = b"before".to_vec();
                unescape(text.as_bytes(), &mut out);
                let expected = format!("before{before}{stands_for}{after}{stands_for}");
                assert_eq!(String::from_utf8(out).unwrap(), expected);
                assert_eq!(plain_prefix(text.as_bytes()), at);
                let quoted = format!("\"{text}\"");
                let (range, escaped) = Scanner::new(quoted.as_bytes(), 0).string().unwrap();
                assert_eq!((range, escaped), (1..quoted.len() - 1, true));
                let unknown = format!("\"{text}\\x\"{text}");
                let fault = Scanner::new(unknown.as_bytes(), 0).string().unwrap_err();
                assert_eq!((fault.at, fault.message), (quoted.len(), "no such escape"));
            }
        }
    }
}

#[test]
fn nested_values_lose_only_blanks_between_parts() {
    let mut out = Vec::new();
    compact(br#"{"a b" : [1, 2,	"x \" , y\\" ] , "c":{ } }"#, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"a b":[1,2,"x \" , y\\"],"c":{}}"#);
}
