//! A small index in memory, of whose pages the seeds are made, and what becomes of changed ones.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::base::{ByteReader, PAGE_PAYLOAD, PAGE_SIZE, Result, Span};
use crate::cache::{AnswerRecord, AnswerState};
use crate::device::{Device, FileId, MemoryDevice, MemoryPage};
use crate::documents::Document;
use crate::index::{Index, Limits, MEMORY_MIN, Options};
use crate::postings::TermEntry;
use crate::search::reuse::codec::encode_answer;
use crate::search::{Operator, SearchOptions, SortKey};
use crate::storage::{IndexIdentity, Lineage, PageKind, SealAddress, identity_of_slot, seal};

pub const LOG: PageKind = PageKind::Log;
pub const ROOTS: PageKind = PageKind::Root;
pub const NODES: PageKind = PageKind::Node;

pub const DOCUMENTS: [&str; 4] = [
    r#"{"id": "1", "title": "A", "body": ["one two", "three"], "year": 1851}"#,
    r#"{"id": 7, "nested": {"a": {"b": null}}, "flag": true, "list": [[1], [2.5e3]]}"#,
    r#"{"text": "\u00e9\ud83d\ude00 \n \"quoted\""}"#,
    r#"{}"#,
];

pub const QUERIES: [&str; 8] = [
    "one two three",
    r#"+body:one -"two three"~2 tag:x^2.5"#,
    "(a AND b) OR NOT (c && !d) || #e",
    r#"body:[a TO m} tag:{* TO "z w"]"#,
    "pre* w?ld* fuzzy~1 id:17 body:*",
    r#"a\:b "c \"d\"" /x.y+z/"#,
    "body:(x OR (y AND z))^3",
    "*",
];

pub const STATISTICS: [&str; 3] = [
    r#"{"version":1,"fields":{}}"#,
    r#"{"version":1,"fields":{"body":{"documents":3,"tokens":9,"terms":{"one":2},"similar":{}}}}"#,
    concat!(
        r#"{"version":1,"fields":{"body":{"documents":3,"tokens":9007199254740992,"terms":{},"#,
        r#""similar":{"one~":{"cut":true,"terms":{"one":2,"bone":0}}}}}}"#
    ),
];

/// The pages of a healthy index.
pub struct Sample {
    device: MemoryDevice,
    pages: Vec<(FileId, u32)>,
    identity: IndexIdentity,
}

fn options() -> Options {
    Options::default().memory(MEMORY_MIN).limits(Limits {
        buffer_bytes: Some(48 << 10),
        zone_pages: Some(8),
        beside: false,
        maintain_after: None,
        ..Limits::default()
    })
}

/// Documents with common words and rare ones, some of them long.
fn documents(from: usize) -> Vec<Document> {
    let word = |n: usize| format!("w{}", n * n % 97);
    let text = |n: usize| (0..20 + n % 40).map(|i| word(n + i)).collect::<Vec<_>>();
    (from..from + 60)
        .map(|n| {
            let line = format!(
                r#"{{"id": "{n}", "body": "the {} end x{n}", "n": {n}, "x": [{}.5, -{n}], "day": "2020-01-{:02}", "tag": ["t{}", "all"], "flag": {}}}"#,
                text(n).join(" "),
                n * n % 1_000,
                1 + n % 28,
                n % 7,
                n % 3 == 0
            );
            Document::parse(line.as_bytes()).expect("a document")
        })
        .collect()
}

