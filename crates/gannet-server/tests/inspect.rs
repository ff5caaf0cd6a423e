//! Questions about queries, fields and the server itself.

use serde_json::json;

use crate::client::{TestServer, text};

#[test]
fn queries_are_validated_and_scores_explained() {
    let server = TestServer::new();
    server.json("PUT", "/books/_doc/1", r#"{"t":"white whale","n":1}"#, 201);
    server.json("PUT", "/books/_doc/2", r#"{"t":"a ship"}"#, 201);
    let query = r#"{"query":{"match":{"t":"whale"}}}"#;
    let valid = server.json("POST", "/books/_validate/query?explain=true", query, 200);
    assert_eq!(
        (&valid["valid"], &valid["_shards"]["total"]),
        (&json!(true), &json!(1))
    );
    assert!(text(&valid["explanations"][0]["explanation"]).contains("whale"));
    let invalid = r#"{"query":{"mtach":{"t":"whale"}}}"#;
    let told = server.json("POST", "/_validate/query?explain=true", invalid, 200);
    assert_eq!(told["valid"], false);
    assert!(text(&told["explanations"][0]["error"]).contains("did you mean [match]?"));
    assert_eq!(
        server.json("GET", "/books/_validate/query?q=whale", "", 200)["valid"],
        true
    );
    let explained = server.json("POST", "/books/_explain/1", query, 200);
    assert_eq!(explained["matched"], true);
    let found = server.json("POST", "/books/_search", query, 200);
    assert_eq!(
        explained["explanation"]["value"],
        found["hits"]["hits"][0]["_score"]
    );
    assert!(
        !explained["explanation"]["details"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let other = server.json("POST", "/books/_explain/2", query, 200);
    assert_eq!(
        (&other["matched"], &other["explanation"]["value"]),
        (&json!(false), &json!(0.0))
    );
    server.json("POST", "/books/_explain/3", query, 404);
    server.error("POST", "/books/_explain/1", "{}", 400);
}

#[test]
fn fields_are_told_with_their_types() {
    let server = TestServer::new();
    server.json("PUT", "/a/_doc/1", r#"{"t":"x","n":1,"o":{"b":true}}"#, 201);
    server.json("PUT", "/b/_doc/1", r#"{"n":"x"}"#, 201);
    let told = server.json("GET", "/a,b/_field_caps?fields=n,o.*", "", 200);
    assert_eq!(told["indices"], json!(["a", "b"]));
    let names: Vec<&String> = told["fields"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["n", "o.b"]);
    assert_eq!(told["fields"]["n"]["long"]["indices"], json!(["a"]));
    assert_eq!(told["fields"]["n"]["text"]["searchable"], true);
    assert_eq!(told["fields"]["o.b"]["boolean"].get("indices"), None);
    let told = server.json("POST", "/_field_caps", r#"{"fields":["t"]}"#, 200);
    assert_eq!(told["fields"]["t"]["text"]["type"], "text");
    server.error("GET", "/_field_caps", "", 400);
}

/// Each line of the metrics is a comment or a metric with a number, and they count what happened.
#[test]
fn metrics_are_told_in_the_format_of_prometheus() {
    let server = TestServer::new();
    server.json("PUT", "/books/_doc/1", r#"{"t":"x"}"#, 201);
    server.json("GET", "/books/_doc/2", "", 404);
    server.ask("GET", "/no/such/route", "");
    server.json("POST", "/books/_pit?keep_alive=1m", "", 200);
    let answered = server.ask("GET", "/metrics", "");
    let media = answered.header("Content-Type").unwrap();
    assert!(media.starts_with("text/plain; version=0.0.4"), "{media}");
    let text = answered.text();
    let mut told = std::collections::HashSet::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# TYPE ") {
            assert!(
                told.insert(comment.split(' ').next().unwrap().to_owned()),
                "{line}"
            );
        }
        if line.starts_with('#') {
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        value.parse::<f64>().unwrap_or_else(|_| panic!("{line}"));
        let name = name.split('{').next().unwrap();
        let plain = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| name.strip_suffix(end));
        assert!(
            told.contains(name) || told.contains(plain.unwrap()),
            "{line}"
        );
    }
    for line in [
        r#"gannet_requests_total{method="PUT",route="/{index}/_doc/{id}",status="201"} 1"#,
        r#"gannet_requests_total{method="GET",route="/{index}/_doc/{id}",status="404"} 1"#,
        r#"gannet_requests_total{method="GET",route="none",status="400"} 1"#,
        "gannet_indexes 1",
        "gannet_indexes_open 1",
        "gannet_contexts 1",
        r#"gannet_index_documents{index="books"} 1"#,
        "gannet_requests_running 1",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line}: {text}");
    }
}
