//! Aliases: other names of indexes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::names::check_index_name;
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The aliases of all indexes. Those of an index that is not there count for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases(BTreeMap<String, BTreeMap<String, AliasOptions>>);

/// The longest filter, in bytes of JSON.
const FILTER_BYTES_MAX: usize = 64 << 10;

/// The members of an alias of one index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AliasOptions {
    /// Set if writes to the alias go to this index, or never do.
    pub is_write_index: Option<bool>,
    /// The query of those documents that searches by the alias find.
    pub filter: Option<Arc<Value>>,
}

impl AliasOptions {
    /// Reads the members of an alias.
    pub fn parse(members: &Members<'_>, beside: &[&str]) -> Outcome<AliasOptions> {
        let known = [&["is_write_index", "is_hidden", "filter"], beside].concat();
        members.check(&known, &["routing", "index_routing", "search_routing"])?;
        if members.flag("is_hidden")? == Some(true) {
            return Err(Fault::not_there("a hidden alias ([is_hidden])"));
        }
        Ok(AliasOptions {
            is_write_index: members.flag("is_write_index")?,
            filter: members.get("filter").map(filter).transpose()?.flatten(),
        })
    }

    /// Its object in an answer.
    pub fn json(&self) -> Value {
        let mut json = json!({});
        if let Some(filter) = &self.filter {
            json["filter"] = Value::clone(filter);
        }
        if let Some(is) = self.is_write_index {
            json["is_write_index"] = json!(is);
        }
        json
    }

    /// Reads what [`AliasOptions::json`] gave.
    fn from_kept(kept: &Value) -> AliasOptions {
        AliasOptions {
            is_write_index: kept.get("is_write_index").and_then(Value::as_bool),
            filter: kept.get("filter").cloned().map(Arc::new),
        }
    }
}

/// Reads a filter: an object with a kind of query; nothing if it is empty.
fn filter(value: &Value) -> Outcome<Option<Arc<Value>>> {
    let members = Members::of("filter", value)?;
    if members.iter().next().is_none() {
        return Ok(None);
    }
    members.only()?;
    let bytes = value.to_string().len();
    if bytes > FILTER_BYTES_MAX {
        return Err(Fault::illegal(format!(
            "the [filter] of an alias has {bytes} bytes, at most {FILTER_BYTES_MAX} are kept"
        )));
    }
    Ok(Some(Arc::new(value.clone())))
}

impl Aliases {
    /// The names of all.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// The indexes of one, with its members there.
    pub fn indexes(&self, alias: &str) -> impl Iterator<Item = (&String, &AliasOptions)> {
        self.0.get(alias).into_iter().flatten()
    }

    /// The aliases of an index.
    pub fn of(&self, index: &str) -> impl Iterator<Item = (&String, &AliasOptions)> {
        self.0
            .iter()
            .filter_map(move |(alias, indexes)| Some((alias, indexes.get(index)?)))
    }

    /// Adds an alias of an index, or replaces its members.
    pub fn add(&mut self, alias: &str, index: &str, options: AliasOptions) -> Outcome<()> {
        check_index_name(alias).map_err(|fault| {
            let reason = fault.reason.replacen("index name", "alias name", 1);
            Fault::new(400, "invalid_alias_name_exception", reason).of_index(alias)
        })?;
        let indexes = self.0.entry(alias.to_owned()).or_default();
        indexes.insert(index.to_owned(), options);
        Ok(())
    }

    /// Removes an alias of an index; returns false if there was none.
    pub fn remove(&mut self, alias: &str, index: &str) -> bool {
        let Some(indexes) = self.0.get_mut(alias) else {
            return false;
        };
        let was_there = indexes.remove(index).is_some();
        if indexes.is_empty() {
            self.0.remove(alias);
        }
        was_there
    }

    /// Removes an alias of all indexes.
    pub fn remove_alias(&mut self, alias: &str) {
        self.0.remove(alias);
    }

    /// Removes all aliases of an index.
    pub fn remove_index(&mut self, index: &str) {
        for indexes in self.0.values_mut() {
            indexes.remove(index);
        }
        self.0.retain(|_, indexes| !indexes.is_empty());
    }

    /// Fails if an alias has two indexes to write to.
    pub fn check(&self) -> Outcome<()> {
        for (alias, indexes) in &self.0 {
            let writes = indexes
                .iter()
                .filter(|(_, options)| options.is_write_index == Some(true));
            let writes: Vec<&str> = writes.map(|(index, _)| index.as_str()).collect();
            if writes.len() > 1 {
                return Err(Fault::new(
                    400,
                    "illegal_state_exception",
                    format!(
                        "alias [{alias}] has more than one write index [{}]",
                        writes.join(",")
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The index that writes to an alias go to.
    pub fn write_index(&self, alias: &str) -> Outcome<String> {
        let indexes: Vec<(&String, &AliasOptions)> = self.indexes(alias).collect();
        let chosen = indexes
            .iter()
            .find(|(_, options)| options.is_write_index == Some(true));
        match (chosen, indexes.as_slice()) {
            (Some((index, _)), _) => Ok((*index).clone()),
            (None, [(index, options)]) if options.is_write_index.is_none() => Ok((*index).clone()),
            _ => Err(Fault::illegal(format!(
                "no write index is defined for alias [{alias}]. The write index may be explicitly disabled using \
                 is_write_index=false or the alias points to multiple indices without one being designated as a write index"
            ))),
        }
    }

    /// The aliases as they are kept in a file.
    pub fn kept(&self) -> Value {
        let mut kept = Map::new();
        for (alias, indexes) in &self.0 {
            let indexes = indexes
                .iter()
                .map(|(index, options)| (index.clone(), options.json()));
            kept.insert(alias.clone(), Value::Object(indexes.collect()));
        }
        Value::Object(kept)
    }

    /// Reads what [`Aliases::kept`] gave.
    pub fn from_kept(kept: &Value) -> Option<Aliases> {
        let mut aliases = Aliases::default();
        for (alias, indexes) in kept.as_object()? {
            for (index, options) in indexes.as_object()? {
                let place = aliases.0.entry(alias.clone()).or_default();
                place.insert(index.clone(), AliasOptions::from_kept(options));
            }
        }
        Some(aliases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_go_to_one_index_or_none() {
        let mut aliases = Aliases::default();
        let options = |is_write_index| AliasOptions {
            is_write_index,
            filter: Some(Arc::new(json!({ "match_all": {} }))),
        };
        aliases.add("a", "x", options(None)).unwrap();
        assert_eq!(aliases.write_index("a").unwrap(), "x");
        aliases.add("a", "y", options(None)).unwrap();
        assert!(aliases.write_index("a").is_err());
        aliases.add("a", "y", options(Some(true))).unwrap();
        assert_eq!(aliases.write_index("a").unwrap(), "y");
        assert_eq!(Aliases::from_kept(&aliases.kept()), Some(aliases.clone()));
        aliases.check().unwrap();
        aliases.add("a", "x", options(Some(true))).unwrap();
        assert!(aliases.check().is_err());
        aliases.remove_index("x");
        assert!(aliases.remove("a", "y") && aliases.names().next().is_none());
        aliases.add("b", "x", options(Some(false))).unwrap();
        assert!(aliases.write_index("b").is_err());
        assert!(aliases.add("B c", "x", options(None)).is_err());
    }
}
