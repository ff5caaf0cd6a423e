//! A JSON object that is written member by member, so that a stored source stays as its author
//! wrote it: a number with all its digits, members in their order.

use serde_json::Value;

/// An object under way.
pub struct Object {
    text: String,
}

impl Object {
    /// An object without members.
    pub fn new() -> Object {
        Object {
            text: "{".to_owned(),
        }
    }

    /// Adds a member.
    pub fn member(&mut self, name: &str, value: impl Into<Value>) {
        self.written(name, &value.into().to_string());
    }

    /// Adds a member whose value is JSON already.
    pub fn written(&mut self, name: &str, json: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text += &format!("{}:{json}", Value::from(name));
    }

    /// The whole object.
    pub fn end(self) -> String {
        self.text + "}"
    }
}

/// JSON on one line: without the white space between its parts.
pub fn on_one_line(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let kept = json.chars().filter(|&character| {
        let quote = character == '"' && !escaped;
        escaped = inside && character == '\\' && !escaped;
        inside ^= quote;
        inside || !character.is_ascii_whitespace()
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_written_as_they_come() {
        let mut object = Object::new();
        object.member("a", 1);
        object.written("b", "1e999");
        assert_eq!(object.end(), r#"{"a":1,"b":1e999}"#);
        assert_eq!(Object::new().end(), "{}");
    }

    #[test]
    fn white_space_goes_but_not_inside_of_strings() {
        let json = "{ \"a b\" :\n[1 ,\"\\\\\" , \"\\\" \"]}";
        assert_eq!(on_one_line(json), "{\"a b\":[1,\"\\\\\",\"\\\" \"]}");
    }
}
