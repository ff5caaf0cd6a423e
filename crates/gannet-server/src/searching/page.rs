//! A page of hits of one index or of several.
//!
//! Each index ranks its documents as if it were asked alone. First all are ranked without reading a
//! document, then those that have hits in the page read them. Equal scores are in the order of the
//! names of indexes, and in an index as it has them.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::time::Instant;

use gannet::values::{Number, Value as SortedValue};
use gannet::{
    DocumentVersion, Hit, Reservation, SearchOptions, SearchResults, SortBy, SortKey, SortValue,
};
use serde_json::Value;

use super::aggregations::Aggregated;
use super::docvalues::ValueField;
use super::hit_values::{HitFields, values_of};
use super::order::{DocumentPlace, without_scores};
use super::parallel::each_in_order;
use super::request::SearchRequest;
use super::run::SearchedIndex;
use super::stand_ins::StandIns;
use crate::fault::{Fault, Outcome};
use crate::indexes::Mapping;

/// Opens an index by its name.
pub type Opener<'a> = &'a (dyn Fn(&str) -> Outcome<SearchedIndex> + Sync);

/// The indexes that are searched together.
pub struct Targets<'a> {
    targets: Vec<Target<'a>>,
    open: Opener<'a>,
    /// The most that may be open for it at once.
    at_once: usize,
    /// When the search began. All indexes share its time limit.
    start: Instant,
}

enum Target<'a> {
    /// One that stays as it is.
    Held(&'a SearchedIndex),
    Own(SearchedIndex),
    /// One that is opened when it is asked.
    Named(String),
}

/// A page of hits.
#[derive(Default)]
pub struct Page {
    /// The results of indexes, with their numbers.
    pub parts: Vec<(usize, SearchResults)>,
    /// The hits in their order: of which part, and its number there.
    pub order: Vec<(usize, usize)>,
    /// The documents that match.
    pub total: u64,
    /// Set if these are all.
    pub is_exact: bool,
    /// The score of the best.
    pub max_score: Option<f32>,
    /// The value of `aggregations`, if any were asked for.
    pub aggregations: Option<Value>,
    /// Patterns of which not all terms were searched.
    pub warnings: Vec<String>,
    /// The names of the indexes.
    pub names: Vec<String>,
}

