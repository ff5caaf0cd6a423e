//! Operations that ask: documents by ID, counts, searches now and of snapshots that were held,
//! against ledger and oracle.
//!
//! While a sweep of a vacuum is under way, the dead documents are out of some lists and in others:
//! then the score of a document lies between that of an index in which all of them count and that
//! of one in which none does but for the totals.

use std::collections::BTreeMap;

use super::history::{History, Judged};
use super::ledger::{Ledger, Then, swept};
use super::papers::Paper;
use gannet::Error;
use gannet::Schema;
use gannet::Snapshot;
use gannet::{Hit, Query, SearchOptions, SearchResults};
use gannet_testkit::oracle::model::Statistics;
use gannet_testkit::oracle::view::View;
use gannet_testkit::oracle::{Answer, PlainDocument, Rejection, Value};
use gannet_testkit::random::{KINDS, Kind, Queries};

/// More than there are documents.
const ALL: usize = 10_000;

const TOLERANCE: f32 = 1e-5;

/// Snapshots that are held at most.
const HELD: usize = 4;

/// Queries are made of so many documents.
const QUERIED: usize = 150;

/// A snapshot with the state that it must show.
pub(super) struct HeldSnapshot {
    snapshot: Snapshot,
    then: Then,
    swept_in_part: bool,
}

/// The answer to a query by the ledger.
enum Expected {
    Rejected(Rejection),
    /// The least and the greatest score of each document that is found, and whether a fuzzy word
    /// stands for more terms than are taken.
    Scores(BTreeMap<usize, (f32, f32)>, bool),
    /// While a sweep is under way: it depends on which terms are still there.
    Open,
}

impl History {
    pub(super) fn get(&mut self) -> Judged<()> {
        self.tally.operation("get");
        let id = if self.rng.chance(80) {
            self.live_id()
        } else {
            self.any_id()
        };
        self.compare_stored(&id)
    }

    /// Compares the document stored with an ID.
    pub(super) fn compare_stored(&self, id: &str) -> Judged<()> {
        let found = self.index().get(id);
        let found = found.map_err(|error| format!("get {id}: {error}"))?;
        let found = found.map(|found| (found.version, found.sequence, text(found.source)));
        let entry = self.ledger.get(id);
        let expected = entry.map(|e| (e.version, e.sequence, e.source.clone()));
        if found == expected {
            Ok(())
        } else {
            Err(format!("get {id}: {expected:?} expected, got {found:?}"))
        }
    }

    pub(super) fn count(&mut self) -> Judged<()> {
        self.tally.operation("count");
        self.compare_counts()
    }

    pub(super) fn compare_counts(&mut self) -> Judged<()> {
        let dead = self.ledger.dead();
        let stats = self.index().stats().map_err(|error| error.to_string())?;
        let (snapshot, _) = self.snapshot()?;
        let found = [
            snapshot.documents(),
            stats.documents,
            u64::from(stats.doc_ids),
        ];
        let (live, next) = (self.ledger.live() as u64, self.ledger.next_number() as u64);
        let expected = [live, live, next];
        if found != expected {
            return Err(format!(
                "documents, documents, IDs: {expected:?} expected, got {found:?}"
            ));
        }
        // A sweep may have ended before the figures were taken, or behind them.
        let dead = self.ledger.dead()..=dead;
        if dead.contains(&stats.dead_documents) {
            Ok(())
        } else {
            Err(format!(
                "dead documents: {dead:?} expected, got {}",
                stats.dead_documents
            ))
        }
    }

    pub(super) fn search(&mut self) -> Judged<()> {
        self.tally.operation("search");
        let query = self.query();
        self.ask_now(&query)
    }

    fn query(&mut self) -> Query {
        if self.rng.chance(3) {
            self.renew_queries();
        }
        let kind = *self.rng.pick(&KINDS);
        self.queries.query(&mut self.rng, kind)
    }

