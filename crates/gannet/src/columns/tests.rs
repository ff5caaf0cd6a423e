//! Columns against a plain map from documents to values: batches come, buffers are flushed and the
//! tree is opened anew, and every question is asked of the map too.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use gannet_values::{Number, NumberRange, ValueType};

use super::tree::ColumnTree;
use super::*;
use crate::base::{Budget, DocId, PAGE_SIZE, Result};
use crate::cache::{FramePool, Pages, finish};
use crate::device::MemoryDevice;
use crate::storage::{PageKind, Store, StreamWriter, ZoneTable};

/// A value as the model has it.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Plain {
    Number(Number),
    Term(String),
}

type Model = BTreeMap<DocId, Vec<Plain>>;

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

struct Bed {
    store: Arc<Store>,
    budget: Budget,
    pool: FramePool,
    tables: StreamWriter,
    tree: ColumnTree,
    columns: Columns,
    buffers: Vec<Arc<ValueBuffer>>,
    below: DocId,
    models: Vec<Model>,
}

fn frames(store: &Arc<Store>) -> FramePool {
    FramePool::new(store.clone(), &Budget::new(16 << 20), 256 * PAGE_SIZE).unwrap()
}

/// Long that becomes double, boolean, date, keyword of few, keyword of many, rare long.
fn columns() -> Columns {
    let mut columns = Columns::default();
    use ValueType::*;
    for (field, value_type) in [Long, Boolean, Date, Keyword, Keyword, Long]
        .into_iter()
        .enumerate()
    {
        columns.add(Column::found(field as u16, value_type));
    }
    columns
}

impl Bed {
    fn new() -> Bed {
        let device = Arc::new(MemoryDevice::new());
        let store = Arc::new(Store::new(device, 7, ZoneTable::default()));
        let budget = Budget::new(64 << 20);
        let columns = columns();
        Bed {
            pool: frames(&store),
            tables: StreamWriter::new(store.clone(), PageKind::Table),
            tree: ColumnTree::new(store.clone(), Columns::default()),
            buffers: vec![Arc::new(ValueBuffer::new(&budget).unwrap())],
            models: vec![Model::new(); columns.all().len()],
            store,
            budget,
            columns,
            below: 0,
        }
    }

    fn view(&self) -> ColumnsView {
        let columns = Arc::new(self.columns.clone());
        ColumnsView::new(self.tree.view(), columns, self.buffers.clone(), self.below)
    }

    fn add(&mut self, random: &mut Random, documents: u32) {
        let mut values = FoundValues::default();
        for document in 0..documents {
            let doc = self.below + document;
            let mut put =
                |values: &mut FoundValues, field: u16, value: FoundValue, plain: Plain| {
                    values.add(document, field, value);
                    self.models[field as usize]
                        .entry(doc)
                        .or_default()
                        .push(plain);
                };
            let is_double = self.columns.get(0).unwrap().value_type == ValueType::Double;
            for _ in 0..random.below(4) {
                let long = random.below(1_000_000) as i64 - 500_000;
                if is_double && random.below(3) == 0 {
                    let double = long as f64 + 0.5;
                    put(
                        &mut values,
                        0,
                        FoundValue::Fraction(double),
                        Plain::Number(Number::Double(double)),
                    );
                } else {
                    put(
                        &mut values,
                        0,
                        FoundValue::Whole(long),
                        Plain::Number(Number::Long(long)),
                    );
                }
            }
            let flag = random.below(2) == 1;
            put(
                &mut values,
                1,
                FoundValue::Boolean(flag),
                Plain::Number(Number::Long(flag as i64)),
            );
            if random.below(20) > 0 {
                let ms = 1_600_000_000_000 + doc as i64 * 1000 + random.below(5000) as i64;
                values.add_text(document, 2, "a date", Some(ms));
                let plain = Plain::Number(Number::Long(ms));
                self.models[2].entry(doc).or_default().push(plain);
            }
            for (field, most) in [(3, 12), (4, 1 << 40)] {
                let mut own = BTreeSet::new();
                for _ in 0..random.below(3) {
                    own.insert(format!("term {}", random.below(most)));
                }
                for term in own {
                    values.add_text(document, field, &term, None);
                    self.models[field as usize]
                        .entry(doc)
                        .or_default()
                        .push(Plain::Term(term));
                }
            }
            if random.below(500) == 0 {
                let long = random.below(10) as i64;
                values.add(document, 5, FoundValue::Whole(long));
                let plain = Plain::Number(Number::Long(long));
                self.models[5].entry(doc).or_default().push(plain);
            }
            values.end_document();
        }
        let buffer = self.buffers.last().unwrap();
        buffer.reserve_for(&values, &self.columns).unwrap();
        let misfits = buffer.add(&values, self.below, &self.columns);
        assert!(misfits.is_empty());
        assert!(buffer.memory_bytes() <= self.budget.used());
        self.below += documents;
    }

