//! Ranges, orders and counts by values, against a plain look at the JSON of all documents.

mod collapsing;
mod drawn;
mod tables;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use gannet::aggregations::{AggregationRequest, Aggregations};
use gannet::values::Value;
use gannet::{Document, Index, Operator, SearchOptions, SortKey, SortValue};
use serde_json::{Value as Json, json};

/// Words of documents.
const WORDS: [&str; 4] = ["whale", "ship", "sea", "ice"];

/// A generator of numbers (xorshift), so that a failure comes again.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A document of the model: its JSON by ID, in the order of writing.
#[derive(Default)]
struct Model {
    documents: BTreeMap<String, (u64, Json)>,
    written: u64,
}

fn document(random: &mut Random, at: u64) -> Json {
    let words = [random.one(&WORDS), random.one(&WORDS)].join(" ");
    let mut document = json!({"body": words});
    let mut set = |name: &str, value: Json| document[name] = value;
    if random.below(20) > 0 {
        let size = random.below(50) as i64 - 20;
        set("size", json!(size));
    }
    let (whole, fraction) = (random.below(30), random.below(300) as f64 / 7.0);
    match random.below(10) {
        0 => {}
        1 => set("price", json!(whole)),
        2 => set(
            "price",
            json!([random.below(30), random.below(300) as f64 / 7.0]),
        ),
        _ => set("price", json!(fraction)),
    }
    if random.below(10) > 0 {
        let (month, day) = (at / 400 % 12 + 1, random.below(28) + 1);
        let day = format!("2023-{month:02}-{day:02}");
        set("day", json!(day));
    }
    if random.below(3) > 0 {
        let open = random.below(2) == 0;
        set("open", json!(open));
    }
    if random.below(8) > 0 {
        let kinds: Vec<String> = (0..=random.below(2))
            .map(|_| format!("k {}", random.below(9)))
            .collect();
        set(
            "kind",
            if kinds.len() == 1 {
                json!(kinds[0])
            } else {
                json!(kinds)
            },
        );
    }
    if random.below(12) > 0 {
        let group = format!("g{}", random.below(14));
        set("group", json!(group));
    }
    document
}

/// The values of a field, as numbers or strings that compare as they should.
fn values(document: &Json, field: &str) -> Vec<Compared> {
    let field = if field == "_id" { "id" } else { field };
    let all = match &document[field] {
        Json::Null => Vec::new(),
        Json::Array(values) => values.clone(),
        other => vec![other.clone()],
    };
    let value = |value: Json| match value {
        Json::Bool(value) => Compared::Number(f64::from(u8::from(value))),
        Json::String(text) => Compared::Text(text),
        number => Compared::Number(number.as_f64().unwrap()),
    };
    all.into_iter().map(value).collect()
}

#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Compared {
    Number(f64),
    Text(String),
}

/// Orders two documents by keys as they are written, and by the order of writing.
fn compare(keys: &[&str], a: &(u64, Json), b: &(u64, Json)) -> Ordering {
    for key in keys {
        let (field, descending) = match key.strip_prefix('-') {
            Some(field) => (field, true),
            None => (*key, false),
        };
        let best = |document: &Json| {
            let values = values(document, field).into_iter();
            values.reduce(|a, b| {
                let takes_b = (b > a) == descending && a != b;
                if takes_b { b } else { a }
            })
        };
        let order = match (best(&a.1), best(&b.1)) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) if descending => b.partial_cmp(&a).unwrap(),
            (Some(a), Some(b)) => a.partial_cmp(&b).unwrap(),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.0.cmp(&b.0)
}

/// Queries, each with what it means.
type Meaning = fn(&Json) -> bool;

fn between(document: &Json, field: &str, within: impl Fn(f64) -> bool) -> bool {
    let values = values(document, field);
    values
        .iter()
        .any(|value| matches!(value, Compared::Number(number) if within(*number)))
}

fn has(document: &Json, field: &str, wanted: &[&str]) -> bool {
    let values = values(document, field);
    values
        .iter()
        .any(|value| matches!(value, Compared::Text(text) if wanted.contains(&text.as_str())))
}

