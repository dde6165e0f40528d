//! Any bytes are a time or none; a time is shown so that it is read again, and no length of time is
//! zero.

use crivo_rows::times;

/// Years of four digits, in seconds.
const SHOWN: std::ops::Range<i64> = -62_135_596_800..253_402_300_800;

/// Checks the promise for one input.
pub fn check(bytes: &[u8]) {
    if let Some(seconds) = times::seconds(bytes) {
        assert_eq!(times::milliseconds(bytes).map(|time| time.div_euclid(1000)), Some(seconds));
        if SHOWN.contains(&seconds) {
            assert_eq!(times::seconds(times::shown(seconds).as_bytes()), Some(seconds));
        }
    }
    if let Ok(length) = times::duration(std::str::from_utf8(bytes).unwrap_or_default()) {
        assert!(length > 0 && !times::shown_duration(length).is_empty());
    }
}
