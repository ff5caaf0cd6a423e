//! A server of a test, and a plain client of HTTP that shares no code with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread::JoinHandle;
use std::time::Duration;

use gannet_server::{Ended, Server, Settings, Stopper};
use serde_json::Value;
use tempfile::TempDir;

/// No request of a test takes so long.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A server with a folder of its own.
pub struct TestServer {
    pub folder: TempDir,
    pub address: String,
    stopper: Stopper,
    thread: Option<JoinHandle<Ended>>,
}

/// The answer of a server.
#[derive(Clone, Debug)]
pub struct Answered {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Numbers that are the same for a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }
}

/// Settings of a small server in a folder.
pub fn small(folder: &TempDir) -> Settings {
    Settings {
        memory: 160 << 20,
        listen: "127.0.0.1:0".to_owned(),
        max_open: 4,
        ..Settings::new(folder.path())
    }
}

impl TestServer {
    pub fn new() -> TestServer {
        TestServer::with(|_| ())
    }

    pub fn with(change: impl FnOnce(&mut Settings)) -> TestServer {
        TestServer::in_folder(tempfile::tempdir().unwrap(), change)
    }

    pub fn in_folder(folder: TempDir, change: impl FnOnce(&mut Settings)) -> TestServer {
        let mut settings = small(&folder);
        change(&mut settings);
        let server = Server::bind(settings).unwrap();
        let address = server.url().split_once("://").unwrap().1.to_owned();
        let stopper = server.stopper();
        let thread = std::thread::spawn(move || server.run().unwrap());
        TestServer {
            folder,
            address,
            stopper,
            thread: Some(thread),
        }
    }

    /// Ends it in order, and gives its folder.
    pub fn end(mut self) -> (Ended, TempDir) {
        self.stopper.stop();
        let ended = self.thread.take().unwrap().join().unwrap();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        (ended, folder)
    }

    /// Sends a request with a body of JSON, if there is one.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> Answered {
        let headers = if body.is_empty() {
            vec![]
        } else {
            vec![("Content-Type", "application/json")]
        };
        self.send(method, path, &headers, body.as_bytes())
    }

    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answered {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        // A server that turns a body away may close before it is sent.
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(body);
        read_answer(stream)
    }

    /// The JSON of an answer with this status.
    #[track_caller]
    pub fn json(&self, method: &str, path: &str, body: &str, status: u16) -> Value {
        let answered = self.ask(method, path, body);
        assert_eq!(
            answered.status,
            status,
            "{method} {path}: {}",
            answered.text()
        );
        answered.json()
    }

    /// The type and the reason of an error with this status; the reason of the index that found it.
    #[track_caller]
    pub fn error(&self, method: &str, path: &str, body: &str, status: u16) -> (String, String) {
        let json = self.json(method, path, body, status);
        assert_eq!(json["status"], status, "{json}");
        let error = &json["error"];
        let root = &error["root_cause"][0];
        assert!(root["type"].is_string(), "{json}");
        let found = if error["type"] == "search_phase_execution_exception" {
            root
        } else {
            error
        };
        (text(&error["type"]), text(&found["reason"]))
    }

    /// Sends the lines of a bulk.
    #[track_caller]
    pub fn bulk(&self, path: &str, lines: &str) -> Value {
        let headers = [("Content-Type", "application/x-ndjson")];
        let answered = self.send("POST", path, &headers, lines.as_bytes());
        assert_eq!(answered.status, 200, "{}", answered.text());
        answered.json()
    }

    /// The IDs that a query finds, best first.
    #[track_caller]
    pub fn found(&self, index: &str, query: &str) -> Vec<String> {
        let body = format!(r#"{{"query":{query},"size":1000}}"#);
        let json = self.json("POST", &format!("/{index}/_search"), &body, 200);
        let hits = json["hits"]["hits"].as_array().unwrap();
        assert_eq!(json["hits"]["total"]["value"], hits.len(), "{json}");
        hits.iter().map(|hit| text(&hit["_id"])).collect()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Answered {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// The text of a value.
#[track_caller]
pub fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}

fn read_answer(stream: TcpStream) -> Answered {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no answer of HTTP: {line:?}"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
            None => break,
        }
    }
    let is_chunked = headers
        .iter()
        .any(|(name, value)| name.eq_ignore_ascii_case("transfer-encoding") && value == "chunked");
    let mut body = Vec::new();
    if is_chunked {
        read_chunks(&mut reader, &mut body);
    } else {
        reader.read_to_end(&mut body).unwrap();
    }
    Answered {
        status,
        headers,
        body,
    }
}

fn read_chunks(reader: &mut BufReader<TcpStream>, body: &mut Vec<u8>) {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let length = usize::from_str_radix(line.trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk).unwrap();
        body.extend_from_slice(&chunk[..length]);
        if length == 0 {
            return;
        }
    }
}
