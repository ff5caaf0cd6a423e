//! Media types: those of JSON, also by the names that Elasticsearch's clients of versions 7 to 9
//! give.

use crate::fault::{Fault, Outcome};

/// The body that a route takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// None is read.
    None,
    /// An object of JSON, or nothing.
    Json,
    /// Lines of JSON.
    Lines,
    /// Documents: lines of JSON, JSON or CSV.
    Documents,
}

/// The media type of CSV.
pub const CSV: &str = "text/csv";

/// The media type of an answer of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerMedia(pub String);

const JSON: &str = "application/json";
const VENDORED_JSON: &str = "application/vnd.elasticsearch+json";
const LINES: [&str; 3] = [
    "application/x-ndjson",
    "application/vnd.elasticsearch+x-ndjson",
    "application/x-json-stream",
];
const VERSIONS: [&str; 3] = ["7", "8", "9"];

/// Fails if a body has a media type that cannot be read.
pub fn check_body_media(content_type: Option<&str>, kind: BodyKind) -> Outcome<()> {
    let rejected = |found: &str| {
        Err(Fault::plain(
            406,
            format!("Content-Type header [{found}] is not supported"),
        ))
    };
    let Some(written) = content_type else {
        return match kind {
            BodyKind::None => Ok(()),
            _ => Err(Fault::plain(
                406,
                "Content-Type header is missing: a body needs application/json",
            )),
        };
    };
    let (name, version) = split(written);
    let is_json = name == JSON || name == VENDORED_JSON;
    let is_lines = LINES.contains(&name.as_str());
    let is_known = version.is_none_or(|version| VERSIONS.contains(&version.as_str()));
    match kind {
        BodyKind::None => Ok(()),
        BodyKind::Json if is_json && is_known => Ok(()),
        // Clients send lines by the one name or the other.
        BodyKind::Lines if (is_json || is_lines) && is_known => Ok(()),
        BodyKind::Documents if (is_json || is_lines) && is_known || name == CSV => Ok(()),
        _ => rejected(written),
    }
}

/// Returns the media type of an answer of JSON to a client that accepts `accept`.
pub fn answer_media(accept: Option<&str>) -> Outcome<AnswerMedia> {
    let mut vendored = None;
    let mut is_json = accept.is_none();
    for written in accept.unwrap_or_default().split(',') {
        let (name, version) = split(written);
        match (name.as_str(), version) {
            (VENDORED_JSON, Some(version)) if VERSIONS.contains(&version.as_str()) => {
                vendored.get_or_insert(format!("{VENDORED_JSON};compatible-with={version}"));
            }
            (VENDORED_JSON, Some(_)) => {}
            (
                JSON | VENDORED_JSON | "*/*" | "application/*" | "text/plain" | "text/html" | "",
                _,
            ) => {
                is_json = true;
            }
            _ => {}
        }
    }
    match vendored {
        Some(vendored) => Ok(AnswerMedia(vendored)),
        None if is_json => Ok(AnswerMedia(JSON.to_owned())),
        None => Err(Fault::plain(
            406,
            format!(
                "Accept header [{}] is not supported: answers are application/json",
                accept.unwrap_or_default()
            ),
        )),
    }
}

/// Returns true if the first media type that a client accepts is JSON: tables are for people
/// otherwise.
pub fn wants_json(accept: &str) -> bool {
    is_json_media(&split(accept.split(',').next().unwrap_or_default()).0)
}

/// The name of a media type in lower case, without its parameters.
pub fn media_name(written: &str) -> String {
    split(written).0
}

/// Returns true if a media type is one of JSON, and not of lines of it.
pub fn is_json_media(name: &str) -> bool {
    name == JSON || name == VENDORED_JSON
}

/// The name of a media type in lower case, and the version that it is to be compatible with.
fn split(written: &str) -> (String, Option<String>) {
    let mut parts = written.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let version = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        let is_version = key.trim().eq_ignore_ascii_case("compatible-with");
        is_version.then(|| value.trim().trim_matches('"').to_owned())
    });
    (name, version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_three_versions_are_answered_in_their_words() {
        for version in VERSIONS {
            let written = format!("application/vnd.elasticsearch+json; compatible-with={version}");
            let answered = answer_media(Some(&written)).unwrap().0;
            let expected = format!("application/vnd.elasticsearch+json;compatible-with={version}");
            assert_eq!(answered, expected);
            check_body_media(Some(&written), BodyKind::Json).unwrap();
            let lines =
                format!("application/vnd.elasticsearch+x-ndjson; compatible-with={version}");
            check_body_media(Some(&lines), BodyKind::Lines).unwrap();
        }
        for accept in [None, Some("*/*"), Some("application/json, text/plain")] {
            assert_eq!(answer_media(accept).unwrap().0, JSON);
        }
    }

    #[test]
    fn other_media_are_rejected() {
        for (written, kind) in [
            (Some("application/yaml"), BodyKind::Json),
            (Some("text/plain"), BodyKind::Json),
            (Some("application/x-ndjson"), BodyKind::Json),
            (
                Some("application/vnd.elasticsearch+json; compatible-with=6"),
                BodyKind::Json,
            ),
            (None, BodyKind::Lines),
        ] {
            let fault = check_body_media(written, kind).unwrap_err();
            assert_eq!(fault.status, 406, "{written:?}");
        }
        assert_eq!(
            answer_media(Some("application/cbor")).unwrap_err().status,
            406
        );
    }
}
