//! Gannet's answers against the oracle's, through the life of an index: in memory, after many
//! flushes, reopened, with documents replaced and deleted, and after many more flushes.
//!
//! `GANNET_ORACLE_QUERIES` queries (2,000 if nothing is said) are asked at each stage,
//! `GANNET_SEED` gives others. `GANNET_JSON` gets a row for each kind of query at each stage. The
//! others: see `environment`.

use std::collections::{BTreeSet, HashSet};
use std::thread;
use std::time::Instant;

use gannet::{
    Document, Hit, Index, Limits, Operator, PhraseFilters, Query, SearchResults, Snapshot,
};
use serde_json::json;

use super::environment::{self, number};
use gannet_testkit::oracle::{Answer, Model, PlainDocument, Rejection};
use gannet_testkit::random::{Documents, FIELDS, KINDS, Kind, Queries, Rng, to_json};

const DOCUMENTS: usize = 5_000;

/// Flushes between two stages.
const FLUSHES: usize = 48;

/// More than there are documents.
const ALL: usize = 10_000;

const TOLERANCE: f32 = 1e-5;

/// The share of the documents that are replaced, in batches, each of which is followed by some
/// deletions.
const REPLACED_SHARE: f64 = 0.1;

const BATCHES: usize = 10;

const DELETED_A_BATCH: usize = 5;

/// A query with what the oracle says.
struct Question {
    kind: Kind,
    query: Query,
    expected: Result<Answer, Rejection>,
}

/// The history of an index at a stage of its life.
#[derive(Clone, Default)]
struct Past {
    /// Flushes, of openings before this one too.
    flushes: u64,
    chunks_of_longest_list: u64,
    /// Documents that others replaced since the index was filled.
    replaced: u64,
}

/// The results of the queries of one kind at one stage.
#[derive(Default)]
struct Tally {
    queries: u64,
    /// Queries that found something; all their scores were compared.
    found: u64,
    hits: u64,
    rejected: u64,
    differences: Vec<String>,
}

struct Run {
    rng: Rng,
    seed: u64,
    documents: Documents,
    corpus: Vec<PlainDocument>,
    model: Model,
    next_id: usize,
    past: Past,
    /// In openings before this one.
    flushes_before: u64,
    rows: Vec<serde_json::Value>,
}

#[test]
fn answers_are_those_of_the_oracle_through_the_life_of_an_index() {
    let mut run = Run::new(number("GANNET_SEED", 2));
    println!("seed {}", run.seed);
    let folder = tempfile::tempdir().expect("a folder");
    run.fill();
    let queries = run.queries(number("GANNET_ORACLE_QUERIES", 2_000) as usize);
    let mut questions = run.ask(queries);

    let index = open(&folder.path().join("memory"), None, PhraseFilters::None);
    for batch in run.corpus.chunks(300) {
        index.write(parsed(batch)).expect("a batch");
    }
    run.look_back(&index);
    run.check("before any flush", &questions, &index.snapshot());
    drop(index);

    let path = folder.path().join("flushed");
    let index = open(&path, Some(64 << 10), PhraseFilters::Common);
    write_with_flushes(&index, &run.corpus, 2);
    run.look_back(&index);
    run.check("after many flushes", &questions, &index.snapshot());
    assert_many_chunks(&index.snapshot());
    run.leave(&index);
    index.close().expect("a checkpoint");

    let index = open(&path, Some(64 << 10), PhraseFilters::Common);
    run.look_back(&index);
    run.check("reopened", &questions, &index.snapshot());

    let pinned = (index.snapshot(), run.past.clone());
    run.replace_and_delete(&index);
    let old = std::mem::take(&mut questions);
    let queries = run.queries(number("GANNET_ORACLE_QUERIES", 2_000) as usize);
    questions = run.ask(queries);
    run.look_back(&index);
    run.check(
        "after replacing and deleting",
        &questions,
        &index.snapshot(),
    );

    run.grow(&index);
    let queries = questions.into_iter().map(|q| (q.kind, q.query)).collect();
    questions = run.ask(queries);
    run.look_back(&index);
    assert_many_chunks(&index.snapshot());
    run.check("after many more flushes", &questions, &index.snapshot());
    let now = std::mem::replace(&mut run.past, pinned.1);
    run.check("a snapshot from before the changes", &old, &pinned.0);
    drop(pinned.0);
    run.past = now;
    index.sync().expect("a sync");
    run.leave(&index);
    drop(index);

    let index = open(&path, None, PhraseFilters::Common);
    run.look_back(&index);
    run.check(
        "reopened with a log to replay",
        &questions,
        &index.snapshot(),
    );
    assert_whole(&index);

    let pinned = (index.snapshot(), run.past.clone());
    run.vacuum(&index);
    let old = std::mem::take(&mut questions);
    let queries = run.queries(number("GANNET_ORACLE_QUERIES", 2_000) as usize);
    questions = run.ask(queries);
    run.look_back(&index);
    run.check("after a vacuum", &questions, &index.snapshot());
    let now = std::mem::replace(&mut run.past, pinned.1);
    run.check("a snapshot from before the vacuum", &old, &pinned.0);
    drop(pinned.0);
    run.past = now;
    assert_whole(&index);
    run.leave(&index);
    drop(index);

    let index = open(&path, Some(64 << 10), PhraseFilters::Common);
    run.look_back(&index);
    run.check("reopened after the vacuum", &questions, &index.snapshot());
    run.grow(&index);
    let queries = questions.into_iter().map(|q| (q.kind, q.query)).collect();
    questions = run.ask(queries);
    run.look_back(&index);
    run.check(
        "after flushes behind the vacuum",
        &questions,
        &index.snapshot(),
    );
    assert_whole(&index);
}

