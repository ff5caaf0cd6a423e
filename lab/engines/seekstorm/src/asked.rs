//! The queries of a file, asked of an open index.

use std::collections::HashSet;

use seekstorm::highlighter::{Highlight, highlighter};
use seekstorm::index::IndexArc;
use seekstorm::search::{QueryRewriting, QueryType, ResultObject, ResultType, Search, SearchMode};
use serde_json::{Value, json};

use crate::Failure;
use crate::index::Tokenizer;
use crate::words::spaced;

/// As many queries as [`Asked::dump`] gives.
const DUMPED: usize = 200;
/// Bytes of a snippet, about those of the peers.
const SNIPPET: usize = 150;

/// What one query does besides ranking.
pub struct Work {
    pub k: usize,
    pub count: bool,
    pub fetch: bool,
}

/// An index and what it is asked.
pub struct Asked {
    pub index: IndexArc,
    pub queries: Vec<Query>,
    pub work: Work,
}

/// A query as SeekStorm takes it: it parses the words whenever it is asked.
pub struct Query {
    words: String,
    kind: QueryType,
}

impl Asked {
    /// The best documents; with `fetch` also their stored text and a snippet of the body.
    pub async fn answer(&self, query: &Query) -> Result<ResultObject, Failure> {
        let found = self.search(query).await;
        if self.work.fetch {
            self.fetch(&found).await?;
        }
        Ok(found)
    }

    async fn search(&self, query: &Query) -> ResultObject {
        let result_type = if self.work.count {
            ResultType::TopkCount
        } else {
            ResultType::Topk
        };
        self.index
            .search(
                query.words.clone(),
                None,
                query.kind.clone(),
                SearchMode::Lexical,
                false,
                0,
                self.work.k,
                result_type,
                false,
                Vec::new(),
                Vec::new(),
                Vec::new(),
                Vec::new(),
                QueryRewriting::SearchOnly,
            )
            .await
    }

    async fn fetch(&self, found: &ResultObject) -> Result<(), Failure> {
        let snippet = Highlight {
            field: "body".into(),
            name: "snippet".into(),
            fragment_number: 1,
            fragment_size: SNIPPET,
            ..Highlight::default()
        };
        let terms = found.query_terms.clone();
        let marks = Some(highlighter(&self.index, vec![snippet], terms).await);
        let index = self.index.read().await;
        for hit in &found.results {
            let document = index
                .get_document(hit.doc_id, false, &marks, &HashSet::new(), &[])
                .await?;
            std::hint::black_box(document);
        }
        Ok(())
    }

    /// One JSON line for each of the first queries: the external IDs and scores in order.
    pub async fn dump(&self) -> Result<String, Failure> {
        let only_id = HashSet::from(["id".to_string()]);
        let mut lines = String::new();
        for (number, query) in self.queries.iter().take(DUMPED).enumerate() {
            let found = self.search(query).await;
            let index = self.index.read().await;
            let mut hits: Vec<Value> = Vec::new();
            for hit in &found.results {
                let document = index
                    .get_document(hit.doc_id, false, &None, &only_id, &[])
                    .await?;
                hits.push(json!({"id": document.get("id"), "score": hit.score}));
            }
            lines += &format!("{}\n", json!({"query": number, "hits": hits}));
        }
        Ok(lines)
    }
}

/// The queries of lines `term|and|or|phrase<TAB>words`, or of plain lines that are all of one kind.
pub fn parse(text: &str, plain: Option<&str>, tokenizer: Tokenizer) -> Result<Vec<Query>, Failure> {
    let mut queries = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (kind, words) = match plain {
            Some(kind) => (kind, line),
            None => line
                .split_once('\t')
                .ok_or(format!("no tab in query line {line:?}"))?,
        };
        let words = match tokenizer {
            Tokenizer::Unicode => spaced(words),
            Tokenizer::Words => words.replace(['"', '+', '-'], " "),
        };
        if !words.trim().is_empty() {
            let kind = query_type(kind)?;
            queries.push(Query { words, kind });
        }
    }
    if queries.is_empty() {
        Err("no queries in the file".into())
    } else {
        Ok(queries)
    }
}

fn query_type(kind: &str) -> Result<QueryType, Failure> {
    match kind {
        "term" | "or" => Ok(QueryType::Union),
        "and" => Ok(QueryType::Intersection),
        "phrase" => Ok(QueryType::Phrase),
        other => Err(format!("unknown kind of query {other:?}").into()),
    }
}
