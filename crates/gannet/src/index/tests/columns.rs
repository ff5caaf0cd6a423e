//! Columns of an index against a map of its documents: batches, replaced and deleted documents,
//! flushes, openings with and without a log, other readers, vacuum and rebuilding. What documents
//! have in a column, and which documents have a value, must be what their JSON says.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use gannet_values::{Number, NumberRange, Value, ValueType, parse_full_date};

use super::random::Random;
use crate::base::DocId;
use crate::cache::{Pages, finish};
use crate::columns::Selection;
use crate::device::{Device, MemoryDevice};
use crate::documents::Document;
use crate::index::{FieldMapping, FieldType, Index, Limits, MEMORY_MIN, Options};

/// The values of a document, by column.
type Plain = BTreeMap<&'static str, Vec<Value<'static>>>;

const COLUMNS: [&str; 6] = ["n", "big", "flag", "day", "tag.keyword", "whole"];

fn options() -> Options {
    Options::default()
        .memory(MEMORY_MIN)
        .field_analyzer("whole", crate::analysis::Analyzer::KEYWORD)
        .limits(Limits {
            buffer_bytes: Some(96 << 10),
            zone_pages: Some(16),
            beside: false,
            maintain_after: None,
            ..Limits::default()
        })
}

struct World {
    device: Arc<MemoryDevice>,
    index: Option<Index>,
    live: BTreeMap<String, Plain>,
    /// Set once numbers have fractions.
    fractions: bool,
    misfits: u64,
}

impl World {
    fn new() -> World {
        let mut world = World {
            device: Arc::new(MemoryDevice::new()),
            index: None,
            live: BTreeMap::new(),
            fractions: false,
            misfits: 0,
        };
        world.open();
        world
    }

    fn open(&mut self) {
        self.index = None;
        let device = Arc::clone(&self.device) as Arc<dyn Device>;
        self.index = Some(Index::open_on(device, Path::new("test"), options()).unwrap());
    }

    fn index(&self) -> &Index {
        self.index.as_ref().unwrap()
    }

    fn write(&mut self, random: &mut Random, count: usize) {
        let mut batch = Vec::new();
        for _ in 0..count {
            let id = format!("id{}", random.below(1_500));
            let (line, plain) = self.document(random, &id);
            batch.push(Document::parse(line.as_bytes()).unwrap());
            self.live.insert(id, plain);
        }
        self.index().write(batch).unwrap();
    }

