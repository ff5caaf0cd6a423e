//! Internet addresses (type `ip`), against a plain look at the addresses of all documents.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;

use gannet::aggregations::{AggregationRequest, Aggregations};
use gannet::{
    Document, FieldMapping, Index, Operator, Options, SearchOptions, SearchResults, SortKey,
};
use gannet_testkit::random::Rng;
use serde_json::json;

const MAPPING: &str =
    r#"{"ip": "ip", "loose": {"type": "ip", "ignore_malformed": true, "null_value": "0.0.0.0"}}"#;

/// The addresses of each document, by its ID, and when it was written.
type Model = BTreeMap<String, (u64, Vec<Ipv6Addr>)>;

fn options() -> Options {
    let mapping = FieldMapping::from_json(MAPPING).expect("a mapping");
    Index::options().memory(32 << 20).mapping(mapping)
}

fn draw(random: &mut Rng) -> Ipv6Addr {
    match random.below(6) {
        0 => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, random.below(40) as u16),
        1 => Ipv6Addr::from_bits(random.next() as u128 | (random.next() as u128) << 64),
        2 => "::1".parse().expect("an address"),
        _ => {
            let [b, c] = [random.below(3), random.below(4)].map(|byte| byte as u8);
            let ip: IpAddr = [10, b, c, random.below(9) as u8].into();
            of(&ip.to_string())
        }
    }
}

fn of(text: &str) -> Ipv6Addr {
    match text.parse().expect("an address") {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    }
}

/// One of the ways to write an address.
fn spelled(ip: &Ipv6Addr, random: &mut Rng) -> String {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    match (random.below(3), ip.to_ipv4_mapped()) {
        (0, _) => format!("{a:x}:{b:x}:{c:x}:{d:x}:{e:x}:{f:X}:{g:04x}:{h:X}"),
        (1, Some(ip)) => format!("::FFFF:{ip}"),
        _ => shown(ip),
    }
}

/// The canonical text.
fn shown(ip: &Ipv6Addr) -> String {
    match ip.to_ipv4_mapped() {
        Some(ip) => ip.to_string(),
        None => ip.to_string(),
    }
}

fn ask(index: &Index, text: &str, options: &SearchOptions) -> gannet::Result<SearchResults> {
    let snapshot = index.snapshot();
    let query = snapshot.parse(text, Operator::Or)?;
    snapshot.search_all(&[query], options).swap_remove(0)
}

fn ids(found: &SearchResults) -> Vec<String> {
    found.hits.iter().map(|hit| hit.id.clone()).collect()
}

/// Queries with the first and the last address that they ask for, of which either may be left out.
fn ranges(random: &mut Rng) -> Vec<(String, Ipv6Addr, Ipv6Addr)> {
    let own = |text: &str, first: &str, last: &str| (text.to_owned(), of(first), of(last));
    let all = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    let mut asked = vec![
        own("ip:10.0.0.1", "10.0.0.1", "10.0.0.1"),
        own("ip:\"::ffff:10.0.0.1\"", "10.0.0.1", "10.0.0.1"),
        own("ip:=10.1.2.3", "10.1.2.3", "10.1.2.3"),
        own("ip:\"::1\"", "::1", "::1"),
        own("ip:10.0.0.0/8", "10.0.0.0", "10.255.255.255"),
        own("ip:\"10.1.0.0/16\"", "10.1.0.0", "10.1.255.255"),
        own("ip:=10.1.2.0/24", "10.1.2.0", "10.1.2.255"),
        own("ip:\"10.0.0.3/31\"", "10.0.0.2", "10.0.0.3"),
        own(
            "ip:\"2001:db8::/32\"",
            "2001:db8::",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        ),
        own("ip:\"2001:db8::9/128\"", "2001:db8::9", "2001:db8::9"),
        own("ip:[10.0.1.7 TO 10.0.2.3]", "10.0.1.7", "10.0.2.3"),
        own("ip:{10.0.1.7 TO 10.0.2.3}", "10.0.1.8", "10.0.2.2"),
        own("ip:[10.0.1.9 TO 10.0.1.10]", "10.0.1.9", "10.0.1.10"),
        own("ip:>10.2.0.0", "10.2.0.1", all),
        own("ip:<=10.0.1.0", "::", "10.0.1.0"),
        own("ip:[10.1.0.0/16 TO 10.2.1.0/24]", "10.1.0.0", "10.2.1.255"),
        own("ip:>10.1.0.0/16", "10.2.0.0", all),
        own("ip:[\"::\" TO *]", "::", all),
        own("ip:*", "::", all),
    ];
    for _ in 0..12 {
        let (a, b) = (draw(random), draw(random));
        let (first, last) = (a.min(b), a.max(b));
        let text = format!(
            "ip:[\"{}\" TO \"{}\"]",
            spelled(&first, random),
            spelled(&last, random)
        );
        asked.push((text, first, last));
    }
    asked
}

