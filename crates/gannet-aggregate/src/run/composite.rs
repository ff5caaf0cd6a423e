//! Buckets of combinations of values: the first ones after a key, in the order of the sources.
//!
//! A combination is a path through one table a source: the bucket of a table is above those of the
//! next. All combinations of a pass are counted. Then they are named some at a time, and those that
//! stand first are kept.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;

use super::below::{Below, lead_on};
use super::context::Context;
use super::partitions::Partitions;
use super::request::Request;
use super::sources::SourceFinder;
use crate::batch::{CHUNK, Chunk, Pair, Pairs};
use crate::memory::{Full, Ledger};
use crate::state::{Key, PortableNumber};
use crate::table::{BucketKey, Table};
use crate::values::{ClassKey, MISSING, number_of};

/// Combinations that are named at once.
const NAMED_AT_ONCE: usize = 1_024;

pub(crate) struct CompositeNode {
    pub(crate) sources: Vec<SourceFinder>,
    pub(crate) size: usize,
    /// Keys up to this one are left out.
    pub(crate) after: Option<Vec<Key>>,
    partitions: Partitions,
    tables: Vec<Table>,
    counts: Vec<u64>,
    /// The combinations that stand first so far, the last of them on top.
    best: BinaryHeap<Candidate>,
    /// The combinations that were chosen, in order.
    pub(crate) chosen: Vec<Candidate>,
    at: usize,
    requests: VecDeque<(usize, Vec<u32>)>,
    names: FxHashMap<(usize, u32), Box<str>>,
    pairs: Vec<Pair>,
    keys: Vec<Vec<ClassKey>>,
}

/// A combination with its names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) key: Vec<Key>,
    class_keys: Vec<ClassKey>,
    pub(crate) count: u64,
    ascending: Vec<bool>,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        compare(&self.key, &other.key, &self.ascending)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Candidate {
    fn bytes(&self) -> usize {
        let terms = self.key.iter().map(|key| match key {
            Key::Term(term) => term.len(),
            _ => 0,
        });
        let each = size_of::<Key>() + size_of::<ClassKey>() + 1;
        2 * size_of::<Candidate>() + self.key.len() * each + terms.sum::<usize>()
    }
}