    fn freeze(&mut self) {
        self.buffers
            .push(Arc::new(ValueBuffer::new(&self.budget).unwrap()));
    }

    fn flush(&mut self) {
        let buffer = self.buffers.remove(0);
        self.tree.add(&self.pool, &buffer, &self.columns).unwrap();
        self.tree.flush().unwrap();
    }

    fn reopen(&mut self) {
        let mut root = Vec::new();
        self.tree.encode(&mut self.tables, &mut root).unwrap();
        self.tables.flush().unwrap();
        self.pool = frames(&self.store);
        self.tree = ColumnTree::open(self.store.clone(), &root).unwrap();
    }

    fn documents(
        &self,
        id: ColumnId,
        selection: Selection,
        docs: std::ops::Range<DocId>,
    ) -> Vec<DocId> {
        let reader = self.view().reader(id).unwrap();
        let mut blocks = reader.documents(selection, docs);
        let mut pages = Pages::new(&self.pool);
        let mut found = Vec::new();
        while let Some(block) = finish(&mut pages, |pages| blocks.advance(pages)).unwrap() {
            found.extend(block.docs());
        }
        assert!(found.is_sorted_by(|a, b| a < b), "{found:?}");
        found
    }

    fn expected(
        &self,
        id: ColumnId,
        docs: std::ops::Range<DocId>,
        wants: impl Fn(&Plain) -> bool,
    ) -> Vec<DocId> {
        let own = self.models[id as usize].range(docs);
        let own = own.filter(|(_, values)| values.iter().any(&wants));
        own.map(|(doc, _)| *doc).collect()
    }

    fn compare(&self, random: &mut Random) {
        let mut pages = Pages::new(&self.pool);
        let mut others = Pages::new(&self.pool);
        let tree = self.tree.view();
        let checked = check_columns(
            &tree,
            self.tree.columns(),
            self.below,
            &mut pages,
            &mut others,
        );
        let (_, findings) = checked.unwrap();
        assert_eq!(findings, Vec::<String>::new());
        for id in 0..self.models.len() as ColumnId {
            self.compare_all(id);
            self.compare_ranges(id, random);
            self.compare_values(id, random);
            self.compare_pass(id);
        }
    }

    /// All documents of a column of numbers.
    fn compare_all(&self, id: ColumnId) {
        let reader = self.view().reader(id).unwrap();
        if reader.column().value_type == ValueType::Keyword {
            return;
        }
        let range = NumberRange {
            lower: Bound::Unbounded,
            upper: Bound::Unbounded,
        };
        let all = self.documents(id, Selection::Ranges(vec![range]), 0..DocId::MAX);
        let expected = self.expected(id, 0..DocId::MAX, |_| true);
        assert_eq!(all, expected, "column {id}");
    }

    fn compare_ranges(&self, id: ColumnId, random: &mut Random) {
        let known: Vec<&Plain> = self.models[id as usize].values().flatten().collect();
        if known.is_empty() {
            return;
        }
        for _ in 0..6 {
            let mut some = || known[random.below(known.len() as u64) as usize].clone();
            let (a, b) = (some(), some());
            let start = random.below(self.below as u64) as DocId;
            let docs = start..start + random.below(self.below as u64) as DocId;
            match (a, b) {
                (Plain::Number(a), Plain::Number(b)) => {
                    let range = NumberRange {
                        lower: Bound::Included(a.min(b)),
                        upper: Bound::Excluded(a.max(b)),
                    };
                    let wants = |plain: &Plain| match plain {
                        Plain::Number(number) => range.contains(*number),
                        Plain::Term(_) => false,
                    };
                    let found = self.documents(id, Selection::Ranges(vec![range]), docs.clone());
                    assert_eq!(found, self.expected(id, docs, wants), "{range:?}");
                }
                (Plain::Term(a), Plain::Term(b)) => {
                    let reader = self.view().reader(id).unwrap();
                    let mut pages = Pages::new(&self.pool);
                    let terms = [a.as_bytes(), b.as_bytes(), b"absent".as_slice()];
                    let keys = finish(&mut pages, |pages| reader.terms(&terms, pages)).unwrap();
                    let wants =
                        |plain: &Plain| matches!(plain, Plain::Term(t) if *t == a || *t == b);
                    let found = self.documents(id, Selection::Terms(keys), docs.clone());
                    assert_eq!(found, self.expected(id, docs, wants));
                }
                _ => unreachable!(),
            }
        }
    }

