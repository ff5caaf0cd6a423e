//! The terms of documents: `_termvectors`, `_mtermvectors`. They are made of the sources, as the
//! fields of these are analyzed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gannet::{Analyzer, Operator, Query, Reservation, SearchOptions, Snapshot};
use serde_json::{Map, Value, json};

use super::analysis::each_token;
use crate::fault::{Fault, Outcome};
use crate::http::{Answer, Call};
use crate::indexes::{FieldMapping, FieldType, Mapping};
use crate::json::{Members, fits};
use crate::searching::values_at;
use crate::service::Service;

/// Tokens of one answer.
const TOKENS_MAX: usize = 100_000;

/// The time limit of the counts of terms.
const DEADLINE: Duration = Duration::from_secs(60);

/// The number that is told where the engine keeps no count, as in Elasticsearch.
const UNKNOWN: i64 = -1;

/// Documents of one request.
const DOCUMENTS_MAX: usize = 1_000;

/// Memory of a token in an answer.
const TOKEN_BYTES: usize = 512;

/// Parameters of a request; there are no payloads.
const OPTIONS: [&str; 6] = [
    "fields",
    "positions",
    "offsets",
    "payloads",
    "term_statistics",
    "field_statistics",
];

/// Members that are not there.
const NOT_THERE: [&str; 5] = [
    "doc",
    "filter",
    "per_field_analyzer",
    "version",
    "version_type",
];

/// The parts of terms that a request wants.
#[derive(Clone)]
struct Wanted {
    /// Names and patterns of fields; all fields of strings if there are none.
    fields: Option<Vec<String>>,
    has_positions: bool,
    has_offsets: bool,
    of_terms: bool,
    of_fields: bool,
}

/// `GET /{index}/_termvectors/{id}`.
pub fn termvectors(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("term_vectors", &body)?;
    members.check(&OPTIONS, &NOT_THERE)?;
    let wanted = Wanted::of(&members, &Wanted::of_call(call)?)?;
    let mut held = Vec::new();
    let (index, id) = (call.part("index"), call.part("id"));
    let told = vectors(call, service, (index, id), &wanted, &mut held)?;
    Ok(Answer {
        held,
        ..Answer::of(&told)
    })
}

/// `POST /{index}/_mtermvectors`.
pub fn several(call: &Call, service: &Service) -> Outcome<Answer> {
    let body = call.json()?;
    let members = Members::of("multi_term_vectors", &body)?;
    members.check(&["docs", "ids", "parameters"], &[])?;
    let mut common = Wanted::of_call(call)?;
    if let Some(parameters) = members.get("parameters") {
        let parameters = Members::of("parameters", parameters)?;
        parameters.check(&OPTIONS, &NOT_THERE)?;
        common = Wanted::of(&parameters, &common)?;
    }
    let index = Some(call.part("index")).filter(|index| !index.is_empty());
    let missing = |what: &str| {
        Fault::new(
            400,
            "action_request_validation_exception",
            format!("Validation Failed: 1: {what} is missing;"),
        )
    };
    let mut asked: Vec<(&str, &str, Wanted)> = Vec::new();
    for id in members.texts("ids")?.unwrap_or_default() {
        let index = index.ok_or_else(|| missing("index"))?;
        asked.push((index, id, common.clone()));
    }
    let no_docs = Vec::new();
    let docs = match members.get("docs") {
        None => &no_docs,
        Some(Value::Array(docs)) => docs,
        Some(other) => return Err(members.misfit("docs", "an array", other)),
    };
    for doc in docs {
        let doc = Members::of("docs", doc)?;
        let known = [&OPTIONS[..], &["_index", "_id", "routing"]].concat();
        doc.check(&known, &NOT_THERE)?;
        let of_doc = doc.text("_index")?.or(index);
        let of_doc = of_doc.ok_or_else(|| missing("index"))?;
        let id = doc.text("_id")?.ok_or_else(|| missing("id"))?;
        asked.push((of_doc, id, Wanted::of(&doc, &common)?));
    }
    if asked.is_empty() || asked.len() > DOCUMENTS_MAX {
        return Err(Fault::illegal(format!(
            "_mtermvectors of {} documents: 1 to {DOCUMENTS_MAX} are asked for at once",
            asked.len()
        )));
    }
    let (mut docs, mut held) = (Vec::new(), Vec::new());
    for (index, id, wanted) in asked {
        let told = vectors(call, service, (index, id), &wanted, &mut held);
        docs.push(told.unwrap_or_else(
            |fault| json!({ "_index": index, "_id": id, "error": fault.json(false)["error"] }),
        ));
    }
    Ok(Answer {
        held,
        ..Answer::of(&json!({ "docs": docs }))
    })
}

