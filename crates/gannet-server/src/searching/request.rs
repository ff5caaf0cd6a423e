//! The body of a search: what is known of it, and what Elasticsearch has beyond.

use std::time::Duration;

use gannet::aggregations::DateFormat;
use gannet::values::Value as SortedValue;
use gannet::{Operator, SearchOptions, SortBy, SortKey, SortValue};
use serde_json::{Value, json};

use super::aggregation_check::check_aggregations;
use super::asked::{AskedAggregation, take_top_hits};
use super::condition::Condition;
use super::docvalues::ValueField;
use super::highlight::HighlightRequest;
use super::inner::{InnerRequest, NestedSearch};
use super::order::{DocumentPlace, after, is_by_place};
use super::sorting::{sort_formats, sort_keys, sort_parameter, values_after};
use super::source::{SOURCE_PARAMETERS, SourceChoice};
use crate::fault::{Fault, Outcome};
use crate::http::Call;
use crate::indexes::FieldType;
use crate::json::{Members, kind_of};

const KNOWN: [&str; 21] = [
    "query",
    "from",
    "size",
    "_source",
    "highlight",
    "track_total_hits",
    "timeout",
    "sort",
    "track_scores",
    "pit",
    "search_after",
    "aggs",
    "aggregations",
    "collapse",
    "docvalue_fields",
    "fields",
    "post_filter",
    "stored_fields",
    "version",
    "seq_no_primary_term",
    "min_score",
];

/// Members that are not there.
const NOT_THERE: [&str; 15] = [
    "explain",
    "ext",
    "indices_boost",
    "knn",
    "profile",
    "rank",
    "rescore",
    "retriever",
    "runtime_mappings",
    "script_fields",
    "slice",
    "stats",
    "sub_searches",
    "suggest",
    "terminate_after",
];

/// Parameters of the URL of a search.
pub const SEARCH_PARAMETERS: [&str; 32] = [
    "q",
    "df",
    "default_operator",
    "from",
    "size",
    "track_total_hits",
    "timeout",
    "rest_total_hits_as_int",
    "typed_keys",
    "search_type",
    "preference",
    "routing",
    "request_cache",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "allow_partial_search_results",
    "batched_reduce_size",
    "ccs_minimize_roundtrips",
    "max_concurrent_shard_requests",
    "pre_filter_shard_size",
    "scroll",
    "sort",
    "ignore_throttled",
    "analyze_wildcard",
    "lenient",
    "track_scores",
    "version",
    "seq_no_primary_term",
    SOURCE_PARAMETERS[0],
    SOURCE_PARAMETERS[1],
    SOURCE_PARAMETERS[2],
];

/// The time limit of a search that gives none.
const DEADLINE: Duration = Duration::from_secs(60);

/// Hits that are returned unless another number is given.
const SIZE: usize = 10;

