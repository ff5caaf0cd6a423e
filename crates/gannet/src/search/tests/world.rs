//! A small random collection as a snapshot: lists on a memory device, lists in memory, deletions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analysis::{Analyzer, FieldId, FieldKind, Schema, SchemaOptions, fingerprint, term_key};
use crate::base::{Budget, DocId, PAGE_SIZE, PhraseFilters, Result};
use crate::cache::{FramePool, Pages, Step};
use crate::columns::ColumnsView;
use crate::device::MemoryDevice;
use crate::documents::{Dictionaries, DocumentRecord, DocumentTables, length_to_norm};
use crate::postings::{
    ChunkStreams, Fragment, MergeItem, MergeMemory, Neighbours, Reach, TermDictionary, TermVisitor,
    merge_window,
};
use crate::search::hot::HotLists;
use crate::search::scoring::bm25::Statistics;
use crate::search::scoring::field::FieldStatistics;
use crate::search::view::{ExternalIds, IdWalk, MemoryTerms, SearchView};
use crate::storage::{PageKind, RecordKind, Store, StreamWriter, ZoneTable, frame};

/// A generator of numbers that repeats for a seed: xorshift (Marsaglia, 2003).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    /// A number below `limit`, small ones far more often.
    pub fn skewed(&mut self, limit: usize) -> usize {
        let most = self.below(limit) + 1;
        let most = self.below(most) + 1;
        self.below(most)
    }
}

/// The words of the collection, frequent ones first.
pub const WORDS: [&str; 18] = [
    "a", "b", "c", "ab", "abc", "flash", "flask", "flesh", "fish", "gannet", "sea", "seal", "page",
    "of", "zone", "q", "quick", "zz",
];

pub const FIELDS: [(&str, FieldKind); 4] = [
    ("body", FieldKind::Text),
    ("title", FieldKind::Text),
    ("tag", FieldKind::Exact),
    (WHOLE, FieldKind::Text),
];

/// A field of strings that are kept whole.
pub const WHOLE: &str = "code";

/// The kind of phrase filters of each field; the body has most often common neighbours.
type Filters = [PhraseFilters; FIELDS.len()];

pub const COMMON: Filters = [
    PhraseFilters::Common,
    PhraseFilters::None,
    PhraseFilters::None,
    PhraseFilters::None,
];

/// Filters of both fields that exact phrases are drawn for.
pub const COMMON_IN_BOTH: Filters = [
    PhraseFilters::Common,
    PhraseFilters::Common,
    PhraseFilters::None,
    PhraseFilters::None,
];

/// The words of each field of a document.
pub type Words = Vec<Vec<&'static str>>;

pub struct World {
    pub docs: Vec<Words>,
    pub deleted: Vec<bool>,
    /// Documents, deleted ones too, by field and word.
    pub frequencies: BTreeMap<(usize, &'static str), u64>,
    pub view: SearchView,
    pub pool: FramePool,
    pub hot: HotLists,
    pub budget: Budget,
    store: Arc<Store>,
}

type Lists = BTreeMap<Vec<u8>, Fragment>;

struct Memory(Lists);

/// The documents are called by their numbers.
struct Numbers;

impl ExternalIds for Numbers {
    fn document(&self, id: &str, below: DocId, _: &mut Pages<'_>) -> Step<Option<DocId>> {
        let number = id
            .strip_prefix("id-")
            .and_then(|number| number.parse().ok());
        Ok(number.filter(|doc| *doc < below))
    }

    fn walk(&self, _: &[u8]) -> Box<dyn IdWalk> {
        Box::new(NoIds)
    }

    fn visit_new(&self, _: &mut dyn FnMut(&str, DocId)) {}
}

/// These documents are not asked in the order of their IDs.
struct NoIds;

impl IdWalk for NoIds {
    fn advance(&mut self, _: &mut Pages<'_>) -> Step<Option<(&str, DocId)>> {
        Ok(None)
    }
}

impl MemoryTerms for Memory {
    fn term(
        &self,
        key: &[u8],
        _: DocId,
        reach: Reach,
        reserve: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Vec<Fragment>> {
        let mut found: Vec<Fragment> = self.0.get(key).cloned().into_iter().collect();
        for fragment in &mut found {
            if reach == Reach::Docs {
                fragment.positions.clear();
            }
            reserve(fragment.bytes())?;
        }
        Ok(found)
    }

    fn visit_terms(&self, _: DocId, visitor: &mut dyn TermVisitor) -> Result<()> {
        for (key, list) in &self.0 {
            if visitor.wants(key)? {
                list.each_doc(|doc| visitor.doc(doc))?;
            }
        }
        Ok(())
    }
}

impl World {
    /// `count` documents, the first `on_device` of which are flushed; a pool of `frames` frames.
    pub fn new(random: &mut Random, count: u32, on_device: u32, frames: usize) -> World {
        World::with_filters(random, count, on_device, frames, COMMON)
    }

