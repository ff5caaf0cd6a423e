//! Answers that typed clients, and programs that ship logs or draw graphs, need beyond searching.

use serde_json::{Value, json};

use crate::client::{TestServer, text};

fn logs() -> TestServer {
    let server = TestServer::new();
    let template = json!({
        "index_patterns": ["logs-*"], "priority": 150, "data_stream": {}, "composed_of": [],
        "_meta": { "description": "logs" },
        "template": {
            "settings": { "index": {
                "codec": "best_compression", "mapping": { "total_fields": { "limit": 10_000 } },
            }},
            "mappings": { "_meta": { "version": "8" }, "properties": {
                "@timestamp": { "type": "date" }, "level": { "type": "keyword" },
                "message": { "type": "text" }, "took": { "type": "long" },
                "host": { "properties": { "name": { "type": "keyword" } } },
            }},
        },
    });
    server.json("PUT", "/_index_template/logs", &template.to_string(), 200);
    let mut lines = String::new();
    for n in 0..20 {
        let level = ["info", "error"][n % 2];
        let document = json!({
            "@timestamp": format!("2024-05-01T10:{n:02}:00.000Z"), "level": level, "took": n,
            "message": format!("request {n} of web"), "host": { "name": format!("web-{}", n % 2) },
        });
        lines.push_str(&format!("{{\"create\":{{\"_id\":\"{n}\"}}}}\n{document}\n"));
    }
    assert_eq!(server.bulk("/logs-app/_bulk", &lines)["errors"], false);
    server
}

fn search(server: &TestServer, path: &str, body: &Value) -> Value {
    server.json("POST", path, &body.to_string(), 200)
}

#[test]
fn names_of_aggregations_have_their_types_where_a_client_asks_for_them() {
    let server = logs();
    let body = json!({ "size": 0, "aggs": {
        "levels": { "terms": { "field": "level" }, "aggs": { "mean": { "avg": { "field": "took" } } } },
        "numbers": { "terms": { "field": "took" } },
        "none": { "terms": { "field": "nowhere" } },
        "times": { "date_histogram": { "field": "@timestamp", "fixed_interval": "10m" } },
        "steps": { "histogram": { "field": "took", "interval": 5 } },
        "ranges": { "range": { "field": "took", "keyed": true, "ranges": [{ "to": 5 }] },
            "aggs": { "most": { "max": { "field": "took" } } } },
        "errors": { "filter": { "term": { "level": "error" } },
            "aggs": { "least": { "min": { "field": "took" } } } },
        "both": { "filters": { "filters": { "a": { "match_all": {} } } },
            "aggs": { "sum": { "sum": { "field": "took" } } } },
        "less": { "missing": { "field": "level" } },
        "all": { "global": {} },
        "pairs": { "composite": { "sources": [{ "l": { "terms": { "field": "level" } } }] } },
        "half": { "percentiles": { "field": "took", "percents": ["50"] } },
        "count": { "value_count": { "field": "took" } },
        "stats": { "stats": { "field": "took" } },
        "more": { "extended_stats": { "field": "took" } },
        "many": { "cardinality": { "field": "took" } },
    }});
    let plain = search(&server, "/logs-app/_search", &body);
    assert_eq!(
        plain["aggregations"]["levels"]["buckets"][0]["doc_count"],
        10
    );
    let typed = search(&server, "/logs-app/_search?typed_keys=true", &body);
    let typed = &typed["aggregations"];
    let names: Vec<&String> = typed.as_object().unwrap().keys().collect();
    let expected = [
        "sterms#levels",
        "lterms#numbers",
        "umterms#none",
        "date_histogram#times",
        "histogram#steps",
        "range#ranges",
        "filter#errors",
        "filters#both",
        "missing#less",
        "global#all",
        "composite#pairs",
        "tdigest_percentiles#half",
        "value_count#count",
        "stats#stats",
        "extended_stats#more",
        "cardinality#many",
    ];
    let mut sorted = names.clone();
    sorted.sort();
    let mut wanted = expected.to_vec();
    wanted.sort_unstable();
    assert_eq!(sorted, wanted);
    // Also below buckets in a list, by name, and alone.
    assert_eq!(
        typed["sterms#levels"]["buckets"][0]["avg#mean"]["value"],
        10.0
    );
    assert_eq!(
        typed["range#ranges"]["buckets"]["*-5.0"]["max#most"]["value"],
        4.0
    );
    assert_eq!(typed["filter#errors"]["min#least"]["value"], 1.0);
    assert_eq!(
        typed["filters#both"]["buckets"]["a"]["sum#sum"]["value"],
        190.0
    );
    let lines = "{\"index\":\"logs-app\"}\n{\"size\":0,\"aggs\":{\"l\":{\"terms\":{\"field\":\"level\"}}}}\n";
    let many = server.bulk("/_msearch?typed_keys=true&ignore_throttled=false", lines);
    let found = &many["responses"][0]["aggregations"];
    assert!(found["sterms#l"]["buckets"].is_array(), "{many}");
}

