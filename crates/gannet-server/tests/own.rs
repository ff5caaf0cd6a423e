//! Gannet's own API: each example of its documentation, its errors, its limits.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::{Random, TestServer, text};

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/server.md")
}

/// A request of the documentation, and what its answer has at least.
struct Example {
    request: String,
    answer: Value,
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    for part in page.split("```http\n").skip(1) {
        let (request, rest) = part.split_once("```\n").unwrap();
        let (_, rest) = rest.split_once("```json\n").unwrap();
        let (answer, _) = rest.split_once("```").unwrap();
        examples.push(Example {
            request: request.to_owned(),
            answer: serde_json::from_str(answer)
                .unwrap_or_else(|error| panic!("{error}: {answer}")),
        });
    }
    examples
}

/// Fails unless a value has all of another: lists of one length, objects perhaps with more members.
#[track_caller]
fn check_has(found: &Value, wanted: &Value, whole: &Value) {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            for (name, wanted) in wanted {
                let found = found.get(name);
                let found = found.unwrap_or_else(|| panic!("{name} is missing: {whole}"));
                check_has(found, wanted, whole);
            }
        }
        (Value::Array(found), Value::Array(wanted)) => {
            assert_eq!(found.len(), wanted.len(), "{whole}");
            for (found, wanted) in found.iter().zip(wanted) {
                check_has(found, wanted, whole);
            }
        }
        _ => assert_eq!(found, wanted, "{whole}"),
    }
}

#[test]
fn each_example_of_the_documentation_is_answered_so() {
    let server = TestServer::new();
    let page = std::fs::read_to_string(page()).unwrap();
    let examples = examples(&page);
    assert!(examples.len() >= 12, "{}", examples.len());
    for Example { request, answer } in examples {
        let (head, body) = request.split_once("\n\n").unwrap_or((&request, ""));
        let mut lines = head.lines();
        let (method, path) = lines.next().unwrap().split_once(' ').unwrap();
        let headers: Vec<(&str, &str)> = lines.map(|line| line.split_once(": ").unwrap()).collect();
        let answered = server.send(method, path, &headers, body.as_bytes());
        let found = answered.json();
        let status = answer["error"]["status"].as_u64();
        assert_eq!(
            u64::from(answered.status / 100 * 100),
            status.map_or(200, |status| status / 100 * 100),
            "{request}: {found}"
        );
        check_has(
            &found,
            &answer,
            &json!({ "request": request, "answer": found }),
        );
    }
}

#[test]
fn the_documentation_lists_the_routes_that_there_are() {
    const BEGIN: &str = "<!-- routes -->\n";
    const END: &str = "<!-- end of routes -->";
    let written = std::fs::read_to_string(page()).unwrap();
    let (before, rest) = written.split_once(BEGIN).unwrap();
    let (listed, after) = rest.split_once(END).unwrap();
    let table = gannet_server::own_routes();
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(page(), format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert!(
        listed == table,
        "docs/server.md has other routes than the table: `WRITE_DOCS=1 cargo test --package gannet-server own` writes them"
    );
}

#[test]
fn openapi_names_every_route_and_every_reference_leads_somewhere() {
    let server = TestServer::new();
    let told = server.json("GET", "/v1/openapi.json", "", 200);
    let mut listed = BTreeSet::new();
    for line in gannet_server::own_routes().lines().skip(2) {
        let mut cells = line.split(" | ");
        let path = cells
            .next()
            .unwrap()
            .trim_matches(['|', ' ', '`'])
            .to_owned();
        if path.starts_with("/v1/") {
            listed.insert((path, cells.next().unwrap().to_ascii_lowercase()));
        }
    }
    let mut named = BTreeSet::new();
    for (path, methods) in told["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            named.insert((path.clone(), method.clone()));
        }
    }
    assert_eq!(named, listed);
    let mut open = vec![&told];
    while let Some(value) = open.pop() {
        if let Some(reference) = value.get("$ref") {
            let reference = text(reference);
            let place = reference.strip_prefix('#').unwrap();
            assert!(told.pointer(place).is_some(), "{reference}");
        }
        match value {
            Value::Object(members) => open.extend(members.values()),
            Value::Array(elements) => open.extend(elements),
            _ => {}
        }
    }
}

