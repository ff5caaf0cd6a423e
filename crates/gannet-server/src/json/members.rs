//! Members of an object of a request: each is known, or an error with the nearest name.

use serde_json::{Map, Value};

use super::strict::parse_strictly;
use crate::fault::{Fault, Outcome, Place};
use crate::near::nearest;

/// The members of an object, with the name under which errors speak of it.
#[derive(Clone, Copy)]
pub struct Members<'a> {
    /// The name of the object in errors.
    pub name: &'a str,
    members: &'a Map<String, Value>,
}

/// Reads a body, or a part of one. An empty one is an empty object.
pub fn parse_json(bytes: &[u8]) -> Outcome<Value> {
    if bytes.trim_ascii().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    parse_strictly(bytes).map_err(|error| {
        Fault::new(
            400,
            "x_content_parse_exception",
            format!(
                "[{}:{}] the body cannot be read as JSON: {error}",
                error.line(),
                error.column()
            ),
        )
        .at(Place::in_body(error.line(), error.column()))
    })
}

impl<'a> Members<'a> {
    /// The members of `value`, which must be an object.
    pub fn of(name: &'a str, value: &'a Value) -> Outcome<Members<'a>> {
        match value {
            Value::Object(members) => Ok(Members { name, members }),
            other => Err(Fault::parsing(format!(
                "[{name}] expected an object, found {}",
                kind_of(other)
            ))),
        }
    }

    /// The members in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
        self.members
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// Fails if there are members beside `known` and `not_there`, which Elasticsearch has and
    /// Gannet has not.
    pub fn check(&self, known: &[&str], not_there: &[&str]) -> Outcome<()> {
        for (name, value) in self.iter() {
            if known.contains(&name) || value.is_null() {
                continue;
            }
            if not_there.contains(&name) {
                return Err(Fault::query_not_there(&format!(
                    "[{name}] of [{}]",
                    self.name
                )));
            }
            return Err(self.unknown(name, known));
        }
        Ok(())
    }

    /// The error for a member that nobody knows.
    pub fn unknown(&self, name: &str, known: &[&str]) -> Fault {
        let proposal = nearest(name, known.iter().copied());
        let proposal = proposal.map_or_else(String::new, |near| format!(" did you mean [{near}]?"));
        Fault::parsing(format!("unknown key [{name}] in [{}]{proposal}", self.name))
    }

    /// The value of a member, unless it is null.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// The only member: its name and value.
    pub fn only(&self) -> Outcome<(&'a str, &'a Value)> {
        let mut members = self.iter();
        match (members.next(), members.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(Fault::parsing(format!(
                "[{}] expected one member, found none",
                self.name
            ))),
            (_, Some((second, _))) => Err(Fault::parsing(format!(
                "[{}] malformed query, expected one member but found [{second}] too",
                self.name
            ))),
        }
    }

    /// A member that is a text.
    pub fn text(&self, name: &str) -> Outcome<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.misfit(name, "a string", other)),
        }
    }

    /// A member that is a boolean, or one in quotes.
    pub fn flag(&self, name: &str) -> Outcome<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text == "true" => Ok(Some(true)),
            Some(Value::String(text)) if text == "false" => Ok(Some(false)),
            Some(other) => Err(self.misfit(name, "true or false", other)),
        }
    }

    /// A member that is a whole number from 0 on, or one in quotes.
    pub fn count(&self, name: &str) -> Outcome<Option<usize>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::String(text) => text.parse().ok(),
            other => other.as_u64().and_then(|number| number.try_into().ok()),
        };
        number
            .map(Some)
            .ok_or_else(|| self.misfit(name, "a whole number from 0 on", value))
    }

    /// A member that is a number.
    pub fn number(&self, name: &str) -> Outcome<Option<f32>> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => match value.as_f64().map(|number| number as f32) {
                Some(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(self.misfit(name, "a number", value)),
            },
        }
    }

    /// A member that is a text or a list of texts.
    pub fn texts(&self, name: &str) -> Outcome<Option<Vec<&'a str>>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let list = match value {
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let texts = list.iter().map(|one| {
            one.as_str()
                .ok_or_else(|| self.misfit(name, "strings", one))
        });
        texts.collect::<Outcome<Vec<_>>>().map(Some)
    }

    /// The error for a member of another kind than expected.
    pub fn misfit(&self, name: &str, expected: &str, found: &Value) -> Fault {
        Fault::parsing(format!(
            "[{}] failed to parse field [{name}]: expected {expected}, found {}",
            self.name,
            kind_of(found)
        ))
    }
}

/// The kind of a value, for errors.
pub fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let start: String = text.chars().take(40).collect();
            format!("{start:?}")
        }
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
