//! Compares declared values with documents that spell them out: multi-fields, nulls that count
//! as values, and strings that are too long. Each document has plain fields with what its declared
//! ones should have, so both must be found, sorted and shown alike, whatever happens to the index.

use std::path::Path;
use std::sync::Arc;

use super::random::Random;
use crate::base::Result;
use crate::device::{Device, MemoryDevice};
use crate::documents::Document;
use crate::index::{FieldMapping, Index, Limits, MEMORY_MIN, Options};
use crate::search::{Hit, Operator, SearchOptions, SortBy, SortKey};

const MAPPING: &str = r#"{
    "title": {"type": "text", "fields": {
        "raw": {"type": "keyword", "ignore_above": 9, "null_value": "none"},
        "stems": {"type": "text", "analyzer": "english"}}},
    "year": {"type": "long", "null_value": 1900},
    "code": {"type": "keyword", "ignore_above": 4},
    "day": {"type": "date", "format": "dd.MM.yyyy||epoch_second", "null_value": "01.02.1970"}, "plain_day": "date",
    "plain_raw": "keyword", "plain_stems": {"type": "text", "analyzer": "english"},
    "plain_year": "long", "plain_code": "keyword"}"#;

/// Each declared field with the one that spells its values out.
const PAIRS: [(&str, &str); 5] = [
    ("day", "plain_day"),
    ("title.raw", "plain_raw"),
    ("title.stems", "plain_stems"),
    ("year", "plain_year"),
    ("code", "plain_code"),
];

const QUERIES: [&str; 20] = [
    "day:2020-01",
    "day:1970-02-01",
    "day:[2020-01-02 TO 2020-02]",
    "day:>2020-01-05",
    r#"title.raw:"wet dogs""#,
    "title.raw:none",
    "title.raw:w*",
    "title.raw:=wet",
    "title.raw:[a TO d]",
    "title.raw:*",
    "title.stems:dog",
    "title.stems:running",
    "year:1900",
    "year:[1900 TO 1950]",
    "year:*",
    "code:abcd",
    "code:äöüß",
    "code:abcde",
    "code:=abcde",
    "code:*",
];

struct World {
    device: Arc<MemoryDevice>,
    index: Option<Index>,
}

impl World {
    fn open(&mut self, mapping: FieldMapping) -> Result<()> {
        self.index = None;
        let limits = Limits {
            buffer_bytes: Some(96 << 10),
            zone_pages: Some(16),
            beside: false,
            maintain_after: None,
            ..Limits::default()
        };
        let options = Options::default().memory(MEMORY_MIN).limits(limits);
        let device = Arc::clone(&self.device) as Arc<dyn Device>;
        let index = Index::open_on(device, Path::new("test"), options.mapping(mapping))?;
        self.index = Some(index);
        Ok(())
    }

    fn index(&self) -> &Index {
        self.index.as_ref().unwrap()
    }

    fn write(&self, random: &mut Random, count: usize) {
        let ids = (0..count).map(|_| random.below(400));
        let mut ids: Vec<usize> = ids.collect();
        ids.sort_unstable();
        ids.dedup();
        let lines = ids.iter().map(|id| line(random, *id));
        let lines: Vec<String> = lines.collect();
        let parse = |line: &String| Document::parse(line.as_bytes()).unwrap();
        let documents: Vec<Document> = lines.iter().map(parse).collect();
        self.index().write(documents).unwrap();
    }

    /// The IDs of the documents that a query finds, in the order of `sort`, or in their own.
    fn found(&self, text: &str, sort: Option<&str>) -> Vec<String> {
        let hits = self.search(text, sort).unwrap();
        let mut ids: Vec<String> = hits.iter().map(|hit| hit.id.clone()).collect();
        if sort.is_none() {
            ids.sort();
        }
        ids
    }

    fn search(&self, text: &str, sort: Option<&str>) -> Result<Vec<Hit>> {
        let snapshot = self.index().snapshot();
        let query = snapshot.parse(text, Operator::And)?;
        let key = |field: &str| SortKey {
            by: SortBy::Field(field.to_owned()),
            descending: true,
            missing_first: false,
            missing_like: None,
        };
        let options = SearchOptions {
            k: 1_000,
            sort: sort.map(key).into_iter().collect(),
            ..SearchOptions::default()
        };
        let mut found = snapshot.search_all(&[query], &options);
        Ok(found.remove(0)?.hits)
    }

