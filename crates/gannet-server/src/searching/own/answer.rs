//! Carries a search out, and writes its answer. Documents pass through byte for byte.

use std::time::Instant;

use gannet::values::Value as Sorted;
use gannet::{Hit, Parsed, Query, SearchOptions, SearchResults, SnippetOptions, SortValue};
use serde_json::{Map, Value, json};

use super::cost::{explanation_json, io_json, plan_json, score_json};
use super::counts::OwnCounts;
use super::request::{OwnHighlight, OwnSearch};
use crate::fault::{Fault, Outcome};
use crate::http::Answer;
use crate::json::{JsonArray, JsonObject};
use crate::searching::hits::answer_bytes;
use crate::searching::run::SearchedIndex;

impl OwnSearch {
    /// The answer of an index.
    pub fn answer(&self, searched: &SearchedIndex) -> Outcome<Answer> {
        let name = &searched.open.name;
        self.answer_of(searched)
            .map_err(|fault| fault.of_index(name))
    }

    fn answer_of(&self, searched: &SearchedIndex) -> Outcome<Answer> {
        let start = Instant::now();
        let snapshot = searched.snapshot();
        let Parsed { query, notes } = self.parsed(snapshot)?;
        let mut notes = notes;
        if query == Query::MatchNone && self.query.is_some() {
            notes.push(
                "the query is empty, so nothing was searched: leave it out for all documents"
                    .to_owned(),
            );
        }
        let asked = self.counts(snapshot)?;
        let options = SearchOptions {
            aggregations: asked.clone(),
            ..self.options(searched)
        };
        let mut results = searched.run(searched.limited(query)?, options)?;
        notes.append(&mut results.notes);
        notes.extend(results.cut_expansions.iter().map(ToString::to_string));
        if results.has_no_terms {
            notes.push("the query holds no searchable terms after analysis".to_owned());
        }
        let counts = match (&asked, results.aggregations.take()) {
            (Some(asked), Some(found)) => Some(OwnCounts::of(asked, &found)?),
            _ => None,
        };
        let reserved = searched
            .open
            .index
            .reserve("the answer of a search", self.bytes(&results));
        let held = vec![reserved?];
        let body = self.body(&results, searched, &notes)?;
        let body = match counts {
            None => body,
            Some(counts) => body
                .put("facets", &counts.facets)
                .put("aggregations", &counts.aggregations),
        };
        let mut cost = io_json(results.io);
        cost["took_us"] = json!(start.elapsed().as_micros() as u64);
        cost["backend"] = json!(searched.open.index.backend().to_string());
        let body = body.put("cost", &cost);
        let body = match &results.plan {
            None => body.end(),
            Some(plan) => body.put("plan", &plan_json(plan)).end(),
        };
        Ok(Answer {
            held,
            ..Answer::json(200, body)
        })
    }

    fn options(&self, searched: &SearchedIndex) -> SearchOptions {
        let highlight = self.highlight.as_ref();
        SearchOptions {
            k: self.size,
            skip: self.offset,
            count: self.total,
            fetch: self.size > 0,
            sources: !self.fields.is_none(),
            sort: self.sort.clone(),
            after: self.after.clone(),
            collapse: self.collapse.clone(),
            explain: self.explain,
            highlight: highlight.map_or_else(Vec::new, |asked| highlighted(asked, searched)),
            snippets: highlight.map_or_else(SnippetOptions::default, |asked| asked.form.clone()),
            deadline: Some(self.deadline),
            ..SearchOptions::default()
        }
    }

    /// Bytes that the answer takes; explanations as much as hits beside.
    fn bytes(&self, results: &SearchResults) -> usize {
        let bytes = answer_bytes(results);
        if self.explain { 2 * bytes } else { bytes }
    }

    fn body(
        &self,
        results: &SearchResults,
        searched: &SearchedIndex,
        notes: &[String],
    ) -> Outcome<JsonObject> {
        let mut hits = JsonArray::new();
        for hit in &results.hits {
            hits.push(&self.hit(hit)?);
        }
        let mut body = JsonObject::new().put("index", &searched.open.name);
        if self.total {
            let is_exact = results.total_is_exact && results.cut_expansions.is_empty();
            body = body
                .put("total", &results.total)
                .put("total_is_exact", &is_exact);
        }
        let body = body.raw("hits", &hits.end()).put("notes", &notes);
        // A page that is not full is the last one.
        let last = results
            .hits
            .last()
            .filter(|_| results.hits.len() == self.size);
        Ok(match last {
            Some(last) if !self.sort.is_empty() => body.put("next", &sort_json(&last.sort)),
            _ => body,
        })
    }

    fn hit(&self, hit: &Hit) -> Outcome<String> {
        if let Some(error) = &hit.error {
            return Err(Fault::from(error.clone()));
        }
        let mut json = JsonObject::new().put("id", &hit.id);
        if !hit.score.is_nan() {
            json = json.put("score", &score_json(hit.score));
        }
        if !hit.sort.is_empty() {
            json = json.put("sort", &sort_json(&hit.sort));
        }
        if self.collapse.is_some() {
            let group = sort_json(std::slice::from_ref(&hit.group));
            json = json.put("group", &group[0]);
        }
        if let Some(source) = &hit.source
            && let Some(source) = self.fields.apply(source)?
        {
            json = json.raw("document", &source);
        }
        let snippets = hit.snippets.iter().filter(|(_, texts)| !texts.is_empty());
        let snippets: Map<String, Value> = snippets
            .map(|(field, texts)| (field.clone(), json!(texts)))
            .collect();
        if self.highlight.is_some() {
            json = json.put("highlight", &snippets);
        }
        if let Some(explanation) = &hit.explanation {
            json = json.put("explanation", &explanation_json(explanation));
        }
        Ok(json.end())
    }
}

/// The fields of which snippets are made.
fn highlighted(asked: &OwnHighlight, searched: &SearchedIndex) -> Vec<String> {
    match &asked.fields {
        Some(names) => names.clone(),
        None => {
            let texts = searched.snapshot().schema().asked_without_name();
            texts.map(|field| field.name.clone()).collect()
        }
    }
}

/// The values of a hit by the keys of the order: dates in ISO 8601.
fn sort_json(values: &[SortValue]) -> Vec<Value> {
    let value = |value: &SortValue| match value {
        None => Value::Null,
        Some(Sorted::Long(value)) => json!(value),
        Some(Sorted::Double(value)) => json!(value),
        Some(Sorted::Boolean(value)) => json!(value),
        Some(other) => json!(other.to_string()),
    };
    values.iter().map(value).collect()
}
