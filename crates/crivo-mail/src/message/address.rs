//! Who wrote a message? Its sender's address in one normal form.
//!
//! `Ana <ANA@Example.org>`, `"ana"@example.org` and `ana(at work)@example.org` are the same sender,
//! and so are `ana@bücher.example` and `ana@xn--bcher-kva.example`: what was learned about one has
//! to hold for the others. The normal form is in lower case, without what follows a plus. Its
//! domain is in the ASCII form that DNS uses.

use std::borrow::Cow;

use mail_parser::Address;

use super::SHORT_TEXT;

/// The number of bytes of a header that are searched for an address.
const SEARCHED: usize = 8 << 10;

/// Stands for a blank inside of quotes, which does not end an address.
const QUOTED_BLANK: char = '\u{1}';

/// Returns the first address of a list.
pub(super) fn first(list: &Address<'_>) -> Option<String> {
    list.iter().filter_map(|address| address.address()).find_map(canonical)
}

/// Returns the first address of a header that is not decoded. For forms that the parser does not
/// know: quoted names, and comments inside of an address.
pub(super) fn in_header(value: &[u8]) -> Option<String> {
    let value = String::from_utf8_lossy(&value[..value.len().min(SEARCHED)]);
    let plain = without_quotes_and_comments(&value);
    plain.split(',').find_map(|mailbox| {
        let address = if let Some((_, after)) = mailbox.split_once('<') {
            after.split('>').next().unwrap_or_default().to_owned()
        } else {
            // Blanks may stand around the at-sign.
            let joined = mailbox.split('@').map(str::trim).collect::<Vec<_>>().join("@");
            joined.split_whitespace().find(|word| word.contains('@'))?.to_owned()
        };
        canonical(&address.replace(QUOTED_BLANK, " "))
    })
}

fn without_quotes_and_comments(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for c in value.chars() {
        let is_escaped = std::mem::take(&mut escaped);
        match c {
            '\\' if !is_escaped && (quoted || depth > 0) => escaped = true,
            '"' if !is_escaped && depth == 0 => quoted = !quoted,
            '(' if !is_escaped && !quoted => depth += 1,
            ')' if !is_escaped && depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            c if quoted && c.is_whitespace() => plain.push(QUOTED_BLANK),
            // Inside of quotes these do not separate addresses.
            ',' | '<' | '>' if quoted => {}
            c => plain.push(c),
        }
    }
    plain
}

/// Returns an address in its normal form, or `None` if it is not an address.
pub(crate) fn canonical(address: &str) -> Option<String> {
    let address = address.trim().trim_matches(['<', '>', '"', '\'']);
    let (local, domain) = address.rsplit_once('@')?;
    let local = local.trim().trim_matches('"').split('+').next().unwrap_or_default();
    if local.is_empty() || address.len() > SHORT_TEXT {
        return None;
    }
    let domain = canonical_domain(domain)?;
    Some(format!("{}@{domain}", local.to_lowercase()))
}

/// Returns a domain in its normal form, or `None` if it is empty.
pub(crate) fn canonical_domain(domain: &str) -> Option<String> {
    let domain = domain.trim().trim_end_matches('.');
    if domain.is_empty() {
        return None;
    }
    let ascii = if domain.is_ascii() { None } else { idna::domain_to_ascii(domain).ok() };
    Some(ascii.map_or(Cow::Borrowed(domain), Cow::Owned).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_behind_quotes_comments_and_blanks() {
        for value in [
            "\"ana\"@example.org",
            "ana(at (my) work)@example.org",
            "ana @ example.org (Ana)",
            "\"Ana, (the \\\" one\" <ana@example.org>",
            "(nobody@example.com) ana@example.org",
            "nobody, <ana@example.org>",
            "\"x <y@example.com>\" <ana@example.org>",
        ] {
            assert_eq!(in_header(value.as_bytes()).as_deref(), Some("ana@example.org"), "{value}");
        }
        assert_eq!(in_header(b"\"ana b\"@example.org").as_deref(), Some("ana b@example.org"));
        for value in ["", "nobody", "(ana@example.org)", "\"ana\"", "<>", "((((", "\"\\"] {
            assert_eq!(in_header(value.as_bytes()), None, "{value}");
        }
    }
}