impl Tally {
    /// Counts one question, with what is wrong with its answer.
    fn put(&mut self, question: &Question, fault: Option<String>) {
        self.queries += 1;
        match &question.expected {
            Ok(answer) => {
                self.found += u64::from(!answer.hits.is_empty());
                self.hits += answer.hits.len() as u64;
            }
            Err(_) => self.rejected += 1,
        }
        if let Some(fault) = fault {
            let (kind, query) = (question.kind, &question.query);
            let difference = format!("{kind:?} {query}: {fault}\n    {query:?}");
            self.differences.push(difference);
        }
    }
}

impl Run {
    fn new(seed: u64) -> Run {
        let mut rng = Rng::new(seed);
        let documents = Documents::new(&mut rng, 4_000);
        Run {
            rng,
            seed,
            documents,
            corpus: Vec::new(),
            model: Model::new(&FIELDS),
            next_id: 0,
            past: Past::default(),
            flushes_before: 0,
            rows: Vec::new(),
        }
    }

    /// The first documents; some come twice, so that one replaces the other even in the same batch.
    fn fill(&mut self) {
        for _ in 0..DOCUMENTS {
            let document = self.new_document();
            self.corpus.push(document);
            if self.rng.chance(1) {
                let again = self.again();
                self.corpus.push(again);
            }
        }
        for document in &self.corpus {
            self.model.write(document);
        }
    }

    fn new_document(&mut self) -> PlainDocument {
        self.next_id += 1;
        self.documents
            .document(&mut self.rng, format!("d{}", self.next_id))
    }

    /// Another document with an ID that was used before.
    fn again(&mut self) -> PlainDocument {
        let id = self.rng.between(1, self.next_id);
        self.documents.document(&mut self.rng, format!("d{id}"))
    }

    fn queries(&mut self, count: usize) -> Vec<(Kind, Query)> {
        let queries = Queries::new(&self.corpus);
        let kinds = KINDS.iter().cycle().take(count);
        kinds
            .map(|kind| (*kind, queries.query(&mut self.rng, *kind)))
            .collect()
    }

    fn ask(&self, queries: Vec<(Kind, Query)>) -> Vec<Question> {
        let started = Instant::now();
        let answers = on_all_cores(&queries, |(_, query)| self.model.answer(query));
        let each = queries.into_iter().zip(answers);
        let questions = each
            .map(|((kind, query), expected)| Question {
                kind,
                query,
                expected,
            })
            .collect();
        println!("oracle: {:.1?}", started.elapsed());
        questions
    }

