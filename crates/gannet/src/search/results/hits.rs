//! Fills hits: IDs, sources and snippets of the documents found.
//!
//! Each hit is filled by itself. Where the memory is too small for one, it says so in place of its
//! source, and the others go on; a query that is beside others is asked again alone before that,
//! since they may have what it needs.

use super::Hit;
use super::highlight::{SnippetOptions, snippet_bytes};
use super::marks::Marker;
use crate::base::{Budget, Error, Reservation, Result};
use crate::cache::{Pages, Step};
use crate::documents::{Fetch, Fetched, StoredDocument, reading_bytes};

/// Bytes that a document takes whose source has `source` bytes when it is fetched and snippets are
/// made of it, as they are made unless the caller says otherwise. What is written should be no
/// larger than can be read again within the budget.
pub fn document_bytes(source: usize) -> usize {
    reading_bytes(source) + snippet_bytes(source, &SnippetOptions::default())
}

/// Options of filling hits.
pub struct HitFilling<'q> {
    /// Set to keep sources.
    pub sources: bool,
    /// The makers of snippets, one for each field.
    pub markers: Vec<Marker>,
    /// The form of snippets.
    pub snippets: &'q SnippetOptions,
    /// The budget of their memory.
    pub budget: &'q Budget,
    /// Set if no other query has memory that this one waits for.
    pub alone: bool,
}

impl HitFilling<'_> {
    /// Fills the first of `hits` and those that are read in the same round; tells how many. `kept`
    /// grows by what they hold.
    pub fn fill(
        &mut self,
        hits: &mut [Hit],
        fetch: &mut Fetch<'_>,
        kept: &mut Reservation,
        pages: &mut Pages<'_>,
    ) -> Step<usize> {
        let docs: Vec<_> = hits.iter().map(|hit| hit.doc).collect();
        let mut fetched = Vec::new();
        let count = fetch.next(&docs, pages, |document| {
            fetched.push(document);
            Ok(())
        })?;
        for (hit, document) in hits.iter_mut().zip(fetched) {
            self.fill_one(hit, document, kept, pages)?;
        }
        Ok(count)
    }

    fn fill_one(
        &mut self,
        hit: &mut Hit,
        fetched: Fetched,
        kept: &mut Reservation,
        pages: &mut Pages<'_>,
    ) -> Result<()> {
        match fetched {
            Fetched::Id(id) => hit.id = id,
            Fetched::Failed(id, error) => {
                hit.id = id;
                self.note(hit, error)?;
            }
            Fetched::Document(StoredDocument { id, source, .. }, memory) => {
                hit.id = id;
                self.mark(hit, &source, pages)?;
                if self.sources {
                    hit.source = Some(source);
                    kept.take_over(memory);
                }
                self.keep_snippets(hit, kept)?;
            }
        }
        Ok(())
    }

    /// Makes the snippets of a hit, if there is memory for that.
    fn mark(&mut self, hit: &mut Hit, source: &[u8], pages: &mut Pages<'_>) -> Result<()> {
        if self.markers.is_empty() {
            return Ok(());
        }
        let needed = snippet_bytes(source.len(), self.snippets);
        let _reserved = match self.budget.reserve("the snippets of a document", needed) {
            Ok(reserved) => reserved,
            Err(error) => return self.note(hit, error.of_document(&hit.id, needed)),
        };
        for marker in &mut self.markers {
            hit.snippets.push(marker.mark(source, pages.steps())?);
        }
        Ok(())
    }

    fn keep_snippets(&self, hit: &mut Hit, kept: &mut Reservation) -> Result<()> {
        let bytes = hit.snippet_bytes();
        let Err(error) = kept.grow_to(kept.bytes() + bytes) else {
            return Ok(());
        };
        hit.snippets = Vec::new();
        self.note(hit, error.of_document(&hit.id, bytes))
    }

    /// Notes why a hit is not whole, unless the query is to be asked again alone.
    fn note(&self, hit: &mut Hit, error: Error) -> Result<()> {
        match (self.alone, &error) {
            (
                false,
                Error::DocumentMemory {
                    needed,
                    free,
                    budget,
                    ..
                },
            ) if needed <= budget => Err(Error::Memory {
                what: "a stored document".into(),
                needed: *needed,
                free: *free,
                budget: *budget,
            }),
            _ => {
                hit.error = Some(error);
                Ok(())
            }
        }
    }
}
