//! Targets that read bytes and touch no device.

use std::str;
use std::sync::LazyLock;

use crate::analysis::{Analyzer, FieldKind, Schema};
use crate::base::{ByteReader, END, PAGE_SIZE, PageAddress, PhraseFilters};
use crate::btree::TreeView;
use crate::btree::node::{HEADER, Node, NodeName};
use crate::cache::AnswerRecord;
use crate::cache::Bytes;
use crate::cache::answers::block::AnswerBlock;
use crate::cache::flash::header::Header;
use crate::columns::{ColumnChanges, decode as decode_columns, decode_entry};
use crate::documents::{Document, DocumentRecord};
use crate::index::owners::decode_root;
use crate::postings::TermEntry;
use crate::postings::codec::block::BLOCK;
use crate::postings::codec::docs_page::DocsPage;
use crate::postings::codec::head::Head;
use crate::postings::codec::position_page::PositionPage;
use crate::postings::codec::short::{ShortList, put_entry};
use crate::runs::decode as decode_runs;
use crate::search::reuse::codec::{decode_answer, decoded_bytes, encode_answer};
use crate::search::{Operator, QueryStatistics, parse};
use crate::storage::RecordKind;
use crate::storage::log::parse_record;
use crate::storage::roots::decode_unproved;

/// Records of the log one after another, and what is in them.
pub fn log_record(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(record)) = parse_record(rest) {
        if record.kind == RecordKind::Document
            && let Ok(document) = DocumentRecord::decode(record.body)
        {
            round_trip(&document);
        }
        if record.kind == RecordKind::Columns {
            let mut reader = ByteReader::new(record.body, "columns");
            if let Ok(columns) = ColumnChanges::decode(&mut reader) {
                let mut again = Vec::new();
                columns.encode(&mut again);
                let read = ColumnChanges::decode(&mut ByteReader::new(&again, "columns"));
                assert_eq!(read.expect("what was encoded can be read"), columns);
            }
        }
        let end = record.body.as_ptr_range().end as usize - rest.as_ptr() as usize;
        rest = &rest[end..];
    }
}

fn round_trip(document: &DocumentRecord<'_>) {
    let mut again = Vec::new();
    document.encode(&mut again);
    let read = DocumentRecord::decode(&again).expect("what was encoded can be read");
    assert_eq!(&read, document);
}

/// A page as a root slot, and as the first page of a region of a flash tier and of a block of
/// answers.
pub fn page(bytes: &[u8]) {
    let mut page = [0; PAGE_SIZE];
    let length = bytes.len().min(PAGE_SIZE);
    page[..length].copy_from_slice(&bytes[..length]);
    let _ = decode_unproved(&page);
    let _ = Header::decode(&page, 0);
    let _ = Header::read(&page);
    let _ = AnswerBlock::decode(&page, 0);
    let _ = AnswerBlock::read(&page);
}

/// An answer on flash with its question and its state, and what it holds: what was read is written
/// so that it can be read.
pub fn answers(bytes: &[u8]) {
    let Ok(record) = AnswerRecord::decode(bytes) else {
        return;
    };
    let mut again = Vec::new();
    record.encode(&mut again);
    assert_eq!(AnswerRecord::decode(&again).ok(), Some(record));
    let (Ok(_), Ok(results)) = (decoded_bytes(record.content), decode_answer(record.content))
    else {
        return;
    };
    let again = encode_answer(&results).expect("what was read can be kept");
    let read = decode_answer(&again).expect("what was encoded can be read");
    assert_eq!(encode_answer(&read), Some(again));
}

/// A root record, and the trees and runs that it names.
pub fn root(bytes: &[u8]) {
    let Ok(root) = decode_root(bytes) else {
        return;
    };
    let [terms, ids, columns] = root.trees();
    let columns = decode_columns(columns).unwrap_or_default();
    let _ = TreeView::decode(&mut ByteReader::new(columns, "a tree"));
    let _ = TreeView::decode(&mut ByteReader::new(terms, "a tree"));
    for (tree, ..) in decode_runs(ids).unwrap_or_default() {
        let _ = TreeView::decode(&mut ByteReader::new(tree, "a tree"));
    }
}

/// A node of a tree: every entry, and a search for the key of each.
pub fn tree_node(bytes: &[u8]) {
    let Some(node) = parsed(bytes) else {
        return;
    };
    each_entry(&node, |key, _| {
        let _ = node.floor(key);
        let _ = node.child_for(key);
    });
}

fn each_entry(node: &Node<'_>, mut take: impl FnMut(&[u8], &[u8])) {
    let (mut at, mut key) = (HEADER, Vec::new());
    while at < node.end()
        && let Ok(entry) = node.entry(at)
        && entry.shared <= key.len()
    {
        key.truncate(entry.shared);
        key.extend_from_slice(entry.suffix);
        take(&key, node.value(entry.value.clone()));
        at = entry.value.end;
    }
}

