//! Where do the links of a text lead?

use memchr::{memchr2_iter, memmem};

/// Returns the hosts of the URLs in a text, in lower case.
pub(super) fn hosts(text: &str) -> impl Iterator<Item = String> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += memmem::find(&bytes[at..], b"://")? + 3;
            let rest = &bytes[at..];
            let end = rest
                .iter()
                .take(256)
                .position(|byte| {
                    !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'@' | b'%'))
                })
                .unwrap_or(rest.len().min(256));
            // The part before an at-sign is a user name, which is used as a disguise.
            let host = rest[..end].rsplit(|&byte| byte == b'@').next().unwrap_or_default();
            if host.contains(&b'.') {
                let host = String::from_utf8_lossy(host).to_ascii_lowercase();
                return Some(host.trim_matches('.').trim_start_matches("www.").to_owned());
            }
        }
    })
}

/// Returns true if bytes contain the needle in any case. The needle must be in lower case.
pub(super) fn contains_ignoring_case(bytes: &[u8], needle: &[u8]) -> bool {
    places(bytes, needle).next().is_some()
}

/// Returns how often bytes contain the needle in any case. The needle must be in lower case.
pub(super) fn count_ignoring_case(bytes: &[u8], needle: &[u8]) -> usize {
    places(bytes, needle).count()
}

fn places<'a>(bytes: &'a [u8], needle: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let first = needle.first().copied().unwrap_or_default();
    memchr2_iter(first, first.to_ascii_uppercase(), bytes)
        .filter(|&at| bytes[at..].get(..needle.len()).is_some_and(|found| found.eq_ignore_ascii_case(needle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_text_and_pages_and_behind_disguises() {
        let text = "see HTTP://WWW.Example.org/x and <a href='https://bank.example@10.0.0.1:80/'> http://no";
        assert_eq!(hosts(text).collect::<Vec<_>>(), ["example.org", "10.0.0.1"]);
        assert_eq!(hosts("://").count() + hosts("a://").count() + hosts("").count(), 0);
    }
}
