//! Checking a whole index: every tree, list, document and count against every other.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::Index;
use super::ids::IdEntry;
use super::root;
use super::shared::Shared;
use super::state::State;
use crate::analysis::{FieldId, split_term_key};
use crate::base::{DocId, Error, Result, Span};
use crate::cache::{Pages, Step, Stop, finish};
use crate::dictionary::check as check_tree;
use crate::documents::{Address, stored};
use crate::postings::{TermEntry, TermTree, check as check_list};
use crate::storage::{Found, PageKind, Store, ZoneTable, find_root, has_log_behind};

/// The most findings that are listed.
const FINDINGS_MAX: usize = 100;

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// What is wrong, one sentence each; empty if the index is whole.
    pub findings: Vec<String>,
    /// Entries of terms checked: a term with recent postings has two.
    pub terms: u64,
    /// Documents read and checked.
    pub documents: u64,
    /// External IDs checked.
    pub ids: u64,
}

struct Check<'a> {
    shared: &'a Shared,
    state: &'a State,
    report: CheckReport,
    /// Whether the tree of external IDs has all that was written.
    has_all_ids: bool,
    live_postings: HashMap<u32, u64>,
    live_documents: HashMap<u32, u64>,
    /// Tokens in lists, by field.
    tokens: HashMap<FieldId, u64>,
}

impl Index {
    /// Reads everything on flash and compares it, as it is after a checkpoint, which comes first; others may write meanwhile.
    pub fn check(&self, progress: &dyn Fn(&str, u64)) -> Result<CheckReport> {
        // What a flush takes and gives later is not to be counted.
        let now = || {
            (
                self.shared().published.get(),
                self.shared().store.zones().clone(),
            )
        };
        let (state, zones) = match self.is_writable() {
            true => self.with_writer(|writer| writer.checkpoint().map(|()| now()))?,
            false => now(),
        };
        let mut check = Check {
            shared: self.shared(),
            state: &state,
            report: CheckReport::default(),
            has_all_ids: has_all_ids(self.shared())?,
            live_postings: HashMap::new(),
            live_documents: HashMap::new(),
            tokens: HashMap::new(),
        };
        check.terms(progress)?;
        check.addresses()?;
        check.documents(progress)?;
        check.ids(progress)?;
        if state.buffers.terms() == 0 {
            check.zones(&zones);
            check.statistics()?;
        }
        Ok(check.report)
    }
}

