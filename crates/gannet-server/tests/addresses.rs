//! Fields of internet addresses, against a plain list of them.

use std::net::{IpAddr, Ipv6Addr};

use serde_json::{Value, json};

use crate::client::{Random, TestServer};

fn of(text: &str) -> Ipv6Addr {
    match text.parse().expect("an address") {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    }
}

fn shown(ip: &Ipv6Addr) -> String {
    match ip.to_ipv4_mapped() {
        Some(ip) => ip.to_string(),
        None => ip.to_string(),
    }
}

fn found(server: &TestServer, query: &Value) -> Vec<usize> {
    let ids = server.found("d", &query.to_string());
    let mut ids: Vec<usize> = ids.iter().map(|id| id.parse().expect("a number")).collect();
    ids.sort_unstable();
    ids
}

fn server(all: &[Vec<Ipv6Addr>]) -> TestServer {
    let server = TestServer::new();
    let mapping = json!({ "mappings": { "properties": { "ip": { "type": "ip" },
        "loose": { "type": "ip", "ignore_malformed": true } } } });
    server.json("PUT", "/d", &mapping.to_string(), 200);
    for (id, ips) in all.iter().enumerate() {
        let texts: Vec<String> = ips
            .iter()
            .map(|ip| {
                if id % 2 == 0 {
                    shown(ip)
                } else {
                    format!("{ip}")
                }
            })
            .collect();
        let source = json!({ "ip": texts, "loose": "none" });
        server.json("PUT", &format!("/d/_doc/{id}"), &source.to_string(), 201);
    }
    server
}

