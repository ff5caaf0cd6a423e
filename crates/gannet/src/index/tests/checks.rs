//! A check finds every page that is not what was written, of each kind, and every filter that is
//! forged.
//!
//! The test does not ask the checker for the live pages: a device notes the pages that are read
//! when all documents, IDs and words of an index are asked for, and phrases of all words that stand
//! side by side. The kind of a page follows from its seal, and that of postings from the entries in
//! the dictionary.
//!
//! `GANNET_FLIPS`: flips of each kind (25).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::random::Random;
use crate::base::{Error, PAGE_PAYLOAD, PAGE_SIZE, PageAddress, PhraseFilters, Result, Span};
use crate::cache::{Pages, finish};
use crate::device::{Backend, Counters, Device, FileId, MemoryDevice, MemoryPage, Transfer};
use crate::documents::Document;
use crate::index::{CheckReport, Index, Limits, MEMORY_MIN, Options};
use crate::postings::{ChunkRef, DELTA_LEVELS, TermEntry, TermTree};
use crate::search::{Query, SearchOptions};
use crate::storage::{Found, PageKind, SealAddress, find_root, seal};

/// Words of the texts, and words of each.
const WORDS: usize = 60;
const COMMON: [&str; 5] = ["the", "of", "because", "which", "would"];
const LENGTH: usize = 24;

/// Flips of pages that are tried together: each must be named.
const TOGETHER: usize = 20;

type At = (FileId, u32);

/// Files in memory that note what is read.
#[derive(Default)]
struct Watched {
    files: MemoryDevice,
    read: Mutex<BTreeSet<At>>,
}

impl Device for Watched {
    fn backend(&self) -> Backend {
        self.files.backend()
    }

    fn create(&self, file: FileId) -> Result<()> {
        self.files.create(file)
    }

    fn remove(&self, file: FileId) -> Result<()> {
        self.files.remove(file)
    }

    fn list(&self) -> Result<Vec<(FileId, u32)>> {
        self.files.list()
    }

    fn read(&self, batch: &mut [Transfer]) -> Result<()> {
        let pages = batch.iter().flat_map(|transfer| {
            let pages = transfer.page..transfer.page + transfer.buffers.len() as u32;
            pages.map(|page| (transfer.file, page))
        });
        self.read.lock().expect("no panic").extend(pages);
        self.files.read(batch)
    }

    fn write(&self, batch: &mut [Transfer]) -> Result<()> {
        self.files.write(batch)
    }

    fn sync(&self, files: &[FileId]) -> Result<()> {
        self.files.sync(files)
    }

    fn sync_directory(&self) -> Result<()> {
        self.files.sync_directory()
    }

    fn counters(&self) -> &Counters {
        self.files.counters()
    }
}

/// An index to be damaged.
struct Victim {
    device: Arc<Watched>,
    /// The pages that were read when everything was.
    live: BTreeSet<At>,
    /// Bytes that may be changed, by what they are.
    parts: BTreeMap<&'static str, Vec<Span>>,
}

/// The documents and options that an index is made of.
#[derive(Clone, Copy)]
struct Making {
    filters: PhraseFilters,
    documents: usize,
    /// Set if documents are deleted and replaced, and some stand in the log behind the root.
    changes: bool,
}

fn options(filters: PhraseFilters) -> Options {
    let limits = Limits {
        buffer_bytes: Some(96 << 10),
        vacuum_bytes: Some(1 << 10),
        zone_pages: Some(64),
        beside: false,
        ..Limits::default()
    };
    let memory = 8 * MEMORY_MIN;
    let options = Options::default().memory(memory).limits(limits);
    options.phrase_filters(filters)
}

fn text(random: &mut Random) -> String {
    // Words of low numbers are frequent, and the first stands in most documents. A third are common
    // ones, which phrase filters know.
    let word = |random: &mut Random| match random.below(3) {
        0 => COMMON[random.below(COMMON.len())].to_owned(),
        _ => {
            let end = 1 + random.below(WORDS);
            format!("w{}", random.below(end))
        }
    };
    let words: Vec<String> = (0..LENGTH).map(|_| word(random)).collect();
    words.join(" ")
}

