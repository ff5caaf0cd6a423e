//! The fields that queries name.

use std::borrow::Cow;

use gannet::values::DateFormats;
use gannet::{Analyzer, FieldKind, Query, Schema, Scratch};
use serde_json::Value;

use super::{Translator, any_of};
use crate::fault::{Fault, Outcome};
use crate::indexes::{FieldType, Metadata};
use crate::json::{Members, fits, kind_of};

/// The fields of an index, as its mapping and its documents have them.
pub struct Fields<'a> {
    /// The metadata of the index.
    pub metadata: &'a Metadata,
    /// The fields that its documents have.
    pub schema: &'a Schema,
}

/// A field that a query names.
pub struct Target<'a> {
    pub name: &'a str,
    pub kind: FieldType,
    pub analyzer: Analyzer,
    /// Set if documents have it. If none has, nothing is found.
    pub is_there: bool,
    /// Set for the whole strings of a text that a document brought, which stand in a column: they
    /// are only asked for by whole values.
    pub is_column: bool,
    /// Set if its values are found by terms.
    pub is_indexed: bool,
    /// The formats of its dates, if it has dates.
    pub date_formats: Option<&'a DateFormats>,
}

impl<'a> Fields<'a> {
    /// The field of a name; nothing if the mapping has none, in which nothing is found.
    pub fn target(&self, name: &'a str) -> Outcome<Option<Target<'a>>> {
        let mapping = &self.metadata.mapping;
        let Some(field) = mapping.field(name) else {
            return self.check_absent(name).map(|()| None);
        };
        let is_own = mapping.fields.contains_key(name);
        let is_column = field.is_found && !is_own;
        let name = match name.rsplit_once('.') {
            Some((source, _)) if is_column => source,
            _ => name,
        };
        let default = self.metadata.settings.default_analyzer();
        let there = self.schema.named(name);
        let declared = field.analyzer(default).unwrap_or(Analyzer::KEYWORD);
        Ok(Some(Target {
            name,
            kind: field.kind,
            analyzer: if is_column {
                declared
            } else {
                there.map_or(declared, |there| there.analyzer)
            },
            is_there: there.is_some(),
            is_column,
            is_indexed: field.is_indexed,
            date_formats: field.date_formats.as_deref(),
        }))
    }

    /// Names of string fields that a pattern fits.
    pub fn strings_like(&self, pattern: &str) -> Vec<&str> {
        let own = self.metadata.mapping.fields.iter();
        let own = own.filter(|(_, field)| field.kind.is_string());
        let own = own.map(|(name, _)| name.as_str());
        let multi_fields = self.schema.fields().iter();
        let multi_fields = multi_fields
            .filter(|field| field.rules.source.is_some() && field.kind == FieldKind::Text)
            .filter(|field| field.analyzer != Analyzer::IP);
        let names = own.chain(multi_fields.map(|field| field.name.as_str()));
        names.filter(|name| fits(pattern, name)).collect()
    }

    /// Fails where Elasticsearch would have a field that Gannet does not make.
    fn check_absent(&self, name: &str) -> Outcome<()> {
        let outer = name.rsplit_once('.').map(|(outer, _)| outer);
        let parent = outer.and_then(|outer| self.metadata.mapping.fields.get(outer));
        if parent.is_some_and(|parent| parent.kind.is_string()) {
            return Err(Fault::query_not_there(&format!(
                "a field of a field (multi-field) that is not mapped, as [{name}] is, since [{}] is mapped as [{}] without it: \
                 map it in [fields]; a multi-field that is not mapped",
                outer.unwrap_or_default(),
                parent.map_or("", |parent| parent.kind.name())
            )));
        }
        Ok(())
    }
}

impl Target<'_> {
    /// Fails if the field has no strings.
    pub fn check_string(&self, query: &str) -> Outcome<()> {
        self.check_terms(query)?;
        if self.kind.is_string() {
            return Ok(());
        }
        Err(Fault::query_shard(format!(
            "failed to create query: Can only use {query} queries on keyword and text fields - not on [{}] which is of type [{}]",
            self.name,
            self.kind.name()
        )))
    }

    /// Fails if its values are not there as terms.
    pub fn check_terms(&self, query: &str) -> Outcome<()> {
        if !self.is_indexed {
            return Err(Fault::illegal(format!(
                "Cannot search on field [{}] since it is not indexed: [index] of its mapping is [false], and [{query}] needs it",
                self.name
            )));
        }
        if !self.is_column {
            return Ok(());
        }
        Err(Fault::query_not_there(&format!(
            "[{query}] in the whole strings of [{}], whose mapping was found: map the field with [fields] to ask its whole \
             strings by more than their values; it",
            self.name
        )))
    }

