//! The indexes that a request is about.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::fault::Outcome;
use crate::http::{Call, Caller, IndexOptions};
use crate::indexes::OpenIndex;
use crate::searching::{SearchedIndex, Targets};
use crate::service::Service;

/// The indexes that a request is about.
pub struct Where<'a> {
    /// The expression for them.
    pub expression: &'a str,
    /// The way in which it stands for them.
    pub options: IndexOptions,
    /// The caller.
    pub caller: &'a Caller,
}

impl Where<'_> {
    /// Those that a request names.
    pub fn of_call(call: &Call) -> Outcome<Where<'_>> {
        Ok(Where {
            expression: call.part("index"),
            options: IndexOptions::of_call(call)?,
            caller: &call.caller,
        })
    }

    /// The names of the indexes.
    pub fn names(&self, service: &Service) -> Outcome<Vec<String>> {
        service
            .indexes
            .resolve(self.expression, self.options, self.caller)
    }

    /// Has a function search them.
    pub fn search<T>(
        &self,
        service: &Service,
        act: impl FnOnce(&Targets<'_>) -> Outcome<T>,
    ) -> Outcome<T> {
        let limits = self.limits(service);
        let open = |name: &str| {
            let open = service.indexes.get(name, self.caller)?;
            Ok(limits.search(open, service))
        };
        // The other half is left for other searches.
        let at_once = (service.indexes.open_most() / 2).max(1);
        act(&Targets::new(self.names(service)?, at_once, &open)?)
    }

    /// The states of them as they are now, to be kept.
    pub fn fixed(&self, service: &Service) -> Outcome<Vec<SearchedIndex>> {
        let names = self.names(service)?;
        let limits = self.limits(service);
        let states = names.iter().map(|name| {
            let open = service.indexes.get(name, self.caller)?;
            Ok(limits.search(open, service).fixed())
        });
        states.collect()
    }

    /// The limits that aliases set to searches.
    pub fn limits(&self, service: &Service) -> Limits {
        Limits(service.indexes.filters(self.expression, self.options))
    }
}

/// The filters of the aliases by which indexes are searched.
pub struct Limits(BTreeMap<String, Vec<Arc<Value>>>);

impl Limits {
    /// The newest state of an index, within the filters of its aliases.
    pub fn search(&self, open: Arc<OpenIndex>, service: &Service) -> SearchedIndex {
        let filters = self.0.get(&open.name).cloned();
        SearchedIndex::new(open, service.ends()).within(filters.unwrap_or_default())
    }
}
