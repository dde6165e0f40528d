//! Decides which requests are answered: those of people at this machine, through pages that came
//! from this server.
//!
//! A page on 127.0.0.1 can be reached by every site that the same browser visits: by a form, by an
//! image, or by a name that suddenly resolves to 127.0.0.1 (DNS rebinding). So
//!
//! - the `Host` must be an address, `localhost`, or a configured name, so that a request for a name
//!   that an attacker chose is not answered;
//! - a request that changes something must come from one of these pages: the browser's
//!   `Sec-Fetch-Site` says so if it is sent, `Origin` must not name another site, and the form
//!   carries a token that only these pages know, and that is new at every start;
//! - an answer may not be framed, sniffed, cached or embedded elsewhere;
//! - a request must be complete within [`PATIENCE`], or it is dropped.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem;

/// The time from the end of a request's head to the answer.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Headers of every answer. Pages also have their own content security policy.
const ALWAYS: [(HeaderName, &str); 8] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// A secret that only pages since this start of the server contain.
#[derive(Debug, Clone)]
pub struct Token(String);

impl Token {
    /// Makes a token from random bytes.
    pub fn new(random: [u8; 16]) -> Self {
        Self(format!("{:032x}", u128::from_be_bytes(random)))
    }

    /// Returns the text that a form carries.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns true if the tokens are equal. The time does not depend on how many bytes are right.
    pub fn is(&self, other: &str) -> bool {
        let differences = self.0.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        self.0.len() == other.len() && differences == 0
    }
}

/// Decides which requests are answered.
#[derive(Debug)]
pub struct Guard {
    token: Token,
    names: Vec<String>,
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objection {
    /// Its `Host` is not a name of this server.
    Host,
    /// It comes from another site.
    CrossSite,
}

impl Guard {
    /// Makes a guard that accepts these host names, besides addresses and `localhost`.
    pub fn new(token: Token, names: impl IntoIterator<Item = String>) -> Self {
        Self { token, names: names.into_iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    /// Returns the token that forms have to carry.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// Checks the method and headers of a request.
    ///
    /// # Errors
    /// The objection, if the request must not be answered.
    pub fn examine(&self, method: &Method, headers: &HeaderMap) -> Result<(), Objection> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).ok_or(Objection::Host)?;
        if hosts.next().is_some() || !self.knows(name_of(host)) {
            return Err(Objection::Host);
        }
        if matches!(*method, Method::GET | Method::HEAD) {
            return Ok(());
        }
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let own_page = match (text("sec-fetch-site"), text("origin")) {
            (Some(site), _) => matches!(site, "same-origin" | "none"),
            // Some browsers send no origin with a form, or hide it. Then only the token decides.
            (None, None | Some("null")) => true,
            (None, Some(origin)) => origin.split_once("://").is_some_and(|(_, origin)| origin == host),
        };
        if own_page { Ok(()) } else { Err(Objection::CrossSite) }
    }

    fn knows(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
        name == "localhost" || address.parse::<IpAddr>().is_ok() || self.names.contains(&name)
    }
}

/// Returns a host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

/// Answers a request if the guard allows it, and adds the headers of every answer.
pub(crate) async fn watch(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.examine(request.method(), request.headers()) {
        Ok(()) => match tokio::time::timeout(PATIENCE, next.run(request)).await {
            Ok(response) => response,
            Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
        },
        Err(Objection::Host) => problem(
            StatusCode::MISDIRECTED_REQUEST,
            "Not this host",
            "This page answers to addresses and to localhost. To use another name, the server has to be told of it when it starts.",
        ),
        Err(Objection::CrossSite) => refused(),
    };
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}

/// Returns the answer to a request without the right token.
pub(crate) fn refused() -> Response {
    problem(
        StatusCode::FORBIDDEN,
        "Not from here",
        "This request did not come from a page of this server as it runs now. Open the page again and repeat it there.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::needless_pass_by_value)] // callers name a constant
    fn examine(method: Method, headers: &[(&str, &str)]) -> Result<(), Objection> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        Guard::new(Token::new([7; 16]), ["Mail.Example".into()]).examine(&method, &map)
    }

    #[test]
    fn addresses_and_known_names_are_hosts_and_nothing_else() {
        for host in [
            "127.0.0.1:8080",
            "127.0.0.1",
            "localhost:1",
            "LOCALHOST",
            "[::1]:80",
            "[::1]",
            "mail.example:80",
        ] {
            assert_eq!(examine(Method::GET, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "",
            ":80",
            "127.0.0.1@evil",
            "[::1",
            "mail.example.evil",
        ] {
            assert_eq!(examine(Method::GET, &[("host", host)]), Err(Objection::Host), "{host}");
        }
        assert_eq!(examine(Method::GET, &[]), Err(Objection::Host));
        let two = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(examine(Method::GET, &two), Err(Objection::Host));
    }

    #[test]
    fn what_changes_something_comes_from_these_pages() {
        let post =
            |more: &[(&str, &str)]| examine(Method::POST, &[&[("host", "127.0.0.1:8080")], more].concat());
        assert_eq!(post(&[("origin", "http://127.0.0.1:8080")]), Ok(()));
        assert_eq!(post(&[("sec-fetch-site", "same-origin"), ("origin", "null")]), Ok(()));
        for headers in [
            &[("origin", "http://evil.example")][..],
            &[("origin", "http://127.0.0.1:8081")],
            &[("origin", "http://localhost:8080")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:8080")],
            &[("sec-fetch-site", "cross-site"), ("origin", "null")],
        ] {
            assert_eq!(post(headers), Err(Objection::CrossSite), "{headers:?}");
        }
    }

    #[test]
    fn only_the_whole_token_is_the_token() {
        let token = Token::new([171; 16]);
        assert!(token.is(&"ab".repeat(16)));
        assert!(!token.is("") && !token.is(&"ab".repeat(15)) && !token.is(&"ab".repeat(17)));
        assert!(!token.is(&format!("{}ac", "ab".repeat(15))));
    }
}
