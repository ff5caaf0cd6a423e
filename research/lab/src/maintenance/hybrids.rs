//! The hybrids: long lists one way, short lists another.
//!
//! [`LongInPlace`] (HLM_NC; Buettcher, Clarke, Lushman, "Hybrid Index Maintenance for Growing Text
//! Collections", 2006): a list that has more than T postings in a merge is taken out of it and lies
//! in blocks from then on, non-contiguous; the others are merged logarithmically. What older
//! sub-indexes have of it stays before its blocks.
//!
//! [`LongMerged`] (SSD_Hybrid; Li, Chen, Li, Gu, Wen, "Efficient Online Index Maintenance for
//! SSD-based Information Retrieval Systems", 2012): a list that gets more than T postings in a
//! flush is merged at once from then on, into a sub-index of long lists; the others are not merged.
//! What came of it before stays before.
//!
//! Bytes are those of the parts: of lists below and above T, each by its own form.

use std::sync::Arc;

use gannet::Result;
use gannet_ssd::Work;

use super::blocks::Blocks;
use super::coding::{Coded, Coding, Postings};
use super::files::Files;
use super::flush::{Flush, TermNumber};
use super::merging::{Fresh, Rule, SubIndexes};
use super::run_file::Keys;
use super::strategy::{Kept, Lists, Part};

/// Long lists in place, short ones merged.
pub struct LongInPlace {
    merged: SubIndexes,
    blocks: Blocks,
    threshold: u64,
    is_long: Vec<bool>,
}

/// Long lists merged at once, short ones never.
pub struct LongMerged {
    short: SubIndexes,
    long: SubIndexes,
    threshold: u64,
    is_long: Vec<bool>,
}

impl LongInPlace {
    /// One without lists, for which lists of more than `threshold` postings are long.
    pub fn new(
        files: Arc<Files>,
        keys: Keys,
        coding: Coding,
        threshold: u64,
    ) -> Result<LongInPlace> {
        Ok(LongInPlace {
            is_long: vec![false; keys.len()],
            blocks: Blocks::new(Arc::clone(&files), 0, keys.len(), coding, 1)?,
            merged: SubIndexes::new(files, keys, coding, Rule::Logarithmic, [1, 1]),
            threshold,
        })
    }
}

impl Lists for LongInPlace {
    fn coding(&self) -> Coding {
        self.blocks.coding()
    }

    fn add(&mut self, flush: &Flush) -> Result<()> {
        let (long, short) = divided(flush, &self.is_long);
        let mut appended = Vec::with_capacity(long.len());
        for (term, fragment) in long {
            appended.push((term, Postings::of(fragment)?));
        }
        let (coding, threshold, is_long) = (self.coding(), self.threshold, &mut self.is_long);
        self.merged.merge(&short, &mut |term, list: &Coded| {
            // What is older than its blocks stays where it is.
            let moves = u64::from(list.summary.count) > threshold && !is_long[term as usize];
            if moves {
                is_long[term as usize] = true;
                let mut postings = Postings::default();
                coding.decode(&list.summary, &list.docs, &mut postings)?;
                postings.positions = list.positions.clone();
                appended.push((term, postings));
            }
            Ok(moves)
        })?;
        appended.sort_unstable_by_key(|(term, _)| *term);
        self.blocks.append(appended.into_iter().map(Ok))
    }

    fn read(&self, terms: &[TermNumber], with_positions: bool) -> Result<Vec<Vec<Part>>> {
        in_order([&self.merged, &self.blocks], terms, with_positions)
    }

    fn work(&self) -> Work {
        Lists::work(&self.merged)
    }

    fn kept(&self) -> Result<Kept> {
        let mut kept = Lists::kept(&self.merged)?;
        kept.vocabulary_bytes += self.blocks.vocabulary_bytes();
        Ok(kept)
    }
}

impl LongMerged {
    /// One without lists, for which lists that get more than `threshold` postings in a flush are
    /// long.
    pub fn new(files: Arc<Files>, keys: Keys, coding: Coding, threshold: u64) -> LongMerged {
        let of = |rule, first| {
            SubIndexes::new(
                Arc::clone(&files),
                Arc::clone(&keys),
                coding,
                rule,
                [first, 2],
            )
        };
        LongMerged {
            short: of(Rule::Never, 0),
            long: of(Rule::AtOnce, 1),
            threshold,
            is_long: vec![false; keys.len()],
        }
    }
}

impl Lists for LongMerged {
    fn coding(&self) -> Coding {
        self.short.coding()
    }

    fn add(&mut self, flush: &Flush) -> Result<()> {
        for (term, fragment) in &flush.terms {
            self.is_long[*term as usize] |= u64::from(fragment.count) > self.threshold;
        }
        let (long, short) = divided(flush, &self.is_long);
        for (lists, fresh) in [(&mut self.short, short), (&mut self.long, long)] {
            if !fresh.is_empty() {
                lists.merge(&fresh, &mut |_, _| Ok(false))?;
            }
        }
        Ok(())
    }

    fn read(&self, terms: &[TermNumber], with_positions: bool) -> Result<Vec<Vec<Part>>> {
        in_order([&self.short, &self.long], terms, with_positions)
    }

    fn work(&self) -> Work {
        Lists::work(&self.short)
    }

    fn kept(&self) -> Result<Kept> {
        let (mut kept, long) = (Lists::kept(&self.short)?, Lists::kept(&self.long)?);
        // Both have the same files.
        kept += Kept {
            file_bytes: 0,
            ..long
        };
        Ok(kept)
    }
}

/// The long and the short lists of a flush.
fn divided<'a>(flush: &'a Flush, is_long: &[bool]) -> (Fresh<'a>, Fresh<'a>) {
    let terms = flush.terms.iter().map(|(term, fragment)| (*term, fragment));
    terms.partition(|(term, _)| is_long[*term as usize])
}

/// The parts of lists that lie in two places, those of the first before those of the second.
fn in_order(
    places: [&dyn Lists; 2],
    terms: &[TermNumber],
    with_positions: bool,
) -> Result<Vec<Vec<Part>>> {
    let [mut lists, behind] = [
        places[0].read(terms, with_positions)?,
        places[1].read(terms, with_positions)?,
    ];
    for (list, behind) in lists.iter_mut().zip(behind) {
        list.extend(behind);
    }
    Ok(lists)
}
