//! Checks pages with independent readers of HTML and XML.

use crivo_page::text;
use html5gum::{DefaultEmitter, Token, Tokenizer};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// Elements that have no end tag.
const VOID: &[&str] = &["meta", "link", "input", "br"];

/// Checks that the picture is XML, begins with its title, and has valid numbers in all numeric
/// attributes.
pub(crate) fn check_picture(svg: &str, title: &str) -> Result<(), TestCaseError> {
    let document = roxmltree::Document::parse(svg).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let first = document.root_element().first_element_child();
    let told = first.and_then(|first| first.text()).unwrap_or_default();
    let visible = text::visible(title);
    prop_assert_eq!(told, visible.as_ref());
    for element in document.descendants().filter(roxmltree::Node::is_element) {
        for attribute in element.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            match name {
                "x" | "y" | "rx" => drop(number(value)?),
                "width" | "height" => prop_assert!(number(value)? >= 0.0, "{name}={value}"),
                "viewBox" => value.split(' ').try_for_each(|part| number(part).map(drop))?,
                "d" => prop_assert!(
                    value.chars().all(|c| "MLHVhvamlz0123456789.- ".contains(c)),
                    "no path: {value}"
                ),
                "class" | "role" => {}
                other => prop_assert!(false, "attribute {other}"),
            }
        }
    }
    Ok(())
}

fn number(value: &str) -> Result<f64, TestCaseError> {
    let number: f64 = value.parse().map_err(|_| TestCaseError::fail(format!("no number: {value}")))?;
    prop_assert!(number.abs() <= 100_000.0, "far outside: {value}");
    Ok(number)
}

/// Checks that every element is closed in order, that there is one style and one script, and that
/// no attribute is a handler or refers to another resource. The tokenizer must report no error.
pub(crate) fn check_html(html: &str) -> Result<(), TestCaseError> {
    let mut open: Vec<String> = Vec::new();
    let (mut styles, mut scripts) = (0, 0);
    let mut emitter = DefaultEmitter::default();
    // The content of a script is text.
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Ok(Token::StartTag(tag)) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                styles += usize::from(name == "style");
                scripts += usize::from(name == "script");
                for (attribute, value) in &tag.attributes {
                    let (attribute, value) =
                        (String::from_utf8_lossy(attribute), String::from_utf8_lossy(value));
                    prop_assert!(!attribute.starts_with("on") && attribute != "style", "{attribute}={value}");
                    let inside = value.starts_with('#') || value.starts_with("data:image/svg+xml,");
                    prop_assert!(!matches!(&*attribute, "src" | "href") || inside, "{attribute}={value}");
                }
                if !VOID.contains(&name.as_str()) {
                    open.push(name);
                }
            }
            Ok(Token::EndTag(tag)) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                prop_assert_eq!(open.pop(), Some(name));
            }
            Ok(Token::Error(error)) => prop_assert!(false, "{:?}", error),
            Ok(_) => {}
        }
    }
    prop_assert!(open.is_empty(), "left open: {:?}", open);
    prop_assert_eq!((styles, scripts), (1, 1));
    Ok(())
}
