//! Several indexes answer like one. Each is searched with the sums of all statistics, and equal
//! scores are ordered by external ID. The best of all answers are the page of one index that has
//! all documents; scores are equal in every bit.

use std::sync::Arc;

use gannet::{
    Document, Index, Limits, Operator, Query, QueryStatistics, SearchOptions, SearchResults,
    Snapshot, Ties,
};

use super::environment::{self, number};
use gannet_testkit::oracle::PlainDocument;
use gannet_testkit::random::{Documents, FIELDS, KINDS, Queries, Rng, to_json};

const DOCUMENTS: usize = 500;
const QUERIES_OF_KIND: u64 = 6;

/// A document with its ID and score.
type Found = (String, f32);

/// One index of all documents, and several that share them.
struct World {
    one: Index,
    shards: Vec<Index>,
    rng: Rng,
    corpus: Vec<PlainDocument>,
    _folder: tempfile::TempDir,
}

fn open(path: &std::path::Path) -> Index {
    let limits = Limits {
        buffer_bytes: Some(64 << 10),
        vacuum_bytes: Some(64 << 10),
        // Deleted documents are to be counted everywhere.
        maintain_after: None,
        ..Limits::default()
    };
    let mut options = Index::options()
        .memory(48 << 20)
        .limits(limits)
        .result_cache(1 << 20);
    for field in &FIELDS {
        let analyzer = field.analyzer.unwrap_or("keyword");
        let analyzer = gannet::Analyzer::named(analyzer).expect("an analyzer");
        options = options.field_analyzer(field.name, analyzer);
    }
    environment::open(options, path).expect("an index")
}

fn shard_of(id: &str, shards: usize) -> usize {
    let hash = id.bytes().fold(7u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 20) as usize % shards
}

impl World {
    fn new(seed: u64, shards: usize) -> World {
        let folder = tempfile::tempdir().expect("a folder");
        let mut rng = Rng::new(seed);
        let documents = Documents::new(&mut rng, 500);
        let mut corpus: Vec<PlainDocument> = Vec::new();
        for number in 0..DOCUMENTS {
            let id = format!("d{}", number * 7919 % 1_000);
            // Copies score the same.
            let copied = rng.chance(30).then(|| rng.below(corpus.len().max(1)));
            let copied = copied.and_then(|at| corpus.get(at)).cloned();
            corpus.push(match copied {
                Some(copied) => PlainDocument { id, ..copied },
                None => documents.document(&mut rng, id),
            });
        }
        let mut world = World {
            one: open(&folder.path().join("one")),
            shards: (0..shards)
                .map(|shard| open(&folder.path().join(shard.to_string())))
                .collect(),
            rng,
            corpus,
            _folder: folder,
        };
        world.fill(&documents);
        world
    }

    /// Writes all, replaces and deletes some; each index flushes when it comes to it.
    fn fill(&mut self, documents: &Documents) {
        let corpus = self.corpus.clone();
        for batch in corpus.chunks(50) {
            self.write(batch);
            let mut changed = Vec::new();
            for _ in 0..3 {
                let id = self.rng.pick(batch).id.clone();
                changed.push(documents.document(&mut self.rng, id));
            }
            self.write(&changed);
            let gone = self.rng.pick(batch).id.clone();
            self.one.delete(&[&gone]).expect("a delete");
            let shard = shard_of(&gone, self.shards.len());
            self.shards[shard].delete(&[&gone]).expect("a delete");
            let at = self.rng.below(self.shards.len() + 1);
            let flushed = self.shards.get(at).unwrap_or(&self.one);
            flushed.checkpoint().expect("a checkpoint");
        }
    }

    fn write(&self, batch: &[PlainDocument]) {
        let lines = batch.iter().map(|one| (one.id.as_str(), to_json(one)));
        write(&self.one, &self.shards, &lines.collect::<Vec<_>>());
    }

    fn snapshots(&self) -> (Snapshot, Vec<Snapshot>) {
        let shards = self.shards.iter().map(Index::snapshot);
        (self.one.snapshot(), shards.collect())
    }

