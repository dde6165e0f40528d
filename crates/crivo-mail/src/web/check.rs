//! The form to paste, drop or choose a message, and its check.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::multipart::{Multipart, MultipartError};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;

use super::{LARGEST_MESSAGE, Site, guard, page, problem, show};
use crate::service::Origin;

/// The number of decisions that are shown under the form.
const LATEST: usize = 8;

/// Shows the form, with the latest decisions below it.
pub(super) async fn form(State(site): State<Arc<Site>>) -> Response {
    let stats = super::overview::stats(&site).await;
    let journal = site.service.journal();
    let latest: Vec<_> = journal.decisions().take(LATEST).collect();
    let body = html! {
        form.card.check method="post" action="/check" enctype="multipart/form-data" {
            (super::token_field(&site.token))
            label for="message" { "The message, with its headers" }
            p.hint #hint {
                "Most mail programs call it “Show original” or “View source”. Headers help: a verdict on text alone is less sure."
            }
            textarea #message name="message" rows="12" spellcheck="false" autocomplete="off" autocapitalize="off"
                aria-describedby="hint" placeholder="From: …\nSubject: …\n\n…" {}
            div.row {
                label for="file" { "or a file" }
                input #file type="file" name="file" accept=".eml,.txt,.msg,message/rfc822";
                span.drop-hint hidden { "or drop it anywhere on this page" }
            }
            @if site.service.has_users() {
                div.row {
                    label for="user" { "whose mail" }
                    input.field #user name="user" autocomplete="off" placeholder="everybody’s";
                }
            }
            div.row.actions {
                button.primary type="submit" { "Check this message" }
                span.hint.keys hidden { kbd { "Ctrl" } " + " kbd { "Enter" } }
                p.status role="status" {}
            }
        }
        @match stats {
            Ok(stats) if stats.messages == 0 => p.notice {
                "Nothing has been learned yet, so every answer will be unsure. Check a message and teach it, or run "
                code { "crivo mail train" } " with mail you have sorted."
            },
            Ok(stats) => p.muted {
                (show::count(stats.spam, "spam message")) " and " (show::count(stats.ham, "wanted one")) " learned."
            },
            Err(error) => p.notice { (error) },
        }
        section aria-labelledby="latest" {
            h2 #latest { "Last decisions" }
            (show::decisions(&latest))
        }
    };
    page(
        "/",
        "Is this mail wanted?",
        "Paste a message: crivo says what it thinks, why, and how sure it is.",
        body,
    )
}

struct Given {
    token: String,
    message: Vec<u8>,
    user: Option<String>,
}

/// Judges the message of the form, and redirects to the decision.
pub(super) async fn check(State(site): State<Arc<Site>>, form: Multipart) -> Response {
    let given = match read(form).await {
        Ok(given) => given,
        Err(error) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => return too_large(),
        Err(_) => {
            return problem(
                StatusCode::BAD_REQUEST,
                "Not understood",
                "The form did not arrive whole. Send it again.",
            );
        }
    };
    if !site.token.is(&given.token) {
        return guard::refused();
    }
    if given.message.is_empty() {
        return problem(
            StatusCode::BAD_REQUEST,
            "No message",
            "Paste a message or choose a file, then check it.",
        );
    }
    if given.message.len() > LARGEST_MESSAGE {
        return too_large();
    }
    let service = Arc::clone(&site.service);
    let work = tokio::task::spawn_blocking(move || {
        service.check_and_number(given.user.as_deref(), &given.message, Origin::Page)
    });
    match work.await {
        // The browser is redirected to the decision, so that a reload sends nothing again.
        Ok(Ok((_, number))) => Redirect::to(&format!("/decisions/{number}")).into_response(),
        Ok(Err(error)) => {
            problem(StatusCode::INTERNAL_SERVER_ERROR, "It could not be judged", &error.to_string())
        }
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "It could not be judged", "An internal error."),
    }
}

/// Reads the fields of the form. A chosen file takes precedence over pasted text.
async fn read(mut form: Multipart) -> Result<Given, MultipartError> {
    let mut given = Given { token: String::new(), message: Vec::new(), user: None };
    let mut file = Vec::new();
    while let Some(field) = form.next_field().await? {
        let name = field.name().unwrap_or_default().to_owned();
        let bytes = field.bytes().await?;
        match name.as_str() {
            "token" => given.token = String::from_utf8_lossy(&bytes).into_owned(),
            "message" => given.message = bytes.into(),
            "file" => file = bytes.into(),
            "user" => {
                let user = String::from_utf8_lossy(&bytes).trim().to_owned();
                given.user = Some(user).filter(|user| !user.is_empty());
            }
            _ => {}
        }
    }
    if !file.is_empty() {
        given.message = file;
    }
    Ok(given)
}

fn too_large() -> Response {
    let limit = LARGEST_MESSAGE >> 20;
    problem(
        StatusCode::PAYLOAD_TOO_LARGE,
        "Too large",
        &format!("The page takes messages of up to {limit} MiB. crivo mail check takes larger ones."),
    )
}
