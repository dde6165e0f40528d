//! Senders that the owner of a store has listed: mail of allowed senders is ham, mail of blocked
//! senders is spam.
//!
//! An entry is an address, or a domain with an `@` before it, which also means its subdomains. It
//! is kept in the normal form of a message's sender: in lower case, without what follows a plus,
//! and with its domain in the ASCII form that DNS uses. If several entries fit a sender, the most
//! specific one counts: an address before a domain, a longer domain before a shorter one.
//!
//! Anyone can write any address. So an allowed sender has no effect if trusted hosts do not confirm
//! it.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::message::{canonical, canonical_domain};
use crate::store::{Bytes, Method, put_bytes};

/// The decision of the owner about a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Its mail is ham.
    Allowed,
    /// Its mail is spam.
    Blocked,
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allowed => "allowed",
            Self::Blocked => "blocked",
        })
    }
}

/// Allowed and blocked senders: each entry is one or the other.
///
/// ```
/// use crivo_mail::{Listing, Lists};
///
/// let mut lists = Lists::default();
/// lists.put("@shop.example", Listing::Blocked)?;
/// lists.put("orders@shop.example", Listing::Allowed)?;
/// assert_eq!(lists.of("news@mail.shop.example").map(|(_, listing)| listing), Some(Listing::Blocked));
/// assert_eq!(lists.of("orders@shop.example").map(|(_, listing)| listing), Some(Listing::Allowed));
/// assert_eq!(lists.of("ana@example.org"), None);
/// # Ok::<(), crivo_mail::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lists {
    entries: BTreeMap<String, Listing>,
}

impl Lists {
    /// Adds an entry, or moves it from the other list. Returns true if that changed anything.
    ///
    /// # Errors
    /// If it is neither an address nor an `@` with a domain.
    pub fn put(&mut self, entry: &str, listing: Listing) -> Result<bool> {
        let entry = normal(entry)?;
        Ok(self.entries.insert(entry, listing) != Some(listing))
    }

    /// Removes an entry from a list. Returns true if it was there.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn remove(&mut self, entry: &str, listing: Listing) -> Result<bool> {
        let entry = normal(entry)?;
        let was_there = self.entries.get(&entry) == Some(&listing);
        if was_there {
            self.entries.remove(&entry);
        }
        Ok(was_there)
    }

    /// Returns the entries of a list, in alphabetical order.
    pub fn entries(&self, listing: Listing) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(move |(_, found)| **found == listing).map(|(entry, _)| entry.as_str())
    }

    /// Returns the entry that applies to a sender, and the list it is on.
    pub fn of(&self, sender: &str) -> Option<(&str, Listing)> {
        if self.entries.is_empty() {
            return None;
        }
        let sender = canonical(sender)?;
        let found = |entry: &str| self.entries.get_key_value(entry).map(|(entry, of)| (entry.as_str(), *of));
        if let Some(exact) = found(&sender) {
            return Some(exact);
        }
        let mut domain = &sender[sender.rfind('@')? + 1..];
        loop {
            if let Some(entry) = found(&format!("@{domain}")) {
                return Some(entry);
            }
            domain = domain.split_once('.')?.1;
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut record = Vec::new();
        for (entry, listing) in &self.entries {
            record.push(u8::from(*listing == Listing::Blocked));
            put_bytes(&mut record, entry.as_bytes());
        }
        record
    }

    pub(crate) fn decode(record: &[u8]) -> Option<Self> {
        let (mut bytes, mut lists, mut last) = (Bytes(record), Self::default(), None);
        while !bytes.0.is_empty() {
            let listing = match bytes.array()? {
                [0] => Listing::Allowed,
                [1] => Listing::Blocked,
                _ => return None,
            };
            let stored = std::str::from_utf8(bytes.counted()?).ok()?;
            if !has_form(stored) || last.is_some_and(|last| last >= stored) {
                return None;
            }
            last = Some(stored);
            // Earlier versions stored entries that no sender matches, because they are not in normal
            // form. An entry that was in normal form counts before them.
            match normal_form(stored) {
                Some(entry) if entry == stored => _ = lists.entries.insert(entry, listing),
                Some(entry) => _ = lists.entries.entry(entry).or_insert(listing),
                None => {}
            }
        }
        Some(lists)
    }
}

/// Returns an entry in normal form. Fails if it is neither an address nor an `@` with a domain.
fn normal(entry: &str) -> Result<String> {
    let found = Some(entry.trim()).filter(|entry| has_form(entry)).and_then(normal_form);
    found.ok_or_else(|| {
        Error::Unsuitable(format!(
            "expected an address such as ana@example.org or a domain such as @example.org, found {entry:?}"
        ))
    })
}

/// Returns true if an entry looks like an address or an `@` with a domain.
fn has_form(entry: &str) -> bool {
    let is_plain =
        !entry.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | ','));
    let domain = entry.rsplit_once('@').map(|(_, domain)| domain);
    is_plain && domain.is_some_and(|domain| !domain.is_empty() && !domain.starts_with('.'))
}

/// Returns an entry as senders are written, or `None` if no sender can be written so.
fn normal_form(entry: &str) -> Option<String> {
    match entry.strip_prefix('@') {
        Some(domain) if !domain.contains('@') => Some(format!("@{}", canonical_domain(domain)?)),
        _ => canonical(entry),
    }
}