fn days(document: &Json, within: impl Fn(&str) -> bool) -> bool {
    document["day"].as_str().is_some_and(within)
}

const QUERIES: [(&str, Meaning); 26] = [
    ("*:*", |_| true),
    ("body:whale", |d| {
        d["body"].as_str().unwrap().contains("whale")
    }),
    ("size:[5 TO 15]", |d| {
        between(d, "size", |n| (5.0..=15.0).contains(&n))
    }),
    ("size:{-3 TO 15}", |d| {
        between(d, "size", |n| n > -3.0 && n < 15.0)
    }),
    ("size:>9", |d| between(d, "size", |n| n > 9.0)),
    ("size:<=-10.5", |d| between(d, "size", |n| n <= -10.5)),
    ("price:[5 TO 15.5]", |d| {
        between(d, "price", |n| (5.0..=15.5).contains(&n))
    }),
    ("price:>=29.0", |d| between(d, "price", |n| n >= 29.0)),
    ("body:ship -price:<20", |d| {
        d["body"].as_str().unwrap().contains("ship") && !between(d, "price", |n| n < 20.0)
    }),
    (
        "+body:sea +size:[0 TO *] +day:[2023-02 TO 2023-03-10]",
        |d| {
            d["body"].as_str().unwrap().contains("sea")
                && between(d, "size", |n| n >= 0.0)
                && days(d, |day| ("2023-02-01"..="2023-03-10").contains(&day))
        },
    ),
    ("day:[2023-02 TO 2023-03}", |d| {
        days(d, |day| day.starts_with("2023-02"))
    }),
    ("day:>2023-01", |d| days(d, |day| day > "2023-01-31")),
    ("day:[2020 TO now]", |d| days(d, |_| true)),
    ("open:[true TO true]", |d| between(d, "open", |n| n == 1.0)),
    ("kind:=\"k 3\"", |d| has(d, "kind", &["k 3"])),
    ("kind:=(\"k 1\" k \"k 7\" absent)", |d| {
        has(d, "kind", &["k 1", "k 7"])
    }),
    ("body:=\"whale sea\"", |d| has(d, "body", &["whale sea"])),
    ("day:=2023-02-03", |d| has(d, "day", &["2023-02-03"])),
    ("size:=(3 -4.0 100) price:=5", |d| {
        between(d, "size", |n| [3.0, -4.0, 100.0].contains(&n)) || between(d, "price", |n| n == 5.0)
    }),
    ("+body:sea -open:=true", |d| {
        d["body"].as_str().unwrap().contains("sea") && !between(d, "open", |n| n == 1.0)
    }),
    ("price:*", |d| !values(d, "price").is_empty()),
    ("-size:*", |d| values(d, "size").is_empty()),
    ("+day:* +open:*", |d| {
        !values(d, "day").is_empty() && !values(d, "open").is_empty()
    }),
    ("kind:*", |d| !values(d, "kind").is_empty()),
    ("body:ice -kind:* -price:*", |d| {
        let has_none = values(d, "kind").is_empty() && values(d, "price").is_empty();
        d["body"].as_str().unwrap().contains("ice") && has_none
    }),
    ("+size:>25 +price:*", |d| {
        between(d, "size", |n| n > 25.0) && !values(d, "price").is_empty()
    }),
];

const ORDERS: [&[&str]; 14] = [
    &["size"],
    &["-size"],
    &["price"],
    &["-price", "size"],
    &["day", "-price"],
    &["-day"],
    &["kind", "size"],
    &["-kind"],
    &["open", "-kind", "day"],
    &["_id"],
    &["-_id"],
    &["open", "_id"],
    &["-group", "-_id", "size"],
    &["price", "_id"],
];

/// Fields that hits are collapsed by: strings, numbers, dates and booleans.
const GROUPS: [&str; 4] = ["group", "size", "day", "open"];

fn keys(order: &[&str]) -> Vec<SortKey> {
    order
        .iter()
        .map(|key| SortKey::parse(key).unwrap())
        .collect()
}

