//! Parses the text of a condition into a tree. Errors name the place of the fault.

use std::str::FromStr;

use regex::bytes::Regex;

use super::number::Number;
use super::{Condition, Node, Operand, Operator, Test};
use crate::numbers;

/// The deepest nesting that is accepted. Deeper nesting has no use, and would recurse too deeply.
const DEEPEST: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A name, a number or a keyword.
    Word(String),
    /// A word in quotes, which is always text.
    Quoted(String),
    /// An operator or a bracket.
    Sign(&'static str),
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Self::Word(word) => format!("'{word}'"),
            Self::Quoted(text) => format!("'{text}'"),
            Self::Sign(sign) => format!("'{sign}'"),
        }
    }
}

/// The operators and brackets. Longer ones come first, so that `<=` is not read as `<`.
const SIGNS: [&str; 12] = ["!=", "<>", "<=", ">=", "==", "=", "<", ">", "~", "%", "(", ")"];
/// Separates the values of a list. Elsewhere it is part of a value.
const COMMA: &str = ",";

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    let mut in_list = false;
    while let Some(first) = rest.chars().next() {
        if in_list && rest.starts_with(COMMA) {
            tokens.push(Token::Sign(COMMA));
            rest = &rest[COMMA.len()..];
        } else if first == '\'' || first == '"' {
            let inside = &rest[1..];
            let Some(end) = inside.find(first) else { return Err(format!("the quote in {rest} never ends")) };
            tokens.push(Token::Quoted(inside[..end].into()));
            rest = &inside[end + 1..];
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            in_list = match *sign {
                "(" => matches!(tokens.last(), Some(Token::Word(word)) if word.eq_ignore_ascii_case("in")),
                ")" => false,
                _ => in_list,
            };
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
            // A pattern may contain signs.
            if *sign == "~" && !rest.trim_start().starts_with(['\'', '"']) {
                rest = rest.trim_start();
                let end = pattern_end(rest);
                if end > 0 {
                    tokens.push(Token::Quoted(rest[..end].into()));
                }
                rest = &rest[end..];
            }
        } else {
            let ends = |at: usize, c: char| {
                c.is_whitespace()
                    || SIGNS.iter().any(|sign| rest[at..].starts_with(sign))
                    || c == '\''
                    || in_list && c == ','
            };
            let end = rest.char_indices().find(|(at, c)| ends(*at, *c)).map_or(rest.len(), |(at, _)| at);
            tokens.push(Token::Word(rest[..end].into()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

/// Returns the end of an unquoted pattern: a blank, or a closing bracket that the pattern did not
/// open.
fn pattern_end(text: &str) -> usize {
    let (mut open, mut in_class, mut escaped) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            return at;
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' => in_class = false,
            _ if in_class => {}
            '[' => in_class = true,
            '(' => open += 1,
            ')' if open == 0 => return at,
            ')' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

struct Parser {
    tokens: std::vec::IntoIter<Token>,
    fields: Vec<String>,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.as_slice().first()
    }

    /// Takes the next token if it is this keyword.
    fn takes(&mut self, keyword: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword));
        if found {
            self.tokens.next();
        }
        found
    }

    /// Takes the next two tokens if they are these keywords.
    fn takes_both(&mut self, first: &str, second: &str) -> bool {
        let is = |token: Option<&Token>, keyword: &str| matches!(token, Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword));
        let next = self.tokens.as_slice();
        let found = is(next.first(), first) && is(next.get(1), second);
        if found {
            self.tokens.next();
            self.tokens.next();
        }
        found
    }

    fn next_shown(&self) -> String {
        self.peek().map_or("nothing".into(), Token::shown)
    }

    /// Parses the values between brackets after `in`.
    fn list(&mut self) -> Result<Test, String> {
        let mut tests = Vec::new();
        let mut before = "(";
        loop {
            if self.peek() != Some(&Token::Sign(before)) {
                let expected = if before == "(" { "'(' after 'in'" } else { "',' or ')' in the list" };
                return Err(format!("expected {expected}, found {}", self.next_shown()));
            }
            self.tokens.next();
            tests.push(match self.tokens.next() {
                Some(Token::Word(word)) => of_word(word, Operator::Equal),
                Some(Token::Quoted(text)) => Test::Text { operator: Operator::Equal, value: text.into() },
                Some(other) => return Err(format!("expected a value in the list, found {}", other.shown())),
                None => return Err("expected a value in the list".into()),
            });
            if self.peek() == Some(&Token::Sign(")")) {
                self.tokens.next();
                return Ok(Test::In(tests));
            }
            before = COMMA;
        }
    }

    fn condition(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("the brackets are too deep".into());
        }
        let mut nodes = vec![self.all()?];
        while self.takes("or") {
            nodes.push(self.all()?);
        }
        self.depth -= 1;
        Ok(Node::Any(nodes))
    }

    fn all(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.test()?];
        while self.takes("and") {
            nodes.push(self.test()?);
        }
        Ok(Node::All(nodes))
    }

    fn test(&mut self) -> Result<Node, String> {
        if self.takes("not") {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err("too many times 'not'".into());
            }
            let node = Node::Not(Box::new(self.test()?));
            self.depth -= 1;
            return Ok(node);
        }
        match self.tokens.next() {
            Some(Token::Sign("(")) => {
                let node = self.condition()?;
                match self.tokens.next() {
                    Some(Token::Sign(")")) => Ok(node),
                    Some(other) => Err(format!("expected ')', found {}", other.shown())),
                    None => Err("expected ')' at the end".into()),
                }
            }
            Some(Token::Word(field) | Token::Quoted(field)) => {
                let operand = self.operand(field);
                let negates = self.takes_both("not", "in");
                if negates || self.takes("in") {
                    let node = Node::Test(operand, self.list()?);
                    return Ok(if negates { Node::Not(Box::new(node)) } else { node });
                }
                if self.takes("is") {
                    let negates = self.takes("not");
                    if !self.takes("empty") {
                        return Err(format!("expected 'empty' after 'is', found {}", self.next_shown()));
                    }
                    let node = Node::Test(operand, Test::Empty);
                    return Ok(if negates { Node::Not(Box::new(node)) } else { node });
                }
                Ok(Node::Test(operand, self.comparison()?))
            }
            Some(sign) => Err(format!("expected a field, found {}", sign.shown())),
            None => Err("expected a field at the end".into()),
        }
    }

    fn operand(&mut self, field: String) -> Operand {
        if field == "0" {
            return Operand::Row;
        }
        let known = self.fields.iter().position(|known| *known == field);
        Operand::Column(known.unwrap_or_else(|| {
            self.fields.push(field);
            self.fields.len() - 1
        }))
    }

    fn comparison(&mut self) -> Result<Test, String> {
        let remainder = if self.peek() == Some(&Token::Sign("%")) {
            self.tokens.next();
            Some(self.divisor()?)
        } else {
            None
        };
        let operator = match self.peek() {
            Some(Token::Sign("=" | "==")) => Operator::Equal,
            Some(Token::Sign("!=" | "<>")) => Operator::Unequal,
            Some(Token::Sign("<")) => Operator::Less,
            Some(Token::Sign("<=")) => Operator::LessOrEqual,
            Some(Token::Sign(">")) => Operator::Greater,
            Some(Token::Sign(">=")) => Operator::GreaterOrEqual,
            Some(Token::Sign("~")) if remainder.is_none() => {
                self.tokens.next();
                return self.pattern();
            }
            _ if remainder.is_some() => {
                return Ok(Test::Number { remainder, operator: Operator::Equal, value: Number::ZERO });
            }
            Some(other) => {
                return Err(format!("expected =, !=, <, <=, >, >=, ~, %, in or is, found {}", other.shown()));
            }
            None => return Err("expected =, !=, <, <=, >, >=, ~, %, in or is at the end".into()),
        };
        self.tokens.next();
        match self.tokens.next() {
            Some(Token::Word(word)) => match (of_word(word, operator), remainder) {
                (Test::Number { operator, value, .. }, _) => Ok(Test::Number { remainder, operator, value }),
                (test, None) => Ok(test),
                (Test::Text { value, .. }, Some(_)) => {
                    let word = String::from_utf8_lossy(&value);
                    Err(format!("a remainder is compared with a number, not with '{word}'"))
                }
                (_, Some(_)) => Err("a remainder is compared with a number".into()),
            },
            Some(Token::Quoted(text)) if remainder.is_none() => {
                Ok(Test::Text { operator, value: text.into() })
            }
            Some(other) => Err(format!("expected a value, found {}", other.shown())),
            None => Err("expected a value at the end".into()),
        }
    }

    fn divisor(&mut self) -> Result<u64, String> {
        let wrong = |found: String| format!("expected a whole number from 1 on after %, found {found}");
        match self.tokens.next() {
            Some(Token::Word(word)) => match numbers::whole(word.as_bytes()) {
                Some(divisor) if divisor > 0 => Ok(divisor),
                _ => Err(wrong(format!("'{word}'"))),
            },
            Some(other) => Err(wrong(other.shown())),
            None => Err(wrong("nothing".into())),
        }
    }

    fn pattern(&mut self) -> Result<Test, String> {
        match self.tokens.next() {
            Some(Token::Word(text) | Token::Quoted(text)) => Regex::new(&text)
                .map(Test::Pattern)
                .map_err(|error| format!("'{text}' is no regular expression: {}", last_line(&error))),
            _ => Err("expected a regular expression after ~".into()),
        }
    }
}

