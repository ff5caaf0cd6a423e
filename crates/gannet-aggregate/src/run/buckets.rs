//! Buckets that are found by one key: their numbers, their counts, and what is below them.

use gannet_values::{ValueType, date_of_key, key_of_long};

use super::below::{Below, lead_on};
use super::context::Context;
use super::cut::Cut;
use super::finder::{Finder, begin_of};
use super::request::{Request, TERMS_AT_ONCE};
use crate::batch::{CHUNK, Chunk, Pair, Pairs};
use crate::memory::{Full, Ledger};
use crate::table::{BucketKey, Table};
use crate::values::{ClassKey, NO_NUMBER};

/// An aggregation of buckets.
pub(crate) struct BucketNode {
    pub(crate) finder: Finder,
    pub(crate) table: Table,
    /// Documents by bucket.
    pub(crate) counts: Vec<u64>,
    /// For aggregations that answer only some of their buckets.
    pub(crate) cut: Option<Cut>,
    /// Terms of buckets whose keys are keywords, by bucket once all are there.
    named: Vec<(u32, Box<str>)>,
    /// Buckets in the order of their numbers, whose terms are asked for.
    naming: Vec<(u32, u32)>,
    at: usize,
    pairs: Vec<Pair>,
    keys: Vec<ClassKey>,
    /// The bucket that was found last.
    last: Option<(BucketKey, u32)>,
}

/// Counts values one by one.
struct BucketCounter<'n> {
    table: &'n mut Table,
    counts: &'n mut Vec<u64>,
    last: &'n mut Option<(BucketKey, u32)>,
    /// The document of the value before, and the key of its bucket.
    owner: Option<(u32, u64)>,
}

impl BucketCounter<'_> {
    /// Counts a value, unless the one before has the same document and bucket.
    #[inline]
    fn count(&mut self, owner: u32, key: u64, ledger: &mut Ledger<'_>) -> Result<(), Full> {
        if self.owner.replace((owner, key)) == Some((owner, key)) {
            return Ok(());
        }
        let bucket = match *self.last {
            Some((last, bucket)) if last.key == key && last.parent == 0 && last.class == 0 => {
                bucket
            }
            _ => self.bucket(key, ledger)?,
        };
        match self.counts.get_mut(bucket as usize) {
            Some(count) => *count += 1,
            None => ledger.push(self.counts, 1)?,
        }
        Ok(())
    }

    #[inline]
    fn bucket(&mut self, key: u64, ledger: &mut Ledger<'_>) -> Result<u32, Full> {
        if let Some(bucket) = self.table.direct(key) {
            return Ok(bucket);
        }
        let key = BucketKey {
            parent: 0,
            class: 0,
            key,
        };
        let bucket = self.table.find_or_add(key, ledger)?;
        *self.last = Some((key, bucket));
        Ok(bucket)
    }
}

/// The work of a pass with documents.
#[derive(Clone, Copy)]
struct Mode {
    is_counting: bool,
    leads_on: bool,
}

impl BucketNode {
    pub(crate) fn new(finder: Finder, cut: Option<Cut>) -> BucketNode {
        let field_type = match &finder {
            Finder::Terms(own) => own.field_type,
            // Their keys are the begins of intervals, or numbers of ranges and filters.
            _ => ValueType::Date,
        };
        BucketNode {
            finder,
            table: Table::new(field_type),
            counts: Vec::new(),
            cut,
            named: Vec::new(),
            naming: Vec::new(),
            at: 0,
            pairs: Vec::new(),
            keys: Vec::new(),
            last: None,
        }
    }

    /// Returns the column of keywords that are keys.
    fn keyword_column(&self) -> Option<usize> {
        match &self.finder {
            Finder::Terms(own) if own.field_type.has_strings() => Some(own.column),
            _ => None,
        }
    }

