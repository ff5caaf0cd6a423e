//! The key of a question in the result cache: the query and all options that change its answer.

use std::fmt::{self, Write};
use std::sync::Arc;

use crate::search::options::SearchOptions;
use crate::search::query::{Query, fields};

/// The smallest result cache: 64 KiB.
pub const RESULT_CACHE_MIN: usize = 64 << 10;

/// An answer that takes more than this part of the cache is not kept.
pub(super) const ANSWER_ONE_OF: usize = 8;

/// A question that takes more bytes as a key is not kept.
const KEY_BYTES_MAX: usize = RESULT_CACHE_MIN / ANSWER_ONE_OF;

/// All that an answer depends on, but for the state of the index.
pub type AnswerKey = Arc<str>;

/// The key of a question. Nothing if its answer is not kept: it is too long, lists pages, depends
/// on the time, or has aggregations.
pub fn key_of(query: &Query, options: &SearchOptions) -> Option<AnswerKey> {
    let SearchOptions {
        k,
        skip,
        from,
        below,
        ties,
        statistics,
        sort,
        after,
        collapse,
        min_score,
        aggregations,
        other_fields,
        count,
        fetch,
        sources,
        highlight,
        snippets,
        explain,
        list_pages,
        techniques,
        // They tell how long to wait for the answer.
        clock: _,
        deadline: _,
        cancelled: _,
    } = options;
    // A range that is relative to now is another at each time, and what aggregations found may be
    // large without a bound that is known here.
    if *list_pages || aggregations.is_some() || fields::is_relative_to_now(query) {
        return None;
    }
    // They change how the bound of a total is found that need not be exact, and the plan.
    let techniques = (!count || *explain).then_some(techniques);
    let documents = (k, skip, from, below, fetch, sources);
    let ordered = (ties, sort, after, collapse);
    let scored = (statistics, other_fields, min_score);
    let told = (highlight, snippets, count, explain, techniques);
    let mut key = KeyText(String::new());
    write!(
        key,
        "{query:?} {documents:?} {ordered:?} {scored:?} {told:?}"
    )
    .ok()?;
    Some(key.0.into())
}

/// A key that is being written; fails beyond [`KEY_BYTES_MAX`].
struct KeyText(String);

impl Write for KeyText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > KEY_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Operator, QueryStatistics, SortKey, Techniques, Ties, parse};

    fn asked(text: &str) -> AnswerKey {
        let query = parse(text, Operator::Or, &Default::default()).unwrap();
        key_of(&query, &SearchOptions::default()).unwrap()
    }

    #[test]
    fn whatever_changes_an_answer_is_in_its_key() {
        let changes: [fn(&mut SearchOptions); 28] = [
            |_| (),
            |options| options.k = 11,
            |options| options.skip = 1,
            |options| options.from = 1,
            |options| options.below = 1,
            |options| options.count = true,
            |options| options.fetch = false,
            |options| options.sources = false,
            |options| options.explain = true,
            |options| options.highlight = vec!["body".into()],
            |options| options.highlight = vec!["body\", \"title".into()],
            |options| options.highlight = vec!["body".into(), "title".into()],
            |options| options.snippets.fragments += 1,
            |options| options.snippets.characters += 1,
            |options| options.snippets.escape_html ^= true,
            |options| options.techniques = without_pruning(),
            |options| options.ties = Ties::ExternalId,
            |options| options.sort = vec![SortKey::parse("a").unwrap()],
            |options| options.sort = vec![SortKey::parse("-a").unwrap()],
            |options| options.after = Some(vec![None]),
            |options| options.collapse = Some("a".into()),
            |options| options.collapse = Some("b".into()),
            |options| options.statistics = Some(statistics(7)),
            |options| options.statistics = Some(statistics(8)),
            |options| options.statistics = Some(Arc::default()),
            |options| options.other_fields = vec!["body".into()],
            |options| options.min_score = Some(1.0),
            |options| options.min_score = Some(0.0),
        ];
        let key = |change: fn(&mut SearchOptions)| {
            let mut options = SearchOptions::default();
            change(&mut options);
            key_of(&Query::MatchAll, &options).unwrap()
        };
        let texts = [
            "a",
            "b",
            "a b",
            "+a b",
            "a^2",
            "a^2.5",
            "\"a b\"",
            "\"a b\"~1",
            "f:a",
        ];
        let mut keys: Vec<_> = changes.into_iter().map(key).collect();
        keys.extend(texts.map(asked));
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all);
        // An exact total and the hits are the same with any techniques.
        let exact = key(|options| options.count = true);
        let slow = |options: &mut SearchOptions| {
            options.count = true;
            options.techniques = without_pruning();
        };
        assert_eq!(key(slow), exact);
    }

    fn statistics(documents: u64) -> Arc<QueryStatistics> {
        let mut statistics = QueryStatistics::default();
        statistics.note_term("body", "sea", documents);
        Arc::new(statistics)
    }

    fn without_pruning() -> Techniques {
        Techniques::default().without("pruning").unwrap()
    }

    #[test]
    fn what_lists_pages_or_is_too_long_has_no_key() {
        let listed = SearchOptions {
            list_pages: true,
            ..SearchOptions::default()
        };
        assert_eq!(key_of(&Query::MatchAll, &listed), None);
        let long = |bytes: usize| Query::Prefix {
            field: None,
            prefix: "x".repeat(bytes),
        };
        let key = |bytes| key_of(&long(bytes), &SearchOptions::default());
        assert!(key(KEY_BYTES_MAX / 2).is_some());
        assert!(key(KEY_BYTES_MAX).is_none());
    }
}