    fn plain(
        &self,
        reader: &ColumnReader,
        value_type: ValueType,
        key: u64,
        pages: &mut Pages<'_>,
    ) -> Plain {
        match value_type.number_of_key(key) {
            Some(number) => Plain::Number(number),
            None => {
                let term = finish(pages, |pages| reader.term(key, pages)).unwrap();
                Plain::Term(String::from_utf8(term).unwrap())
            }
        }
    }

    fn compare_values(&self, id: ColumnId, random: &mut Random) {
        let reader = self.view().reader(id).unwrap();
        let docs: BTreeSet<DocId> = (0..40)
            .map(|_| random.below(self.below as u64) as DocId)
            .collect();
        let docs: Vec<DocId> = docs.into_iter().collect();
        let mut pages = Pages::new(&self.pool);
        let values = finish(&mut pages, |pages| reader.values_of(&docs, pages)).unwrap();
        for (doc, (value_type, keys)) in docs.iter().zip(values) {
            let found = keys
                .iter()
                .map(|key| self.plain(&reader, value_type, *key, &mut pages));
            let mut found: Vec<Plain> = found.collect();
            found.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let mut expected = self.models[id as usize]
                .get(doc)
                .cloned()
                .unwrap_or_default();
            expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
            assert_eq!(found, expected, "document {doc} of column {id}");
        }
    }

    fn compare_pass(&self, id: ColumnId) {
        struct All(Vec<(DocId, ValueType, u64)>);
        impl ValueVisitor for All {
            fn values(
                &mut self,
                value_type: ValueType,
                docs: &[DocId],
                keys: &[u64],
            ) -> Result<()> {
                let pairs = docs.iter().zip(keys);
                self.0
                    .extend(pairs.map(|(doc, key)| (*doc, value_type, *key)));
                Ok(())
            }
        }
        let reader = self.view().reader(id).unwrap();
        let mut pages = Pages::new(&self.pool);
        let (mut pass, mut all) = (reader.values(0..DocId::MAX), All(Vec::new()));
        while finish(&mut pages, |pages| pass.advance(&mut all, pages)).unwrap() {}
        let mut numbers = KeywordNumbers::default();
        finish(&mut pages, |pages| {
            reader.number_buffers(&mut numbers, pages)
        })
        .unwrap();
        let mut found = Model::new();
        let mut terms: BTreeMap<u32, String> = BTreeMap::new();
        for (doc, value_type, key) in all.0 {
            let plain = self.plain(&reader, value_type, key, &mut pages);
            if let Plain::Term(term) = &plain {
                let number = numbers.number(key);
                assert!(number < numbers.end());
                let known = terms.entry(number).or_insert_with(|| term.clone());
                assert_eq!(known, term);
                let again = self.plain(&reader, value_type, numbers.key(number), &mut pages);
                assert_eq!(again, plain);
            }
            found.entry(doc).or_default().push(plain);
        }
        assert_eq!(terms.values().collect::<BTreeSet<_>>().len(), terms.len());
        let sorted = |model: &Model| -> Vec<(DocId, Vec<Plain>)> {
            let sorted = model.iter().map(|(doc, values)| {
                let mut values = values.clone();
                values.sort_by(|a, b| a.partial_cmp(b).unwrap());
                (*doc, values)
            });
            sorted.collect()
        };
        assert_eq!(sorted(&found), sorted(&self.models[id as usize]));
    }
}