/// An entry of the tree of columns: the length of its key, the key, the value.
pub fn column_entry(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first() else {
        return;
    };
    let (key, value) = rest.split_at((*length as usize).min(rest.len()));
    let _ = decode_entry(key, value);
}

/// The entries of a leaf.
pub fn each_leaf_entry(payload: &[u8], mut take: impl FnMut(&[u8], &[u8])) {
    if let Some(node) = parsed(payload).filter(|_| payload[0] == 0) {
        each_entry(&node, |key, value| take(key, value));
    }
}

fn parsed(bytes: &[u8]) -> Option<Node<'_>> {
    let (level, id) = (*bytes.first()?, bytes.get(4..8)?);
    let name = NodeName {
        id: u32::from_le_bytes(id.try_into().ok()?),
        address: PageAddress { zone: 0, page: 0 },
    };
    Node::parse(bytes, name, level as usize).ok()
}

/// A term's entry with its tail, and behind it the head of its first chunk.
pub fn term_entry(bytes: &[u8]) {
    if let Ok(entry) = TermEntry::decode(bytes) {
        let _ = entry.tail.check();
        if let Ok(again) = entry.encode() {
            let read = TermEntry::decode(&again).expect("what was encoded can be read");
            assert_eq!(read.document_frequency(), entry.document_frequency());
            short_list(bytes, &again);
        }
    }
    let Ok(chunks) = TermEntry::decode_only_chunks(bytes) else {
        return;
    };
    for chunk in &chunks {
        if let Ok(head) = Head::parse(chunk, bytes) {
            let _ = head.find(chunk.last);
            let _ = head.parse_index(0, bytes);
        }
    }
}

/// A short list, which is joined as it is coded: alone it gives what its entry gives.
fn short_list(bytes: &[u8], entry: &[u8]) {
    let list = ShortList::decode(bytes).ok();
    if let Some(list) = list.filter(|list| !list.is_empty()) {
        let mut joined = Vec::new();
        put_entry(&[list], &mut joined).expect("a list alone can be coded");
        assert_eq!(joined, entry);
    }
}

/// A docs page and a page of positions that begin at the first byte.
pub fn list_pages(bytes: &[u8]) {
    for filters in [PhraseFilters::None, PhraseFilters::Common] {
        let whole = 0..bytes.len();
        if let Ok(page) = DocsPage::parse(Bytes::Owned(bytes.to_vec()), whole, filters) {
            docs_page(&page);
        }
    }
    if let Ok(page) = PositionPage::parse(Bytes::Owned(bytes.to_vec()), 0..bytes.len()) {
        let (mut number, mut out) = (page.first, [0; BLOCK]);
        while number < page.end()
            && let Ok((_, count)) = page.block(number, &mut out)
            && count > 0
        {
            number = number.saturating_add(count as u32);
        }
    }
}

fn docs_page(page: &DocsPage) {
    let (mut docs, mut frequencies) = ([0; BLOCK], [0; BLOCK]);
    for block in 0..page.blocks().len() {
        let _ = page.docs(block, &mut docs, &mut frequencies);
        let _ = page.frequencies(block, &mut frequencies);
        let _ = page.each_pair(block, |_| {});
        let _ = page.groups(block);
    }
    let _ = page.find(END - 1, 0);
    let _ = page.position_page(u32::MAX);
}

/// A line of JSON as a document.
pub fn document(bytes: &[u8]) {
    if let Ok(document) = Document::parse(bytes) {
        let again = Document::parse(document.source()).expect("a source can be parsed again");
        assert_eq!(again.fields(), document.fields());
    }
}

/// A query: what is printed of it means the same.
pub fn query(bytes: &[u8]) {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let mut schema = Schema::default();
        for (name, kind) in [("body", FieldKind::Text), ("tag", FieldKind::Exact)] {
            schema
                .add(name, kind, Analyzer::default())
                .expect("two fields fit");
        }
        schema
    });
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    for operator in [Operator::Or, Operator::And] {
        let Ok(query) = parse(text, operator, &SCHEMA) else {
            continue;
        };
        // It says of each clause whether it must match, so `OR` joins what nothing else joins.
        let printed = query.to_string();
        match parse(&printed, Operator::Or, &SCHEMA) {
            Ok(again) => assert_eq!(again.to_string(), printed, "of {text:?}"),
            // The printed form of a query near the limits may be beyond them.
            Err(error) => assert!(
                printed.len() > text.len(),
                "{text:?} was printed as {printed:?}: {error}"
            ),
        }
    }
}

/// Statistics of a query as JSON: what was read is written so that it can be read.
pub fn statistics(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(mut statistics) = QueryStatistics::from_json(&text) {
        let again = QueryStatistics::from_json(&statistics.to_json());
        let again = again.expect("what was written can be read");
        assert_eq!(again, statistics);
        statistics
            .merge(&again)
            .expect("they are of the same query");
    }
}
