//! Serves connections to the page: a limited number of them, each with time limits.

use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::connections::{GRACE, accept_until};

/// The most connections at once. Browsers open six, and a few people may look at the same time. The
/// other connections are for clients that send nothing: an idle one costs a few kilobytes, and a
/// client that opens many should not block others.
const CONNECTIONS: usize = 512;

/// How long the head of a request may take, and how long a connection may stay idle.
const HEAD: Duration = Duration::from_secs(5);

/// How long a connection takes requests, and then how long its last request may take. A client that
/// does not read its answer cannot keep its place for longer. Browsers connect again.
const LONGEST: Duration = Duration::from_secs(60);

/// Serves pages until `stop` is true, then finishes the requests in progress. An error of one
/// connection does not affect others, so this function cannot fail.
pub async fn serve(listener: TcpListener, router: Router, stop: watch::Receiver<bool>) {
    serve_within(listener, router, CONNECTIONS, LONGEST, stop).await;
}

async fn serve_within(
    listener: TcpListener,
    router: Router,
    connections: usize,
    longest: Duration,
    stop: watch::Receiver<bool>,
) {
    let stopping = stop.clone();
    accept_until(listener.into(), connections, stop, move |stream, _| {
        let service = TowerToHyperService::new(router.clone());
        let mut stop = stopping.clone();
        async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .max_buf_size(64 << 10)
                .serve_connection(TokioIo::new(stream), service);
            tokio::pin!(connection);
            let left = tokio::select! {
                // A broken connection is not an error of the server.
                _ = connection.as_mut() => return,
                _ = stop.wait_for(|&stop| stop) => GRACE,
                () = sleep(longest) => longest,
            };
            connection.as_mut().graceful_shutdown();
            let _ = timeout(left, connection).await;
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::sync::watch::Sender;
    use tokio::task::JoinHandle;

    use super::*;

    /// Serves an answer that fills the buffers of a connection, to one client at a time. Returns
    /// that client, which has asked and does not read.
    async fn stuck(longest: Duration) -> (TcpStream, Sender<bool>, JoinHandle<()>) {
        let router = Router::new().route("/", get(|| async { vec![b'x'; 64 << 20] }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(serve_within(listener, router, 1, longest, stopped));
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        client.read_exact(&mut [0; 12]).await.unwrap();
        (client, stop, serving)
    }

    #[tokio::test]
    async fn clients_that_do_not_read_do_not_keep_the_server_from_stopping() {
        let (_client, stop, serving) = stuck(LONGEST).await;
        let started = Instant::now();
        stop.send_replace(true);
        timeout(2 * GRACE, serving).await.unwrap().unwrap();
        assert!(started.elapsed() < 2 * GRACE);
    }

    #[tokio::test]
    async fn clients_that_do_not_read_lose_their_place() {
        let (client, _stop, _serving) = stuck(Duration::from_millis(50)).await;
        let mut next = TcpStream::connect(client.peer_addr().unwrap()).await.unwrap();
        next.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut answer = [0; 12];
        timeout(HEAD, next.read_exact(&mut answer)).await.unwrap().unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    }
}
