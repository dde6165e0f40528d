//! The page on this machine where a person has a message checked, sees the reasons, and teaches.
//!
//! Paste a message, drop a file, or choose one: the page says spam, ham or unsure, with its
//! probability and its reasons, and has a button for each lesson. Everything works without script;
//! the script only adds dropping and Ctrl+Enter.
//!
//! | step | home |
//! |---|---|
//! | which requests are answered: host, origin, token, sizes, time | [`guard`] |
//! | connections, the slow ones too | [`server`] |
//! | paste and check | `check` |
//! | a decision, why, and teaching | `decision` |
//! | the last decisions, and statistics | `overview` |
//! | a verdict, a score and a table as pictures and words | `show` |
//!
//! A message is hostile text. It is only ever written through templates that escape it, on pages
//! whose policy allows no script but their own and no requests to the network.

mod check;
mod decision;
pub mod guard;
pub mod metrics;
mod overview;
pub mod server;
mod show;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use crivo_page::{Markup, Page};
use maud::html;

use self::guard::{Guard, Token};
use crate::service::Service;

/// The most bytes of a message that a person may give. Larger mail consists of attachments.
pub const LARGEST_MESSAGE: usize = 10 << 20;

/// The most bytes that a form adds to a message: names, boundaries, the token.
const AROUND: usize = 64 << 10;

/// The state that all pages share.
pub(crate) struct Site {
    pub(crate) service: Arc<Service>,
    pub(crate) token: Token,
}

/// Returns the router of all pages, behind their guard.
pub fn router(service: Arc<Service>, guard: Guard) -> Router {
    let site = Arc::new(Site { service, token: guard.token().clone() });
    Router::new()
        .route("/", get(check::form))
        .route("/check", post(check::check))
        .route("/decisions", get(overview::decisions))
        .route("/decisions/{number}", get(decision::show))
        .route("/decisions/{number}/teach", post(decision::teach))
        .route("/statistics", get(overview::statistics))
        .fallback(|| async { problem(StatusCode::NOT_FOUND, "Nothing here", "There is no such page.") })
        .layer(DefaultBodyLimit::max(LARGEST_MESSAGE + AROUND))
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::watch))
        .with_state(site)
}

/// Returns a page of the site with a title, one sentence, and its content.
pub(crate) fn page(here: &str, title: &str, lead: &str, body: Markup) -> Response {
    let page = Page::new(title)
        .lead(lead)
        .head(navigation(here))
        .body(body)
        .foot(html! { "crivo mail " (env!("CARGO_PKG_VERSION")) ". What you paste stays on this machine." })
        .style(include_str!("style.css"))
        .script(include_str!("page.js"))
        .may_send_forms()
        .parts();
    let policy =
        HeaderValue::from_str(&page.policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    ([(header::CONTENT_TYPE, html), (header::CONTENT_SECURITY_POLICY, policy)], page.html).into_response()
}

/// Returns a page that says what went wrong and what to do.
pub(crate) fn problem(status: StatusCode, title: &str, text: &str) -> Response {
    let body = html! { p { (text) } p { a href="/" { "Check a message" } } };
    (status, page("", title, "", body)).into_response()
}

fn navigation(here: &str) -> Markup {
    let places = [("/", "Check"), ("/decisions", "Decisions"), ("/statistics", "Statistics")];
    html! {
        nav.site aria-label="Site" {
            @for (address, name) in places {
                a href=(address) aria-current=[(address == here).then_some("page")] { (name) }
            }
        }
    }
}

/// Returns the form field with the token, which shows that the form came from this server.
pub(crate) fn token_field(token: &Token) -> Markup {
    html! { input type="hidden" name="token" value=(token.text()) aria-label="token"; }
}
