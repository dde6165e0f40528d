//! Conditions on the fields of a row: `status >= 500 and url ~ '^/api'`.
//!
//! ```text
//! condition = all, { "or", all }
//! all       = test, { "and", test }
//! test      = "not", test | "(", condition, ")" | field, question
//! question  = [ "%", whole ], [ operator, value ] | "in", "(", value, { ",", value }, ")"
//!           | "is", [ "not" ], "empty"
//! operator  = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~"
//! ```
//!
//! A field is a name or a number from 1; 0 is the whole row. A word with blanks or signs is quoted,
//! `'so'` or `"so"`. Numbers are compared as numbers: an unquoted number equals all fields with the
//! same number, however written. Whole numbers of up to 128 bits are compared exactly, others as
//! 64-bit floats. Everything else is compared as text, byte by byte. `~` searches for a regular
//! expression anywhere in the field. `field % 3` alone is true if 3 divides the field.
//!
//! **Three truth values.** A test that has no answer is neither true nor false, but open. These are
//! all tests of an empty or missing field except whether it is empty, and whether a text is less
//! than a number. `not` of an open answer is open. `and` is false if one side is, and `or` is true
//! if one side is. A row with an open answer is left out. So `a != 1` and `not a = 1` are the same.
//! `a = ''` is another way to write `a is empty`.

mod number;
mod parse;

use std::cmp::Ordering;

use regex::bytes::Regex;

use self::number::Number;
use crate::batch::RowBatch;
use crate::column::Values;
use crate::error::Result;
use crate::numbers;
use crate::select::find;

/// A condition that can be tested on every row. The [module](self) describes how to write one.
///
/// ```
/// use crivo_rows::condition::Condition;
/// let condition: Condition = "status >= 500 and url ~ ^/api".parse()?;
/// assert_eq!(condition.fields, ["status", "url"]);
/// assert!("status >=".parse::<Condition>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub struct Condition {
    root: Node,
    /// The fields of the condition, in the order of their columns.
    pub fields: Vec<String>,
}

#[derive(Debug, Clone)]
enum Node {
    Any(Vec<Node>),
    All(Vec<Node>),
    Not(Box<Node>),
    Test(Operand, Test),
}

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    Row,
    Column(usize),
}

#[derive(Debug, Clone)]
enum Test {
    /// Compares with a number, after the remainder if there is one.
    Number { remainder: Option<u64>, operator: Operator, value: Number },
    /// Compares with a text.
    Text { operator: Operator, value: Vec<u8> },
    /// Compares with each of these, which are numbers or texts.
    In(Vec<Test>),
    /// Searches for a pattern.
    Pattern(Regex),
    /// Tests whether the value is empty.
    Empty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    fn accepts(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Condition {
    /// Sets `matches[row]` for every row of a batch. `column` returns the column of each field.
    pub fn ask(&self, batch: &RowBatch<'_>, column: impl Fn(usize) -> Option<usize>, matches: &mut [bool]) {
        let columns: Vec<Option<Values<'_>>> =
            (0..self.fields.len()).map(|field| column(field).map(|column| batch.column(column))).collect();
        for (row, matches) in matches.iter_mut().enumerate() {
            let answer = self.root.holds(&|operand| match operand {
                Operand::Row => batch.record(row).filter(|record| !record.is_empty()),
                Operand::Column(column) => columns[column]?.get(row),
            });
            *matches = answer == Some(true);
        }
    }

    /// Tests the condition on a batch of all columns, in which the fields are found by their names.
    ///
    /// # Errors
    /// If the table has no such field, or two of this name.
    pub fn ask_named(&self, batch: &RowBatch<'_>, matches: &mut [bool]) -> Result<()> {
        let names = batch.names();
        let place = |field: &String| {
            // JSON records need not have the same fields, and their fields have only names. In a
            // table, every row has the same columns.
            if batch.discovers_columns() {
                return Ok(names.iter().position(|name| name == field));
            }
            find(field, names).map(Some).map_err(|error| error.in_file(batch.file))
        };
        let places: Vec<Option<usize>> = self.fields.iter().map(place).collect::<Result<_>>()?;
        self.ask(batch, |field| places[field], matches);
        Ok(())
    }
}

impl Node {
    /// Returns the answer, or `None` if it is open.
    fn holds<'v>(&self, value: &impl Fn(Operand) -> Option<&'v [u8]>) -> Option<bool> {
        match self {
            Self::Any(nodes) => decided_by(true, nodes, value),
            Self::All(nodes) => decided_by(false, nodes, value),
            Self::Not(node) => node.holds(value).map(|holds| !holds),
            Self::Test(operand, test) => test.holds(value(*operand)),
        }
    }
}

/// Returns `decisive` if one of the nodes has that answer; else open (`None`) if one is open; else
/// the opposite.
fn decided_by<'v>(
    decisive: bool,
    nodes: &[Node],
    value: &impl Fn(Operand) -> Option<&'v [u8]>,
) -> Option<bool> {
    let mut answer = Some(!decisive);
    for node in nodes {
        match node.holds(value) {
            Some(found) if found == decisive => return Some(decisive),
            Some(_) => {}
            None => answer = None,
        }
    }
    answer
}

