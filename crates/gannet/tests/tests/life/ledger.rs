//! The expected content of an index: every document, with the operation that brought it and the one
//! that ended it.
//!
//! So a state is told by three numbers, and documents need no undoing. Documents of operations up
//! to `sequence` are there, and those that ended up to it are not. The first `forgotten` of the
//! ended no longer count in the statistics, since a sweep of a vacuum took them out. Sweeps take
//! out what was deleted before they began, so always the first; how many is all that the ledger has
//! to be told by the index.

use std::collections::HashMap;

use super::papers::Paper;
use gannet::Expected;
use gannet_testkit::oracle::model::{Field, Occurrence, Statistics, take};
use gannet_testkit::oracle::view::{Seen, View};
use gannet_testkit::random::FIELDS;

/// A document as it was written.
pub(super) struct Entry {
    pub(super) number: usize,
    pub(super) id: String,
    pub(super) source: String,
    pub(super) version: u64,
    pub(super) sequence: u64,
    fields: Vec<Vec<Occurrence>>,
    death: Option<Death>,
}

/// The operation that ended a document, and how many ended before it.
#[derive(Clone, Copy)]
struct Death {
    sequence: u64,
    order: u64,
}

/// A state after an atomic change, which a crash may bring back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) sequence: u64,
    next: usize,
    deaths: u64,
    /// Events of the device before the change began.
    pub(super) begun: usize,
}

/// A state that is asked later.
pub(super) struct Then {
    pub(super) sequence: u64,
    pub(super) forgotten: u64,
    pub(super) live: usize,
    pub(super) statistics: Vec<Statistics>,
}

pub(super) struct Ledger {
    fields: Vec<Field>,
    /// Of all that counts now.
    statistics: Vec<Statistics>,
    entries: Vec<Entry>,
    /// The numbers of the documents that live, by ID.
    newest: HashMap<String, usize>,
    pub(super) moments: Vec<Moment>,
    pub(super) forgotten: u64,
    /// So many are purged.
    pub(super) forgotten_at_opening: u64,
}

impl Ledger {
    pub(super) fn new() -> Ledger {
        Ledger {
            fields: FIELDS.iter().map(Field::new).collect(),
            statistics: vec![Statistics::default(); FIELDS.len()],
            entries: Vec::new(),
            newest: HashMap::new(),
            moments: vec![Moment {
                sequence: 0,
                next: 0,
                deaths: 0,
                begun: 0,
            }],
            forgotten: 0,
            forgotten_at_opening: 0,
        }
    }

    /// The state now.
    pub(super) fn moment(&self) -> Moment {
        *self.moments.last().expect("there is one always")
    }

    pub(super) fn sequence(&self) -> u64 {
        self.moment().sequence
    }

    /// The number of the next document.
    pub(super) fn next_number(&self) -> usize {
        self.moment().next
    }

    /// Documents that have ended and still count.
    pub(super) fn dead(&self) -> u64 {
        self.moment().deaths - self.forgotten
    }

    pub(super) fn deaths(&self) -> u64 {
        self.moment().deaths
    }

    pub(super) fn live(&self) -> usize {
        self.newest.len()
    }

    /// The document that lives with this ID.
    pub(super) fn get(&self, id: &str) -> Option<&Entry> {
        self.newest.get(id).map(|number| self.entry(*number))
    }

    /// A document that was not purged.
    pub(super) fn entry(&self, number: usize) -> &Entry {
        let place = self.entries.binary_search_by_key(&number, |e| e.number);
        &self.entries[place.expect("an entry")]
    }

