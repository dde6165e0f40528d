//! Private counts: how often each value occurs, without revealing anyone's value.
//!
//! **Question.** How often does each value occur among many people, none of whom reveals their own?
//!
//! **Guarantee to the client.** A report is `ε`-differentially private as soon as it is made: no
//! report is more than `e^ε` times as likely from one value as from any other. The guarantee holds
//! against everyone who sees reports, the server included, and whatever they do with them. It
//! requires no trust. The `ε` of all reports of one person add up, so a [`PrivateClient`] has a
//! [`Budget`] and refuses to exceed it.
//!
//! **Guarantee to the server.** From `n` reports in `k` rows of width `m` the answer `f̂` is
//! unbiased over the draw of the hash functions and of the random bits, with the variance
//!
//! ```text
//! (m/(m−1))² · n·e^(ε/2)/(e^(ε/2)−1)²   +   (n − f + Σ f'(f'−1)/k)/(m−1)
//! ```
//!
//! where `f` is the truth and the sum is over all other values. The first part is due to the
//! flipped bits: with `ε = 4`, a standard error of 0.43·√n. The second part is due to collisions.
//! It is less than the first if `k·m` is large enough: see [`Protocol::for_reports`].
//!
//! **Idea.** A client draws one of `k` rows and hashes its value to one of `m` places of that row.
//! It writes `m` bits, a one in that place and zeros elsewhere. Then it flips each bit with
//! probability `1/(1 + e^(ε/2))`. Two values differ in two bits, so their reports differ in
//! likelihood by at most `(e^(ε/2))² = e^ε`. The server adds up bits. It subtracts the average
//! effect of the flips and of the collisions. Both are known.
//!
//! **When not to use it.** For few reports: a value with fewer than about `√n/ε` occurrences is
//! lost in the noise. For a list of unknown values: the server can only query values that it can
//! name. If the server may see the values, count them with [`CountMin`](super::CountMin) or
//! [`HeavyHitters`](super::HeavyHitters), whose errors are far smaller.
//!
//! **Sources.** Apple: *Learning with privacy at scale* (2017), the private count mean sketch. Pan:
//! *Count-mean sketch as an optimized framework for frequency estimation with local differential
//! privacy* (arXiv 2406.03785), which corrects expectation and variance.
//!
//! **Where this departs from them.** Apple's analysis takes the answer as unbiased for given hash
//! functions. It is unbiased only over their draw, and the variance has the sum above, as Pan
//! shows. The state is integers, the number of ones in each place, so that merging is exact in any
//! order. The expected effects are subtracted when an answer is computed. Bits are flipped 64 at a
//! time with the exact probability, rounded towards privacy. Rows are derived from one hash, as in
//! every sketch of this library. Bounds estimate the sum from the table itself.
//!
//! ```
//! use crivo::frequency::private::{PredictableBits, PrivateClient, PrivateCountMean, Protocol};
//!
//! let protocol = Protocol::for_reports(4.0, 10_000)?;
//! let mut answers = PrivateCountMean::new(protocol)?;
//! // Predictable coins are for examples: a real client takes the operating system's.
//! let mut coins = PredictableBits::new(1);
//! for person in 0..10_000 {
//!     let emoji = ["😂", "❤", "😍"][person % 10 % 3];
//!     let mut client = PrivateClient::new(protocol, 4.0)?; // each person reports once
//!     answers.insert(&client.encode(emoji, &mut coins)?)?;
//!     assert!(client.encode(emoji, &mut coins).is_err()); // the budget is spent
//! }
//! let laughing = answers.frequency("😂")?;
//! assert!(laughing.covers(4_000.0) && laughing.relative_error() < 0.1);
//! # Ok::<(), crivo::Error>(())
//! ```

mod bounds;
mod budget;
mod client;
mod coins;
pub mod count_mean;
mod protocol;
mod report;
mod stored;

pub use budget::Budget;
pub use client::PrivateClient;
pub use coins::{PredictableBits, RandomBits};
pub use count_mean::{Answers, PrivateCountMean};
pub use protocol::Protocol;
pub use report::{Report, reports_in};