    pub(crate) fn collect(
        &mut self,
        chunk: &Chunk<'_>,
        pairs: Pairs<'_>,
        is_counting: bool,
        children: &mut [impl Below],
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        if is_counting
            && self
                .cut
                .as_ref()
                .is_some_and(|cut| cut.partitions.has_failed())
        {
            return Ok(());
        }
        let leads_on = children.iter().any(Below::wants_pass);
        if pairs.are_all
            && is_counting
            && !leads_on
            && self.has_one_part()
            && self.count_all(chunk, &mut context.ledger)?
        {
            return Ok(());
        }
        let pairs = pairs.list;
        let mut out = std::mem::take(&mut self.pairs);
        let mut result = Ok(());
        if leads_on && out.capacity() == 0 {
            let nothing = Pair {
                document: 0,
                bucket: 0,
            };
            result = context.ledger.fill(&mut out, CHUNK, nothing);
        }
        out.clear();
        let mode = Mode {
            is_counting,
            leads_on,
        };
        result = result.and_then(|()| match self.single_keywords(chunk) {
            Some(keys) => {
                self.collect_single(keys, chunk, pairs, mode, &mut out, children, context)
            }
            None => self.collect_keys(chunk, pairs, mode, &mut out, children, context),
        });
        if result.is_ok() && !out.is_empty() {
            result = lead_on(chunk, &out, children, context);
        }
        self.pairs = out;
        result
    }

