//! Keys and TLS.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use base64::Engine as _;
use gannet_server::{KeyFile, NewKey, Server, TlsFiles};
use serde_json::json;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto};

use crate::client::{Answered, TestServer, small};

struct Locked {
    server: TestServer,
    folder: tempfile::TempDir,
}

impl Locked {
    /// A server with keys, of which the first may do everything.
    fn new() -> (Locked, NewKey) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let admin = KeyFile::create(&path, "admin", &["admin:*".to_owned()]).unwrap();
        let server = TestServer::with(|settings| settings.keys = Some(path));
        (Locked { server, folder }, admin)
    }

    fn key(&self, scopes: &[&str]) -> NewKey {
        let scopes: Vec<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let key = KeyFile::create(&self.folder.path().join("keys"), "k", &scopes).unwrap();
        // The server sees it within half a second.
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        key
    }

    fn ask(&self, key: &NewKey, method: &str, path: &str, body: &str) -> Answered {
        let authorization = format!("ApiKey {}", key.encoded());
        let mut headers = vec![("Authorization", authorization.as_str())];
        let is_lines = path.contains("_bulk") || path.contains("_msearch");
        if !body.is_empty() {
            let media = ["application/json", "application/x-ndjson"][usize::from(is_lines)];
            headers.push(("Content-Type", media));
        }
        self.server.send(method, path, &headers, body.as_bytes())
    }
}

#[test]
fn without_a_key_nothing_but_the_health_is_told() {
    let (locked, admin) = Locked::new();
    let server = &locked.server;
    for path in [
        "/",
        "/_search",
        "/metrics",
        "/_ui",
        "/no/such/route",
        "/books/_doc/1",
    ] {
        let answered = server.ask("GET", path, "");
        assert_eq!(answered.status, 401, "{path}");
        assert_eq!(answered.json()["error"]["type"], "security_exception");
        assert!(
            answered
                .header("WWW-Authenticate")
                .unwrap()
                .starts_with("Basic")
        );
    }
    for path in ["/health/live", "/health/ready"] {
        assert_eq!(server.ask("GET", path, "").status, 200, "{path}");
    }
    let basic =
        base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", admin.id, admin.secret));
    for scheme in ["Basic", "ApiKey", "Bearer"] {
        let header = format!("{scheme} {basic}");
        let answered = server.send("GET", "/", &[("Authorization", &header)], b"");
        assert_eq!(answered.status, 200, "{scheme}");
    }
    let wrong = format!(
        "Basic {}",
        base64::engine::general_purpose::STANDARD.encode("elastic:changeme")
    );
    assert_eq!(
        server
            .send("GET", "/", &[("Authorization", &wrong)], b"")
            .status,
        401
    );
}

