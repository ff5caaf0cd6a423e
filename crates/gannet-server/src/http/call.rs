//! A request as handlers see it: parts of its path, parameters, body.

use axum::body::Bytes;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::caller::Caller;
use crate::fault::{Fault, Outcome};
use crate::json::parse_json;
use crate::near::nearest;

/// Parameters that every route takes.
const COMMON_PARAMETERS: [&str; 5] = ["pretty", "human", "error_trace", "filter_path", "format"];

/// A request.
pub struct Call {
    /// The path as it came.
    pub path: String,
    /// The parts of the path that the route names.
    pub parts: Vec<(String, String)>,
    /// The parameters of the URL.
    pub parameters: Vec<(String, String)>,
    /// The body, decompressed.
    pub body: Bytes,
    /// Its media type in lower case, without parameters.
    pub media: String,
    /// Set if its caller accepts JSON before anything else.
    pub wants_json: bool,
    /// Set if its caller expects answers of version 7, in which documents have a type.
    pub is_version_7: bool,
    /// The caller.
    pub caller: Caller,
}

/// Reads the parameters behind the `?` of a URL.
pub fn parse_parameters(query: &str) -> Outcome<Vec<(String, String)>> {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        let decoded = percent_decode_str(&text).decode_utf8();
        decoded
            .map(|text| text.into_owned())
            .map_err(|_| Fault::illegal("the parameters of the URL are not UTF-8"))
    };
    let parameters = query.split('&').filter(|part| !part.is_empty());
    let parameters = parameters.map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Ok((decode(name)?, decode(value)?))
    });
    parameters.collect()
}

impl Call {
    /// The same without its body.
    pub fn without_body(&self) -> Call {
        Call {
            path: self.path.clone(),
            parts: self.parts.clone(),
            parameters: self.parameters.clone(),
            body: Bytes::new(),
            media: String::new(),
            wants_json: self.wants_json,
            is_version_7: self.is_version_7,
            caller: self.caller.clone(),
        }
    }

    /// A part of the path; empty if the route has no such part.
    pub fn part(&self, name: &str) -> &str {
        let mut parts = self.parts.iter();
        let found = parts.find(|(other, _)| other == name);
        found.map_or("", |(_, value)| value)
    }

    /// A parameter, if it is there.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        let found = parameters.find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A parameter that is true or false; true if it has no value.
    pub fn flag(&self, name: &str) -> Outcome<Option<bool>> {
        match self.parameter(name) {
            None => Ok(None),
            Some("" | "true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(Fault::illegal(format!(
                "Failed to parse value [{other}] of [{name}] as only [true] or [false] are allowed."
            ))),
        }
    }

    /// A parameter that is a whole number from 0 on.
    pub fn count(&self, name: &str) -> Outcome<Option<u64>> {
        let Some(text) = self.parameter(name) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            Fault::illegal(format!(
                "Failed to parse int parameter [{name}] with value [{text}]"
            ))
        })
    }

    /// The body as JSON; an empty object if there is none.
    pub fn json(&self) -> Outcome<Value> {
        parse_json(&self.body)
    }

    /// Fails at a parameter that a route does not take.
    pub fn check_parameters(&self, known: &[&str]) -> Outcome<()> {
        let all = || COMMON_PARAMETERS.iter().chain(known).copied();
        let mut parameters = self.parameters.iter();
        let Some((unknown, _)) = parameters.find(|(name, _)| !all().any(|known| known == name))
        else {
            return Ok(());
        };
        let proposal = nearest(unknown, all());
        let proposal =
            proposal.map_or_else(String::new, |near| format!(" -> did you mean [{near}]?"));
        Err(Fault::illegal(format!(
            "request [{}] contains unrecognized parameter: [{unknown}]{proposal}",
            self.path
        )))
    }
}