    /// Replaces a share of the documents and deletes some, in batches, without a flush at the end.
    fn replace_and_delete(&mut self, index: &Index) {
        let mut ids: Vec<String> = self.live().map(|id| id.to_owned()).collect();
        ids.sort_unstable();
        let replaced = (ids.len() as f64 * REPLACED_SHARE).ceil() as usize;
        let mut draw = || {
            let at = self.rng.below(ids.len());
            ids.swap_remove(at)
        };
        let replaced: Vec<String> = (0..replaced).map(|_| draw()).collect();
        let deleted: Vec<String> = (0..BATCHES * DELETED_A_BATCH).map(|_| draw()).collect();
        let shares = replaced.chunks(replaced.len().div_ceil(BATCHES));
        for (replaced, deleted) in shares.zip(deleted.chunks(DELETED_A_BATCH)) {
            let documents = replaced.iter().map(|id| {
                let documents = &self.documents;
                documents.document(&mut self.rng, id.as_str())
            });
            let batch: Vec<PlainDocument> = documents.collect();
            self.write(index, &batch);
            let unknown = format!("d{}", self.next_id + 3);
            let ids: Vec<&str> = deleted.iter().chain([&unknown]).map(|id| &**id).collect();
            let written = index.delete(&ids).expect("a delete");
            assert_eq!(written.deleted, DELETED_A_BATCH as u64);
            ids.iter().for_each(|id| self.model.delete(id));
        }
        let live: HashSet<String> = self.live().map(str::to_owned).collect();
        self.corpus.retain(|document| live.contains(&document.id));
    }

    /// The IDs of all documents that are there.
    fn live(&self) -> impl Iterator<Item = &str> {
        let all = self.model.documents.iter();
        all.filter(|one| !one.deleted).map(|one| one.id.as_str())
    }

    /// New documents and replacements with a flush after each batch but the last.
    fn grow(&mut self, index: &Index) {
        for _ in 0..FLUSHES {
            index.checkpoint().expect("a checkpoint");
            let mut batch = Vec::new();
            for _ in 0..24 {
                batch.push(self.new_document());
                batch.push(self.again());
            }
            self.write(index, &batch);
        }
    }

    /// Vacuums in many slices, while documents are replaced.
    fn vacuum(&mut self, index: &Index) {
        let dead = self.model.dead();
        let mut slices = 1;
        while index.vacuum().expect("a slice") {
            slices += 1;
            if slices % 4 == 0 {
                let batch: Vec<PlainDocument> = (0..5).map(|_| self.again()).collect();
                self.write(index, &batch);
            }
        }
        println!("{slices} slices");
        assert!(slices > 20, "{slices} slices");
        self.model.vacuum(&dead);
        let live: HashSet<String> = self.live().map(str::to_owned).collect();
        self.corpus.retain(|document| live.contains(&document.id));
    }

    fn write(&mut self, index: &Index, batch: &[PlainDocument]) {
        let written = index.write(parsed(batch)).expect("a batch");
        let before = self.live().count();
        for document in batch {
            self.model.write(document);
            self.corpus.push(document.clone());
        }
        let replaced = before + batch.len() - self.live().count();
        assert_eq!(written.replaced, replaced as u64, "documents replaced");
        self.past.replaced += written.replaced;
    }

    /// Notes what the index has behind it now.
    fn look_back(&mut self, index: &Index) {
        let snapshot = index.snapshot();
        assert_eq!(snapshot.documents(), self.live().count() as u64);
        self.past.flushes = self.flushes_before + flushes(index);
        let chunks = chunks_of_lists(&snapshot);
        self.past.chunks_of_longest_list = chunks.into_iter().max().unwrap_or(0);
    }

    /// The end of an opening: its flushes count on.
    fn leave(&mut self, index: &Index) {
        self.flushes_before += flushes(index);
    }

    /// Asks all questions, and fails if an answer differs.
    fn check(&mut self, stage: &str, questions: &[Question], snapshot: &Snapshot) {
        let started = Instant::now();
        let mut tallies: Vec<(Kind, Tally)> = KINDS.map(|kind| (kind, Tally::default())).into();
        let faults = on_all_cores(questions, |question| self.fault(question, snapshot));
        for (question, fault) in questions.iter().zip(faults) {
            let tally = tallies.iter_mut().find(|(kind, _)| *kind == question.kind);
            let (_, tally) = tally.expect("a kind");
            tally.put(question, fault);
        }
        println!(
            "{stage}: {} queries in {:.1?}",
            questions.len(),
            started.elapsed()
        );
        self.report(stage, snapshot, &tallies);
        let differences: Vec<&String> = tallies
            .iter()
            .flat_map(|(_, tally)| &tally.differences)
            .collect();
        assert!(
            differences.is_empty(),
            "{stage}, seed {}: {} of {} queries differ: {:#?}",
            self.seed,
            differences.len(),
            questions.len(),
            differences.iter().take(8).collect::<Vec<_>>()
        );
    }

