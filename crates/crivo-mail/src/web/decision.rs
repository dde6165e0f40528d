//! The page of a decision: the verdict, its probability, the reasons, and the lessons to choose.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use crivo_page::{Bar, Bars, Markup, text};
use mail_parser::MessageParser;
use maud::html;
use serde::Deserialize;

use super::{Site, guard, page, problem, show};
use crate::service::{Decision, Given};
use crate::{Judgement, Label, Verdict};

/// The most bytes of a message's source that are shown.
const SHOWN: usize = 64 << 10;

/// Shows a decision that a person asked for.
#[allow(clippy::unused_async)] // pages are answered by asynchronous functions
pub(super) async fn show(State(site): State<Arc<Site>>, Path(number): Path<u64>) -> Response {
    let decision = site.service.journal().decision(number).cloned();
    let Some(decision) = decision else { return gone() };
    let Some(given) = &decision.given else {
        return problem(
            StatusCode::NOT_FOUND,
            "Only the verdict is kept",
            "This message came from a mail system. Nothing of its text is kept, so there is nothing more to show.",
        );
    };
    let message = given.message.as_deref().unwrap_or_default();
    let (title, lead) = (sentence(decision.verdict), about(&decision, message));
    let body = html! {
        @if let Some(notice) = notice(&decision, given) { p.notice role="status" { (notice) } }
        div.decision {
            section.card.verdict.(decision.verdict.name()) aria-labelledby="verdict-heading" {
                h2 #verdict-heading { "Verdict" }
                p.word { (show::badge(decision.verdict)) }
                p.probability { "Probability of spam " strong #score { (show::probability(decision.score)) } }
                (show::scale(&given.judgement))
            }
            section.card aria-labelledby="why" {
                h2 #why { "Why" }
                (reasons(&given.judgement))
            }
            @if !site.service.is_read_only() {
                section.card.teach aria-labelledby="teach-heading" {
                    h2 #teach-heading { "Was that right?" }
                    (lessons(&site, &decision, given))
                }
            }
            @if !given.judgement.labels.is_empty() {
                section.card aria-labelledby="labels" {
                    h2 #labels { "Labels" }
                    (labels(&given.judgement))
                }
            }
        }
        @if !message.is_empty() {
            details.source {
                summary { "The message as it came" }
                pre tabindex="0" { (source(message)) }
            }
        }
        p { a href="/" { "Check another message" } }
    };
    page("", title, &lead, body)
}

#[derive(Deserialize)]
pub(super) struct Lesson {
    token: String,
    /// `spam`, `ham`, `label:NAME`, or `forget`.
    #[serde(rename = "as")]
    taught: String,
    /// The name of a label, if a label is taught.
    #[serde(default)]
    label: String,
}

/// Teaches a message, and redirects to its page.
pub(super) async fn teach(
    State(site): State<Arc<Site>>,
    Path(number): Path<u64>,
    form: Result<Form<Lesson>, FormRejection>,
) -> Response {
    let Ok(Form(lesson)) = form else {
        return problem(
            StatusCode::BAD_REQUEST,
            "Not understood",
            "The form did not arrive whole. Send it again.",
        );
    };
    if !site.token.is(&lesson.token) {
        return guard::refused();
    }
    let label = match lesson.taught.as_str() {
        "forget" => Ok(None),
        "label" => Label::named(lesson.label.trim()).map(Some),
        class => class.parse().map(Some),
    };
    let label = match label {
        Ok(label) => label,
        Err(error) => return problem(StatusCode::BAD_REQUEST, "No such label", &error.to_string()),
    };
    let service = Arc::clone(&site.service);
    match tokio::task::spawn_blocking(move || service.teach(number, label.as_ref())).await {
        Ok(Ok(Some(_))) => Redirect::to(&format!("/decisions/{number}")).into_response(),
        Ok(Ok(None)) => gone(),
        Ok(Err(error)) => {
            problem(StatusCode::INTERNAL_SERVER_ERROR, "It was not learned", &error.to_string())
        }
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "It was not learned", "An internal error."),
    }
}