impl Victim {
    fn new(making: Making) -> Victim {
        let device: Arc<Watched> = Arc::default();
        let open = |options: Options| {
            let device = Arc::clone(&device) as Arc<dyn Device>;
            Index::open_on(device, Path::new("test"), options).expect("an index")
        };
        let mut random = Random::new(7);
        let mut texts = BTreeMap::new();
        let index = open(options(making.filters));
        let mut write = |index: &Index, ids: std::ops::Range<usize>| {
            let documents = ids.map(|id| {
                let (id, text) = (format!("id{id}"), text(&mut random));
                let document = Document::new(&id, [("body", text.as_str())]).expect("a document");
                texts.insert(id, text);
                document
            });
            index.write(documents.collect()).expect("written");
        };
        let delete = |index: &Index, ids: std::ops::Range<usize>| {
            let ids: Vec<String> = ids.step_by(7).map(|id| format!("id{id}")).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            index.delete(&ids).expect("deleted");
        };
        let Making { documents, .. } = making;
        let batches = (0..documents).step_by(100);
        for first in batches {
            write(&index, first..documents.min(first + 100));
            if first == documents / 200 * 100 {
                if making.changes {
                    // Documents move out of zones of which a part is dead.
                    write(&index, 0..first / 4);
                }
                // What comes now stays in chunks of its own, in delta postings and in the log's
                // zones.
                while index.clean().expect("cleaned") {}
            }
        }
        if making.changes {
            delete(&index, 0..documents / 2);
            write(&index, 0..documents / 20);
        }
        index.checkpoint().expect("a checkpoint");
        if making.changes {
            write(&index, documents..documents + documents / 20);
            delete(&index, documents / 2..documents / 2 + 50);
            index.sync().expect("synced");
        }
        drop(index);
        device.read.lock().expect("no panic").clear();
        let index = open(options(making.filters).read_only());
        read_all(&index, &texts);
        let live = std::mem::take(&mut *device.read.lock().expect("no panic"));
        let parts = parts(&index, &live);
        drop(index);
        let victim = Victim {
            device,
            live,
            parts,
        };
        let report = victim.check().expect("it opens");
        assert_eq!(report.findings, [""; 0]);
        assert_eq!(report.notes, [""; 0]);
        victim
    }

    fn check(&self) -> Result<CheckReport> {
        let device = Arc::clone(&self.device) as Arc<dyn Device>;
        let options = options(PhraseFilters::default()).read_only();
        Index::open_on(device, Path::new("test"), options)?.check(&|_, _| ())
    }

    /// A byte of a part, in a page that lives.
    fn draw(&self, part: &str, random: &mut Random) -> (At, usize) {
        let spans = self.parts.get(part).unwrap_or_else(|| panic!("no {part}"));
        loop {
            let span = spans[random.below(spans.len())];
            let byte = span.offset as usize + random.below(span.length as usize);
            let page = span.page + (byte / PAGE_PAYLOAD) as u32;
            let at = (FileId::Zone(span.zone), page);
            if self.live.contains(&at) {
                return (at, byte % PAGE_PAYLOAD);
            }
        }
    }

    /// Changes a page, and gives what was there.
    fn change(&self, at: At, change: impl FnOnce(&mut [u8; PAGE_SIZE])) -> MemoryPage {
        let (file, page) = at;
        let before = self.device.files.page(file, page).expect("a page");
        let mut bytes = *before.bytes();
        change(&mut bytes);
        self.put((file, page), MemoryPage::new(&bytes));
        before
    }

    fn put(&self, at: At, content: MemoryPage) {
        let (file, page) = at;
        self.device
            .files
            .store(file, page, content)
            .expect("stored");
    }

    /// Returns the number of these flips that a check finds, or the opening before it.
    fn found(&self, flips: &[(At, usize)], random: &mut Random) -> usize {
        let flip = |&(at, byte): &(At, usize)| {
            let bit = 1 << random.below(8);
            (at, self.change(at, |bytes| bytes[byte] ^= bit))
        };
        let before: Vec<(At, MemoryPage)> = flips.iter().map(flip).collect();
        let checked = self.check();
        before
            .into_iter()
            .rev()
            .for_each(|(at, page)| self.put(at, page));
        match checked {
            Err(Error::Damaged { .. }) if flips.len() == 1 => 1,
            Err(Error::Damaged { .. }) => flips
                .iter()
                .map(|flip| self.found(std::slice::from_ref(flip), random))
                .sum(),
            Err(error) => panic!("{error}"),
            Ok(report) => {
                let named = |(at, _): &&(At, usize)| is_named(&report, *at);
                flips.iter().filter(named).count()
            }
        }
    }
}

/// Returns true if a report names a page; of a page behind the root it can only name the zone.
fn is_named(report: &CheckReport, at: At) -> bool {
    let (file, page) = at;
    let of_zone = match file {
        FileId::Superblock => format!("root slot {page}"),
        FileId::Zone(zone) => format!("zone {zone}: the last"),
        FileId::Tier | FileId::Answers => return false,
    };
    let page = format!("page {page} of {file}:");
    let findings = report.findings.iter();
    let mut all = findings.chain(&report.notes);
    all.any(|told| told.contains(&page) || told.contains(&of_zone))
}