impl<'a> Targets<'a> {
    /// Those of these names. They are held together if they are no more than `at_once`; else each
    /// is asked as it is when its turn comes.
    pub fn new(names: Vec<String>, at_once: usize, open: Opener<'a>) -> Outcome<Targets<'a>> {
        let are_held = names.len() <= at_once;
        let mut targets = Vec::with_capacity(names.len());
        if are_held {
            let open = |at: usize| open(&names[at]);
            each_in_order(names.len(), at_once, open, |_, searched| {
                targets.push(Target::Own(searched));
                Ok(())
            })?;
        } else {
            targets.extend(names.into_iter().map(Target::Named));
        }
        Ok(Targets {
            targets,
            open,
            at_once,
            start: Instant::now(),
        })
    }

    /// Those of a scroll or a point in time.
    pub fn held(searched: &'a [SearchedIndex]) -> Targets<'a> {
        Targets {
            targets: searched.iter().map(Target::Held).collect(),
            open: &|name| Err(Fault::no_index(name)),
            at_once: searched.len(),
            start: Instant::now(),
        }
    }

    /// The number of indexes.
    pub fn count(&self) -> usize {
        self.targets.len()
    }

    /// The options of a request, with the time that is left of it.
    fn options(
        &self,
        at: usize,
        searched: &SearchedIndex,
        request: &SearchRequest,
    ) -> SearchOptions {
        let left = request.deadline.saturating_sub(self.start.elapsed());
        let mut options = SearchOptions {
            deadline: Some(left),
            ..searched.options(request)
        };
        if let Some(after) = &mut options.after {
            let of_place = request.keys.iter().map(|key| key.by == SortBy::Doc);
            for (value, _) in after.iter_mut().zip(of_place).filter(|(_, is)| *is) {
                *value = value.take().map(|place| doc_behind(&place, at));
            }
        }
        options
    }

    fn name(&self, at: usize) -> String {
        match &self.targets[at] {
            Target::Held(searched) => searched.open.name.clone(),
            Target::Own(searched) => searched.open.name.clone(),
            Target::Named(name) => name.clone(),
        }
    }

    fn with<T>(&self, at: usize, act: impl FnOnce(&SearchedIndex) -> Outcome<T>) -> Outcome<T> {
        match &self.targets[at] {
            Target::Held(searched) => act(searched),
            Target::Own(searched) => act(searched),
            Target::Named(name) => act(&(self.open)(name)?),
        }
    }

    /// Has a function look at each index, several at once, and the findings taken in their order.
    fn each<T: Send>(
        &self,
        act: impl Fn(usize, &SearchedIndex) -> Outcome<T> + Sync,
        take: impl FnMut(usize, T) -> Outcome<()>,
    ) -> Outcome<()> {
        let act = |at: usize| self.with(at, |searched| act(at, searched));
        each_in_order(self.count(), self.at_once, act, take)
    }

    /// The values of hits of an index by the fields that a request wants.
    pub fn values_of(
        &self,
        at: usize,
        hits: &[Hit],
        fields: &[ValueField],
    ) -> Outcome<(HitFields, usize)> {
        let ids: Vec<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
        self.with(at, |searched| {
            values_of(searched, &ids, fields).map_err(|fault| fault.of_index(&searched.open.name))
        })
    }

    /// The versions of the documents of hits of an index.
    pub fn versions_of(&self, at: usize, hits: &[Hit]) -> Outcome<Vec<Option<DocumentVersion>>> {
        let ids: Vec<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
        self.with(at, |searched| {
            let found = searched.snapshot().versions(&ids);
            found.map_err(|error| Fault::from(error).of_index(&searched.open.name))
        })
    }

    /// Takes memory out of the budget of an index.
    pub fn reserve(&self, at: usize, what: &'static str, bytes: usize) -> Outcome<Reservation> {
        self.with(at, |searched| {
            let reserved = searched.open.index.reserve(what, bytes);
            reserved.map_err(|error| Fault::from(error).of_index(&searched.open.name))
        })
    }

    /// The number of documents that a request finds.
    pub fn total(&self, request: &SearchRequest) -> Outcome<u64> {
        let mut total = 0;
        self.each(
            |_, searched| Ok(searched.count(request)?.total),
            |_, count| {
                total += count;
                Ok(())
            },
        )?;
        Ok(total)
    }

    /// The page that a request asks for.
    pub fn page(&self, request: &SearchRequest) -> Outcome<Page> {
        request.check_window()?;
        let mut page = if request.is_by_place {
            self.page_by_place(request)?
        } else if let [_] = self.targets.as_slice() {
            self.page_of_one(request)?
        } else {
            self.page_of_several(request)?
        };
        page.names = (0..self.count()).map(|at| self.name(at)).collect();
        Ok(page)
    }

    /// The stand-ins for missing values in the order of a request, in an index.
    pub fn stand_ins(&self, at: usize, request: &SearchRequest) -> Outcome<StandIns> {
        self.with(at, |searched| Ok(searched.stand_ins(request)))
    }

    /// The mapping of an index.
    pub fn mapping(&self, at: usize) -> Outcome<Mapping> {
        self.with(at, |searched| Ok(searched.metadata().mapping.clone()))
    }

    fn page_of_one(&self, request: &SearchRequest) -> Outcome<Page> {
        let (mut results, asked) = self.with(0, |searched| {
            let asked = searched.aggregations(request, false)?;
            let options = self.options(0, searched, request);
            Ok((searched.ranked(request, asked.clone(), options)?, asked))
        })?;
        let mut page = Page::empty();
        page.count(&results);
        let mut aggregated = Aggregated::default();
        aggregated.add(asked.as_ref(), results.aggregations.take())?;
        page.aggregations = aggregated.answer(request.has_types)?;
        // The first hit of a page is not the best of all.
        let best = results.hits.first().map(|hit| hit.score);
        page.max_score = best.filter(|_| request.from == 0);
        page.order = (0..results.hits.len()).map(|hit| (0, hit)).collect();
        page.parts = vec![(0, results)];
        Ok(page)
    }

    fn page_of_several(&self, request: &SearchRequest) -> Outcome<Page> {
        if request.collapse.is_some() && request.behind.is_some() {
            return Err(Fault::query_not_there(
                "[collapse] with [search_after] over several indexes",
            ));
        }
        let mut page = Page::empty();
        let ranked = match request.size {
            0 => 0,
            size => request.from.saturating_add(size),
        };
        let mut all: Vec<RankedHit> = Vec::new();
        let mut aggregated = Aggregated::default();
        let rank = |at: usize, searched: &SearchedIndex| {
            let asked = searched.aggregations(request, true)?;
            let options = SearchOptions {
                k: ranked,
                skip: 0,
                fetch: false,
                highlight: Vec::new(),
                ..self.options(at, searched, request)
            };
            let stand_ins = searched.stand_ins(request);
            let results = searched.ranked(request, asked.clone(), options)?;
            Ok((results, asked, stand_ins))
        };
        self.each(rank, |at, (mut results, asked, stand_ins)| {
            page.count(&results);
            aggregated.add(asked.as_ref(), results.aggregations.take())?;
            let ranked_hits = results.hits.into_iter().enumerate();
            all.extend(ranked_hits.map(|(rank, hit)| RankedHit {
                score: hit.score,
                values: stand_ins.read(&hit.sort),
                group: hit.group,
                rank,
                of: at,
            }));
            // Of two indexes with all that can be in the page, what is behind it is needless.
            all.sort_by(|one, other| one.compare(other, &request.keys));
            if request.collapse.is_some() {
                leave_first_of_groups(&mut all);
            }
            all.truncate(ranked);
            Ok(())
        })?;
        page.aggregations = aggregated.answer(request.has_types)?;
        page.max_score = all.first().map(|hit| hit.score);
        let (_, shown) = all.split_at(request.from.min(all.len()));
        let mut skipped = Vec::new();
        for at in 0..self.count() {
            let ranks = shown.iter().filter(|hit| hit.of == at);
            let ranks = ranks.map(|hit| hit.rank);
            let (Some(skip), Some(last)) = (ranks.clone().min(), ranks.max()) else {
                continue;
            };
            let size = last - skip + 1;
            skipped.push(skip);
            let results = self.with(at, |searched| {
                let options = SearchOptions {
                    k: size,
                    skip,
                    count: false,
                    ..self.options(at, searched, request)
                };
                searched.run(searched.query(request)?, options)
            })?;
            page.parts.push((at, results));
        }
        for hit in shown {
            let parts = page.parts.iter();
            let Some(part) = parts.enumerate().find(|(_, (at, _))| *at == hit.of) else {
                continue;
            };
            let (number, (_, results)) = part;
            // An index that was not held may have lost some of them.
            let place = hit.rank - skipped[number];
            if place < results.hits.len() {
                page.order.push((number, place));
            }
        }
        Ok(page)
    }

    fn page_by_place(&self, request: &SearchRequest) -> Outcome<Page> {
        let mut page = Page::empty();
        if request.aggs.is_some() {
            return Err(Fault::query_not_there("[aggs] with [sort] by [_doc] alone"));
        }
        if request.counts {
            for at in 0..self.count() {
                page.count(&self.with(at, |searched| searched.count(request))?);
            }
        }
        let first = request.after.unwrap_or_default();
        let (mut skip, mut wanted) = (request.from, request.size);
        for at in first.index..self.count() {
            if wanted == 0 {
                break;
            }
            let from = if at == first.index { first.doc } else { 0 };
            let results = self.with(at, |searched| {
                let options = SearchOptions {
                    k: wanted,
                    skip,
                    from,
                    count: skip > 0,
                    ..self.options(at, searched, request)
                };
                searched.run(without_scores(searched.query(request)?), options)
            })?;
            if skip > 0 {
                let found = usize::try_from(results.total).unwrap_or(usize::MAX);
                skip = skip.saturating_sub(found);
            }
            wanted -= results.hits.len().min(wanted);
            let part = page.parts.len();
            page.order
                .extend((0..results.hits.len()).map(|hit| (part, hit)));
            page.parts.push((at, results));
        }
        Ok(page)
    }
}

/// A hit of one of several indexes.
struct RankedHit {
    score: f32,
    values: Vec<SortValue>,
    /// The value that it stands for.
    group: SortValue,
    /// Its number among the hits of its index.
    rank: usize,
    of: usize,
}

/// The value that a hit stands for, as those of several indexes are compared.
#[derive(PartialEq, Eq, Hash)]
enum GroupValue {
    Missing,
    Number(Number),
    Text(String),
}

/// Leaves of hits, which are in their order, the first of each value.
fn leave_first_of_groups(hits: &mut Vec<RankedHit>) {
    let mut seen = HashSet::new();
    hits.retain(|hit| seen.insert(group_value(&hit.group)));
}

fn group_value(value: &SortValue) -> GroupValue {
    match value {
        None => GroupValue::Missing,
        Some(SortedValue::Long(number) | SortedValue::Date(number)) => {
            GroupValue::Number(Number::Long(*number))
        }
        Some(SortedValue::Double(number)) => GroupValue::Number(Number::Double(*number)),
        Some(SortedValue::Boolean(value)) => GroupValue::Number(Number::Long((*value).into())),
        Some(SortedValue::Ip(address)) => GroupValue::Text(address.to_string()),
        Some(SortedValue::Keyword(text)) => GroupValue::Text(text.to_string()),
    }
}

impl RankedHit {
    /// Compares two by the keys of an order, by scores if there are none, then by their indexes.
    fn compare(&self, other: &RankedHit, keys: &[SortKey]) -> Ordering {
        let (values, of) = (self.values.iter().zip(&other.values), other.of);
        let by_keys = keys
            .iter()
            .zip(values)
            .map(|(key, (one, other))| match key.by {
                // A place is that of the index first.
                SortBy::Doc if self.of != of => {
                    let ascending = self.of.cmp(&of);
                    if key.descending {
                        ascending.reverse()
                    } else {
                        ascending
                    }
                }
                _ => key.compare(one, other),
            });
        let by_keys = by_keys.fold(Ordering::Equal, Ordering::then);
        let by_score = other.score.total_cmp(&self.score);
        let first = if keys.is_empty() { by_score } else { by_keys };
        first.then(self.of.cmp(&other.of))
    }
}

/// The number of the document of an index behind which its hits begin, out of a place among all.
fn doc_behind(place: &SortedValue<'_>, at: usize) -> SortedValue<'static> {
    let SortedValue::Long(number) = place else {
        return SortedValue::Long(-1);
    };
    let place = DocumentPlace::of_number(number.cast_unsigned());
    SortedValue::Long(match at.cmp(&place.index) {
        // All of its documents come before, or behind.
        Ordering::Less => i64::MAX,
        Ordering::Greater => -1,
        Ordering::Equal => i64::from(place.doc),
    })
}

impl Page {
    /// A page without hits.
    fn empty() -> Page {
        Page {
            is_exact: true,
            ..Page::default()
        }
    }

    fn count(&mut self, results: &SearchResults) {
        // Patterns of which not all terms were searched make a total a guess.
        self.is_exact &= results.total_is_exact && results.cut_expansions.is_empty();
        self.total += results.total;
        let cut = results.cut_expansions.iter().map(ToString::to_string);
        self.warnings.extend(cut);
    }

    /// The hits in their order, with the numbers of their indexes.
    pub fn hits(&self) -> impl Iterator<Item = (usize, &Hit)> {
        self.order.iter().filter_map(|(part, hit)| {
            let (index, results) = self.parts.get(*part)?;
            Some((*index, results.hits.get(*hit)?))
        })
    }

    /// The place of the last hit.
    pub fn last(&self) -> Option<DocumentPlace> {
        let (index, hit) = self.hits().last()?;
        Some(DocumentPlace {
            index,
            doc: hit.doc,
        })
    }
}