fn check(index: &Index, model: &Model, random: &mut Rng) {
    let options = SearchOptions {
        k: 10_000,
        sort: vec![SortKey::parse("_doc").expect("a key")],
        ..SearchOptions::default()
    };
    for (text, first, last) in ranges(random) {
        let mut wanted: Vec<(u64, &String)> = model
            .iter()
            .filter(|(_, (_, ips))| ips.iter().any(|ip| (first..=last).contains(ip)))
            .map(|(id, (at, _))| (*at, id))
            .collect();
        wanted.sort_unstable();
        let wanted: Vec<&String> = wanted.into_iter().map(|(_, id)| id).collect();
        let found = ask(index, &text, &options).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(ids(&found).iter().collect::<Vec<_>>(), wanted, "{text}");
    }
    let has = |ips: &[Ipv6Addr], text: &str| ips.contains(&of(text));
    let several = ask(index, "ip:=(10.0.0.1 10.2.0.0/16 \"::1\")", &options).expect("an answer");
    let in_network = |ip: &Ipv6Addr| {
        ip.to_ipv4_mapped()
            .is_some_and(|ip| ip.octets()[..2] == [10, 2])
    };
    let wanted = model
        .values()
        .filter(|(_, ips)| has(ips, "10.0.0.1") || has(ips, "::1") || ips.iter().any(in_network));
    assert_eq!(several.total, wanted.count() as u64);
    let without = ask(index, "-ip:10.0.0.0/8 -ip:*", &options).expect("an answer");
    let none = model.values().filter(|(_, ips)| ips.is_empty());
    assert_eq!(without.total, none.count() as u64);
    check_orders(index, model);
    check_counts(index, model);
}

fn check_orders(index: &Index, model: &Model) {
    for key in ["ip", "-ip"] {
        let mut wanted: Vec<(&String, &(u64, Vec<Ipv6Addr>))> = model.iter().collect();
        wanted.sort_by(|(_, (a, ips)), (_, (b, others))| {
            let order = match (key, ips.iter().min(), others.iter().min()) {
                (_, None, None) => std::cmp::Ordering::Equal,
                (_, None, _) => std::cmp::Ordering::Greater,
                (_, _, None) => std::cmp::Ordering::Less,
                ("ip", a, b) => a.cmp(&b),
                _ => others.iter().max().cmp(&ips.iter().max()),
            };
            order.then(a.cmp(b))
        });
        let sort = ["_doc"].iter().fold(
            vec![SortKey::parse(key).expect("a key")],
            |mut keys, key| {
                keys.push(SortKey::parse(key).expect("a key"));
                keys
            },
        );
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let options = SearchOptions {
                k: 90,
                sort: sort.clone(),
                after: after.take(),
                ..SearchOptions::default()
            };
            let found = ask(index, "*:*", &options).expect("an answer");
            let Some(last) = found.hits.last() else {
                break;
            };
            after = Some(last.sort.clone());
            for hit in &found.hits {
                let (_, ips) = &model[&hit.id];
                let own = if key == "ip" {
                    ips.iter().min()
                } else {
                    ips.iter().max()
                };
                let value = hit.sort[0].as_ref().map(ToString::to_string);
                assert_eq!(value, own.map(shown), "{key}");
            }
            seen.extend(ids(&found));
        }
        assert!(seen.iter().eq(wanted.iter().map(|(id, _)| *id)), "{key}");
    }
}

