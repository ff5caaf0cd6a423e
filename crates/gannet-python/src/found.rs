//! The results of a search, as hits share them: IDs and scores in a compact form, and texts that
//! may have to be read again.

use std::ops::Deref;
use std::sync::Arc;

use gannet::SearchOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answers::Ranking;
use crate::asking::{Handle, Searched};
use crate::errors::{Kind, Raise, exception, fault, invalid};
use crate::selection;
use crate::sorting::{self, KeyValue};
use crate::source::Decoded;
use crate::texts::{Kept, Texts, digest};

/// Fields with their snippets.
pub type Snippets = Vec<(String, Vec<String>)>;

/// The hits of one search, best first.
pub struct Found {
    ranking: Ranking,
    docs: Vec<u32>,
    snippets: Vec<Snippets>,
    /// The values of hits by the keys of their order, if that was not by score.
    sort: Vec<Vec<Option<KeyValue>>>,
    /// The values that hits stand for, if they were collapsed by a field.
    groups: Vec<Option<KeyValue>>,
    texts: Arc<Texts>,
    /// Set if the search was made with sources.
    has_sources: bool,
    /// The fields that hits have; nothing means all.
    fields: Option<Vec<String>>,
    /// The handle by which a text is read again. Unpickled hits have all of theirs.
    searched: Option<Searched>,
}

/// The JSON of a document.
pub enum Source {
    Here(Arc<[gannet::Hit]>, usize),
    Read(Vec<u8>),
}

impl Deref for Source {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Source::Here(hits, place) => hits[*place].source.as_deref().unwrap_or_default(),
            Source::Read(source) => source,
        }
    }
}

impl Found {
    /// Takes the results of a search.
    pub fn new(
        searched: &Searched,
        options: &SearchOptions,
        fields: Option<Vec<String>>,
        mut hits: Vec<gannet::Hit>,
    ) -> Found {
        let sort = sort_values(&hits);
        let groups = groups(&hits);
        let (ranking, docs, snippets) = parts(&mut hits);
        Found {
            ranking,
            docs,
            snippets,
            sort,
            groups,
            texts: Texts::shelved(&searched.room.texts, hits),
            has_sources: options.sources,
            fields,
            searched: Some(searched.clone()),
        }
    }

    /// Of hits that were pickled with their texts, with their values by the keys of the order, and
    /// with those that they stand for.
    pub fn unpickled(
        mut hits: Vec<gannet::Hit>,
        sort: Vec<Vec<Option<KeyValue>>>,
        groups: Vec<Option<KeyValue>>,
        has_sources: bool,
        fields: Option<Vec<String>>,
    ) -> Found {
        let (ranking, docs, snippets) = parts(&mut hits);
        Found {
            ranking,
            docs,
            snippets,
            sort,
            groups,
            texts: Texts::free(hits),
            has_sources,
            fields,
            searched: None,
        }
    }

    /// Returns the number of hits.
    pub fn len(&self) -> usize {
        self.ranking.len()
    }

    /// The external ID of the hit at a place.
    pub fn id(&self, place: usize) -> &str {
        self.ranking.id(place)
    }

    /// The scores as the engine gives them.
    pub fn scores(&self) -> &[f32] {
        &self.ranking.scores
    }

    /// The snippets of the hit at a place.
    pub fn snippets(&self, place: usize) -> &[(String, Vec<String>)] {
        self.snippets.get(place).map_or(&[], Vec::as_slice)
    }

    /// The values of the hit at a place by the keys of the order.
    pub fn sort(&self, place: usize) -> &[Option<KeyValue>] {
        self.sort.get(place).map_or(&[], Vec::as_slice)
    }

    /// The value that the hit at a place stands for.
    pub fn group(&self, place: usize) -> Option<&KeyValue> {
        self.groups.get(place)?.as_ref()
    }

    /// Returns true if hits have texts.
    pub fn has_sources(&self) -> bool {
        self.has_sources
    }

    /// The fields that hits have, where they were named.
    pub fn fields(&self) -> Option<&[String]> {
        self.fields.as_deref()
    }

