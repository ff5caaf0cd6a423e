//! The life of a server: starting, opening and closing indexes, the end.

use std::time::{Duration, Instant};

use gannet::{Document, Index};
use gannet_server::Server;

use crate::client::{TestServer, small};

#[test]
fn what_was_acknowledged_is_there_after_a_restart() {
    let server = TestServer::new();
    let body = r#"{"mappings":{"properties":{"t":{"type":"text","analyzer":"english"}}}}"#;
    server.json("PUT", "/books", body, 200);
    let mapping = server.json("GET", "/books/_mapping", "", 200);
    server.json("PUT", "/found/_doc/1", r#"{"t":"whales","n":2}"#, 201);
    let (uuid, found) = (
        server.json("GET", "/", "", 200),
        server.json("GET", "/found", "", 200),
    );
    let start = Instant::now();
    let (ended, folder) = server.end();
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(ended.left_open, 0);
    let server = TestServer::in_folder(folder, |_| ());
    assert_eq!(
        server.json("GET", "/", "", 200)["cluster_uuid"],
        uuid["cluster_uuid"]
    );
    assert_eq!(server.json("GET", "/books/_mapping", "", 200), mapping);
    assert_eq!(server.json("GET", "/found", "", 200), found);
    server.json("PUT", "/books/_doc/1", r#"{"t":"whales"}"#, 201);
    assert_eq!(server.found("books", r#"{"match":{"t":"whale"}}"#), ["1"]);
    assert_eq!(server.found("found", r#"{"term":{"n":2}}"#), ["1"]);
}

#[test]
fn an_ordinary_index_is_served_with_the_fields_that_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let keyword = gannet::Analyzer::KEYWORD;
    let options = Index::options()
        .memory(16 << 20)
        .field_analyzer("tag", keyword);
    let index = options.open(folder.path().join("books")).unwrap();
    let document = br#"{"id":"7","title":"Moby Dick","tag":"a b","year":1851}"#;
    index
        .write(vec![Document::parse(document).unwrap()])
        .unwrap();
    index.close().unwrap();
    let server = TestServer::in_folder(folder, |_| ());
    let mapping = server.json("GET", "/books/_mapping", "", 200);
    let properties = mapping["books"]["mappings"]["properties"].to_string();
    assert_eq!(
        properties,
        r#"{"tag":{"type":"keyword"},"title":{"type":"text","fields":{"keyword":{"type":"keyword","ignore_above":256}}},"year":{"type":"keyword"}}"#
    );
    assert_eq!(
        server.json("GET", "/books/_doc/7", "", 200)["_source"]["id"],
        "7"
    );
    for query in [
        r#"{"term":{"tag":"a b"}}"#,
        r#"{"term":{"year":1851}}"#,
        r#"{"match":{"title":"moby"}}"#,
    ] {
        assert_eq!(server.found("books", query), ["7"], "{query}");
    }
}

#[test]
fn indexes_that_are_idle_make_room_for_others() {
    let server = TestServer::with(|settings| settings.max_open = 2);
    for round in 0..2 {
        for name in ["a", "b", "c", "d", "e"] {
            let path = format!("/{name}/_doc/{round}");
            server.json("PUT", &path, &format!(r#"{{"t":"{name}"}}"#), 201);
        }
    }
    for name in ["e", "d", "c", "b", "a"] {
        assert_eq!(server.found(name, r#"{"match_all":{}}"#).len(), 2);
    }
    // Tables of all leave no more open, and those that are used stay so.
    for path in ["/_cat/indices?format=json", "/_stats", "/_mapping"] {
        let told = server.json("GET", path, "", 200);
        let told = if path == "/_stats" {
            &told["indices"]
        } else {
            &told
        };
        let count = told
            .as_array()
            .map(Vec::len)
            .or(told.as_object().map(|o| o.len()));
        assert_eq!(count, Some(5), "{path}");
        let ready = server.json("GET", "/health/ready", "", 200);
        assert!(ready["open"].as_u64() <= Some(2), "{ready}");
    }
    // Several at once wait for places, or are told to come again.
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d", "e"] {
            let server = &server;
            scope.spawn(move || {
                for _ in 0..20 {
                    let answered = server.ask("GET", &format!("/{name}/_count"), "");
                    match answered.status {
                        200 => assert_eq!(answered.json()["count"], 2),
                        429 => assert_eq!(answered.header("Retry-After"), Some("1")),
                        other => panic!("{other}: {}", answered.text()),
                    }
                }
            });
        }
    });
}

#[test]
fn an_index_of_another_process_is_told_of() {
    let server = TestServer::new();
    let path = server.folder.path().join("held");
    let index = Index::options().memory(16 << 20).open(&path).unwrap();
    index.checkpoint().unwrap();
    let (kind, reason) = server.error("GET", "/held/_doc/1", "", 503);
    assert_eq!(kind, "unavailable_shards_exception");
    assert!(reason.contains("in use by"), "{reason}");
    index.close().unwrap();
    server.json("GET", "/held/_doc/1", "", 404);
}

/// An index that cannot be opened is told of, and the others go on.
#[test]
fn a_damaged_index_hides_no_other() {
    let server = TestServer::new();
    for name in ["a", "b", "c"] {
        server.json("PUT", &format!("/{name}/_doc/1"), r#"{"t":"x"}"#, 201);
    }
    let (_, folder) = server.end();
    std::fs::write(folder.path().join("b/superblock"), vec![7; 4096]).unwrap();
    let server = TestServer::in_folder(folder, |_| ());
    let rows = server.json("GET", "/_cat/indices?format=json", "", 200);
    let mut shown: Vec<String> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {}", row["index"], row["health"]))
        .collect();
    shown.sort();
    assert_eq!(shown, [r#""a" "green""#, r#""b" "red""#, r#""c" "green""#]);
    let stats = server.json("GET", "/_stats", "", 200);
    assert_eq!(stats["_shards"]["failures"][0]["index"], "b", "{stats}");
    assert_eq!(stats["_all"]["total"]["docs"]["count"], 2);
    let error = server.json("GET", "/a,b/_search", "", 500);
    assert_eq!(error["error"]["index"], "b", "{error}");
    assert_eq!(server.found("a,c", r#"{"match_all":{}}"#).len(), 2);
}

#[test]
fn what_cannot_be_served_is_one_sentence() {
    let server = TestServer::new();
    let folder = tempfile::tempdir().unwrap();
    let reason = |change: &dyn Fn(&mut gannet_server::Settings)| {
        let mut settings = small(&folder);
        change(&mut settings);
        Server::bind(settings).err().unwrap().reason
    };
    let address = server.address.clone();
    let busy = reason(&|settings| settings.listen = address.clone());
    assert!(
        busy.contains("is in use by another program") && busy.contains("--listen"),
        "{busy}"
    );
    server.json("PUT", "/books/_doc/1", r#"{"a":1}"#, 201);
    let path = server.folder.path().join("books");
    let index = reason(&|settings| settings.folder = path.clone());
    assert!(
        index.contains("is an index") && index.contains("folder around it"),
        "{index}"
    );
    let open = reason(&|settings| settings.listen = "0.0.0.0:0".to_owned());
    assert!(open.contains("needs keys and TLS"), "{open}");
}

#[test]
fn the_end_waits_for_no_idle_connection() {
    let server = TestServer::new();
    server.json("PUT", "/books/_doc/1", r#"{"a":1}"#, 201);
    let idle = std::net::TcpStream::connect(&server.address).unwrap();
    let start = Instant::now();
    let (ended, _folder) = server.end();
    assert_eq!(ended.left_open, 0);
    assert!(
        start.elapsed() < Duration::from_secs(8),
        "{:?}",
        start.elapsed()
    );
    drop(idle);
}