/// Buffers, flushes of any size, a type that changes, and openings give what a map gives.
#[test]
fn columns_answer_as_a_map_does() {
    for seed in 0..6 {
        let (mut bed, mut random) = (Bed::new(), Random(seed));
        for round in 0..12 {
            for _ in 0..random.below(4) {
                let documents = 1 + random.below(1500) as u32;
                bed.add(&mut random, documents);
            }
            if round == 5 {
                bed.columns
                    .change(0, |column| column.value_type = ValueType::Double);
                bed.add(&mut random, 20);
            }
            if bed.below > 0 && round % 3 == 0 {
                bed.compare(&mut random);
            }
            bed.freeze();
            bed.add(&mut random, 5);
            if bed.below > 0 && round % 4 == 0 {
                bed.compare(&mut random);
            }
            bed.flush();
            if round % 4 == 3 {
                bed.reopen();
            }
        }
        bed.compare(&mut random);
    }
}

/// Each wrong entry of the tree is found by the check, which goes on.
#[test]
fn a_check_finds_every_entry_that_is_wrong() {
    use super::entries::{EntryKind, numbered, put_number_key};
    use super::map::{decode_map, encode_map};
    use crate::btree::Change;
    let (mut bed, mut random) = (Bed::new(), Random(11));
    bed.add(&mut random, 3_000);
    bed.freeze();
    bed.flush();
    let mut root = Vec::new();
    bed.tree.encode(&mut bed.tables, &mut root).unwrap();
    bed.tables.flush().unwrap();
    let mut number = Vec::new();
    put_number_key(3, b"term 1", &mut number);
    let first = *bed.models[0].keys().next().unwrap();
    let map = numbered(0, EntryKind::Map, first).to_vec();
    let piece = |first: u32| numbered(0, EntryKind::Piece, first).to_vec();
    let old = |key: &[u8]| {
        let (view, mut pages) = (bed.tree.view(), Pages::new(&bed.pool));
        let value = finish(&mut pages, |pages| view.tree().get(key, pages)).unwrap();
        value.map(|value| value.to_vec())
    };
    let entries = decode_map(&old(&map).unwrap(), first).unwrap();
    let other = entries[1].first;
    let changed_map = |change: &dyn Fn(&mut MapEntry)| {
        let mut entries = entries.clone();
        change(&mut entries[1]);
        let mut bytes = Vec::new();
        encode_map(&entries, &mut bytes);
        Change::Put(bytes)
    };
    let wrong: Vec<(&str, Vec<u8>, Change)> = vec![
        (
            "least",
            map.clone(),
            changed_map(&|entry| entry.summary.least -= 1),
        ),
        (
            "count",
            map.clone(),
            changed_map(&|entry| entry.summary.values += 1),
        ),
        (
            "type",
            map.clone(),
            changed_map(&|entry| entry.value_type = ValueType::Date),
        ),
        (
            "documents",
            map.clone(),
            changed_map(&|entry| entry.documents -= 1),
        ),
        ("no map", map, Change::Remove),
        ("no piece", piece(other), Change::Remove),
        (
            "another piece",
            piece(other),
            Change::Put(old(&piece(first)).unwrap()),
        ),
        (
            "a piece that no map has",
            piece(other + 1),
            Change::Put(old(&piece(first)).unwrap()),
        ),
        (
            "a number",
            number.clone(),
            Change::Put(0u32.to_le_bytes().to_vec()),
        ),
        ("no number", number, Change::Remove),
        (
            "a string",
            numbered(3, EntryKind::Term, 2).to_vec(),
            Change::Put(b"other".to_vec()),
        ),
        (
            "a column",
            numbered(77, EntryKind::Term, 2).to_vec(),
            Change::Put(b"other".to_vec()),
        ),
        ("a kind", vec![0, 0, 9, 9], Change::Put(Vec::new())),
    ];
    for (what, key, change) in wrong {
        let mut tree = ColumnTree::open(bed.store.clone(), &root).unwrap();
        let mut decide = |window: &mut crate::btree::KeyWindow<'_>| window.set(0, change.clone());
        tree.tree.apply(&bed.pool, &[&key], &mut decide).unwrap();
        tree.flush().unwrap();
        let (mut pages, mut others) = (Pages::new(&bed.pool), Pages::new(&bed.pool));
        let view = tree.view();
        let checked = check_columns(&view, tree.columns(), bed.below, &mut pages, &mut others);
        let (_, findings) = checked.unwrap();
        assert!(!findings.is_empty(), "{what} is not found");
    }
}