    /// The same whose fields keep these phrase filters.
    pub fn with_filters(
        random: &mut Random,
        count: u32,
        on_device: u32,
        frames: usize,
        filters: Filters,
    ) -> World {
        let docs: Vec<Words> = (0..count).map(|_| document(random)).collect();
        let deleted: Vec<bool> = docs.iter().map(|_| random.below(10) == 0).collect();
        World::of(docs, deleted, on_device, frames, filters)
    }

    /// The same of these documents.
    pub fn of(
        docs: Vec<Words>,
        deleted: Vec<bool>,
        on_device: u32,
        frames: usize,
        filters: Filters,
    ) -> World {
        let count = docs.len() as u32;
        let device = Arc::new(MemoryDevice::new());
        let store = Arc::new(Store::new(device, 5, ZoneTable::default()));
        let budget = Budget::new(256 << 20);
        let large = FramePool::new(Arc::clone(&store), &budget, 16 << 20).unwrap();
        let mut terms = TermDictionary::new(&store);
        let mut streams = ChunkStreams::new(&store, MergeMemory::default());
        // Two flushes, so that lists have several chunks.
        let half = on_device / 2;
        for range in [0..half, half..on_device] {
            let lists = invert(&docs, range, filters);
            flush(&docs, &lists, &store, &mut streams, &mut terms, &large);
        }
        let pool = FramePool::new(Arc::clone(&store), &budget, frames * PAGE_SIZE).unwrap();
        let schema = Arc::new(schema(filters));
        let view = SearchView {
            schema: Arc::clone(&schema),
            terms: terms.view(),
            ids: Arc::new(Numbers),
            buffer: Arc::new(Memory(invert(&docs, on_device..count, filters))),
            below: count,
            columns: ColumnsView::default(),
            state: 0,
            renumbered: 0,
            dead_documents: deleted.iter().filter(|deleted| **deleted).count() as u64,
            tables: tables(&docs, &deleted, &store),
            dictionaries: Dictionaries::default(),
            statistics: Statistics::new(Arc::new(statistics(&docs)), schema),
        };
        World {
            frequencies: frequencies(&docs),
            docs,
            deleted,
            view,
            hot: HotLists::new(&pool),
            pool,
            budget,
            store,
        }
    }

