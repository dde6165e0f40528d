//! Serves many clients at once, including slow and hostile ones.
//!
//! Receiving waits on the network and needs almost no processor time, so it is asynchronous:
//! hundreds of slow clients hold hundreds of small buffers and not one thread. Judging needs
//! processor time, so it runs on as many threads as there are processors, and never more. Learning
//! has one thread of its own, because a store takes one lesson at a time and checks must not wait
//! for it.
//!
//! | limit | what happens beyond it |
//! |---|---|
//! | connections | the next ones wait in the system's queue |
//! | time for the head of a request | `79 Timeout`, and a silent client is disconnected |
//! | time without a byte within a message | the same |
//! | time for a whole request | the same |
//! | bytes of a message | the rest is dropped; requests for the whole message are refused |
//!
//! A connection is closed in the order that lets the client read its answer: send, half-close, read
//! and drop what still arrives (for a short while), close. Closing at once would make the system
//! drop the answer whenever the client had sent a byte too much. A client that was silent too long
//! has sent nothing more, and its connection is closed at once.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::Answer;
use super::body::{Body, Received, State};
use super::refusal::Refusal;
use super::reply;
use super::request::{self, Parsed, Request, Verb};
pub use crate::connections::Limits;
use crate::connections::{Listener, accept_until};

/// The most bytes of one read.
const PIECE: usize = 16 * 1024;

/// How long to wait for the half-close of a client whose last line has no line end.
const MOMENT: Duration = Duration::from_millis(250);

/// How long bytes after the answer are read and dropped.
const LINGER: Duration = Duration::from_secs(2);

/// Serves clients until `stop` is true, then finishes the requests in progress. An error of one
/// client does not affect others, so this function cannot fail.
pub async fn serve(
    listener: impl Into<Listener>,
    limits: Limits,
    answer: Arc<impl Answer>,
    stop: watch::Receiver<bool>,
) {
    let server = Arc::new(SpamdServer::new(limits, answer));
    accept_until(listener.into(), limits.connections, stop, move |stream, _| {
        let server = Arc::clone(&server);
        async move { server.attend(stream).await }
    })
    .await;
}

/// The state that all connections share.
struct SpamdServer<A> {
    limits: Limits,
    answer: Arc<A>,
    judging: Arc<Semaphore>,
    learning: Arc<Semaphore>,
}

impl<A: Answer> SpamdServer<A> {
    fn new(limits: Limits, answer: Arc<A>) -> Self {
        let processors = crivo_near::thread_count(0);
        Self {
            limits,
            answer,
            judging: Arc::new(Semaphore::new(processors)),
            learning: Arc::new(Semaphore::new(1)),
        }
    }

    /// Serves one connection from its first byte to its last. A broken connection is not an error
    /// of the server.
    async fn attend(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let (mut verb, mut was_silent) = (None, false);
        let received = timeout(self.limits.patience, self.receive(&mut stream, &mut verb)).await;
        let reply = match received {
            Err(_) => Refusal::timeout(self.limits.patience, verb).to_bytes(),
            Ok(Err(_)) => return,
            Ok(Ok(Err(refusal))) => {
                was_silent = refusal.is_timeout();
                refusal.to_bytes()
            }
            Ok(Ok(Ok((request, message)))) => match request.verb {
                Verb::Skip => return,
                Verb::Ping => reply::pong(),
                _ => self.judge(request, message).await,
            },
        };
        let sent = timeout(self.limits.patience, async {
            stream.write_all(&reply).await?;
            stream.shutdown().await
        });
        if matches!(sent.await, Ok(Ok(()))) && !was_silent {
            let mut rest = [0; 1024];
            let _ =
                timeout(LINGER, async { while stream.read(&mut rest).await.is_ok_and(|n| n > 0) {} }).await;
        }
    }

    /// Receives a request and its message. Returns the refusal if they are refused.
    async fn receive(
        &self,
        stream: &mut (impl AsyncRead + Unpin),
        verb: &mut Option<Verb>,
    ) -> io::Result<Result<(Request, Received), Refusal>> {
        let mut head = Vec::new();
        let deadline = Instant::now() + self.limits.head.min(self.limits.patience);
        let (request, taken) = loop {
            match request::parse(&head) {
                Err(refusal) => return Ok(Err(refusal)),
                Ok(Parsed::Whole(request, taken)) => break (request, taken),
                Ok(Parsed::Incomplete) => {
                    head.reserve(PIECE);
                    let Ok(read) = timeout_at(deadline, stream.read_buf(&mut head)).await else {
                        return Ok(Err(Refusal::timeout(self.limits.head.min(self.limits.patience), None)));
                    };
                    if read? == 0 {
                        return Ok(Err(request::cut_short(&head)));
                    }
                }
            }
        };
        *verb = Some(request.verb);
        if matches!(request.verb, Verb::Ping | Verb::Skip) {
            return Ok(Ok((request, Received { bytes: Vec::new(), whole: true })));
        }
        let mut body = Body::new(request.length, request.compressed, self.limits.message);
        body.take(&head[taken..]);
        let mut piece = head;
        while body.state() != State::Ended {
            piece.clear();
            piece.reserve(PIECE);
            let count = match body.state() {
                State::Doubtful => match timeout(MOMENT, stream.read_buf(&mut piece)).await {
                    Ok(count) => count?,
                    Err(_) => break,
                },
                _ => match timeout(self.limits.silence, stream.read_buf(&mut piece)).await {
                    Ok(count) => count?,
                    Err(_) => return Ok(Err(Refusal::timeout(self.limits.silence, *verb))),
                },
            };
            if count == 0 {
                break;
            }
            body.take(&piece);
        }
        Ok(body.finish().and_then(|message| {
            let message = if request.compressed { message.inflated(self.limits.message)? } else { message };
            if request.verb == Verb::Process && !message.whole {
                return Err(Refusal::unavailable(format_args!(
                    "the message is longer than {} bytes, and only as much could be given back",
                    self.limits.message
                )));
            }
            Ok((request, message))
        }))
    }

    async fn judge(&self, request: Request, message: Received) -> Vec<u8> {
        let lane = if request.verb == Verb::Tell { &self.learning } else { &self.judging };
        let Ok(turn) = Arc::clone(lane).acquire_owned().await else { return Vec::new() };
        let answer = Arc::clone(&self.answer);
        let work = tokio::task::spawn_blocking(move || {
            let reply = answer.answer(&request, message);
            drop(turn);
            reply
        });
        // A panic in a request must not end the server: the client delivers the message unchanged.
        work.await.unwrap_or_else(|_| Refusal::unavailable("internal error").to_bytes())
    }
}
