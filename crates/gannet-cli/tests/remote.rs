//! Published indexes, by the command, in a local folder.

use serde_json::Value;

use crate::command::Place;

fn indexed() -> (Place, String) {
    let lines: Vec<String> = (0..2_000)
        .map(|n| format!("{{\"id\":{n},\"body\":\"common word{n} and some text to fill pages\"}}"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let place = Place::with_lines(&lines);
    place.done(&["index", "index", "docs.jsonl"]);
    let url = format!("file://{}", place.path("published").display());
    (place, url)
}

fn hits(place: &Place, index: &str, query: &str) -> Value {
    place.json(&["search", index, query, "-k", "20"])["hits"].take()
}

#[test]
fn a_published_index_is_read_by_every_command_that_reads() {
    let (place, url) = indexed();
    let first = place.json(&["publish", "index", &url]);
    assert_eq!(
        (&first["publication"], &first["documents"]),
        (&1.into(), &2_000.into())
    );
    for query in ["common", "word17 OR word1999", "\"some text\""] {
        assert_eq!(
            hits(&place, &url, query),
            hits(&place, "index", query),
            "{query}"
        );
    }
    let answer = place.json(&["search", &url, "word17"]);
    assert_eq!(answer["backend"], "file");
    assert_eq!(answer["remote"]["opening"]["requests"], 2, "{answer}");
    assert!(
        answer["remote"]["query"]["bytes"].as_u64().unwrap() > 0,
        "{answer}"
    );
    assert!(place.json(&["search", "index", "word17"])["remote"].is_null());
    let explained = place.done(&["search", &url, "word17", "--explain"]);
    assert!(
        explained.contains("remote, opening: 2 requests in 2 rounds"),
        "{explained}"
    );
    assert!(explained.contains("remote, query: "), "{explained}");

    for same in [["get", "17"], ["export", "word17"], ["export", "common"]] {
        let of = |index| place.done(&[same[0], index, same[1]]);
        assert_eq!(of(&url), of("index"), "{same:?}");
    }
    let stats = place.json(&["stats", &url]);
    assert_eq!(stats["documents"], 2_000);
    assert!(
        stats["remote"]["requests"].as_u64().unwrap() >= 2,
        "{stats}"
    );
    assert!(place.json(&["stats", "index"])["remote"].is_null());
    let counted = place.json(&["search", &url, "word17", "--count"]);
    assert_eq!(counted["remote"]["opening"]["requests"], 2, "{counted}");
    assert!(place.done(&["check", &url]).contains("OK: "));
    place.write("queries.tsv", "or\tword17 word18\nand\tcommon word19\n");
    let bench = place.json(&["bench", &url, "queries.tsv", "--fetch"]);
    assert!(
        bench["remote"]["requests_per_query"].as_f64().unwrap() > 0.0,
        "{bench}"
    );
    let restored = place.json(&["restore", &url, "again"]);
    assert_eq!(restored["sound"], true);
    assert_eq!(
        hits(&place, "again", "common"),
        hits(&place, "index", "common")
    );
}

#[test]
fn the_next_publication_sends_what_is_new() {
    let (place, url) = indexed();
    let first = place.json(&["publish", "index", &url]);
    assert_eq!(first["is_new"], true);
    let said = place.done(&["publish", "index", &url]);
    assert!(
        said.contains("are at") && said.contains("publication 1"),
        "{said}"
    );
    place.write("more.jsonl", "{\"id\":\"new\",\"body\":\"common news\"}\n");
    place.done(&["index", "index", "more.jsonl"]);
    let next = place.json(&["publish", "index", &url, "--keep", "1s"]);
    assert_eq!(
        (&next["publication"], &next["incremental"]),
        (&2.into(), &true.into())
    );
    assert!(
        next["bytes_copied"].as_u64() < first["bytes_copied"].as_u64(),
        "{next}"
    );
    assert_eq!(hits(&place, &url, "news"), hits(&place, "index", "news"));
}

#[test]
fn commands_that_write_reject_a_url() {
    let (place, url) = indexed();
    place.done(&["publish", "index", &url]);
    for arguments in [
        vec!["index", &url, "docs.jsonl"],
        vec!["update", &url, "docs.jsonl"],
        vec!["delete", &url, "17"],
        vec!["vacuum", &url],
        vec!["rebuild", &url],
        vec!["restore", "index", &url],
        vec!["backup", "index", &url],
    ] {
        place
            .run(&arguments)
            .rejected(1, &[&url, "gannet publish INDEX URL"]);
    }
}

#[test]
fn wrong_urls_and_empty_places_are_told() {
    let (place, url) = indexed();
    place.run(&["search", &url, "word"]).rejected(1, &[&url]);
    std::fs::create_dir(place.path("published")).unwrap();
    place
        .run(&["search", &url, "word"])
        .rejected(1, &[&url, "nothing is published"]);
    for wrong in ["gs://bucket/wiki", "https://host/wiki", "s3://bucket"] {
        let told = [wrong, "expected s3://BUCKET/PREFIX or file:///FOLDER"];
        place.run(&["search", wrong, "word"]).rejected(1, &told);
        place.run(&["publish", "index", wrong]).rejected(1, &told);
    }
    place.write("published/photo.jpg", "1");
    place
        .run(&["publish", "index", &url])
        .rejected(1, &["photo.jpg", "empty place"]);
    place
        .run(&["publish", "index", &url, "--memory", "64MiB"])
        .rejected(1, &["128", "give more"]);
}
