//! `bench DIR QUERIES.tsv`: top k by BM25 for lines `term|and|or|phrase<TAB>words` on the field
//! `body`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use peer::{Asked, DUMPED, Failure, Opened, Options, Outcome, Run, Usage, Work, queries};
use serde_json::{Value, json};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::snippet::SnippetGenerator;
use tantivy::tokenizer::TokenStream;
use tantivy::{DocAddress, Index, Score, Searcher, TantivyDocument, Term};

use crate::index::{Fields, open};

/// Runs the queries round and round on `threads` threads until the time is over, or each once.
pub fn run(options: &Options) -> Outcome {
    let (begun, start) = (Usage::now(), Instant::now());
    let folder = Path::new(&options.places[0]);
    let index = open(folder, options.has("--random-advice"))?;
    let searcher = index.reader()?.searcher();
    let mut opened = Opened::since(start, begun);
    let fields = Fields::of(&index.schema())?;
    let queries = queries(options, |kind, words| {
        let terms = terms(&index, &fields, words)?;
        let parsed = (!terms.is_empty()).then(|| query(kind, terms));
        Ok(parsed.transpose()?)
    })?;
    let (work, run) = (Work::of(options)?, Run::of(options)?);
    let next = AtomicUsize::new(0);
    let ask = |time: Option<Duration>| {
        drive(
            run.threads,
            time,
            run.limit(queries.len()),
            &next,
            |number| {
                let query = queries[number % queries.len()].as_ref();
                answer(&searcher, &fields, query, &work).map(|_| ())
            },
        )
    };
    opened.asks();
    if run.warm.is_some() {
        ask(run.warm)?;
    }
    let (started, clock) = (Usage::now(), Instant::now());
    let latencies = ask(run.time)?;
    let asked = Asked {
        latencies,
        elapsed: clock.elapsed(),
        used: Usage::now().since(started),
    };
    if let Some(path) = options.text("--dump") {
        fs::write(path, dump(&searcher, &fields, &queries, &work)?)?;
    }
    let settings = options.as_asked(&work, &run, queries.len(), json!({}));
    Ok(asked.figures("tantivy", tantivy::version_string(), &opened, settings))
}

/// Calls `query` with the numbers from `next` on from `threads` threads; gives the times in
/// microseconds.
fn drive(
    threads: usize,
    time: Option<Duration>,
    limit: usize,
    next: &AtomicUsize,
    query: impl Fn(usize) -> tantivy::Result<()> + Sync,
) -> tantivy::Result<Vec<u64>> {
    let end = time.map(|time| Instant::now() + time);
    let worker = || {
        let mut latencies = Vec::new();
        while end.is_none_or(|end| Instant::now() < end) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= limit {
                break;
            }
            let start = Instant::now();
            query(number)?;
            latencies.push(start.elapsed().as_micros() as u64);
        }
        Ok::<_, tantivy::TantivyError>(latencies)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let mut all = Vec::new();
        for handle in workers {
            all.extend(handle.join().expect("a query never panics")?);
        }
        Ok(all)
    })
}

/// The best documents, none where they are only counted; with `fetch` also their stored text and a
/// snippet of the body.
fn answer(
    searcher: &Searcher,
    fields: &Fields,
    query: &dyn Query,
    work: &Work,
) -> tantivy::Result<Vec<(Score, DocAddress)>> {
    if work.k == 0 {
        std::hint::black_box(searcher.search(query, &Count)?);
        return Ok(Vec::new());
    }
    let top = TopDocs::with_limit(work.k).order_by_score();
    let hits = if work.count {
        searcher.search(query, &(top, Count))?.0
    } else {
        searcher.search(query, &top)?
    };
    if work.fetch {
        let snippets = SnippetGenerator::create(searcher, query, fields.body)?;
        for &(_, address) in &hits {
            let document: TantivyDocument = searcher.doc(address)?;
            std::hint::black_box(snippets.snippet_from_doc(&document).to_html());
        }
    }
    Ok(hits)
}

fn terms(index: &Index, fields: &Fields, words: &str) -> tantivy::Result<Vec<Term>> {
    let mut analyzer = index.tokenizer_for_field(fields.body)?;
    let mut stream = analyzer.token_stream(words);
    let mut terms = Vec::new();
    while let Some(token) = stream.next() {
        terms.push(Term::from_field_text(fields.body, &token.text));
    }
    Ok(terms)
}

fn query(kind: &str, mut terms: Vec<Term>) -> Result<Box<dyn Query>, Failure> {
    let occur = match kind {
        "term" | "or" => Occur::Should,
        "and" => Occur::Must,
        "phrase" if terms.len() > 1 => return Ok(Box::new(PhraseQuery::new(terms))),
        "phrase" => Occur::Must,
        other => return Err(format!("unknown kind of query {other:?}").into()),
    };
    let leaf =
        |term| Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)) as Box<dyn Query>;
    if terms.len() == 1 {
        return Ok(leaf(terms.remove(0)));
    }
    let clauses = terms.into_iter().map(|term| (occur, leaf(term))).collect();
    Ok(Box::new(BooleanQuery::new(clauses)))
}

/// One JSON line for each of the first queries: the external IDs and scores in order.
fn dump(
    searcher: &Searcher,
    fields: &Fields,
    queries: &[Box<dyn Query>],
    work: &Work,
) -> tantivy::Result<String> {
    let mut lines = String::new();
    for (number, query) in queries.iter().take(DUMPED).enumerate() {
        let mut hits: Vec<Value> = Vec::new();
        for (score, address) in answer(searcher, fields, query.as_ref(), work)? {
            let document: TantivyDocument = searcher.doc(address)?;
            let id = document
                .get_first(fields.id)
                .and_then(|value| value.as_str());
            hits.push(json!({"id": id, "score": score}));
        }
        lines += &format!("{}\n", json!({"query": number, "hits": hits}));
    }
    Ok(lines)
}
