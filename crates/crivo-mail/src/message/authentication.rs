//! Is the sender who the message says? The findings of a trusted host: SPF, DKIM and DMARC (RFC
//! 8601).
//!
//! ```text
//! Authentication-Results: mx.example.org;
//!     spf=pass smtp.mailfrom=shop.example; dkim=pass header.d=shop.example; dmarc=pass header.from=shop.example
//! ```
//!
//! Anyone can write such a header, so only headers of hosts that the administrator names count. A
//! trusted host adds its header near the top and has to remove forged ones of its own name (RFC
//! 8601, section 5). As a second guard only the headers of one hop count: the uppermost of a
//! trusted host, and others before the next `Received` line.
//!
//! A result authenticates the sender if it is about the domain of the `From` address (DMARC's
//! relaxed alignment), because SPF and DKIM also pass for spam that is sent from a domain of its
//! own.

use super::head::Head;
use super::shortened;

/// The most headers that are kept, and the number of bytes that are kept of each.
const HEADERS: usize = 8;
const LONG_HEADER: usize = 2000;

/// The most `Received` lines that may stand above the header of a trusted host.
const HOPS: usize = 4;

/// An `Authentication-Results` header of a message, written by any host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthenticationHeader {
    /// The number of `Received` lines above it.
    pub hops: usize,
    /// The text behind the colon.
    pub value: String,
}

/// What trusted hosts say about a message's sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication {
    /// The domain of the sender has sent the message.
    Passed,
    /// The domain of the sender says that it has not (DMARC fails).
    Failed,
    /// Neither is known.
    Unknown,
}

/// Returns the `Authentication-Results` headers of a message, from the top.
pub(super) fn headers(head: Head<'_>) -> Vec<AuthenticationHeader> {
    let mut hops = 0;
    let mut found = Vec::new();
    for (name, value) in head.headers() {
        if name.eq_ignore_ascii_case(b"received") {
            hops += 1;
        } else if name.eq_ignore_ascii_case(b"authentication-results") && hops <= HOPS {
            let value = String::from_utf8_lossy(value);
            found.push(AuthenticationHeader { hops, value: shortened(&value, LONG_HEADER).to_owned() });
        }
        if hops > HOPS || found.len() == HEADERS {
            break;
        }
    }
    found
}

/// Returns what trusted hosts say about the sender of a message, or `None` if they say nothing.
///
/// ```
/// use crivo_mail::{Authentication, Message, authentication};
///
/// let message = Message::read(
///     b"Authentication-Results: mx.example.org; dkim=pass header.d=shop.example\nFrom: a@shop.example\n\nhi\n",
/// );
/// let by = |host: &str| authentication(&message, &[host.to_owned()]);
/// assert_eq!(by("mx.example.org"), Some(Authentication::Passed));
/// assert_eq!(by("mx.other.example"), None);
/// ```
pub fn authentication(message: &super::Message, trusted_hosts: &[String]) -> Option<Authentication> {
    let of_trusted = message.authentication.iter().filter_map(|header| {
        let plain = without_comments(&header.value);
        let (host, results) = plain.split_once(';').unwrap_or((&plain, ""));
        let host = host.split_whitespace().next()?.trim_matches('"');
        let is_trusted = trusted_hosts.iter().any(|trusted| trusted.eq_ignore_ascii_case(host));
        is_trusted.then(|| (header.hops, results.to_ascii_lowercase()))
    });
    let of_trusted: Vec<(usize, String)> = of_trusted.collect();
    let (hops, _) = of_trusted.first()?;
    let domain =
        message.sender.as_deref().and_then(|sender| sender.rsplit_once('@')).map(|(_, domain)| domain);
    let mut found = Authentication::Unknown;
    let mut methods_seen: Vec<String> = Vec::new();
    for (_, results) in of_trusted.iter().filter(|(other, _)| other == hops) {
        // Within a header a method may have several results, such as one for each signature. Of
        // several headers, the first one with the method counts.
        let mut methods_here = Vec::new();
        for result in results.split(';') {
            let mut words = result.split_whitespace();
            let Some((method, outcome)) = words.next().and_then(|word| word.split_once('=')) else {
                continue;
            };
            let method = method.split('/').next().unwrap_or(method);
            if methods_seen.iter().any(|seen| seen == method) {
                continue;
            }
            methods_here.push(method.to_owned());
            let about = |property: &str| {
                words.clone().find_map(|word| word.split_once('=').filter(|(name, _)| *name == property))
            };
            let is_aligned = |property: &str| {
                about(property).zip(domain).is_some_and(|((_, value), domain)| are_aligned(value, domain))
            };
            match (method, outcome) {
                // DMARC is about the domain of the sender by itself.
                ("dmarc", "pass") => found = Authentication::Passed,
                ("dmarc", "fail") => return Some(Authentication::Failed),
                ("dkim", "pass") if is_aligned("header.d") || is_aligned("header.i") => {
                    found = Authentication::Passed;
                }
                ("spf", "pass") if is_aligned("smtp.mailfrom") => found = Authentication::Passed,
                _ => {}
            }
        }
        methods_seen.append(&mut methods_here);
    }
    Some(found)
}