    /// The same with nothing in frames.
    pub fn with_cold_pool(&self) -> World {
        let bytes = self.pool.capacity() * PAGE_SIZE;
        let pool = FramePool::new(Arc::clone(&self.store), &self.budget, bytes).unwrap();
        World {
            docs: self.docs.clone(),
            deleted: self.deleted.clone(),
            frequencies: self.frequencies.clone(),
            view: SearchView {
                tables: self.view.tables.unpinned(),
                schema: Arc::clone(&self.view.schema),
                terms: self.view.terms.clone(),
                ids: Arc::new(Numbers),
                buffer: Arc::clone(&self.view.buffer),
                below: self.view.below,
                columns: ColumnsView::default(),
                state: 0,
                renumbered: 0,
                dead_documents: self.view.dead_documents,
                dictionaries: self.view.dictionaries.clone(),
                statistics: Statistics::new(
                    Arc::new(statistics(&self.docs)),
                    Arc::clone(&self.view.schema),
                ),
            },
            hot: HotLists::new(&pool),
            pool,
            budget: self.budget.clone(),
            store: Arc::clone(&self.store),
        }
    }
}

fn schema(filters: Filters) -> Schema {
    let mut schema = Schema::default();
    for ((name, kind), phrase_filters) in FIELDS.into_iter().zip(filters) {
        let options = SchemaOptions {
            phrase_filters,
            per_field: vec![(WHOLE.to_owned(), Analyzer::KEYWORD)],
            ..SchemaOptions::default()
        };
        schema.ensure(name, kind, &options).unwrap();
    }
    schema
}

fn document(random: &mut Random) -> Words {
    let mut words = |most: usize| -> Vec<&'static str> {
        let length = random.skewed(most);
        (0..length)
            .map(|_| WORDS[random.skewed(WORDS.len())])
            .collect()
    };
    let (body, title) = (words(60), words(6));
    let tag = vec![WORDS[random.below(WORDS.len())]];
    let mut code = vec![WORDS[random.below(WORDS.len())]];
    let other = WORDS[random.below(WORDS.len())];
    if random.below(3) == 0 && other != code[0] {
        code.push(other);
    }
    vec![body, title, tag, code]
}

fn neighbours(
    field: FieldId,
    words: &[&str],
    position: usize,
    filters: PhraseFilters,
) -> Neighbours {
    let of = |at: Option<usize>| {
        let word = at.and_then(|at| words.get(at));
        word.map_or(0, |word| {
            let mut key = Vec::new();
            term_key(field, word.as_bytes(), &mut key);
            fingerprint(&key, filters)
        })
    };
    Neighbours {
        before: of(position.checked_sub(1)),
        after: of(position.checked_add(1)),
    }
}

fn invert(docs: &[Words], range: std::ops::Range<u32>, filters: Filters) -> Lists {
    let mut lists = Lists::new();
    for doc in range {
        for (field, words) in docs[doc as usize].iter().enumerate() {
            let mut tokens: BTreeMap<&str, (Vec<u32>, Vec<Neighbours>)> = BTreeMap::new();
            for (position, word) in (0..).zip(words) {
                let (positions, beside) = tokens.entry(word).or_default();
                positions.push(position as u32);
                beside.push(neighbours(
                    field as FieldId,
                    words,
                    position,
                    filters[field],
                ));
            }
            for (word, (positions, beside)) in tokens {
                let mut key = Vec::new();
                term_key(field as FieldId, word.as_bytes(), &mut key);
                let list = lists.entry(key).or_insert_with(|| {
                    let mut list = Fragment::new(0);
                    list.filters = filters[field];
                    list
                });
                list.append(doc, &positions, &beside);
            }
        }
    }
    lists
}

fn flush(
    docs: &[Words],
    lists: &Lists,
    store: &Store,
    streams: &mut ChunkStreams,
    terms: &mut TermDictionary,
    pool: &FramePool,
) {
    let keys: Vec<&[u8]> = lists.keys().map(Vec::as_slice).collect();
    let norms = |field: FieldId, doc: DocId| -> Result<u8> {
        Ok(length_to_norm(
            docs[doc as usize][field as usize].len() as u32
        ))
    };
    terms
        .update(pool, &keys, &|old| {
            let items = old.iter().map(|(term, old)| MergeItem {
                field: u16::from_be_bytes([keys[*term][0], keys[*term][1]]),
                key_bytes: 8,
                old: *old,
                new: lists[keys[*term]].clone(),
                joins: false,
            });
            let items: Vec<MergeItem<'_>> = items.collect();
            let entries = merge_window(store, streams, &norms, &items)?;
            Ok(entries.into_iter().map(Some).collect())
        })
        .unwrap();
    terms.flush().unwrap();
    streams.flush().unwrap();
}

fn tables(docs: &[Words], deleted: &[bool], store: &Arc<Store>) -> DocumentTables {
    let mut tables = DocumentTables::new();
    let mut records = StreamWriter::new(Arc::clone(store), PageKind::Documents);
    for (doc, words) in (0..).zip(docs) {
        let norm = |words: &Vec<&str>| length_to_norm(words.len() as u32);
        let norms: Vec<_> = (0..).zip(words.iter().map(norm)).collect();
        let span = records.append(&record(doc, words)).unwrap();
        tables.push(doc, span, &norms).unwrap();
        if deleted[doc as usize] {
            tables.delete(doc).unwrap();
        }
    }
    records.flush().unwrap();
    let mut stream = StreamWriter::new(Arc::clone(store), PageKind::Table);
    tables.write_changes(store, &mut stream).unwrap();
    stream.flush().unwrap();
    tables
}

fn record(doc: DocId, words: &Words) -> Vec<u8> {
    let [body, title, tag] = [0, 1, 2].map(|field| words[field].join(" "));
    let code = words[3].join(r#"",""#);
    let source =
        format!(r#"{{"body":"{body}","title":"{title}","tag":"{tag}","{WHOLE}":["{code}"]}}"#);
    let mut out = Vec::new();
    let record = DocumentRecord {
        doc,
        sequence: doc as u64 + 1,
        version: 1,
        dictionary: 0,
        id_in_source: false,
        id: &format!("id-{doc}"),
        raw_length: source.len() as u32,
        compressed: source.as_bytes(),
    };
    record.encode(&mut out);
    frame(RecordKind::Document, true, &out)
}

fn frequencies(docs: &[Words]) -> BTreeMap<(usize, &'static str), u64> {
    let mut frequencies = BTreeMap::new();
    for (field, words) in docs.iter().flat_map(|words| words.iter().enumerate()) {
        let mut distinct = words.clone();
        distinct.sort_unstable();
        distinct.dedup();
        for word in distinct {
            *frequencies.entry((field, word)).or_default() += 1;
        }
    }
    frequencies
}

fn statistics(docs: &[Words]) -> Vec<FieldStatistics> {
    let of = |field: usize| {
        let lengths = docs.iter().map(|words| words[field].len() as u64);
        FieldStatistics {
            documents: lengths.clone().filter(|length| *length > 0).count() as u64,
            total_length: lengths.sum(),
        }
    };
    (0..FIELDS.len()).map(of).collect()
}