/// Returns a comparison with an unquoted word. It compares numbers if the word is a number.
fn of_word(word: String, operator: Operator) -> Test {
    match Number::parse(word.as_bytes()) {
        Some(value) => Test::Number { remainder: None, operator, value },
        None => Test::Text { operator, value: word.into() },
    }
}

/// Returns the message about a bad pattern, without the marked copy of the pattern.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.trim_start_matches("error: ").into()
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokens(text)?.into_iter(), fields: Vec::new(), depth: 0 };
        let root = parser.condition()?;
        match parser.tokens.next() {
            None => Ok(Self { root, fields: parser.fields }),
            Some(left) => Err(format!("expected 'and' or 'or', found {}", left.shown())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        for (text, message) in [
            ("", "expected a field at the end"),
            ("a", "expected =, !=, <, <=, >, >=, ~, %, in or is at the end"),
            ("a b", "found 'b'"),
            ("a =", "expected a value at the end"),
            ("a = 1 b = 2", "expected 'and' or 'or', found 'b'"),
            ("a = 1 and", "expected a field at the end"),
            ("= 1", "expected a field, found '='"),
            ("(a = 1", "expected ')' at the end"),
            ("a = 'x", "never ends"),
            ("a % 0", "expected a whole number from 1 on"),
            ("a % x = 1", "found 'x'"),
            ("a % 2 = x", "not with 'x'"),
            ("a ~ '('", "is no regular expression"),
            ("a ~", "expected a regular expression"),
            ("a < =", "expected a value, found '='"),
            ("a in 1", "expected '(' after 'in', found '1'"),
            ("a in (", "expected a value in the list"),
            ("a in (1 2)", "expected ',' or ')' in the list, found '2'"),
            ("a in ()", "expected a value in the list, found ')'"),
            ("a is full", "expected 'empty' after 'is', found 'full'"),
        ] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
        let deep = "(".repeat(10_000) + "a = 1";
        assert!(deep.parse::<Condition>().unwrap_err().contains("too deep"));
        assert!("not ".repeat(10_000).parse::<Condition>().unwrap_err().contains("'not'"));
    }
}