    /// Counts the values of all documents of a chunk, without a look at each document. Returns if
    /// it can: if every value has a bucket that depends on it alone.
    fn count_all(&mut self, chunk: &Chunk<'_>, ledger: &mut Ledger<'_>) -> Result<bool, Full> {
        let mut counter = BucketCounter {
            table: &mut self.table,
            counts: &mut self.counts,
            last: &mut self.last,
            owner: None,
        };
        match &mut self.finder {
            Finder::Terms(own) if own.is_plain() && own.missing.is_none() => {
                let Some(column) = chunk.column(own.column) else {
                    return Ok(true);
                };
                if column.value_type != own.field_type {
                    return Ok(false);
                }
                column.try_for_each(|owner, key| counter.count(owner, key, ledger))?;
            }
            Finder::Dates(own) if own.missing.is_none() && own.hard.is_none() => {
                let Some(column) = chunk.column(own.column) else {
                    return Ok(true);
                };
                column.try_for_each(|owner, key| {
                    let begin = begin_of(&own.interval, &mut own.last, date_of_key(key));
                    counter.count(owner, key_of_long(begin), ledger)
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads documents that have one keyword each, without lists of keys.
    #[expect(clippy::too_many_arguments, reason = "all of them change on the way")]
    fn collect_single(
        &mut self,
        keys: &[u64],
        chunk: &Chunk<'_>,
        pairs: &[Pair],
        mode: Mode,
        out: &mut Vec<Pair>,
        children: &mut [impl Below],
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        let is_plain = mode.is_counting && !mode.leads_on && self.has_one_part();
        for pair in pairs {
            let key = keys.get(pair.document as usize);
            let key = key.copied().unwrap_or_default();
            if is_plain && pair.bucket == 0 {
                // The usual facet: one look into two arrays a document.
                let bucket = self.table.direct(key);
                let count = bucket.and_then(|bucket| self.counts.get_mut(bucket as usize));
                if let Some(count) = count {
                    *count += 1;
                    continue;
                }
            }
            self.add(*pair, (0, key), mode, out, &mut context.ledger)?;
            if out.len() == CHUNK {
                lead_on(chunk, out, children, context)?;
                out.clear();
            }
        }
        Ok(())
    }

    /// Returns if a pass has all keys.
    fn has_one_part(&self) -> bool {
        self.cut.as_ref().is_none_or(|cut| cut.partitions.is_one())
    }

    fn collect_keys(
        &mut self,
        chunk: &Chunk<'_>,
        pairs: &[Pair],
        mode: Mode,
        out: &mut Vec<Pair>,
        children: &mut [impl Below],
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        let mut keys = std::mem::take(&mut self.keys);
        for pair in pairs {
            self.finder.keys(chunk, pair.document, &mut keys);
            for key in &keys {
                self.add(*pair, *key, mode, out, &mut context.ledger)?;
                if out.len() == CHUNK {
                    lead_on(chunk, out, children, context)?;
                    out.clear();
                }
            }
        }
        self.keys = keys;
        Ok(())
    }

    /// Returns one key a document, if all of them are keys of buckets.
    fn single_keywords<'a>(&self, chunk: &Chunk<'a>) -> Option<&'a [u64]> {
        let Finder::Terms(own) = &self.finder else {
            return None;
        };
        let column = chunk.columns.get(own.column)?.as_ref()?;
        let is_plain = own.is_plain() && column.value_type == own.field_type;
        is_plain.then(|| column.single())?
    }

    #[inline]
    fn add(
        &mut self,
        pair: Pair,
        (class, key): ClassKey,
        mode: Mode,
        out: &mut Vec<Pair>,
        ledger: &mut Ledger<'_>,
    ) -> Result<(), Full> {
        let key = BucketKey {
            parent: pair.bucket,
            class,
            key,
        };
        let Some(bucket) = self.bucket(key, mode.is_counting, ledger)? else {
            return Ok(());
        };
        if mode.is_counting {
            match self.counts.get_mut(bucket as usize) {
                Some(count) => *count += 1,
                None => ledger.push(&mut self.counts, 1)?,
            }
        }
        if mode.leads_on {
            out.push(Pair { bucket, ..pair });
        }
        Ok(())
    }

    fn bucket(
        &mut self,
        key: BucketKey,
        is_counting: bool,
        ledger: &mut Ledger<'_>,
    ) -> Result<Option<u32>, Full> {
        // Values that rise with the documents are in the bucket of the one before.
        if let Some((last, bucket)) = self.last
            && last == key
        {
            return Ok(Some(bucket));
        }
        let found = match &self.cut {
            _ if !is_counting => self.table.find(key),
            Some(cut) if !cut.partitions.has(key.hash()) => None,
            _ => Some(self.table.find_or_add(key, ledger)?),
        };
        self.last = found.map(|bucket| (key, bucket));
        Ok(found)
    }

    /// Notes that the buckets of this pass did not fit.
    pub(crate) fn fail(&mut self, context: &mut Context<'_>) {
        let terms: usize = self.named.iter().map(|own| own.1.len()).sum();
        context.ledger.give_back(terms);
        context.ledger.release(&mut self.named);
        self.release(&mut context.ledger);
        if let Some(cut) = &mut self.cut {
            cut.forget(&mut context.ledger);
            cut.partitions.fail(context.documents);
        }
    }

    fn release(&mut self, ledger: &mut Ledger<'_>) {
        self.last = None;
        self.table.release(ledger);
        ledger.release(&mut self.counts);
        ledger.release(&mut self.pairs);
        ledger.release(&mut self.naming);
    }

    /// Cuts what did not fit into parts. Returns if that was needed.
    pub(crate) fn cut_parts(&mut self, context: &mut Context<'_>) -> Result<bool, Full> {
        let Some(cut) = self.cut.as_mut().filter(|cut| cut.partitions.has_failed()) else {
            return Ok(false);
        };
        if cut.partitions.is_least() {
            return Err(Full);
        }
        cut.partitions.cut(context.documents);
        Ok(true)
    }

    /// Begins to ask for the terms of all buckets. Returns if none are needed.
    pub(crate) fn begin_naming(&mut self, context: &mut Context<'_>) -> Result<bool, Full> {
        if self.keyword_column().is_none() {
            return Ok(true);
        }
        let buckets = 0..self.table.len() as u32;
        self.name_buckets(buckets, context)?;
        Ok(self.request().is_none())
    }

    /// Asks for the terms of some buckets.
    fn name_buckets(
        &mut self,
        buckets: impl Iterator<Item = u32>,
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        let ledger = &mut context.ledger;
        self.at = 0;
        for bucket in buckets {
            let key = self.table.keys()[bucket as usize].key;
            if key >= NO_NUMBER {
                let text = self.cut.as_ref().and_then(|cut| cut.missing_text.clone());
                self.take_term(bucket, &text.unwrap_or_default(), ledger)?;
            } else {
                ledger.push(&mut self.naming, (key as u32, bucket))?;
            }
        }
        self.named.sort_unstable();
        self.naming.sort_unstable();
        Ok(())
    }

    /// Orders the buckets of a pass as far as it goes without terms, and asks for those needed.
    pub(crate) fn begin_decision(
        &mut self,
        children: &[impl Below],
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        let Some(cut) = &mut self.cut else {
            return Ok(());
        };
        cut.choose(&self.table, &self.counts, children, &mut context.ledger)?;
        if self.keyword_column().is_none() {
            return Ok(());
        }
        let chosen = self
            .cut
            .as_ref()
            .map(|cut| cut.chosen().collect::<Vec<u32>>());
        self.name_buckets(chosen.unwrap_or_default().into_iter(), context)
    }

    pub(crate) fn request(&self) -> Option<Request> {
        let rest = self.naming.get(self.at..)?;
        let mut numbers: Vec<u32> = rest.iter().take(TERMS_AT_ONCE).map(|own| own.0).collect();
        numbers.dedup();
        let column = self.keyword_column()?;
        (!numbers.is_empty()).then_some(Request { column, numbers })
    }

    pub(crate) fn give(&mut self, terms: &[String], ledger: &mut Ledger<'_>) -> Result<(), Full> {
        let Some(request) = self.request() else {
            return Ok(());
        };
        for _ in 0..TERMS_AT_ONCE {
            let Some((number, bucket)) = self.naming.get(self.at).copied() else {
                break;
            };
            self.at += 1;
            let at = request.numbers.binary_search(&number).ok();
            let term = at.and_then(|at| terms.get(at)).map_or("", String::as_str);
            self.take_term(bucket, term, ledger)?;
        }
        if self.request().is_none() {
            ledger.release(&mut self.naming);
            self.at = 0;
            self.named.sort_unstable();
        }
        Ok(())
    }

    fn take_term(&mut self, bucket: u32, term: &str, ledger: &mut Ledger<'_>) -> Result<(), Full> {
        match &mut self.cut {
            Some(cut) if cut.is_tied(bucket) => {
                let parent = self.table.keys()[bucket as usize].parent;
                cut.offer(parent, bucket, term, ledger)
            }
            _ => {
                ledger.add(term.len())?;
                ledger.push(&mut self.named, (bucket, term.into()))
            }
        }
    }

    /// Returns the term of a bucket.
    pub(crate) fn term(&self, bucket: u32) -> Option<&str> {
        let at = self.named.binary_search_by_key(&bucket, |own| own.0).ok()?;
        self.named.get(at).map(|own| &*own.1)
    }

    /// Takes over the buckets that were chosen in this pass.
    pub(crate) fn decide(
        &mut self,
        children: &mut [impl Below],
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        if let Some(cut) = &mut self.cut {
            let ledger = &mut context.ledger;
            let terms: usize = self.named.iter().map(|own| own.1.len()).sum();
            let kept = cut.keep(&self.table, &self.counts, &mut self.named, children, ledger);
            ledger.give_back(terms);
            if kept.is_err() {
                // Their bytes are given back, so nothing more may be for the terms.
                ledger.release(&mut self.named);
            }
            kept?;
        }
        self.release(&mut context.ledger);
        context.ledger.release(&mut self.named);
        children.iter_mut().for_each(|child| child.clear(context));
        Ok(())
    }

    /// Goes on to the next part of the keys. Returns if there is none.
    pub(crate) fn next_part(&mut self) -> bool {
        self.cut.as_mut().is_none_or(|cut| cut.partitions.next())
    }

    /// Makes a table of the buckets that were chosen, in their order.
    pub(crate) fn settle(
        &mut self,
        children: &mut [impl Below],
        context: &mut Context<'_>,
    ) -> Result<(), Full> {
        let Some(cut) = &mut self.cut else {
            return Ok(());
        };
        let ledger = &mut context.ledger;
        let mut found: Vec<Vec<_>> = Vec::new();
        for winner in cut.winners.drain(..) {
            // The term and what was found stay, in other lists.
            let term = winner.term.as_ref().map_or(0, |term| term.len());
            ledger.give_back(winner.bytes() - term);
            self.table.find_or_add(winner.key, ledger)?;
            ledger.push(&mut self.counts, winner.count)?;
            if let Some(term) = winner.term {
                let bucket = self.named.len() as u32;
                ledger.push(&mut self.named, (bucket, term))?;
            }
            found.resize(found.len().max(winner.found.len()), Vec::new());
            for (list, own) in found.iter_mut().zip(winner.found) {
                list.push(own);
            }
        }
        let eager = children
            .iter_mut()
            .filter(|child| child.ordering().is_some());
        for (child, found) in eager.zip(found) {
            child.settle(found, ledger)?;
        }
        Ok(())
    }
}
