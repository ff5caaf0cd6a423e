//! Snapshots: searching one state of the index.

use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::analysis::{Analyzer, FieldKind, Schema};
use crate::base::{Budget, DocId, Error, Result};
use crate::cache::{FramePool, Pages, Step};
use crate::index::state::{Buffers, HeldState, IdEntry, Pinned, Shared, State};
use crate::runs::{RunsView, RunsWalk};
use crate::search::{
    AggregationRequest, ExternalIds, GROUP_MAX, IdWalk, KnownPatterns, Operator, Parsed, Query,
    QueryGroup, QueryStatistics, SearchOptions, SearchResults, SearchView, SeenRoot, SeenState,
    Statistics, Techniques, Ties, check_name, parse, parse_noting, parse_plain,
};

/// The index as it was at one moment. Later writes do not change it. While it lives, neither the
/// memory nor the space on flash that it refers to is reused.
///
/// It is given up where that is too much
/// ([`Limits::snapshot_bytes`](crate::Limits::snapshot_bytes)), or where a writer or a search of a
/// newer state needs the memory. What is asked of it then fails with [`Error::Expired`].
#[derive(Clone)]
pub struct Snapshot {
    shared: Arc<Shared>,
    held: Arc<HeldState>,
    schema: Arc<Schema>,
    documents: u64,
    /// One past its last doc ID.
    below: DocId,
    /// The number of its state.
    state: u64,
    /// The root that it stands on.
    root: Option<SeenRoot>,
}

/// A search being set up; see [`Snapshot::search`].
pub struct Search<'a> {
    snapshot: &'a Snapshot,
    query: &'a Query,
    options: SearchOptions,
}

impl Snapshot {
    pub(crate) fn new(shared: Arc<Shared>, state: &State) -> Snapshot {
        Snapshot {
            held: shared.published.hold(state, view(state)),
            shared,
            schema: Arc::clone(&state.schema),
            documents: state.documents,
            below: state.below,
            state: state.number,
            root: state.seen_root(),
        }
    }

    /// Its state, for the result cache.
    pub(crate) fn seen(&self) -> SeenState {
        SeenState {
            state: self.state,
            at: self.held.since(),
            root: self.root.clone(),
        }
    }

    /// Returns true if it was not given up.
    pub(crate) fn is_held(&self) -> bool {
        self.held.get().is_ok()
    }

    /// Returns its state, unless that was given up.
    pub(crate) fn pinned(&self) -> Result<Arc<Pinned>> {
        self.held.get()
    }

    pub(super) fn pool(&self) -> &FramePool {
        &self.shared.pool
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.shared.budget
    }

    /// Documents that can be found.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The doc IDs that there are. Some may be those of documents that were deleted or replaced.
    pub fn doc_ids(&self) -> Range<DocId> {
        0..self.below
    }

    /// The fields.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Checks that the index has a field of this name. Every name will do where there are no
    /// fields.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with the nearest names.
    pub fn check_field(&self, name: &str) -> Result<()> {
        check_name(name, &self.schema)
    }

    /// Parses a query; terms that nothing else joins are joined by `operator`.
    ///
    /// | written | means |
    /// |---|---|
    /// | `a b`, `+a b -c` | any of them; a must match, c must not, and b adds to the score |
    /// | `a AND b OR NOT c`, `&& \|\| !` | Boolean logic: NOT binds tightest, then AND, then OR |
    /// | `a NOT b`, `a -b` | a without b; `NOT b` alone is all others |
    /// | `"a b"`, `"a b"~3` | a phrase, with slop |
    /// | `a*`, `a?c*d`, `a~`, `a~1` | prefix, wildcards, fuzzy |
    /// | `f:a`, `f:(a b)`, `f:*`, `_exists_:f` | in a field; has the field |
    /// | `*:*`, `*` as the whole query | everything |
    /// | `id:17`, `_id:"a b"` | the document with this external ID |
    /// | `f:[a TO b]`, `f:{a TO *]`, `f:>=a` | a range of the bytes of whole values |
    /// | `a^2`, `(a b)^0.5` | a boost |
    /// | `(a b c)~2`, `#(a b)` | two of them or more; a filter |
    /// | `wi-fi`, `wi-fi~and`, `wi-fi~or` | the parts of a word in a row; all of them; any |
    ///
    /// Clauses side by side are the loosest: `a OR b -c` is a or b, without c, and `a b AND c` is
    /// a, or b with c. What could be read in two ways needs parentheses: `a -b OR c`, `+a OR b`.
    /// Unlike Lucene's classic parser, `a OR NOT b` is "a, or whatever has no b".
    ///
    /// A word that the analyzer of a field cuts is its parts in a row, as in quotes. Of more than
    /// three ideographs or kana in a row the overlapping pairs are asked for, joined like words:
    /// one of them is enough, unless `+`, `-`, AND, NOT or `operator` asks for the word.
    ///
    /// Ranges need a field of strings with the analyzer `keyword`. Everywhere else, on numbers too,
    /// terms have no order that anyone means, and ranges are rejected.
    ///
    /// A name before a colon is a field, and an error with the nearest names if there is none. A
    /// colon is text in `http://x`, `std::vec`, `C:\Users`, behind what has no letter (`12:30`),
    /// behind a backslash and in quotes. Other characters that stand where no operator can are
    /// ordinary text: `C++`, `a - b`, `don't`. A backslash makes the next character ordinary, and
    /// before a letter or digit it is one itself. Without a field all text fields are searched, and
    /// of each clause the best field counts.
    ///
    /// In an index without fields, as an empty one is, every name is accepted, and no document has
    /// the field. A field `id` that an index has comes before the external ID.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for what is described above, mostly with the character that is wrong, and
    /// for a quote or parenthesis without its other. The limits are 64 KiB, 32 parentheses open at
    /// once, and 1,024 words, phrases, ranges and parentheses.
    ///
    /// A search fails with it too, beyond 1,024 words of a phrase, 255 characters of a fuzzy term,
    /// and 1,024 characters of a wildcard pattern. Over all fields a query may have 4,096 words and
    /// patterns. A term longer than any that is indexed (1,020 bytes) matches nothing.
    pub fn parse(&self, text: &str, operator: Operator) -> Result<Query> {
        parse(text, operator, &self.schema)
    }

