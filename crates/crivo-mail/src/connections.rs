//! Where do clients connect? TCP or a unix socket, with a bounded number of clients at one time.

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// The time that connections have to finish after the server was asked to stop.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// The limits of what a client may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at one time.
    pub connections: usize,
    /// Time from the first byte of a request to its last, and the same time again for the answer.
    pub patience: Duration,
    /// Time for the head of a request, measured from the start of the connection.
    pub head: Duration,
    /// Time without a byte within a message.
    pub silence: Duration,
    /// Bytes of a message that are kept and judged.
    pub message: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            patience: Duration::from_secs(60),
            head: Duration::from_secs(10),
            silence: Duration::from_secs(10),
            message: 32 << 20,
        }
    }
}

/// Where clients connect.
#[derive(Debug)]
pub enum Listener {
    /// An address and a port.
    Tcp(TcpListener),
    /// A unix socket.
    #[cfg(unix)]
    Unix(UnixListener),
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

/// A connection of either kind.
pub type Stream = Box<dyn Connection>;

/// What can be read and written.
pub trait Connection: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Connection for T {}

impl Listener {
    /// Waits for the next client. Returns its connection and its address in words.
    async fn accept(&self) -> io::Result<(Stream, String)> {
        Ok(match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Answers are small and the client waits for each.
                let _ = stream.set_nodelay(true);
                (Box::new(stream), peer.ip().to_string())
            }
            #[cfg(unix)]
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                (Box::new(stream), "a local client".to_owned())
            }
        })
    }
}

impl fmt::Display for Listener {
    /// Writes the address as it is typed: `127.0.0.1:1783` or `unix:/run/crivo.sock`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(listener) => match listener.local_addr() {
                Ok(address) => address.fmt(f),
                Err(error) => error.fmt(f),
            },
            #[cfg(unix)]
            Self::Unix(listener) => {
                let address = listener.local_addr().ok();
                let path = address.as_ref().and_then(|address| address.as_pathname());
                write!(f, "unix:{}", path.map(|path| path.display().to_string()).unwrap_or_default())
            }
        }
    }
}

/// Accepts clients until `stop` becomes true. Then waits for open connections, up to [`GRACE`].
pub(crate) async fn accept_until<Attending>(
    listener: Listener,
    connections: usize,
    mut stop: watch::Receiver<bool>,
    attend: impl Fn(Stream, String) -> Attending,
) where
    Attending: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(connections));
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            _ = stop.wait_for(|&stop| stop) => break,
        };
        let Ok(place) = place else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|&stop| stop) => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let attending = attend(stream, peer);
                tokio::spawn(async move {
                    attending.await;
                    drop(place);
                });
            }
            // Either no file descriptors are left, or the client was gone before it was accepted.
            // Later clients can still connect.
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
    drop(listener);
    let all = u32::try_from(connections).unwrap_or(u32::MAX);
    let _ = timeout(GRACE, places.acquire_many(all)).await;
}