    fn document(&mut self, random: &mut Random, id: &str) -> (String, Plain) {
        let mut plain = Plain::new();
        let mut line = format!(r#"{{"id": "{id}", "text": "{}""#, "long ".repeat(60));
        let mut numbers = Vec::new();
        for _ in 0..random.below(3) {
            let long = random.below(2_000) as i64 - 1_000;
            if self.fractions && random.one_in(3) {
                numbers.push(Number::Double(long as f64 + 0.25));
            } else {
                numbers.push(Number::Long(long));
            }
        }
        if !numbers.is_empty() {
            let mut spelled: Vec<String> = numbers.iter().map(Number::to_string).collect();
            if random.one_in(10) {
                spelled.push(r#""a word""#.to_owned());
                self.misfits += 1;
            }
            line += &format!(r#", "n": [{}]"#, spelled.join(", "));
            numbers.sort();
            let values = numbers
                .iter()
                .map(|number| Value::Double(number.nearest_double()));
            plain.insert("n", values.collect());
        }
        if random.one_in(2) {
            let big = [i64::MIN, i64::MAX, (1 << 53) + 1, -((1 << 53) + 1)][random.below(4)];
            line += &format!(r#", "big": {big}"#);
            plain.insert("big", vec![Value::Long(big)]);
        }
        let flag = random.one_in(2);
        line += &format!(r#", "flag": {flag}"#);
        plain.insert("flag", vec![Value::Boolean(flag)]);
        if random.one_in(5) && !self.live.is_empty() {
            line += r#", "day": "unknown""#;
        } else {
            let day = format!(
                "20{:02}-{:02}-1{}",
                random.below(30),
                1 + random.below(12),
                random.below(10)
            );
            line += &format!(r#", "day": "{day}""#);
            plain.insert("day", vec![Value::Date(parse_full_date(&day).unwrap())]);
        }
        let tags: BTreeSet<String> = (0..random.below(4))
            .map(|_| format!("t{}", random.below(40)))
            .collect();
        if !tags.is_empty() {
            let quoted: Vec<String> = tags
                .iter()
                .chain(tags.first())
                .map(|tag| format!("{tag:?}"))
                .collect();
            line += &format!(r#", "tag": [{}]"#, quoted.join(", "));
            plain.insert(
                "tag.keyword",
                tags.into_iter()
                    .map(|tag| Value::Keyword(tag.into()))
                    .collect(),
            );
        }
        let whole = format!("whole {}", random.next());
        line += &format!(r#", "whole": "{whole}"}}"#);
        plain.insert("whole", vec![Value::Keyword(whole.into())]);
        (line, plain)
    }

    fn delete(&mut self, random: &mut Random) {
        let ids: Vec<String> = self
            .live
            .keys()
            .filter(|_| random.one_in(9))
            .cloned()
            .collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.index().delete(&ids).unwrap();
        ids.iter().for_each(|id| drop(self.live.remove(*id)));
    }

    fn compare(&self, index: &Index, random: &mut Random) {
        let ids: Vec<&str> = self.live.keys().map(String::as_str).collect();
        let snapshot = index.snapshot();
        for column in COLUMNS {
            let found = snapshot.values(&ids, column).unwrap();
            for (id, found) in ids.iter().zip(found) {
                let expected = self.live[*id].get(column).cloned().unwrap_or_default();
                assert_eq!(comparable(found), comparable(expected), "{column} of {id}");
            }
        }
        assert_eq!(snapshot.values(&["absent"], "n").unwrap(), [Vec::new()]);
        for _ in 0..4 {
            let ends = [0; 2].map(|_| random.below(2_000) as i64 - 1_000);
            self.compare_range(index, ends);
        }
    }

    /// The live documents with a number in a range are those that the JSON says.
    fn compare_range(&self, index: &Index, ends: [i64; 2]) {
        let range = NumberRange {
            lower: Bound::Included(Number::Long(ends[0].min(ends[1]))),
            upper: Bound::Included(Number::Long(ends[0].max(ends[1]))),
        };
        let pinned = index.snapshot().pinned().unwrap();
        let view = &pinned.view;
        let types = [ValueType::Long, ValueType::Double];
        let id = view
            .columns
            .columns()
            .find("n", &view.schema, &types)
            .unwrap();
        let reader = view.columns.reader(id).unwrap();
        let mut blocks = reader.documents(Selection::Ranges(vec![range]), 0..DocId::MAX);
        let mut pages = Pages::new(&index.shared().pool);
        let mut found = BTreeSet::new();
        while let Some(block) = finish(&mut pages, |pages| blocks.advance(pages)).unwrap() {
            for doc in block.docs() {
                if finish(&mut pages, |pages| view.tables.is_live(doc, pages)).unwrap() {
                    found.insert(doc);
                }
            }
        }
        let mut expected = BTreeSet::new();
        for (id, plain) in &self.live {
            let has = |value: &Value<'_>| match value {
                Value::Double(value) => range.contains(Number::Double(*value)),
                _ => false,
            };
            if plain.get("n").is_some_and(|values| values.iter().any(has)) {
                let doc = finish(&mut pages, |pages| view.ids.document(id, view.below, pages));
                expected.extend(doc.unwrap());
            }
        }
        assert_eq!(found, expected, "{range:?}");
    }

    fn check(&self) {
        let report = self.index().check(&|_, _| {}).unwrap();
        assert_eq!(report.findings, Vec::<String>::new());
        assert!(report.values > 0);
    }

    fn compare_all(&self, random: &mut Random) {
        self.compare(self.index(), random);
        let device = Arc::new(MemoryDevice::from_files(self.device.files()));
        let reader = options().read_only();
        let reader = Index::open_on(device, Path::new("copy"), reader).unwrap();
        self.compare(&reader, random);
    }
}

/// Long and double are one value, as they are found before and after a field has fractions.
fn comparable(values: Vec<Value<'static>>) -> Vec<String> {
    let text = |value: &Value<'static>| match value {
        Value::Long(value) if value.unsigned_abs() < 1 << 50 => {
            Value::Double(*value as f64).to_string()
        }
        other => other.to_string(),
    };
    values.iter().map(text).collect()
}

#[test]
fn columns_have_what_the_documents_say() {
    for seed in 0..3 {
        let (mut world, mut random) = (World::new(), Random::new(seed));
        world.write(&mut random, 40);
        for round in 0..40 {
            world.fractions |= round == 15;
            let count = [1, 20, 150][random.below(3)];
            match random.below(8) {
                0 => world.delete(&mut random),
                1 => world.index().checkpoint().unwrap(),
                2 => {
                    world.index().sync().unwrap();
                    world.open();
                }
                3 if round > 20 => {
                    world.index().vacuum().unwrap();
                }
                _ => world.write(&mut random, count),
            }
            if round % 8 == 7 {
                world.index().sync().unwrap();
                world.compare_all(&mut random);
            }
        }
        let misfits = |world: &World| {
            let columns = world.index().snapshot().columns().unwrap();
            let of_n = columns.iter().find(|column| column.name == "n");
            of_n.unwrap().misfits
        };
        assert_eq!(misfits(&world), world.misfits);
        world.open();
        assert_eq!(misfits(&world), world.misfits);
        world.check();
        world.index().rebuild(&mut |_, _, _| {}).unwrap();
        world.compare_all(&mut random);
        world.write(&mut random, 200);
        world.index().checkpoint().unwrap();
        world.compare_all(&mut random);
        world.check();
    }
}

fn write(index: &Index, lines: &[&str]) {
    let documents = lines
        .iter()
        .map(|line| Document::parse(line.as_bytes()).unwrap());
    index.write(documents.collect::<Vec<_>>()).unwrap();
}

fn open(mapping: FieldMapping, device: &Arc<MemoryDevice>) -> crate::base::Result<Index> {
    let device = Arc::clone(device) as Arc<dyn Device>;
    Index::open_on(device, Path::new("test"), options().mapping(mapping))
}

fn shown(index: &Index, column: &str) -> Vec<String> {
    let ids: Vec<String> = (0..9).map(|id| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let values = index.snapshot().values(&ids, column).unwrap();
    values.iter().flatten().map(Value::to_string).collect()
}

/// The first value of a field decides; what does not fit is counted, and the document taken.
#[test]
fn types_are_found_and_misfits_are_counted() {
    let device = Arc::new(MemoryDevice::new());
    let index = open(FieldMapping::new(), &device).unwrap();
    write(
        &index,
        &[
            r#"{"id": 0, "a": 1, "b": 1.5, "c": true, "d": "2020-01-05", "e": "x", "f": 18446744073709551615}"#,
            r#"{"id": 1, "a": "two", "b": 2, "c": 3, "d": "soon", "e": 7, "f": 1}"#,
            r#"{"id": 2, "a": 3.0, "c": "true", "d": ["2021-02-03T04:05:06Z"]}"#,
        ],
    );
    let crowd = vec!["9"; 101].join(",");
    write(&index, &[&format!(r#"{{"id": 3, "a": [{crowd}]}}"#)]);
    let columns = index.snapshot().columns().unwrap();
    let found: Vec<(&str, &str, u64)> = columns
        .iter()
        .map(|column| {
            (
                column.name.as_str(),
                column.value_type.name(),
                column.misfits,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("a", "long", 102),
            ("b", "double", 0),
            ("c", "boolean", 2),
            ("d.keyword", "keyword", 0),
            ("d", "date", 1),
            ("e.keyword", "keyword", 0),
            ("f", "double", 0),
        ]
    );
    assert_eq!(shown(&index, "a"), ["1", "3"]);
    assert_eq!(shown(&index, "b"), ["1.5", "2.0"]);
    assert_eq!(
        shown(&index, "d"),
        ["2020-01-05T00:00:00.000Z", "2021-02-03T04:05:06.000Z"]
    );
    assert_eq!(
        shown(&index, "d.keyword"),
        ["2020-01-05", "soon", "2021-02-03T04:05:06Z"]
    );
    assert_eq!(shown(&index, "e"), ["x", "7"]);
    write(&index, &[r#"{"id": 4, "a": 2.5}"#, r#"{"id": 5, "a": 4}"#]);
    index.checkpoint().unwrap();
    assert_eq!(shown(&index, "a"), ["1", "3", "2.5", "4.0"]);
}

/// Strings that nearly all differ are not kept, and asking for them is an error that says so.
#[test]
fn a_column_of_distinct_strings_is_given_up() {
    let device = Arc::new(MemoryDevice::new());
    let index = open(FieldMapping::new(), &device).unwrap();
    for from in (0..12_000).step_by(1_000) {
        let line = |n: i32| {
            let line = format!(
                r#"{{"id": {n}, "url": "http://x/{n}", "kind": "k{}", "when": "{}"}}"#,
                n % 4_000,
                if n % 3 == 0 { "2020-01-01" } else { "never" }
            );
            Document::parse(line.as_bytes()).unwrap()
        };
        index
            .write((from..from + 1_000).map(line).collect::<Vec<_>>())
            .unwrap();
    }
    let columns = index.snapshot().columns().unwrap();
    let closed: Vec<(&str, bool)> = columns
        .iter()
        .map(|c| (c.name.as_str(), c.closed))
        .collect();
    assert_eq!(
        closed,
        [
            ("url.keyword", true),
            ("kind.keyword", false),
            ("when.keyword", false),
            ("when", true),
        ]
    );
    for (column, part) in [
        ("url", "values differ"),
        ("url.keyword", "values differ"),
        ("body", "no column"),
    ] {
        let error = index
            .snapshot()
            .values(&["1"], column)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{column}: {error}");
    }
    assert_eq!(shown(&index, "kind")[7], "k7");
    let report = index.check(&|_, _| {}).unwrap();
    assert_eq!(report.findings, Vec::<String>::new());
}

/// A declared type is kept whatever comes first, and rejects what does not fit with field, value
/// and type.
#[test]
fn declared_types_reject_what_does_not_fit() {
    let of = |name: &str| FieldType::named(name).unwrap();
    let mapping = FieldMapping::new()
        .field("n", of("long"))
        .field("x", of("double"))
        .field("flag", of("boolean"))
        .field("day", of("date"))
        .field("tag", of("keyword"))
        .field("words", of("text"))
        .lenient_field("loose", of("long"));
    let device = Arc::new(MemoryDevice::new());
    let mut index = open(mapping, &device).unwrap();
    write(
        &index,
        &[
            r#"{"id": 0, "n": "12", "x": 7, "flag": "true", "day": "2020", "tag": 5, "words": "a b", "loose": "no"}"#,
            r#"{"id": 1, "n": 13, "x": "0.5", "day": 86400000, "tag": ["b", "b"], "loose": 3}"#,
        ],
    );
    for round in 0..2 {
        assert_eq!(shown(&index, "n"), ["12", "13"]);
        assert_eq!(shown(&index, "x"), ["7.0", "0.5"]);
        assert_eq!(shown(&index, "flag"), ["true"]);
        assert_eq!(
            shown(&index, "day"),
            ["2020-01-01T00:00:00.000Z", "1970-01-02T00:00:00.000Z"]
        );
        assert_eq!(shown(&index, "tag"), ["5", "b"]);
        assert_eq!(shown(&index, "loose"), ["3"]);
        let long = "x".repeat(2_000);
        let crowd = vec!["1"; 101].join(",");
        for (line, parts) in [
            (r#"{"n": 1.5}"#.to_owned(), ["\"n\"", "\"1.5\"", "long"]),
            (r#"{"n": true}"#.to_owned(), ["\"n\"", "\"true\"", "long"]),
            (
                r#"{"n": 9223372036854775808}"#.to_owned(),
                ["\"n\"", "9223372036854775808", "long"],
            ),
            (r#"{"x": "NaN"}"#.to_owned(), ["\"x\"", "NaN", "double"]),
            (
                r#"{"flag": 1}"#.to_owned(),
                ["\"flag\"", "\"1\"", "boolean"],
            ),
            (
                r#"{"day": ["2020-13-01"]}"#.to_owned(),
                ["\"day\"", "2020-13-01", "date"],
            ),
            (
                format!(r#"{{"tag": "{long}"}}"#),
                ["\"tag\"", "xxx", "keyword"],
            ),
            (format!(r#"{{"n": [{crowd}]}}"#), ["\"n\"", "101", "long"]),
        ] {
            let document = Document::parse(line.as_bytes()).unwrap();
            let error = index.write(vec![document]).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
        let error = index
            .snapshot()
            .values(&["0"], "words")
            .unwrap_err()
            .to_string();
        assert!(error.contains("declared as text"), "{error}");
        // Declared types stay so without being declared again.
        if round == 0 {
            index.sync().unwrap();
            drop(index);
            index = open(FieldMapping::new(), &device).unwrap();
        }
    }
    index.close().unwrap();
    let error = open(FieldMapping::new().field("n", of("date")), &device);
    let error = error.err().unwrap().to_string();
    for part in ["\"n\"", "declared as long", "cannot become date"] {
        assert!(error.contains(part), "{error}");
    }
    open(FieldMapping::new().field("n", of("long")), &device).unwrap();
}

/// A field of text keeps its declared analyzer, and its whole strings if that was declared.
#[test]
fn declared_texts_keep_their_analyzers_and_strings() {
    let json = r#"{"note": {"type": "text", "analyzer": "english", "column": true}, "pr\u00e9nom": "keyword"}"#;
    let mapping = FieldMapping::from_json(json).unwrap();
    let device = Arc::new(MemoryDevice::new());
    let index = open(mapping.clone(), &device).unwrap();
    // The other Unicode form of a name is the same name.
    let line = "{\"id\": 0, \"note\": \"Running\", \"pre\u{301}nom\": \"A B\"}";
    write(&index, &[line, r#"{"id": 1, "note": [7, "2020-01-01"]}"#]);
    index.close().unwrap();
    for mapping in [FieldMapping::new(), mapping] {
        let index = open(mapping, &device).unwrap();
        let mut strings = shown(&index, "note.keyword");
        strings.sort();
        assert_eq!(strings, ["2020-01-01", "7", "Running"]);
        assert_eq!(shown(&index, "pr\u{e9}nom"), ["A B"]);
        assert_eq!(index.snapshot().columns().unwrap().len(), 2);
        let snapshot = index.snapshot();
        let query = snapshot
            .parse("note:run", crate::search::Operator::Or)
            .unwrap();
        assert_eq!(snapshot.search(&query).run().unwrap().hits.len(), 1);
        drop(snapshot);
        index.close().unwrap();
    }
    for (json, part) in [
        (
            r#"{"note": {"type": "text", "analyzer": "german"}}"#,
            "cannot become german",
        ),
        (r#"{"note": "keyword"}"#, "cannot become keyword"),
    ] {
        let error = open(FieldMapping::from_json(json).unwrap(), &device);
        let error = error.err().unwrap().to_string();
        assert!(
            error.contains("\"note\"") && error.contains(part),
            "{error}"
        );
    }
}

/// A thousand fields of which each document has two: what the log gets with each document does not
/// grow with the fields before, and a replay has the same columns.
#[test]
fn a_thousand_sparse_fields_are_found() {
    const FIELDS: u32 = 1_000;
    let device = Arc::new(MemoryDevice::new());
    let mut index = open(FieldMapping::new(), &device).unwrap();
    let line = |n: u32| {
        format!(
            r#"{{"id": {n}, "f{}": {n}, "f{}": {}}}"#,
            n / 2,
            (n / 2 + 1) % FIELDS,
            n + 1
        )
    };
    for n in 0..2 * FIELDS {
        let line = line(n);
        // Half of them are found before the checkpoint, the others in the log.
        write(&index, &[line.as_str()]);
        if n == FIELDS {
            index.checkpoint().unwrap();
        }
    }
    index.sync().unwrap();
    drop(index);
    index = open(FieldMapping::new(), &device).unwrap();
    for round in 0..2 {
        let columns = index.snapshot().columns().unwrap();
        assert_eq!(columns.len(), FIELDS as usize);
        assert!(
            columns
                .iter()
                .all(|column| column.value_type.name() == "long")
        );
        for n in [0, 7, 998, 1_001, 1_999] {
            let id = n.to_string();
            let of = |field: u32| {
                let values = index
                    .snapshot()
                    .values(&[&id], &format!("f{field}"))
                    .unwrap();
                values
                    .iter()
                    .flatten()
                    .map(Value::to_string)
                    .collect::<Vec<_>>()
            };
            assert_eq!(of(n / 2), [n.to_string()]);
            assert_eq!(of((n / 2 + 1) % FIELDS), [(n + 1).to_string()]);
            assert_eq!(of((n / 2 + 2) % FIELDS), Vec::<String>::new());
        }
        if round == 0 {
            index.checkpoint().unwrap();
            let report = index.check(&|_, _| {}).unwrap();
            assert_eq!(report.findings, Vec::<String>::new());
        }
    }
}