#[test]
fn a_query_of_logs_is_answered_as_a_graph_needs_it() {
    let server = logs();
    let body = json!({
        "size": 500,
        "query": { "bool": { "filter": [
            { "range": { "@timestamp": { "format": "epoch_millis", "gte": 1_714_557_600_000_u64, "lte": 1_714_561_200_000_u64 } } },
            { "query_string": { "analyze_wildcard": true, "query": "host.name:web-1 AND took:>=10" } },
        ]}},
        "sort": { "@timestamp": { "order": "desc", "unmapped_type": "boolean" }, "_doc": { "order": "desc" } },
        "docvalue_fields": ["@timestamp"],
        "script_fields": {},
        "fields": [{ "field": "@timestamp", "format": "strict_date_optional_time_nanos" }, "host.*"],
        "highlight": { "fields": { "*": {} }, "fragment_size": 2_147_483_647 },
    });
    let found = search(&server, "/logs-app/_search", &body);
    let hits = found["hits"]["hits"].as_array().unwrap();
    let ids: Vec<String> = hits.iter().map(|hit| text(&hit["_id"])).collect();
    assert_eq!(ids, ["19", "17", "15", "13", "11"]);
    assert_eq!(hits[0]["sort"].as_array().unwrap().len(), 2);
    assert_eq!(
        hits[0]["fields"]["@timestamp"],
        json!(["2024-05-01T10:19:00.000Z"])
    );
    assert_eq!(hits[0]["fields"]["host.name"], json!(["web-1"]));
    assert_eq!(hits[0]["_source"]["took"], 19);
    let body = json!({ "_source": false, "size": 1, "fields": ["took"], "sort": ["took"] });
    let found = search(&server, "/logs-app/_search", &body);
    assert_eq!(found["hits"]["hits"][0]["fields"]["took"], json!([0]));
    assert!(found["hits"]["hits"][0].get("_source").is_none());
    // No field is stored beside the source.
    for (body, has_source) in [
        (json!({ "stored_fields": ["*"], "_source": true }), true),
        (json!({ "stored_fields": "*" }), false),
        (json!({ "stored_fields": ["_source"] }), true),
    ] {
        let found = search(&server, "/logs-app/_search", &body);
        assert_eq!(
            found["hits"]["hits"][0].get("_source").is_some(),
            has_source,
            "{body}"
        );
    }
}

#[test]
fn a_text_is_read_as_lucene_reads_it() {
    let server = logs();
    for (query, count) in [
        ("host.name:web-1", 10),
        ("took:>15", 4),
        ("took:[5 TO 7]", 3),
        ("took:{5 TO 7}", 1),
        ("took:[5 TO *]", 15),
        ("@timestamp:[2024-05-01 TO 2024-05-02]", 20),
        ("@timestamp:[\"2024-05-01T10:05:00Z\" TO *]", 15),
        ("_exists_:level", 20),
        ("level:error AND took:>10 OR level:info", 5),
        ("level:error OR level:info", 20),
        ("level:error -host.name:web-1", 0),
        ("NOT level:error", 10),
        ("!level:error", 10),
        ("level:error && took:<3", 1),
        ("level:(error OR info) AND NOT took:<19", 1),
        ("message:\"request 7\"", 1),
        ("level:\"error\"", 10),
        ("level:err*", 10),
        ("message:REQ*", 20),
        ("host.name:*", 20),
        ("level:error^2", 10),
        ("nowhere:x", 0),
        ("web-1", 20),
        ("level\\:error", 0),
    ] {
        let body = json!({ "query": { "query_string": { "query": query } }, "size": 0 });
        let found = search(&server, "/logs-app/_search", &body);
        assert_eq!(found["hits"]["total"]["value"], count, "{query}");
    }
    let both = json!({ "query": { "query_string": {
        "query": "level:error took:<4", "default_operator": "AND",
    }}});
    assert_eq!(
        search(&server, "/logs-app/_search", &both)["hits"]["total"]["value"],
        2
    );
    for query in [
        "level:/err.*/",
        "(level:error",
        "took:[1 TO",
        "h*:x",
        "level:error)",
    ] {
        let body = json!({ "query": { "query_string": { "query": query } } });
        server.error("POST", "/logs-app/_search", &body.to_string(), 400);
    }
}

