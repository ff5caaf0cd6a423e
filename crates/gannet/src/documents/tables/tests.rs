//! The tables and stored documents against plain vectors, over a device in memory.

use std::sync::Arc;

use super::super::fetch::StoredDocument;
use super::super::{Compressor, Dictionaries, DocumentRecord, Fetch, Fetched, stored};
use super::*;
use crate::base::Budget;
use crate::cache::{FramePool, finish};
use crate::device::MemoryDevice;
use crate::storage::{PageKind, RecordKind, ZoneTable, frame};
use proptest::prelude::*;

const FIELDS: usize = 3;

/// The expected content of the tables.
#[derive(Clone, Debug, Default)]
struct Model {
    addresses: Vec<Address>,
    norms: Vec<[u8; FIELDS]>,
    deleted: Vec<bool>,
}

/// Tables on a device, with the model beside them.
struct Bench {
    store: Arc<Store>,
    pool: FramePool,
    stream: StreamWriter,
    tables: DocumentTables,
    model: Model,
}

/// A place in any zone, which is as far from its neighbours' as can be.
fn span(seed: u32) -> Span {
    let length = seed % 100_000 + 1;
    let rest = (PAGE as u32).saturating_sub(length);
    Span {
        zone: seed,
        page: seed % 65_536,
        offset: (seed % (rest + 1)) as u16,
        length,
    }
}

/// A place as a log gives it to documents of about 300 bytes.
fn span_in_log(doc: DocId, seed: u32) -> Span {
    Span {
        zone: 70_000 + doc / 50_000,
        page: doc % 50_000 / 10,
        offset: (doc % 10 * 400) as u16,
        length: 200 + doc.wrapping_mul(seed) % 200,
    }
}

const PAGE: usize = crate::base::PAGE_PAYLOAD;

impl Bench {
    fn new() -> Bench {
        let device = Arc::new(MemoryDevice::new());
        let store = Arc::new(Store::new(device, 77, ZoneTable::default()));
        let pool = FramePool::new(Arc::clone(&store), &Budget::new(64 << 20), 4 << 20).unwrap();
        Bench {
            stream: StreamWriter::new(Arc::clone(&store), PageKind::Table),
            store,
            pool,
            tables: DocumentTables::new(),
            model: Model::default(),
        }
    }

    fn load_for(&mut self, changes: &[TableChange]) {
        let mut pages = Pages::new(&self.pool);
        finish(&mut pages, |pages| self.tables.load_for(changes, pages)).unwrap();
        assert!(pages.counts().rounds <= 1);
        assert!(self.tables.missing(changes).is_empty());
    }

    fn push(&mut self, count: usize, seed: u32) {
        self.load_for(&[TableChange::Push(self.tables.end())]);
        for _ in 0..count {
            let doc = self.tables.end();
            let span = match seed % 3 {
                0 => span(doc.wrapping_mul(31) ^ seed),
                _ => span_in_log(doc, seed),
            };
            let norms = [doc as u8, 0, (seed as u8).wrapping_add(doc as u8)];
            let given: Vec<_> = (0..).zip(norms).collect();
            self.tables.push(doc, span, &given).unwrap();
            self.model.addresses.push(Address::of(span).unwrap());
            self.model.norms.push(norms);
            self.model.deleted.push(false);
        }
    }

    fn delete(&mut self, doc: DocId) {
        self.load_for(&[TableChange::Delete(doc)]);
        let was_live = self.tables.delete(doc).unwrap();
        assert_eq!(was_live, !self.model.deleted[doc as usize]);
        self.model.deleted[doc as usize] = true;
    }

    fn relocate(&mut self, doc: DocId, seed: u32) {
        self.load_for(&[TableChange::SetAddress(doc)]);
        self.tables.set_address(doc, span(seed)).unwrap();
        self.model.addresses[doc as usize] = Address::of(span(seed)).unwrap();
    }

    fn checkpoint(&mut self) {
        self.tables
            .write_changes(&self.store, &mut self.stream)
            .unwrap();
        self.stream.flush().unwrap();
    }

    fn reopen(&mut self) {
        self.checkpoint();
        let mut out = Vec::new();
        self.tables.encode(&mut out);
        self.tables = DocumentTables::decode(&mut ByteReader::new(&out, "tables")).unwrap();
    }