/// Compares all queries in all orders, and pages of seven through some.
fn check(index: &Index, model: &Model) {
    let snapshot = index.snapshot();
    for (number, (text, meaning)) in QUERIES.iter().enumerate() {
        let query = snapshot.parse(text, Operator::Or).unwrap();
        let mut expected: Vec<&(u64, Json)> = model.documents.values().collect();
        expected.retain(|(_, document)| meaning(document));
        for (at, order) in ORDERS.iter().enumerate() {
            expected.sort_by(|a, b| compare(order, a, b));
            let options = SearchOptions {
                k: 25,
                skip: at,
                sort: keys(order),
                ..SearchOptions::default()
            };
            let found = snapshot.search_all(std::slice::from_ref(&query), &options);
            let found = found.into_iter().next().unwrap().unwrap();
            assert_eq!(found.total, expected.len() as u64, "{text}");
            assert!(found.total_is_exact);
            let got: Vec<&str> = found.hits.iter().map(|hit| hit.id.as_str()).collect();
            let wanted = expected.iter().skip(at).take(25);
            let wanted: Vec<&str> = wanted
                .map(|(_, json)| json["id"].as_str().unwrap())
                .collect();
            assert_eq!(got, wanted, "{text} by {order:?}");
        }
        check_aggregations(index, text, &expected);
        if number % 3 == 0 {
            page_through(index, text, ORDERS[number % 9], expected.len());
            page_by_id(index, text, ORDERS[9 + number % 5], &mut expected);
        }
        collapsing::check_collapsed(index, text, number, &mut expected);
        tables::check_table(index, text, &mut expected);
    }
}

/// The IDs of documents.
fn ids<'d>(documents: impl Iterator<Item = &'d &'d (u64, Json)>) -> Vec<&'d str> {
    documents
        .map(|(_, json)| json["id"].as_str().unwrap())
        .collect()
}

/// Goes through all hits of an order that ends with IDs, each page behind the last hit.
fn page_by_id(index: &Index, text: &str, order: &[&str], expected: &mut [&(u64, Json)]) {
    expected.sort_by(|a, b| compare(order, a, b));
    let snapshot = index.snapshot();
    let query = snapshot.parse(text, Operator::Or).unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let options = SearchOptions {
            k: 300,
            sort: keys(order),
            after: after.take(),
            ..SearchOptions::default()
        };
        let found = snapshot.search_all(std::slice::from_ref(&query), &options);
        let found = found.into_iter().next().unwrap().unwrap();
        let Some(last) = found.hits.last() else {
            break;
        };
        after = Some(last.sort.clone());
        seen.extend(found.hits.iter().map(|hit| hit.id.clone()));
    }
    assert_eq!(seen, ids(expected.iter()), "{text} by {order:?}");
}

