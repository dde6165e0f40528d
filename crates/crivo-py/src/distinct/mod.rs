//! How many different items?

mod exact;
mod hyperloglog;
mod k_min_values;
mod linear_counting;
mod log_log;
mod methods;
mod probabilistic_counting;
mod ultraloglog;

pub(crate) use self::exact::ExactDistinct;
pub(crate) use self::hyperloglog::HyperLogLog;
pub(crate) use self::k_min_values::{Comparison, KMinValues};
pub(crate) use self::linear_counting::LinearCounting;
pub(crate) use self::log_log::LogLog;
pub(crate) use self::probabilistic_counting::ProbabilisticCounting;
pub(crate) use self::ultraloglog::UltraLogLog;
