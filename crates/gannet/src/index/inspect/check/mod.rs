//! Checking a whole index: every page, then every tree, list, document and count against every
//! other.
//!
//! Two things are looked at. First whether each page is what was written: all pages of all zones
//! are read past the frame pool and must prove themselves, whoever refers to them. Then whether
//! what refers to a page agrees with what is in it, so that a page that proves itself and yet is
//! wrong is found too.
//!
//! | kind of page | read and proved by | compared with what refers to it by |
//! |---|---|---|
//! | root slots | `check_slots` | the root record that the newest names is decoded |
//! | root record, with zone table, schema, compression dictionaries, last addresses | `root_record` | all below |
//! | log, documents moved out of it | `prove_zone` | `documents`: record, ID, version, source; `contents` |
//! | log behind the root | the replay of the opening | `notes`: pages that it does not take |
//! | nodes: dictionary, delta postings, external IDs | `prove_zone` | `btree::check`, `references` |
//! | nodes: columns | `prove_zone` | `columns::check`, `columns::compare`, `references` |
//! | postings: heads, index pages, docs pages | `prove_zone` | `postings::check` |
//! | postings: positions, phrase filters | `prove_zone` | `postings::check`, `contents` |
//! | tables: addresses | `prove_zone` | `documents` |
//! | tables: live set | `prove_zone` | `documents`, by the counts of the root |
//! | tables: norms | `prove_zone` | `documents`, `statistics`, and bounds in `postings::check` |
//! | tables: places of nodes | `prove_zone` | `btree::check` |
//!
//! The owner of each kind says which pages are referred to, and which walk compares them (see
//! `owners`).
//!
//! A page that does not prove itself is read once, however much refers to it. If a device gives
//! pages from copies, `Device::check_stored` looks at their originals.
//!
//! Pages that nothing refers to are proved too, since a backup copies them; but not older root
//! records, which it does not.

mod columns;
mod contents;
mod documents;
mod findings;
mod ids;
mod lists;
mod notes;
mod references;
mod zones;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::analysis::FieldId;
use crate::base::{Error, Result};
use crate::cache::{DamageNotes, Pages, finish};
use crate::index::Index;
use crate::index::owners::{RootParts, Walks, decode_root, owners};
use crate::index::state::Shared;
use crate::index::state::State;
use crate::postings::DeadDocs;
use crate::storage::{
    Found, LogReach, PageKind, RootSlot, SlotFaults, Store, Zone, ZoneTable, check_slots,
    find_root, has_log_behind,
};
use contents::DigestSums;
use findings::Findings;
use references::References;

/// The results of a check.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// The faults, one sentence each; empty if the index is whole. A damaged page is one finding
    /// that names the references to it.
    pub findings: Vec<String>,
    /// Possible faults of the last write, one sentence each: damage, or only a write that a crash
    /// cut short. The two look alike, so it is no finding. After an index was closed there is none.
    pub notes: Vec<String>,
    /// Pages read and proved, those to which nothing refers any more too.
    pub pages: u64,
    /// Entries of terms checked: a term with delta postings has two. Those of the log that a reader
    /// has taken in count too.
    pub terms: u64,
    /// Documents read and checked.
    pub documents: u64,
    /// External IDs checked.
    pub ids: u64,
    /// Values of columns checked, those of deleted documents too.
    pub values: u64,
}

struct Check<'a> {
    shared: &'a Shared,
    state: &'a State,
    zones: &'a ZoneTable,
    /// The parts of owners in the root record; nothing if it cannot be read.
    parts: RootParts,
    report: CheckReport,
    findings: Findings,
    references: References<'a>,
    /// The documents that are deleted; nothing if that cannot be read.
    dead: Option<DeadDocs>,
    /// Tokens in lists, by field.
    tokens: HashMap<FieldId, u64>,
    contents: DigestSums,
    /// Pages that did not prove themselves, which are read once.
    damaged: DamageNotes<'a>,
}

/// The state on flash at one moment.
struct Moment {
    state: Arc<State>,
    zones: ZoneTable,
    slots: SlotFaults,
    /// Nothing if the index was never written.
    root: Option<RootSlot>,
    /// The end of the log behind it.
    reach: LogReach,
}