/// Returns true if an address or a domain belongs to the sender's domain, or the other way round.
fn are_aligned(value: &str, domain: &str) -> bool {
    let value = value.trim_matches('"').rsplit('@').next().unwrap_or_default().trim_end_matches('.');
    let is_below = |below: &str, above: &str| {
        above.contains('.')
            && below.strip_suffix(above).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    is_below(value, domain) || is_below(domain, value)
}

/// Returns the value without comments in parentheses, which may stand anywhere and may be nested.
fn without_comments(value: &str) -> String {
    let (mut depth, mut is_quoted, mut is_escaped) = (0_u32, false, false);
    let mut plain = String::with_capacity(value.len());
    for character in value.chars() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match character {
            '\\' => is_escaped = true,
            '"' if depth == 0 => {
                is_quoted = !is_quoted;
                plain.push('"');
            }
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted && depth > 0 => depth -= 1,
            // A quoted character cannot begin another result.
            ';' | '=' if is_quoted => plain.push(' '),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::super::Message;
    use super::*;

    const US: &str = "mx.home.example";

    fn of(head: &str) -> Option<Authentication> {
        let message = format!("{head}\nFrom: Ana <ana@shop.example>\n\nhi\n");
        authentication(&Message::read(message.as_bytes()), &[US.to_owned()])
    }

    #[test]
    fn results_about_the_domain_of_the_sender_count() {
        use Authentication::{Failed, Passed, Unknown};
        for (results, expected) in [
            ("dmarc=pass header.from=shop.example", Passed),
            ("dkim=pass header.d=shop.example", Passed),
            ("dkim=pass header.i=@news.shop.example", Passed),
            ("dkim=fail header.d=shop.example; dkim=pass header.d=shop.example", Passed),
            ("spf=pass smtp.mailfrom=bounce@mail.shop.example", Passed),
            ("SPF=PASS (all good; dmarc=fail) SMTP.mailfrom=shop.example", Passed),
            ("dkim=pass header.d=spammer.example; spf=pass smtp.mailfrom=spammer.example", Unknown),
            ("dkim=pass header.d=notshop.example", Unknown),
            ("dkim=pass header.d=example", Unknown),
            ("spf=softfail smtp.mailfrom=shop.example", Unknown),
            ("none", Unknown),
            ("dkim=pass header.d=shop.example; dmarc=fail header.from=shop.example", Failed),
            ("dmarc=none reason=\"x; dmarc=pass\"", Unknown),
        ] {
            assert_eq!(of(&format!("Authentication-Results: {US}; {results}")), Some(expected), "{results}");
        }
        assert_eq!(of(&format!("Authentication-Results: \"{US}\" 1;\n\tdmarc=pass")), Some(Passed));
    }

    #[test]
    fn other_hosts_and_forged_headers_say_nothing() {
        assert_eq!(of("Subject: x"), None);
        assert_eq!(of("Authentication-Results: mx.evil.example; dmarc=pass"), None);
        assert_eq!(of(&format!("Authentication-Results: {US}.evil.example; dmarc=pass")), None);
        // Below the header of the trusted host, and beyond its hop.
        let forged = format!("Received: by x\nAuthentication-Results: {US}; dmarc=pass");
        let head = format!("Authentication-Results: {US}; spf=none\n{forged}");
        assert_eq!(of(&head), Some(Authentication::Unknown));
        let head =
            format!("Authentication-Results: {US}; dmarc=none\nAuthentication-Results: {US}; dmarc=pass");
        assert_eq!(of(&head), Some(Authentication::Unknown), "the uppermost result of a method counts");
        assert_eq!(
            of(&format!("{}Authentication-Results: {US}; dmarc=pass", "Received: by x\n".repeat(5))),
            None
        );
    }

    #[test]
    fn any_value_is_read() {
        for value in
            ["", ";", ";;=", "(", ")", "\"", "\\", "((((", "mx.home.example; =; a=; =b", "\u{fffd};x=y"]
        {
            of(&format!("Authentication-Results: {value}"));
        }
    }
}
