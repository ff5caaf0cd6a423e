//! The requests that clients send first.

use crate::client::TestServer;

#[test]
fn a_server_says_who_it_is_and_every_answer_names_the_product() {
    let server = TestServer::new();
    let about = server.json("GET", "/", "", 200);
    assert_eq!(about["version"]["number"], "8.19.0");
    assert!(about["tagline"].as_str().unwrap().contains("Gannet"));
    assert_eq!(about["cluster_uuid"].as_str().unwrap().len(), 22);
    for (method, path, status) in [
        ("GET", "/", 200),
        ("HEAD", "/", 200),
        ("GET", "/_cluster/health?wait_for_status=yellow", 200),
        ("GET", "/_license?human=false", 200),
        ("GET", "/_xpack", 200),
        ("GET", "/_nodes?filter_path=nodes.*.version", 200),
        ("GET", "/_nodes/http", 200),
        ("HEAD", "/_cat/health", 200),
        ("GET", "/_cat/indices?v", 200),
        ("GET", "/nothing/_doc/1", 404),
    ] {
        let answered = server.ask(method, path, "");
        assert_eq!(
            answered.status,
            status,
            "{method} {path}: {}",
            answered.text()
        );
        assert_eq!(
            answered.header("X-Elastic-Product"),
            Some("Elasticsearch"),
            "{path}"
        );
        if method == "HEAD" {
            assert!(answered.body.is_empty());
        }
    }
    let nodes = server.json("GET", "/_nodes?filter_path=nodes.*.version", "", 200);
    let nodes = nodes["nodes"].as_object().unwrap();
    assert_eq!(nodes.len(), 1);
    for node in nodes.values() {
        assert_eq!(node.to_string(), r#"{"version":"8.19.0"}"#);
    }
}

#[test]
fn the_version_that_clients_are_told_can_be_set() {
    let server = TestServer::with(|settings| settings.es_version = "7.17.9".to_owned());
    assert_eq!(
        server.json("GET", "/", "", 200)["version"]["number"],
        "7.17.9"
    );
}

#[test]
fn answers_have_the_media_type_that_a_client_accepts() {
    let server = TestServer::new();
    for version in [7, 8, 9] {
        let vendored = format!("application/vnd.elasticsearch+json; compatible-with={version}");
        let headers = [("Accept", vendored.as_str()), ("Content-Type", &vendored)];
        let path = format!("/books{version}");
        let answered = server.send("PUT", &path, &headers, b"{}");
        assert_eq!(answered.status, 200, "{}", answered.text());
        let expected = format!("application/vnd.elasticsearch+json;compatible-with={version}");
        assert_eq!(answered.header("Content-Type"), Some(expected.as_str()));
    }
    assert_eq!(
        server.ask("GET", "/", "").header("Content-Type"),
        Some("application/json")
    );
    for (headers, body) in [
        ([("Content-Type", "text/plain")], "{}"),
        ([("Content-Type", "application/cbor")], "{}"),
        ([("Accept", "application/yaml")], ""),
    ] {
        let answered = server.send("PUT", "/other", &headers, body.as_bytes());
        assert_eq!(answered.status, 406, "{headers:?}");
        assert!(answered.json()["error"].is_string());
    }
    // Nothing was made.
    assert_eq!(server.ask("HEAD", "/other", "").status, 404);
}

#[test]
fn answers_are_cut_indented_and_compressed_on_request() {
    let server = TestServer::new();
    let cut = server
        .ask("GET", "/?filter_path=version.number,tag*", "")
        .json();
    assert_eq!(cut.as_object().unwrap().len(), 2);
    let indented = server.ask("GET", "/?pretty", "").text();
    assert!(
        indented.contains("\n  \"cluster_name\" : \"gannet\","),
        "{indented}"
    );
    let compressed = server.send("GET", "/", &[("Accept-Encoding", "gzip")], b"");
    assert_eq!(compressed.header("Content-Encoding"), Some("gzip"));
    let mut text = String::new();
    let mut decoder = flate2::read::GzDecoder::new(compressed.body.as_slice());
    std::io::Read::read_to_string(&mut decoder, &mut text).unwrap();
    assert!(text.contains("cluster_uuid"), "{text}");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, br#"{"title":"compressed"}"#).unwrap();
    let headers = [
        ("Content-Type", "application/json"),
        ("Content-Encoding", "gzip"),
    ];
    let written = server.send("PUT", "/books/_doc/1", &headers, &encoder.finish().unwrap());
    assert_eq!(written.status, 201, "{}", written.text());
    let source = server.json("GET", "/books/_source/1", "", 200);
    assert_eq!(source["title"], "compressed");
}

#[test]
fn tables_are_for_people_and_for_programs() {
    let server = TestServer::new();
    server.json("PUT", "/books/_doc/1", r#"{"title":"a"}"#, 201);
    let table = server
        .ask("GET", "/_cat/indices?v&h=health,index,docs.count", "")
        .text();
    assert_eq!(table, "health index docs.count\ngreen  books 1\n");
    let rows = server.json("GET", "/_cat/indices?format=json", "", 200);
    assert_eq!(rows[0]["index"], "books");
    assert_eq!(rows[0]["docs.count"], "1");
    let rows = server.json("GET", "/_cat/count/books?format=json", "", 200);
    assert_eq!(rows[0]["count"], "1");
    let stats = server.json("GET", "/books/_stats", "", 200);
    assert_eq!(stats["_all"]["primaries"]["docs"]["count"], 1);
}

#[test]
fn the_page_and_the_health_are_served() {
    let server = TestServer::new();
    for (path, media, part) in [
        ("/_ui", "text/html; charset=UTF-8", "<title>Gannet</title>"),
        ("/_ui/page.css", "text/css; charset=UTF-8", "color-scheme"),
        ("/_ui/main.js", "text/javascript; charset=UTF-8", "import"),
    ] {
        let answered = server.ask("GET", path, "");
        assert_eq!(answered.status, 200);
        assert_eq!(answered.header("Content-Type"), Some(media));
        let policy = answered
            .header("Content-Security-Policy")
            .unwrap_or_default();
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(answered.text().contains(part));
    }
    assert_eq!(server.ask("GET", "/_ui/other.js", "").status, 404);
    assert_eq!(
        server.ask("GET", "/_ui?index=a&q=b&filters=c", "").status,
        200
    );
    let html = server.ask("GET", "/_ui", "").text();
    assert!(!html.contains("onclick") && !html.contains("<script>") && !html.contains("http"));
    assert_eq!(
        server.json("GET", "/health/live", "", 200)["status"],
        "live"
    );
    server.json("PUT", "/books/_doc/1", r#"{"a":"x"}"#, 201);
    let ready = server.json("GET", "/health/ready", "", 200);
    assert_eq!(
        (ready["indexes"].as_u64(), ready["open"].as_u64()),
        (Some(1), Some(1))
    );
}

#[test]
fn routes_that_are_not_there_are_told_by_name() {
    let server = TestServer::new();
    for (method, path, part) in [
        ("GET", "/books/_terms_enum", "[_terms_enum]"),
        ("GET", "/_ilm/policy", "[_ilm]"),
        ("PUT", "/_snapshot/s", "[_snapshot]"),
        ("POST", "/_sql/translate", "[_sql]"),
    ] {
        let (_, reason) = server.error(method, path, "", 400);
        assert!(reason.starts_with(part), "{reason}");
    }
}