/// Compares keys, source by source.
pub(crate) fn compare(one: &[Key], other: &[Key], ascending: &[bool]) -> Ordering {
    let pairs = one.iter().zip(other).zip(ascending);
    let orders = pairs.map(|((one, other), ascending)| {
        let order = one.cmp(other);
        if *ascending { order } else { order.reverse() }
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

impl CompositeNode {
    pub(crate) fn new(
        sources: Vec<SourceFinder>,
        size: usize,
        after: Option<Vec<Key>>,
    ) -> CompositeNode {
        let tables = || sources.iter().map(|_| Table::default());
        CompositeNode {
            tables: tables().collect(),
            keys: vec![Vec::new(); sources.len()],
            sources,
            size,
            after,
            partitions: Partitions::default(),
            counts: Vec::new(),
            best: BinaryHeap::new(),
            chosen: Vec::new(),
            at: 0,
            requests: VecDeque::new(),
            names: FxHashMap::default(),
            pairs: Vec::new(),
        }
    }

    /// Returns the number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.tables.last().map_or(0, Table::len)
    }

    pub(crate) fn collect(
        &mut self,
        chunk: &Chunk<'_>,
        pairs: Pairs<'_>,
        is_counting: bool,
        children: &mut [impl Below],
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        if is_counting && self.partitions.has_failed() {
            return Ok(());
        }
        let mut out = std::mem::take(&mut self.pairs);
        out.clear();
        let mut keys = std::mem::take(&mut self.keys);
        let mut places = vec![0; keys.len()];
        for pair in pairs.list {
            for (source, keys) in self.sources.iter_mut().zip(&mut keys) {
                source.keys(chunk, pair.document, keys);
            }
            places.fill(0);
            let mut is_there = keys.iter().all(|keys| !keys.is_empty());
            while is_there {
                let bucket = self.bucket(&keys, &places, is_counting, &mut context.ledger)?;
                if let Some(bucket) = bucket
                    && !is_counting
                {
                    out.push(Pair { bucket, ..*pair });
                }
                if out.len() == CHUNK {
                    lead_on(chunk, &out, children, context)?;
                    out.clear();
                }
                is_there = advance(&mut places, &keys);
            }
        }
        if !out.is_empty() {
            lead_on(chunk, &out, children, context)?;
        }
        (self.pairs, self.keys) = (out, keys);
        Ok(())
    }

    /// Finds the bucket of a combination; counts it where that is wanted.
    fn bucket(
        &mut self,
        keys: &[Vec<ClassKey>],
        places: &[usize],
        is_counting: bool,
        ledger: &mut Ledger<'_>,
    ) -> Result<Option<u32>, Full> {
        let chosen = || keys.iter().zip(places).map(|(keys, place)| keys[*place]);
        if is_counting && !self.partitions.has(hash(chosen())) {
            return Ok(None);
        }
        let mut parent = 0;
        for ((class, key), table) in chosen().zip(&mut self.tables) {
            let key = BucketKey { parent, class, key };
            let found = if is_counting {
                Some(table.find_or_add(key, ledger)?)
            } else {
                table.find(key)
            };
            match found {
                Some(found) => parent = found,
                None => return Ok(None),
            }
        }
        if is_counting {
            match self.counts.get_mut(parent as usize) {
                Some(count) => *count += 1,
                None => ledger.push(&mut self.counts, 1)?,
            }
        }
        Ok(Some(parent))
    }

    pub(crate) fn fail(&mut self, context: &mut Context<'_>) {
        self.clear_pass(context);
        self.partitions.fail(context.documents);
    }

    /// Drops the combinations of a pass.
    pub(crate) fn clear_pass(&mut self, context: &mut Context<'_>) {
        let ledger = &mut context.ledger;
        self.tables
            .iter_mut()
            .for_each(|table| table.release(ledger));
        ledger.release(&mut self.counts);
        self.keys = vec![Vec::new(); self.sources.len()];
    }

    pub(crate) fn cut_parts(&mut self, context: &mut Context<'_>) -> Result<bool, Full> {
        if !self.partitions.has_failed() {
            return Ok(false);
        }
        if self.partitions.is_least() {
            return Err(Full);
        }
        self.partitions.cut(context.documents);
        Ok(true)
    }

    pub(crate) fn begin_decision(&mut self) {
        self.at = 0;
        self.begin_naming();
    }

    /// Returns the values of a combination by source.
    fn class_keys(&self, bucket: usize) -> Vec<ClassKey> {
        let mut keys = Vec::with_capacity(self.tables.len());
        let mut at = bucket;
        for table in self.tables.iter().rev() {
            let key = table.keys()[at];
            keys.push((key.class, key.key));
            at = key.parent as usize;
        }
        keys.reverse();
        keys
    }

    fn now(&self) -> std::ops::Range<usize> {
        self.at..self.len().min(self.at + NAMED_AT_ONCE)
    }

    fn begin_naming(&mut self) {
        self.names.clear();
        let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); self.sources.len()];
        for bucket in self.now() {
            let keys = self.class_keys(bucket).into_iter();
            for ((key, numbers), source) in keys.zip(&mut numbers).zip(&self.sources) {
                if source.key_type().has_strings() && key != MISSING {
                    numbers.push(key.1 as u32);
                }
            }
        }
        for (source, mut numbers) in numbers.into_iter().enumerate() {
            numbers.sort_unstable();
            numbers.dedup();
            if !numbers.is_empty() {
                self.requests.push_back((source, numbers));
            }
        }
    }

    pub(crate) fn request(&self) -> Option<Request> {
        let (source, numbers) = self.requests.front()?;
        let column = self.sources.get(*source)?.column;
        Some(Request {
            column,
            numbers: numbers.clone(),
        })
    }

    pub(crate) fn give(
        &mut self,
        terms: &[String],
        _context: &mut Context<'_>,
    ) -> Result<(), Full> {
        if let Some((source, numbers)) = self.requests.pop_front() {
            for (number, term) in numbers.into_iter().zip(terms) {
                self.names.insert((source, number), term.as_str().into());
            }
        }
        Ok(())
    }

    /// Offers combinations as far as they have names.
    pub(crate) fn go_on(&mut self, context: &mut Context<'_>) -> Result<(), Full> {
        while self.requests.is_empty() && self.at < self.len() {
            for bucket in self.now() {
                self.offer(bucket, &mut context.ledger)?;
            }
            self.at = self.now().end;
            self.begin_naming();
        }
        Ok(())
    }

    fn offer(&mut self, bucket: usize, ledger: &mut Ledger<'_>) -> Result<(), Full> {
        let class_keys = self.class_keys(bucket);
        let sources = self.sources.iter().enumerate();
        let key = sources.zip(&class_keys).map(|((number, source), key)| {
            if *key == MISSING {
                return Key::Missing;
            }
            match number_of(source.key_type(), *key) {
                Some(own) => Key::Number(PortableNumber(own)),
                None => {
                    let term = self.names.get(&(number, key.1 as u32));
                    Key::Term(term.cloned().unwrap_or_default())
                }
            }
        });
        let candidate = Candidate {
            key: key.collect(),
            class_keys,
            count: self.counts[bucket],
            ascending: self.sources.iter().map(|source| source.ascending).collect(),
        };
        let after = self.after.as_ref();
        let is_after =
            after.is_none_or(|after| compare(&candidate.key, after, &candidate.ascending).is_gt());
        let is_full = self.best.len() == self.size;
        if !is_after || is_full && self.best.peek().is_some_and(|last| candidate > *last) {
            return Ok(());
        }
        let bytes = candidate.bytes();
        ledger.add(bytes)?;
        self.best.push(candidate);
        if is_full && let Some(last) = self.best.pop() {
            ledger.give_back(last.bytes());
        }
        Ok(())
    }

    pub(crate) fn next_part(&mut self) -> bool {
        self.partitions.next()
    }

    /// Makes tables of what was chosen, in order.
    pub(crate) fn settle(&mut self, context: &mut Context<'_>) -> Result<(), Full> {
        self.chosen = std::mem::take(&mut self.best).into_sorted_vec();
        for candidate in &self.chosen {
            let mut parent = 0;
            for ((class, key), table) in candidate.class_keys.iter().zip(&mut self.tables) {
                let key = BucketKey {
                    parent,
                    class: *class,
                    key: *key,
                };
                parent = table.find_or_add(key, &mut context.ledger)?;
            }
        }
        Ok(())
    }
}

/// Goes on to the next combination of values. Returns if there is one.
fn advance(places: &mut [usize], keys: &[Vec<ClassKey>]) -> bool {
    for (place, keys) in places.iter_mut().zip(keys).rev() {
        *place += 1;
        if *place < keys.len() {
            return true;
        }
        *place = 0;
    }
    false
}

fn hash(keys: impl Iterator<Item = ClassKey>) -> u64 {
    keys.fold(0, |hash: u64, (class, key)| {
        let own = BucketKey {
            parent: 0,
            class,
            key: key ^ hash.rotate_left(23),
        };
        own.hash()
    })
}