impl Check<'_> {
    fn find(&mut self, finding: String) {
        if self.report.findings.len() < FINDINGS_MAX {
            self.report.findings.push(finding);
        }
    }

    /// The dictionary, and every list in it.
    fn terms(&mut self, progress: &dyn Fn(&str, u64)) -> Result<()> {
        for tree in TermTree::ALL {
            self.lists(tree, progress)?;
        }
        Ok(())
    }

    /// One tree of the dictionary, and every list in it.
    fn lists(&mut self, which: TermTree, progress: &dyn Fn(&str, u64)) -> Result<()> {
        let tree = self.state.terms.tree(which);
        let mut pages = Pages::new(&self.shared.pool);
        let mut lists = Pages::new(&self.shared.pool);
        let (mut terms, mut faults, mut live) = (self.report.terms, Vec::new(), Vec::new());
        let mut tokens = std::mem::take(&mut self.tokens);
        let mut failed = None;
        let mut visit = |key: &[u8], value: &[u8]| {
            terms += 1;
            if terms % 10_000 == 0 {
                progress("terms", terms);
            }
            if let (Ok((field, _)), Ok(entry)) = (split_term_key(key), TermEntry::decode(value)) {
                *tokens.entry(field).or_default() += entry.total_frequency();
            }
            match check_entry(self.state, (key, value), which, &mut lists, &mut live) {
                Ok(found) => faults.extend(found.into_iter().map(|f| name_term(key, &f))),
                Err(error) => failed = Some(error),
            }
        };
        let found = check_tree(tree, &mut pages, &mut visit)?;
        if let Some(error) = failed {
            return Err(error);
        }
        self.report.terms = terms;
        self.tokens = tokens;
        for span in live {
            *self.live_postings.entry(span.zone).or_default() += span.length as u64;
        }
        found
            .into_iter()
            .chain(faults)
            .for_each(|finding| self.find(finding));
        Ok(())
    }

    /// Every page of addresses, the deleted documents' too.
    fn addresses(&mut self) -> Result<()> {
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

    /// Every live document: its record is where the table says and has its doc ID.
    fn documents(&mut self, progress: &dyn Fn(&str, u64)) -> Result<()> {
        let state = self.state;
        let mut live = 0;
        for doc in 0..state.below {
            if doc % 10_000 == 0 {
                progress("documents", doc as u64);
            }
            let mut pages = Pages::new(&self.shared.pool);
            match finish(&mut pages, |pages| read_document(state, doc, pages)) {
                Ok(None) => {}
                Ok(Some(address)) => {
                    live += 1;
                    let bytes = self.live_documents.entry(address.zone).or_default();
                    *bytes += address.length as u64;
                }
                Err(error @ Error::Damaged { .. }) => {
                    live += 1;
                    self.find(format!("document {doc}: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
        self.report.documents = live;
        if live != state.documents {
            let expected = state.documents;
            self.find(format!("expected {expected} live documents, got {live}"));
        }
        Ok(())
    }

    /// Every external ID leads to a live document that has this ID.
    fn ids(&mut self, progress: &dyn Fn(&str, u64)) -> Result<()> {
        let state = self.state;
        let mut pages = Pages::new(&self.shared.pool);
        let mut documents = Pages::new(&self.shared.pool);
        let (mut ids, mut faults, mut failed) = (0, Vec::new(), None);
        let has_all = self.has_all_ids;
        let mut visit = |key: &[u8], value: &[u8]| {
            ids += 1;
            if ids % 10_000 == 0 {
                progress("ids", ids);
            }
            let checked = finish(&mut documents, |pages| {
                check_id(state, key, value, has_all, pages)
            });
            match checked {
                Ok(None) => {}
                Ok(Some(fault)) => faults.push(fault),
                Err(error @ Error::Damaged { .. }) => faults.push(error.to_string()),
                Err(error) => failed = Some(error),
            }
        };
        let found = check_tree(&state.ids, &mut pages, &mut visit)?;
        if let Some(error) = failed {
            return Err(error);
        }
        self.report.ids = ids;
        found
            .into_iter()
            .chain(faults)
            .for_each(|finding| self.find(finding));
        if has_all && ids != state.documents {
            let expected = state.documents;
            self.find(format!("expected {expected} external IDs, got {ids}"));
        }
        Ok(())
    }

    /// What the statistics count of each field against lists and norms, and what a vacuum under way has taken out of these.
    fn statistics(&mut self) -> Result<()> {
        let state = self.state;
        for (field, counted) in (0..).zip(state.statistics.iter()) {
            let taken = state.vacuumed.taken.get(field as usize);
            let taken = taken.copied().unwrap_or_default();
            let tokens = self.tokens.get(&field).copied().unwrap_or(0) + taken.total_length;
            let mut norms = state.tables.norm_cursor(field);
            let (mut documents, mut pages) = (taken.documents, Pages::new(&self.shared.pool));
            for doc in 0..state.below {
                documents += u64::from(finish(&mut pages, |pages| norms.norm(doc, pages))? != 0);
            }
            let expected = [counted.documents, counted.total_length];
            if expected != [documents, tokens] {
                self.find(format!(
                    "field {field}: expected {expected:?} documents and tokens, got {:?}",
                    [documents, tokens]
                ));
            }
        }
        Ok(())
    }

    /// The zone table's counts of live bytes against what was found.
    fn zones(&mut self, zones: &ZoneTable) {
        for (number, zone) in zones.iter() {
            let live = match zone.kind {
                PageKind::Postings => &self.live_postings,
                PageKind::Log | PageKind::Documents => &self.live_documents,
                _ => continue,
            };
            let found = live.get(&number).copied().unwrap_or(0);
            if found != zone.live {
                let expected = zone.live;
                self.find(format!(
                    "zone {number}: expected {expected} live bytes, got {found}"
                ));
            }
        }
    }
}

/// The log behind the root may add external IDs, and take some away without a document in their place. What the
/// open index knows of zones includes what it replayed, so the root is looked at as an opening does.
fn has_all_ids(shared: &Shared) -> Result<bool> {
    let device = shared.store.device();
    let Found::Root(slot) = find_root(device, Path::new("the index"))? else {
        return Ok(true);
    };
    let store = Store::new(Arc::clone(device), slot.identity, ZoneTable::default());
    let record = root::decode(&store.read_span(slot.root, PageKind::Root)?)?;
    *store.zones() = record.zones;
    let start = record.covered.log_start;
    Ok(!has_log_behind(&store, start, slot.log_reach())?)
}

fn name_term(key: &[u8], finding: &str) -> String {
    let term = String::from_utf8_lossy(key.get(2..).unwrap_or_default());
    format!("list of {term:?}: {finding}")
}

/// What is wrong with one list; notes where its chunks are.
fn check_entry(
    state: &State,
    (key, value): (&[u8], &[u8]),
    which: TermTree,
    pages: &mut Pages<'_>,
    live: &mut Vec<Span>,
) -> Result<Vec<String>> {
    let entry = match TermEntry::decode(value) {
        Ok(entry) => entry,
        Err(error) => return Ok(vec![error.to_string()]),
    };
    live.extend(entry.spans());
    let mut findings = check_list(&entry, pages)?;
    if entry.last().is_some_and(|last| last >= state.below) {
        let below = state.below;
        findings.push(format!(
            "names documents that do not exist: the index ends at {below}"
        ));
    }
    let terms = &state.terms;
    match finish(pages, |pages| terms.misplaced((key, value), which, pages)) {
        // Damage of a node is told when its tree is gone through.
        Err(Error::Damaged { .. }) => {}
        other => findings.extend(other?.map(str::to_owned)),
    }
    Ok(findings)
}

/// Where a document stands, if it lives.
fn read_document(state: &State, doc: DocId, pages: &mut Pages<'_>) -> Step<Option<Address>> {
    if !state.tables.is_live(doc, pages)? {
        return Ok(None);
    }
    let address = state.tables.address(doc, pages)?;
    stored(doc, &state.tables, &state.dictionaries, pages)?;
    Ok(Some(address))
}

fn check_id(
    state: &State,
    key: &[u8],
    value: &[u8],
    has_all: bool,
    pages: &mut Pages<'_>,
) -> Step<Option<String>> {
    let entry = IdEntry::decode(value)?;
    let id = String::from_utf8_lossy(key);
    if entry.doc >= state.below {
        let doc = entry.doc;
        return Ok(Some(format!(
            "ID {id:?} leads to document {doc}, which does not exist"
        )));
    }
    if !state.tables.is_live(entry.doc, pages)? {
        // An ID that was deleted since the last checkpoint still stands in the tree.
        return Ok(has_all.then(|| format!("ID {id:?} leads to a deleted document")));
    }
    let document = match stored(entry.doc, &state.tables, &state.dictionaries, pages) {
        // Damage was told when the documents were read.
        Err(Stop::Failed(Error::Damaged { .. })) => return Ok(None),
        other => other?,
    };
    let matches = document.id == id && document.version == entry.version;
    Ok((!matches).then(|| format!("ID {id:?} leads to a document with ID {:?}", document.id)))
}