/// The terms of one document, an index and an ID, and the memory that they take.
fn vectors(
    call: &Call,
    service: &Service,
    (index, id): (&str, &str),
    wanted: &Wanted,
    held: &mut Vec<Reservation>,
) -> Outcome<Value> {
    let start = Instant::now();
    let open = service.indexes.get(index, &call.caller)?;
    let took = || start.elapsed().as_millis() as u64;
    let mut told = json!({ "_index": open.name, "_id": id, "_version": 0, "found": false });
    let Some(document) = open.index.get(id)? else {
        told["took"] = json!(took());
        return Ok(told);
    };
    let bytes = 4 * document.source.len();
    let _held = open.index.reserve("the source of a document", bytes)?;
    let source: Value = serde_json::from_slice(&document.source)
        .map_err(|error| Fault::internal(format!("a stored source is no JSON: {error}")))?;
    let metadata = open.metadata();
    let default = metadata.settings.default_analyzer();
    let snapshot = open.index.snapshot();
    let mut vectors = Map::new();
    let mut tokens = 0;
    for (name, field) in metadata.mapping.all() {
        let analyzer = field.analyzer(default).filter(|_| field.kind.is_string());
        let Some(analyzer) = analyzer.filter(|_| wanted.wants(&name) && field.is_indexed) else {
            continue;
        };
        let path = path_of(&metadata.mapping, &name);
        let texts = texts(&source, path, field);
        if texts.is_empty() {
            continue;
        }
        let bytes: usize = texts.iter().map(|text| 1 + text.len()).sum();
        let most = (bytes.min(TOKENS_MAX) + 1) * TOKEN_BYTES;
        held.push(open.index.reserve("the terms of a document", most)?);
        let found = FieldTerms::of(&analyzer, &texts, &mut tokens)?;
        let counted = Counted {
            name: &name,
            is_whole: field.kind == FieldType::Keyword,
            is_column: path != name && field.is_found,
            path,
        };
        vectors.insert(name.clone(), found.json(wanted, &counted, &snapshot)?);
    }
    told["_version"] = json!(document.version);
    told["found"] = json!(true);
    told["took"] = json!(took());
    told["term_vectors"] = Value::Object(vectors);
    Ok(told)
}

impl Wanted {
    /// Reads the parameters of a URL.
    fn of_call(call: &Call) -> Outcome<Wanted> {
        let flag = |name: &str, otherwise: bool| -> Outcome<bool> {
            Ok(call.flag(name)?.unwrap_or(otherwise))
        };
        let fields = call.parameter("fields").filter(|fields| !fields.is_empty());
        Ok(Wanted {
            fields: fields.map(|fields| fields.split(',').map(str::to_owned).collect()),
            has_positions: flag("positions", true)?,
            has_offsets: flag("offsets", true)?,
            of_terms: flag("term_statistics", false)?,
            of_fields: flag("field_statistics", true)?,
        })
    }

    /// Reads the members of an object, which count more than what is asked for otherwise.
    fn of(members: &Members<'_>, otherwise: &Wanted) -> Outcome<Wanted> {
        let flag = |name: &str, otherwise: bool| -> Outcome<bool> {
            Ok(members.flag(name)?.unwrap_or(otherwise))
        };
        let fields = members.texts("fields")?;
        let fields = fields.map(|fields| fields.into_iter().map(str::to_owned).collect());
        Ok(Wanted {
            fields: fields.or_else(|| otherwise.fields.clone()),
            has_positions: flag("positions", otherwise.has_positions)?,
            has_offsets: flag("offsets", otherwise.has_offsets)?,
            of_terms: flag("term_statistics", otherwise.of_terms)?,
            of_fields: flag("field_statistics", otherwise.of_fields)?,
        })
    }

    fn wants(&self, name: &str) -> bool {
        let fields = self.fields.as_ref();
        fields.is_none_or(|fields| fields.iter().any(|pattern| fits(pattern, name)))
    }
}

/// The path of the values of a field in a source: that of a multi-field is the one of its field.
fn path_of<'a>(mapping: &Mapping, name: &'a str) -> &'a str {
    match name.rsplit_once('.') {
        Some((of, _)) if !mapping.fields.contains_key(name) => of,
        _ => name,
    }
}

/// The texts that a field has of a source.
fn texts(source: &Value, path: &str, field: &FieldMapping) -> Vec<String> {
    let values = values_at(source, path).into_iter();
    let texts = values.map(|value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let most = field.ignore_above.map_or(usize::MAX, |most| most as usize);
    texts.filter(|text| text.chars().count() <= most).collect()
}

/// A token of a term.
struct TermToken {
    position: u32,
    start: usize,
    end: usize,
}

/// The terms of a field of a document.
struct FieldTerms {
    terms: BTreeMap<String, Vec<TermToken>>,
    /// A text of each term, of which the analyzer makes it.
    written: BTreeMap<String, String>,
}

/// The field whose terms are counted in the index.
struct Counted<'a> {
    name: &'a str,
    /// Set if its strings are kept whole.
    is_whole: bool,
    /// Set for the whole strings of a text that a document brought.
    is_column: bool,
    path: &'a str,
}

