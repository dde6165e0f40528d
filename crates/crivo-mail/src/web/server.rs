//! Serves connections to the page: a limited number of them, each with time limits.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// The most connections at once. Browsers open six, and a few people may look at the same time. The
/// other connections are for clients that send nothing: an idle one costs a few kilobytes, and a
/// client that opens many should not block others.
const CONNECTIONS: u32 = 512;

/// How long the head of a request may take, and how long a connection may stay idle.
const HEAD: Duration = Duration::from_secs(5);

/// How long requests in progress may take when the server is asked to stop.
const GRACE: Duration = Duration::from_secs(5);

/// Serves pages until `stop` is true, then finishes the requests in progress. An error of one
/// connection does not affect others, so this function cannot fail.
pub async fn serve(listener: TcpListener, router: Router, mut stop: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS as usize));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|&stop| stop) => break,
        };
        let Ok((stream, _)) = accepted else {
            // No file descriptors were left, or the client closed before it was accepted. The
            // server continues with others.
            sleep(Duration::from_millis(20)).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let mut stop = stop.clone();
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .max_buf_size(64 << 10)
                .serve_connection(TokioIo::new(stream), service);
            tokio::pin!(connection);
            // A broken connection is not an error of the server.
            let ended = tokio::select! {
                _ = connection.as_mut() => true,
                _ = stop.wait_for(|&stop| stop) => false,
            };
            if !ended {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
            drop(place);
        });
    }
    drop(listener);
    let _ = timeout(GRACE, places.acquire_many(CONNECTIONS)).await;
}