    /// The JSON of the document at a place, byte for byte as it came.
    pub fn source(&self, py: Python<'_>, place: usize) -> PyResult<Source> {
        if !self.has_sources {
            return Err(invalid(
                "the search was made with sources=False, so hits have no fields: leave that out",
            ));
        }
        match self.texts.kept() {
            Kept::GivenBack(digests) => self.read_again(py, place, digests[place]),
            Kept::Here(hits) => match &hits[place].error {
                Some(error) => Err(exception(error)),
                None => Ok(Source::Here(hits, place)),
            },
        }
    }

    /// The fields of the document at a place: a dict, decoded the first time.
    pub fn dict<'py>(
        &self,
        py: Python<'py>,
        place: usize,
        decoded: &Decoded,
    ) -> PyResult<Bound<'py, PyDict>> {
        decoded.dict(py, || {
            let dict = crate::json::value(py, &self.source(py, place)?)?.cast_into::<PyDict>()?;
            match &self.fields {
                Some(names) => selection::selected(&dict, names),
                None => Ok(dict),
            }
        })
    }

    /// Reads a text that was given back.
    fn read_again(&self, py: Python<'_>, place: usize, wanted: Option<u64>) -> PyResult<Source> {
        let id = self.id(place);
        let Some(searched) = &self.searched else {
            return Err(invalid("these hits have no index to be read from"));
        };
        let read = match &searched.handle {
            Handle::Index(index) => {
                let index = index.get()?;
                let read = py.detach(|| index.get(id)).or_raise()?;
                read.map(|document| document.source)
            }
            Handle::Snapshot(snapshot) => {
                let (snapshot, doc) = (snapshot.get()?, self.docs[place]);
                py.detach(|| one_of(&snapshot, doc)).or_raise()?
            }
        };
        let unchanged = |source: &Vec<u8>| wanted.is_none_or(|wanted| digest(source) == wanted);
        let source = read.filter(unchanged).ok_or_else(|| {
            fault(
                Kind::Expired,
                format!(
                    "the text of hit {id:?} was given back, as many results are held, and the document has \
                     changed since: search again, and hold fewer results"
                ),
            )
        })?;
        Ok(Source::Read(source))
    }
}

/// The text of a document of a state.
fn one_of(snapshot: &gannet::Snapshot, doc: u32) -> gannet::Result<Option<Vec<u8>>> {
    let options = SearchOptions {
        k: 1,
        from: doc,
        below: doc + 1,
        ..SearchOptions::default()
    };
    let mut answers = snapshot.search_all(&[gannet::Query::MatchAll], &options);
    let Some(hit) = answers
        .pop()
        .transpose()?
        .and_then(|mut one| one.hits.pop())
    else {
        return Ok(None);
    };
    match hit.error {
        Some(error) => Err(error),
        None => Ok(hit.source),
    }
}

/// The values of hits by the keys of their order.
fn sort_values(hits: &[gannet::Hit]) -> Vec<Vec<Option<KeyValue>>> {
    if hits.iter().all(|hit| hit.sort.is_empty()) {
        return Vec::new();
    }
    hits.iter().map(|hit| sorting::shown(&hit.sort)).collect()
}

/// The values that hits stand for; nothing if they were not collapsed.
fn groups(hits: &[gannet::Hit]) -> Vec<Option<KeyValue>> {
    if hits.iter().all(|hit| hit.group.is_none()) {
        return Vec::new();
    }
    let groups = hits.iter().map(|hit| sorting::shown_value(&hit.group));
    groups.collect()
}

/// IDs, scores, doc IDs and snippets, which stay when texts are given back. What they are here is
/// taken out of the hits.
fn parts(hits: &mut [gannet::Hit]) -> (Ranking, Vec<u32>, Vec<Snippets>) {
    let mut ranking = Ranking::default();
    for hit in hits.iter_mut() {
        ranking.push(&std::mem::take(&mut hit.id), hit.score);
    }
    let docs = hits.iter().map(|hit| hit.doc).collect();
    let snippets = if hits.iter().any(|hit| !hit.snippets.is_empty()) {
        hits.iter_mut()
            .map(|hit| std::mem::take(&mut hit.snippets))
            .collect()
    } else {
        Vec::new()
    };
    (ranking, docs, snippets)
}
