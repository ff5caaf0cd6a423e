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

/// A key is told once, listed without its secret, and gone once it is revoked.
#[test]
fn keys_are_made_listed_and_revoked() {
    let place = Place::with_lines(&[]);
    let scopes = ["--scope", "read:logs-*", "--scope", "write:logs-1"];
    let made = place.done(&[&["keys", "create", "keys", "--name", "reader"][..], &scopes].concat());
    let id = made
        .split("user ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let id = id.expect("it is told").to_owned();
    let secret = made.trim_end().rsplit(' ').next().expect("it is told");
    let listed = place.done(&["keys", "list", "keys"]);
    assert_eq!(listed, format!("{id} read:logs-* write:logs-1 reader\n"));
    let kept = std::fs::read_to_string(place.path("keys")).expect("it is there");
    assert!(kept.contains(&id) && !kept.contains(secret));
    place.done(&["keys", "revoke", "keys", &id]);
    assert_eq!(place.done(&["keys", "list", "keys"]), "");
    for (arguments, parts) in [
        (
            vec!["keys", "revoke", "keys", "x"],
            ["no key x", "gannet keys list"],
        ),
        (
            vec!["keys", "create", "keys", "--scope", "all"],
            ["[all]", "read:logs-*"],
        ),
        (
            vec!["serve", ".", "--keys", "none"],
            ["none cannot be read", "No such file"],
        ),
        (vec!["serve", ".", "--tls-cert", "x"], ["--tls-key", ""]),
    ] {
        place.run(&arguments).rejected(1, &parts);
    }
}
