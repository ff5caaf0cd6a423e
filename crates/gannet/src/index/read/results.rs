//! The result cache of an index: which searches use it, and on which state.

use super::snapshot::Snapshot;
use super::snapshot::lost;
use crate::base::{Interrupt, Result};
use crate::search::{Query, ResultCache, SearchOptions, SearchResults, key_of};

impl Snapshot {
    /// Answers queries from the cache where it can, computes the others, and keeps their answers.
    pub(crate) fn search_reusing(
        &self,
        cache: &ResultCache,
        queries: &[Query],
        options: &SearchOptions,
    ) -> Vec<Result<SearchResults>> {
        let reused: Vec<_> = queries
            .iter()
            .map(|query| self.reused(cache, query, options))
            .collect();
        let missing: Vec<&Query> = queries
            .iter()
            .zip(&reused)
            .filter_map(|(query, answer)| answer.is_none().then_some(query))
            .collect();
        let computed = if missing.is_empty() {
            Vec::new()
        } else {
            self.search_knowing(&missing, options, None)
        };
        for (query, answer) in missing.into_iter().zip(&computed) {
            self.keep(cache, query, options, answer);
        }
        let mut computed = computed.into_iter();
        let answers = reused.into_iter().map(|answer| match answer {
            Some(answer) => Ok(answer),
            None => computed.next().unwrap_or_else(lost),
        });
        answers.collect()
    }

    /// The answer that the cache has, if it has one.
    fn reused(
        &self,
        cache: &ResultCache,
        query: &Query,
        options: &SearchOptions,
    ) -> Option<SearchResults> {
        // A search that has no time left, or whose snapshot was given up, fails as it does without
        // a cache.
        if options.check().is_err() || !self.is_held() {
            return None;
        }
        let began = options.now();
        let key = key_of(query, options)?;
        let answer = cache.get(&key, &self.seen(), self.budget())?;
        Some(SearchResults {
            took: options.now().saturating_sub(began),
            ..answer
        })
    }

    /// Keeps an answer. Its key is made anew: a batch of many queries holds one key at a time.
    fn keep(
        &self,
        cache: &ResultCache,
        query: &Query,
        options: &SearchOptions,
        answer: &Result<SearchResults>,
    ) {
        if let (Ok(answer), Some(key)) = (answer, key_of(query, options)) {
            cache.keep(key, &self.seen(), answer, self.budget());
        }
    }
}