/// Counts of values, and figures of numbers.
fn check_aggregations(index: &Index, text: &str, expected: &[&(u64, Json)]) {
    let asked = json!({
        "kinds": {
            "terms": {"field": "kind", "size": 5},
            "aggs": {"price": {"max": {"field": "price"}}},
        },
        "sizes": {"stats": {"field": "size"}},
        "months": {"date_histogram": {"field": "day", "calendar_interval": "month"}},
        "whales": {"filter": "body:whale", "aggs": {"open": {"terms": {"field": "open"}}}},
        "all": {"global": {}, "aggs": {"days": {"cardinality": {"field": "day"}}}},
    });
    let snapshot = index.snapshot();
    let mut filters = Vec::new();
    let mut filter = |asked: &Json| {
        let text = asked.as_str().unwrap_or_default();
        let filter = snapshot.parse(text, Operator::Or);
        filters.push(filter.map_err(|error| error.to_string())?);
        Ok(filters.len() as u32 - 1)
    };
    let tree = Aggregations::from_json(&asked, 0, &mut filter).unwrap();
    let request = AggregationRequest {
        filters,
        ..AggregationRequest::of(tree.clone())
    };
    let options = SearchOptions {
        k: 3,
        fetch: false,
        aggregations: Some(Arc::new(request)),
        ..SearchOptions::default()
    };
    let query = snapshot.parse(text, Operator::Or).unwrap();
    let found = snapshot
        .search_all(&[query], &options)
        .swap_remove(0)
        .unwrap();
    assert_eq!(found.hits.len(), expected.len().min(3));
    let answer = tree.answer(&found.aggregations.unwrap()).unwrap();
    let documents = || expected.iter().map(|(_, document)| document);

    let mut kinds: BTreeMap<String, (u64, f64)> = BTreeMap::new();
    for document in documents() {
        let mut own = values(document, "kind");
        own.dedup();
        own.truncate(if own.first() == own.last() { 1 } else { 2 });
        let prices = values(document, "price").into_iter();
        let price = prices.fold(f64::NEG_INFINITY, |most, price| match price {
            Compared::Number(price) => most.max(price),
            Compared::Text(_) => most,
        });
        for kind in own {
            let Compared::Text(kind) = kind else { continue };
            let (count, most) = kinds.entry(kind).or_insert((0, f64::NEG_INFINITY));
            *count += 1;
            *most = most.max(price);
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, (count, _))| (u64::MAX - count, kind.clone()));
    let others: u64 = kinds.iter().skip(5).map(|(_, (count, _))| count).sum();
    assert_eq!(
        answer["kinds"]["sum_other_doc_count"],
        json!(others),
        "{text}"
    );
    let buckets = answer["kinds"]["buckets"].as_array().unwrap();
    assert_eq!(buckets.len(), kinds.len().min(5));
    for (bucket, (kind, (count, price))) in buckets.iter().zip(&kinds) {
        assert_eq!(
            (&bucket["key"], &bucket["doc_count"]),
            (&json!(kind), &json!(count)),
            "{text}"
        );
        let price = price.is_finite().then_some(*price);
        assert_eq!(bucket["price"]["value"].as_f64(), price, "{text} {kind}");
    }

    let sizes = documents().filter_map(|document| document["size"].as_i64());
    let stats = &answer["sizes"];
    assert_eq!(stats["count"], json!(sizes.clone().count()), "{text}");
    if stats["count"] != 0 {
        assert_eq!(
            stats["sum"].as_f64(),
            Some(sizes.clone().sum::<i64>() as f64)
        );
        assert_eq!(
            stats["min"].as_f64(),
            sizes.clone().min().map(|size| size as f64)
        );
    }

    let mut months: BTreeMap<&str, u64> = BTreeMap::new();
    for day in documents().filter_map(|document| document["day"].as_str()) {
        *months.entry(&day[..7]).or_default() += 1;
    }
    let buckets = answer["months"]["buckets"].as_array().unwrap();
    let counted = buckets.iter().filter(|bucket| bucket["doc_count"] != 0);
    let counted = counted.map(|bucket| {
        let key = bucket["key_as_string"].as_str().unwrap();
        (key[..7].to_owned(), bucket["doc_count"].as_u64().unwrap())
    });
    let wanted = months
        .into_iter()
        .map(|(month, count)| (month.to_owned(), count));
    assert!(counted.eq(wanted), "{text}: {buckets:?}");

    let has_whale = |document: &&Json| document["body"].as_str().unwrap().contains("whale");
    let whales = documents().filter(has_whale);
    assert_eq!(
        answer["whales"]["doc_count"],
        json!(whales.clone().count()),
        "{text}"
    );
    let open = whales.filter(|document| document["open"] == true).count();
    let buckets = answer["whales"]["open"]["buckets"].as_array().unwrap();
    let counted = buckets.iter().find(|bucket| bucket["key"] == 1);
    assert_eq!(
        counted.map_or(0, |b| b["doc_count"].as_u64().unwrap()),
        open as u64,
        "{text}"
    );
    assert_eq!(
        answer["all"]["doc_count"],
        json!(snapshot.documents()),
        "{text}"
    );
}

