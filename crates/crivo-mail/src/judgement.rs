//! What the filter says about a message.

use std::collections::BTreeMap;
use std::fmt;

use crate::lists::Listing;
use crate::message::Authentication;

/// One of three answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Unwanted.
    Spam,
    /// Wanted.
    Ham,
    /// The evidence does not decide.
    Unsure,
}

impl Verdict {
    /// `spam`, `ham` or `unsure`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spam => "spam",
            Self::Ham => "ham",
            Self::Unsure => "unsure",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The scores that separate spam, unsure and ham.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// A score of at least this is spam.
    pub spam: f64,
    /// A score of at most this is ham.
    pub ham: f64,
}

impl Thresholds {
    /// Returns the verdict for a score.
    pub fn verdict(self, score: f64) -> Verdict {
        if score >= self.spam {
            Verdict::Spam
        } else if score <= self.ham {
            Verdict::Ham
        } else {
            Verdict::Unsure
        }
    }
}

/// Everything the filter says about a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The answer.
    pub verdict: Verdict,
    /// The calibrated probability of spam.
    pub score: f64,
    /// The thresholds between the answers.
    pub thresholds: Thresholds,
    /// Why, strongest first.
    pub reasons: Vec<Reason>,
    /// The probability of every label the store knows.
    pub labels: BTreeMap<String, f64>,
}

/// A piece of evidence, in words through [`Display`](fmt::Display).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// A learned message says nearly the same.
    Alike {
        /// What it was learned as.
        class: Verdict,
        /// Its subject, shortened.
        subject: String,
        /// The share of word triples that both have in common.
        similarity: f64,
    },
    /// How mail of this sender was learned.
    Sender {
        /// The address.
        address: String,
        /// Messages learned as spam.
        spam: u64,
        /// Messages learned as ham.
        ham: u64,
    },
    /// The owner of the store has decided about this sender.
    Listed {
        /// The address.
        address: String,
        /// The entry of the list: the address, or a domain.
        entry: String,
        /// What was decided.
        listing: Listing,
    },
    /// What a trusted host found out about the sender.
    Authentication {
        /// Whether the sender is the one that the message names.
        outcome: Authentication,
        /// Whether the sender was learned as ham, and never as spam.
        is_familiar: bool,
    },
    /// An unknown sender writes a lot.
    Burst {
        /// The address.
        address: String,
        /// Messages within the last hour.
        messages: u64,
    },
    /// Something in the message that learned mail had too.
    Feature {
        /// What it is, readable.
        name: String,
        /// Its log-odds: above zero for spam.
        weight: f64,
    },
    /// Anything else, in words.
    Note(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alike { class, subject, similarity } => {
                write!(f, "{:.0} % like a learned {class} message, {subject:?}", similarity * 100.0)
            }
            Self::Sender { address, spam: 0, ham: 0 } => write!(f, "{address} is a new sender"),
            Self::Sender { address, spam, ham } => {
                write!(f, "{address}: {spam} learned as spam, {ham} as ham")
            }
            Self::Listed { address, entry, listing } if address == entry => {
                write!(f, "{address} is {listing}")
            }
            Self::Listed { address, entry, listing } => write!(f, "{address} is {listing}: {entry}"),
            Self::Authentication { outcome, is_familiar } => {
                let known = if *is_familiar { "the familiar sender" } else { "the sender" };
                f.write_str(known)?;
                f.write_str(match outcome {
                    Authentication::Passed => " is authenticated",
                    Authentication::Failed => " is forged: its domain has not sent this (DMARC)",
                    Authentication::Unknown => " is not authenticated",
                })
            }
            Self::Burst { address, messages } => {
                write!(f, "{address} was never learned from and wrote {messages} messages within an hour")
            }
            Self::Feature { name, weight } => {
                let towards = if *weight > 0.0 { "spam" } else { "ham" };
                write!(f, "{name}: for {towards} ({weight:+.2})")
            }
            Self::Note(words) => f.write_str(words),
        }
    }
}
