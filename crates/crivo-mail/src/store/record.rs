//! The stored record of a message.

use xxhash_rust::xxh3::xxh3_64;

use crate::label::Label;

/// A label on a message, and the time it was put there, in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) label: Label,
    pub(crate) time: i64,
}

/// The stored data of a message, except its features.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Learnt {
    /// At least one mark, at most one of them spam or ham, sorted by label.
    pub(crate) marks: Vec<Mark>,
    pub(crate) sender: Option<String>,
    /// The beginning of the subject, to show which message it is.
    pub(crate) subject: String,
    /// The signature of the store's method; empty if there is none.
    pub(crate) signature: Vec<u8>,
}

impl Learnt {
    /// Returns true for spam and false for ham. Returns `None` if the message has only the user's
    /// own labels.
    pub(crate) fn is_spam(&self) -> Option<bool> {
        self.marks.iter().find_map(|mark| match mark.label {
            Label::Spam => Some(true),
            Label::Ham => Some(false),
            Label::Named(_) => None,
        })
    }

    pub(crate) fn has(&self, label: &Label) -> bool {
        self.marks.iter().any(|mark| mark.label == *label)
    }

    /// Returns when the message was learned as spam or ham, or else when it got its first label.
    pub(crate) fn time(&self) -> i64 {
        let class = self.marks.iter().find(|mark| mark.label.is_class());
        class.or_else(|| self.marks.iter().min_by_key(|mark| mark.time)).map_or(0, |mark| mark.time)
    }

    /// Returns a hash of the fingerprint and the marks. The sum of the hashes of all messages tells
    /// if one is missing.
    pub(crate) fn digest(&self, fingerprint: u64) -> u64 {
        let mut bytes = fingerprint.to_le_bytes().to_vec();
        self.encode_marks(&mut bytes);
        xxh3_64(&bytes)
    }

    fn encode_marks(&self, record: &mut Vec<u8>) {
        record.extend_from_slice(&(self.marks.len() as u16).to_le_bytes());
        for mark in &self.marks {
            let (kind, name) = match &mark.label {
                Label::Spam => (0, ""),
                Label::Ham => (1, ""),
                Label::Named(name) => (2, name.as_str()),
            };
            record.push(kind);
            put_bytes(record, name.as_bytes());
            record.extend_from_slice(&mark.time.to_le_bytes());
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut record = Vec::with_capacity(64 + self.signature.len() + self.subject.len());
        self.encode_marks(&mut record);
        record.push(u8::from(self.sender.is_some()));
        put_bytes(&mut record, self.sender.as_deref().unwrap_or_default().as_bytes());
        put_bytes(&mut record, self.subject.as_bytes());
        put_bytes(&mut record, &self.signature);
        record
    }

    pub(crate) fn decode(record: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(record);
        let count = u16::from_le_bytes(bytes.array()?);
        let mut marks = Vec::new();
        for _ in 0..count {
            let [kind] = bytes.array()?;
            let name = std::str::from_utf8(bytes.counted()?).ok()?;
            let label = match kind {
                0 => Label::Spam,
                1 => Label::Ham,
                2 => Label::named(name).ok()?,
                _ => return None,
            };
            marks.push(Mark { label, time: i64::from_le_bytes(bytes.array()?) });
        }
        let [has_sender] = bytes.array()?;
        let sender = String::from_utf8(bytes.counted()?.to_vec()).ok()?;
        let subject = String::from_utf8(bytes.counted()?.to_vec()).ok()?;
        let signature = bytes.counted()?.to_vec();
        let learnt = Self { marks, sender: (has_sender == 1).then_some(sender), subject, signature };
        (bytes.0.is_empty() && learnt.is_valid()).then_some(learnt)
    }

    /// Returns true if the record could have been written: at least one mark, each label once, in
    /// ascending order, and at most one of spam and ham.
    fn is_valid(&self) -> bool {
        !self.marks.is_empty()
            && self.marks.is_sorted_by(|a, b| a.label < b.label)
            && self.marks.iter().filter(|mark| mark.label.is_class()).count() <= 1
    }
}

/// Marks as sets.
impl Learnt {
    /// Returns the record with one more label. Spam and ham replace each other.
    pub(crate) fn marked(mut self, label: &Label, time: i64) -> Self {
        if !self.has(label) {
            self.marks.retain(|mark| !(label.is_class() && mark.label.is_class()));
            self.marks.push(Mark { label: label.clone(), time });
            self.marks.sort_unstable();
        }
        self
    }

    /// Returns the record without a label, or without all labels. Returns `None` if no label is
    /// left.
    pub(crate) fn unmarked(mut self, label: Option<&Label>) -> Option<Self> {
        match label {
            Some(label) => self.marks.retain(|mark| mark.label != *label),
            None => self.marks.clear(),
        }
        (!self.marks.is_empty()).then_some(self)
    }

