//! The indexes that the expressions of requests stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::catalog::Catalog;
use super::names::check_index_name;
use super::registry::Indexes;
use crate::fault::{Fault, Outcome};
use crate::http::{Caller, IndexOptions};
use crate::json::fits;

impl Indexes {
    /// The names that an expression stands for, in order: names of indexes and aliases with commas
    /// between them, `*` for any characters, `_all`, and behind a pattern names with a minus that
    /// are left out. Patterns stand for what the caller may ask.
    pub fn resolve(
        &self,
        expression: &str,
        options: IndexOptions,
        caller: &Caller,
    ) -> Outcome<Vec<String>> {
        let catalog = self.catalog();
        let mut found: Vec<String> = Vec::new();
        let mut is_behind_pattern = false;
        let parts = match expression {
            "" | "_all" => "*",
            written => written,
        };
        for part in parts.split(',') {
            let excluded = part.strip_prefix('-').filter(|_| is_behind_pattern);
            let part = excluded.unwrap_or(part);
            let part = if part == "_all" { "*" } else { part };
            let names = if part.contains('*') {
                is_behind_pattern = true;
                self.fitting(part, options, &catalog, caller)?
            } else {
                self.named(part, options, &catalog)?
            };
            match excluded {
                Some(_) => found.retain(|name| !names.contains(name)),
                None => found.extend(names),
            }
        }
        found.sort();
        found.dedup();
        if found.is_empty() && !options.allows_none {
            return Err(Fault::no_index(expression));
        }
        for name in &found {
            caller.check(name)?;
        }
        Ok(found)
    }

    /// The filters of the aliases by which an expression stands for indexes, by the names of
    /// these. An index that it names itself, or by an alias without a filter, has none.
    pub fn filters(
        &self,
        expression: &str,
        options: IndexOptions,
    ) -> BTreeMap<String, Vec<Arc<Value>>> {
        let catalog = self.catalog();
        let mut found: BTreeMap<String, Vec<Arc<Value>>> = BTreeMap::new();
        let mut whole: BTreeSet<String> = BTreeSet::new();
        for part in expression.split(',') {
            let is_pattern = part.contains('*');
            if !is_pattern && self.exists(part) {
                whole.insert(part.to_owned());
            }
            let aliases = catalog.aliases.names();
            let aliases = aliases.filter(|alias| {
                if is_pattern {
                    is_meant(part, alias, options)
                } else {
                    part == *alias
                }
            });
            for (index, alias) in aliases.flat_map(|alias| catalog.aliases.indexes(alias)) {
                match &alias.filter {
                    None => drop(whole.insert(index.clone())),
                    Some(filter) => {
                        let filters = found.entry(index.clone()).or_default();
                        filters.push(Arc::clone(filter));
                    }
                }
            }
        }
        let patterns = || expression.split(',').filter(|part| part.contains('*'));
        found.retain(|index, _| {
            let is_named = patterns().any(|pattern| is_meant(pattern, index, options));
            !is_named && !whole.contains(index)
        });
        found
    }

    fn fitting(
        &self,
        pattern: &str,
        options: IndexOptions,
        catalog: &Catalog,
        caller: &Caller,
    ) -> Outcome<Vec<String>> {
        let is_meant = |name: &str| is_meant(pattern, name, options);
        let mut names = self.names()?;
        let of_aliases = catalog.aliases.names().filter(|alias| is_meant(alias));
        let of_aliases: Vec<&String> = of_aliases
            .flat_map(|alias| catalog.aliases.indexes(alias))
            .map(|(index, _)| index)
            .collect();
        names.retain(|name| is_meant(name) || of_aliases.contains(&name));
        names.retain(|name| caller.may(name));
        if names.is_empty() && !options.allows_none {
            return Err(Fault::no_index(pattern));
        }
        Ok(names)
    }

    fn named(&self, name: &str, options: IndexOptions, catalog: &Catalog) -> Outcome<Vec<String>> {
        if self.exists(name) {
            return Ok(vec![name.to_owned()]);
        }
        let indexes = catalog.aliases.indexes(name).map(|(index, _)| index);
        let indexes: Vec<String> = indexes
            .filter(|index| self.exists(index))
            .cloned()
            .collect();
        if indexes.is_empty() && !options.ignores_missing {
            check_index_name(name)?;
            return Err(Fault::no_index(name));
        }
        Ok(indexes)
    }

    /// The one index that a name stands for, of an index or of an alias.
    pub fn single(&self, name: &str) -> Outcome<String> {
        if self.exists(name) {
            return Ok(name.to_owned());
        }
        let indexes = self.named(name, IndexOptions::default(), &self.catalog())?;
        match indexes.as_slice() {
            [index] => Ok(index.clone()),
            several => Err(Fault::illegal(format!(
                "alias [{name}] has more than one index associated with it [{}], can't execute a single index op",
                several.join(", ")
            ))),
        }
    }

    /// The index that writes to a name go to, whether it is there or not.
    pub fn write_target(&self, name: &str) -> Outcome<String> {
        check_index_name(name)?;
        if self.exists(name) || !self.has_alias(name) {
            return Ok(name.to_owned());
        }
        self.catalog().aliases.write_index(name)
    }

    /// Returns true if a name is that of an alias.
    pub fn has_alias(&self, name: &str) -> bool {
        let catalog = self.catalog();
        let mut indexes = catalog.aliases.indexes(name);
        indexes.any(|(index, _)| self.exists(index))
    }
}

/// Returns true if a pattern stands for a name.
fn is_meant(pattern: &str, name: &str, options: IndexOptions) -> bool {
    let is_shown = !name.starts_with('.') || pattern.starts_with('.');
    options.expands && (is_shown || options.expands_hidden) && fits(pattern, name)
}