/// Reads all that can be asked for.
fn read_all(index: &Index, texts: &BTreeMap<String, String>) {
    for id in texts.keys() {
        index.get(id).expect("an answer");
    }
    let field = || Some("body".to_owned());
    let mut pairs = BTreeSet::new();
    for text in texts.values() {
        let words: Vec<&str> = text.split(' ').collect();
        pairs.extend(words.windows(2).map(|pair| pair.join(" ")));
    }
    let phrases = pairs.iter().flat_map(|text| {
        [0, 1].map(|slop| Query::Phrase {
            field: field(),
            text: text.clone(),
            slop,
        })
    });
    let words = (0..WORDS).map(|word| Query::Text {
        field: field(),
        text: format!("w{word}"),
        operator: crate::search::Operator::Or,
    });
    let queries: Vec<Query> = phrases.chain(words).collect();
    let options = SearchOptions {
        k: 10_000,
        count: true,
        fetch: false,
        ..SearchOptions::default()
    };
    let snapshot = index.snapshot();
    for query in &queries {
        let query = std::slice::from_ref(query);
        snapshot
            .search_all(query, &options)
            .remove(0)
            .expect("an answer");
    }
}

/// Returns the bytes of the live pages by their meaning.
fn parts(index: &Index, live: &BTreeSet<At>) -> BTreeMap<&'static str, Vec<Span>> {
    let (shared, mut parts) = (index.shared(), BTreeMap::<_, Vec<Span>>::new());
    let state = shared.published.get();
    let device = shared.store.device();
    let Found::Root(slot) = find_root(device, Path::new("test")).expect("a root") else {
        panic!("no root");
    };
    parts.insert("root record", vec![slot.root]);
    let record = shared
        .store
        .read_span(slot.root, PageKind::Root)
        .expect("a record");
    let start = crate::index::owners::decode_root(&record)
        .expect("a record")
        .covered
        .log_start;
    let whole = |page: PageAddress| Span {
        zone: page.zone,
        page: page.page,
        offset: 0,
        length: PAGE_PAYLOAD as u32,
    };
    let of_documents: BTreeSet<PageAddress> = state.tables.table_pages().collect();
    let of_ids: BTreeSet<PageAddress> = state
        .ids
        .trees()
        .flat_map(|tree| tree.node_pages())
        .collect();
    let levels = (0..DELTA_LEVELS).map(TermTree::Delta);
    let recent = levels.flat_map(|level| state.terms.tree(level).node_pages());
    let recent: BTreeSet<PageAddress> = recent.collect();
    let zones = shared.store.zones().clone();
    for (file, page) in live {
        let FileId::Zone(zone) = *file else { continue };
        let page = PageAddress { zone, page: *page };
        let Some(known) = zones.get(zone).filter(|known| page.page < known.pages) else {
            continue;
        };
        let part = match known.kind {
            PageKind::Log if Some(zone) > start.zone => "log behind the root",
            PageKind::Log if Some(zone) == start.zone && page.page >= start.page => {
                "log behind the root"
            }
            PageKind::Log => "log",
            PageKind::Documents => "documents moved",
            PageKind::Node if of_ids.contains(&page) => "nodes of external IDs",
            PageKind::Node if recent.contains(&page) => "nodes of delta postings",
            PageKind::Node => "nodes of lists",
            PageKind::Table if of_documents.contains(&page) => "tables of documents",
            PageKind::Table => "tables of places of nodes",
            PageKind::Postings | PageKind::Root | PageKind::RootSlot => continue,
        };
        parts.entry(part).or_default().push(whole(page));
    }
    for tree in TermTree::WITH_CHUNKS {
        let (tree, mut pages) = (state.terms.tree(tree), Pages::new(&shared.pool));
        let mut scan = tree.scan(&[]);
        while finish(&mut pages, |pages| scan.advance(tree, pages)).expect("an entry") {
            let entry = TermEntry::decode(scan.value()).expect("an entry");
            for chunk in &entry.chunks {
                add_chunk(chunk, &mut parts);
            }
        }
    }
    parts
}

fn add_chunk(chunk: &ChunkRef, parts: &mut BTreeMap<&'static str, Vec<Span>>) {
    let filter = chunk.filter();
    let (filter_start, filter_end) = (filter.start as u32, filter.end as u32);
    for (part, start, end) in [
        ("postings: heads", 0, chunk.head_length),
        ("postings: docs", chunk.head_length, chunk.docs_length),
        ("postings: phrase filters", filter_start, filter_end),
        ("postings: positions", filter_end, chunk.length()),
    ] {
        if start < end {
            let span = chunk.place.part(start, end - start);
            parts.entry(part).or_default().push(span);
        }
    }
}