    /// Adds the rows of a stage to those of the stages before.
    fn report(&mut self, stage: &str, snapshot: &Snapshot, tallies: &[(Kind, Tally)]) {
        let past = &self.past;
        let rows = tallies.iter().map(|(kind, tally)| {
            json!({
                "stage": stage,
                "kind": format!("{kind:?}").to_lowercase(),
                "queries": tally.queries,
                "differences": tally.differences.len(),
                "found": tally.found,
                "hits": tally.hits,
                "rejected": tally.rejected,
                "flushes": past.flushes,
                "chunks_of_longest_list": past.chunks_of_longest_list,
                "documents": snapshot.documents(),
                "replaced": past.replaced,
            })
        });
        self.rows.extend(rows);
        environment::report(&json!({
            "test": "oracle",
            "seed": self.seed,
            "tolerance": TOLERANCE,
            "rows": self.rows,
        }));
    }

    /// Describes the fault in the answer to a question.
    fn fault(&self, question: &Question, snapshot: &Snapshot) -> Option<String> {
        let all = snapshot
            .search(&question.query)
            .top(ALL)
            .count(true)
            .fetch(false)
            .run();
        let (expected, all) = match (&question.expected, all) {
            (Err(rejection), Err(error)) if rejection.is_said_by(&error.to_string()) => {
                return None;
            }
            (Err(_), Err(error)) => {
                return Some(format!("rejected for another reason: {error}"));
            }
            (Err(_), Ok(_)) => return Some("expected a rejection".to_owned()),
            (Ok(_), Err(error)) => return Some(format!("rejected: {error}")),
            (Ok(expected), Ok(all)) => (expected, all),
        };
        let wrong = self
            .wrong_documents(expected, &all.hits)
            .or_else(|| wrong_total(expected, &all))
            .or_else(|| wrong_scores(expected, &all.hits));
        if wrong.is_some() {
            return wrong;
        }
        match snapshot.search(&question.query).top(10).run() {
            Err(error) => Some(format!("the first ten are rejected: {error}")),
            Ok(ten) => self.wrong_ten(&ten.hits, &all.hits),
        }
    }

    /// Documents that should not be there, or are missing.
    fn wrong_documents(&self, expected: &Answer, hits: &[Hit]) -> Option<String> {
        let wanted: BTreeSet<usize> = expected.hits.iter().map(|(doc, _)| *doc).collect();
        let found: BTreeSet<usize> = hits.iter().map(|hit| hit.doc as usize).collect();
        let shown = |docs: Vec<&usize>| {
            let first = docs.iter().take(5);
            let first = first.map(|doc| (**doc, self.model.documents[**doc].deleted));
            format!(
                "{} (number, deleted: {:?})",
                docs.len(),
                first.collect::<Vec<_>>()
            )
        };
        let missing: Vec<&usize> = wanted.difference(&found).collect();
        let strange: Vec<&usize> = found.difference(&wanted).collect();
        let is_right = missing.is_empty() && strange.is_empty();
        (!is_right).then(|| format!("missing {}, too many {}", shown(missing), shown(strange)))
    }

    /// Describes a difference of the first ten, found with pruning, from the first ten of all, or a
    /// wrong document among them.
    fn wrong_ten(&self, ten: &[Hit], all: &[Hit]) -> Option<String> {
        let shown = |hits: &[Hit]| {
            hits.iter()
                .map(|hit| (hit.doc, hit.score))
                .collect::<Vec<_>>()
        };
        let (ten_shown, expected) = (shown(ten), shown(&all[..all.len().min(10)]));
        if ten_shown != expected {
            return Some(format!(
                "of all, the first ten are {expected:?}, alone {ten_shown:?}"
            ));
        }
        let stranger = ten
            .iter()
            .find(|hit| hit.id != self.model.documents[hit.doc as usize].id)?;
        Some(format!(
            "document {} has the ID {}",
            stranger.doc, stranger.id
        ))
    }
}

fn wrong_total(expected: &Answer, results: &SearchResults) -> Option<String> {
    let (wanted, total) = (expected.hits.len() as u64, results.total);
    let is_right = total == wanted && results.total_is_exact != expected.is_cut;
    let is_told = results.cut_expansions.is_empty() != expected.is_cut;
    let wrong = || {
        let exact = if results.total_is_exact {
            "exact"
        } else {
            "not exact"
        };
        format!(
            "{wanted} hits, {total} counted, {exact}: {:?}",
            results.cut_expansions
        )
    };
    (!is_right || !is_told).then(wrong)
}