    /// From now on queries are about what is there now.
    fn renew_queries(&mut self) {
        let count = self.ledger.live();
        let share = (count / QUERIED).max(1);
        let some = self.ledger.living().step_by(share);
        let some: Vec<_> = some
            .map(|entry| Paper::merged(&entry.id, &entry.source, &Default::default()).document)
            .collect();
        if can_be_asked_for(&some) {
            self.queries = Queries::new(&some);
        }
    }

    fn ask_now(&mut self, query: &Query) -> Judged<()> {
        let (snapshot, swept_in_part) = self.snapshot()?;
        let k = *self.rng.pick(&[1, 3, 10, 10, 10, 100]);
        let expected = expected(&self.ledger.view(), query, swept_in_part, snapshot.schema());
        self.tally.count(
            if swept_in_part {
                "answers while a sweep is under way"
            } else {
                "answers with exact scores"
            },
            1,
        );
        compare_answer(&expected, query, &snapshot, k, &self.ledger)
    }

    /// Several queries that share their reads.
    pub(super) fn search_many(&mut self) -> Judged<()> {
        self.tally.operation("search many");
        let queries: Vec<Query> = (0..self.rng.between(2, 12)).map(|_| self.query()).collect();
        let (snapshot, swept_in_part) = self.snapshot()?;
        let options = SearchOptions {
            k: ALL,
            count: true,
            fetch: false,
            ..SearchOptions::default()
        };
        let answers = snapshot.search_all(&queries, &options);
        for (query, answer) in queries.iter().zip(answers) {
            let expected = expected(&self.ledger.view(), query, swept_in_part, snapshot.schema());
            compare_all(&expected, answer).map_err(|reason| format!("{query}: {reason}"))?;
        }
        Ok(())
    }

    pub(super) fn hold(&mut self) -> Judged<()> {
        self.tally.operation("hold a snapshot");
        if self.held.len() == HELD {
            let oldest = self.rng.below(HELD);
            self.held.remove(oldest);
        }
        let (snapshot, swept_in_part) = self.snapshot()?;
        self.held.push(HeldSnapshot {
            snapshot,
            then: self.ledger.then(),
            swept_in_part,
        });
        Ok(())
    }

    pub(super) fn let_go(&mut self) -> Judged<()> {
        self.tally.operation("let a snapshot go");
        self.held.pop();
        Ok(())
    }

    pub(super) fn ask_held(&mut self) -> Judged<()> {
        if self.held.is_empty() {
            return self.hold();
        }
        self.tally.operation("ask a held snapshot");
        let query = self.query();
        let at = self.rng.below(self.held.len());
        let held = &self.held[at];
        if held.snapshot.documents() != held.then.live as u64 {
            return Err(format!(
                "a snapshot of operation {} has {} documents, {} expected",
                held.then.sequence,
                held.snapshot.documents(),
                held.then.live
            ));
        }
        let view = self.ledger.view_then(&held.then);
        let expected = expected(&view, &query, held.swept_in_part, held.snapshot.schema());
        let compared = compare_answer(&expected, &query, &held.snapshot, 10, &self.ledger);
        let given_up = held.snapshot.search(&Query::MatchNone).run();
        if let Err(Error::Expired { .. }) = given_up
            && self.setup.snapshots_expire
        {
            self.tally.count("snapshots given up", 1);
            self.held.remove(at);
            return Ok(());
        }
        self.tally.count("answers of held snapshots", 1);
        compared.map_err(|reason| {
            let sequence = self.held[at].then.sequence;
            format!("a snapshot of operation {sequence}: {reason}")
        })
    }

    /// All documents, in their order, with their sources.
    pub(super) fn compare_contents(&mut self) -> Judged<()> {
        self.compare_counts()?;
        let results = self
            .index()
            .snapshot()
            .search(&Query::MatchAll)
            .top(ALL)
            .run();
        let hits = results.map_err(|error| error.to_string())?.hits;
        let mut living = self.ledger.living();
        for hit in &hits {
            let source = hit.source.as_deref().unwrap_or_default();
            let Some(entry) = living.next() else {
                return Err(format!("document {} is too many", hit.id));
            };
            if (hit.doc as usize, hit.id.as_str(), source)
                != (entry.number, entry.id.as_str(), entry.source.as_bytes())
            {
                let found = String::from_utf8_lossy(source);
                return Err(format!(
                    "document {} {} expected, got {} {}: {found}",
                    entry.number, entry.id, hit.doc, hit.id
                ));
            }
        }
        match living.next() {
            None => Ok(()),
            Some(entry) => Err(format!("document {} {} is missing", entry.number, entry.id)),
        }
    }

