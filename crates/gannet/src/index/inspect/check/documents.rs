//! Every document: its record is where the table says and has its doc ID, its norms are those of
//! its fields, and its postings are taken off those of the lists.

use std::collections::HashMap;

use super::Check;
use crate::analysis::FieldId;
use crate::base::{DocId, Error, Result, on_all_cores};
use crate::cache::{Pages, Step, finish};
use crate::documents::{
    Document, DocumentTables, NormCursor, StoredDocument, length_to_norm, stored,
};
use crate::index::ingest::{FieldLengths, Workbench};
use crate::index::state::Shared;
use crate::postings::{Tokens, term_digest};

/// Documents, and bytes of their sources, that one thread analyses at a time at most, and runs of
/// all.
const RUN_DOCUMENTS: usize = 256;
const RUN_BYTES_MAX: usize = 256 << 10;
const RUNS: usize = 16;

/// A document is long that is larger than so many runs.
const LONG_RUNS: usize = 4;

/// The part of the memory that may be taken for about so many bytes for each byte of a source.
const MEMORY_ONE_OF: usize = 8;
const BYTES_PER_SOURCE_BYTE: usize = 12;

/// Documents to be analysed again, in runs.
struct AnalysisRun {
    runs: Vec<Vec<(DocId, Document)>>,
    /// Bytes of the sources in the last run, and in all.
    bytes: usize,
    total: usize,
    /// Bytes with which a run is full.
    run_bytes: usize,
    /// Set if there is a document which is so long that it is analysed beside no other.
    has_long: bool,
}

/// The result of analysing a run again.
struct AnalysedRun {
    documents: Vec<Analysed>,
    /// Values of columns that differ from those of the sources.
    faults: Vec<String>,
}

/// The result of analysing one document again.
struct Analysed {
    doc: DocId,
    lengths: FieldLengths,
    /// The sum of the digests of its postings.
    digest: u64,
}