#[test]
fn addresses_are_found_by_terms_networks_and_ranges() {
    let mut random = Random(7);
    let mut draw = || match random.below(4) {
        0 => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, random.below(9) as u16),
        _ => of(&format!("10.0.{}.{}", random.below(4), random.below(12))),
    };
    let all: Vec<Vec<Ipv6Addr>> = (0..90)
        .map(|id| (0..id % 3).map(|_| draw()).collect())
        .collect();
    let server = server(&all);
    let between = |first: &str, last: &str| {
        let within = of(first)..=of(last);
        let ids = all.iter().enumerate();
        let ids = ids.filter(|(_, ips)| ips.iter().any(|ip| within.contains(ip)));
        ids.map(|(id, _)| id).collect::<Vec<_>>()
    };
    let all_of_v6 = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    for (query, first, last) in [
        (
            json!({ "term": { "ip": "10.0.1.3" } }),
            "10.0.1.3",
            "10.0.1.3",
        ),
        (
            json!({ "term": { "ip": "::ffff:10.0.1.3" } }),
            "10.0.1.3",
            "10.0.1.3",
        ),
        (
            json!({ "term": { "ip": { "value": "10.0.2.0/24" } } }),
            "10.0.2.0",
            "10.0.2.255",
        ),
        (
            json!({ "match": { "ip": "2001:db8::/32" } }),
            "2001:db8::",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        ),
        (
            json!({ "terms": { "ip": ["10.0.0.0/24", "10.0.1.0/24"] } }),
            "10.0.0.0",
            "10.0.1.255",
        ),
        (
            json!({ "range": { "ip": { "gte": "10.0.0.9", "lte": "10.0.0.11" } } }),
            "10.0.0.9",
            "10.0.0.11",
        ),
        (
            json!({ "range": { "ip": { "gt": "10.0.0.9", "lt": "10.0.2.0" } } }),
            "10.0.0.10",
            "10.0.1.255",
        ),
        (
            json!({ "range": { "ip": { "gte": "2001:db8::2" } } }),
            "2001:db8::2",
            all_of_v6,
        ),
        (json!({ "exists": { "field": "ip" } }), "::", all_of_v6),
        (
            json!({ "query_string": { "query": "ip:\"10.0.3.0/24\"" } }),
            "10.0.3.0",
            "10.0.3.255",
        ),
    ] {
        assert_eq!(found(&server, &query), between(first, last), "{query}");
    }
    let body = json!({ "size": 90, "sort": [{ "ip": "asc" }, "_doc"], "docvalue_fields": ["ip"],
        "aggs": { "most": { "terms": { "field": "ip", "size": 3, "order": { "_key": "asc" } } } } });
    let answer = server.json("POST", "/d/_search", &body.to_string(), 200);
    let mut wanted: Vec<(bool, Option<&Ipv6Addr>, usize)> = all
        .iter()
        .enumerate()
        .map(|(id, ips)| (ips.is_empty(), ips.iter().min(), id))
        .collect();
    wanted.sort_unstable();
    let hits = answer["hits"]["hits"].as_array().expect("hits");
    for (hit, (_, ip, id)) in hits.iter().zip(&wanted) {
        assert_eq!(hit["_id"], json!(id.to_string()));
        assert_eq!(hit["sort"][0], json!(ip.map(shown)));
        let mut ips: Vec<Ipv6Addr> = all[*id].clone();
        ips.sort_unstable();
        ips.dedup();
        let texts: Vec<String> = ips.iter().map(shown).collect();
        if !texts.is_empty() {
            assert_eq!(hit["fields"]["ip"], json!(texts));
        }
    }
    let ranges = json!({ "size": 0, "aggs": { "r": { "ip_range": { "field": "ip", "ranges": [
        { "from": "10.0.1.0" }, { "to": "10.0.1.0" }, { "mask": "10.0.0.0/25" },
        { "from": "10.0.0.9", "to": "10.0.2.0", "key": "some" }, { "mask": "2001:db8::/32" }, {},
    ] }, "aggs": { "best": { "top_hits": { "size": 90 } } } } } });
    let answer_of_ranges = server.json("POST", "/d/_search", &ranges.to_string(), 200);
    let told = answer_of_ranges["aggregations"]["r"]["buckets"]
        .as_array()
        .expect("buckets");
    let names: Vec<&str> = told
        .iter()
        .filter_map(|bucket| bucket["key"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "*-10.0.1.0",
            "*-*",
            "10.0.0.0/25",
            "some",
            "10.0.1.0-*",
            "2001:db8::/32"
        ]
    );
    assert_eq!(
        (&told[2]["from"], &told[2]["to"]),
        (&json!("10.0.0.0"), &json!("10.0.0.128"))
    );
    for bucket in told {
        let end = |name: &str| bucket.get(name).and_then(|end| end.as_str()).map(of);
        let (from, to) = (end("from"), end("to"));
        let is_in =
            |ip: &Ipv6Addr| from.is_none_or(|from| *ip >= from) && to.is_none_or(|to| *ip < to);
        let count = all.iter().filter(|ips| ips.iter().any(is_in)).count();
        assert_eq!(bucket["doc_count"], count, "{bucket}");
        assert_eq!(bucket["best"]["hits"]["total"]["value"], count, "{bucket}");
    }
    let keyed = json!({ "size": 0, "aggs": { "r": { "ip_range": { "field": "ip", "keyed": true,
        "ranges": [{ "to": "10.0.1.0" }] } } } });
    let keyed = server.json(
        "POST",
        "/d/_search?typed_keys=true",
        &keyed.to_string(),
        200,
    );
    assert_eq!(
        keyed["aggregations"]["ip_range#r"]["buckets"]["*-10.0.1.0"]["to"],
        "10.0.1.0"
    );
    for (ranges, part) in [
        (json!([{ "mask": "10.0.0.0/33" }]), "a network such as"),
        (
            json!([{ "mask": "10.0.0.0/8", "to": "10.0.0.1" }]),
            "a network such as",
        ),
        (json!([{ "from": "x" }]), "an internet address"),
        (
            json!([{ "from": "10.0.0.2", "to": "10.0.0.1" }]),
            "upside down",
        ),
        (json!([]), "ranges"),
    ] {
        let body = json!({ "aggs": { "r": { "ip_range": { "field": "ip", "ranges": ranges } } } });
        let (_, reason) = server.error("POST", "/d/_search", &body.to_string(), 400);
        assert!(reason.contains(part), "{reason}");
    }
    server.json("PUT", "/k/_doc/1", r#"{"k":"10.0.0.1"}"#, 201);
    let body = json!({ "aggs": { "r": { "ip_range": { "field": "k.keyword", "ranges": [{}] } } } });
    let (_, reason) = server.error("POST", "/k/_search", &body.to_string(), 400);
    assert!(reason.contains("needs a field of type ip"), "{reason}");

    let mut keys: Vec<Ipv6Addr> = all.iter().flatten().copied().collect();
    keys.sort_unstable();
    keys.dedup();
    for (bucket, ip) in answer["aggregations"]["most"]["buckets"]
        .as_array()
        .expect("buckets")
        .iter()
        .zip(&keys)
    {
        let count = all.iter().filter(|ips| ips.contains(ip)).count();
        assert_eq!(
            (&bucket["key"], &bucket["doc_count"]),
            (&json!(shown(ip)), &json!(count))
        );
    }
    let mapping = server.json("GET", "/d/_mapping", "", 200);
    assert_eq!(
        mapping["d"]["mappings"]["properties"]["ip"],
        json!({ "type": "ip" })
    );
}

#[test]
fn what_is_no_address_is_an_error_that_names_it() {
    let server = server(&[vec![of("10.0.0.1")]]);
    for (path, body, part) in [
        (
            "/d/_doc/7",
            json!({ "ip": "10.0.0" }),
            "failed to parse field [ip] of type [ip]",
        ),
        (
            "/d/_search",
            json!({ "query": { "term": { "ip": "10.0" } } }),
            "'10.0' is not an IP string literal",
        ),
        (
            "/d/_search",
            json!({ "query": { "range": { "ip": { "gte": "x" } } } }),
            "'x' is not an IP string literal",
        ),
        (
            "/d/_search",
            json!({ "query": { "prefix": { "ip": "10." } } }),
            "which is of type [ip]",
        ),
    ] {
        let answer = server
            .json("POST", path, &body.to_string(), 400)
            .to_string();
        assert!(answer.contains(part), "{answer}");
    }
    let mapping =
        json!({ "mappings": { "properties": { "ip": { "type": "ip", "index": false } } } });
    let answer = server
        .json("PUT", "/e", &mapping.to_string(), 400)
        .to_string();
    assert!(
        answer.contains("[index] false of field [ip] of type [ip]"),
        "{answer}"
    );
}
