//! The members of a JSON object, each taken once; what remains is an error that names it.

use gannet_values::Number;
use serde_json::{Map, Value};

use super::Scalar;
use crate::error::{Error, Result};

/// The members of an object that are not read yet.
pub(super) struct Members<'a> {
    /// The words by which errors name the object.
    pub(super) of: String,
    object: &'a Map<String, Value>,
    taken: Vec<&'static str>,
}

impl<'a> Members<'a> {
    pub(super) fn of(of: String, value: &'a Value) -> Result<Members<'a>> {
        let object = value
            .as_object()
            .ok_or_else(|| Error::request(format!("{of} must be an object")))?;
        Ok(Members {
            of,
            object,
            taken: Vec::new(),
        })
    }

    pub(super) fn take(&mut self, name: &'static str) -> Option<&'a Value> {
        self.taken.push(name);
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// Lets members pass that change only how fast or how exactly others count.
    pub(super) fn ignore(&mut self, names: &[&'static str]) {
        self.taken.extend(names);
    }

    pub(super) fn wrong(&self, name: &str, expected: &str) -> Error {
        Error::request(format!("\"{name}\" of {} must be {expected}", self.of))
    }

    pub(super) fn string(&mut self, name: &'static str) -> Result<Option<&'a str>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let text = value.as_str();
        text.map(Some).ok_or_else(|| self.wrong(name, "a string"))
    }

    pub(super) fn field(&mut self) -> Result<String> {
        let field = self.string("field")?;
        let field = field.ok_or_else(|| {
            Error::request(format!("{} has no \"field\", which it needs", self.of))
        })?;
        Ok(field.to_owned())
    }

    pub(super) fn boolean(&mut self, name: &'static str) -> Result<bool> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    pub(super) fn whole(&mut self, name: &'static str, default: u64) -> Result<u64> {
        match self.take(name) {
            None => Ok(default),
            Some(value) => value
                .as_u64()
                .ok_or_else(|| self.wrong(name, "a whole number of 0 or more")),
        }
    }

    /// Takes the most buckets of an answer.
    pub(super) fn size(&mut self, most: usize) -> Result<usize> {
        let size = usize::try_from(self.whole("size", 10)?).unwrap_or(usize::MAX);
        if size == 0 || size > most {
            return Err(self.wrong("size", &format!("1 to {most}")));
        }
        Ok(size)
    }

    pub(super) fn double(&mut self, name: &'static str) -> Result<Option<f64>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => match value.as_f64() {
                Some(double) if double.is_finite() => Ok(Some(double)),
                _ => Err(self.wrong(name, "a number")),
            },
        }
    }

    pub(super) fn scalar(&mut self, name: &'static str) -> Result<Option<Scalar>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => scalar(value)
                .map(Some)
                .ok_or_else(|| self.wrong(name, "a string, a number or a boolean")),
        }
    }

    pub(super) fn list(&mut self, name: &'static str) -> Result<Option<&'a Vec<Value>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => Err(self.wrong(name, "a list")),
        }
    }

    /// Ends the reading: members that were not taken are errors.
    pub(super) fn end(self) -> Result<()> {
        let mut names = self.object.keys();
        let unknown = names.find(|name| !self.taken.contains(&name.as_str()));
        match unknown {
            None => Ok(()),
            Some(name) => Err(Error::request(format!(
                "\"{name}\" of {} is not supported",
                self.of
            ))),
        }
    }
}

pub(super) fn scalar(value: &Value) -> Option<Scalar> {
    match value {
        Value::Bool(value) => Some(Scalar::Text(value.to_string())),
        Value::String(text) => Some(Scalar::Text(text.clone())),
        Value::Number(_) => number(value).map(Scalar::Number),
        _ => None,
    }
}

pub(super) fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Number::parse(&number.to_string()),
        _ => None,
    }
}
