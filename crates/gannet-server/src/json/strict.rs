//! JSON whose objects have each member once. Elasticsearch rejects others, and so must a server
//! that keeps the last of two: the first would be lost in silence.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A value whose objects have each member once.
struct StrictJson(Value);

/// Reads a value.
pub fn parse_strictly(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).map(|StrictJson(value)| value)
}

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<StrictJson, D::Error> {
        from.deserialize_any(StrictVisitor).map(StrictJson)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).map(Value::Number);
        number.ok_or_else(|| E::custom("a number is too large"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(StrictJson(value)) = elements.next_element()? {
            array.push(value);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let StrictJson(value) = members.next_value()?;
            if object.contains_key(&name) {
                return Err(A::Error::custom(format!("Duplicate field '{name}'")));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_each_member_once_is_read_as_ever() {
        for text in [
            r#"{"a":[1,-2,2.5,1e300,18446744073709551615,true,null,"x\n"],"b":{"a":{}}}"#,
            "[]",
            r#""é""#,
            "0",
        ] {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse_strictly(text.as_bytes()).unwrap(), expected);
        }
    }

    #[test]
    fn a_member_that_comes_twice_is_an_error_at_its_place() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"[{"b":{"a":1,"c":2,"a":3}}]"#,
            r#"{"\u0061":1,"a":2}"#,
        ] {
            let error = parse_strictly(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("Duplicate field 'a'"), "{error}");
        }
    }
}
