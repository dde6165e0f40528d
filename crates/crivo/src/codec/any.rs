// This file is long because it is the one place that lists what every family can do.

//! A sketch of any kind that a file can hold.

use super::envelope::{Encode, Header, decode_opened, open};
use super::family::{Family, with_every_family};
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::Estimate;
use crate::keys::{KeyBatch, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{
    AddWeights, Capability, Cardinality, CountEvents, Frequency, InsertHashes, InsertKeys, InsertNumbers,
    Membership, Merge, Quantiles, Sample, Sketch, Top,
};

/// What a sketch says about itself without a query: the contents of `crivo show`.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The kind of sketch.
    pub family: Family,
    /// The sizes it was built with, in the order of its constructor, then facts about its state.
    pub parameters: Parameters,
    /// How its keys are hashed.
    pub scheme: KeyScheme,
    /// The number of items it holds, as its kind counts them.
    pub items: Estimate,
    /// The share of its cells in use, if that is meaningful for its kind.
    pub fill: Option<f64>,
    /// The false-positive rate at its present fill, for filters.
    pub false_positive_rate: Option<f64>,
    /// Bytes of memory.
    pub memory: usize,
}

/// The names and values of parameters.
pub type Parameters = Vec<(&'static str, Parameter)>;

/// The value of a parameter in a [`Summary`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Parameter {
    /// A size.
    Count(u64),
    /// A rate or an error, as a share.
    Ratio(f64),
    /// A number that is not a share.
    Number(f64),
    /// The name of a choice.
    Name(&'static str),
}

macro_rules! make_any_sketch {
    ($($name:ident = $number:literal, version $version:literal, in $module:ident;)*) => {
        /// The sketches that can be stored. Private, so that code outside of the codec asks for
        /// capabilities and cannot list kinds.
        #[derive(Debug, Clone, PartialEq)]
        enum Stored {
            $($name(crate::$module::$name),)*
        }

        impl AnySketch {
            /// Returns the sketch in an envelope that was opened.
            pub(crate) fn decode_opened(header: &Header, payload: &[u8]) -> Result<Self> {
                match header.family {
                    $(Family::$name => decode_opened(header, payload).map(Stored::$name),)*
                }
                .map(Self)
            }

            /// Returns the sketch inside.
            pub fn as_sketch(&self) -> &dyn Sketch {
                match &self.0 {
                    $(Stored::$name(sketch) => sketch,)*
                }
            }

            /// Returns the sketch inside, mutably.
            pub fn as_sketch_mut(&mut self) -> &mut dyn Sketch {
                match &mut self.0 {
                    $(Stored::$name(sketch) => sketch,)*
                }
            }
        }

        impl Merge for AnySketch {
            fn merge(&mut self, other: &Self) -> Result<()> {
                match (&mut self.0, &other.0) {
                    $((Stored::$name(mine), Stored::$name(theirs)) => mine.merge(theirs),)*
                    _ => Err(wrong_family(self.family(), other.family())),
                }
            }

            fn reseed(&mut self, part: u64) {
                match &mut self.0 {
                    $(Stored::$name(sketch) => Merge::reseed(sketch, part),)*
                }
            }
        }

        $(
            impl From<crate::$module::$name> for AnySketch {
                fn from(sketch: crate::$module::$name) -> Self {
                    Self(Stored::$name(sketch))
                }
            }

            impl StoredSketch for crate::$module::$name {
                fn of(sketch: &AnySketch) -> Option<&Self> {
                    match &sketch.0 {
                        Stored::$name(sketch) => Some(sketch),
                        _ => None,
                    }
                }

                fn from_any(sketch: AnySketch) -> std::result::Result<Self, Box<AnySketch>> {
                    match sketch.0 {
                        Stored::$name(sketch) => Ok(sketch),
                        other => Err(Box::new(AnySketch(other))),
                    }
                }
            }
        )*
    };
}
with_every_family!(make_any_sketch);

fn wrong_family(expected: Family, found: Family) -> Error {
    let advice = "only sketches of one kind can be combined";
    Error::new(ErrorKind::WrongFamily, "family", expected, found, advice)
}

/// Any sketch that can be stored: what `crivo show`, `crivo ask` and `crivo merge` open.
///
/// Each method for a capability returns the sketch inside if it has the capability. Otherwise it
/// returns an error that names the sketch:
///
/// ```
/// use crivo::codec::{AnySketch, Family};
/// use crivo::distinct::HyperLogLog;
///
/// let mut visitors = HyperLogLog::new(12)?;
/// visitors.insert("ana")?;
/// let opened = AnySketch::decode(&visitors.encode())?;
/// assert_eq!(opened.family(), Family::HyperLogLog);
/// assert_eq!(opened.cardinality()?.distinct().value(), 1.0);
/// assert_eq!(
///     opened.membership().err().map(|error| error.to_string()).as_deref(),
///     Some(
///         "sketch: expected one that knows whether a key is in it, found a HyperLogLog, which tells how many \
///          different keys there are (Bloom is such a sketch)"
///     ),
/// );
/// assert_eq!(opened, AnySketch::from(visitors));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AnySketch(Stored);

/// A sketch that [`AnySketch`] can hold. Implemented for every family of the registry.
pub trait StoredSketch: Encode + Into<AnySketch> {
    /// Returns the sketch inside, if it is of this type.
    fn of(sketch: &AnySketch) -> Option<&Self>;

    /// Takes the sketch out, or returns the argument if it holds one of another type.
    ///
    /// # Errors
    /// If the sketch inside is of another type.
    fn from_any(sketch: AnySketch) -> std::result::Result<Self, Box<AnySketch>>;
}

impl AnySketch {
    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// The errors of [`Decode::decode`](super::Decode::decode).
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let (header, payload) = open(bytes)?;
        Self::decode_opened(&header, payload)
    }

    /// Returns which sketch is inside.
    pub fn family(&self) -> Family {
        self.as_sketch().family()
    }

    /// Returns how the sketch hashes its keys.
    pub fn scheme(&self) -> KeyScheme {
        self.as_sketch().scheme()
    }

    /// Returns the sizes the sketch was built with.
    pub fn parameters(&self) -> Parameters {
        self.as_sketch().parameters()
    }

    /// Returns true if nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.as_sketch().is_empty()
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.as_sketch().memory()
    }

    /// Returns parameters, fill and size.
    pub fn summary(&self) -> Summary {
        self.as_sketch().summary()
    }

    /// Returns the sketch as bytes.
    pub fn encode(&self) -> Vec<u8> {
        self.as_sketch().to_bytes()
    }

    /// Merges another sketch of the same kind: see [`Merge::merge`].
    ///
    /// # Errors
    /// If the kinds differ, or the two sketches do not merge; `self` is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        Merge::merge(self, other)
    }

    /// Returns everything that the sketch can do.
    pub fn capabilities(&self) -> Vec<Capability> {
        let mut sketch = self.clone();
        Capability::ALL.iter().copied().filter(|capability| capability.is_in(&mut sketch)).collect()
    }

    /// Returns the sketch inside as its own type, for code that knows this type. Returns `None` if
    /// it is of another type.
    ///
    /// ```
    /// use crivo::codec::AnySketch;
    /// use crivo::frequency::CountMin;
    /// let sketch = AnySketch::from(CountMin::new(64, 3)?);
    /// assert_eq!(sketch.downcast_ref::<CountMin>().map(CountMin::width), Some(64));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn downcast_ref<S: StoredSketch>(&self) -> Option<&S> {
        S::of(self)
    }

    /// Returns the sketch inside as its own type, or an error that names both.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn require_ref<S: StoredSketch>(&self) -> Result<&S> {
        S::of(self).ok_or_else(|| wrong_family(S::FAMILY, self.family()))
    }

    /// Takes out the sketch inside as its own type.
    ///
    /// # Errors
    /// If it is of another type; the error names both.
    pub fn downcast<S: StoredSketch>(self) -> Result<S> {
        S::from_any(self).map_err(|other| wrong_family(S::FAMILY, other.family()))
    }
}