/// Each route that names an index, by its path or in its body, holds to the scopes of the key.
#[test]
fn a_key_does_what_its_scopes_allow() {
    let (locked, admin) = Locked::new();
    for name in ["logs-1", "logs-2", "secret"] {
        let done = locked.ask(&admin, "PUT", &format!("/{name}/_doc/1"), r#"{"a":"x"}"#);
        assert_eq!(done.status, 201);
    }
    locked.ask(&admin, "PUT", "/secret/_alias/open", "{}");
    let reader = locked.key(&["read:logs-*"]);
    let writer = locked.key(&["write:logs-1"]);
    let manager = locked.key(&["admin:logs-*"]);
    let bulk = |index: &str| {
        format!("{{\"index\":{{\"_index\":\"{index}\",\"_id\":\"2\"}}}}\n{{\"a\":1}}\n")
    };
    let reindex = |from: &str, to: &str| {
        json!({ "source": { "index": from }, "dest": { "index": to } }).to_string()
    };
    let remove = r#"{"actions":[{"remove_index":{"index":"secret"}}]}"#;
    let add = r#"{"actions":[{"add":{"index":"secret","alias":"logs-x"}}]}"#;
    for (key, method, path, body, status) in [
        (&reader, "GET", "/logs-1/_doc/1", "", 200),
        (&reader, "GET", "/secret/_doc/1", "", 403),
        (&reader, "GET", "/open/_doc/1", "", 403),
        (&reader, "HEAD", "/secret", "", 403),
        (&reader, "GET", "/secret/_search", "", 403),
        (&reader, "GET", "/open/_search", "", 403),
        (&reader, "GET", "/logs-1,secret/_search", "", 403),
        (&reader, "GET", "/secret/_mapping", "", 403),
        (&reader, "GET", "/secret/_stats", "", 403),
        (&reader, "GET", "/secret/_field_caps?fields=*", "", 403),
        (&reader, "POST", "/secret/_pit?keep_alive=1m", "", 403),
        (
            &reader,
            "GET",
            "/secret/_analyze",
            r#"{"text":"a","field":"a"}"#,
            403,
        ),
        (&reader, "PUT", "/logs-1/_doc/2", r#"{"a":1}"#, 403),
        (
            &reader,
            "POST",
            "/logs-1/_delete_by_query",
            r#"{"query":{"match_all":{}}}"#,
            403,
        ),
        (&reader, "POST", "/logs-1/_flush", "", 403),
        (
            &reader,
            "POST",
            "/_reindex",
            &reindex("logs-1", "logs-9"),
            403,
        ),
        (&reader, "DELETE", "/logs-1", "", 403),
        (&reader, "PUT", "/logs-9", "{}", 403),
        (
            &reader,
            "PUT",
            "/_index_template/t",
            r#"{"index_patterns":["*"]}"#,
            403,
        ),
        (&reader, "POST", "/_aliases", add, 403),
        (&reader, "POST", "/_aliases", remove, 403),
        (&manager, "PUT", "/logs-2/_alias/logs-x", "{}", 200),
        (&manager, "PUT", "/logs-2/_alias/other", "{}", 403),
        (&manager, "DELETE", "/*/_alias/open", "", 403),
        (
            &manager,
            "PUT",
            "/logs-3",
            r#"{"aliases":{"other":{}}}"#,
            403,
        ),
        (&manager, "DELETE", "/logs-2/_alias/logs-x", "", 200),
        (&writer, "PUT", "/logs-1/_doc/2", r#"{"a":"y"}"#, 201),
        (&writer, "PUT", "/logs-2/_doc/2", r#"{"a":"y"}"#, 403),
        (&writer, "GET", "/logs-1/_doc/1", "", 403),
        (
            &writer,
            "POST",
            "/logs-1/_update/1",
            r#"{"doc":{"b":1}}"#,
            200,
        ),
        (
            &writer,
            "POST",
            "/_reindex",
            &reindex("secret", "logs-1"),
            403,
        ),
        (
            &writer,
            "POST",
            "/_reindex",
            &reindex("logs-2", "logs-1"),
            403,
        ),
        (&writer, "GET", "/", "", 200),
        (
            &admin,
            "POST",
            "/_reindex",
            &reindex("logs-1", "logs-9"),
            200,
        ),
    ] {
        let answered = locked.ask(key, method, path, body);
        assert_eq!(
            answered.status,
            status,
            "{method} {path}: {}",
            answered.text()
        );
    }
    // Patterns stand for what the key may see.
    let found = locked.ask(&reader, "GET", "/_search", "").json();
    assert_eq!(found["_shards"]["total"], 3, "{found}");
    let mapping = locked.ask(&reader, "GET", "/_mapping", "").json();
    assert!(mapping.get("secret").is_none() && mapping.get("logs-1").is_some());
    let table = locked.ask(&reader, "GET", "/_cat/indices", "").text();
    assert!(!table.contains("secret"), "{table}");
    assert_eq!(locked.ask(&reader, "GET", "/_cat/aliases", "").text(), "");
    let metrics = locked.ask(&reader, "GET", "/metrics", "").text();
    assert!(
        !metrics.contains("secret") && metrics.contains("logs-1"),
        "{metrics}"
    );
    let items = locked
        .ask(
            &writer,
            "POST",
            "/_bulk",
            &(bulk("logs-1") + &bulk("secret")),
        )
        .json();
    let statuses: Vec<_> = (0..2)
        .map(|at| items["items"][at]["index"]["status"].clone())
        .collect();
    assert_eq!(statuses, [200, 403]);
    let got = locked
        .ask(
            &reader,
            "POST",
            "/_mget",
            r#"{"docs":[{"_index":"secret","_id":"1"}]}"#,
        )
        .json();
    assert_eq!(got["docs"][0]["error"]["type"], "security_exception");
    let many = locked
        .ask(&reader, "POST", "/_msearch", "{\"index\":\"secret\"}\n{}\n")
        .json();
    assert_eq!(many["responses"][0]["status"], 403);
    // A scroll is of the key that began it.
    let pit = locked
        .ask(&admin, "POST", "/secret/_pit?keep_alive=1m", "")
        .json();
    let body = json!({ "pit": { "id": pit["id"] } }).to_string();
    assert_eq!(locked.ask(&reader, "POST", "/_search", &body).status, 404);
    assert_eq!(locked.ask(&admin, "POST", "/_search", &body).status, 200);
    let freed = locked
        .ask(
            &reader,
            "DELETE",
            "/_search/scroll",
            r#"{"scroll_id":"_all"}"#,
        )
        .json();
    assert_eq!(freed["num_freed"], 0);
}

#[test]
fn other_machines_are_served_over_tls_and_with_keys() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let keys = folder.path().join("keys");
    let admin = KeyFile::create(&keys, "admin", &["admin:*".to_owned()]).unwrap();
    let files = TlsFiles {
        cert: cert.clone(),
        key: key.clone(),
    };
    let (of_keys, of_tls) = (keys.clone(), files);
    let server = TestServer::with(|settings| {
        settings.listen = "0.0.0.0:0".to_owned();
        settings.keys = Some(of_keys);
        settings.tls = Some(of_tls);
    });
    let port = server.address.rsplit_once(':').unwrap().1.to_owned();
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(&cert).unwrap())
        .unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let ask = |authorization: &str| {
        let connection =
            ClientConnection::new(Arc::new(config.clone()), "localhost".try_into().unwrap())
                .unwrap();
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        write!(
            stream,
            "GET /_cat/health HTTP/1.1\r\nHost: search.example\r\nConnection: close\r\n{authorization}\r\n"
        )
        .unwrap();
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        text
    };
    let answered = ask(&format!("Authorization: ApiKey {}\r\n", admin.encoded()));
    assert!(
        answered.starts_with("HTTP/1.1 200") && answered.contains("green"),
        "{answered}"
    );
    assert!(ask("").starts_with("HTTP/1.1 401"));
    // Without TLS nothing is answered.
    let mut plain = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    plain
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut text = Vec::new();
    let _ = plain.read_to_end(&mut text);
    assert!(!String::from_utf8_lossy(&text).contains("HTTP/1.1"));
    drop(server);
    // Files that cannot be used are told of.
    let reason = |cert: &std::path::Path, key: &std::path::Path, keys: &std::path::Path| {
        let mut settings = small(&folder);
        settings.tls = Some(TlsFiles {
            cert: cert.to_owned(),
            key: key.to_owned(),
        });
        settings.keys = Some(keys.to_owned());
        Server::bind(settings)
            .err()
            .map(|fault| fault.reason)
            .unwrap_or_default()
    };
    let none = folder.path().join("none");
    assert!(reason(&none, &key, &keys).contains("--tls-cert"));
    assert!(reason(&key, &key, &keys).contains("--tls-cert"));
    assert!(reason(&cert, &cert, &keys).contains("--tls-key"));
    assert!(reason(&cert, &key, &none).contains("none cannot be read"));
}

/// No route of the table answers without a key, and none tells or changes what its key may not.
#[test]
fn no_route_passes_the_keys_over() {
    let (locked, admin) = Locked::new();
    let source = r#"{"text":"classified whale"}"#;
    locked.ask(&admin, "PUT", "/secret/_doc/1", source);
    locked.ask(&admin, "PUT", "/secret/_alias/open", "{}");
    locked.ask(&admin, "PUT", "/logs-1/_doc/1", r#"{"text":"whale"}"#);
    let key = locked.key(&["read:logs-*", "write:logs-*", "admin:logs-*"]);
    let bodies = [
        "",
        "{}",
        r#"{"query":{"match_all":{}}}"#,
        r#"{"ids":["1"]}"#,
        r#"{"fields":"*"}"#,
        r#"{"doc":{"text":"other"}}"#,
        r#"{"field":"text","text":"whale"}"#,
        r#"{"source":{"index":"secret"},"dest":{"index":"logs-1"}}"#,
        r#"{"source":{"index":"logs-1"},"dest":{"index":"secret"}}"#,
        r#"{"query":"whale"}"#,
        r#"{"searches":[{"index":"secret"}]}"#,
        r#"{"docs":[{"_index":"secret","_id":"1"},{"_index":"open","_id":"1"}]}"#,
        r#"{"actions":[{"add":{"index":"secret","alias":"logs-x"}}]}"#,
        r#"{"actions":[{"remove":{"index":"secret","alias":"open"}}]}"#,
        "{\"index\":\"secret\"}\n{}\n",
        "{\"index\":[\"open\",\"*\"]}\n{}\n",
        "{\"delete\":{\"_index\":\"secret\",\"_id\":\"1\"}}\n",
        "{\"index\":{\"_index\":\"open\",\"_id\":\"1\"}}\n{}\n",
    ];
    let table = gannet_server::compatibility() + &gannet_server::own_routes();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `/"));
    let mut asked = 0;
    for row in rows {
        let (path, rest) = row.split_once("` | ").unwrap();
        let (methods, _) = rest.split_once(" | ").unwrap();
        for index in [
            "secret",
            "open",
            "*",
            "_all",
            "secret,logs-1",
            "logs-1,-x,*",
        ] {
            let path = format!("/{path}")
                .replace("{index}", index)
                .replace("{id}", "1");
            let path = path.replace("{name}", "open").replace("{scroll_id}", "x");
            let path = path.replace("{file}", "main.js");
            for method in methods.split(", ") {
                let answered = locked.server.ask(method, &path, "");
                let is_open = path.starts_with("/health/");
                assert_eq!(answered.status == 401, !is_open, "{method} {path}");
                for body in bodies {
                    let more = if path.ends_with("_pit") || path.ends_with("in_time") {
                        "?keep_alive=1m"
                    } else {
                        ""
                    };
                    let answered = locked.ask(&key, method, &format!("{path}{more}"), body);
                    let text = answered.text();
                    assert!(
                        !text.contains("classified"),
                        "{method} {path} {body}: {text}"
                    );
                    assert!(answered.status != 500, "{method} {path} {body}: {text}");
                    asked += 1;
                }
            }
            if !row.contains("{index}") {
                break;
            }
        }
    }
    assert!(asked > 2_000, "{asked}");
    let kept = locked.ask(&admin, "GET", "/open/_doc/1", "").json();
    assert_eq!(
        (&kept["_version"], &kept["_source"]["text"]),
        (&json!(1), &json!("classified whale"))
    );
    let aliases = locked.ask(&admin, "GET", "/secret/_alias", "").json();
    assert_eq!(aliases, json!({ "secret": { "aliases": { "open": {} } } }));
}