    fn queries(&mut self, each: u64) -> Vec<Query> {
        let queries = Queries::new(&self.corpus);
        let kinds = KINDS.iter().flat_map(|kind| (0..each).map(move |_| *kind));
        kinds
            .map(|kind| queries.query(&mut self.rng, kind))
            .collect()
    }
}

/// Writes JSON objects by their IDs into one index, and into the shards.
fn write(one: &Index, shards: &[Index], lines: &[(&str, String)]) {
    let parsed = |wanted: Option<usize>| {
        let its = lines
            .iter()
            .filter(move |(id, _)| wanted.is_none_or(|shard| shard_of(id, shards.len()) == shard));
        its.map(|(_, line)| Document::parse(line.as_bytes()).expect("a document"))
            .collect::<Vec<_>>()
    };
    one.write(parsed(None)).expect("a batch");
    for (number, shard) in shards.iter().enumerate() {
        shard.write(parsed(Some(number))).expect("a batch");
    }
}

fn options() -> SearchOptions {
    SearchOptions {
        other_fields: FIELDS.iter().map(|field| field.name.to_owned()).collect(),
        ties: Ties::ExternalId,
        sources: false,
        ..SearchOptions::default()
    }
}

/// The sum of the statistics, after a way through JSON.
fn summed(shards: &[Snapshot], query: &Query) -> gannet::Result<QueryStatistics> {
    let mut sum = QueryStatistics::default();
    for shard in shards {
        let counted = shard.statistics_of(std::slice::from_ref(query), &options())?;
        let counted = QueryStatistics::from_json(&counted.to_json()).expect("what was written");
        sum.merge(&counted).expect("the same query");
    }
    Ok(sum)
}

fn ask(
    snapshot: &Snapshot,
    query: &Query,
    options: &SearchOptions,
) -> gannet::Result<SearchResults> {
    let mut answers = snapshot.search_all(std::slice::from_ref(query), options);
    answers.pop().expect("an answer")
}

fn found(results: &SearchResults) -> Vec<Found> {
    let hits = results.hits.iter();
    hits.map(|hit| (hit.id.clone(), hit.score)).collect()
}

fn in_order(mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by(|(one, a), (other, b)| b.total_cmp(a).then_with(|| one.cmp(other)));
    all
}

fn page_of(all: &[Found], skip: usize, k: usize) -> Vec<Found> {
    all.iter().skip(skip).take(k).cloned().collect()
}

fn bits(all: &[Found]) -> Vec<(&str, u32)> {
    all.iter()
        .map(|(id, score)| (id.as_str(), score.to_bits()))
        .collect()
}

/// The page of several indexes.
fn merged(
    shards: &[Snapshot],
    query: &Query,
    options: &SearchOptions,
) -> gannet::Result<(Vec<Found>, u64)> {
    let each = SearchOptions {
        k: options.skip + options.k,
        skip: 0,
        ..options.clone()
    };
    let (mut all, mut total) = (Vec::new(), 0);
    for shard in shards {
        let results = ask(shard, query, &each)?;
        all.extend(found(&results));
        total += results.total;
    }
    Ok((page_of(&in_order(all), options.skip, options.k), total))
}

