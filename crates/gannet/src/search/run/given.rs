//! Statistics of a query: which its scores need, what an index counts of them, and those that were
//! given in place of the index's own.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::expand::FUZZY_MAX;
use super::frequent::FREQUENT_MAX;
use crate::analysis::{FieldId, Schema, split_term_key, term_key};
use crate::base::{Budget, Error, Reservation, Result};
use crate::search::lists::{OpenLists, PartialExpansion};
use crate::search::plan::{Plan, PlanSlot, WantedTerms};
use crate::search::query::Query;
use crate::search::query::fields;
use crate::search::query::pattern::{Pattern, Verdict};
use crate::search::scoring::bm25::Statistics;
use crate::search::scoring::field::FieldStatistics;
use crate::search::statistics::{QueryStatistics, SimilarTerms};
use crate::search::view::SearchView;

/// Bytes that the norms of a field take as scores use them.
const NORMS_BYTES: usize = 256 * size_of::<f32>();

/// Bytes of a term in a map, beside its text.
const ENTRY_BYTES: usize = 64;

/// The statistics of the whole index that the scores of a query need.
pub struct NeededStatistics {
    /// The fields that the query names.
    fields: Vec<FieldId>,
    terms: Vec<Needed>,
    /// Fuzzy terms and patterns that end phrases, as they were written.
    similar: Vec<Needed>,
}

/// A term or a fuzzy term in a field.
struct Needed {
    slot: PlanSlot,
    field: FieldId,
    text: String,
}

impl NeededStatistics {
    /// Finds the statistics that the scores of a query with this plan need.
    pub fn of(query: &Query, plan: &Plan, schema: &Schema) -> Result<NeededStatistics> {
        let scored = plan.scored();
        let terms = plan.terms.iter().zip(scored.terms).enumerate();
        let terms = terms.filter(|(_, (_, scores))| *scores);
        let terms = terms.map(|(slot, (term, _))| {
            let (field, text) = split_term_key(&term.key)?;
            let text = text_of(text)?;
            Ok(Needed { slot, field, text })
        });
        let similar = plan.patterns.iter().zip(scored.patterns).enumerate();
        let similar = similar.filter(|(_, (_, matters))| *matters);
        let similar = similar.map(|(slot, (planned, _))| Needed {
            slot,
            field: planned.field,
            text: planned.written.clone(),
        });
        let named = fields::names(query).filter_map(|name| schema.named(name));
        Ok(NeededStatistics {
            fields: named.map(|field| field.id).collect(),
            terms: terms.collect::<Result<_>>()?,
            similar: similar.collect(),
        })
    }

    /// Counts them in the index of a view.
    pub fn count(&self, lists: &OpenLists, view: &SearchView) -> Result<QueryStatistics> {
        let mut counted = QueryStatistics::default();
        let name = |field| name_of(field, &view.schema);
        let needed = self.terms.iter().chain(&self.similar);
        for field in self.fields.iter().chain(needed.map(|needed| &needed.field)) {
            counted.note_field(name(*field), view.statistics.of(*field));
        }
        for Needed { slot, field, text } in &self.terms {
            let list = lists.terms[*slot].as_ref().map(|open| &open.list);
            let documents = list.map_or(0, |list| list.document_frequency());
            counted.note_term(name(*field), text, documents);
        }
        for Needed { slot, field, text } in &self.similar {
            let terms = lists.patterns[*slot].terms.iter().map(|open| {
                let term = text_of(split_term_key(&open.key)?.1)?;
                Ok((term, open.list.document_frequency()))
            });
            let is_cut = |cut: &PartialExpansion| cut.field == *field && cut.written == *text;
            let similar = SimilarTerms {
                is_cut: lists.cut.iter().any(is_cut),
                terms: terms.collect::<Result<_>>()?,
            };
            counted.note_similar(name(*field), text, similar);
        }
        Ok(counted)
    }

    /// Bytes that [`NeededStatistics::count`] takes at most.
    pub fn bytes(&self, lists: &OpenLists) -> usize {
        let needed = self.terms.iter().chain(&self.similar);
        let needed = needed.map(|needed| ENTRY_BYTES + needed.text.len());
        let found = lists.patterns.iter().flat_map(|pattern| &pattern.terms);
        let found = found.map(|open| ENTRY_BYTES + open.key.len());
        2 * (needed.sum::<usize>() + found.sum::<usize>())
    }
}

/// Statistics that a query was given, by the numbers that fields, terms and patterns have in it.
pub struct GivenStatistics {
    /// Of the fields.
    pub statistics: Statistics,
    frequencies: Vec<(PlanSlot, u64)>,
    similar: Vec<Needed>,
    given: Arc<QueryStatistics>,
    schema: Arc<Schema>,
    _memory: Reservation,
}