    fn move_everything(&mut self) {
        let before = self.store.zones().next_number();
        let is_victim = |zone| zone <= before;
        self.tables
            .move_out_of(&is_victim, &self.pool, &self.store, &mut self.stream)
            .unwrap();
        self.checkpoint();
    }

    fn check(&self, tables: &DocumentTables, model: &Model) {
        let mut pages = Pages::new(&self.pool);
        let pages = &mut pages;
        let deleted = model.deleted.iter().filter(|deleted| **deleted).count();
        assert_eq!(tables.end() as usize, model.addresses.len());
        assert_eq!(tables.deleted_count(), deleted as u64);
        let mut norms: Vec<_> = (0..FIELDS as u16).map(|f| tables.norm_cursor(f)).collect();
        let mut live = tables.live_cursor(true);
        for doc in 0..tables.end() {
            let at = doc as usize;
            for (field, cursor) in norms.iter_mut().enumerate() {
                let norm = finish(pages, |pages| cursor.norm(doc, pages)).unwrap();
                assert_eq!(norm, model.norms[at][field]);
            }
            let mut is_live = None;
            let known = finish(pages, |pages| {
                live.live(&[doc], pages, |live| is_live = Some(live))
            });
            assert_eq!((known.unwrap(), is_live), (1, Some(!model.deleted[at])));
            if doc % 61 == 0 {
                self.check_single(tables, model, doc, pages);
            }
        }
        for page in 0..tables.address_pages() {
            finish(pages, |pages| tables.check_addresses(page, pages)).unwrap();
        }
        let end = tables.end();
        self.check_all_live(tables, model, pages);
        assert!(!finish(pages, |pages| tables.is_live(end, pages)).unwrap());
        assert!(finish(pages, |pages| tables.address(end, pages)).is_err());
    }

    /// All at once, with one that does not exist yet.
    fn check_all_live(&self, tables: &DocumentTables, model: &Model, pages: &mut Pages) {
        let docs: Vec<DocId> = (0..=tables.end()).collect();
        let (mut live, mut found) = (tables.live_cursor(true), Vec::new());
        while found.len() < docs.len() {
            let from = found.len();
            let some = finish(pages, |pages| {
                live.live(&docs[from..], pages, |live| found.push(live))
            });
            assert_eq!(from + some.unwrap(), found.len());
        }
        let expected = model.deleted.iter().map(|deleted| !deleted);
        assert!(found.into_iter().eq(expected.chain([false])));
    }