/// The capabilities of the sketch. Each method returns an error that names the sketch if it lacks
/// the capability.
impl AnySketch {
    /// Returns the sketch as one that takes hashes.
    ///
    /// # Errors
    /// If it is not.
    pub fn hashes_mut(&mut self) -> Result<&mut dyn InsertHashes> {
        let family = self.family();
        self.takes_hashes().ok_or_else(|| Error::unsupported(Capability::Hashes, family))
    }

    /// Returns the sketch as one that takes batches of keys.
    ///
    /// # Errors
    /// If it is not.
    pub fn keys_mut(&mut self) -> Result<&mut dyn InsertKeys> {
        let family = self.family();
        self.takes_keys().ok_or_else(|| Error::unsupported(Capability::Keys, family))
    }

    /// Returns the sketch as one that takes keys with weights.
    ///
    /// # Errors
    /// If it is not.
    pub fn weights_mut(&mut self) -> Result<&mut dyn AddWeights> {
        let family = self.family();
        self.takes_weights().ok_or_else(|| Error::unsupported(Capability::Weights, family))
    }

    /// Returns the sketch as one that takes numbers.
    ///
    /// # Errors
    /// If it is not.
    pub fn numbers_mut(&mut self) -> Result<&mut dyn InsertNumbers> {
        let family = self.family();
        self.takes_numbers().ok_or_else(|| Error::unsupported(Capability::Numbers, family))
    }