/// Compares score by score in the order of rank, and the scores of each document.
fn wrong_scores(expected: &Answer, hits: &[Hit]) -> Option<String> {
    let ordered = hits
        .windows(2)
        .all(|two| (two[1].score, two[0].doc) < (two[0].score, two[1].doc));
    if !ordered {
        return Some("the hits are not in the order of score and document".to_owned());
    }
    let mut scores: Vec<(usize, f32)> = hits
        .iter()
        .map(|hit| (hit.doc as usize, hit.score))
        .collect();
    let mut wanted = expected.hits.clone();
    let by_rank = first_difference(&wanted, &scores);
    scores.sort_unstable_by_key(|(doc, _)| *doc);
    wanted.sort_unstable_by_key(|(doc, _)| *doc);
    first_difference(&wanted, &scores).or(by_rank)
}

fn first_difference(wanted: &[(usize, f32)], found: &[(usize, f32)]) -> Option<String> {
    let mut pairs = wanted.iter().zip(found);
    // What is no number is never within the tolerance.
    let is_near = |wanted: f32, found: f32| (wanted - found).abs() <= TOLERANCE * wanted.abs();
    let (wanted, found) = pairs.find(|(wanted, found)| !is_near(wanted.1, found.1))?;
    Some(format!(
        "document and score {wanted:?} expected, {found:?} found"
    ))
}

fn parsed(batch: &[PlainDocument]) -> Vec<Document> {
    let lines = batch.iter().map(to_json);
    lines
        .map(|line| Document::parse(line.as_bytes()).expect("a document"))
        .collect()
}

/// Writes all, with a flush after each of [`FLUSHES`] shares of them and some documents in memory
/// at the end.
fn write_with_flushes(index: &Index, corpus: &[PlainDocument], more: usize) {
    let share = corpus.len() / (FLUSHES + more);
    for (at, batch) in corpus.chunks(share).enumerate() {
        index.write(parsed(batch)).expect("a batch");
        if at < FLUSHES {
            index.checkpoint().expect("a checkpoint");
        }
    }
}

/// The lists of frequent terms must be in several chunks, or the run shows little.
fn assert_many_chunks(snapshot: &Snapshot) {
    let chunks = chunks_of_lists(snapshot);
    println!("chunks of frequent terms: {chunks:?}");
    let many = chunks.iter().filter(|count| **count >= 3);
    assert!(many.count() >= 3, "chunks: {chunks:?}");
}

/// Counts the chunks of the lists of frequent terms.
fn chunks_of_lists(snapshot: &Snapshot) -> Vec<u64> {
    let frequent = "the of flash and birds running a storage in sea engines is";
    let text = format!("title:({frequent}) body:({frequent})");
    let query = snapshot.parse(&text, Operator::Or).expect("a query");
    let search = snapshot.search(&query).explain(true);
    let results = search.run().expect("an answer");
    let terms = results.plan.expect("a plan").terms;
    terms.iter().map(|term| term.chunks_in_list).collect()
}

fn flushes(index: &Index) -> u64 {
    index.stats().expect("the figures").flushes
}

/// Everything on flash must fit together.
fn assert_whole(index: &Index) {
    let report = index.check(&|_, _| {}).expect("a check");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}

fn open(path: &std::path::Path, buffer_bytes: Option<usize>, filters: PhraseFilters) -> Index {
    let limits = Limits {
        buffer_bytes,
        vacuum_bytes: Some(64 << 10),
        // What is looked at stays as it was written.
        maintain_after: None,
        ..Limits::default()
    };
    let mut options = Index::options().memory(64 << 20).phrase_filters(filters);
    options = options.limits(limits);
    for field in &FIELDS {
        let analyzer =
            gannet::Analyzer::named(field.analyzer.unwrap_or("keyword")).expect("an analyzer");
        options = options.field_analyzer(field.name, analyzer);
    }
    environment::open(options, path).expect("an index")
}

/// Applies `each` to the items on all cores, and keeps their order. This is the longest test of
/// all.
fn on_all_cores<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let some = items.len().div_ceil(cores).max(1);
    thread::scope(|scope| {
        let threads: Vec<_> = items
            .chunks(some)
            .map(|some| scope.spawn(|| some.iter().map(&each).collect::<Vec<R>>()))
            .collect();
        let made = threads
            .into_iter()
            .flat_map(|one| one.join().expect("no panic"));
        made.collect()
    })
}
