//! Sizes of memory in options.

/// Parses a size in bytes: `512M`, `2G`, `100000`.
pub(crate) fn memory_size(text: &str) -> Result<u64, String> {
    let wrong = || "expected a size such as 512M or 2G".to_string();
    let trimmed = text.trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (digits, scale) = match trimmed.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&trimmed[..at], 10),
        Some((at, 'm' | 'M')) => (&trimmed[..at], 20),
        Some((at, 'g' | 'G')) => (&trimmed[..at], 30),
        Some((at, 't' | 'T')) => (&trimmed[..at], 40),
        _ => (trimmed, 0),
    };
    let number: f64 = digits.trim_end().parse().map_err(|_| wrong())?;
    let bytes = number * (1_u64 << scale) as f64;
    if (0.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_1024() {
        for (text, bytes) in
            [("0", 0), ("100", 100), ("1k", 1024), ("256M", 256 << 20), ("1.5GiB", 3 << 29), ("2GB", 2 << 30)]
        {
            assert_eq!(memory_size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "M", "-1M", "1X", "nan", "inf", "1e30"] {
            assert!(memory_size(wrong).is_err(), "{wrong}");
        }
    }
}