impl Sample {
    /// The index, made when it is first asked for.
    pub fn get() -> &'static Sample {
        static SAMPLE: OnceLock<Sample> = OnceLock::new();
        SAMPLE.get_or_init(|| Sample::make().expect("nothing fails in memory"))
    }

    fn make() -> Result<Sample> {
        let device = Arc::new(MemoryDevice::new());
        let index = Index::open_on(
            Arc::clone(&device) as Arc<dyn Device>,
            Path::new("sample"),
            options(),
        )?;
        for from in (0..1_500).step_by(60) {
            index.write(documents(from))?;
            index.delete(&[from.to_string().as_str()])?;
        }
        index.checkpoint()?;
        while index.maintain()? {}
        index.write(documents(20))?;
        index.sync()?;
        // The log has what no checkpoint has: a copy is taken before the index is closed.
        let device = MemoryDevice::from_files(device.files());
        index.close()?;
        let mut pages = Vec::new();
        for (file, count) in device.list()? {
            pages.extend((0..count).map(|page| (file, page)));
        }
        pages.sort_unstable();
        let slot = device.page(FileId::Superblock, 0).expect("a root slot");
        let identity = identity_of_slot(slot.bytes(), 0).expect("a slot that proves itself");
        Ok(Sample {
            device,
            pages,
            identity,
        })
    }

    fn bytes(&self, file: FileId, page: u32) -> [u8; PAGE_SIZE] {
        *self.device.page(file, page).expect("a page").bytes()
    }

    /// All pages, whole.
    pub fn pages(&self) -> Vec<Vec<u8>> {
        let all = self.pages.iter();
        all.map(|(file, page)| self.bytes(*file, *page).to_vec())
            .collect()
    }

    /// The payloads of the pages of a kind.
    pub fn payloads(&self, kind: PageKind) -> Vec<Vec<u8>> {
        let pages = self.pages().into_iter();
        pages
            .filter(|page| page[PAGE_PAYLOAD] == kind as u8)
            .map(|page| page[..PAGE_PAYLOAD].to_vec())
            .collect()
    }

    /// The values of the leaves of all trees.
    pub fn entries(&self) -> Vec<Vec<u8>> {
        let mut entries = Vec::new();
        for payload in self.payloads(NODES) {
            super::decoders::each_leaf_entry(&payload, |_, value| entries.push(value.to_vec()));
        }
        entries
    }

    /// The entries of the tree of columns: the length of the key, the key, the value.
    pub fn column_entries(&self) -> Vec<Vec<u8>> {
        let mut entries = Vec::new();
        for payload in self.payloads(NODES) {
            super::decoders::each_leaf_entry(&payload, |key, value| {
                // Terms have no such byte behind the number of their field.
                if key.get(2).is_some_and(|kind| (1..=4).contains(kind)) {
                    entries.push([&[key.len() as u8], key, value].concat());
                }
            });
        }
        entries
    }

    /// The docs pages and the position pages of the chunks that entries name.
    pub fn list_pages(&self) -> Vec<Vec<u8>> {
        let mut pages = Vec::new();
        for entry in self.entries() {
            for chunk in TermEntry::decode_only_chunks(&entry).unwrap_or_default() {
                let spans = chunk.place.spans().map(|span| self.span(span));
                // An old node may name chunks whose zone is gone.
                let Some(bytes) = spans.collect::<Option<Vec<_>>>() else {
                    continue;
                };
                let bytes = bytes.concat();
                let (head, docs) = (chunk.head_length as usize, chunk.docs_length as usize);
                pages.push(bytes[head..docs].to_vec());
                pages.push(bytes[chunk.filter().end as usize..].to_vec());
            }
        }
        pages
    }

    fn span(&self, span: Span) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for page in span.page..span.page + span.page_count() {
            let page = self.device.page(FileId::Zone(span.zone), page)?;
            bytes.extend_from_slice(&page.bytes()[..PAGE_PAYLOAD]);
        }
        let from = span.offset as usize;
        bytes
            .get(from..from + span.length as usize)
            .map(<[u8]>::to_vec)
    }

    /// Changes of [`open_changed`]: of one byte in each page.
    pub fn changes(&self) -> Vec<Vec<u8>> {
        let numbers = 0..self.pages.len() as u16;
        let change = |page: u16| [&page.to_le_bytes()[..], &[40, 0, 0x55]].concat();
        numbers.map(change).collect()
    }

    /// The sample with changed pages, each of which proves itself. A change is five bytes: page,
    /// place in it, and what the byte there is combined with by exclusive or.
    fn changed(&self, changes: &[u8]) -> MemoryDevice {
        let copy = MemoryDevice::from_files(self.device.files());
        for change in changes.chunks_exact(5) {
            let number = u16::from_le_bytes([change[0], change[1]]) as usize;
            let at = u16::from_le_bytes([change[2], change[3]]) as usize % (PAGE_PAYLOAD + 3);
            let (file, page) = self.pages[number % self.pages.len()];
            let mut bytes = *copy.page(file, page).expect("a page").bytes();
            bytes[at] ^= change[4];
            if let Some(kind) = PageKind::from_number(bytes[PAGE_PAYLOAD]) {
                seal(&mut bytes, self.identity, SealAddress { file, page }, kind);
            }
            copy.store(file, page, MemoryPage::new(&bytes))
                .expect("stored");
        }
        copy
    }
}

/// Answers of the sample as they stand on flash.
pub fn answers() -> Vec<Vec<u8>> {
    let copy: Arc<dyn Device> = Arc::new(Sample::get().changed(&[]));
    let index = Index::open_on(copy, Path::new("sample"), options()).expect("the sample opens");
    let snapshot = index.snapshot();
    let root = Lineage::decode(&mut ByteReader::new(&[0; 17], "a root")).expect("a root");
    let mut all = Vec::new();
    for text in ["the end", "w1 AND w4", "x7*", "\"w1 w4\"", "*"] {
        let query = snapshot.parse(text, Operator::Or).expect("a query");
        let plain = SearchOptions {
            highlight: vec!["body".to_owned()],
            explain: true,
            ..SearchOptions::default()
        };
        let sorted = SearchOptions {
            sort: vec![SortKey::parse("n").expect("a key")],
            fetch: false,
            ..SearchOptions::default()
        };
        for options in [plain, sorted] {
            let answer = snapshot.search_one(&query, &options).expect("an answer");
            let mut bytes = Vec::new();
            AnswerRecord {
                question: text.as_bytes(),
                state: AnswerState {
                    root,
                    sequence: 300,
                },
                at: 1 << 40,
                content: &encode_answer(&answer).expect("it can be kept"),
            }
            .encode(&mut bytes);
            all.push(bytes);
        }
    }
    all
}

/// Opens the sample with changed pages, checks it, searches and writes.
pub fn open_changed(changes: &[u8]) {
    // A page is changed by a few bytes: what is changed all over is rejected at once.
    let changes = &changes[..changes.len().min(40)];
    let device: Arc<dyn Device> = Arc::new(Sample::get().changed(changes));
    let Ok(index) = Index::open_on(device, Path::new("changed"), options()) else {
        return;
    };
    let _ = index.check(&|_, _| {});
    let snapshot = index.snapshot();
    for text in [
        "the end",
        "w1 AND w4",
        r#""w1 w4""#,
        "x7*",
        "id:7",
        "n:[1 TO 9]",
    ] {
        if let Ok(query) = snapshot.parse(text, Operator::Or) {
            let _ = snapshot.search(&query).run();
        }
    }
    for column in ["n", "x", "day", "tag", "flag"] {
        let _ = snapshot.values(&["7", "900", "1499"], column);
    }
    drop(snapshot);
    let _ = index.write(documents(590));
    let _ = index.delete(&["3"]);
    let _ = index.checkpoint();
    let _ = index.vacuum();
    let _ = index.close();
}
