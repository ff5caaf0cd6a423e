//! Sub-indexes that are merged by a rule: No-Merge, Immediate Merge, Geometric Partitioning,
//! Logarithmic Merge.
//!
//! A flush is merged with the newest sub-indexes that the rule names, none or some, all in one go,
//! into a new one; those are removed. A query reads a list's parts in all sub-indexes in one batch.
//! With S bytes a flush, n flushes write
//!
//! | | bytes written |
//! |---|---|
//! | No-Merge (Buettcher, Clarke, 2005) | n S |
//! | Immediate Merge (Lester, Zobel, Williams, 2004) | n (n + 1) / 2 S |
//! | Geometric Partitioning (Lester, Moffat, Zobel, 2005) | sum over i of (i mod r^(v + 1)) S, r^v the largest power that divides i |
//! | Logarithmic Merge (Buettcher, Clarke, 2005) | sum over i of 2^v S, 2^v the largest power that divides i |
//!
//! and a vocabulary for each sub-index. Invariants: sub-indexes are ordered by age, the oldest
//! first, and so are the documents in them; of a generation or partition there is one at most.

use std::sync::Arc;

use gannet::Result;
use gannet_ssd::Work;

use super::coding::{Coded, Coding, Postings};
use super::files::{FileNumber, Files};
use super::flush::{Flush, TermNumber};
use super::run_file::{Keys, Run, RunReader, RunWriter, part};
use super::strategy::{Kept, Lists, Part};

/// When sub-indexes are merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Never.
    Never,
    /// All, at every flush.
    AtOnce,
    /// Two of a generation become one of the next.
    Logarithmic,
    /// Partition k holds (r - 1) r^(k - 1) times the postings of the buffer at most.
    Geometric {
        /// r.
        ratio: u64,
        /// Postings that the buffer holds at most.
        buffer: u64,
    },
}

/// Lists of a flush that are to be merged in, by term.
pub type Fresh<'a> = Vec<(TermNumber, &'a gannet::offload::Fragment)>;

/// Takes a list out of a merge, for it belongs elsewhere. Tells whether it did.
pub type TakeOut<'t> = dyn FnMut(TermNumber, &Coded) -> Result<bool> + 't;

/// The sub-indexes.
pub struct SubIndexes {
    files: Arc<Files>,
    keys: Keys,
    coding: Coding,
    rule: Rule,
    runs: Vec<Aged>,
    next_file: FileNumber,
    /// Files are numbered so far apart.
    file_step: FileNumber,
    vocabulary_written: u64,
}

/// A sub-index and its generation or partition.
struct Aged {
    run: Run,
    age: u32,
    postings: u64,
}

impl SubIndexes {
    /// None so far. Files are numbered from `first_file` on, each `file_step` higher.
    pub fn new(
        files: Arc<Files>,
        keys: Keys,
        coding: Coding,
        rule: Rule,
        [first_file, file_step]: [FileNumber; 2],
    ) -> SubIndexes {
        SubIndexes {
            files,
            keys,
            coding,
            rule,
            runs: Vec::new(),
            next_file: first_file,
            file_step,
            vocabulary_written: 0,
        }
    }

