//! The client: from a key to a private report, within the person's budget.

use super::budget::Budget;
use super::coins::{Coin, RandomBits};
use super::protocol::Protocol;
use super::report::Report;
use crate::error::Result;
use crate::hash::index;
use crate::keys::Key;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Makes reports. Each report spends the protocol's `ε` of one person's budget.
///
/// ```
/// use crivo::frequency::private::{PredictableBits, PrivateClient, Protocol};
///
/// let protocol = Protocol::new(2.0, 16, 256)?;
/// let mut client = PrivateClient::new(protocol, 5.0)?;
/// let mut coins = PredictableBits::new(7); // in earnest, the operating system's
/// client.encode("á minha maneira", &mut coins)?;
/// client.encode("à sua maneira", &mut coins)?;
/// assert_eq!((client.budget().spent(), client.budget().remaining()), (4.0, 1.0));
/// let refused = client.encode("outra vez", &mut coins).unwrap_err();
/// assert_eq!(refused.field(), "budget");
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateClient {
    protocol: Protocol,
    budget: Budget,
    coin: Coin,
    tag: u32,
}

impl PrivateClient {
    /// Creates a client of one person, who may spend `budget` in total.
    ///
    /// # Errors
    /// If the budget is not a finite number above 0.
    pub fn new(protocol: Protocol, budget: f64) -> Result<Self> {
        Budget::new(budget).map(|budget| Self::with_budget(protocol, budget))
    }

    /// Returns a client that continues with a budget that may be partly spent.
    pub fn with_budget(protocol: Protocol, budget: Budget) -> Self {
        Self { protocol, budget, coin: Coin::flipping(protocol.epsilon()), tag: protocol.tag() }
    }

    /// Returns a report about one key. The time is proportional to the width, and the number of
    /// random words drawn is about an eighth of the width. Neither depends on the key.
    ///
    /// # Errors
    /// If the key is not of the protocol's kind, or the budget would be exceeded; nothing is spent
    /// then.
    pub fn encode<K: Key + ?Sized>(
        &mut self,
        key: &K,
        random: &mut (impl RandomBits + ?Sized),
    ) -> Result<Report> {
        let hash = self.protocol.scheme().hash(key)?;
        self.encode_hash(hash, random)
    }

    /// Returns a report about a key by its hash, which must come from the protocol's scheme.
    ///
    /// # Errors
    /// If the budget would be exceeded; nothing is spent then.
    pub fn encode_hash(&mut self, hash: u64, random: &mut (impl RandomBits + ?Sized)) -> Result<Report> {
        let width = self.protocol.width() as usize;
        self.budget.spend(self.protocol.epsilon())?;
        let row = index(random.bits(), self.protocol.rows().into()) as u32;
        let mut bits = Vec::with_capacity(width.next_multiple_of(64) / 8);
        for _ in 0..width.div_ceil(64) {
            bits.extend_from_slice(&self.coin.toss(random).to_le_bytes());
        }
        bits.truncate(width.div_ceil(8));
        if let (Some(last), 1..) = (bits.last_mut(), width % 8) {
            *last &= (1 << (width % 8)) - 1;
        }
        // The bit of the key's place, flipped or not. All coins are tossed before the place is
        // computed.
        let place = self.protocol.place(hash, row);
        bits[place / 8] ^= 1 << (place % 8);
        Ok(Report { tag: self.tag, row, bits })
    }

    /// Returns the protocol that client and server share.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// Returns the budget: what may be spent, and what was spent.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}