/// A piece and its map that agree, but have other values than the documents, are found.
#[test]
fn values_that_documents_lack_are_found() {
    use super::entries::{EntryKind, numbered};
    use super::map::{decode_map, encode_map};
    use crate::btree::Change;
    let mut values = FoundValues::default();
    for document in 0..500u32 {
        values.add(document, 0, FoundValue::Whole(i64::from(document) * 3));
        if document % 3 == 0 {
            values.add_text(document, 3, &format!("term {}", document % 7), None);
        }
        values.end_document();
    }
    let mut bed = Bed::new();
    let buffer = bed.buffers.last().unwrap();
    buffer.reserve_for(&values, &bed.columns).unwrap();
    assert!(buffer.add(&values, 0, &bed.columns).is_empty());
    bed.below = 500;
    bed.freeze();
    bed.flush();
    let docs: Vec<DocId> = (0..500).collect();
    let compare = |tree: &ColumnTree| {
        let columns = Arc::new(bed.columns.clone());
        let view = ColumnsView::new(tree.view(), columns, Vec::new(), bed.below);
        let documents = ComparedDocuments {
            values: &values,
            docs: &docs,
            of_same_columns: true,
        };
        compare_values(&view, &documents, &bed.budget, &mut Pages::new(&bed.pool)).unwrap()
    };
    assert_eq!(compare(&bed.tree), Vec::<String>::new());
    let (mut root, mut random) = (Vec::new(), Random(3));
    bed.tree.encode(&mut bed.tables, &mut root).unwrap();
    bed.tables.flush().unwrap();
    for column in [0, 3] {
        for change in ["another value", "a value less", "a value more"] {
            let mut tree = ColumnTree::open(bed.store.clone(), &root).unwrap();
            let entry = |kind| {
                let mut pages = Pages::new(&bed.pool);
                let (view, key) = (tree.view(), numbered(column, kind, 0));
                let value = finish(&mut pages, |pages| view.tree().get(&key, pages)).unwrap();
                (key.to_vec(), value.unwrap().to_vec())
            };
            let ((map_key, map), (piece_key, piece)) =
                (entry(EntryKind::Map), entry(EntryKind::Piece));
            let mut entries = decode_map(&map, 0).unwrap();
            let count = entries[0].documents as usize;
            let mut all: Vec<(u16, u64)> = Vec::new();
            let read = gannet_values::Piece::parse(&piece, count).unwrap();
            read.for_each(|document, key| all.push((document as u16, key)));
            let at = 1 + random.below(all.len() as u64 - 2) as usize;
            let (document, key) = all[at];
            let other = all[at - 1].1;
            match change {
                "another value" if key == other => continue,
                "another value" => all[at].1 = other,
                "a value less" => drop(all.remove(at)),
                _ if key == other => continue,
                _ => all.insert(at + usize::from(other > key), (document, other)),
            }
            let encoded = gannet_values::encode(&all, count, 1_300).unwrap();
            assert_eq!(encoded.documents, count);
            entries[0].summary = encoded.summary;
            let mut map = Vec::new();
            encode_map(&entries, &mut map);
            for (key, value) in [(&map_key, map), (&piece_key, encoded.bytes)] {
                let mut decide = |window: &mut crate::btree::KeyWindow<'_>| {
                    window.set(0, Change::Put(value.clone()))
                };
                tree.tree.apply(&bed.pool, &[key], &mut decide).unwrap();
            }
            tree.flush().unwrap();
            let (mut pages, mut others) = (Pages::new(&bed.pool), Pages::new(&bed.pool));
            let view = tree.view();
            let checked = check_columns(&view, tree.columns(), bed.below, &mut pages, &mut others);
            assert_eq!(checked.unwrap().1, Vec::<String>::new(), "{change}");
            let findings = compare(&tree);
            assert_eq!(
                findings.len(),
                1,
                "{change} of column {column}: {findings:?}"
            );
            assert!(
                findings[0].contains(&format!("document {document},")),
                "{findings:?}"
            );
        }
    }
}