impl Check<'_> {
    /// Every page of addresses, the deleted documents' too.
    pub(crate) fn addresses(&mut self) -> Result<()> {
        let tables = &self.state.tables;
        for page in 0..tables.address_pages() {
            let mut pages = Pages::new(&self.shared.pool);
            match finish(&mut pages, |pages| tables.check_addresses(page, pages)) {
                Err(error @ Error::Damaged { .. }) => {
                    self.find(format!("page {page} of addresses: {error}"));
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// Every live document.
    pub(crate) fn documents(&mut self, progress: &dyn Fn(&str, u64)) -> Result<()> {
        let (state, mut live) = (self.state, 0);
        let new_batch = || AnalysisRun::within(self.shared.budget.total() / MEMORY_ONE_OF);
        let mut batch = new_batch();
        let mut norms = NormSequence::new(self.shared, &state.tables);
        for doc in 0..state.below {
            if doc % 10_000 == 0 {
                progress("documents", doc as u64);
            }
            match self.read(doc) {
                Ok(None) => continue,
                Ok(Some(document)) => batch.push(doc, document),
                Err(error @ Error::Damaged { .. }) => {
                    self.find(format!("document {doc}: {error}"));
                }
                Err(error) => return Err(error),
            }
            live += 1;
            if batch.is_full() {
                let full = std::mem::replace(&mut batch, new_batch());
                self.take_off(full, &mut norms)?;
            }
        }
        self.take_off(batch, &mut norms)?;
        self.report.documents = live;
        if live != state.documents {
            let expected = state.documents;
            self.find(format!("expected {expected} live documents, got {live}"));
        }
        Ok(())
    }

    /// A document, if it lives, as it was when it came.
    fn read(&mut self, doc: DocId) -> Result<Option<Document>> {
        let state = self.state;
        let mut pages = Pages::new(&self.shared.pool);
        let address = finish(&mut pages, |pages| -> Step<_> {
            if state.tables.is_live(doc, pages)? {
                state.tables.address(doc, pages).map(Some)
            } else {
                Ok(None)
            }
        })?;
        let Some(address) = address else {
            return Ok(None);
        };
        self.references.record(address)?;
        let stored = finish(&mut pages, |pages| {
            stored(doc, &state.tables, &state.dictionaries, pages)
        })?;
        let invalid = |error: Error| Error::damaged("its source", error.to_string());
        parse_again(stored).map(Some).map_err(invalid)
    }

    /// Analyses documents again, takes the digests of their postings off, and looks at their norms.
    fn take_off(&mut self, batch: AnalysisRun, norms: &mut NormSequence<'_>) -> Result<()> {
        let check = &*self;
        let analyse_all = |share: Vec<Vec<(DocId, Document)>>| {
            let mut bench = Workbench::default();
            let runs = share.into_iter();
            runs.map(|run| check.analyse(&mut bench, run)).collect()
        };
        let analysed: Vec<Result<AnalysedRun>> = if batch.has_long {
            analyse_all(batch.runs)
        } else {
            on_all_cores(batch.runs, 1, analyse_all)
        };
        for run in analysed {
            let AnalysedRun { documents, faults } = run?;
            self.find_all(faults);
            for Analysed {
                doc,
                lengths,
                digest,
            } in documents
            {
                self.contents.take(doc, digest);
                let faults = norms.compare(doc, &lengths)?;
                self.find_all(faults);
            }
        }
        Ok(())
    }

    fn analyse(&self, bench: &mut Workbench, run: Vec<(DocId, Document)>) -> Result<AnalysedRun> {
        let (docs, documents): (Vec<DocId>, Vec<Document>) = run.into_iter().unzip();
        bench.begin(&self.shared.budget)?;
        bench.hold(documents.iter().map(Document::memory_bytes).sum())?;
        let preparation = &self.shared.preparation;
        let (inverted, lengths) = preparation.invert_again(bench, documents, 0)?;
        let faults = self.compare_values(&inverted.values, &docs)?;
        let mut digests = vec![0u64; docs.len()];
        let mut tokens = Tokens::default();
        inverted.inverted.each_term(&mut |key, postings| {
            let (term, mut reader) = (term_digest(key), postings.reader());
            while let Some(ordinal) = reader.next(&mut tokens)? {
                let digest = self.contents.digest(term, docs[ordinal as usize], &tokens);
                let sum = &mut digests[ordinal as usize];
                *sum = sum.wrapping_add(digest);
            }
            Ok(())
        })?;
        let analysed = docs.into_iter().zip(lengths).zip(digests);
        let analysed = analysed.map(|((doc, lengths), digest)| Analysed {
            doc,
            lengths,
            digest,
        });
        Ok(AnalysedRun {
            documents: analysed.collect(),
            faults,
        })
    }

    /// Tells where lists and documents differ, unless something else is wrong, from which that
    /// would follow.
    pub(crate) fn compare_contents(&mut self) {
        if !self.findings.is_empty() {
            return;
        }
        let different: Vec<(DocId, DocId)> = self.contents.different().collect();
        self.find_all(different.into_iter().map(|(first, last)| {
            format!(
                "documents {first} to {last}: expected the postings, positions and phrase filters that their \
                 sources give, got others in the lists"
            )
        }));
    }
}

/// Reads a source as it was read when it came.
fn parse_again(stored: StoredDocument) -> Result<Document> {
    if stored.id_in_source {
        Document::parse(&stored.source)
    } else {
        Document::parse_as(Some(stored.id), &stored.source)
    }
}

impl AnalysisRun {
    /// One that takes about so much memory.
    fn within(bytes: usize) -> AnalysisRun {
        let run_bytes = bytes / BYTES_PER_SOURCE_BYTE / RUNS;
        AnalysisRun {
            runs: Vec::new(),
            bytes: 0,
            total: 0,
            run_bytes: run_bytes.min(RUN_BYTES_MAX),
            has_long: false,
        }
    }

    fn push(&mut self, doc: DocId, document: Document) {
        let full = |run: &Vec<_>| run.len() >= RUN_DOCUMENTS || self.bytes >= self.run_bytes;
        if self.runs.last().is_none_or(full) {
            self.runs.push(Vec::new());
            self.bytes = 0;
        }
        self.bytes += document.source.len();
        self.total += document.source.len();
        self.has_long |= document.source.len() > LONG_RUNS * self.run_bytes;
        if let Some(run) = self.runs.last_mut() {
            run.push((doc, document));
        }
    }

    fn is_full(&self) -> bool {
        self.runs.len() > RUNS || self.total >= RUNS * self.run_bytes
    }
}

/// The norms of all fields, in the order of documents.
struct NormSequence<'a> {
    tables: &'a DocumentTables,
    pages: Pages<'a>,
    cursors: HashMap<FieldId, NormCursor>,
}

impl<'a> NormSequence<'a> {
    fn new(shared: &'a Shared, tables: &'a DocumentTables) -> NormSequence<'a> {
        NormSequence {
            tables,
            pages: Pages::new(&shared.pool),
            cursors: HashMap::new(),
        }
    }

    /// Compares the norms of a document with those of these field lengths. The statistics count all
    /// norms, so they show that it has no others.
    fn compare(&mut self, doc: DocId, lengths: &FieldLengths) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        for (field, length) in lengths {
            let tables = self.tables;
            let cursor = self.cursors.entry(*field);
            let cursor = cursor.or_insert_with(|| tables.norm_cursor(*field));
            self.pages.trim();
            let expected = length_to_norm(*length);
            match finish(&mut self.pages, |pages| cursor.norm(doc, pages)) {
                Ok(norm) if norm == expected => {}
                Ok(norm) => faults.push(format!(
                    "document {doc}: expected norm {expected} of field {field}, got {norm}"
                )),
                // A page that does not prove itself was told before.
                Err(Error::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(faults)
    }
}
