//! Takes a JSON object apart into its members, whose values stay as they are written.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object in their order: names with the JSON of their values.
///
/// It is read with any deserializer of `serde_json` that borrows from its text.
pub struct ObjectMembers<'a>(pub Vec<(String, &'a str)>);

impl<'a> ObjectMembers<'a> {
    /// Returns the value of a member, unless it is null.
    pub fn value(&self, name: &str) -> Option<&'a str> {
        let mut members = self.0.iter();
        let found = members.find(|(other, _)| other == name);
        let value = found.map(|(_, value)| *value);
        value.filter(|value| *value != "null")
    }

    /// Returns true if there is a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ObjectMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_map(MembersVisitor)
            .map(ObjectMembers)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(String, &'de str)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
            members.push((name, value.get()));
        }
        Ok(members)
    }
}
