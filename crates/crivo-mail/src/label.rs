//! What a message can be marked as: spam, ham, or a label of the user's own.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A mark on a message. A message is spam or ham or neither, and has any number of labels besides.
///
/// ```
/// use crivo_mail::Label;
///
/// assert_eq!("spam".parse::<Label>()?, Label::Spam);
/// let social: Label = "label:social".parse()?;
/// assert_eq!((social.name(), social.to_string().as_str()), ("social", "label:social"));
/// assert!("label:two words".parse::<Label>().is_err() && "label:família".parse::<Label>().is_err());
/// # Ok::<(), crivo_mail::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// It is unwanted.
    Spam,
    /// It is wanted.
    Ham,
    /// A label of the user's own; [`Label::named`] checks its name.
    Named(String),
}

/// The most bytes of a label's name. IMAP keywords are atoms, and programs show short ones whole.
const LONGEST: usize = 64;

impl Label {
    /// Makes a label of the user's own.
    ///
    /// # Errors
    /// If the name is empty, too long, or has characters that an IMAP keyword cannot have.
    pub fn named(name: &str) -> Result<Self> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.len() > LONGEST || !name.chars().all(fits) {
            return Err(Error::Label(name.to_owned()));
        }
        Ok(Self::Named(name.to_owned()))
    }

    /// Returns the bare name: `spam`, `ham`, or that of the label.
    pub fn name(&self) -> &str {
        match self {
            Self::Spam => "spam",
            Self::Ham => "ham",
            Self::Named(name) => name,
        }
    }

    /// Returns true if it is spam or ham; a message has at most one of the two.
    pub fn is_class(&self) -> bool {
        !matches!(self, Self::Named(_))
    }
}

impl FromStr for Label {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "spam" => Ok(Self::Spam),
            "ham" => Ok(Self::Ham),
            _ => match text.strip_prefix("label:") {
                Some(name) => Self::named(name),
                None => Err(Error::Label(text.to_owned())),
            },
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "label:{name}"),
            class => f.write_str(class.name()),
        }
    }
}