impl Test {
    /// Returns the answer about a field, or `None` if it is open. An empty field is passed as
    /// `None`.
    fn holds(&self, found: Option<&[u8]>) -> Option<bool> {
        match self {
            Self::Empty => return Some(found.is_none()),
            Self::Text { operator, value } if value.is_empty() => {
                return Some(operator.accepts(found.unwrap_or_default().cmp(value)));
            }
            // An empty field is in a list only if the list names the empty text.
            Self::In(tests) if found.is_none() => {
                return tests.iter().any(|test| test.holds(None) == Some(true)).then_some(true);
            }
            _ => {}
        }
        let found = found?;
        match self {
            Self::Number { remainder: Some(divisor), operator, value } => {
                let left = numbers::remainder(found, *divisor)?;
                value.order_of_whole(left).map(|order| operator.accepts(order))
            }
            Self::Number { remainder: None, operator, value } => {
                match value.order_of(found) {
                    Some(order) => Some(operator.accepts(order)),
                    // A text that is not a number is unequal to it, and neither less nor greater.
                    None => match operator {
                        Operator::Equal => Some(false),
                        Operator::Unequal => Some(true),
                        _ => None,
                    },
                }
            }
            Self::Text { operator, value } => Some(operator.accepts(found.cmp(value))),
            Self::In(tests) => Some(tests.iter().any(|test| test.holds(Some(found)) == Some(true))),
            Self::Pattern(pattern) => Some(pattern.is_match(found)),
            Self::Empty => Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if a row of these fields, given by name, matches.
    fn matches(condition: &str, row: &[(&str, &str)]) -> bool {
        let condition: Condition = condition.parse().unwrap();
        let answer = condition.root.holds(&|operand| match operand {
            Operand::Row => Some(b"the whole row"),
            Operand::Column(column) => {
                let name = &condition.fields[column];
                let (_, value) = row.iter().find(|(field, _)| field == name)?;
                Some(value.as_bytes()).filter(|value| !value.is_empty())
            }
        });
        answer == Some(true)
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_texts_as_texts() {
        let row = [("n", "10"), ("x", "-2.50"), ("name", "Ana"), ("none", ""), ("version", "10a")];
        for (condition, expected) in [
            ("n = 10", true),
            ("n = 10.0", true),
            ("n == 1e1", true),
            ("n != 10", false),
            ("n < 9", false),
            ("n > 9", true),
            ("n <= 10", true),
            ("n >= 11", false),
            ("x < -2", true),
            ("x = -2.5", true),
            ("n = '10'", true),
            ("n = '10.0'", false),
            ("n < '9'", true), // as text
            ("name = Ana", true),
            ("name = ana", false),
            ("name != Rui", true),
            ("name > Al", true),
            ("version > 5", false),
            ("version != 5", true),
            ("version = 10a", true),
            ("none != 5", false),
            ("not none = 5", false),
        ] {
            assert_eq!(matches(condition, &row), expected, "{condition}");
        }
    }

    #[test]
    fn large_whole_numbers_are_compared_exactly() {
        let row = [("id", "12345678901234567"), ("n", "9007199254740993"), ("zeros", "012345678901234567.0")];
        for (condition, expected) in [
            ("id = 12345678901234567", true),
            ("id = 12345678901234568", false),
            ("id != 12345678901234568", true),
            ("id >= 12345678901234568", false),
            ("id in (12345678901234566, 12345678901234568)", false),
            ("zeros = 12345678901234567", true),
            ("zeros < 12345678901234568", true),
            ("n > 9007199254740992", true),
            ("n <= 9007199254740992", false),
            ("n % 10000000000000000 = 9007199254740992", false),
            ("n % 10000000000000000 = 9007199254740993", true),
        ] {
            assert_eq!(matches(condition, &row), expected, "{condition}");
        }
    }

    #[test]
    fn what_cannot_be_answered_is_neither_true_nor_false() {
        let row = [("n", "10"), ("none", ""), ("text", "abc")];
        for (condition, expected) in [
            ("none = ''", true),
            ("none != ''", false),
            ("none is empty", true),
            ("none is not empty", false),
            ("not none is empty", false),
            ("n is empty", false),
            ("n is not empty", true),
            ("absent is empty", true),
            ("n = ''", false),
            ("n != ''", true),
            ("none = 5 or n = 10", true),
            ("none = 5 and n = 10", false),
            ("not (none = 5 and n = 11)", true),
            ("not (none = 5 or n = 11)", false),
            ("not (none ~ x)", false),
            ("text < 5", false),
            ("not (text < 5)", false),
            ("text != 5", true),
            ("not (text = 5)", true),
            ("not (text % 5)", false),
        ] {
            assert_eq!(matches(condition, &row), expected, "{condition}");
        }
    }

    #[test]
    fn lists_hold_numbers_and_texts() {
        let row = [("n", "10"), ("code", "010"), ("name", "Ana"), ("none", "")];
        for (condition, expected) in [
            ("n in (9, 10.0)", true),
            ("n in (9,11)", false),
            ("not n in (9, 11)", true),
            ("n not in (9, 11)", true),
            ("n not in (9, 10)", false),
            ("code in (10)", true),
            ("code in ('10')", false),
            ("name in (Rui, 'Ana')", true),
            ("name IN ('Rui')", false),
            ("none in (1, 2)", false),
            ("not none in (1, 2)", false),
            ("none in ('', x)", true),
            ("name in (Ana) and n = 10", true),
        ] {
            assert_eq!(matches(condition, &row), expected, "{condition}");
        }
    }

    #[test]
    fn remainders_patterns_and_the_whole_row() {
        let row = [("n", "12"), ("minus", "-7"), ("url", "/api/v2/users"), ("half", "1.5")];
        for (condition, expected) in [
            ("n % 3", true),
            ("n % 5", false),
            ("n % 5 = 2", true),
            ("n % 5 > 2", false),
            ("minus % 5 = 3", true), // as -7 = 5·(-2) + 3
            ("half % 5", false),
            ("url ~ ^/api/", true),
            ("url ~ 'v[0-9]+'", true),
            ("url ~ 'v[3-9]'", false),
            ("url ~ \"USERS$\"", false),
            ("url ~ '(?i)USERS$'", true),
            ("0 ~ whole", true),
            ("(url ~ ^/api)", true),
            ("(url ~ (users|people)$) and n = 12", true),
            ("not (url ~ v[)3])", true),
        ] {
            assert_eq!(matches(condition, &row), expected, "{condition}");
        }
    }

    #[test]
    fn and_binds_before_or() {
        let row = [("a", "1"), ("b", "2"), ("c d", "3")];
        for (condition, expected) in [
            ("a = 1 and b = 2", true),
            ("a = 1 and b = 3", false),
            ("a = 2 or b = 2", true),
            ("a = 1 or a = 2 and b = 3", true),
            ("(a = 1 or a = 2) and b = 3", false),
            ("not (a = 1 and b = 2) or 'c d' = 3", true),
            ("a=1 AND b<3 OR a=5", true),
        ] {
            assert_eq!(matches(condition, &row), expected, "{condition}");
        }
    }

    #[test]
    fn a_field_is_read_once() {
        let condition: Condition = "a > 1 and b = x or a < 0 and 0 ~ y".parse().unwrap();
        assert_eq!(condition.fields, ["a", "b"]);
    }
}
