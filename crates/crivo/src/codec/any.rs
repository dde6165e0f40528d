//! A sketch of whatever kind a file holds.

use super::envelope::{Encode, Header, decode_opened, open};
use super::family::{Family, with_every_family};
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::Estimate;
use crate::keys::KeyScheme;
use crate::sketch::Merge;

/// What is known about a sketch without asking it anything: the contents of `crivo show`.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Which sketch it is.
    pub family: Family,
    /// The sizes it was built with, in the order of its constructor, then facts about its state.
    pub parameters: Vec<(&'static str, Parameter)>,
    /// How its keys are hashed.
    pub scheme: KeyScheme,
    /// How many items it holds, as its kind counts them.
    pub items: Estimate,
    /// The share of its cells in use, where that means something.
    pub fill: Option<f64>,
    /// The false-positive rate at its present fill, for filters.
    pub false_positive_rate: Option<f64>,
    /// Bytes of memory.
    pub memory: usize,
}

/// The value of a parameter in a [`Summary`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Parameter {
    /// A size.
    Count(u64),
    /// A rate or an error.
    Ratio(f64),
    /// A choice.
    Name(&'static str),
}

macro_rules! make_any_sketch {
    ($($name:ident = $number:literal, version $version:literal, in $module:ident;)*) => {
        /// Any sketch that can be stored: what `crivo show`, `crivo ask` and `crivo merge` open.
        ///
        /// ```
        /// use crivo::codec::{AnySketch, Family};
        /// use crivo::distinct::HyperLogLog;
        ///
        /// let mut visitors = HyperLogLog::new(12)?;
        /// visitors.insert("ana")?;
        /// let opened = AnySketch::decode(&visitors.encode())?;
        /// assert_eq!(opened.family(), Family::HyperLogLog);
        /// assert_eq!(opened, AnySketch::HyperLogLog(visitors));
        /// # Ok::<(), crivo::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum AnySketch {
            $(
                #[doc = concat!("[`", stringify!($name), "`](crate::", stringify!($module), "::", stringify!($name), ").")]
                $name(crate::$module::$name),
            )*
        }

        impl AnySketch {
            /// The sketch that the bytes hold.
            ///
            /// # Errors
            /// As for [`Decode::decode`](super::Decode::decode).
            pub fn decode(bytes: &[u8]) -> Result<Self> {
                let (header, payload) = open(bytes)?;
                Self::decode_opened(&header, payload)
            }

            /// The sketch in an envelope that was opened.
            pub(crate) fn decode_opened(header: &Header, payload: &[u8]) -> Result<Self> {
                match header.family {
                    $(Family::$name => decode_opened(header, payload).map(Self::$name),)*
                }
            }

            /// What the envelope around the sketch says.
            pub(crate) fn header(&self) -> Header {
                let scheme = match self {
                    $(Self::$name(sketch) => sketch.key_scheme(),)*
                };
                Header { family: self.family(), version: self.family().version(), scheme }
            }

            /// The sketch as bytes.
            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Self::$name(sketch) => sketch.encode(),)*
                }
            }

            /// Which sketch is inside.
            pub fn family(&self) -> Family {
                match self {
                    $(Self::$name(_) => Family::$name,)*
                }
            }

            /// Parameters, fill and size.
            pub fn summary(&self) -> Summary {
                match self {
                    $(Self::$name(sketch) => sketch.summary(),)*
                }
            }
        }

        impl Merge for AnySketch {
            fn merge(&mut self, other: &Self) -> Result<()> {
                match (&mut *self, other) {
                    $((Self::$name(mine), Self::$name(theirs)) => mine.merge(theirs),)*
                    #[allow(unreachable_patterns)] // reached as soon as there are two families
                    (mine, theirs) => Err(Error::new(
                        ErrorKind::WrongFamily,
                        "family",
                        mine.family(),
                        theirs.family(),
                        "only sketches of one kind can be merged",
                    )),
                }
            }

            fn reseed(&mut self, part: u64) {
                match self {
                    $(Self::$name(sketch) => Merge::reseed(sketch, part),)*
                }
            }
        }
    };
}
with_every_family!(make_any_sketch);