fn check_counts(index: &Index, model: &Model) {
    let asked = json!({
        "most": {"terms": {"field": "ip", "size": 12}},
        "first": {"terms": {"field": "ip", "size": 9, "order": {"_key": "asc"}, "missing": "0.0.0.9"}},
        "some": {"terms": {"field": "ip", "size": 9, "include": ["::ffff:10.0.0.1", "::0:1", "9.9.9.9"]}},
        "distinct": {"cardinality": {"field": "ip"}},
        "pages": {"composite": {"size": 7, "sources": [{"ip": {"terms": {"field": "ip"}}}], "after": {"ip": "10.0.0.2"}}},
    });
    let tree =
        Aggregations::from_json(&asked, 0, &mut |_| Err("no filter".to_owned())).expect("a tree");
    let options = SearchOptions {
        k: 0,
        aggregations: Some(Arc::new(AggregationRequest::of(tree.clone()))),
        ..SearchOptions::default()
    };
    let found = ask(index, "*:*", &options).expect("an answer");
    let answer = tree
        .answer(&found.aggregations.expect("a state"))
        .expect("an answer");
    let mut counts: BTreeMap<Ipv6Addr, u64> = BTreeMap::new();
    for (_, ips) in model.values() {
        for ip in ips.iter().collect::<BTreeSet<_>>() {
            *counts.entry(*ip).or_default() += 1;
        }
    }
    let buckets = |name: &str, key: &dyn Fn(&serde_json::Value) -> String| {
        let buckets = answer[name]["buckets"].as_array().expect("buckets").iter();
        let each = buckets.map(|own| {
            (
                key(&own["key"]),
                own["doc_count"].as_u64().expect("a count"),
            )
        });
        each.collect::<Vec<_>>()
    };
    let text = |own: &serde_json::Value| own.as_str().expect("a text").to_owned();
    let told = |counts: &[(Ipv6Addr, u64)]| {
        let each = counts.iter().map(|(ip, count)| (shown(ip), *count));
        each.collect::<Vec<_>>()
    };
    assert_eq!(answer["distinct"]["value"], json!(counts.len()));
    let mut most: Vec<(Ipv6Addr, u64)> = counts.clone().into_iter().collect();
    most.sort_by_key(|(ip, count)| (u64::MAX - count, *ip));
    most.truncate(12);
    assert_eq!(buckets("most", &text), told(&most));
    let behind = counts.range(of("10.0.0.3")..).take(7);
    let behind: Vec<_> = behind.map(|(ip, count)| (*ip, *count)).collect();
    assert_eq!(buckets("pages", &|key| text(&key["ip"])), told(&behind));
    let some = most_of(&counts, &["10.0.0.1", "::1"]);
    assert_eq!(buckets("some", &text), told(&some));
    let without = model.values().filter(|(_, ips)| ips.is_empty()).count() as u64;
    *counts.entry(of("0.0.0.9")).or_default() += without;
    counts.retain(|_, count| *count > 0);
    let first: Vec<_> = counts.into_iter().take(9).collect();
    assert_eq!(buckets("first", &text), told(&first));
}

fn most_of(counts: &BTreeMap<Ipv6Addr, u64>, of_texts: &[&str]) -> Vec<(Ipv6Addr, u64)> {
    let own = of_texts.iter().map(|text| of(text));
    let own = own.filter_map(|ip| counts.get(&ip).map(|count| (ip, *count)));
    let mut own: Vec<_> = own.collect();
    own.sort_by_key(|(ip, count)| (u64::MAX - count, *ip));
    own
}

fn assert_whole(index: &Index) {
    let report = index.check(&|_, _| {}).expect("a check");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}

fn write(index: &Index, model: &mut Model, at: &mut u64, random: &mut Rng) {
    for _ in 0..500 {
        let id = match random.below(10) {
            0 if *at > 0 => random.below(*at as usize) as u64,
            _ => *at,
        };
        let ips: Vec<Ipv6Addr> = (0..random.below(4)).map(|_| draw(random)).collect();
        let texts: Vec<String> = ips.iter().map(|ip| spelled(ip, random)).collect();
        let json = match texts.as_slice() {
            [] => json!({"id": id.to_string(), "loose": null}),
            [only] => json!({"id": id.to_string(), "ip": only, "loose": "no address"}),
            several => json!({"id": id.to_string(), "ip": several, "loose": [several[0], 7]}),
        };
        let document = Document::parse(json.to_string().as_bytes()).expect("a document");
        index.write(vec![document]).expect("a batch");
        model.insert(id.to_string(), (*at, ips));
        *at += 1;
    }
    for _ in 0..30 {
        let id = random.below(*at as usize).to_string();
        index.delete(&[id.as_str()]).expect("a deletion");
        model.remove(&id);
    }
}