/// A search.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The query, if the body has one.
    pub query: Option<Value>,
    /// A query that hits match too, and that aggregations do not know of.
    pub post_filter: Option<Value>,
    /// A text in the query language, with its default field and the way its words are joined.
    pub text: Option<(String, Option<String>, Operator)>,
    /// Hits that are left out.
    pub from: usize,
    /// Hits that are returned at most.
    pub size: usize,
    /// The part of the sources that is returned.
    pub source: SourceChoice,
    /// The snippets that are asked for.
    pub highlight: Option<HighlightRequest>,
    /// Set if the total is returned.
    pub counts: bool,
    /// Set if the total is a number alone, as in version 6.
    pub total_is_number: bool,
    /// Set if names of aggregations have the types of their answers before them.
    pub has_types: bool,
    /// Set if hits have their score as what they are sorted by.
    pub shows_sort: bool,
    /// The keys that hits are sorted by, if these are not places alone.
    pub keys: Vec<SortKey>,
    /// The formats of the dates by which they are sorted, by the places of the keys.
    pub sort_formats: Vec<Option<DateFormat>>,
    /// The fields whose values are returned with each hit.
    pub values: Vec<ValueField>,
    /// The fields that are returned as the source of each hit has them, which may be patterns.
    pub fetched: Vec<ValueField>,
    /// Set if hits have the version of their document.
    pub has_version: bool,
    /// Set if hits have the number of the operation that brought their document.
    pub has_sequence: bool,
    /// The values behind which they begin.
    pub behind: Option<Vec<SortValue>>,
    /// The field of whose values each has one hit.
    pub collapse: Option<String>,
    /// The hits that each of these values shows beside its own.
    pub inner_hits: Vec<InnerRequest<SearchRequest>>,
    /// The conditions that documents meet beside the query.
    pub conditions: Vec<Condition>,
    /// The least score of a document that is found.
    pub min_score: Option<f32>,
    /// Set if hits have scores in every order.
    pub has_scores: bool,
    /// Fields that an index need not have, with the types that they have then.
    pub unmapped: Vec<(String, Option<FieldType>)>,
    /// Aggregations.
    pub aggs: Option<Value>,
    /// The hits that their buckets show.
    pub top_hits: Vec<AskedAggregation<SearchRequest>>,
    /// The time limit.
    pub deadline: Duration,
    /// Set if hits are in the order of their places in their indexes.
    pub is_by_place: bool,
    /// The place at which they begin.
    pub after: Option<DocumentPlace>,
    /// The point in time that is searched, and how long it is kept from now on.
    pub pit: Option<(String, Option<Duration>)>,
}

impl SearchRequest {
    /// Reads a body.
    pub fn parse(body: &Value) -> Outcome<SearchRequest> {
        let members = Members::of("search", body)?;
        check_members(&members)?;
        let pit = members.get("pit").map(point_in_time).transpose()?;
        let sort = members.get("sort");
        let least = members.get("min_score");
        let collapse = members.get("collapse");
        let collapse = collapse.map(|value| collapsed(value, least)).transpose()?;
        let (collapse, inner_hits) = collapse.unzip();
        let min_score = score(&members)?;
        let has_scores = members.flag("track_scores")?.unwrap_or(false);
        let needs_scores = has_scores || min_score.is_some();
        // Documents in the order of their places are not looked at any further.
        let is_by_place = is_by_place(sort) && collapse.is_none() && !needs_scores;
        let mut keys = match sort {
            Some(sort) if !is_by_place => sort_keys(sort)?,
            _ => Vec::new(),
        };
        // The best score first is the order of a search without keys.
        let shows_sort =
            matches!(keys.as_slice(), [key] if key.by == SortBy::Score && key.descending);
        if shows_sort && members.get("search_after").is_none() {
            keys.clear();
        }
        // With a point in time no two hits have the same values, as clients page through it.
        if pit.is_some() && !keys.is_empty() && keys.iter().all(|key| key.by != SortBy::Doc) {
            keys.push(SortKey {
                by: SortBy::Doc,
                descending: false,
                missing_first: false,
                missing_like: None,
            });
        }
        let sort_formats = sort.map_or(Ok(Vec::new()), sort_formats)?;
        let (after, behind) = match members.get("search_after") {
            Some(values) if !is_by_place && !keys.is_empty() => {
                let mut values = values_after(values, keys.len(), &sort_formats)?;
                round_scores(&keys, &mut values);
                (None, Some(values))
            }
            _ => (after(&members, is_by_place)?, None),
        };
        let aggs = members.get("aggs").or(members.get("aggregations"));
        if members.get("aggs").is_some() && members.get("aggregations").is_some() {
            return Err(Fault::parsing(
                "[aggs] and [aggregations] are the same: give one",
            ));
        }
        let (aggs, top_hits) = match aggs {
            None => (None, Vec::new()),
            Some(aggs) => {
                check_aggregations(aggs)?;
                let (aggs, top_hits) = take_top_hits(aggs, least)?;
                (Some(aggs), top_hits)
            }
        };
        let source = members
            .get("_source")
            .map(SourceChoice::parse)
            .transpose()?;
        let source = source.or(without_source(&members)?);
        let request = SearchRequest {
            query: members.get("query").cloned(),
            post_filter: members.get("post_filter").cloned(),
            text: None,
            from: place(&members, "from")?.unwrap_or(0),
            size: place(&members, "size")?.unwrap_or(SIZE),
            source: source.unwrap_or_default(),
            highlight: members
                .get("highlight")
                .map(HighlightRequest::parse)
                .transpose()?,
            counts: members.get("track_total_hits").map_or(Ok(true), counts)?,
            total_is_number: false,
            has_types: false,
            shows_sort: shows_sort && keys.is_empty() && pit.is_some(),
            keys,
            sort_formats,
            values: members
                .get("docvalue_fields")
                .map_or(Ok(Vec::new()), ValueField::parse_all)?,
            fetched: members
                .get("fields")
                .map_or(Ok(Vec::new()), ValueField::parse_patterns)?,
            has_version: members.flag("version")?.unwrap_or(false),
            has_sequence: members.flag("seq_no_primary_term")?.unwrap_or(false),
            behind,
            collapse,
            inner_hits: inner_hits.unwrap_or_default(),
            conditions: Vec::new(),
            min_score,
            has_scores,
            unmapped: sort.map_or_else(Vec::new, unmapped),
            aggs,
            top_hits,
            deadline: members.text("timeout")?.map_or(Ok(DEADLINE), time_limit)?,
            is_by_place,
            after,
            pit,
        };
        Ok(request)
    }

