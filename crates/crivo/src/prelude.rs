//! The items that the prelude of `std` has and that of `core` lacks, for builds without `std`.
//!
//! Modules that need it import everything from here if the feature `std` is off.

pub(crate) use alloc::borrow::{Cow, ToOwned};
pub(crate) use alloc::boxed::Box;
pub(crate) use alloc::string::{String, ToString};
pub(crate) use alloc::vec::Vec;

/// The functions of `f64` that `core` lacks, from `libm`. The first five are exact on every
/// platform. `powi` may differ in the last bit, but nothing that is stored depends on it.
pub(crate) trait FloatFunctions: Sized {
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round(self) -> Self;
    fn fract(self) -> Self;
    fn powi(self, exponent: i32) -> Self;
}

impl FloatFunctions for f64 {
    fn sqrt(self) -> Self {
        libm::sqrt(self)
    }

    fn floor(self) -> Self {
        libm::floor(self)
    }

    fn ceil(self) -> Self {
        libm::ceil(self)
    }

    fn round(self) -> Self {
        libm::round(self)
    }

    fn fract(self) -> Self {
        self - libm::trunc(self)
    }

    fn powi(self, exponent: i32) -> Self {
        libm::pow(self, exponent.into())
    }
}