fn reopened(index: Index, path: &Path) -> Index {
    drop(index);
    options().open(path).expect("the index opens")
}

/// In buffers, flushed, reopened, replaced, deleted, vacuumed, rebuilt, and in another reader.
#[test]
fn addresses_are_found_ordered_and_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let mut random = Rng::new(0x1b);
    let (mut model, mut at) = (Model::new(), 0);
    let mut index = options().open(&path).expect("an index");
    for round in 0..7 {
        write(&index, &mut model, &mut at, &mut random);
        match round {
            1 | 3 => index.checkpoint().expect("a checkpoint"),
            2 => {
                index.sync().expect("a sync");
                index = reopened(index, &path);
            }
            4 => {
                while index.vacuum().expect("a slice") {}
                index.checkpoint().expect("a checkpoint");
            }
            5 => index.rebuild(&mut |_, _, _| ()).expect("a rebuild"),
            _ => {}
        }
        check(&index, &model, &mut random);
    }
    index.checkpoint().expect("a checkpoint");
    assert_whole(&index);
    let reader = Index::options().read_only().open(&path).expect("a reader");
    check(&reader, &model, &mut random);
    drop(reader);
    let index = reopened(index, &path);
    assert_whole(&index);
    check(&index, &model, &mut random);
}

/// Values that are none are left out where the mapping says so, a null counts as an address, and
/// all the others are rejected with field, value and type.
#[test]
fn what_is_no_address_is_left_out_or_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = options()
        .open(folder.path().join("index"))
        .expect("an index");
    let write = |json: serde_json::Value| {
        let document = Document::parse(json.to_string().as_bytes())?;
        index.write(vec![document])
    };
    for value in [
        json!("10.0.0"),
        json!(7),
        json!("10.0.0.0/8"),
        json!(""),
        json!(["::1", "fe80::1%lo"]),
    ] {
        let error = write(json!({"id": "a", "ip": value}))
            .expect_err("no address")
            .to_string();
        assert!(
            error.contains("\"ip\" is declared as ip") && error.contains("10.0.0.1"),
            "{error}"
        );
    }
    write(json!({"id": "a", "loose": ["10.0.0.1", "x", true]})).expect("a batch");
    write(json!({"id": "b", "loose": null, "ip": "::1"})).expect("a batch");
    write(json!({"id": "c", "loose": "x"})).expect("a batch");
    let found = |text: &str| {
        let mut ids = ids(&ask(&index, text, &SearchOptions::default()).expect("an answer"));
        ids.sort_unstable();
        ids.concat()
    };
    let check = || {
        assert_eq!(found("loose:10.0.0.0/8"), "a");
        assert_eq!(found("loose:0.0.0.0"), "b");
        assert_eq!(found("loose:*"), "ab");
    };
    check();
    index.checkpoint().expect("a checkpoint");
    check();
    assert_whole(&index);
    for (text, part) in [
        ("ip:10.*", "no words or parts of words"),
        ("ip:10.0.0.1~1", "no words or parts of words"),
        ("ip:10.0.0.999", "\"10.0.0.999\" is none"),
        ("ip:[1 TO 2]", "\"1\" is none"),
        ("ip:[10.0.0.10 TO 10.0.0.9]", "without values"),
        ("ip:=(::1 x)", "\"x\" is none"),
        ("ip:\"10.0.0.0/33\"", "\"10.0.0.0/33\" is none"),
    ] {
        let error = ask(&index, text, &SearchOptions::default()).map(|_| ());
        let error = error.expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    // Addresses are no words, as numbers are none.
    assert_eq!(found("10.0.0.1"), "");
    let columns = index.snapshot().columns().expect("columns");
    let loose = columns
        .iter()
        .find(|column| column.name == "loose")
        .expect("a column");
    assert_eq!((loose.value_type.name(), loose.misfits), ("ip", 3));
}
