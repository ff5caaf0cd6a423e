//! Writes objects and arrays member by member, so that sources pass through byte for byte.

use serde::Serialize;

/// A JSON object that is being written.
pub struct JsonObject(String);

/// A JSON array that is being written.
pub struct JsonArray(String);

impl JsonObject {
    /// Begins an object.
    pub fn new() -> JsonObject {
        JsonObject("{".to_owned())
    }

    /// Adds a member.
    #[must_use]
    pub fn put<T: Serialize + ?Sized>(self, name: &str, value: &T) -> JsonObject {
        let json = text_of(value);
        self.raw(name, &json)
    }

    /// Adds a member whose value is JSON already.
    #[must_use]
    pub fn raw(mut self, name: &str, json: &str) -> JsonObject {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&text_of(name));
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// Ends the object.
    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

impl JsonArray {
    /// Begins an array.
    pub fn new() -> JsonArray {
        JsonArray("[".to_owned())
    }

    /// Adds an element that is JSON already.
    pub fn push(&mut self, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(json);
    }

    /// Ends the array.
    pub fn end(mut self) -> String {
        self.0.push(']');
        self.0
    }
}

/// Only maps with keys that are no text fail, and nothing here has any.
fn text_of<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