    /// Reads the body of a request, and the parameters of its URL, which count more.
    pub fn of_call(call: &Call) -> Outcome<SearchRequest> {
        let mut request = SearchRequest::parse(&call.json()?)?;
        let number = |name: &str| -> Outcome<Option<usize>> {
            let count = call.count(name)?;
            Ok(count.map(|count| usize::try_from(count).unwrap_or(usize::MAX)))
        };
        request.from = number("from")?.unwrap_or(request.from);
        request.size = number("size")?.unwrap_or(request.size);
        if let Some(source) = SourceChoice::of_call(call) {
            request.source = source;
        }
        if let Some(written) = call.parameter("track_total_hits") {
            let value = serde_json::from_str(written).unwrap_or_else(|_| json!(written));
            request.counts = counts(&value)?;
        }
        if let Some(written) = call.parameter("timeout") {
            request.deadline = time_limit(written)?;
        }
        request.has_scores = call.flag("track_scores")?.unwrap_or(request.has_scores);
        if let Some(written) = call.parameter("sort") {
            match written {
                "_doc" | "_doc:asc" | "_shard_doc"
                    if request.collapse.is_none()
                        && request.min_score.is_none()
                        && !request.has_scores =>
                {
                    request.is_by_place = true;
                }
                "_score" | "_score:desc" => {}
                other => {
                    request.keys = sort_parameter(other)?;
                    request.sort_formats.clear();
                }
            }
        }
        request.shape_answer(call)?;
        request.has_version = call.flag("version")?.unwrap_or(request.has_version);
        let sequence = call.flag("seq_no_primary_term")?;
        request.has_sequence = sequence.unwrap_or(request.has_sequence);
        if let Some(text) = call.parameter("q") {
            let operator = match call.parameter("default_operator") {
                Some("AND" | "and") => Operator::And,
                _ => Operator::Or,
            };
            let field = call.parameter("df").map(str::to_owned);
            request.text = Some((text.to_owned(), field, operator));
        }
        request.check_window()?;
        Ok(request)
    }

    /// Returns true if hits have scores in an answer.
    pub fn shows_scores(&self) -> bool {
        let is_score = |key: &SortKey| key.by == SortBy::Score;
        self.has_scores || self.keys.is_empty() || self.keys.iter().any(is_score)
    }

