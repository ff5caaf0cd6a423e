//! Requests that are turned away.

use crate::client::TestServer;

#[test]
fn pages_of_other_places_may_not_ask() {
    let server = TestServer::new();
    let port = server.address.rsplit_once(':').unwrap().1.to_owned();
    for host in [
        "localhost".to_owned(),
        format!("localhost:{port}"),
        "[::1]:9200".to_owned(),
    ] {
        let answered = server.send("GET", "/", &[("Host", &host)], b"");
        assert_eq!(answered.status, 200, "{host}");
    }
    for headers in [
        vec![("Host", "evil.example")],
        vec![("Host", "127.0.0.1.evil.example:9200")],
        vec![("Host", "localhost"), ("Origin", "https://evil.example")],
        vec![("Host", "localhost"), ("Origin", "null")],
    ] {
        for path in ["/", "/_search", "/no/such/route"] {
            let answered = server.send("GET", path, &headers, b"");
            assert_eq!(answered.status, 403, "{headers:?}");
            assert_eq!(answered.json()["error"]["type"], "security_exception");
        }
    }
    let own = [("Host", "localhost"), ("Origin", "http://localhost:5601")];
    assert_eq!(server.send("GET", "/", &own, b"").status, 200);
}

#[test]
fn what_no_route_has_is_answered_as_elasticsearch_does() {
    let server = TestServer::new();
    let answered = server.ask("GET", "/_unknown/policy", "");
    assert_eq!(answered.status, 400);
    let reason = answered.json()["error"].as_str().unwrap().to_owned();
    assert!(
        reason.starts_with("no handler found for uri [/_unknown/policy] and method [GET]"),
        "{reason}"
    );
    let answered = server.ask("PATCH", "/_cluster/health", "");
    assert_eq!(
        (answered.status, answered.header("Allow")),
        (405, Some("GET"))
    );
    let (kind, reason) = server.error("GET", "/_cluster/health?wait_for_statsu=green", "", 400);
    assert_eq!(kind, "illegal_argument_exception");
    assert!(
        reason.contains("did you mean [wait_for_status]?"),
        "{reason}"
    );
    let (_, reason) = server.error("DELETE", "/books", "{}", 400);
    assert!(
        reason.contains("does not support having a body"),
        "{reason}"
    );
}

#[test]
fn a_body_beyond_the_limit_is_turned_away() {
    let server = TestServer::new();
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(30 << 20));
    let answered = server.ask("PUT", "/books/_doc/1", &long);
    assert_eq!(answered.status, 413, "{}", answered.text());
    assert_eq!(server.ask("GET", "/", "").status, 200);
}

#[test]
fn names_that_lead_elsewhere_are_no_indexes() {
    let server = TestServer::new();
    std::fs::create_dir(server.folder.path().join("beside")).unwrap();
    for path in [
        "/..%2Fx/_doc/1",
        "/%2E%2E/_doc/1",
        "/../_doc/1",
        "/Books/_doc/1",
        "/a%20b/_doc/1",
    ] {
        let (kind, _) = server.error("PUT", path, r#"{"a":1}"#, 400);
        assert_eq!(kind, "invalid_index_name_exception", "{path}");
    }
    let (kind, _) = server.error("PUT", "/..%2Fx", "{}", 400);
    assert_eq!(kind, "invalid_index_name_exception");
    // A folder that is no index is none.
    let (kind, reason) = server.error("GET", "/beside/_doc/1", "", 404);
    assert_eq!(kind, "index_not_found_exception");
    assert_eq!(reason, "no such index [beside]");
}

#[test]
fn a_trace_is_given_on_request() {
    let server = TestServer::new();
    let error = server.json("GET", "/nothing/_search?error_trace", "", 404);
    assert!(
        error["error"]["stack_trace"]
            .as_str()
            .unwrap()
            .contains("no such index")
    );
    assert_eq!(error["error"]["index"], "nothing");
}
