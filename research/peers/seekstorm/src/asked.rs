//! The queries of a file, asked of an open index.

use std::collections::HashSet;

use peer::{DUMPED, Failure, Options, Work, queries};
use seekstorm::highlighter::{Highlight, highlighter};
use seekstorm::index::IndexArc;
use seekstorm::search::{QueryRewriting, QueryType, ResultObject, ResultType, Search, SearchMode};
use serde_json::{Value, json};

use crate::index::Tokenizer;
use crate::words::spaced;

/// Bytes of a snippet, about those of the peers.
const SNIPPET: usize = 150;

/// An index and what it is asked.
pub struct Questions {
    pub index: IndexArc,
    pub queries: Vec<Query>,
    pub work: Work,
}

/// A query as SeekStorm takes it: it parses the words whenever it is asked.
pub struct Query {
    words: String,
    kind: QueryType,
}

impl Questions {
    /// The best documents; with `fetch` also their stored text and a snippet of the body.
    pub async fn answer(&self, query: &Query) -> Result<ResultObject, Failure> {
        let found = self.search(query).await;
        if self.work.fetch {
            self.fetch(&found).await?;
        }
        Ok(found)
    }

    async fn search(&self, query: &Query) -> ResultObject {
        let result_type = match (self.work.k, self.work.count) {
            (0, _) => ResultType::Count,
            (_, true) => ResultType::TopkCount,
            (_, false) => ResultType::Topk,
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

/// The queries that the options name.
pub fn parse(options: &Options, tokenizer: Tokenizer) -> Result<Vec<Query>, Failure> {
    queries(options, |kind, words| {
        let words = match tokenizer {
            Tokenizer::Unicode => spaced(words),
            Tokenizer::Words => words.replace(['"', '+', '-'], " "),
        };
        let kind = query_type(kind)?;
        Ok((!words.trim().is_empty()).then_some(Query { words, kind }))
    })
}

fn query_type(kind: &str) -> Result<QueryType, Failure> {
    match kind {
        "term" | "or" => Ok(QueryType::Union),
        "and" => Ok(QueryType::Intersection),
        "phrase" => Ok(QueryType::Phrase),
        other => Err(format!("unknown kind of query {other:?}").into()),
    }
}
