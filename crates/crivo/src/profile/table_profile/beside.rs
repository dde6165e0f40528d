//! Passes the values that a profile has parsed to the other parts of a table's column.

use crate::profile::column_profile::{Parsed, ValueSink};
use crate::profile::detail::ColumnDetail;
use crate::quantiles::NumberQuantiles;

/// The parts of a column that receive its values beside the profile.
pub(super) struct BesideProfile<'a> {
    pub(super) ranks: &'a mut NumberQuantiles,
    pub(super) detail: Option<&'a mut ColumnDetail>,
}

impl ValueSink for BesideProfile<'_> {
    #[inline]
    fn value(&mut self, text: &[u8], parsed: Parsed, weight: u64) {
        if let Some(detail) = &mut self.detail {
            detail.add_value(text, parsed, weight);
        }
    }

    fn number(&mut self, number: f64, weight: u64) {
        if weight == 1 {
            self.ranks.insert(number);
        } else {
            self.ranks.add(number, weight);
        }
        if let Some(detail) = &mut self.detail {
            detail.add_number(number, weight);
        }
    }

    fn numbers(&mut self, numbers: &[f64]) {
        self.ranks.insert_all(numbers);
        if let Some(detail) = &mut self.detail {
            detail.add_numbers(numbers);
        }
    }
}
