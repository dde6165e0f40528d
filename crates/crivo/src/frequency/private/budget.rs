//! The privacy budget of a person.

use crate::error::{Error, ErrorKind, Result};

/// How much privacy may be spent and how much was spent, as the sum of the `ε` of all reports.
///
/// All reports of one person add up, whatever they are about (basic composition). So one budget may
/// be passed from client to client, and stored between runs as two numbers.
///
/// ```
/// use crivo::frequency::private::Budget;
/// let mut week = Budget::new(1.0)?;
/// week.spend(0.5)?;
/// let mut later = Budget::with_spent(week.total(), week.spent())?;
/// later.spend(0.5)?;
/// assert_eq!(later.remaining(), 0.0);
/// assert!(later.spend(0.5).is_err());
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    total: f64,
    spent: f64,
}

/// The share by which a sum may exceed the total. Three times 0.1 is more than 0.3, but only by
/// rounding.
const ROUNDING: f64 = 1e-9;

impl Budget {
    /// Returns a budget with nothing spent.
    ///
    /// # Errors
    /// If the total is not a finite number above 0.
    pub fn new(total: f64) -> Result<Self> {
        Self::with_spent(total, 0.0)
    }

    /// Returns a budget that is already partly spent.
    ///
    /// # Errors
    /// If the total is not a finite number above 0, or `spent` is not a finite number of at
    /// least 0.
    pub fn with_spent(total: f64, spent: f64) -> Result<Self> {
        if !(total > 0.0 && total.is_finite()) {
            return Err(Error::parameter("budget", "a finite number above 0", total));
        }
        if !(spent >= 0.0 && spent.is_finite()) {
            return Err(Error::parameter("spent", "a finite number from 0 on", spent));
        }
        Ok(Self { total, spent })
    }

    /// Returns how much may be spent in total.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Returns how much was spent.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// Returns how much is left.
    pub fn remaining(&self) -> f64 {
        (self.total - self.spent).max(0.0)
    }

    /// Returns true if a report of this `ε` may still be made.
    pub fn allows(&self, epsilon: f64) -> bool {
        self.spent + epsilon <= self.total * (1.0 + ROUNDING)
    }

    /// Adds a report of this `ε` to the spent privacy.
    ///
    /// # Errors
    /// If the report would exceed the total, or if `ε` is not a finite number of at least 0;
    /// nothing is spent then.
    pub fn spend(&mut self, epsilon: f64) -> Result<()> {
        if !(epsilon >= 0.0 && epsilon.is_finite()) {
            return Err(Error::parameter("epsilon", "a finite number from 0 on", epsilon));
        }
        if !self.allows(epsilon) {
            return Err(Error::new(
                ErrorKind::BudgetExceeded,
                "budget",
                format_args!("{epsilon} left for this report"),
                format_args!("{} left of {}", self.remaining(), self.total),
                "the person has reported as often as was promised: make no further reports",
            ));
        }
        self.spent += epsilon;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_neither_refuses_what_is_left_nor_allows_more() {
        let mut budget = Budget::new(0.3).unwrap();
        (0..3).for_each(|_| budget.spend(0.1).unwrap());
        assert_eq!(budget.remaining(), 0.0);
        let error = budget.spend(0.1).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::BudgetExceeded, "budget"));
        assert!(budget.spend(1e-6).is_err() && budget.spend(0.0).is_ok());

        let mut many = Budget::new(1000.0).unwrap();
        (0..1_000_000).for_each(|_| many.spend(0.001).unwrap());
        assert!(many.spend(0.001).is_err());
    }

    #[test]
    fn what_is_no_budget_is_refused() {
        for total in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Budget::new(total).unwrap_err().field(), "budget");
        }
        for spent in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Budget::with_spent(1.0, spent).unwrap_err().field(), "spent");
            assert_eq!(Budget::new(1.0).unwrap().spend(spent).unwrap_err().field(), "epsilon");
        }
        // More was spent than a smaller total now allows: nothing is left, and nothing breaks.
        let overdrawn = Budget::with_spent(1.0, 2.0).unwrap();
        assert!(overdrawn.remaining() == 0.0 && !overdrawn.allows(0.1));
    }
}