/// Goes through all hits by seven, each page behind the last hit of the one before.
fn page_through(index: &Index, text: &str, order: &[&str], documents: usize) {
    let snapshot = index.snapshot();
    let query = snapshot.parse(text, Operator::Or).unwrap();
    let mut sort = keys(order);
    // The last key is different for each document.
    sort.push(SortKey::parse("_doc").unwrap());
    let (mut seen, mut after): (Vec<u32>, Option<Vec<SortValue>>) = (Vec::new(), None);
    loop {
        let options = SearchOptions {
            k: 7,
            sort: sort.clone(),
            after: after.take(),
            fetch: false,
            ..SearchOptions::default()
        };
        let found = snapshot.search_all(std::slice::from_ref(&query), &options);
        let found = found.into_iter().next().unwrap().unwrap();
        let Some(last) = found.hits.last() else {
            break;
        };
        assert_eq!(
            last.sort.last(),
            Some(&Some(Value::Long(i64::from(last.doc))))
        );
        after = Some(last.sort.clone());
        seen.extend(found.hits.iter().map(|hit| hit.doc));
    }
    let mut distinct = seen.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(
        (seen.len(), distinct.len()),
        (documents, documents),
        "{text} by {order:?}"
    );
}

/// Ranges and orders are those of the documents: in buffers, flushed, reopened, replaced, deleted,
/// vacuumed, rebuilt.
#[test]
fn hits_come_in_the_order_of_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || {
        Index::options()
            .memory(32 << 20)
            .open(folder.path())
            .unwrap()
    };
    let mut random = Random(0x5eed);
    let (mut index, mut model) = (open(), Model::default());
    for round in 0..8 {
        let mut batch = Vec::new();
        for _ in 0..700 {
            let at = model.written;
            let id = match random.below(10) {
                0 if at > 0 => random.below(at).to_string(),
                _ => at.to_string(),
            };
            let mut json = document(&mut random, at);
            json["id"] = json!(id);
            batch.push(Document::parse(json.to_string().as_bytes()).unwrap());
            model.documents.insert(id, (at, json));
            model.written += 1;
        }
        for document in batch {
            index.write(vec![document]).unwrap();
        }
        for _ in 0..40 {
            let id = random.below(model.written).to_string();
            index.delete(&[id.as_str()]).unwrap();
            model.documents.remove(&id);
        }
        match round {
            1 | 3 | 4 => index.checkpoint().unwrap(),
            2 => {
                index.sync().unwrap();
                drop(index);
                index = open();
            }
            5 => {
                while index.vacuum().unwrap() {}
                index.checkpoint().unwrap();
            }
            6 => index.rebuild(&mut |_, _, _| ()).unwrap(),
            _ => {}
        }
        check(&index, &model);
    }
}

/// A document has a field also if its column does not have the value: too many numbers, one beyond
/// all bounds, a word among numbers, a long text before dates.
#[test]
fn values_that_columns_lack_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || {
        Index::options()
            .memory(16 << 20)
            .open(folder.path())
            .unwrap()
    };
    let crowd: Vec<u32> = (0..101).collect();
    let long = "word ".repeat(100);
    // Each batch is written by itself, and the index is opened anew between the last two.
    let batches = [
        json!([{"id": "a", "crowd": crowd, "day": long, "size": 1}]),
        json!([{"id": "b", "crowd": 5, "day": "2023-01-02", "size": "large"}]),
        json!([{"id": "c", "late": crowd}, {"id": "d", "late": 7}, {"id": "e"}]),
        json!([{"id": "f", "late": crowd, "beyond": crowd, "day": "2023-01-03"}]),
        json!([{"id": "g", "beyond": 8, "new": 3}, {"id": "h", "new": [1, 2]}]),
    ];
    let expected = [
        ("crowd", "ab"),
        ("day", "abf"),
        ("size", "ab"),
        ("late", "cdf"),
        ("beyond", "fg"),
        ("new", "gh"),
    ];
    let mut index = open();
    for (number, batch) in batches.iter().enumerate() {
        if number == 4 {
            index.sync().unwrap();
            drop(index);
            index = open();
        }
        let documents = batch.as_array().unwrap().iter();
        let documents = documents.map(|json| Document::parse(json.to_string().as_bytes()).unwrap());
        index.write(documents.collect()).unwrap();
    }
    let check = |index: &Index| {
        let snapshot = index.snapshot();
        for (field, ids) in expected {
            let query = snapshot.parse(&format!("{field}:*"), Operator::Or).unwrap();
            let found = snapshot.search_all(&[query], &SearchOptions::default());
            let hits = &found[0].as_ref().unwrap().hits;
            let mut got: Vec<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
            got.sort_unstable();
            assert_eq!(got.concat(), ids, "{field}");
        }
    };
    check(&index);
    index.checkpoint().unwrap();
    check(&index);
    drop(index);
    let index = open();
    check(&index);
    index.rebuild(&mut |_, _, _| ()).unwrap();
    check(&index);
}

