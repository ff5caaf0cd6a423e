//! JSON text straight into flat fields: a visitor that never builds a tree.
//!
//! Every bound is checked before what it bounds is stored, so that a hostile document costs no more
//! memory than a small multiple of its length.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::value::{Value, is_integer, spell, spell_integer};

/// Bytes of the longest external ID.
pub const ID_BYTES_MAX: usize = 512;

/// Returns the fault of an external ID, if it has any.
pub(super) fn id_fault(id: &str) -> Option<String> {
    match id.len() {
        0 => Some("the external ID is empty".to_owned()),
        1..=ID_BYTES_MAX => None,
        length => Some(format!(
            "the external ID has {length} bytes, at most {ID_BYTES_MAX} are allowed"
        )),
    }
}

/// The depth to which objects and arrays may be nested.
pub(super) const DEPTH_MAX: usize = 32;

/// Different fields of one document.
pub(super) const FIELDS_MAX: usize = 1_000;

/// Values of all fields of one document.
pub(super) const VALUES_MAX: usize = 100_000;

/// Bytes of the longest field name, dots included.
pub(super) const NAME_BYTES_MAX: usize = 255;

/// Integers that the parser gives as floats are at least so large.
const INTEGERS_ROUNDED: f64 = (1u64 << 63) as f64;

/// The values of one JSON object.
#[derive(Default)]
pub(super) struct Flattened {
    pub(super) id: Option<String>,
    pub(super) fields: Vec<(String, Value)>,
    pub(super) nulls: Vec<(String, u32)>,
}

/// Reads one JSON object and nothing after it. With `take_id`, its member `id` is the external ID.
/// Gives nothing if the values take more memory than `room`.
pub(super) fn flatten(
    text: &str,
    take_id: bool,
    room: usize,
) -> serde_json::Result<Option<Flattened>> {
    let mut flattener = Flattener {
        fields: Vec::new(),
        nulls: Vec::new(),
        path: String::new(),
        runs: 0,
        names: HashSet::new(),
        depth: 0,
        take_id,
        id: None,
        bytes: 0,
        room,
        numbers: 0,
        rounded: Vec::new(),
    };
    let mut parser = serde_json::Deserializer::from_str(text);
    let read = Outermost(&mut flattener).deserialize(&mut parser);
    if flattener.bytes > room {
        return Ok(None);
    }
    read?;
    parser.end()?;
    flattener.restore_digits(text);
    Ok(Some(Flattened {
        id: flattener.id,
        fields: flattener.fields,
        nulls: flattener.nulls,
    }))
}

/// Memory that a value takes: its place among the others, which may be twice as many, its name and
/// its text.
pub(super) fn value_bytes(name: &str, text: usize) -> usize {
    2 * size_of::<(String, Value)>() + 32 + name.len() + text
}

struct Flattener {
    fields: Vec<(String, Value)>,
    /// The fields that are null, and how often each is in a row.
    nulls: Vec<(String, u32)>,
    /// The name of the field being read.
    path: String,
    /// The number of values with another name than the one before: no fewer than there are names.
    runs: usize,
    /// The different names; kept only once there may be too many.
    names: HashSet<String>,
    depth: usize,
    take_id: bool,
    id: Option<String>,
    /// Memory that the values take, and may take.
    bytes: usize,
    room: usize,
    /// Numbers read so far, that of the ID too.
    numbers: usize,
    /// Numbers that may be integers whose digits were rounded.
    rounded: Vec<Rounded>,
}

/// A number that came as a float.
struct Rounded {
    /// Its place among the values.
    field: usize,
    /// Its place among the numbers of the source.
    number: usize,
    value: f64,
}

/// The outermost object.
struct Outermost<'f>(&'f mut Flattener);

/// A value of the field at the flattener's path.
struct Member<'f>(&'f mut Flattener);

/// The value of the member `id`.
struct ExternalId<'f>(&'f mut Flattener);

/// A key, borrowed from the source unless it has escapes.
pub(super) struct Key;

/// The keys of one object so far.
#[derive(Default)]
struct Keys<'de> {
    few: Vec<Cow<'de, str>>,
    many: HashSet<Cow<'de, str>>,
}

