//! Checks that every page must pass.

use serde_json::{Value, json};

use crate::{Browser, Theme};

/// Finds every visible text whose contrast to its background is too low (WCAG 2, 1.4.3).
const CONTRAST: &str = include_str!("contrast.js");

impl Browser {
    /// Checks what all pages promise: no warnings or errors of the browser, no request except for
    /// the page itself, readable text in both themes, and no sideways scrolling on a phone of 360
    /// pixels. It also requires one main heading, landmarks, and a name for every control and
    /// picture.
    ///
    /// The page must be open. Afterwards the window has the state of [`start`](Browser::start)
    /// again.
    pub fn audit(&self) {
        self.audit_document();
        for theme in [Theme::Light, Theme::Dark] {
            self.prefer(theme);
            assert_eq!(self.too_faint(), Vec::<String>::new(), "text too faint in {theme:?}");
        }
        self.prefer(Theme::Light);
        self.resize(360, 740);
        assert_eq!(self.sticking_out(), Vec::<String>::new(), "wider than a phone");
        self.resize(1200, 900);
        assert_eq!(self.complaints(), Vec::<String>::new(), "the browser complained");
    }

    /// Returns the URLs that were requested, except that of the open page.
    pub fn foreign_requests(&self) -> Vec<String> {
        let own = self.run_for_text("return location.href.split('#')[0]");
        self.requests().into_iter().filter(|url| *url != own && !url.starts_with("data:")).collect()
    }

    /// Returns the texts with a contrast below 4.5, or below 3 if they are large.
    pub fn too_faint(&self) -> Vec<String> {
        texts(&self.run(CONTRAST))
    }

    /// Returns the elements that make the page scroll sideways, or none if it does not.
    pub fn sticking_out(&self) -> Vec<String> {
        texts(&self.run(
            "const root = document.scrollingElement, width = root.clientWidth;
             if (root.scrollWidth <= width) return [];
             return [...document.body.querySelectorAll('*')]
                 .filter((one) => one.getBoundingClientRect().right > width + 1 && !one.closest('.scroll, .unseen, svg'))
                 .map((one) => `${one.tagName}.${one.className}: ${one.getBoundingClientRect().right}`)
                 .concat([`page: ${root.scrollWidth}`]);",
        ))
    }

    fn audit_document(&self) {
        let found = self.run(
            "const all = (selector) => [...document.querySelectorAll(selector)];
             const named = (one) => one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.[0]?.textContent.trim();
             const ids = all('[id]').map((one) => one.id);
             return {
                 headings: all('h1').length, main: all('main').length, header: all('body > header').length,
                 language: document.documentElement.lang, title: document.title !== '',
                 unnamed: all('button, a, input, select, textarea').filter((one) => !named(one)).map((one) => one.outerHTML),
                 pictures: all('svg[role=img]').filter((one) => !one.querySelector(':scope > title')?.textContent).length,
                 silent: all('svg:not(svg svg)').filter((one) => one.getAttribute('role') !== 'img' && one.getAttribute('aria-hidden') !== 'true'
                     // A picture with controls in it is a group with a name.
                     && !(one.getAttribute('role') === 'group' && one.getAttribute('aria-label'))).length,
                 twice: ids.filter((id, index) => ids.indexOf(id) !== index),
                 handlers: all('*').filter((one) => [...one.attributes].some(({ name }) => name.startsWith('on'))).length,
             };",
        );
        let expected = json!({
            "headings": 1, "main": 1, "header": 1, "language": "en", "title": true,
            "unnamed": [], "pictures": 0, "silent": 0, "twice": [], "handlers": 0
        });
        assert_eq!(found, expected, "what the page lacks");
    }
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|one| one.as_str().unwrap_or("?").to_owned()).collect()
}