    fn check_single(&self, tables: &DocumentTables, model: &Model, doc: u32, pages: &mut Pages) {
        let at = doc as usize;
        let address = finish(pages, |pages| tables.address(doc, pages)).unwrap();
        assert_eq!(address, model.addresses[at]);
        let norm = finish(pages, |pages| tables.norm(2, doc, pages)).unwrap();
        assert_eq!(norm, model.norms[at][2]);
        let is_live = finish(pages, |pages| tables.is_live(doc, pages)).unwrap();
        assert_eq!(is_live, !model.deleted[at]);
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Push(usize, u32),
    Delete(u32),
    Relocate(u32, u32),
    Checkpoint,
    Reopen,
    Move,
    Snapshot,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (1usize..3_000, any::<u32>()).prop_map(|(n, seed)| Operation::Push(n, seed)),
        3 => any::<u32>().prop_map(Operation::Delete),
        3 => any::<(u32, u32)>().prop_map(|(doc, seed)| Operation::Relocate(doc, seed)),
        2 => Just(Operation::Checkpoint),
        1 => Just(Operation::Reopen),
        1 => Just(Operation::Move),
        2 => Just(Operation::Snapshot),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn tables_equal_plain_vectors_and_snapshots_stay(operations in prop::collection::vec(operation(), 1..25)) {
        let mut bench = Bench::new();
        let mut snapshots = Vec::new();
        for operation in operations {
            let end = bench.tables.end();
            match operation {
                Operation::Push(count, seed) => bench.push(count, seed),
                Operation::Delete(doc) if end > 0 => bench.delete(doc % end),
                Operation::Relocate(doc, seed) if end > 0 => bench.relocate(doc % end, seed),
                Operation::Delete(_) | Operation::Relocate(..) => {}
                Operation::Checkpoint => bench.checkpoint(),
                Operation::Reopen => bench.reopen(),
                Operation::Move => bench.move_everything(),
                Operation::Snapshot => snapshots.push((bench.tables.clone(), bench.model.clone())),
            }
        }
        bench.check(&bench.tables, &bench.model);
        for (tables, model) in &snapshots {
            bench.check(tables, model);
        }
    }

    #[test]
    fn hostile_roots_are_errors_or_tables(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = DocumentTables::decode(&mut ByteReader::new(&bytes, "tables"));
        let _ = Dictionaries::decode(&mut ByteReader::new(&bytes, "dictionaries"));
    }
}

#[test]
fn after_a_checkpoint_only_the_last_pages_stay_in_memory() {
    let mut bench = Bench::new();
    bench.push(20_000, 5);
    let before = bench.tables.memory_bytes();
    bench.checkpoint();
    let after = bench.tables.memory_bytes();
    assert!(after < before / 5, "{after} of {before}");
}

#[test]
fn more_pages_than_frames_move_without_memory() {
    let mut bench = Bench::new();
    bench.pool = FramePool::new(Arc::clone(&bench.store), &Budget::new(1 << 20), 0).unwrap();
    bench.push(240_000, 7);
    bench.checkpoint();
    let (pages, frames) = (bench.tables.table_pages().count(), bench.pool.capacity());
    assert!(pages > 2 * frames, "{pages} pages in {frames} frames");
    let before = (
        bench.tables.memory_bytes(),
        bench.store.zones().next_number(),
    );
    let is_victim = |zone| zone <= before.1;
    let (pool, store) = (&bench.pool, &bench.store);
    bench
        .tables
        .move_out_of(&is_victim, pool, store, &mut bench.stream)
        .unwrap();
    assert!(bench.tables.memory_bytes() <= before.0);
    bench.reopen();
    bench.check(&bench.tables, &bench.model);
}

#[test]
fn addresses_of_a_log_are_small_and_pages_split_when_documents_move() {
    let mut bench = Bench::new();
    bench.push(60_000, 7);
    bench.checkpoint();
    let pages = bench.tables.address_pages();
    assert!(pages * PAGE <= 60_000 * 5 / 2, "{pages} pages");
    let before = (bench.tables.clone(), bench.model.clone());
    for doc in (0..60_000).step_by(17) {
        bench.relocate(doc, doc.wrapping_mul(0x9e37_79b9));
    }
    assert!(bench.tables.address_pages() > pages * 3 / 2);
    bench.reopen();
    bench.check(&bench.tables, &bench.model);
    bench.check(&before.0, &before.1);
}

#[test]
fn a_forged_page_of_addresses_is_damage_and_no_panic() {
    let mut bench = Bench::new();
    bench.push(6_000, 7);
    bench.checkpoint();
    let whole = bench.tables.clone();
    let missing = whole.missing(&[TableChange::SetAddress(700)]);
    let pool = &bench.pool;
    let mut pages = Pages::new(pool);
    let payload = finish(&mut pages, |pages| pages.page(missing[0].address)).unwrap();
    let mut damaged = 0;
    for at in 0..PAGE {
        let mut forged = payload.to_vec();
        forged[at] ^= 0x81;
        let mut tables = whole.clone();
        tables.load(missing[0], &forged);
        let checked = finish(&mut pages, |pages| tables.check_addresses(0, pages));
        damaged += usize::from(checked.is_err());
        for doc in [0, 700, 1_500] {
            let _ = finish(&mut pages, |pages| tables.address(doc, pages));
            let _ = tables.set_address(doc, span(at as u32));
        }
    }
    assert!(damaged > 50, "{damaged}");
}

#[test]
fn a_document_out_of_turn_or_unknown_is_rejected() {
    let mut bench = Bench::new();
    bench.push(2, 1);
    for doc in [0, 1, 3] {
        assert!(bench.tables.push(doc, span(1), &[]).is_err());
    }
    assert!(bench.tables.delete(2).is_err());
    assert!(bench.tables.set_address(2, span(1)).is_err());
}

/// Pushes documents whose records stand in a stream of their own.
fn store_documents(bench: &mut Bench, sources: &[String], kind: PageKind) -> StreamWriter {
    let mut stream = StreamWriter::new(Arc::clone(&bench.store), kind);
    let mut compressor = Compressor::new(&Dictionaries::default(), 0).unwrap();
    for (doc, source) in (0..).zip(sources) {
        let record = DocumentRecord {
            doc,
            sequence: doc as u64 + 10,
            version: 3,
            dictionary: 0,
            id_in_source: false,
            id: &format!("id-{doc}"),
            raw_length: source.len() as u32,
            compressed: compressor.compress(source.as_bytes()).unwrap(),
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        let framed = frame(RecordKind::Document, true, &bytes);
        let span = stream.append(&framed).unwrap();
        bench.tables.push(doc, span, &[]).unwrap();
    }
    stream
}

#[test]
fn stored_documents_come_back_in_two_rounds() {
    let mut bench = Bench::new();
    let sources: Vec<String> = (0..2_000u64)
        .map(|n| {
            format!(
                "{{\"n\":{n},\"t\":\"{}\"}}",
                "long ".repeat(n as usize % 40)
            )
        })
        .collect();
    let mut stream = store_documents(&mut bench, &sources, PageKind::Documents);
    stream.flush().unwrap();
    bench.reopen();
    let docs = [1_999, 3, 700, 701, 3, 0, 1_500];
    let none = Dictionaries::default();
    let mut pages = Pages::new(&bench.pool);
    let (budget, mut all) = (Budget::new(1 << 20), Vec::new());
    let mut fetch = Fetch::new(&bench.tables, &none, &budget, 1024, true);
    let count = finish(&mut pages, |pages| {
        fetch.next(&docs, pages, |fetched| {
            if let Fetched::Document(document, _) = fetched {
                all.push(document);
            }
            Ok(())
        })
    });
    assert_eq!((count.unwrap(), all.len()), (docs.len(), docs.len()));
    assert_eq!(pages.counts().rounds, 2);
    for (doc, document) in docs.into_iter().zip(all) {
        let expected = StoredDocument {
            id: format!("id-{doc}"),
            source: sources[doc as usize].clone().into_bytes(),
            version: 3,
            sequence: doc as u64 + 10,
            id_in_source: document.id_in_source,
        };
        assert_eq!(document, expected);
        let mut pages = Pages::new(&bench.pool);
        let alone = finish(&mut pages, |pages| stored(doc, &bench.tables, &none, pages));
        assert_eq!(alone.unwrap(), expected);
    }
}

/// Text that does not shrink, of many lengths, so that most records go on in other pages.
fn noise(count: usize) -> Vec<String> {
    let mut state = 1u64;
    let mut digit = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        char::from_digit((state >> 33) as u32 % 36, 36).unwrap()
    };
    let lengths = (0..count).map(|n| [30, 5_000, 700, 9_000, 4_080, 20_000][n % 6] + n);
    lengths
        .map(|length| (0..length).map(|_| digit()).collect())
        .collect()
}

#[test]
fn records_that_go_on_in_other_pages_are_found_before_and_after_they_are_written() {
    for kind in [PageKind::Log, PageKind::Documents] {
        let mut bench = Bench::new();
        let sources = noise(60);
        let mut stream = store_documents(&mut bench, &sources, kind);
        let none = Dictionaries::default();
        for written in [false, true] {
            if written {
                stream.flush().unwrap();
            } else if kind == PageKind::Documents {
                continue;
            }
            for (doc, source) in (0..).zip(&sources) {
                let mut pages = Pages::new(&bench.pool);
                let found = finish(&mut pages, |pages| stored(doc, &bench.tables, &none, pages));
                assert_eq!(found.unwrap().source, source.as_bytes(), "{kind:?} {doc}");
            }
        }
    }
}

#[test]
fn a_record_of_another_document_is_damage() {
    let mut bench = Bench::new();
    let sources = ["{}".to_owned(), "{}".to_owned()];
    let mut stream = store_documents(&mut bench, &sources, PageKind::Documents);
    stream.flush().unwrap();
    let mut pages = Pages::new(&bench.pool);
    let address = finish(&mut pages, |pages| bench.tables.address(1, pages)).unwrap();
    let none = Dictionaries::default();
    let longer = |length| Address { length, ..address }.at(0);
    let elsewhere = Address { page: 1, ..address }.at(0);
    for wrong in [longer(address.length + 1), longer(9_000), elsewhere] {
        bench.tables.set_address(0, wrong).unwrap();
        let read = finish(&mut pages, |pages| stored(0, &bench.tables, &none, pages));
        assert!(read.unwrap_err().is_storage_fault(), "{wrong:?}");
    }
}