    /// Returns the record without marks that are older. Returns `None` if no mark is left.
    pub(crate) fn since(mut self, time: i64) -> Option<Self> {
        self.marks.retain(|mark| mark.time >= time);
        (!self.marks.is_empty()).then_some(self)
    }

    /// Returns the record with the marks of both: of equal labels the later one, and of spam and
    /// ham the later one.
    pub(crate) fn joined(mut self, other: &Self) -> Self {
        self.marks.extend(other.marks.iter().cloned());
        let latest = self
            .marks
            .iter()
            .filter(|mark| mark.label.is_class())
            .max_by_key(|mark| (mark.time, mark.label.clone()));
        if let Some(class) = latest.map(|mark| mark.label.clone()) {
            self.marks.retain(|mark| !mark.label.is_class() || mark.label == class);
        }
        // Of equal labels the latest comes first, and only the first stays.
        self.marks.sort_unstable_by(|a, b| a.label.cmp(&b.label).then(b.time.cmp(&a.time)));
        self.marks.dedup_by(|later, kept| later.label == kept.label);
        if other.content() > self.content() {
            self = self.with_content_of(other.clone());
        }
        self
    }

    /// Returns the record with what another reading of the message found.
    pub(crate) fn with_content_of(self, other: Self) -> Self {
        Self { marks: self.marks, ..other }
    }

    /// Returns what was read of the message. Nearly always it is the same for all copies. It
    /// differs if different programs read them, or if their headers say that the body is read
    /// differently.
    pub(super) fn content(&self) -> (&Option<String>, &str, &[u8]) {
        (&self.sender, &self.subject, &self.signature)
    }
}

pub(crate) fn put_bytes(record: &mut Vec<u8>, bytes: &[u8]) {
    record.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    record.extend_from_slice(bytes);
}

/// Bytes that are read from the front. Reads return `None` if too few bytes are left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let count = u32::from_le_bytes(self.array()?);
        self.take(count as usize)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn learnt() -> impl Strategy<Value = Learnt> {
        let class = prop::option::of((any::<bool>(), 0_i64..4));
        let named = prop::collection::btree_map("[ab]", 0_i64..4, 0..3);
        (class, named).prop_filter_map("a message has a mark", |(class, named)| {
            let mut learnt = Learnt::default();
            if let Some((spam, time)) = class {
                learnt = learnt.marked(if spam { &Label::Spam } else { &Label::Ham }, time);
            }
            for (name, time) in named {
                learnt = learnt.marked(&Label::named(&name).ok()?, time);
            }
            (!learnt.marks.is_empty()).then_some(learnt)
        })
    }

    proptest! {
        #[test]
        fn joining_is_a_union(a in learnt(), b in learnt(), c in learnt()) {
            prop_assert_eq!(a.clone().joined(&a), a.clone());
            prop_assert_eq!(a.clone().joined(&b), b.clone().joined(&a));
            prop_assert_eq!(a.clone().joined(&b).joined(&c), a.clone().joined(&b.clone().joined(&c)));
            let joined = a.clone().joined(&b);
            prop_assert_eq!(Learnt::decode(&joined.encode()), Some(joined));
        }

        #[test]
        fn unmarking_takes_back_a_mark(a in learnt(), time in 0_i64..4) {
            let label = Label::named("new").unwrap();
            prop_assert_eq!(a.clone().marked(&label, time).unmarked(Some(&label)), Some(a.clone()));
            prop_assert_eq!(a.clone().marked(&label, time).marked(&label, time + 1), a.marked(&label, time));
        }
    }

    #[test]
    fn spam_becomes_ham_at_once() {
        let spam = Learnt::default().marked(&Label::Spam, 1);
        let ham = spam.marked(&Label::Ham, 2);
        assert_eq!((ham.is_spam(), ham.marks.len(), ham.time()), (Some(false), 1, 2));
        assert_eq!(ham.clone().since(2), Some(ham.clone()));
        assert_eq!(ham.since(3), None);
    }

    proptest! {
        #[test]
        fn messages_come_back(time in any::<i64>(), sender in "[a-z@]{0,9}", spam: bool, named in "[a-z]{1,5}", more: bool,
                subject in ".{0,20}", signature in prop::collection::vec(any::<u8>(), 0..9)) {
            let mut marks = vec![Mark { label: if spam { Label::Spam } else { Label::Ham }, time }];
            if more {
                marks.push(Mark { label: Label::named(&named).unwrap(), time: 3 });
            }
            let learnt = Learnt { marks, sender: Some(sender).filter(|s| !s.is_empty()), subject, signature };
            prop_assert_eq!(Learnt::decode(&learnt.encode()), Some(learnt));
        }

        #[test]
        fn any_bytes_are_a_message_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(learnt) = Learnt::decode(&bytes) {
                prop_assert_eq!(learnt.encode().len(), bytes.len());
            }
        }
    }
}