/// Compares one query; `same` tells whether the sums are those of the one index. Gives the number
/// of hits, and whether equal scores stood at the end of the page.
fn compare(
    one: &Snapshot,
    shards: &[Snapshot],
    query: &Query,
    rng: &mut Rng,
    same: bool,
) -> (usize, bool) {
    let sum = match (summed(shards, query), ask(one, query, &options())) {
        (Ok(sum), Ok(_)) => sum,
        (sum, answer) => {
            let sum = sum.and_then(|sum| {
                let given = SearchOptions {
                    statistics: Some(Arc::new(sum)),
                    ..options()
                };
                merged(shards, query, &given)
            });
            assert!(
                sum.is_err() && answer.is_err(),
                "{query}: {sum:?} {answer:?}"
            );
            return (0, false);
        }
    };
    // Each index tells of its first terms, which together may be more than the first of all.
    let has_first = format!("{query:?}").contains("first: Some");
    if same && !has_first {
        assert_eq!(sum, one.statistics(query).expect("statistics"), "{query}");
    }
    let given = Some(Arc::new(sum)).filter(|_| !same);
    let whole = SearchOptions {
        k: 10_000,
        ties: Ties::DocId,
        statistics: given.clone(),
        ..options()
    };
    let all = in_order(found(&ask(one, query, &whole).expect("an answer")));
    let sum = given
        .clone()
        .unwrap_or_else(|| Arc::new(one.statistics(query).expect("statistics")));
    for _ in 0..3 {
        let (k, skip) = (rng.between(1, 50), *rng.pick(&[0, 0, 0, 1, 7, 30]));
        let page = SearchOptions {
            k,
            skip,
            count: rng.chance(20),
            ..options()
        };
        let expected = page_of(&all, skip, k);
        let in_one = SearchOptions {
            statistics: given.clone(),
            ..page.clone()
        };
        let in_one = ask(one, query, &in_one).expect("an answer");
        assert_eq!(
            bits(&found(&in_one)),
            bits(&expected),
            "{query} (one, {skip} {k})"
        );
        let with_sum = SearchOptions {
            statistics: Some(Arc::clone(&sum)),
            ..page
        };
        let (found, total) = merged(shards, query, &with_sum).expect("answers");
        assert_eq!(
            bits(&found),
            bits(&expected),
            "{query} ({} shards, {skip} {k})",
            shards.len()
        );
        if with_sum.count {
            assert_eq!(total, all.len() as u64, "{query}");
        }
    }
    let ends_equal = all.len() > 10 && all[9].1 == all[10].1;
    (all.len(), ends_equal)
}

fn compare_all(world: &mut World, each: u64, same: bool) {
    let (one, shards) = world.snapshots();
    let (mut hits, mut shared) = (0, 0);
    for query in world.queries(each) {
        let (found, ends_equal) = compare(&one, &shards, &query, &mut world.rng, same);
        hits += found;
        shared += u64::from(ends_equal);
    }
    assert!(hits > 1_000 && shared > each, "{hits} {shared}");
}

#[test]
fn several_indexes_answer_like_one() {
    let seed = number("GANNET_SEED", 3);
    let each = number("GANNET_SHARD_QUERIES", QUERIES_OF_KIND);
    for shards in [1, 3, 8] {
        let mut world = World::new(seed + shards as u64, shards);
        compare_all(&mut world, each, true);
        // Sums are no longer those of the one index, but all can be given the same.
        for shard in &world.shards[..shards / 2] {
            shard.rebuild(&mut |_, _, _| ()).expect("a rebuild");
        }
        compare_all(&mut world, each / 3, shards == 1);
    }
}

/// Indexes of documents with a body each, called by their places counted down.
fn bodies(bodies: &[String], shards: usize) -> (tempfile::TempDir, Snapshot, Vec<Snapshot>) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| open(&folder.path().join(name));
    let one = at("one");
    let shards: Vec<Index> = (0..shards).map(|shard| at(&shard.to_string())).collect();
    let ids: Vec<String> = (0..bodies.len())
        .map(|at| format!("d{:05}", 99_999 - at))
        .collect();
    let lines = ids.iter().zip(bodies);
    let lines = lines.map(|(id, body)| {
        let line = serde_json::json!({"id": id, "body": body});
        (id.as_str(), line.to_string())
    });
    write(&one, &shards, &lines.collect::<Vec<_>>());
    one.checkpoint().expect("a checkpoint");
    let shards = shards.iter().map(Index::snapshot);
    (folder, one.snapshot(), shards.collect())
}

fn query(text: &str, snapshot: &Snapshot) -> Query {
    snapshot.parse(text, Operator::Or).expect("a query")
}