    /// Merges new lists in.
    pub fn merge(&mut self, fresh: &Fresh<'_>, take_out: &mut TakeOut<'_>) -> Result<()> {
        let postings = fresh
            .iter()
            .map(|(_, fragment)| u64::from(fragment.count))
            .sum();
        let (first, age) = self.merged(postings);
        let old: Vec<Aged> = self.runs.drain(first..).collect();
        let mut readers: Vec<RunReader<'_>> = old
            .iter()
            .map(|old| RunReader::new(&self.files, &old.run))
            .collect();
        let mut writer = RunWriter::new(&self.files, self.next_file, &self.keys)?;
        self.next_file += self.file_step;
        let mut fresh = fresh.iter().peekable();
        let mut postings = 0;
        loop {
            let terms = readers.iter().filter_map(RunReader::term);
            let Some(term) = terms.chain(fresh.peek().map(|next| next.0)).min() else {
                break;
            };
            let mut list = Coded::default();
            for reader in readers
                .iter_mut()
                .filter(|reader| reader.term() == Some(term))
            {
                if let Some(next) = reader.take()? {
                    list = joined(self.coding, list, next)?;
                }
            }
            if let Some((_, fragment)) = fresh.next_if(|next| next.0 == term) {
                self.coding.append(&mut list, &Postings::of(fragment)?)?;
            }
            if !take_out(term, &list)? {
                postings += u64::from(list.summary.count);
                writer.push(term, &list)?;
            }
        }
        let (run, vocabulary) = writer.finish()?;
        self.vocabulary_written += vocabulary;
        self.runs.push(Aged { run, age, postings });
        old.iter()
            .try_for_each(|old| self.files.remove(old.run.file))
    }

    /// The first sub-index that is merged, and the generation or partition of what comes of it.
    fn merged(&self, fresh: u64) -> (usize, u32) {
        let (mut first, mut age) = (self.runs.len(), 0);
        match self.rule {
            Rule::Never => {}
            Rule::AtOnce => first = 0,
            Rule::Logarithmic => {
                while first > 0 && self.runs[first - 1].age == age {
                    (first, age) = (first - 1, age + 1);
                }
            }
            Rule::Geometric { ratio, buffer } => {
                let (mut postings, mut room) = (fresh, (ratio - 1) * buffer);
                loop {
                    if first > 0 && self.runs[first - 1].age == age {
                        first -= 1;
                        postings += self.runs[first].postings;
                    }
                    if postings <= room {
                        break;
                    }
                    (age, room) = (age + 1, room * ratio);
                }
            }
        }
        (first, age)
    }

    /// What lists of some terms have in sub-indexes: which list, and where.
    pub fn places(&self, terms: &[TermNumber]) -> Vec<(usize, &Run, super::run_file::Entry)> {
        let mut found = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            let entries = self.runs.iter().filter_map(|aged| {
                let entry = aged.run.find(*term)?;
                Some((at, &aged.run, *entry))
            });
            found.extend(entries);
        }
        found
    }
}

/// A list with the postings of another behind.
fn joined(coding: Coding, mut list: Coded, next: Coded) -> Result<Coded> {
    if list.summary.count == 0 {
        return Ok(next);
    }
    let mut postings = Postings::default();
    coding.decode(&next.summary, &next.docs, &mut postings)?;
    postings.positions = next.positions;
    coding.append(&mut list, &postings)?;
    Ok(list)
}

impl Lists for SubIndexes {
    fn coding(&self) -> Coding {
        self.coding
    }

    fn add(&mut self, flush: &Flush) -> Result<()> {
        let fresh = flush.terms.iter().map(|(term, fragment)| (*term, fragment));
        self.merge(&fresh.collect(), &mut |_, _| Ok(false))
    }

    fn read(&self, terms: &[TermNumber], with_positions: bool) -> Result<Vec<Vec<Part>>> {
        let found = self.places(terms);
        let places = found
            .iter()
            .map(|(_, run, entry)| run.place(entry, with_positions));
        let read = self.files.read(&places.collect::<Vec<_>>())?;
        let mut lists = vec![Vec::new(); terms.len()];
        for ((at, _, entry), bytes) in found.into_iter().zip(read) {
            lists[at].push(part(entry.summary, bytes));
        }
        Ok(lists)
    }

    fn work(&self) -> Work {
        self.files.work()
    }

    fn kept(&self) -> Result<Kept> {
        let vocabularies = self.runs.iter().map(|aged| aged.run.vocabulary_bytes());
        Ok(Kept {
            file_bytes: self.files.bytes()?,
            vocabulary_bytes: vocabularies.sum(),
            written_for_vocabulary: self.vocabulary_written,
            ..Kept::default()
        })
    }
}