impl Flattener {
    fn object<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        self.enter()?;
        let mut keys = Keys::default();
        while let Some(key) = map.next_key_seed(Key)? {
            let outer = self.path.len();
            let is_id = self.depth == 1 && self.take_id && key == "id";
            self.extend_path(&key)?;
            keys.add(key)?;
            if is_id {
                map.next_value_seed(ExternalId(self))?;
            } else {
                map.next_value_seed(Member(self))?;
            }
            self.path.truncate(outer);
        }
        self.depth -= 1;
        Ok(())
    }

    fn array<'de, A: SeqAccess<'de>>(&mut self, mut values: A) -> Result<(), A::Error> {
        self.enter()?;
        while values.next_element_seed(Member(self))?.is_some() {}
        self.depth -= 1;
        Ok(())
    }

    fn enter<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(E::custom(format_args!(
                "nested deeper than {DEPTH_MAX} objects and arrays"
            )));
        }
        Ok(())
    }

    fn extend_path<E: serde::de::Error>(&mut self, key: &str) -> Result<(), E> {
        if key.is_empty() {
            return Err(E::custom("a field name is empty"));
        }
        if key.chars().any(char::is_control) {
            return Err(E::custom(format_args!(
                "the field name {key:?} has control characters"
            )));
        }
        let length = self.path.len() + 1 + key.len();
        if length - usize::from(self.path.is_empty()) > NAME_BYTES_MAX {
            return Err(E::custom(format_args!(
                "a field name is longer than {NAME_BYTES_MAX} bytes"
            )));
        }
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
        Ok(())
    }

    fn push<E: serde::de::Error>(&mut self, value: Value) -> Result<(), E> {
        if self.fields.len() + self.nulls.len() >= VALUES_MAX {
            return Err(E::custom(format_args!(
                "more than {VALUES_MAX} values in one document"
            )));
        }
        let same = matches!(self.fields.last(), Some((name, _)) if *name == self.path);
        if !same && self.count_names() > FIELDS_MAX {
            return Err(E::custom(format_args!(
                "more than {FIELDS_MAX} fields in one document"
            )));
        }
        let (Value::Text(text) | Value::Exact(text)) = &value;
        self.bytes += value_bytes(&self.path, text.len());
        if self.bytes > self.room {
            return Err(E::custom("the values take more memory than there is"));
        }
        self.fields.push((self.path.clone(), value));
        Ok(())
    }

    /// Notes that the field at the path is null.
    fn push_null<E: serde::de::Error>(&mut self) -> Result<(), E> {
        if let Some((name, count)) = self.nulls.last_mut()
            && *name == self.path
        {
            *count = count.saturating_add(1);
            return Ok(());
        }
        if self.fields.len() + self.nulls.len() >= VALUES_MAX {
            return Err(E::custom(format_args!(
                "more than {VALUES_MAX} values in one document"
            )));
        }
        self.bytes += value_bytes(&self.path, 0);
        if self.bytes > self.room {
            return Err(E::custom("the values take more memory than there is"));
        }
        self.nulls.push((self.path.clone(), 1));
        Ok(())
    }

    /// Returns the number of names with the one at the path; an upper bound while it is small.
    fn count_names(&mut self) -> usize {
        self.runs += 1;
        if self.runs <= FIELDS_MAX {
            return self.runs;
        }
        if self.names.is_empty() {
            let names = self.fields.iter().map(|(name, _)| name.clone());
            self.names = names.collect();
        }
        self.names.insert(self.path.clone());
        self.names.len()
    }

    fn push_float<E: serde::de::Error>(&mut self, value: f64) -> Result<(), E> {
        self.numbers += 1;
        if value.abs() >= INTEGERS_ROUNDED {
            self.rounded.push(Rounded {
                field: self.fields.len(),
                number: self.numbers - 1,
                value,
            });
        }
        self.push(Value::Exact(spell(value)))
    }

    fn push_number<E: serde::de::Error>(&mut self, number: impl fmt::Display) -> Result<(), E> {
        self.numbers += 1;
        self.push(Value::Exact(number.to_string()))
    }

    /// Spells integers of more than 64 bits, which the parser gives as floats, by the digits of the
    /// source.
    fn restore_digits(&mut self, text: &str) {
        if self.rounded.is_empty() {
            return;
        }
        let mut numbers = numbers(text);
        let mut passed = 0;
        for Rounded {
            field,
            number,
            value,
        } in self.rounded.drain(..)
        {
            let Some(written) = numbers.nth(number - passed) else {
                return;
            };
            passed = number + 1;
            if is_integer(written) {
                self.fields[field].1 = Value::Exact(spell_integer(written, value));
            }
        }
    }

    fn set_id<E: serde::de::Error>(&mut self, id: String) -> Result<(), E> {
        if let Some(reason) = id_fault(&id) {
            return Err(E::custom(reason));
        }
        self.id = Some(id);
        Ok(())
    }
}

impl<'de> Keys<'de> {
    /// Notes a key, which must be new. Few keys are compared one by one, many are hashed.
    fn add<E: serde::de::Error>(&mut self, key: Cow<'de, str>) -> Result<(), E> {
        let twice = self.few.contains(&key) || self.many.contains(&key);
        if twice {
            return Err(E::custom(format_args!("the key {key:?} occurs twice")));
        }
        if self.few.len() < 16 {
            self.few.push(key);
        } else {
            self.many.insert(key);
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

impl<'de> DeserializeSeed<'de> for Outermost<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Outermost<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.object(map)
    }
}

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.0.push(Value::Text(text.to_owned()))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<(), E> {
        self.0.push_number(number)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<(), E> {
        self.0.push_number(number)
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<(), E> {
        self.0.push_float(number)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.0.push(Value::from(value))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.0.push_null()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<(), A::Error> {
        self.0.array(values)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.object(map)
    }
}

impl<'de> DeserializeSeed<'de> for ExternalId<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ExternalId<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer of at most 64 bits as the external ID")
    }

    fn visit_str<E: serde::de::Error>(self, id: &str) -> Result<(), E> {
        self.0.set_id(id.to_owned())
    }

    fn visit_u64<E: serde::de::Error>(self, id: u64) -> Result<(), E> {
        self.0.numbers += 1;
        self.0.set_id(id.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, id: i64) -> Result<(), E> {
        self.0.numbers += 1;
        self.0.set_id(id.to_string())
    }
}

/// The numbers of a JSON text, which is known to be one, in their order.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|c: char| matches!(c, '"' | '-' | '0'..='9'))?;
            rest = &rest[start..];
            if let Some(inside) = rest.strip_prefix('"') {
                rest = behind_string(inside);
                continue;
            }
            let is_part = |c: char| matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9');
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (number, behind) = rest.split_at(end);
            rest = behind;
            return Some(number);
        }
    })
}

/// Returns the text behind the quote that ends a string.
fn behind_string(inside: &str) -> &str {
    let mut escaped = false;
    let end = inside.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or("", |end| &inside[end + 1..])
}