    /// The same with notes for whoever wrote the text: what was not taken as it could have been
    /// meant. The `?` that ends a question is punctuation, for instance, though elsewhere it stands
    /// for a character.
    pub fn parse_noting(&self, text: &str, operator: Operator) -> Result<Parsed> {
        parse_noting(text, operator, &self.schema)
    }

    /// The query for the words of `text`, in which no sign has a meaning: what a search box gives.
    ///
    /// A text without words finds nothing. Of more than 1,024 words, or 4,096 over all fields, the
    /// first are searched for, and a note says so.
    pub fn parse_plain(&self, text: &str, operator: Operator) -> Parsed {
        parse_plain(text, operator, &self.schema)
    }

    /// The same where other indexes have the fields `others` too: the query may name them, and a
    /// colon is read as it is there.
    pub fn parse_among(&self, text: &str, operator: Operator, others: &[&str]) -> Result<Query> {
        Ok(self.parse_among_noting(text, operator, others)?.query)
    }

    /// The same with notes for whoever wrote the text.
    pub fn parse_among_noting(
        &self,
        text: &str,
        operator: Operator,
        others: &[&str],
    ) -> Result<Parsed> {
        let mut schema = Schema::clone(&self.schema);
        for name in others {
            if schema.named(name).is_none() {
                // Ranges are checked where the field is.
                schema.add(name, FieldKind::Text, Analyzer::KEYWORD)?;
            }
        }
        parse_noting(text, operator, &schema)
    }

    /// Reads aggregations as Elasticsearch writes them, for [`SearchOptions::aggregations`]. The
    /// query of a filter is text in the query language, whose words are joined by AND.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for what is wrong or not supported, with its name.
    pub fn parse_aggregations(&self, json: &serde_json::Value) -> Result<AggregationRequest> {
        AggregationRequest::from_json(json, &mut |filter| {
            let text = filter.as_str().ok_or_else(|| {
                "expected a query as text, such as \"title:whale\", for a filter".to_owned()
            })?;
            let query = self.parse(text, Operator::And);
            query.map_err(|error| error.to_string())
        })
    }

    /// The statistics that the scores of a query take from the index: with the sum of those of
    /// several indexes each ranks as one index of all documents would.
    ///
    /// Deleted documents count until a vacuum. So sums are those of one index exactly where the
    /// same deletions are purged.
    ///
    /// ```
    /// use gannet::{Document, Index, Operator, Ties};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let shard = |name: &str, body: &str| {
    ///     let index = Index::options().memory(16 << 20).open(folder.path().join(name))?;
    ///     let line = format!(r#"{{"id": "{name}", "body": "{body}"}}"#);
    ///     index.write(vec![Document::parse(line.as_bytes())?])?;
    ///     gannet::Result::Ok(index.snapshot())
    /// };
    /// let shards = [shard("a", "the white whale")?, shard("b", "the whale, a whale")?];
    /// let query = shards[0].parse("whale", Operator::Or)?;
    /// let mut sum = shards[0].statistics(&query)?;
    /// sum.merge(&shards[1].statistics(&query)?)?;
    /// assert_eq!(sum.field("body"), Some((2, 7)));
    /// for shard in &shards {
    ///     let search = shard.search(&query).statistics(sum.clone()).ties(Ties::ExternalId);
    ///     assert_eq!(search.run()?.hits.len(), 1);
    /// }
    /// # Ok::<(), gannet::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for a search of the query.
    pub fn statistics(&self, query: &Query) -> Result<QueryStatistics> {
        self.statistics_of(std::slice::from_ref(query), &SearchOptions::default())
    }

