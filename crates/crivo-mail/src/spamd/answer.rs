//! Answers requests with the service, in the words of the protocol.

use super::body::Received;
use super::refusal::Refusal;
use super::reply;
use super::request::{MessageClass, Request, Verb};
use crate::service::{Origin, Service};
use crate::{Label, Learned, Result, Unlearned};

/// Turns a request and its message into the bytes of a reply.
pub trait Answer: Send + Sync + 'static {
    /// Returns the reply. It is called on a thread that may block.
    fn answer(&self, request: &Request, message: Received) -> Vec<u8>;
}

impl Answer for Service {
    fn answer(&self, request: &Request, message: Received) -> Vec<u8> {
        let reply = match request.verb {
            Verb::Tell => return told(self, request, &message),
            verb => self
                .check(request.user.as_deref(), &message.bytes, Origin::Spamd)
                .map(|judgement| reply::about(verb, &judgement, &message.bytes)),
        };
        reply.unwrap_or_else(|error| Refusal::unavailable(error).to_bytes())
    }
}

fn told(service: &Service, request: &Request, message: &Received) -> Vec<u8> {
    if service.is_read_only() {
        return Refusal::unavailable("TELL commands are not enabled, this server only reads.").to_bytes();
    }
    match tell(service, request, message) {
        Ok((did_set, did_remove)) => reply::told(did_set, did_remove),
        Err(error) => Refusal::unavailable(error).to_bytes(),
    }
}

/// Learns or forgets a message. Returns whether it was learned, and whether it was forgotten.
/// Learning the opposite class forgets the first, so a request for both is a request to learn.
fn tell(service: &Service, request: &Request, message: &Received) -> Result<(bool, bool)> {
    let (user, message) = (request.user.as_deref(), &message.bytes);
    match request.class {
        Some(class) if request.set_local => {
            let label = match class {
                MessageClass::Spam => Label::Spam,
                MessageClass::Ham => Label::Ham,
            };
            Ok((service.learn(user, message, &label)? != Learned::Already, false))
        }
        _ if request.remove_local => Ok((false, service.unlearn(user, message, None)? == Unlearned::Removed)),
        _ => Ok((false, false)),
    }
}