impl Filter {
    /// Returns the allowed and the blocked senders.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn lists(&self) -> Result<Lists> {
        self.with_store(crate::store::Store::lists)
    }

    /// Changes the lists in one transaction. What `change` does is stored unless it fails.
    ///
    /// # Errors
    /// If `change` fails, the store has the classic method, or the store cannot be written. Then
    /// nothing changes.
    pub fn change_lists<T>(&self, change: impl FnOnce(&mut Lists) -> Result<T>) -> Result<T> {
        if self.method() == Method::Classic {
            return Err(Error::Unsuitable(
                "the store has the method classic, which judges by similarity alone: it has no lists".into(),
            ));
        }
        self.write(|store| Ok((store.update_lists(change)?, true)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_most_specific_entry_counts() {
        let mut lists = Lists::default();
        for (entry, listing) in [
            ("@example.org", Listing::Blocked),
            ("@good.example.org", Listing::Allowed),
            (" Ana@Example.org ", Listing::Allowed),
        ] {
            assert!(lists.put(entry, listing).unwrap());
            assert!(!lists.put(entry, listing).unwrap());
        }
        for (sender, expected) in [
            ("ANA@example.org", Some(Listing::Allowed)),
            ("bob@example.org", Some(Listing::Blocked)),
            ("ana@bad.example.org", Some(Listing::Blocked)),
            ("bob@very.good.example.org", Some(Listing::Allowed)),
            ("bob@notexample.org", None),
            ("bob@org", None),
            ("nothing", None),
            ("", None),
        ] {
            assert_eq!(lists.of(sender).map(|(_, listing)| listing), expected, "{sender}");
        }
        assert!(!lists.remove("@example.org", Listing::Allowed).unwrap());
        assert!(lists.remove("@example.org", Listing::Blocked).unwrap());
        assert_eq!(lists.of("bob@example.org"), None);
    }

    /// Returns the sender of a message with this `From`.
    fn sender(from: &str) -> String {
        let message = format!("From: {from}\n\nhi\n");
        crate::message::Message::read(message.as_bytes()).sender.unwrap()
    }

    #[test]
    fn entries_and_senders_have_the_same_normal_form() {
        for (entry, from) in [
            ("news+tag@shop.example", "news+tag@shop.example"),
            ("news+tag@shop.example", "News <news+other@shop.example>"),
            ("ana@bücher.example", "Ana <ana@xn--bcher-kva.example>"),
            ("ana@bücher.example", "Ana <ana@bücher.example>"),
            ("@bücher.example", "Ana <ana@mail.bücher.example>"),
            ("@xn--bcher-kva.example", "Ana <ana@BÜCHER.example>"),
            ("ÄNNE@example.org", "Änne <änne@example.org>"),
            ("ana@example.org.", "ana@example.org"),
        ] {
            let mut lists = Lists::default();
            lists.put(entry, Listing::Blocked).unwrap();
            let sender = sender(from);
            assert_eq!(
                lists.of(&sender).map(|(_, listing)| listing),
                Some(Listing::Blocked),
                "{entry} {from}"
            );
        }
        let mut lists = Lists::default();
        assert!(lists.put("+tag@example.org", Listing::Blocked).is_err());
    }

    #[test]
    fn stored_entries_of_earlier_versions_are_converted() {
        let old = [
            ("+tag@example.org", Listing::Blocked),
            ("ana+shop@example.org", Listing::Blocked),
            ("ana@example.org", Listing::Allowed),
            ("bob+shop@example.org", Listing::Blocked),
            ("zoë@bücher.example", Listing::Allowed),
        ];
        let stored = Lists { entries: old.map(|(entry, listing)| (entry.to_owned(), listing)).into() };
        let lists = Lists::decode(&stored.encode()).unwrap();
        let found = |listing| lists.entries(listing).collect::<Vec<_>>();
        assert_eq!(found(Listing::Allowed), ["ana@example.org", "zoë@xn--bcher-kva.example"]);
        assert_eq!(found(Listing::Blocked), ["bob@example.org"]);
        assert_eq!(Lists::decode(&lists.encode()), Some(lists.clone()));
    }

    #[test]
    fn what_is_no_sender_is_refused() {
        let mut lists = Lists::default();
        for entry in ["", "ana", "ana@", "@", "a b@c.d", "<ana@example.org>", "a@b,c@d", "a@.org", "a\n@b"] {
            assert!(lists.put(entry, Listing::Blocked).is_err(), "{entry:?}");
        }
    }

    proptest! {
        #[test]
        fn lists_come_back_and_other_bytes_are_refused(
            entries in prop::collection::btree_map("[a-z]{0,3}@[a-z]{1,3}\\.org", any::<bool>(), 0..9),
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut lists = Lists::default();
            for (entry, is_blocked) in &entries {
                lists.put(entry, if *is_blocked { Listing::Blocked } else { Listing::Allowed }).unwrap();
            }
            prop_assert_eq!(Lists::decode(&lists.encode()), Some(lists));
            if let Some(found) = Lists::decode(&bytes) {
                prop_assert_eq!(Lists::decode(&found.encode()), Some(found));
            }
        }
    }
}