    /// The statistics of several queries in one. Of the options those count that hold for a query
    /// before it is ranked: other fields, clock, deadline and cancellation.
    pub fn statistics_of(
        &self,
        queries: &[Query],
        options: &SearchOptions,
    ) -> Result<QueryStatistics> {
        let options = with_clock(options.clone());
        let pinned = self.held.get()?;
        let _goes = self.shared.traffic.go();
        let group = QueryGroup::new(&self.shared.pool, &self.shared.budget, GROUP_MAX);
        let group = group.in_traffic(&self.shared.traffic);
        let mut all = QueryStatistics::default();
        for query in queries {
            all.join(group.statistics(query, &pinned.view, &options)?);
        }
        Ok(all)
    }

    /// Sets a search up. It fails with [`Error::Invalid`] if the query, parsed or built, or the
    /// snippets name a field that does not exist, or if a range cannot be answered.
    pub fn search<'a>(&'a self, query: &'a Query) -> Search<'a> {
        Search {
            snapshot: self,
            query,
            options: SearchOptions::default(),
        }
    }

    /// Carries out many queries; groups of them share each batch of reads.
    pub fn search_all(
        &self,
        queries: &[Query],
        options: &SearchOptions,
    ) -> Vec<Result<SearchResults>> {
        match &self.shared.results {
            None => self.search_knowing(queries, options, None),
            Some(cache) => self.search_reusing(cache, queries, &with_clock(options.clone())),
        }
    }

    /// The same where the documents of patterns may be known.
    pub(crate) fn search_knowing<Q: Borrow<Query>>(
        &self,
        queries: &[Q],
        options: &SearchOptions,
        known: Option<&KnownPatterns>,
    ) -> Vec<Result<SearchResults>> {
        let options = with_clock(options.clone());
        let answers = self.search_group(queries, &options, known);
        let published = &self.shared.published;
        let generation = published.get().epoch.generation;
        if !answers.iter().any(lacks_memory) || !published.has_older(generation) {
            return answers;
        }
        // Older snapshots may hold buffers; this one is given up itself if it is one of them.
        published.give_up_older(generation);
        let again = answers.into_iter().zip(queries).map(|(answer, query)| {
            let query = std::slice::from_ref(query);
            let again =
                lacks_memory(&answer).then(|| self.search_group(query, &options, known).pop());
            again.flatten().unwrap_or(answer)
        });
        again.collect()
    }

    /// Carries one query out.
    pub(crate) fn search_one(
        &self,
        query: &Query,
        options: &SearchOptions,
    ) -> Result<SearchResults> {
        only(self.search_all(std::slice::from_ref(query), options))
    }

    /// Carries out one of several searches for the same query.
    pub(crate) fn search_again(
        &self,
        query: &Query,
        options: &SearchOptions,
        known: &KnownPatterns,
    ) -> Result<SearchResults> {
        let query = std::slice::from_ref(query);
        only(self.search_knowing(query, options, Some(known)))
    }

    fn search_group<Q: Borrow<Query>>(
        &self,
        queries: &[Q],
        options: &SearchOptions,
        known: Option<&KnownPatterns>,
    ) -> Vec<Result<SearchResults>> {
        let pinned = match self.held.get() {
            Ok(pinned) => pinned,
            Err(error) => return vec![Err(error); queries.len()],
        };
        let _goes = self.shared.traffic.go();
        let group = QueryGroup::new(&self.shared.pool, &self.shared.budget, GROUP_MAX);
        let group = group.in_traffic(&self.shared.traffic).knowing(known);
        let group = group.offloading(self.shared.options.offload.as_deref());
        let group = group.with_hot_lists(&self.shared.hot);
        group.search(queries, &pinned.view, options)
    }
}

