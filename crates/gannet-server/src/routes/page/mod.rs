//! The page: one document with its style and its modules, as they are, without a build. It asks
//! nothing but Gannet's own API, and loads nothing from elsewhere.

use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::service::Service;

/// A file of the page: its name, its media type, its text.
type PageFile = (&'static str, &'static str, &'static str);

const HTML: &str = "text/html; charset=UTF-8";
const STYLE: &str = "text/css; charset=UTF-8";
const SCRIPT: &str = "text/javascript; charset=UTF-8";
const IMAGE: &str = "image/svg+xml";

/// The parameters of its URL, which has its state.
pub const STATE: [&str; 10] = [
    "view", "index", "q", "filters", "sort", "offset", "pane", "open", "date", "hit",
];

/// The files of the page.
const FILES: &[PageFile] = &[
    ("page.css", STYLE, include_str!("page.css")),
    ("icon.svg", IMAGE, include_str!("icon.svg")),
    ("main.js", SCRIPT, include_str!("main.js")),
    ("state.js", SCRIPT, include_str!("state.js")),
    ("api.js", SCRIPT, include_str!("api.js")),
    ("element.js", SCRIPT, include_str!("element.js")),
    ("search.js", SCRIPT, include_str!("search.js")),
    ("hits.js", SCRIPT, include_str!("hits.js")),
    ("fields.js", SCRIPT, include_str!("fields.js")),
    ("filters.js", SCRIPT, include_str!("filters.js")),
    ("histogram.js", SCRIPT, include_str!("histogram.js")),
    ("cost.js", SCRIPT, include_str!("cost.js")),
    ("request.js", SCRIPT, include_str!("request.js")),
    ("why.js", SCRIPT, include_str!("why.js")),
    ("analysis.js", SCRIPT, include_str!("analysis.js")),
    ("figures.js", SCRIPT, include_str!("figures.js")),
];

/// `GET /_ui`.
pub fn document(_: &Call, _: &Service) -> Outcome<Answer> {
    Ok(Answer::of_media(HTML, include_str!("page.html")))
}

/// `GET /_ui/{file}`.
pub fn file(call: &Call, _: &Service) -> Outcome<Answer> {
    let wanted = call.part("file");
    let found = FILES.iter().find(|(name, ..)| *name == wanted);
    match found {
        Some((_, media, text)) => Ok(Answer::of_media(media, text)),
        None => Err(Fault::plain(
            404,
            "the page has no such file: /_ui is the page",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the whole page.
    const BYTES_MAX: usize = 150 << 10;

    #[test]
    fn the_page_is_small_and_asks_nobody_else() {
        let html = include_str!("page.html");
        let mut bytes = html.len();
        for (name, _, text) in FILES {
            bytes += text.len();
            assert!(
                !text.contains("innerHTML") && !text.contains("eval("),
                "{name}"
            );
            let is_namespace = *name == "icon.svg";
            assert!(is_namespace || !text.contains("://"), "{name}");
            // Each module is loaded by the document or by another one.
            let of_page = format!("/_ui/{name}");
            let of_module = format!("\"./{name}\"");
            let is_used = html.contains(&of_page)
                || FILES.iter().any(|(_, _, text)| text.contains(&of_module));
            assert!(is_used, "{name}");
        }
        assert!(bytes <= BYTES_MAX, "{bytes}");
        for name in STATE {
            assert!(
                include_str!("state.js").contains(&format!("\n  {name}: ")),
                "{name}"
            );
        }
    }
}