    /// Places of the tokens that its analyzer makes of a text.
    pub fn tokens(&self, text: &str) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        let mut scratch = Scratch::default();
        self.analyzer.analyze(text, &mut scratch, |token| {
            places.push((token.start, token.end))
        });
        places
    }
}

/// A field with what is asked of it: `{"field": {...}}`, or `{"field": value}` for short.
pub struct Clause<'a> {
    pub field: &'a str,
    /// The value, where it stands alone.
    short: Option<&'a Value>,
    members: Option<Members<'a>>,
}

impl<'a> Clause<'a> {
    /// Reads the value of a query on one field.
    pub fn of(query: &'a str, value: &'a Value) -> Outcome<Clause<'a>> {
        let mut members = Members::of(query, value)?.iter();
        let (field, asked) = members
            .next()
            .ok_or_else(|| Fault::illegal(format!("[{query}]: field name is null or empty")))?;
        if let Some((other, _)) = members.next() {
            return Err(Fault::parsing(format!(
                "[{query}] query doesn't support multiple fields, found [{field}] and [{other}]"
            )));
        }
        let is_object = asked.is_object();
        Ok(Clause {
            field,
            short: (!is_object).then_some(asked),
            members: is_object.then(|| Members::of(query, asked)).transpose()?,
        })
    }

    /// Fails at members that are not known.
    pub fn check(&self, known: &[&str], not_there: &[&str]) -> Outcome<()> {
        self.members
            .map_or(Ok(()), |members| members.check(known, not_there))
    }

    /// The members, where it has any.
    pub fn members(&self) -> Option<&Members<'a>> {
        self.members.as_ref()
    }

    /// The value that is asked for, by the first of these names that there is.
    pub fn value(&self, names: &[&str]) -> Outcome<&'a Value> {
        let named = |members: &Members<'a>| names.iter().find_map(|name| members.get(name));
        self.short
            .or_else(|| self.members.as_ref().and_then(named))
            .ok_or_else(|| {
                Fault::illegal(format!("value cannot be null for field [{}]", self.field))
            })
    }

    /// The same as text.
    pub fn text(&self, names: &[&str]) -> Outcome<Cow<'a, str>> {
        text_of(self.value(names)?, self.field)
    }

    /// A query with the boost that is asked for.
    pub fn boosted(&self, query: Query) -> Outcome<Query> {
        match &self.members {
            None => Ok(query),
            Some(members) => super::boosted(query, members),
        }
    }
}

/// A value as the text of a term.
pub fn text_of<'a>(value: &'a Value, field: &str) -> Outcome<Cow<'a, str>> {
    match value {
        Value::String(text) => Ok(Cow::Borrowed(text)),
        Value::Number(number) => Ok(Cow::Owned(number.to_string())),
        Value::Bool(value) => Ok(Cow::Owned(value.to_string())),
        Value::Null => Err(Fault::illegal(format!(
            "value cannot be null for field [{field}]"
        ))),
        other => Err(Fault::parsing(format!(
            "expected a value for field [{field}], found {}",
            kind_of(other)
        ))),
    }
}

/// `exists`: documents that have a value for a field, or for one below it.
pub fn exists(value: &Value, translator: &Translator<'_>) -> Outcome<Query> {
    let members = Members::of("exists", value)?;
    members.check(&["field", "boost"], &["_name"])?;
    let name = members
        .get("field")
        .ok_or_else(|| Fault::parsing("[exists] must be provided with a [field]"))?;
    let name = text_of(name, "field")?;
    let name = name.as_ref();
    let fields = translator.fields;
    let below = format!("{name}.");
    let named = fields.schema.fields().iter().map(|field| &field.name);
    let named = named.filter(|field| *field == name || field.starts_with(&below));
    let each = named.map(|field| Query::Exists {
        field: field.clone(),
    });
    let mut each: Vec<Query> = each.collect();
    if let Some(target) = fields.target(name)?.filter(|target| !target.is_indexed) {
        target.check_terms("exists")?;
    }
    let query = match each.len() {
        0 => {
            if let Some(target) = fields.target(name)? {
                target.check_terms("exists")?;
            }
            Query::MatchNone
        }
        1 => each.remove(0),
        _ => translator.constant(any_of(each, 1)),
    };
    super::boosted(query, &members)
}
