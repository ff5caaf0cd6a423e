//! The texts of one field of a stored document, straight from its JSON source: nothing of the
//! document is copied but a text with escapes, one at a time.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::flatten::Key;
use crate::base::Error;

/// Shows the texts of the field called `name`, in order, to `visit`.
pub fn each_text(
    source: &[u8],
    name: &str,
    visit: &mut dyn FnMut(&str),
) -> crate::base::Result<()> {
    let mut parser = serde_json::Deserializer::from_slice(source);
    let mut texts = Texts {
        name,
        path: String::new(),
        visit,
    };
    let read = PathMember(&mut texts).deserialize(&mut parser);
    read.map_err(|error| Error::damaged("the source of a document", error.to_string()))
}

struct Texts<'t> {
    name: &'t str,
    /// The name of the value being read.
    path: String,
    visit: &'t mut dyn FnMut(&str),
}

/// The value at the path.
struct PathMember<'t, 'v>(&'t mut Texts<'v>);

impl Texts<'_> {
    /// Goes down to a member. Tells whether the field may be there.
    fn enter(&mut self, key: &str) -> bool {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
        let rest = self.name.strip_prefix(&self.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

impl<'de> DeserializeSeed<'de> for PathMember<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PathMember<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let texts = self.0;
        while let Some(key) = map.next_key_seed(Key)? {
            let key: Cow<'de, str> = key;
            let outer = texts.path.len();
            if texts.enter(&key) {
                map.next_value_seed(PathMember(texts))?
            } else {
                map.next_value::<IgnoredAny>().map(|_| ())?
            }
            texts.path.truncate(outer);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(PathMember(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.0.path == self.0.name {
            (self.0.visit)(text);
        }
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::documents::{Document, Value};

    fn texts(source: &str, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_text(source.as_bytes(), name, &mut |text| {
            found.push(text.to_owned())
        })
        .unwrap();
        found
    }

    #[test]
    fn texts_are_found_by_dotted_names() {
        let source =
            r#"{"a":"1","b":{"c":["2","é\n",3,{"d":"4"}],"c.d":"5"},"b.c":"6","bc":"7","n":null}"#;
        assert_eq!(texts(source, "a"), ["1"]);
        assert_eq!(texts(source, "b.c"), ["2", "é\n", "6"]);
        assert_eq!(texts(source, "b.c.d"), ["4", "5"]);
        assert!(texts(source, "b").is_empty() && texts(source, "").is_empty());
        assert!(each_text(b"{\"a\":", "a", &mut |_| {}).is_err());
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<i32>().prop_map(serde_json::Value::from),
            "[a-c\"\\\\é]{0,3}".prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::from),
                prop::collection::btree_map("[ab]", inner, 1..3)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn they_are_those_that_the_document_has(value in value(), name in "[ab](\\.[ab]){0,2}") {
            let source = format!("{{\"a\":{value}}}");
            let document = Document::parse_as(None, source.as_bytes()).unwrap();
            let fields = document.fields().iter();
            let expected: Vec<String> = fields
                .filter_map(|(field, value)| match value {
                    Value::Text(text) if *field == name => Some(text.clone()),
                    _ => None,
                })
                .collect();
            prop_assert_eq!(texts(&source, &name), expected);
        }
    }
}