fn gone() -> Response {
    problem(
        StatusCode::NOT_FOUND,
        "No longer kept",
        "Only the last messages are kept, and none across a restart. Paste it again to teach it.",
    )
}

fn sentence(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Spam => "This looks like spam",
        Verdict::Ham => "This looks wanted",
        Verdict::Unsure => "Hard to say",
    }
}

/// Returns the subject and sender, if the message has them, the user, and the size.
fn about(decision: &Decision, message: &[u8]) -> String {
    let parsed = MessageParser::new().parse_headers(message);
    let parsed = parsed.as_ref();
    let subject = parsed.and_then(|m| m.subject()).map(|subject| format!("“{}”", text::shorten(subject, 80)));
    let sender = parsed
        .and_then(|m| m.from()?.first()?.address())
        .map(|address| format!("from {}", text::shorten(address, 60)));
    let user = decision.user.as_ref().map(|user| format!("for {}", text::shorten(user, 30)));
    let size = Some(show::size(decision.bytes));
    [subject, sender, user, size].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns a notice about the effect of the last lesson.
fn notice(decision: &Decision, given: &Given) -> Option<Markup> {
    let (verdict, score) = given.before?;
    let (taught, changed) = given.taught.last()?;
    Some(html! {
        @match (taught.as_str(), changed) {
            ("forget", true) => "Forgotten. ",
            ("forget", false) => "It had not been learned. ",
            (label, true) => { "Learned as " strong { (label) } ". " },
            (label, false) => { "It had been learned as " strong { (label) } " already. " },
        }
        "Before: " (verdict.name()) " (" (show::probability(score)) "); now: "
        strong { (decision.verdict.name()) } " (" (show::probability(decision.score)) ")."
    })
}

fn reasons(judgement: &Judgement) -> Markup {
    html! {
        @if judgement.reasons.is_empty() {
            p { "Nothing in it was known." }
        } @else {
            ol.reasons {
                @for reason in &judgement.reasons {
                    li.(show::direction(reason)) {
                        span.why { (text::visible(&reason.to_string())) }
                    }
                }
            }
        }
    }
}

fn labels(judgement: &Judgement) -> Markup {
    let mut bars = Bars::new("Probability of each label", "How likely each label is that the store knows.")
        .percent()
        .out_of(1.0);
    for (name, probability) in &judgement.labels {
        bars = bars.bar(Bar::new(name, *probability));
    }
    bars.figure()
}

fn lessons(site: &Site, decision: &Decision, given: &Given) -> Markup {
    let action = format!("/decisions/{}/teach", decision.number);
    html! {
        @if given.message.is_none() {
            p { "The message is no longer kept: paste it again to teach it." }
        } @else {
            form method="post" action=(action) {
                (super::token_field(&site.token))
                div.buttons {
                    button.spam type="submit" name="as" value="spam" { "It is spam" }
                    button.ham type="submit" name="as" value="ham" { "I want it" }
                    button.plain type="submit" name="as" value="forget" { "Forget it" }
                }
            }
            form.row method="post" action=(action) {
                (super::token_field(&site.token))
                label for="label" { "Label" }
                input.field #label name="label" required maxlength="64" autocomplete="off" list="known-labels"
                    placeholder="for example social";
                datalist #known-labels {
                    @for name in given.judgement.labels.keys() { option value=(name) {} }
                }
                button.plain type="submit" name="as" value="label" { "Add" }
            }
            p.hint { "A lesson counts once, and can be taken back with “Forget it”." }
        }
    }
}

/// Returns the beginning of a message, with invisible characters made visible except line ends and
/// tabs.
fn source(message: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&message[..message.len().min(SHOWN)]);
    let mut text: String = shown
        .lines()
        .map(|line| line.split('\t').map(text::visible).collect::<Vec<_>>().join("\t") + "\n")
        .collect();
    if message.len() > SHOWN {
        text += "… and ";
        text += &show::size(message.len() - SHOWN);
        text += " more\n";
    }
    text
}
