//! Any bytes, cut anywhere, are a request or a refusal in one line; and a message that is given
//! back has lost nothing but what only a filter may write.

use crivo_mail::marks;
use crivo_mail::spamd::body::{Body, State};
use crivo_mail::spamd::request::{self, MOST_BYTES, Parsed};

/// The most bytes of a message that are kept.
const KEPT: usize = 4096;

/// Checks the promise for one input: the size of packets in the first byte, and the request behind
/// it.
pub fn check(input: &[u8]) {
    let Some((&piece, bytes)) = input.split_first() else { return };
    let piece = usize::from(piece).max(1);
    match request::parse(bytes) {
        Err(refusal) => {
            let line = refusal.to_bytes();
            assert!(line.ends_with(b"\r\n") && line.iter().filter(|&&byte| byte == b'\n').count() == 1);
        }
        Ok(Parsed::Incomplete) => assert!(bytes.len() <= MOST_BYTES),
        Ok(Parsed::Whole(request, taken)) => {
            assert!(taken <= bytes.len());
            // What was understood is understood the same when nothing follows it.
            assert_eq!(request::parse(&bytes[..taken]), Ok(Parsed::Whole(request.clone(), taken)));
            let rest = &bytes[taken..];
            let [whole, pieces] = [rest.len().max(1), piece].map(|size| {
                let mut body = Body::new(request.length, request.compressed, KEPT);
                for piece in rest.chunks(size) {
                    if body.take(piece) == State::Ended {
                        break;
                    }
                }
                body.finish()
            });
            assert_eq!(whole, pieces, "packets must not matter");
            if let Ok(message) = whole {
                assert!(message.bytes.len() <= KEPT);
                if request.compressed
                    && let Ok(message) = message.inflated(KEPT)
                {
                    assert!(message.bytes.len() <= KEPT);
                }
            }
        }
    }
    let marked = marks::mark(bytes, &[("X-Spam-Flag", "YES".into())], marks::OF_FILTERS);
    assert!(marked.len() <= bytes.len() + "X-Spam-Flag: YES\r\n\r\n".len());
    assert!(marks::head_of(&marked).len() <= marked.len());
    assert_eq!(
        marks::mark(&marked, &[("X-Spam-Flag", "YES".into())], marks::OF_FILTERS),
        marked,
        "marking twice is marking once"
    );
}