impl FieldTerms {
    fn of(analyzer: &Analyzer, texts: &[String], tokens: &mut usize) -> Outcome<FieldTerms> {
        let mut found = FieldTerms {
            terms: BTreeMap::new(),
            written: BTreeMap::new(),
        };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        each_token(analyzer, &texts, &mut |token| {
            *tokens += 1;
            let term = found.terms.entry(token.text.to_owned()).or_default();
            term.push(TermToken {
                position: token.position,
                start: token.start,
                end: token.end,
            });
            if !found.written.contains_key(token.text) {
                let written = token.written.to_owned();
                found.written.insert(token.text.to_owned(), written);
            }
            *tokens <= TOKENS_MAX
        });
        if *tokens > TOKENS_MAX {
            return Err(Fault::illegal(format!(
                "the document has more than {TOKENS_MAX} tokens: ask for fewer [fields]"
            )));
        }
        Ok(found)
    }

    fn json(&self, wanted: &Wanted, counted: &Counted<'_>, snapshot: &Snapshot) -> Outcome<Value> {
        let mut json = Map::new();
        let statistics = self.statistics(wanted, counted, snapshot)?;
        if let Some((documents, tokens)) = statistics.field.filter(|_| wanted.of_fields) {
            json.insert(
                "field_statistics".to_owned(),
                json!({ "sum_doc_freq": UNKNOWN, "doc_count": documents, "sum_ttf": tokens }),
            );
        }
        let mut terms = Map::new();
        for (term, tokens) in &self.terms {
            let mut told = Map::new();
            if wanted.of_terms {
                let documents = statistics.terms.get(term).copied();
                let documents = documents.and_then(|count| i64::try_from(count).ok());
                told.insert("doc_freq".to_owned(), json!(documents.unwrap_or(UNKNOWN)));
                told.insert("ttf".to_owned(), json!(UNKNOWN));
            }
            told.insert("term_freq".to_owned(), json!(tokens.len()));
            if wanted.has_positions || wanted.has_offsets {
                let tokens = tokens.iter().map(|token| token.json(wanted));
                told.insert("tokens".to_owned(), tokens.collect());
            }
            terms.insert(term.clone(), Value::Object(told));
        }
        json.insert("terms".to_owned(), Value::Object(terms));
        Ok(Value::Object(json))
    }

    /// The counts of the field and of its terms in the index.
    fn statistics(
        &self,
        wanted: &Wanted,
        counted: &Counted<'_>,
        snapshot: &Snapshot,
    ) -> Outcome<IndexCounts> {
        let mut counts = IndexCounts::default();
        let is_there = snapshot.schema().named(counted.name).is_some();
        let options = SearchOptions {
            k: 0,
            count: true,
            fetch: false,
            deadline: Some(DEADLINE),
            ..SearchOptions::default()
        };
        if counted.is_whole && wanted.of_terms && (is_there || counted.is_column) {
            let field = if counted.is_column {
                counted.path
            } else {
                counted.name
            };
            let queries: Vec<Query> = self.terms.keys().map(|term| one_of(field, term)).collect();
            for (term, found) in self
                .terms
                .keys()
                .zip(snapshot.search_all(&queries, &options))
            {
                counts.terms.insert(term.clone(), found?.total);
            }
        }
        if !is_there {
            return Ok(counts);
        }
        let texts = self.written.values().map(|text| Query::Text {
            field: Some(counted.name.to_owned()),
            text: text.clone(),
            operator: Operator::And,
        });
        let asks_terms = wanted.of_terms && !counted.is_whole;
        let texts: Vec<Query> = texts
            .take(if asks_terms { usize::MAX } else { 1 })
            .collect();
        let found = snapshot.statistics_of(&texts, &options)?;
        counts.field = found.field(counted.name);
        if asks_terms {
            for term in self.terms.keys() {
                if let Some(documents) = found.document_frequency(counted.name, term) {
                    counts.terms.insert(term.clone(), documents);
                }
            }
        }
        Ok(counts)
    }
}

/// Counts of the index: of a field its documents and its tokens, of terms their documents.
#[derive(Default)]
struct IndexCounts {
    field: Option<(u64, u64)>,
    terms: BTreeMap<String, u64>,
}

fn one_of(field: &str, term: &str) -> Query {
    Query::OneOf {
        field: field.to_owned(),
        values: vec![term.to_owned()],
    }
}

impl TermToken {
    fn json(&self, wanted: &Wanted) -> Value {
        let mut json = Map::new();
        if wanted.has_positions {
            json.insert("position".to_owned(), json!(self.position));
        }
        if wanted.has_offsets {
            json.insert("start_offset".to_owned(), json!(self.start));
            json.insert("end_offset".to_owned(), json!(self.end));
        }
        Value::Object(json)
    }
}