impl Search<'_> {
    /// Sets the number of documents that are wanted (10 by default).
    pub fn top(mut self, k: usize) -> Self {
        self.options.k = k;
        self
    }

    /// Sets the number of best documents that are skipped (none by default).
    pub fn skip(mut self, documents: usize) -> Self {
        self.options.skip = documents;
        self
    }

    /// Sets the statistics that the search ranks with in place of those of its own index; see
    /// [`Snapshot::statistics`].
    pub fn statistics(mut self, summed: impl Into<Arc<QueryStatistics>>) -> Self {
        self.options.statistics = Some(summed.into());
        self
    }

    /// Sets the order of documents of the same score (their doc IDs by default).
    pub fn ties(mut self, ties: Ties) -> Self {
        self.options.ties = ties;
        self
    }

    /// Makes snippets of this field.
    pub fn highlight(mut self, field: impl Into<String>) -> Self {
        self.options.highlight.push(field.into());
        self
    }

    /// Sets whether the total must be exact.
    pub fn count(mut self, count: bool) -> Self {
        self.options.count = count;
        self
    }

    /// Sets whether IDs and sources are fetched (yes by default).
    pub fn fetch(mut self, fetch: bool) -> Self {
        self.options.fetch = fetch;
        self
    }

    /// Sets whether each score and the plan are explained.
    pub fn explain(mut self, explain: bool) -> Self {
        self.options.explain = explain;
        self
    }

    /// Sets the time limit of the search; it then fails with [`Error::Timeout`] (none by default).
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.options.deadline = Some(limit);
        self
    }

    /// Sets the techniques that the search may use to be fast (all by default); the answer is the
    /// same without.
    pub fn techniques(mut self, techniques: Techniques) -> Self {
        self.options.techniques = techniques;
        self
    }

    /// Carries the search out.
    pub fn run(self) -> Result<SearchResults> {
        self.snapshot.search_one(self.query, &self.options)
    }
}

/// The answer of one query.
fn only(mut answers: Vec<Result<SearchResults>>) -> Result<SearchResults> {
    answers.pop().unwrap_or_else(lost)
}

/// In the place of an answer that is not there.
pub(crate) fn lost() -> Result<SearchResults> {
    Err(Error::internal("a search gave no answer"))
}

/// A query that is rejected has older snapshots given up if it needs no more than one in so many
/// bytes of the memory.
const LEFT_ONE_OF: usize = 8;

/// Returns true if a query found too little memory that others may have.
fn lacks_memory(answer: &Result<SearchResults>) -> bool {
    // What takes much of the budget would not be answered if others had less.
    let is_small = |needed: &usize, budget: &usize| needed.saturating_mul(LEFT_ONE_OF) <= *budget;
    match answer {
        Err(Error::Memory { needed, budget, .. }) => is_small(needed, budget),
        Err(_) => false,
        Ok(results) => results.hits.iter().any(|hit| match &hit.error {
            Some(Error::DocumentMemory { needed, budget, .. }) => is_small(needed, budget),
            _ => false,
        }),
    }
}

/// The external IDs of a state: those in the tree, and those that are newer.
struct StateIds {
    runs: RunsView,
    buffers: Buffers,
}

impl ExternalIds for StateIds {
    fn document(&self, id: &str, below: DocId, pages: &mut Pages<'_>) -> Step<Option<DocId>> {
        if let Some(newer) = self.buffers.document(id, below) {
            return Ok(Some(newer));
        }
        let value = self.runs.get(id.as_bytes(), pages)?;
        let entry = value.map(|value| IdEntry::decode(&value)).transpose()?;
        Ok(entry.map(|entry| entry.doc))
    }

    fn walk(&self, from: &[u8]) -> Box<dyn IdWalk> {
        Box::new(StateIdWalk(self.runs.walk(from)))
    }

    fn visit_new(&self, visit: &mut dyn FnMut(&str, DocId)) {
        self.buffers.visit_ids(visit);
    }
}

/// The external IDs of a state that were flushed, in their order.
struct StateIdWalk(RunsWalk);

impl IdWalk for StateIdWalk {
    fn advance(&mut self, pages: &mut Pages<'_>) -> Step<Option<(&str, DocId)>> {
        if !self.0.advance(pages)? {
            return Ok(None);
        }
        let id = std::str::from_utf8(self.0.key());
        let id = id.map_err(|_| Error::damaged("an external ID", "expected UTF-8"))?;
        let entry = IdEntry::decode(self.0.value())?;
        Ok(Some((id, entry.doc)))
    }
}

fn view(state: &State) -> SearchView {
    SearchView {
        schema: Arc::clone(&state.schema),
        terms: state.terms.clone(),
        ids: Arc::new(StateIds {
            runs: state.ids.clone(),
            buffers: state.buffers.clone(),
        }),
        buffer: Arc::new(state.buffers.clone()),
        below: state.below,
        state: state.number,
        renumbered: state.renumbered,
        dead_documents: state.dead_documents(),
        columns: state.columns_view(),
        tables: state.tables.clone(),
        dictionaries: state.dictionaries.clone(),
        statistics: Statistics::new(Arc::clone(&state.statistics), Arc::clone(&state.schema)),
    }
}

fn with_clock(mut options: SearchOptions) -> SearchOptions {
    if options.clock.is_none() {
        let start = Instant::now();
        options.clock = Some(Arc::new(move || start.elapsed()));
    }
    options
}
