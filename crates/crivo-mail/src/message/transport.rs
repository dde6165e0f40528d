//! Which route did a message take?
//!
//! Each server adds a `Received` line, the last one on top. The hosts named there, the domain that
//! made the `Message-ID` and the domain that errors go to tell senders apart that write the same
//! words. The mere presence of such headers says nothing: all mail that arrives has them, and mail
//! from a folder of sent messages has none.

use super::head::Head;
use super::shortened;

/// The number of `Received` lines that are read, from the top.
const STEPS: usize = 8;

/// The longest host name that counts.
const LONG_HOST: usize = 100;

/// Returns facts about the transport headers, each once, ascending. Returns none if the message has
/// no `Received` line.
pub(super) fn facts(head: Head<'_>, sender: Option<&str>) -> Vec<String> {
    let mut facts = Vec::new();
    for value in head.values("received").take(STEPS) {
        facts.push("received".to_owned());
        let value = String::from_utf8_lossy(value);
        let words: Vec<&str> = value.split_whitespace().take(12).collect();
        for pair in words.windows(2) {
            if let ("from" | "by", Some(domain)) = (pair[0], domain_of(pair[1])) {
                facts.push(format!("received {} {domain}", pair[0]));
            }
        }
        // The name in parentheses that the receiving server found for the address.
        let found = words.get(2).and_then(|word| word.strip_prefix('('));
        match found.map(|word| word.trim_end_matches(')')) {
            Some(address) if address.starts_with('[') || address == "unknown" => {
                facts.push("received from an address without a name".into());
            }
            Some(name) => facts.extend(domain_of(name).map(|domain| format!("received from {domain}"))),
            None => {}
        }
    }
    let sender_domain =
        sender.and_then(|sender| sender.rsplit_once('@')).and_then(|(_, host)| domain_of(host));
    for (header, called) in [("message-id", "message made at"), ("return-path", "errors go to")] {
        let value = String::from_utf8_lossy(head.value(header));
        let Some((_, host)) = value.trim().rsplit_once('@') else { continue };
        let Some(domain) = domain_of(host.trim_end_matches('>')) else { continue };
        if let Some(sender_domain) = &sender_domain {
            let same = if *sender_domain == domain {
                "the sender's domain"
            } else {
                "another domain than the sender's"
            };
            facts.push(format!("{called} {same}"));
        }
        facts.push(format!("{called} {domain}"));
    }
    if !facts.iter().any(|fact| fact == "received") {
        return Vec::new();
    }
    facts.extend(super::values::recipients(head));
    facts.sort_unstable();
    facts.dedup();
    facts
}

/// Returns the last two labels of a host name, in lower case. Returns `None` if it is an IPv4
/// address or not a name.
pub(super) fn domain_of(host: &str) -> Option<String> {
    let host = shortened(host, LONG_HOST).trim_matches(['.', ';', ',', '[', ']', '(', ')', '<', '>']);
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if host.is_empty() || !host.chars().all(fits) || host.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let labels: Vec<&str> = host.rsplit('.').take(2).collect();
    Some(labels.into_iter().rev().collect::<Vec<_>>().join(".").to_lowercase())
}

#[cfg(test)]
mod tests {
    use crate::Message;

    fn facts(message: &str) -> Vec<String> {
        Message::read(message.as_bytes()).transport
    }

    #[test]
    fn hosts_on_the_way_and_domains_are_facts() {
        let message = "Return-Path: <bounce@mail.shop.example>\nReceived: from www (mx1.relay.example [10.0.0.1]) by mx.home.example\n\
                       \twith ESMTP; Thu, 6 Jun 2002 07:17:38 +0900\nReceived: from localhost (unknown [10.0.0.2]) by www\n\
                       Message-ID: <1@shop.example>\nFrom: a@shop.example\n\nbody\n";
        let found = facts(message);
        for fact in [
            "received from relay.example",
            "received by home.example",
            "received from an address without a name",
            "message made at shop.example",
            "message made at the sender's domain",
            "errors go to shop.example",
        ] {
            assert!(found.iter().any(|other| other == fact), "{fact} in {found:?}");
        }
    }

    #[test]
    fn mail_that_never_travelled_has_no_transport() {
        assert_eq!(facts("From: a@b.example\nMessage-ID: <1@b.example>\n\nbody\n"), [""; 0]);
    }

    #[test]
    fn any_line_is_read() {
        for line in ["", "from", "from (", "from a (", "by", "from [] ([])", "from \u{200b} (\u{200b}"] {
            facts(&format!("Received: {line}\nMessage-ID: @\nReturn-Path: <>\n\nx"));
        }
    }
}
