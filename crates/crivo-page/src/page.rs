//! One HTML document that needs no other file and loads none.
//!
//! The policy forbids everything (`default-src 'none'`) except the page's own style and script,
//! each by the hash of its text, and the icon inside the page. So no value of an input file can run
//! in a browser or make it request anything from the network. A server sends the same policy as a
//! header, where it can also forbid framing; see [`Page::parts`].

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{style, text};

/// A sieve, drawn for the tab of a browser.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
%3Cpath d='M1 4h14l-2.6 7a2 2 0 0 1-1.9 1.3h-5A2 2 0 0 1 3.6 11z' fill='%230b6e99'/%3E\
%3Cpath d='M5 6.6h0m3 0h0m3 0h0M6.5 9.4h0m3 0h0' stroke='%23fff' stroke-width='1.6' stroke-linecap='round'/%3E%3C/svg%3E";

/// A self-contained document: a title, a sentence about it, and a body.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    lead: String,
    style: String,
    script: String,
    head: Markup,
    body: Markup,
    foot: Markup,
    forms: bool,
    fetches: bool,
}

/// The parts that a server sends: the document, and the policy for the header
/// `Content-Security-Policy`.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The document, without the policy.
    pub html: String,
    /// The policy.
    pub policy: String,
}

impl Page {
    /// Returns an empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            lead: String::new(),
            style: String::new(),
            script: String::new(),
            head: html! {},
            body: html! {},
            foot: html! {},
            forms: false,
            fetches: false,
        }
    }

    /// Sets the sentence under the title.
    #[must_use]
    pub fn lead(mut self, lead: impl Into<String>) -> Self {
        self.lead = lead.into();
        self
    }

    /// Adds style after the page's own.
    #[must_use]
    pub fn style(mut self, style: &str) -> Self {
        self.style.push_str(style);
        self
    }

    /// Adds a script after the page's own. It runs when the document is loaded.
    #[must_use]
    pub fn script(mut self, script: &str) -> Self {
        self.script.push_str(script);
        self
    }

    /// Sets the content of the header, under title and lead.
    #[must_use]
    pub fn head(mut self, head: Markup) -> Self {
        self.head = head;
        self
    }

    /// Sets the content.
    #[must_use]
    pub fn body(mut self, body: Markup) -> Self {
        self.body = body;
        self
    }

    /// Sets the content of the footer, which tells the origin of the page.
    #[must_use]
    pub fn foot(mut self, foot: Markup) -> Self {
        self.foot = foot;
        self
    }

    /// Allows forms to be sent to the page's server.
    #[must_use]
    pub fn may_send_forms(mut self) -> Self {
        self.forms = true;
        self
    }

    /// Allows the script to send requests to the page's server.
    #[must_use]
    pub fn may_fetch(mut self) -> Self {
        self.fetches = true;
        self
    }

    /// Returns the document as a file, which includes its policy.
    pub fn to_html(&self) -> String {
        self.document(true)
    }

    /// Returns the document and its policy separately, for a server.
    pub fn parts(&self) -> Parts {
        Parts { html: self.document(false), policy: format!("{}; frame-ancestors 'none'", self.policy()) }
    }

    /// Returns the policy of the page, without framing, which only a header can forbid.
    fn policy(&self) -> String {
        let from_server = |allowed: bool| if allowed { "'self'" } else { "'none'" };
        format!(
            "default-src 'none'; style-src {}; script-src {}; img-src data:; connect-src {}; form-action {}; base-uri 'none'",
            style::source(&style::for_page(&self.style)),
            style::source(&style::script(&self.script)),
            from_server(self.fetches),
            from_server(self.forms),
        )
    }

    fn document(&self, policy_inside: bool) -> String {
        let policy = policy_inside.then(|| self.policy());
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    @if let Some(policy) = policy { meta http-equiv="Content-Security-Policy" content=(policy); }
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    meta name="color-scheme" content="light dark";
                    title { (text::visible(&self.title)) }
                    link rel="icon" href=(ICON);
                    style { (PreEscaped(style::for_page(&self.style))) }
                }
                body {
                    a.skip href="#content" { "Skip to content" }
                    header {
                        h1 { bdi { (text::visible(&self.title)) } }
                        @if !self.lead.is_empty() { p.lead { (text::visible(&self.lead)) } }
                        (self.head)
                    }
                    main id="content" tabindex="-1" { (self.body) }
                    footer { (self.foot) }
                    script { (PreEscaped(style::script(&self.script))) }
                }
            }
        };
        page.into_string()
    }
}
