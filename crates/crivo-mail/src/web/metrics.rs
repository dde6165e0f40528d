//! The pages for monitoring: `/metrics` for Prometheus, `/healthz` for programs that restart
//! services. Both only read.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::service::Service;

/// Returns the router of the two pages.
pub fn router(service: Arc<Service>) -> Router {
    Router::new().route("/metrics", get(metrics)).route("/healthz", get(health)).with_state(service)
}

async fn metrics(State(service): State<Arc<Service>>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], service.metrics()).into_response()
}

async fn health(State(service): State<Arc<Service>>) -> Response {
    let checked = tokio::task::spawn_blocking(move || service.check_health()).await;
    match checked {
        Ok(Ok(())) => "ok\n".into_response(),
        Ok(Err(error)) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the check has failed\n").into_response(),
    }
}
