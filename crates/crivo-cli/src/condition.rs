//! Conditions on the fields of a row: `status >= 500 and url ~ '^/api'`.
//!
//! ```text
//! condition = all, { "or", all }
//! all       = test, { "and", test }
//! test      = "not", test | "(", condition, ")" | field, [ "%", whole ], [ operator, value ]
//! operator  = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~"
//! ```
//!
//! A field is a name or a number from 1; 0 is the whole row. What has blanks or signs in it is quoted,
//! `'so'` or `"so"`. Numbers are compared as numbers: where the value is an unquoted number, a field that
//! is none matches only `!=`. Everything else is compared as text, byte by byte; `~` looks for a
//! regular expression anywhere in the field. `field % 3` alone asks whether 3 divides it. Empty fields and
//! nulls match nothing.

mod parse;

use std::cmp::Ordering;

use crivo_rows::{RowBatch, Values};
use regex::bytes::Regex;

use crate::numbers;

/// A condition, ready to be asked of every row.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    root: Node,
    /// The fields it needs, in the order of their columns.
    pub(crate) fields: Vec<String>,
}

#[derive(Debug, Clone)]
enum Node {
    Any(Vec<Node>),
    All(Vec<Node>),
    Not(Box<Node>),
    Test(Operand, Test),
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    Row,
    Column(usize),
}

#[derive(Debug, Clone)]
enum Test {
    /// Compared with a number, after the remainder if there is one.
    Number { remainder: Option<u64>, operator: Operator, value: f64 },
    /// Compared with a text.
    Text { operator: Operator, value: Vec<u8> },
    /// Searched for a pattern.
    Pattern(Regex),
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
    /// Sets `matches[row]` for every row of a batch; `column` says where each of the fields is.
    pub(crate) fn ask(
        &self,
        batch: &RowBatch<'_>,
        column: impl Fn(usize) -> Option<usize>,
        matches: &mut [bool],
    ) {
        let columns: Vec<Option<Values<'_>>> =
            (0..self.fields.len()).map(|field| column(field).map(|column| batch.column(column))).collect();
        for (row, matches) in matches.iter_mut().enumerate() {
            *matches = self.root.holds(&|operand| match operand {
                Operand::Row => batch.record(row).filter(|record| !record.is_empty()),
                Operand::Column(column) => columns[column]?.get(row),
            });
        }
    }

    /// The same for a batch of all columns.
    pub(crate) fn ask_named(&self, batch: &RowBatch<'_>, matches: &mut [bool]) -> crivo_rows::Result<()> {
        let names = batch.names();
        let place = |field: &String| {
            let by_number =
                || field.parse::<usize>().ok().filter(|number| (1..=names.len()).contains(number));
            names.iter().position(|name| name == field).or_else(|| by_number().map(|number| number - 1))
        };
        let places: Vec<Option<usize>> = self.fields.iter().map(place).collect();
        // Records of JSON need not have the same fields; a table's columns are the same in every row.
        if !batch.discovers_columns()
            && let Some(missing) = places.iter().position(Option::is_none)
        {
            let message = format!(
                "--where: there is no field '{}': there are {}",
                self.fields[missing],
                names.join(", ")
            );
            return Err(batch.error(0, message));
        }
        self.ask(batch, |field| places[field], matches);
        Ok(())
    }
}

impl Node {
    fn holds<'v>(&self, value: &impl Fn(Operand) -> Option<&'v [u8]>) -> bool {
        match self {
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(value)),
            Self::All(nodes) => nodes.iter().all(|node| node.holds(value)),
            Self::Not(node) => !node.holds(value),
            Self::Test(operand, test) => value(*operand).is_some_and(|value| test.holds(value)),
        }
    }
}

impl Test {
    fn holds(&self, found: &[u8]) -> bool {
        match self {
            Self::Number { remainder, operator, value } => {
                let number = match remainder {
                    None => numbers::decimal(found),
                    Some(divisor) => numbers::remainder(found, *divisor).map(|left| left as f64),
                };
                match number.and_then(|number| number.partial_cmp(value)) {
                    Some(order) => operator.accepts(order),
                    None => *operator == Operator::Unequal,
                }
            }
            Self::Text { operator, value } => operator.accepts(found.cmp(value)),
            Self::Pattern(pattern) => pattern.is_match(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a row of these fields matches, by name.
    fn matches(condition: &str, row: &[(&str, &str)]) -> bool {
        let condition: Condition = condition.parse().unwrap();
        condition.root.holds(&|operand| match operand {
            Operand::Row => Some(b"the whole row"),
            Operand::Column(column) => {
                let name = &condition.fields[column];
                let (_, value) = row.iter().find(|(field, _)| field == name)?;
                Some(value.as_bytes()).filter(|value| !value.is_empty())
            }
        })
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
            ("none = ''", false),
            ("none != 5", false),
            ("not none = 5", true),
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