    /// The score from which on documents are found, where the score of each is needed.
    pub fn least_score(&self) -> Option<f32> {
        let any = f32::NEG_INFINITY;
        let needs_all = self.has_scores && !self.keys.is_empty();
        self.min_score.or(needs_all.then_some(any))
    }

    /// Takes the parameters of a URL that say in which form the answer is.
    pub fn shape_answer(&mut self, call: &Call) -> Outcome<()> {
        self.total_is_number |= call.flag("rest_total_hits_as_int")?.unwrap_or(false);
        self.has_types |= call.flag("typed_keys")?.unwrap_or(false);
        Ok(())
    }

    /// Fails beyond the hits that can be ranked.
    pub fn check_window(&self) -> Outcome<()> {
        let most = SearchOptions::RANKED_MAX;
        let wanted = self.from.saturating_add(self.size);
        if wanted <= most {
            return Ok(());
        }
        Err(Fault::illegal(format!(
            "Result window is too large, from + size must be less than or equal to: [{most}] but was [{wanted}]."
        )))
    }
}

/// Reads a number that says which hits are returned.
fn place(members: &Members<'_>, name: &str) -> Outcome<Option<usize>> {
    match members.get(name) {
        Some(value) if value.as_i64().is_some_and(|number| number < 0) => Err(Fault::illegal(
            format!("[{name}] parameter cannot be negative, found [{value}]"),
        )),
        Some(Value::String(text)) if text.parse::<usize>().is_err() => Err(Fault::new(
            400,
            "number_format_exception",
            format!("[{name}]: For input string: \"{text}\""),
        )),
        _ => members.count(name),
    }
}

/// Takes scores for what they are: a hit tells the digits that a score needs, which are fewer than
/// a double has.
fn round_scores(keys: &[SortKey], values: &mut [SortValue]) {
    for (key, value) in keys.iter().zip(values) {
        if let (SortBy::Score, Some(SortedValue::Double(score))) = (&key.by, &value) {
            *value = Some(SortedValue::Double(f64::from(*score as f32)));
        }
    }
}

/// Reads `min_score`.
fn score(members: &Members<'_>) -> Outcome<Option<f32>> {
    match members.get("min_score") {
        Some(Value::String(text)) => text.parse().map(Some).map_err(|_| {
            Fault::new(
                400,
                "number_format_exception",
                format!("[min_score]: For input string: \"{text}\""),
            )
        }),
        _ => members.number("min_score"),
    }
}

impl NestedSearch for SearchRequest {
    fn read(body: &Value) -> Outcome<SearchRequest> {
        SearchRequest::parse(body)
    }

    fn ranked(&self) -> usize {
        self.from.saturating_add(self.size)
    }
}

impl InnerRequest<SearchRequest> {
    /// The search of the documents of `outer` that meet conditions; of all documents of its
    /// indexes if `is_of_all`.
    pub fn within(
        &self,
        outer: &SearchRequest,
        conditions: Vec<Condition>,
        is_of_all: bool,
    ) -> SearchRequest {
        let mut search = SearchRequest {
            conditions,
            total_is_number: outer.total_is_number,
            deadline: outer.deadline,
            ..self.search.clone()
        };
        if is_of_all {
            search.min_score = None;
        } else {
            search.query.clone_from(&outer.query);
            search.text.clone_from(&outer.text);
        }
        search
    }
}

/// Reads `collapse`: the field, and the hits that each of its values shows.
fn collapsed(
    value: &Value,
    min_score: Option<&Value>,
) -> Outcome<(String, Vec<InnerRequest<SearchRequest>>)> {
    let members = Members::of("collapse", value)?;
    members.check(
        &["field", "inner_hits", "max_concurrent_group_searches"],
        &["collapse"],
    )?;
    let field = members.text("field")?;
    let field =
        field.ok_or_else(|| Fault::illegal("[collapse] needs the [field] of the values"))?;
    let inner_hits = members.get("inner_hits");
    let inner_hits = inner_hits.map(|value| InnerRequest::inner_hits(value, min_score));
    Ok((field.to_owned(), inner_hits.unwrap_or(Ok(Vec::new()))?))
}

