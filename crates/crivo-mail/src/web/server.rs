//! Connections to the page: a bounded number of them, none of them slow for long.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// Browsers open six at a time, and a few people may look at once. The rest is for connections that
/// ask nothing: an idle one costs a few kilobytes, and a client that opens many should not keep
/// others out.
const CONNECTIONS: u32 = 512;

/// How long the head of a request may take, and an idle connection may stay.
const HEAD: Duration = Duration::from_secs(5);

/// How long requests under way may take when the server is asked to stop.
const GRACE: Duration = Duration::from_secs(5);

/// Serves pages until `stop` says so, then ends requests under way. What goes wrong with one
/// connection concerns no other, and so this cannot fail.
pub async fn serve(listener: TcpListener, router: Router, mut stop: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS as usize));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|&stop| stop) => break,
        };
        let Ok((stream, _)) = accepted else {
            // No file descriptors left, or a client gone before it was met: others still come.
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
            // That a connection breaks is the browser's affair.
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