/// A field whose values are no numbers, dates or short strings, or that is none, is an error that
/// names others.
#[test]
fn fields_without_values_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = Index::options()
        .memory(16 << 20)
        .open(folder.path())
        .unwrap();
    let long = "word ".repeat(100);
    let line = json!({"id": "a", "body": long, "size": 3}).to_string();
    index
        .write(vec![Document::parse(line.as_bytes()).unwrap()])
        .unwrap();
    let snapshot = index.snapshot();
    let ask = |text: &str, order: &[&str], after: Option<Vec<SortValue>>| {
        let query = snapshot.parse(text, Operator::Or)?;
        let options = SearchOptions {
            sort: keys(order),
            after,
            ..SearchOptions::default()
        };
        snapshot.search_all(&[query], &options).swap_remove(0)
    };
    let rejected = |text: &str, order: &[&str], parts: &[&str]| {
        let error = ask(text, order, None).map(|_| ()).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    assert!(ask("*:*", &["size"], None).is_ok());
    rejected("*:*", &["body"], &["\"body\"", "size"]);
    rejected("*:*", &["siz"], &["no field \"siz\"", "size"]);
    rejected("*:*", &["size"; 9], &["at most 8"]);
    rejected(
        "size:[a TO b]",
        &["size"],
        &["\"size\"", "numbers", "\"a\" is none"],
    );
    rejected("size:[5 TO 3]", &["size"], &["without values"]);
    rejected("body:[a TO b]", &["size"], &["\"body\"", "cuts into words"]);
    rejected(
        "body:=word",
        &["size"],
        &["\"body\"", "whole strings", "keyword"],
    );
    rejected(
        "size:=a",
        &["size"],
        &["\"size\"", "numbers", "\"a\" is none"],
    );
    let collapsed = |field: &str, order: &[&str]| {
        let found = collapsing::ask_collapsed(&index, "*:*", field, (keys(order), None), (0, 10));
        found.map(|_| ()).unwrap_err().to_string()
    };
    let line = json!({"id": "b", "kinds": ["x", "y"], "size": [1, 1]}).to_string();
    index
        .write(vec![Document::parse(line.as_bytes()).unwrap()])
        .unwrap();
    assert!(collapsed("kinds", &[]).contains("several values of the field \"kinds\""));
    assert!(collapsed("siz", &[]).contains("no field \"siz\""));
    assert!(collapsed("body", &["size"]).contains("\"body\""));
    assert!(collapsed("size", &["size", "_id"]).contains("_doc last"));
    let same = collapsing::ask_collapsed(&index, "*:*", "size", (Vec::new(), None), (0, 10));
    assert_eq!(same.unwrap().hits.len(), 2);
    let wrong = ask("*:*", &["_id"], Some(vec![Some(Value::Long(3))]));
    assert!(wrong.unwrap_err().to_string().contains("another type"));
    let wrong = ask(
        "*:*",
        &["size"],
        Some(vec![Some(Value::Keyword("x".into()))]),
    );
    assert!(wrong.unwrap_err().to_string().contains("another type"));
    let few = ask("*:*", &["size"], Some(Vec::new()));
    assert!(few.unwrap_err().to_string().contains("a value for each"));
}