/// The terms that a fuzzy term, or a pattern that ends a phrase, stands for in all indexes
/// together.
pub struct MostSimilar {
    /// Set if there are others.
    pub is_cut: bool,
    frequencies: BTreeMap<Vec<u8>, u64>,
}

impl GivenStatistics {
    /// Takes from `given` the statistics that a query needs.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if something is missing.
    pub fn new(
        given: &Arc<QueryStatistics>,
        needed: NeededStatistics,
        schema: &Arc<Schema>,
        budget: &Budget,
    ) -> Result<GivenStatistics> {
        let fields = schema.fields();
        let bytes = fields.len() * (size_of::<FieldStatistics>() + NORMS_BYTES)
            + (needed.terms.len() + needed.similar.len()) * ENTRY_BYTES;
        let memory = budget.reserve("the statistics that a query is given", bytes)?;
        for Needed { field, text, .. } in &needed.similar {
            let name = name_of(*field, schema);
            if given.similar(name, text).is_none() {
                return Err(missing(given, name, text));
            }
        }
        let frequencies = needed.terms.iter().map(|Needed { slot, field, text }| {
            let name = name_of(*field, schema);
            let frequency = given.document_frequency(name, text);
            Ok((*slot, frequency.ok_or_else(|| missing(given, name, text))?))
        });
        let of = |name: &String| given.whole(name).unwrap_or_default();
        let statistics = fields.iter().map(|field| of(&field.name)).collect();
        Ok(GivenStatistics {
            frequencies: frequencies.collect::<Result<_>>()?,
            statistics: Statistics::new(Arc::new(statistics), Arc::clone(schema)),
            similar: needed.similar,
            given: Arc::clone(given),
            schema: Arc::clone(schema),
            _memory: memory,
        })
    }

    /// Has terms score with the documents that were given.
    pub fn apply(&self, lists: &mut OpenLists) {
        for (slot, frequency) in &self.frequencies {
            if let Some(term) = &mut lists.terms[*slot] {
                term.frequency = *frequency;
            }
        }
    }

    /// The terms that the fuzzy term of a slot stands for.
    pub fn similar(
        &self,
        slot: PlanSlot,
        pattern: &Pattern,
        wanted: WantedTerms,
    ) -> Option<MostSimilar> {
        let needed = self.similar.iter().find(|needed| needed.slot == slot)?;
        let name = name_of(needed.field, &self.schema);
        let all = self.given.similar(name, &needed.text)?;
        let similar =
            all.terms
                .iter()
                .filter_map(|(term, documents)| match pattern.judge(term.as_bytes()) {
                    Verdict::Match(similarity) => Some((similarity, term, *documents)),
                    _ => None,
                });
        let mut similar: Vec<(f32, &String, u64)> = similar.collect();
        // They are in order; among equals the first stay first.
        let most = match wanted {
            WantedTerms::First(most) => most,
            _ if pattern.is_fuzzy() => {
                similar.sort_by(|a, b| b.0.total_cmp(&a.0));
                FUZZY_MAX
            }
            _ => {
                similar.sort_by_key(|(.., documents)| Reverse(*documents));
                FREQUENT_MAX
            }
        };
        // That there are more is no surprise where the first were asked for.
        let may_be_cut = !matches!(wanted, WantedTerms::First(_));
        let is_cut = may_be_cut && (all.is_cut || similar.len() > most);
        let most = similar.into_iter().take(most);
        let frequencies = most.map(|(_, term, documents)| {
            let mut key = Vec::new();
            term_key(needed.field, term.as_bytes(), &mut key);
            (key, documents)
        });
        Some(MostSimilar {
            is_cut,
            frequencies: frequencies.collect(),
        })
    }
}

impl MostSimilar {
    /// The documents of the most frequent of them.
    pub fn most_documents(&self) -> Option<u64> {
        self.frequencies.values().copied().max()
    }

    /// The documents of each, in the order of the terms.
    pub fn into_frequencies(self) -> Vec<u64> {
        self.frequencies.into_values().collect()
    }

    /// The documents of a term, if it is one of these.
    pub fn frequency(&self, key: &[u8]) -> Option<u64> {
        self.frequencies.get(key).copied()
    }
}

fn name_of(field: FieldId, schema: &Schema) -> &str {
    schema.field(field).map_or("", |field| &field.name)
}

fn text_of(term: &[u8]) -> Result<String> {
    let text = String::from_utf8(term.to_vec());
    text.map_err(|_| Error::internal("a term is no UTF-8"))
}

fn missing(given: &QueryStatistics, field: &str, term: &str) -> Error {
    let what = match given.whole(field) {
        None => format!("the field {field:?}"),
        Some(_) => format!("the term {} of the field {field:?}", fields::shown(term)),
    };
    Error::invalid(format!(
        "the statistics that were given lack {what}: take them of this query, on all indexes"
    ))
}
