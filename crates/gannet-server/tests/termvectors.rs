//! The terms of documents.

use serde_json::json;

use crate::client::TestServer;

#[test]
fn the_terms_of_a_document_are_those_of_its_source() {
    let server = TestServer::new();
    let mapping = r#"{"mappings":{"properties":{
        "text":{"type":"text","fields":{"en":{"type":"text","analyzer":"english"}}},
        "tags":{"type":"keyword"},"n":{"type":"long"},"hidden":{"type":"keyword","index":false}}}}"#;
    server.json("PUT", "/t", mapping, 200);
    let first = r#"{"text":["The Whale, 𝄞 a whale","whales"],"tags":["b","a"],"n":1,"hidden":"x"}"#;
    server.json("PUT", "/t/_doc/1", first, 201);
    server.json(
        "PUT",
        "/t/_doc/2",
        r#"{"text":"a whale of ships","tags":"a"}"#,
        201,
    );
    server.json("PUT", "/t/_doc/3", r#"{"n":1}"#, 201);
    let told = server.json("GET", "/t/_termvectors/1?fields=text", "", 200);
    assert_eq!(
        (&told["_version"], &told["found"]),
        (&json!(1), &json!(true))
    );
    let vectors = told["term_vectors"].as_object().unwrap();
    assert_eq!(vectors.len(), 1);
    // Offsets count as in Java, in which the clef has two places.
    assert_eq!(
        vectors["text"]["terms"]["whale"],
        json!({ "term_freq": 2, "tokens": [
            { "position": 1, "start_offset": 4, "end_offset": 9 },
            { "position": 3, "start_offset": 16, "end_offset": 21 },
        ]})
    );
    let second = &vectors["text"]["terms"]["whales"]["tokens"][0];
    assert_eq!(
        (&second["start_offset"], &second["end_offset"]),
        (&json!(22), &json!(28))
    );
    let statistics = &vectors["text"]["field_statistics"];
    assert_eq!(
        statistics,
        &json!({ "sum_doc_freq": -1, "doc_count": 2, "sum_ttf": 9 })
    );
    let body = r#"{"fields":["te*","tags","n","hidden"],"positions":false,"offsets":false,"field_statistics":false,"term_statistics":true}"#;
    let told = server.json("POST", "/t/_termvectors/1", body, 200);
    let vectors = told["term_vectors"].as_object().unwrap();
    let names: Vec<&String> = vectors.keys().collect();
    assert_eq!(names, ["tags", "text", "text.en"]);
    assert_eq!(
        vectors["tags"],
        json!({ "terms": {
            "a": { "doc_freq": 2, "ttf": -1, "term_freq": 1 },
            "b": { "doc_freq": 1, "ttf": -1, "term_freq": 1 },
        }})
    );
    assert_eq!(vectors["text"]["terms"]["whale"]["doc_freq"], 2);
    assert_eq!(vectors["text"]["terms"]["whales"]["doc_freq"], 1);
    let stem = &vectors["text.en"]["terms"]["whale"];
    assert_eq!(
        (&stem["doc_freq"], &stem["term_freq"]),
        (&json!(2), &json!(3))
    );
    // Without names all fields of strings are told of.
    let told = server.json("GET", "/t/_termvectors/1", "", 200);
    assert_eq!(told["term_vectors"].as_object().unwrap().len(), 3);
    let none = server.json("GET", "/t/_termvectors/9", "", 200);
    assert_eq!(
        (&none["found"], &none["_version"]),
        (&json!(false), &json!(0))
    );
    server.error("GET", "/none/_termvectors/1", "", 404);
    for (body, part) in [
        (r#"{"doc":{"text":"x"}}"#, "[doc]"),
        (r#"{"filter":{}}"#, "[filter]"),
        (r#"{"field":["text"]}"#, "did you mean [fields]"),
    ] {
        let (_, reason) = server.error("POST", "/t/_termvectors/1", body, 400);
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn several_documents_tell_their_terms_at_once() {
    let server = TestServer::new();
    server.json("PUT", "/t/_doc/1", r#"{"a":"one","b":"two"}"#, 201);
    server.json("PUT", "/t/_doc/2", r#"{"a":"one"}"#, 201);
    let body = r#"{"ids":["1","9"],"parameters":{"fields":["a"],"positions":false}}"#;
    let told = server.json("POST", "/t/_mtermvectors", body, 200);
    let terms = &told["docs"][0]["term_vectors"]["a"]["terms"]["one"];
    assert_eq!(
        terms["tokens"],
        json!([{ "start_offset": 0, "end_offset": 3 }])
    );
    assert_eq!(
        told["docs"][0]["term_vectors"].as_object().unwrap().len(),
        1
    );
    assert_eq!(told["docs"][1]["found"], false);
    let body =
        r#"{"docs":[{"_index":"t","_id":"2","term_statistics":true},{"_index":"none","_id":"1"}]}"#;
    let told = server.json("POST", "/_mtermvectors?fields=a", body, 200);
    assert_eq!(
        told["docs"][0]["term_vectors"]["a"]["terms"]["one"]["doc_freq"],
        2
    );
    assert_eq!(
        told["docs"][1]["error"]["type"],
        "index_not_found_exception"
    );
    for body in [
        r#"{"docs":[{"_id":"1"}]}"#,
        r#"{"docs":[{"_index":"t"}]}"#,
        "{}",
        r#"{"docs":1}"#,
    ] {
        server.error("POST", "/_mtermvectors", body, 400);
    }
}

#[test]
fn whole_strings_that_documents_bring_have_terms_too() {
    let server = TestServer::new();
    server.json(
        "PUT",
        "/t/_doc/1",
        r#"{"kind":"desk lamp","day":"2024-05-01"}"#,
        201,
    );
    server.json("PUT", "/t/_doc/2", r#"{"kind":"desk lamp"}"#, 201);
    let told = server.json(
        "GET",
        "/t/_termvectors/1?term_statistics=true&fields=kind*",
        "",
        200,
    );
    let vectors = &told["term_vectors"];
    assert_eq!(vectors["kind"]["terms"]["lamp"]["doc_freq"], 2);
    assert_eq!(vectors["kind.keyword"]["terms"]["desk lamp"]["doc_freq"], 2);
    assert_eq!(vectors["kind.keyword"].get("field_statistics"), None);
}