    /// Returns the sketch as a counter of events without keys.
    ///
    /// # Errors
    /// If it is not.
    pub fn events_mut(&mut self) -> Result<&mut dyn CountEvents> {
        let family = self.family();
        self.counts_events().ok_or_else(|| Error::unsupported(Capability::Events, family))
    }

    /// Returns the sketch as a filter.
    ///
    /// # Errors
    /// If it is not.
    pub fn membership(&self) -> Result<&dyn Membership> {
        let family = self.family();
        self.answers_membership().ok_or_else(|| Error::unsupported(Capability::Membership, family))
    }

    /// Returns the sketch as a filter that can be added to.
    ///
    /// # Errors
    /// If it is not.
    pub fn membership_mut(&mut self) -> Result<&mut dyn Membership> {
        let family = self.family();
        self.answers_membership_mut().ok_or_else(|| Error::unsupported(Capability::Membership, family))
    }

    /// Returns an object that answers how often single keys occurred.
    ///
    /// # Errors
    /// If it is not.
    pub fn frequency(&self) -> Result<Box<dyn Frequency + '_>> {
        let family = self.family();
        self.answers_frequency().ok_or_else(|| Error::unsupported(Capability::Frequency, family))
    }

    /// Returns the sketch as one that lists the most frequent keys.
    ///
    /// # Errors
    /// If it is not.
    pub fn top(&self) -> Result<&dyn Top> {
        let family = self.family();
        self.answers_top().ok_or_else(|| Error::unsupported(Capability::Top, family))
    }

    /// Returns the sketch as a counter of different keys.
    ///
    /// # Errors
    /// If it is not.
    pub fn cardinality(&self) -> Result<&dyn Cardinality> {
        let family = self.family();
        self.answers_cardinality().ok_or_else(|| Error::unsupported(Capability::Cardinality, family))
    }

    /// Returns the sketch as one that answers quantiles.
    ///
    /// # Errors
    /// If it is not.
    pub fn quantiles(&self) -> Result<&dyn Quantiles> {
        let family = self.family();
        self.answers_quantiles().ok_or_else(|| Error::unsupported(Capability::Quantiles, family))
    }

    /// Returns the sketch as a sample.
    ///
    /// # Errors
    /// If it is not.
    pub fn samples(&self) -> Result<&dyn Sample> {
        let family = self.family();
        self.answers_samples().ok_or_else(|| Error::unsupported(Capability::Samples, family))
    }
}

impl Sketch for AnySketch {
    fn family(&self) -> Family {
        self.as_sketch().family()
    }

    fn scheme(&self) -> KeyScheme {
        self.as_sketch().scheme()
    }

    fn parameters(&self) -> Parameters {
        self.as_sketch().parameters()
    }

    fn is_empty(&self) -> bool {
        self.as_sketch().is_empty()
    }

    fn memory(&self) -> usize {
        self.as_sketch().memory()
    }

    fn full_memory(&self) -> usize {
        self.as_sketch().full_memory()
    }

    fn summary(&self) -> Summary {
        self.as_sketch().summary()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.as_sketch().to_bytes()
    }

    fn takes_hashes(&mut self) -> Option<&mut dyn InsertHashes> {
        self.as_sketch_mut().takes_hashes()
    }

    fn takes_keys(&mut self) -> Option<&mut dyn InsertKeys> {
        self.as_sketch_mut().takes_keys()
    }

    fn takes_weights(&mut self) -> Option<&mut dyn AddWeights> {
        self.as_sketch_mut().takes_weights()
    }

    fn takes_numbers(&mut self) -> Option<&mut dyn InsertNumbers> {
        self.as_sketch_mut().takes_numbers()
    }

    fn counts_events(&mut self) -> Option<&mut dyn CountEvents> {
        self.as_sketch_mut().counts_events()
    }

    fn answers_membership(&self) -> Option<&dyn Membership> {
        self.as_sketch().answers_membership()
    }

    fn answers_membership_mut(&mut self) -> Option<&mut dyn Membership> {
        self.as_sketch_mut().answers_membership_mut()
    }

    fn answers_frequency(&self) -> Option<Box<dyn Frequency + '_>> {
        self.as_sketch().answers_frequency()
    }

    fn answers_top(&self) -> Option<&dyn Top> {
        self.as_sketch().answers_top()
    }

    fn answers_cardinality(&self) -> Option<&dyn Cardinality> {
        self.as_sketch().answers_cardinality()
    }

    fn answers_quantiles(&self) -> Option<&dyn Quantiles> {
        self.as_sketch().answers_quantiles()
    }

    fn answers_samples(&self) -> Option<&dyn Sample> {
        self.as_sketch().answers_samples()
    }
}

/// Takes batches if the sketch inside does. Otherwise every batch is an error.
impl InsertKeys for AnySketch {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.keys_mut()?.insert_batch(batch)
    }
}