    /// A query of each of some kinds.
    pub(super) fn compare_some_answers(&mut self) -> Judged<()> {
        let kinds = [Kind::Or, Kind::Phrase, Kind::Number, Kind::Bool];
        for kind in kinds {
            let query = self.queries.query(&mut self.rng, kind);
            self.ask_now(&query)?;
        }
        Ok(())
    }
}

/// Returns true if there are numbers in some documents, and texts with words enough for phrases.
fn can_be_asked_for(documents: &[PlainDocument]) -> bool {
    let values = || documents.iter().flat_map(|document| &document.fields);
    let is_number = |(_, value): &(String, Value)| matches!(value, Value::Exact(_));
    let has_words = |(_, value): &(String, Value)| match value {
        Value::Text(text) => text.split(' ').count() > 1,
        Value::Exact(_) => false,
    };
    values().any(is_number) && values().any(has_words)
}

fn expected(view: &View<'_>, query: &Query, swept_in_part: bool, schema: &Schema) -> Expected {
    // The view has all fields that documents may ever have.
    let lacks = |name: &String| schema.named(name).is_none();
    if names(query).into_iter().any(lacks) {
        return if schema.fields().is_empty() {
            Expected::Open
        } else {
            Expected::Rejected(Rejection::Field)
        };
    }
    let before = view.answer(query);
    if !swept_in_part {
        return match before {
            Ok(answer) => Expected::Scores(between(&answer, &answer), answer.is_cut),
            Err(rejection) => Expected::Rejected(rejection),
        };
    }
    let statistics: Vec<Statistics> = swept(view);
    let after = View {
        fields: view.fields,
        statistics: &statistics,
        documents: view.documents.clone(),
    };
    match (before, after.answer(query)) {
        (Err(rejection), _) => Expected::Rejected(rejection),
        (Ok(before), Ok(after)) if !has_fuzzy(query) => {
            Expected::Scores(between(&before, &after), false)
        }
        _ => Expected::Open,
    }
}

/// Scores by document, from the one to the other. Both answers have the same documents.
fn between(least: &Answer, greatest: &Answer) -> BTreeMap<usize, (f32, f32)> {
    let greatest: BTreeMap<usize, f32> = greatest.hits.iter().copied().collect();
    let hits = least.hits.iter();
    hits.map(|(number, score)| (*number, (*score, greatest[number])))
        .collect()
}

/// The fields that a query names.
fn names(query: &Query) -> Vec<&String> {
    let own = match query {
        Query::Exists { field } | Query::OneOf { field, .. } | Query::Regexp { field, .. } => {
            Some(field)
        }
        Query::Text { field, .. }
        | Query::Phrase { field, .. }
        | Query::PhrasePattern { field, .. }
        | Query::Prefix { field, .. }
        | Query::Wildcard { field, .. }
        | Query::Fuzzy { field, .. }
        | Query::Range { field, .. } => field.as_ref(),
        Query::MatchAll
        | Query::MatchNone
        | Query::Bool { .. }
        | Query::Best { .. }
        | Query::Boost { .. } => None,
    };
    own.into_iter()
        .chain(query.children().flat_map(names))
        .collect()
}

/// Returns true if a part of a query stands for the terms that are most similar to a word.
fn has_fuzzy(query: &Query) -> bool {
    matches!(query, Query::Fuzzy { .. }) || query.children().any(has_fuzzy)
}