#[test]
fn a_fuzzy_term_stands_for_the_most_similar_terms_of_all_indexes() {
    let letters = || (b'a'..=b'z').map(char::from);
    let words = letters().flat_map(|x| letters().map(move |y| format!("se{x}{y}")));
    let words: Vec<String> = words.collect();
    let (_folder, one, shards) = bodies(&words, 8);
    let mut rng = Rng::new(5);
    let texts = [
        "seal~1",
        "seal~2",
        "seal~2 body:sexy",
        "#(seal~2)",
        "body:seal~2 -seam~2",
    ];
    for text in texts {
        let query = query(text, &one);
        let (hits, _) = compare(&one, &shards, &query, &mut rng, false);
        let sum = Arc::new(summed(&shards, &query).expect("statistics"));
        let own = SearchOptions {
            k: 1_000,
            ..options()
        };
        let given = SearchOptions {
            statistics: Some(sum),
            ..own.clone()
        };
        let [own, given] = [own, given].map(|options| found(&ask(&one, &query, &options).unwrap()));
        assert!(hits > 0 && bits(&own) == bits(&given), "{text}");
    }
    let query = query("seal~2", &one);
    let sum = Arc::new(summed(&shards, &query).expect("statistics"));
    for shard in &shards {
        let given = SearchOptions {
            statistics: Some(Arc::clone(&sum)),
            ..options()
        };
        let results = ask(shard, &query, &given).expect("an answer");
        assert_eq!(results.cut_expansions.len(), 1);
    }
}

#[test]
fn equal_scores_near_0_are_all_found() {
    // Far longer than the mean: scores are differences of numbers that are nearly equal.
    let texts = (0..8).flat_map(|group| {
        let text = format!("x{group}{}", " y".repeat(300 * (group + 1)));
        std::iter::repeat_n(text, 30)
    });
    let texts: Vec<String> = texts.collect();
    let (_folder, one, _) = bodies(&texts, 1);
    for group in 0..8 {
        let query = query(&format!("body:x{group}"), &one);
        let given = format!(
            r#"{{"version": 1, "fields": {{"body": {{"documents": 1000, "tokens": 1000,
                "terms": {{"x{group}": {}}}, "similar": {{}}}}}}}}"#,
            100 + 7 * group
        );
        let given = Arc::new(QueryStatistics::from_json(&given).expect("statistics"));
        let options = SearchOptions {
            statistics: Some(given),
            k: 4,
            skip: 3,
            ..options()
        };
        let results = ask(&one, &query, &options).expect("an answer");
        let last = 99_999 - 30 * (group + 1) + 1;
        let expected: Vec<String> = (3..7).map(|at| format!("d{:05}", last + at)).collect();
        let ids: Vec<String> = results.hits.iter().map(|hit| hit.id.clone()).collect();
        assert_eq!(ids, expected);
    }
}

#[test]
fn statistics_that_lack_something_are_rejected() {
    let texts: Vec<String> = ["sea rope", "sea", "rope whale"].map(str::to_owned).into();
    let (_folder, one, _) = bodies(&texts, 1);
    let given = |text: &str| Arc::new(one.statistics(&query(text, &one)).expect("statistics"));
    let ask_with = |text: &str, statistics: &Arc<QueryStatistics>| {
        let statistics = Some(Arc::clone(statistics));
        let options = SearchOptions {
            statistics,
            explain: true,
            ..options()
        };
        ask(&one, &query(text, &one), &options)
    };
    for (text, has, told) in [
        (
            "rope",
            "sea",
            "lack the term \"rope\" of the field \"body\"",
        ),
        ("\"sea rope\"", "sea", "lack the term \"rope\""),
        ("sea~", "sea", "lack the term \"sea~\""),
        ("sea", "id:1", "lack the field \"body\""),
    ] {
        let error = ask_with(text, &given(has))
            .expect_err("something is missing")
            .to_string();
        assert!(error.contains(told), "{error}");
    }
    for (text, has) in [
        ("#(rope)", "sea"),
        ("ro*", "sea"),
        ("sea", "sea rope"),
        ("-rope", "sea"),
    ] {
        ask_with(text, &given(has)).expect("all that scores is there");
    }
    // What was given is what is explained, and no answer is taken for another.
    let mut twice = QueryStatistics::clone(&given("sea"));
    twice.merge(&given("sea")).expect("the same query");
    let plain = ask_with("sea", &given("sea")).expect("an answer");
    let other = ask_with("sea", &Arc::new(twice)).expect("an answer");
    assert!(other.reused.is_none() && plain.hits[0].score != other.hits[0].score);
    let explained = other.hits[0]
        .explanation
        .as_ref()
        .expect("an explanation")
        .to_string();
    for line in [
        "4 = n: documents with the term, by the",
        "6 = N: documents with the field, by the",
    ] {
        assert!(explained.contains(line), "{explained}");
    }
}