/// The code of an error and its place.
#[track_caller]
fn wrong(server: &TestServer, method: &str, path: &str, media: &str, body: &str) -> (Value, Value) {
    let headers = [("Content-Type", media)];
    let answered = server.send(method, path, &headers, body.as_bytes());
    let error = answered.json()["error"].clone();
    assert_eq!(error["status"], answered.status, "{error}");
    assert!(!text(&error["message"]).ends_with('.'), "{error}");
    (error["code"].clone(), error["place"].clone())
}

#[test]
fn errors_have_one_shape_and_say_where() {
    let server = TestServer::new();
    let documents = "/v1/indexes/a/documents";
    let search = "/v1/indexes/a/search";
    let (lines, json) = ("application/x-ndjson", "application/json");
    server.json(
        "PUT",
        "/v1/indexes/a/documents/1",
        r#"{"t":"x","n":1}"#,
        201,
    );
    for (method, path, media, body, code, place) in [
        (
            "POST",
            documents,
            lines,
            "\n{\"id\":1,}\n",
            "invalid",
            json!({"part":"body","line":2,"column":9}),
        ),
        (
            "POST",
            documents,
            lines,
            "{\"id\":{}}",
            "invalid",
            json!({"part":"body","line":1}),
        ),
        (
            "POST",
            documents,
            json,
            "[{\"a\":1},\n x]",
            "invalid",
            json!({"part":"body","line":2,"column":2}),
        ),
        (
            "POST",
            documents,
            json,
            "[]x",
            "invalid",
            json!({"part":"body","line":1,"column":3}),
        ),
        (
            "POST",
            documents,
            "text/csv",
            "a,a\n1,2\n",
            "invalid",
            json!({"part":"body","line":1}),
        ),
        (
            "POST",
            documents,
            "text/csv",
            "a,b\n1\n",
            "invalid",
            json!({"part":"body","line":2}),
        ),
        (
            "POST",
            documents,
            "text/plain",
            "x",
            "wrong_media_type",
            json!(null),
        ),
        ("POST", documents, lines, " ", "invalid", json!(null)),
        (
            "POST",
            search,
            json,
            r#"{"query":"t:(x"}"#,
            "invalid",
            json!({"part":"query","character":3}),
        ),
        (
            "POST",
            search,
            json,
            r#"{"filter":["n:1","zz:1"]}"#,
            "invalid",
            json!({"part":"filter","character":1}),
        ),
        (
            "POST",
            search,
            json,
            r#"{"qurey":"x"}"#,
            "invalid",
            json!(null),
        ),
        (
            "POST",
            search,
            json,
            r#"{"size":9999,"offset":2}"#,
            "invalid",
            json!(null),
        ),
        (
            "POST",
            search,
            json,
            r#"{"after":[1]}"#,
            "invalid",
            json!(null),
        ),
        (
            "POST",
            search,
            json,
            r#"{"facets":{"n":0}}"#,
            "invalid",
            json!(null),
        ),
        (
            "POST",
            search,
            json,
            r#"{"facets":["none"]}"#,
            "invalid",
            json!(null),
        ),
        (
            "POST",
            search,
            json,
            r#"{"highlight":{"fragments":101}}"#,
            "invalid",
            json!(null),
        ),
        (
            "POST",
            "/v1/indexes/none/search",
            json,
            "{}",
            "not_found",
            json!(null),
        ),
        ("POST", "/v1/multi", json, "{}", "invalid", json!(null)),
        ("PUT", "/v1/indexes/A", json, "{}", "invalid", json!(null)),
        ("PUT", "/v1/indexes/a", json, "{}", "invalid", json!(null)),
        (
            "PUT",
            "/v1/indexes/b",
            json,
            r#"{"fields":{"v":"dense_vector"}}"#,
            "invalid",
            json!(null),
        ),
        (
            "PUT",
            "/v1/indexes/a/documents/1?version=7",
            json,
            "{}",
            "conflict",
            json!(null),
        ),
        (
            "PUT",
            "/v1/indexes/a/documents/1?version=0",
            json,
            "{}",
            "conflict",
            json!(null),
        ),
        (
            "PUT",
            "/v1/indexes/a/documents/1",
            json,
            r#"{"id":"2"}"#,
            "invalid",
            json!(null),
        ),
        (
            "GET",
            "/v1/indexes/a/documents/2",
            json,
            "",
            "not_found",
            json!(null),
        ),
        (
            "DELETE",
            "/v1/indexes/a/documents/2",
            json,
            "",
            "not_found",
            json!(null),
        ),
        (
            "DELETE",
            "/v1/indexes/none",
            json,
            "",
            "not_found",
            json!(null),
        ),
        (
            "PATCH",
            "/v1/indexes/a",
            json,
            "",
            "wrong_method",
            json!(null),
        ),
        ("GET", "/v1/nothing", json, "", "not_found", json!(null)),
        (
            "POST",
            "/v1/indexes/a/analyze",
            json,
            r#"{"text":"x","field":"zz"}"#,
            "invalid",
            json!(null),
        ),
    ] {
        let found = wrong(&server, method, path, media, body);
        assert_eq!(found, (json!(code), place), "{method} {path} {body}");
    }
    // An index with the name of the API is an index as any other.
    server.json("PUT", "/v1/_doc/1", r#"{"t":"x"}"#, 201);
    assert_eq!(server.found("v1", r#"{"match":{"t":"x"}}"#), ["1"]);
}

/// Pages in an order by values have each document once, whatever the values are.
#[test]
fn pages_by_next_have_each_document_once() {
    let server = TestServer::new();
    let seed = 20261129;
    let mut random = Random(seed);
    let lines: String = (0..200)
        .map(|id| {
            let value = random.below(5);
            let tag = random.pick(&["red", "green", "blue"]);
            format!("{{\"id\":\"{id}\",\"n\":{value},\"tag\":\"{tag}\"}}\n")
        })
        .collect();
    let headers = [("Content-Type", "application/x-ndjson")];
    let written = server.send(
        "POST",
        "/v1/indexes/a/documents",
        &headers,
        lines.as_bytes(),
    );
    assert_eq!(written.json()["created"], 200);
    for sort in ["n", "-n", "_score"] {
        let mut met = Vec::new();
        let mut next = Value::Null;
        loop {
            let mut body = json!({ "sort": sort, "size": 17, "fields": ["n"] });
            if !next.is_null() {
                body["after"] = next.clone();
            }
            let found = server.json("POST", "/v1/indexes/a/search", &body.to_string(), 200);
            assert_eq!(found["total"], 200);
            let hits = found["hits"].as_array().unwrap();
            met.extend(hits.iter().map(|hit| text(&hit["id"])));
            match found.get("next") {
                Some(value) => next = value.clone(),
                None => break,
            }
        }
        let distinct: BTreeSet<&String> = met.iter().collect();
        assert_eq!(
            (met.len(), distinct.len()),
            (200, 200),
            "{sort}, seed {seed}"
        );
    }
    // Facets count what the documents have.
    let mut counts = std::collections::BTreeMap::new();
    for line in lines.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        *counts
            .entry(document["n"].as_u64().unwrap())
            .or_insert(0u64) += 1;
    }
    let found = server.json(
        "POST",
        "/v1/indexes/a/search",
        r#"{"facets":{"n":10},"size":0}"#,
        200,
    );
    for value in found["facets"]["n"]["values"].as_array().unwrap() {
        assert_eq!(
            value["count"],
            counts[&value["value"].as_u64().unwrap()],
            "seed {seed}"
        );
    }
}