/// Asks for all that a query finds, then for the best `k`, which the engine finds in another way.
fn compare_answer(
    expected: &Expected,
    query: &Query,
    snapshot: &Snapshot,
    k: usize,
    ledger: &Ledger,
) -> Judged<()> {
    let search = snapshot.search(query).top(ALL).count(true).fetch(false);
    let all = compare_all(expected, search.run());
    let compared = all.and_then(|all| match all {
        None => Ok(()),
        Some(all) => compare_best(&all, snapshot.search(query).top(k).run(), k, ledger),
    });
    compared.map_err(|reason| format!("{query}: {reason}\n    {query:?}"))
}

/// Documents, scores, order and total. Gives them unless the query was rejected, as it should be.
fn compare_all(
    expected: &Expected,
    answer: gannet::Result<SearchResults>,
) -> Judged<Option<SearchResults>> {
    let (scores, is_cut) = match (expected, answer.as_ref().map_err(ToString::to_string)) {
        (Expected::Rejected(rejection), Err(error)) if rejection.is_said_by(&error) => {
            return Ok(None);
        }
        (_, Err(error)) => return Err(error),
        (Expected::Open, Ok(_)) => return Ok(answer.ok()),
        (Expected::Rejected(_), Ok(_)) => return Err("it should have been rejected".to_owned()),
        (Expected::Scores(scores, is_cut), Ok(_)) => (scores, *is_cut),
    };
    let results = answer.map_err(|error| error.to_string())?;
    compare_scores(scores, &results.hits)?;
    if (results.total, results.total_is_exact) == (scores.len() as u64, !is_cut) {
        Ok(Some(results))
    } else {
        Err(format!("{} hits, {} counted", scores.len(), results.total))
    }
}

fn compare_scores(expected: &BTreeMap<usize, (f32, f32)>, hits: &[Hit]) -> Judged<()> {
    let found: BTreeMap<usize, f32> = hits.iter().map(|h| (h.doc as usize, h.score)).collect();
    if !found.keys().eq(expected.keys()) || found.len() != hits.len() {
        let missing: Vec<_> = expected.keys().filter(|d| !found.contains_key(d)).collect();
        let strange: Vec<_> = found.keys().filter(|d| !expected.contains_key(d)).collect();
        return Err(format!("missing {missing:?}, too many {strange:?}"));
    }
    let mut pairs = found.iter().zip(expected.values());
    let is_near = |score: f32, (least, greatest): (f32, f32)| {
        let tolerance = TOLERANCE * greatest.abs();
        (least - tolerance..=greatest + tolerance).contains(&score)
    };
    if let Some((found, expected)) = pairs.find(|(found, range)| !is_near(*found.1, **range)) {
        return Err(format!("document and score {found:?}, not in {expected:?}"));
    }
    let in_order = |two: &[Hit]| (two[1].score, two[0].doc) < (two[0].score, two[1].doc);
    if hits.windows(2).all(in_order) {
        Ok(())
    } else {
        Err("the hits are not in the order of score and document".to_owned())
    }
}

/// The best must be the first of all, with their documents.
fn compare_best(
    all: &SearchResults,
    best: gannet::Result<SearchResults>,
    k: usize,
    ledger: &Ledger,
) -> Judged<()> {
    let best = best.map_err(|error| format!("the best {k} are rejected: {error}"))?;
    let shown = |hits: &[Hit]| hits.iter().map(|h| (h.doc, h.score)).collect::<Vec<_>>();
    let (found, expected) = (shown(&best.hits), shown(&all.hits[..all.hits.len().min(k)]));
    if found != expected {
        return Err(format!("the best of all are {expected:?}, alone {found:?}"));
    }
    if best.total > all.total || best.total_is_exact && best.total != all.total {
        return Err(format!("{} hits, {} counted alone", all.total, best.total));
    }
    for hit in &best.hits {
        let entry = ledger.entry(hit.doc as usize);
        let source = hit.source.as_deref().unwrap_or_default();
        if (hit.id.as_str(), source) != (entry.id.as_str(), entry.source.as_bytes()) {
            return Err(format!("document {} is {}: {source:?}", hit.doc, hit.id));
        }
    }
    Ok(())
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}
