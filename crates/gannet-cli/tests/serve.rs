//! `gannet serve`, as far as it is not asked anything.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::command::Place;

#[test]
fn what_cannot_be_served_is_one_sentence() {
    let place = Place::with_lines(&[r#"{"id":"1","a":"x"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    let busy = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = busy.local_addr().expect("it has one").to_string();
    for (arguments, parts) in [
        (vec!["serve", "index"], ["is an index", "folder around it"]),
        (
            vec!["serve", ".", "--listen", "0.0.0.0:9200"],
            ["keys and TLS", "127.0.0.1"],
        ),
        (
            vec!["serve", ".", "--listen", &address],
            ["in use by another program", "--listen"],
        ),
        (
            vec!["serve", "docs.jsonl"],
            ["docs.jsonl is a file", "folder of indexes"],
        ),
        (
            vec!["serve", ".", "--memory", "16MiB"],
            ["8 open indexes", "--max-open"],
        ),
        (
            vec!["serve", ".", "--es-version", "8"],
            ["--es-version 8", "8.19.0"],
        ),
    ] {
        place.run(&arguments).rejected(1, &parts);
    }
}

#[test]
fn the_url_is_printed_and_a_signal_ends_the_server_in_order() {
    let place = Place::with_lines(&[r#"{"id":"1","a":"x"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    let mut server = place
        .command(&[
            "serve",
            ".",
            "--listen",
            "127.0.0.1:0",
            "--memory",
            "160MiB",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut line = String::new();
    let stdout = server.stdout.take().expect("it is piped");
    BufReader::new(stdout)
        .read_line(&mut line)
        .expect("it says something");
    assert!(line.starts_with("http://127.0.0.1:"), "{line}");
    assert!(line.ends_with(" serves 1 index of .\n"), "{line}");
    let kill = Command::new("kill").arg(server.id().to_string()).status();
    assert!(kill.is_ok_and(|done| done.success()));
    let ended = server.wait().expect("it ends");
    assert_eq!(ended.code(), Some(0));
}