fn check_members(members: &Members<'_>) -> Outcome<()> {
    for (name, value) in members.iter() {
        if value.is_null() {
            return Err(Fault::parsing(format!(
                "Unknown key for a VALUE_NULL in [{name}]: leave it out, or give it a value."
            )));
        }
        // What is asked for by false, or by nothing, is as it is without.
        let is_absent = match value {
            Value::Bool(asked) => !asked,
            Value::Array(list) => list.is_empty(),
            Value::Object(inner) => inner.is_empty(),
            _ => false,
        };
        if NOT_THERE.contains(&name) && !is_absent {
            let feature = match name {
                "knn" => "vector search ([knn])".to_owned(),
                other => format!("[{other}] of a search"),
            };
            return Err(Fault::query_not_there(&feature));
        }
    }
    let known = [&KNOWN[..], &NOT_THERE[..]].concat();
    for (name, _) in members.iter() {
        if !known.contains(&name) {
            return Err(members.unknown(name, &KNOWN));
        }
    }
    Ok(())
}

/// Reads `stored_fields`. No field is stored beside the source, which is left out then unless it is
/// one of them.
fn without_source(members: &Members<'_>) -> Outcome<Option<SourceChoice>> {
    let Some(fields) = members.texts("stored_fields")? else {
        return Ok(None);
    };
    if fields.contains(&"_none_") {
        return Err(Fault::query_not_there("[stored_fields] of [_none_]"));
    }
    Ok((!fields.contains(&"_source")).then_some(SourceChoice::None))
}

/// Reads `track_total_hits`. A total that is counted is exact, whatever number is asked for.
fn counts(value: &Value) -> Outcome<bool> {
    match value {
        Value::Bool(counts) => Ok(*counts),
        Value::Number(number) if number.as_i64() == Some(-1) => Ok(true),
        Value::Number(number) if number.as_u64().is_some() => Ok(true),
        other => Err(Fault::parsing(format!(
            "[track_total_hits] expected true, false or a number, found {}",
            kind_of(other)
        ))),
    }
}

/// The fields of keys that an index need not have, with the types that they have then.
fn unmapped(sort: &Value) -> Vec<(String, Option<FieldType>)> {
    let keys = match sort {
        Value::Array(keys) => keys.as_slice(),
        one => std::slice::from_ref(one),
    };
    let objects = keys.iter().filter_map(Value::as_object);
    let fields = objects.flatten();
    let allowed = fields.filter_map(|(name, how)| Some((name, how.get("unmapped_type")?)));
    let typed = allowed.map(|(name, kind)| {
        let kind = kind.as_str().and_then(FieldType::named);
        (name.clone(), kind)
    });
    typed.collect()
}

fn point_in_time(value: &Value) -> Outcome<(String, Option<Duration>)> {
    let members = Members::of("pit", value)?;
    members.check(&["id", "keep_alive"], &[])?;
    let id = members
        .text("id")?
        .ok_or_else(|| Fault::parsing("[pit] needs the [id] of a point in time"))?;
    let keep = members.text("keep_alive")?;
    let keep = keep.map(|text| duration("keep_alive", text)).transpose()?;
    Ok((id.to_owned(), keep))
}

fn time_limit(text: &str) -> Outcome<Duration> {
    Ok(duration("timeout", text)?.min(DEADLINE))
}

/// Reads a time such as `500ms` or `1m`.
pub fn duration(name: &str, text: &str) -> Outcome<Duration> {
    let split = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => 0,
    };
    let milliseconds = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit));
    match milliseconds {
        Some(time) if time > 0 => Ok(Duration::from_millis(time)),
        _ => Err(Fault::illegal(format!(
            "failed to parse [{name}] with value [{text}] as a time value such as 500ms or 10s"
        ))),
    }
}