#[test]
fn a_filter_behind_aggregations_limits_hits_alone() {
    let server = logs();
    let body = json!({
        "post_filter": { "term": { "level": "error" } },
        "aggs": { "levels": { "terms": { "field": "level" } } }, "sort": ["took"], "size": 2,
    });
    let found = search(&server, "/logs-app/_search", &body);
    assert_eq!(found["hits"]["total"]["value"], 10);
    assert_eq!(found["hits"]["hits"][0]["_id"], "1");
    assert_eq!(
        found["aggregations"]["levels"]["buckets"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn data_streams_are_indexes_of_a_template() {
    let server = logs();
    server.json("PUT", "/_data_stream/logs-other", "", 200);
    let told = server.json("GET", "/_data_stream/logs-*", "", 200);
    let names: Vec<&Value> = told["data_streams"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["logs-app", "logs-other"]);
    assert_eq!(told["data_streams"][0]["template"], "logs");
    assert_eq!(
        server.error("GET", "/_data_stream/none", "", 404).0,
        "index_not_found_exception"
    );
    assert_eq!(
        server.error("PUT", "/_data_stream/none", "", 400).0,
        "illegal_argument_exception"
    );
    server.error("PUT", "/_data_stream/logs-app", "", 400);
    server.json("DELETE", "/_data_stream/logs-other", "", 200);
    assert_eq!(server.ask("HEAD", "/logs-other", "").status, 404);
    let mappings = server.json("GET", "/logs-app/_mapping", "", 200);
    assert_eq!(mappings["logs-app"]["mappings"]["_meta"]["version"], "8");
}

#[test]
fn what_clients_ask_of_a_cluster_is_told_of_the_server() {
    let server = logs();
    for path in [
        "/_nodes/_all/http",
        "/_nodes/stats",
        "/_nodes/_local/stats",
        "/_nodes/stats/http",
    ] {
        let told = server.json("GET", path, "", 200);
        assert_eq!(told["nodes"].as_object().unwrap().len(), 1, "{path}");
    }
    let stats = server.json("GET", "/_cluster/stats", "", 200);
    assert_eq!(stats["indices"]["docs"]["count"], 20);
    let field = server.json("GET", "/logs-app/_mapping/field/host.*", "", 200);
    let field = &field["logs-app"]["mappings"]["host.name"];
    assert_eq!(field["mapping"]["name"]["type"], "keyword");
    server.json("PUT", "/logs-app/_aliases/all", "", 200);
    server.json("DELETE", "/logs-app/_aliases/all", "", 200);
    // A path may end with a slash.
    assert_eq!(
        server.bulk("/_bulk/", "{\"index\":{\"_index\":\"a\"}}\n{}\n")["errors"],
        false
    );
    let table = server.send(
        "GET",
        "/_cat/indices",
        &[("Accept", "application/json")],
        b"",
    );
    assert_eq!(table.json().as_array().unwrap().len(), 2);
    let sorted = server.json("GET", "/_cat/indices?format=json&s=index:desc", "", 200);
    assert_eq!(sorted[0]["index"], "logs-app");
    // Errors stay whole whatever is asked of them.
    let failed = server.json("GET", "/none/_search?filter_path=hits.total", "", 404);
    assert_eq!(failed["error"]["type"], "index_not_found_exception");
}

#[test]
fn answers_have_the_members_that_typed_clients_need() {
    let server = logs();
    let health = server.json("GET", "/_cluster/health", "", 200);
    assert_eq!(health["unassigned_primary_shards"], 0);
    let pit = server.json("POST", "/logs-app/_pit?keep_alive=1m", "{}", 200);
    assert!(pit["id"].is_string());
    let body = r#"{"index_filter":{"match_all":{}}}"#;
    server.error("POST", "/logs-app/_pit?keep_alive=1m", body, 400);
    server.json(
        "PUT",
        "/_index_template/one",
        r#"{"index_patterns":"one-*"}"#,
        200,
    );
    let told = server.json("GET", "/_index_template/one", "", 200);
    let template = &told["index_templates"][0]["index_template"];
    assert_eq!(template["composed_of"], json!([]));
    assert_eq!(template["index_patterns"], json!(["one-*"]));
}

/// A similarity of one's own that is BM25 as it is here changes nothing.
#[test]
fn a_similarity_is_taken_if_it_is_the_one_that_there_is() {
    let server = TestServer::new();
    let body = |similarity: Value| {
        json!({
            "settings": { "similarity": { "own": similarity } },
            "mappings": { "properties": { "text": { "type": "text", "similarity": "own" } } },
        })
        .to_string()
    };
    server.json("PUT", "/a", &body(json!({ "type": "BM25" })), 200);
    server.json(
        "PUT",
        "/b",
        &body(json!({ "type": "BM25", "k1": 1.2, "b": "0.75" })),
        200,
    );
    for other in [
        json!({ "type": "BM25", "b": 0.3 }),
        json!({ "type": "DFR" }),
    ] {
        let (_, reason) = server.error("PUT", "/c", &body(other), 400);
        assert!(reason.contains("similarity"), "{reason}");
    }
}

#[test]
fn documents_have_a_type_for_clients_of_version_7() {
    let server = TestServer::new();
    let media = "application/vnd.elasticsearch+x-ndjson; compatible-with=7";
    let accept = "application/vnd.elasticsearch+json; compatible-with=7";
    let lines = b"{\"index\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{}\n{\"create\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{}\n";
    let old = server.send(
        "POST",
        "/_bulk",
        &[("Content-Type", media), ("Accept", accept)],
        lines,
    );
    assert_eq!(old.json()["items"][0]["index"]["_type"], "_doc");
    assert_eq!(old.json()["items"][1]["create"]["_type"], "_doc");
    let new = server.bulk(
        "/_bulk",
        "{\"index\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{}\n",
    );
    assert!(new["items"][0]["index"].get("_type").is_none());
    let server = TestServer::with(|settings| settings.es_version = "7.17.9".to_owned());
    assert_eq!(server.json("PUT", "/a/_doc/1", "{}", 201)["_type"], "_doc");
}

#[test]
fn texts_ask_for_the_fields_that_the_settings_of_an_index_name() {
    let server = TestServer::new();
    let body = r#"{"settings":{"index":{"query":{"default_field":["message","host.*"]}}}}"#;
    server.json("PUT", "/s", body, 200);
    server.json(
        "PUT",
        "/s/_doc/1",
        r#"{"message":"red","other":"blue"}"#,
        201,
    );
    server.json(
        "PUT",
        "/s/_doc/2",
        r#"{"message":"blue","other":"red"}"#,
        201,
    );
    let found = |query: Value| server.found("s", &query.to_string());
    assert_eq!(found(json!({ "query_string": { "query": "red" } })), ["1"]);
    assert_eq!(
        found(json!({ "simple_query_string": { "query": "red" } })),
        ["1"]
    );
    let named = json!({ "query_string": { "query": "red", "default_field": "other" } });
    assert_eq!(found(named), ["2"]);
    let by_parameter = server.json("GET", "/s/_search?q=red", "", 200);
    assert_eq!(by_parameter["hits"]["hits"][0]["_id"], "1");
    for wrong in ["7", "[]", "[1]"] {
        let body = format!(r#"{{"settings":{{"index.query.default_field":{wrong}}}}}"#);
        let (_, reason) = server.error("PUT", "/t", &body, 400);
        assert!(reason.contains("give the name of a field"), "{reason}");
    }
}

#[test]
fn a_query_beside_a_count_of_a_table_is_rejected() {
    let server = logs();
    let counted = server.ask("POST", "/_cat/count?h=count", "").text();
    assert_eq!(counted.trim(), "20");
    let body = r#"{"query":{"match_all":{}}}"#;
    let (_, reason) = server.error("POST", "/_cat/count/logs-app", body, 400);
    assert!(reason.contains("_cat/count"), "{reason}");
}
