//! The sizes of a profile's parts.

use crate::distinct::UltraLogLog;
use crate::error::{Error, Result};
use crate::frequency::HeavyHitters;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::DDSketch;
use crate::sampling::Reservoir;

/// The sizes of a profile's parts. Profiles can be merged only if their sizes are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileConfig {
    /// The precision of the [`UltraLogLog`] that counts different values.
    pub precision: u8,
    /// The number of counters for the most frequent values ([`HeavyHitters`]).
    pub counters: u32,
    /// The number of values in the sample ([`Reservoir`]).
    pub sample: u32,
    /// The relative error of quantiles ([`DDSketch`]).
    pub accuracy: f64,
    /// The number of bins for quantiles. If they need more, the relative error grows.
    pub bins: u32,
    /// The number of bytes of a value, 8 to 4096, that the sample and the first and last text keep.
    /// Longer values are not counted among the most frequent ones.
    pub longest: u32,
}

/// Counts different values to 1.2 %, finds every value above 0.2 % of all, samples 100 values, and
/// has quantiles to 1 %, in less than 300 KiB.
impl Default for ProfileConfig {
    fn default() -> Self {
        Self { precision: 12, counters: 666, sample: 100, accuracy: 0.01, bins: 2048, longest: 128 }
    }
}

impl ProfileConfig {
    /// The least memory limit that [`for_memory`](Self::for_memory) accepts.
    pub const LEAST_MEMORY: usize = 16 << 10;

    /// Returns the largest useful sizes whose parts together take at most `bytes`.
    ///
    /// # Errors
    /// If `bytes` is less than [`LEAST_MEMORY`](Self::LEAST_MEMORY).
    ///
    /// ```
    /// use crivo::profile::ProfileConfig;
    /// let config = ProfileConfig::for_memory(1 << 20)?;
    /// assert!(config.most_memory() <= 1 << 20 && config.precision == 16);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn for_memory(bytes: usize) -> Result<Self> {
        if bytes < Self::LEAST_MEMORY {
            let least = format_args!("at least {} bytes", Self::LEAST_MEMORY).to_string();
            return Err(Error::parameter("memory", least, bytes));
        }
        let longest = (bytes >> 11).clamp(32, 256);
        // An eighth each for different values and for the sample, and a quarter for quantiles. What
        // the fixed parts leave of the rest is for the most frequent values, which gain most from
        // memory.
        let precision = (bytes / 8).ilog2().clamp(4, 16) as u8;
        let sample = (bytes / 8 / sample_memory(longest)).clamp(1, 1000) as u32;
        let least_bins = *DDSketch::MAX_BINS.start();
        let bins = [4096, 2048, 1024, 512, 256, 128, 64, 32]
            .map(|slots| slots / 4 * 3 - 1)
            .into_iter()
            .find(|&bins| DDSketch::most_memory(bins) <= bytes / 4)
            .unwrap_or(least_bins);
        let mut config =
            Self { precision, counters: 1, sample, accuracy: 0.01, bins, longest: longest as u32 };
        let left = bytes.saturating_sub(config.most_memory());
        config.counters = (1 + left / counter_memory(longest)).min(4096) as u32;
        Ok(config)
    }

    /// Returns the most memory that a profile of these sizes takes, whatever its values are.
    pub fn most_memory(&self) -> usize {
        let Self { precision, counters, sample, bins, longest, .. } = *self;
        let longest = longest as usize;
        2048 + 2 * longest
            + (1 << precision.min(63))
            + (counters as usize).saturating_mul(counter_memory(longest))
            + (sample as usize).saturating_mul(sample_memory(longest))
            + DDSketch::most_memory(bins)
    }

    /// Refuses sizes that a part cannot have.
    pub(super) fn check(&self) -> Result<()> {
        UltraLogLog::new(self.precision)?;
        HeavyHitters::new(self.counters.into())
            .map_err(|error| Error::parameter("counters", error.expected(), error.found()))?;
        Reservoir::new(self.sample.into(), 0)
            .map_err(|error| Error::parameter("sample", error.expected(), error.found()))?;
        DDSketch::new(self.accuracy, self.bins)?;
        if !(8..=HeavyHitters::MAX_KEY_BYTES).contains(&(self.longest as usize)) {
            let allowed = format_args!("8 to {} bytes", HeavyHitters::MAX_KEY_BYTES).to_string();
            return Err(Error::parameter("longest", allowed, self.longest));
        }
        Ok(())
    }

    /// Refuses sizes that differ from these. The error names the first one that differs.
    pub(super) fn require_same(&self, other: &Self) -> Result<()> {
        let advice = "only profiles of the same sizes can be merged";
        let counts = [
            ("precision", self.precision.into(), other.precision.into()),
            ("counters", self.counters, other.counters),
            ("sample", self.sample, other.sample),
            ("bins", self.bins, other.bins),
            ("longest", self.longest, other.longest),
        ];
        if let Some((field, mine, theirs)) = counts.into_iter().find(|(_, mine, theirs)| mine != theirs) {
            return Err(Error::incompatible(field, mine, theirs, advice));
        }
        if self.accuracy != other.accuracy {
            return Err(Error::incompatible("accuracy", self.accuracy, other.accuracy, advice));
        }
        Ok(())
    }
}

/// Returns the most memory that a counter and its text take. The table may be half full, and the
/// array of texts may have gaps.
fn counter_memory(longest: usize) -> usize {
    80 + 2 * longest
}

/// Returns the most memory of a sampled value, in a list that may be half full. It is the same on
/// every machine, because it decides sizes that are stored.
fn sample_memory(longest: usize) -> usize {
    const { assert!(size_of::<Box<[u8]>>() <= 16) };
    2 * 16 + longest
}