impl Index {
    /// Reads everything on flash and compares it, as it is after a checkpoint, which comes first;
    /// others may write meanwhile.
    pub fn check(&self, progress: &dyn Fn(&str, u64)) -> Result<CheckReport> {
        let moment = if self.is_writable() {
            // What a flush takes and gives later is not to be counted.
            self.after_flush(|writer| {
                writer.checkpoint()?;
                Moment::now(self.shared())
            })?
        } else {
            Moment::of_reader(self.shared())?
        };
        let findings = self.shared().store.device().check_stored()?;
        if !findings.is_empty() {
            // What is missing cannot be read, and nothing without it.
            return Ok(CheckReport {
                findings,
                ..CheckReport::default()
            });
        }
        let bytes = DeadDocs::memory_bytes(moment.state.below);
        let _memory = self
            .shared()
            .budget
            .reserve("the live set of a check", bytes)?;
        let mut check = Check {
            shared: self.shared(),
            state: &moment.state,
            zones: &moment.zones,
            parts: RootParts::default(),
            report: CheckReport::default(),
            findings: Findings::default(),
            references: References::new(&moment.zones),
            dead: None,
            tokens: HashMap::new(),
            contents: DigestSums::new(moment.state.below),
            damaged: self.shared().pool.note_damage(),
        };
        check.run(&moment, progress)?;
        Ok(CheckReport {
            findings: check.findings.into_sentences(),
            ..check.report
        })
    }
}

impl Moment {
    fn now(shared: &Shared) -> Result<Moment> {
        let device = shared.store.device();
        Ok(Moment {
            state: shared.published.get(),
            zones: shared.store.zones().clone(),
            slots: check_slots(device)?,
            root: match find_root(device, Path::new("the index"))? {
                Found::Root(slot) => Some(slot),
                Found::Nothing | Found::Unfinished(_) => None,
            },
            reach: LogReach::Written,
        })
    }

    fn of_reader(shared: &Shared) -> Result<Moment> {
        // Nobody moves to another root meanwhile.
        let reading = shared.reading();
        Ok(Moment {
            state: shared.published.get(),
            zones: shared.store.zones().clone(),
            slots: slots_beside_writer(shared)?,
            root: reading.as_ref().map(|root| root.slot.clone()),
            reach: reading
                .as_ref()
                .map_or(LogReach::Written, |root| root.reach),
        })
    }
}

/// Checks the root slots. A writer of another process may be writing one when it is read, so it is
/// read again.
fn slots_beside_writer(shared: &Shared) -> Result<SlotFaults> {
    let device = shared.store.device();
    let faults = check_slots(device)?;
    if faults.damaged.is_empty() && faults.torn.is_empty() {
        Ok(faults)
    } else {
        check_slots(device)
    }
}

