//! Many connections, slow ones, and more requests than there are places.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::client::TestServer;

const HEAD: &str = "PUT /books/_doc/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n";

fn connect(server: &TestServer, sent: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream.write_all(sent.as_bytes()).unwrap();
    stream
}

fn rest_of(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset ends what can be read, too.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Connections that send nothing, or half of a head, keep nobody out.
#[test]
fn idle_connections_make_room_for_new_ones() {
    let server = TestServer::with(|settings| settings.max_connections = 8);
    let mut idle = Vec::new();
    for n in 0..40 {
        idle.push(connect(&server, ["", "GET / HTTP/1.1\r\nHost: loc"][n % 2]));
        if n % 8 == 7 {
            assert_eq!(server.ask("GET", "/", "").status, 200);
        }
    }
    assert_eq!(server.ask("GET", "/_cat/health", "").status, 200);
}

/// Where all connections are within a request, one more is answered with 429.
#[test]
fn connections_beyond_the_limit_are_told_to_come_again() {
    let server = TestServer::with(|settings| settings.max_connections = 3);
    let mut busy = Vec::new();
    let start = Instant::now();
    // One whose head was not read yet makes room for the next.
    loop {
        let mut more = connect(&server, HEAD);
        more.set_read_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        let answer = rest_of(&mut more);
        if answer.starts_with("HTTP/1.1 429") {
            assert!(answer.contains("Retry-After: 1\r\n"), "{answer}");
            assert!(answer.contains("--max-connections"), "{answer}");
            break;
        }
        busy.push(more);
        assert!(start.elapsed() < Duration::from_secs(20), "{answer}");
    }
}

/// A head and a body that do not come end their connection.
#[test]
fn slow_heads_and_slow_bodies_end_after_a_time() {
    let server = TestServer::with(|settings| settings.idle_time = Duration::from_millis(300));
    let start = Instant::now();
    for (sent, expected) in [
        ("", ""),
        ("GET / HTTP/1.1\r\nHost:", ""),
        (HEAD, "HTTP/1.1 408"),
    ] {
        let answer = rest_of(&mut connect(&server, sent));
        assert!(answer.starts_with(expected), "{sent}: {answer}");
    }
    assert!(start.elapsed() < Duration::from_secs(15));
    assert_eq!(server.ask("GET", "/", "").status, 200);
}

/// Writers whose bodies do not come fill the queue of writes; the next one is turned away before
/// its body is read, and readers go on.
#[test]
fn a_full_queue_answers_with_429_before_work() {
    let server = TestServer::new();
    // 16 run, and 128 wait; what is beyond is turned away itself.
    let waiting: Vec<TcpStream> = (0..160).map(|_| connect(&server, HEAD)).collect();
    let start = Instant::now();
    loop {
        let answered = server.ask("PUT", "/other/_doc/1", r#"{"a":1}"#);
        if answered.status == 429 {
            assert_eq!(answered.header("Retry-After"), Some("1"));
            let kind = answered.json()["error"]["type"].clone();
            assert_eq!(kind, "es_rejected_execution_exception");
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(server.ask("GET", "/_search", "").status, 200);
    drop(waiting);
}

/// A body that is small as a text and large as a tree is turned away.
#[test]
fn the_memory_of_a_body_is_that_of_its_values() {
    let server = TestServer::new();
    let nested = format!(
        r#"{{"query":{{"terms":{{"a":[{}1]}}}}}}"#,
        "1,".repeat(2_000_000)
    );
    let answered = server.ask("POST", "/_search", &nested);
    assert_eq!(answered.status, 413, "{}", answered.text());
    let values = format!(r#"{{"a":[{}1]}}"#, "1,".repeat(400_000));
    let lines = format!(
        "{{\"index\":{{\"_id\":\"1\"}}}}\n{values}\n{{\"index\":{{\"_id\":\"2\"}}}}\n{{\"a\":1}}\n"
    );
    let headers = [("Content-Type", "application/x-ndjson")];
    let answered = server.send("POST", "/books/_bulk", &headers, lines.as_bytes());
    assert!(matches!(answered.status, 200 | 413), "{}", answered.text());
}

/// A client that does not read its answer is let go of after a time.
#[test]
fn answers_that_nobody_reads_end_their_connection() {
    let server = TestServer::with(|settings| {
        settings.idle_time = Duration::from_millis(300);
        settings.max_open = 1;
        settings.memory = 320 << 20;
    });
    // More than the buffers of a connection take.
    let text = "whale ".repeat(30_000);
    let lines: String = (0..120)
        .map(|id| format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"t\":\"{text}\"}}\n"))
        .collect();
    let headers = [("Content-Type", "application/x-ndjson")];
    for part in lines.split_inclusive("}\n").collect::<Vec<_>>().chunks(20) {
        let answered = server.send("POST", "/books/_bulk", &headers, part.concat().as_bytes());
        assert_eq!(answered.status, 200, "{}", answered.text());
    }
    let open = || {
        let metrics = server.ask("GET", "/metrics", "").text();
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix("gannet_connections_open "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let head = "GET /books/_search?size=120 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let stuck = connect(&server, head);
    let start = Instant::now();
    while open() < 2 {
        assert!(start.elapsed() < Duration::from_secs(20));
    }
    while open() > 1 {
        assert!(start.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(start.elapsed() > Duration::from_secs(1));
    drop(stuck);
}