    /// All documents that live, in the order of their numbers.
    pub(super) fn living(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.death.is_none())
    }

    /// The first document of a batch that does not meet what it expects: its ID, and what there is.
    pub(super) fn conflict(&self, batch: &[Paper]) -> Option<(String, String)> {
        let mut written: HashMap<&str, (u64, u64)> = HashMap::new();
        for paper in batch {
            let id = paper.id();
            let stored = self.get(id).map(|entry| (entry.version, entry.sequence));
            // The number of an operation that is still to come is not known.
            let found = written.get(id).copied().or(stored);
            if !paper
                .expected
                .is_none_or(|expected| is_met(expected, found))
            {
                return Some((id.to_owned(), describe(found)));
            }
            written.insert(id, (found.map_or(1, |(version, _)| version + 1), 0));
        }
        None
    }

    /// Writes a batch; gives how many documents were replaced.
    pub(super) fn write(&mut self, batch: &[Paper], begun: usize) -> u64 {
        let Moment { sequence, next, .. } = self.moment();
        let last = sequence + batch.len() as u64;
        let mut deaths = self.deaths();
        for (ordinal, paper) in batch.iter().enumerate() {
            let old = self.end(paper.id(), last, &mut deaths);
            let fields = take(&mut self.fields, &paper.document);
            count(&mut self.statistics, &fields);
            let number = next + ordinal;
            self.newest.insert(paper.id().to_owned(), number);
            self.entries.push(Entry {
                number,
                id: paper.id().to_owned(),
                source: paper.source.clone(),
                version: old.map_or(1, |version| version + 1),
                sequence: sequence + 1 + ordinal as u64,
                fields,
                death: None,
            });
        }
        let replaced = deaths - self.deaths();
        self.note(last, next + batch.len(), deaths, begun);
        replaced
    }

    /// Deletes what lives of these IDs as one batch; gives how many documents that were.
    pub(super) fn delete<'i>(&mut self, ids: impl Iterator<Item = &'i str>, begun: usize) -> u64 {
        let Moment { sequence, next, .. } = self.moment();
        let mut live: Vec<&str> = ids.filter(|id| self.newest.contains_key(*id)).collect();
        live.sort_unstable();
        live.dedup();
        let last = sequence + live.len() as u64;
        let mut deaths = self.deaths();
        for id in &live {
            self.end(id, last, &mut deaths);
        }
        if !live.is_empty() {
            self.note(last, next, deaths, begun);
        }
        live.len() as u64
    }

    /// Ends the document that lives with an ID; gives its version.
    fn end(&mut self, id: &str, sequence: u64, deaths: &mut u64) -> Option<u64> {
        let number = self.newest.remove(id)?;
        let place = self.entries.binary_search_by_key(&number, |e| e.number);
        let entry = &mut self.entries[place.expect("an entry")];
        entry.death = Some(Death {
            sequence,
            order: *deaths,
        });
        *deaths += 1;
        Some(entry.version)
    }

    fn note(&mut self, sequence: u64, next: usize, deaths: u64, begun: usize) {
        self.moments.push(Moment {
            sequence,
            next,
            deaths,
            begun,
        });
    }

    /// A vacuum has taken out the first documents that ended.
    pub(super) fn forget(&mut self, forgotten: u64) {
        let gone = self.forgotten..forgotten;
        let died = |entry: &&Entry| entry.death.is_some_and(|death| gone.contains(&death.order));
        for entry in self.entries.iter().filter(died) {
            for (statistics, occurrences) in self.statistics.iter_mut().zip(&entry.fields) {
                statistics.forget(occurrences);
            }
        }
        self.forgotten = forgotten;
    }

    /// Goes back to the state with this sequence number, if there was one.
    pub(super) fn rewind(&mut self, sequence: u64) -> bool {
        let Some(place) = self.moments.iter().position(|m| m.sequence == sequence) else {
            return false;
        };
        self.moments.truncate(place + 1);
        self.entries.retain(|entry| entry.sequence <= sequence);
        for entry in &mut self.entries {
            entry.death = entry.death.filter(|death| death.sequence <= sequence);
        }
        let living = self.entries.iter().filter(|entry| entry.death.is_none());
        self.newest = living.map(|e| (e.id.clone(), e.number)).collect();
        true
    }

    /// Counts anew after going back; what was forgotten before is never asked for again, nor are
    /// moments before `first`.
    pub(super) fn settle(&mut self, forgotten: u64, first: u64) {
        let is_gone = |entry: &Entry| entry.death.is_some_and(|death| death.order < forgotten);
        self.entries.retain(|entry| !is_gone(entry));
        self.moments.retain(|moment| moment.sequence >= first);
        (self.forgotten, self.forgotten_at_opening) = (forgotten, forgotten);
        self.statistics = vec![Statistics::default(); self.fields.len()];
        for entry in &self.entries {
            count(&mut self.statistics, &entry.fields);
        }
    }

    /// The state now, to be asked later.
    pub(super) fn then(&self) -> Then {
        Then {
            sequence: self.sequence(),
            forgotten: self.forgotten,
            live: self.live(),
            statistics: self.statistics.clone(),
        }
    }

    /// Returns the documents that queries see now.
    pub(super) fn view(&self) -> View<'_> {
        View {
            fields: &self.fields,
            statistics: &self.statistics,
            documents: self.seen(self.sequence(), self.forgotten),
        }
    }

    /// Returns the documents that queries saw then.
    pub(super) fn view_then<'a>(&'a self, then: &'a Then) -> View<'a> {
        View {
            fields: &self.fields,
            statistics: &then.statistics,
            documents: self.seen(then.sequence, then.forgotten),
        }
    }

    fn seen(&self, sequence: u64, forgotten: u64) -> Vec<Seen<'_>> {
        let written = self.entries.iter().take_while(|e| e.sequence <= sequence);
        let counted = written.filter(|entry| entry.death.is_none_or(|d| d.order >= forgotten));
        let seen = counted.map(|entry| Seen {
            number: entry.number,
            is_live: entry.death.is_none_or(|death| death.sequence > sequence),
            fields: &entry.fields,
        });
        seen.collect()
    }
}

/// The statistics of a view if its deleted documents were left out of the lists, and the totals not
/// yet.
pub(super) fn swept(view: &View<'_>) -> Vec<Statistics> {
    let mut all = vec![Statistics::default(); view.fields.len()];
    for document in view.documents.iter().filter(|document| document.is_live) {
        count(&mut all, document.fields);
    }
    for (swept, before) in all.iter_mut().zip(view.statistics) {
        swept.totals = before.totals;
    }
    all
}

fn count(statistics: &mut [Statistics], fields: &[Vec<Occurrence>]) {
    for (statistics, occurrences) in statistics.iter_mut().zip(fields) {
        statistics.count(occurrences);
    }
}

/// Returns true if the found version and number of an operation meet an expectation.
pub(super) fn is_met(expected: Expected, found: Option<(u64, u64)>) -> bool {
    match expected {
        Expected::Absent => found.is_none(),
        Expected::Version(version) => found.is_some_and(|found| found.0 == version),
        Expected::Sequence(sequence) => found.is_some_and(|found| found.1 == sequence),
    }
}

/// Describes the found version in the words of a conflict.
pub(super) fn describe(found: Option<(u64, u64)>) -> String {
    match found {
        None => "none".to_owned(),
        Some((version, sequence)) => format!("version {version} of operation {sequence}"),
    }
}