impl Check<'_> {
    fn run(&mut self, moment: &Moment, progress: &dyn Fn(&str, u64)) -> Result<()> {
        self.find_all(moment.slots.damaged.clone());
        self.report.notes.extend(moment.slots.torn.clone());
        self.notes(moment.reach)?;
        self.pages(progress)?;
        let has_all_ids = self.root_record(moment)?;
        if !self.refer_to_pages(moment.root.as_ref()) {
            // What lies outside of all zones cannot be read, and nothing without it.
            return Ok(());
        }
        self.read_dead()?;
        self.page_contents(progress)?;
        self.ids(has_all_ids, progress)?;
        self.live_bytes();
        self.statistics()?;
        self.compare_contents();
        Ok(())
    }

    /// Every owner compares the content of its pages.
    fn page_contents(&mut self, progress: &dyn Fn(&str, u64)) -> Result<()> {
        let (shared, state, parts) = (self.shared, self.state, self.parts.clone());
        for owner in owners() {
            let mut walks = CheckWalks {
                check: self,
                progress,
            };
            let faults = owner.check(shared, state, &parts, &mut walks)?;
            self.find_all(faults);
        }
        Ok(())
    }

    fn find(&mut self, finding: String) {
        self.findings.add(finding);
    }

    fn find_all(&mut self, findings: impl IntoIterator<Item = String>) {
        findings.into_iter().for_each(|finding| self.find(finding));
    }

    /// Every page of every zone proves itself, but for those of root records.
    fn pages(&mut self, progress: &dyn Fn(&str, u64)) -> Result<()> {
        let copied = |(_, zone): &(_, &Zone)| zone.kind != PageKind::Root;
        for (number, zone) in self.zones.iter().filter(copied) {
            let found = self.shared.store.prove_zone(number, zone)?;
            for (page, error) in &found {
                self.damaged.add(*page);
                self.findings.add_page(error);
            }
            self.report.pages += zone.pages as u64;
            progress("pages", self.report.pages);
        }
        Ok(())
    }

    /// Checks that the root record is whole. Returns true if the runs of external IDs have all that
    /// was written: the log behind the root may add some, and take some away without a document in
    /// their place. The zones of the open index include what it replayed, so the root is looked at
    /// as an opening does.
    fn root_record(&mut self, moment: &Moment) -> Result<bool> {
        let Some(slot) = &moment.root else {
            return Ok(true);
        };
        let device = self.shared.store.device();
        let store = Store::new(Arc::clone(device), slot.identity, ZoneTable::default());
        self.report.pages += slot.root.page_count() as u64;
        let bytes = store.read_span(slot.root, PageKind::Root);
        match bytes.and_then(|bytes| decode_root(&bytes)) {
            Ok(record) => {
                *store.zones() = record.zones;
                self.parts = record.parts;
                let start = record.covered.log_start;
                Ok(!has_log_behind(&store, start, moment.reach)?)
            }
            Err(error @ Error::Damaged { .. }) => {
                self.find(format!("the root record: {error}"));
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The live set, whose counts must be those of the root.
    fn read_dead(&mut self) -> Result<()> {
        let (tables, below) = (&self.state.tables, self.state.below);
        let mut pages = Pages::new(&self.shared.pool);
        let Some(bytes) = self.unless_damaged(tables.deletions(below, &mut pages))? else {
            return Ok(());
        };
        let dead = DeadDocs::new(&bytes);
        let counts = [dead.count(), below as u64 - dead.count()];
        let expected = [tables.deleted_count(), self.state.documents];
        if counts != expected {
            self.find(format!(
                "live set: expected {expected:?} deleted and live documents, got {counts:?}"
            ));
        }
        self.dead = Some(dead);
        Ok(())
    }

    /// Nothing where something was damaged, which is noted; a page that does not prove itself was
    /// noted before.
    fn unless_damaged<T>(&mut self, read: Result<T>) -> Result<Option<T>> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(error @ Error::Damaged { .. }) => {
                self.find(error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Compares the statistics of each field with lists and norms, and with what a vacuum under way
    /// has taken out of these.
    fn statistics(&mut self) -> Result<()> {
        let state = self.state;
        for (field, counted) in (0..).zip(state.statistics.iter()) {
            let taken = state.vacuumed.taken.get(field as usize);
            let taken = taken.copied().unwrap_or_default();
            let tokens = self.tokens.get(&field).copied().unwrap_or(0) + taken.total_length;
            let Some(documents) = self.unless_damaged(self.with_norm(field))? else {
                continue;
            };
            let documents = taken.documents + documents;
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

    /// Returns the number of documents that have a norm in a field.
    fn with_norm(&self, field: FieldId) -> Result<u64> {
        let mut norms = self.state.tables.norm_cursor(field);
        let (mut documents, mut pages) = (0, Pages::new(&self.shared.pool));
        for doc in 0..self.state.below {
            documents += u64::from(finish(&mut pages, |pages| norms.norm(doc, pages))? != 0);
            pages.trim();
        }
        Ok(documents)
    }
}

/// The walks of a check, for owners of pages.
struct CheckWalks<'c, 'a> {
    check: &'c mut Check<'a>,
    progress: &'c dyn Fn(&str, u64),
}

impl Walks for CheckWalks<'_, '_> {
    fn lists(&mut self) -> Result<()> {
        self.check.terms(self.progress)?;
        self.check.buffers()
    }

    fn columns(&mut self) -> Result<()> {
        self.check.columns(self.progress)
    }

    fn documents(&mut self) -> Result<()> {
        self.check.addresses()?;
        self.check.documents(self.progress)
    }
}
