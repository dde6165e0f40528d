//! Serves connections of mail servers. They are few and long, and none can hold up the others.
//!
//! A mail server opens a connection and sends many messages through it, with pauses as long as its
//! own clients make. So an idle connection costs a small buffer and may stay for [`IDLE`], as in
//! Sendmail's library. While a packet is incomplete, more of it has to arrive within the patience
//! of the [`Limits`]. Judging has the same limit of time.
//!
//! | limit | what happens beyond it |
//! |---|---|
//! | connections | the next ones wait in the system's queue |
//! | time for the first packet, time for more of a packet, time between packets | the connection is closed |
//! | bytes of a packet ([`LONGEST`](super::packet::LONGEST)) | it is malformed |
//! | bytes of a message | the rest is skipped, because no more is read |
//! | forged headers of a message, bytes of the name of one | the message is refused (550) |
//! | time for judging | the message passes without marks |
//!
//! After a malformed packet the connection is closed and the journal gets a line. What a mail
//! server does with its message then is its own setting (Postfix: `milter_default_action`).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use super::action::{OnSpam, Rules};
use super::packet::{Malformed, Parsed, parse};
use super::session::{Ended, Next, Session};
use crate::connections::{Limits, Listener, Stream, accept_until};
use crate::service::{Origin, Service};
use crate::source::READ;

/// The size that is reserved for a read.
const PIECE: usize = 16 * 1024;

/// The longest time between packets: the default of Sendmail's library.
const IDLE: Duration = Duration::from_secs(7210);

/// Answers mail servers until `stop` is true. This cannot fail, because a fault of one connection
/// does not affect the others.
pub async fn serve(
    listener: Listener,
    limits: Limits,
    rules: Rules,
    service: Arc<Service>,
    stop: watch::Receiver<bool>,
) {
    let judging = Arc::new(Semaphore::new(crivo_near::thread_count(0)));
    let filter = Arc::new(Milter { limits, rules, service, judging });
    let stopping = stop.clone();
    accept_until(listener, limits.connections, stop, move |stream, peer| {
        let (filter, stop) = (Arc::clone(&filter), stopping.clone());
        async move {
            if let Err(Ending::Malformed(fault)) = filter.attend(stream, stop).await {
                let trouble = format!("milter: {peer}: {fault}: the connection is closed");
                filter.service.journal().record_trouble(trouble);
            }
        }
    })
    .await;
}

struct Milter {
    limits: Limits,
    rules: Rules,
    service: Arc<Service>,
    judging: Arc<Semaphore>,
}

/// Why a connection ended early.
enum Ending {
    /// The mail server has closed it, or it broke. This is not reported.
    Broken,
    Malformed(Malformed),
}

impl From<io::Error> for Ending {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

impl From<Malformed> for Ending {
    fn from(fault: Malformed) -> Self {
        Self::Malformed(fault)
    }
}

impl Milter {
    /// Serves one connection, from its first packet to its last.
    async fn attend(&self, mut stream: Stream, mut stop: watch::Receiver<bool>) -> Result<(), Ending> {
        let mut session = Session::new(READ, self.rules.on_spam == OnSpam::Quarantine);
        let mut received = Vec::new();
        let mut waiting = self.limits.head;
        loop {
            let mut taken = 0;
            while let Parsed::Whole(command, length) = parse(&received[taken..])? {
                taken += length;
                waiting = IDLE;
                match session.take(command)? {
                    Next::Wait => {}
                    Next::Reply(reply) => self.send(&mut stream, &reply).await?,
                    Next::Judge(ended) => {
                        let reply = self.judge(*ended).await;
                        self.send(&mut stream, &reply).await?;
                    }
                    Next::Close => return Ok(()),
                }
            }
            received.drain(..taken);
            // An idle connection keeps no more than a small buffer.
            if received.is_empty() && received.capacity() > 4 * PIECE {
                received = Vec::new();
            }
            let patience = if received.is_empty() { waiting } else { self.limits.patience };
            received.reserve(PIECE);
            let idle = received.is_empty() && !session.has_message();
            let read = tokio::select! {
                read = timeout(patience, stream.read_buf(&mut received)) => read,
                _ = stop.wait_for(|&stop| stop), if idle => return Ok(()),
            };
            match read {
                Ok(Ok(0) | Err(_)) => return Err(Ending::Broken),
                Ok(Ok(_)) => {}
                Err(_) if received.is_empty() => return Err(Ending::Broken),
                Err(_) => return Err(Malformed("a packet that does not end".into()).into()),
            }
        }
    }

    async fn send(&self, stream: &mut Stream, reply: &[u8]) -> Result<(), Ending> {
        match timeout(self.limits.patience, stream.write_all(reply)).await {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(Ending::Broken),
        }
    }

    /// Returns the packets at the end of a message. Headers that only a filter may write are
    /// removed in any case.
    async fn judge(&self, ended: Ended) -> Vec<u8> {
        let Ended { message, recipients, cleaning, .. } = ended;
        let judged = timeout(self.limits.patience, async {
            let turn = Arc::clone(&self.judging).acquire_owned().await.ok()?;
            let (service, rules) = (Arc::clone(&self.service), self.rules);
            let work = tokio::task::spawn_blocking(move || {
                let users = rules.users(&service, &recipients);
                let judged = service.check_for_all(&users, &message, Origin::Milter);
                drop(turn);
                judged.map(|judgement| rules.answer(&judgement)).ok()
            });
            // A panic must not end the server. The message passes.
            work.await.ok().flatten()
        });
        let answer = judged.await.unwrap_or_else(|_| {
            let trouble = format!("milter: no verdict within {} s", self.limits.patience.as_secs());
            self.service.journal().record_trouble(trouble);
            None
        });
        [cleaning, answer.unwrap_or_else(|| self.rules.answer_of_failure())].concat()
    }
}
