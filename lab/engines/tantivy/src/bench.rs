//! `bench DIR QUERIES.tsv`: top k by BM25 for lines `term|and|or|phrase<TAB>words` on the field
//! `body`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::snippet::SnippetGenerator;
use tantivy::tokenizer::TokenStream;
use tantivy::{DocAddress, Index, Score, Searcher, TantivyDocument, Term};

use crate::Outcome;
use crate::index::{Fields, open};
use crate::options::Options;
use crate::process::{Usage, peak_resident_bytes};

/// As many queries as `--dump` writes.
const DUMPED: usize = 200;

/// What one query does besides ranking.
struct Work {
    k: usize,
    count: bool,
    fetch: bool,
}

/// Runs the queries round and round on `threads` threads until the time is over, or each once.
pub fn run(options: &Options) -> Outcome {
    let (begin, start) = (Usage::now(), Instant::now());
    let index = open(
        Path::new(&options.places[0]),
        options.has("--random-advice"),
    )?;
    let searcher = index.reader()?.searcher();
    let open_ms = start.elapsed().as_secs_f64() * 1e3;
    let fields = Fields::of(&index.schema())?;
    let text = fs::read_to_string(&options.places[1])?;
    let queries = parse(&index, &fields, &text, options.text("--as"))?;
    let work = Work {
        k: options.number("-k", 10)?,
        count: options.has("--count"),
        fetch: options.has("--fetch"),
    };
    let threads = options.number("--threads", 1)?;
    // Without a time every query is asked once.
    let time = options
        .text("--seconds")
        .map(str::parse::<f64>)
        .transpose()?;
    let distinct = options.has("--distinct");

    let warm = options.text("--warm").map(str::parse::<f64>).transpose()?;

    let opened = Usage::now();
    let endless = time.is_some() && !distinct;
    let limit = if endless { usize::MAX } else { queries.len() };
    let next = AtomicUsize::new(0);
    let ask = |seconds: Option<f64>| -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
        let time = seconds.map(Duration::try_from_secs_f64).transpose()?;
        Ok(drive(threads, time, limit, &next, |number| {
            let query = queries[number % queries.len()].as_ref();
            answer(&searcher, &fields, query, &work).map(|_| ())
        })?)
    };
    if warm.is_some() {
        ask(warm)?;
    }
    let started = Usage::now();
    let clock = Instant::now();
    let mut latencies = ask(time)?;
    let elapsed = clock.elapsed().as_secs_f64();
    let used = Usage::now().since(started);
    if let Some(path) = options.text("--dump") {
        fs::write(path, dump(&searcher, &fields, &queries, &work)?)?;
    }

    latencies.sort_unstable();
    let per_query = |total: f64| total / latencies.len().max(1) as f64;
    Ok(json!({
        "engine": "tantivy", "version": tantivy::version_string(), "queries": latencies.len(),
        "qps": latencies.len() as f64 / elapsed,
        "latency_us_mean": per_query(latencies.iter().sum::<u64>() as f64),
        "latency_us_p50": percentile(&latencies, 0.50),
        "latency_us_p95": percentile(&latencies, 0.95),
        "latency_us_p99": percentile(&latencies, 0.99),
        "bytes_read_per_query": {"os": per_query(used.bytes_read as f64), "engine": null},
        "major_faults_per_query": per_query(used.major_faults as f64),
        "reads_per_query": null, "rounds_per_query": null,
        "cpu_us_per_query": per_query(used.cpu_seconds * 1e6),
        "open_ms": open_ms, "open_bytes_read": opened.since(begin).bytes_read,
        "peak_memory_bytes": peak_resident_bytes(), "backend": "mmap",
        "settings": {"threads": threads, "seconds": time, "warm_seconds": warm, "k": work.k, "count": work.count,
            "fetch": work.fetch, "distinct": distinct, "as": options.text("--as"),
            "random_advice": options.has("--random-advice"), "distinct_queries": queries.len()},
    }))
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

/// The best documents; with `fetch` also their stored text and a snippet of the body.
fn answer(
    searcher: &Searcher,
    fields: &Fields,
    query: &dyn Query,
    work: &Work,
) -> tantivy::Result<Vec<(Score, DocAddress)>> {
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

fn parse(
    index: &Index,
    fields: &Fields,
    text: &str,
    plain: Option<&str>,
) -> Result<Vec<Box<dyn Query>>, Box<dyn std::error::Error + Send + Sync>> {
    let mut queries = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (kind, words) = match plain {
            Some(kind) => (kind, line),
            None => line
                .split_once('\t')
                .ok_or(format!("no tab in query line {line:?}"))?,
        };
        let terms = terms(index, fields, words)?;
        if !terms.is_empty() {
            queries.push(query(kind, terms)?);
        }
    }
    if queries.is_empty() {
        Err("no queries in the file".into())
    } else {
        Ok(queries)
    }
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

fn query(kind: &str, mut terms: Vec<Term>) -> Result<Box<dyn Query>, String> {
    let occur = match kind {
        "term" | "or" => Occur::Should,
        "and" => Occur::Must,
        "phrase" if terms.len() > 1 => return Ok(Box::new(PhraseQuery::new(terms))),
        "phrase" => Occur::Must,
        other => return Err(format!("unknown kind of query {other:?}")),
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

fn percentile(sorted: &[u64], share: f64) -> u64 {
    let at = (sorted.len() as f64 * share) as usize;
    sorted
        .get(at.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0)
}