    fn compare(&self) {
        let mut found = 0;
        for query in QUERIES {
            let (declared, plain) = pair_of(query);
            let spelled = query.replacen(declared, plain, 1);
            let ids = self.found(query, None);
            assert_eq!(ids, self.found(&spelled, None), "{query}");
            found += ids.len();
        }
        assert!(found > 0);
        for (declared, plain) in PAIRS.into_iter().filter(|pair| pair.0 != "title.stems") {
            let sorted = self.found("*:*", Some(declared));
            assert_eq!(sorted, self.found("*:*", Some(plain)), "{declared}");
            let ids: Vec<&str> = sorted.iter().map(String::as_str).collect();
            let values = |column: &str| self.index().snapshot().values(&ids, column).unwrap();
            assert_eq!(values(declared), values(plain), "{declared}");
        }
        let report = self.index().check(&|_, _| {}).unwrap();
        assert_eq!(report.findings, Vec::<String>::new());
    }
}

fn pair_of(query: &str) -> (&'static str, &'static str) {
    let mut pairs = PAIRS.into_iter();
    pairs
        .find(|(declared, _)| query.starts_with(declared))
        .unwrap()
}

/// A document whose plain fields have what the declared ones should have.
fn line(random: &mut Random, id: usize) -> String {
    let mut line = format!(r#"{{"id": "{id}""#);
    let titles = ["wet", "wet dogs", "dogs running fast", "Äpfel da", "none"];
    let title = titles[random.below(titles.len())];
    match random.below(4) {
        0 => line += r#", "title": null, "plain_raw": "none""#,
        1 => {}
        _ => {
            line +=
                &format!(r#", "title": ["{title}", "seals"], "plain_stems": ["{title}", "seals"]"#);
            let short = [title, "seals"].into_iter();
            let short = short.filter(|text| text.chars().count() <= 9);
            let short: Vec<String> = short.map(|text| format!("{text:?}")).collect();
            line += &format!(r#", "plain_raw": [{}]"#, short.join(", "));
        }
    }
    let (month, day) = (1 + random.below(3), 1 + random.below(28));
    let iso = format!("2020-{month:02}-{day:02}T00:00:00.000Z");
    match random.below(3) {
        0 => {
            line += r#", "day": [null, "1577836800"], "plain_day": ["1970-02-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z"]"#
        }
        1 => line += &format!(r#", "day": "{day:02}.{month:02}.2020", "plain_day": "{iso}""#),
        _ => {}
    }
    let year = 1890 + random.below(80);
    match random.below(3) {
        0 => line += r#", "year": [null, 1901, null], "plain_year": [1900, 1901, 1900]"#,
        1 => line += &format!(r#", "year": "{year}", "plain_year": {year}"#),
        _ => {}
    }
    let code = ["abcd", "abcde", "äöüß", "äöüßx"][random.below(4)];
    line += &format!(r#", "code": ["{code}", null]"#);
    if code.chars().count() <= 4 {
        line += &format!(r#", "plain_code": "{code}""#);
    }
    line + "}"
}

#[test]
fn declared_fields_have_the_values_that_plain_ones_spell_out() {
    let mut random = Random::new(58);
    let mapping = FieldMapping::from_json(MAPPING).unwrap();
    let mut world = World {
        device: Arc::default(),
        index: None,
    };
    world.open(mapping.clone()).unwrap();
    world.write(&mut random, 200);
    world.compare();
    world.index().sync().unwrap();
    // A replay of the log needs no declaration.
    world.open(FieldMapping::new()).unwrap();
    world.compare();
    world.write(&mut random, 200);
    world.index().checkpoint().unwrap();
    world.open(mapping).unwrap();
    world.write(&mut random, 100);
    let ids: Vec<String> = (0..60).map(|id| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    world.index().delete(&ids).unwrap();
    world.compare();
    world.index().rebuild(&mut |_, _, _| {}).unwrap();
    world.compare();
}

#[test]
fn what_cannot_be_kept_is_rejected_with_its_reason() {
    let mut world = World {
        device: Arc::default(),
        index: None,
    };
    world
        .open(FieldMapping::from_json(MAPPING).unwrap())
        .unwrap();
    let long = "x".repeat(2_000);
    for (line, part) in [
        (r#"{"title.raw": "x"}"#.to_owned(), "takes the values of"),
        (
            r#"{"title": {"raw": null}}"#.to_owned(),
            "takes the values of",
        ),
        (format!(r#"{{"plain_raw": "{long}"}}"#), "ignore_above"),
        (
            r#"{"day": "2020-01-01"}"#.to_owned(),
            "dd.MM.yyyy||epoch_second",
        ),
    ] {
        let document = Document::parse(line.as_bytes()).unwrap();
        let error = world.index().write(vec![document]).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let line = r#"{"id": "1", "title": "wet", "year": null, "code": "a", "day": null}"#;
    let document = Document::parse(line.as_bytes()).unwrap();
    world.index().write(vec![document]).unwrap();
    for (json, part) in [
        (
            r#"{"title": {"type": "text", "fields": {"other": "keyword"}}}"#,
            "would lack",
        ),
        (
            r#"{"year": {"type": "long", "null_value": 7}}"#,
            "\"null_value\" cannot change",
        ),
        (r#"{"day": "date"}"#, "\"null_value\" cannot change"),
        (r#"{"code": "keyword"}"#, "\"ignore_above\" cannot change"),
        (
            r#"{"title": "text", "title.raw": "keyword"}"#,
            "whose values it takes",
        ),
        (
            r#"{"code": {"type": "keyword", "ignore_above": 4, "fields": {"x": "text"}}}"#,
            "would lack",
        ),
    ] {
        let mapping = FieldMapping::from_json(json).unwrap();
        let error = world.index().declare(mapping).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    // What no document has yet can be declared while the index is open.
    let more = r#"{"new": {"type": "keyword", "fields": {"words": "text"}}, "year": {"type": "long", "null_value": 1900}}"#;
    let more = FieldMapping::from_json(more).unwrap();
    world.index().declare(more).unwrap();
    let line = r#"{"id": "2", "new": "two words", "year": null}"#;
    let document = Document::parse(line.as_bytes()).unwrap();
    world.index().write(vec![document]).unwrap();
    assert_eq!(world.found("new.words:words", None), ["2"]);
    assert_eq!(world.found("year:1900", None), ["1", "2"]);
    // A query without a field asks the field, and not its multi-fields.
    assert_eq!(world.found("words", None), Vec::<String>::new());
    assert_eq!(world.found("\"two words\"", None), ["2"]);
}

#[test]
fn fields_without_terms_or_without_a_column_say_so() {
    let mut world = World {
        device: Arc::default(),
        index: None,
    };
    let json = r#"{"n": {"type": "long", "terms": false}, "k": {"type": "keyword", "terms": false},
        "m": {"type": "long", "column": false}, "w": {"type": "keyword", "column": false},
        "t": {"type": "text", "terms": false}}"#;
    let mapping = FieldMapping::from_json(json).unwrap();
    world.open(mapping.clone()).unwrap();
    for id in 0..20 {
        let line = format!(
            r#"{{"id": "{id}", "n": {id}, "k": "k{id}", "m": {id}, "w": "k{id}", "t": "some words"}}"#
        );
        let document = Document::parse(line.as_bytes()).unwrap();
        world.index().write(vec![document]).unwrap();
    }
    for round in 0..3 {
        assert_eq!(world.found("n:[3 TO 4]", None), ["3", "4"]);
        assert_eq!(world.found("n:=7", None), ["7"]);
        assert_eq!(world.found("k:=(k1 k2)", None), ["1", "2"]);
        assert_eq!(world.found("m:7", None), ["7"]);
        assert_eq!(world.found("w:k7", None), ["7"]);
        assert_eq!(world.found("w:k1*", None).len(), 11);
        assert_eq!(world.found("*:*", Some("n"))[0], "19");
        assert_eq!(world.found("words", None), Vec::<String>::new());
        for (query, sort, parts) in [
            ("n:7", None, ["\"n\"", "\"terms\": false"]),
            ("n:*", None, ["\"n\"", "\"terms\": false"]),
            ("k:k1*", None, ["\"k\"", "\"terms\": false"]),
            ("k:[a TO b]", None, ["\"k\"", "\"terms\": false"]),
            ("t:words", None, ["\"t\"", "\"terms\": false"]),
            ("m:[3 TO 4]", None, ["\"m\"", "\"column\": false"]),
            ("m:=7", None, ["\"m\"", "\"column\": false"]),
            ("*:*", Some("m"), ["\"m\"", "\"column\": false"]),
            ("*:*", Some("w"), ["\"w\"", "\"column\": false"]),
        ] {
            let error = world.search(query, sort).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
        let report = world.index().check(&|_, _| {}).unwrap();
        assert_eq!(report.findings, Vec::<String>::new());
        match round {
            0 => world.index().sync().unwrap(),
            _ => world.index().checkpoint().unwrap(),
        }
        let again = [FieldMapping::new(), mapping.clone(), mapping.clone()];
        world.open(again[round].clone()).unwrap();
    }
    for (json, part) in [
        (r#"{"n": "long"}"#, "\"terms\" cannot change"),
        (r#"{"m": "long"}"#, "declared as long without a column"),
    ] {
        let mapping = FieldMapping::from_json(json).unwrap();
        let error = world.index().declare(mapping).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