fn flips_asked_for() -> usize {
    let asked = std::env::var("GANNET_FLIPS").ok();
    asked.map_or(25, |flips| flips.parse().expect("a number"))
}

/// Flips bits of each part; gives what was not found.
fn flip_all(victim: &Victim, parts: &[&str], together: usize) -> Vec<String> {
    let (mut random, mut missed) = (Random::new(9), Vec::new());
    for part in parts {
        let (mut flips, mut found, wanted) = (0, 0, flips_asked_for());
        while flips < wanted {
            let mut some: BTreeMap<At, usize> = BTreeMap::new();
            for _ in 0..together.min(wanted - flips) {
                let (at, byte) = victim.draw(part, &mut random);
                some.insert(at, byte);
            }
            let some: Vec<(At, usize)> = some.into_iter().collect();
            flips += some.len();
            found += victim.found(&some, &mut random);
        }
        println!("| {part} | {flips} | {found} |");
        if found < flips {
            missed.push(format!("{part}: {found} of {flips} found"));
        }
    }
    missed
}

const WITHOUT_FILTERS: [&str; 9] = [
    "log",
    "documents moved",
    "nodes of external IDs",
    "nodes of delta postings",
    "nodes of lists",
    "tables of documents",
    "postings: heads",
    "postings: docs",
    "postings: positions",
];

#[test]
fn a_check_finds_every_flipped_page() {
    for filters in [PhraseFilters::Common, PhraseFilters::None] {
        let victim = Victim::new(Making {
            filters,
            documents: 5_000,
            changes: true,
        });
        println!("{filters:?}");
        let mut parts = WITHOUT_FILTERS.to_vec();
        if filters != PhraseFilters::None {
            parts.push("postings: phrase filters");
        }
        assert_eq!(flip_all(&victim, &parts, TOGETHER), [""; 0], "{filters:?}");
    }
}

/// Flips bits of what an opening reads, and of what it takes for the end of the log: one at a time,
/// in a small index.
#[test]
fn a_check_or_the_opening_before_it_finds_flips_in_what_an_opening_reads() {
    let victim = Victim::new(Making {
        filters: PhraseFilters::Common,
        documents: 400,
        changes: true,
    });
    let parts = [
        "root record",
        "tables of places of nodes",
        "nodes of delta postings",
        "log behind the root",
    ];
    let mut missed = flip_all(&victim, &parts, 1);
    let (mut random, mut found, wanted) = (Random::new(11), 0, flips_asked_for());
    for flip in 0..wanted {
        let at = (FileId::Superblock, flip as u32 % 2);
        found += victim.found(&[(at, random.below(PAGE_SIZE))], &mut random);
    }
    println!("| root slots | {wanted} | {found} |");
    if found < wanted {
        missed.push(format!("root slots: {found} of {wanted} found"));
    }
    assert_eq!(missed, [""; 0]);
}

/// Bytes that prove themselves and are not what the documents say. Of bytes of other parts some
/// mean the same when they are changed, such as bounds that are looser.
#[test]
fn a_check_finds_every_forged_phrase_filter() {
    let is_thorough = std::env::var_os("GANNET_FLIPS").is_some();
    let victim = Victim::new(Making {
        filters: PhraseFilters::Common,
        documents: 1_500,
        changes: false,
    });
    let mut random = Random::new(13);
    let part = "postings: phrase filters";
    let (forged, found) = forge(&victim, part, &mut random);
    assert_eq!(found, forged);
    let others = victim.parts.keys().filter(|other| **other != part);
    for other in others.filter(|_| is_thorough) {
        forge(&victim, other, &mut random);
    }
}

/// Changes single bytes of a part and seals their pages again; gives how many there were, and were
/// found.
fn forge(victim: &Victim, part: &str, random: &mut Random) -> (usize, usize) {
    let slot = victim
        .device
        .files
        .page(FileId::Superblock, 0)
        .expect("a slot");
    let identity = slot.bytes()[12..20].try_into().expect("eight bytes");
    let identity = u64::from_le_bytes(identity);
    let (wanted, mut found) = (flips_asked_for(), 0);
    for _ in 0..wanted {
        let (at, byte) = victim.draw(part, random);
        let change = 1 + random.below(255) as u8;
        let before = victim.change(at, |bytes| {
            bytes[byte] ^= change;
            let kind = PageKind::from_number(bytes[PAGE_PAYLOAD]).expect("a kind");
            let place = SealAddress {
                file: at.0,
                page: at.1,
            };
            seal(bytes, identity, place, kind);
        });
        let checked = victim.check();
        victim.put(at, before);
        found += usize::from(!checked.is_ok_and(|report| report.findings.is_empty()));
    }
    println!("| {part}, forged | {wanted} | {found} |");
    (wanted, found)
}
