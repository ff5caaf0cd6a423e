//! The flash tier from outside: a cache that outlives commands.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::command::Place;

const CACHE: [&str; 4] = ["--cache-dir", "cache", "--cache-size", "16MiB"];

fn place() -> Place {
    place_of(2_000)
}

/// A place with an index of so many documents.
pub fn place_of(documents: u64) -> Place {
    let place = Place::new();
    let lines = (0..documents).map(|id| {
        let words = (0..30).map(|n| format!("w{}", (id * 7 + n * n) % 500));
        let words = words.collect::<Vec<_>>().join(" ");
        format!("{{\"id\":\"{id}\",\"title\":\"t{id}\",\"body\":\"{words}\"}}\n")
    });
    place.write("docs.jsonl", lines.collect::<String>());
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

fn with_cache<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &CACHE[..]].concat()
}

/// The same without answers, so that each query reads pages.
fn with_pages<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &CACHE[..], &["--result-cache", "0"]].concat()
}

#[test]
fn a_second_command_reads_what_the_first_one_read_from_the_cache() {
    let place = place();
    let search = ["search", "index", "w7 w20"];
    let ask = || place.json(&with_pages(&search));
    let (first, second) = (ask(), ask());
    assert_eq!(first["hits"], second["hits"]);
    assert_eq!(first["io"]["tier_hits"], 0);
    assert!(first["io"]["reads"].as_u64() > Some(0), "{first}");
    assert_eq!(second["io"]["reads"], 0);
    assert_eq!(second["io"]["bytes"], 0);
    let hits = second["io"]["tier_hits"].as_u64();
    assert!(hits > Some(0), "{second}");
    let text = place.done(&with_pages(&search));
    assert!(text.contains(" from the cache"), "{text}");
    let explained = place.done(&with_pages(&["search", "index", "w7", "--explain"]));
    assert!(explained.contains("tier hits"), "{explained}");

    let stats = place.json(&with_cache(&["stats", "index"]));
    assert!(stats["cache"]["pages"].as_u64() >= hits, "{stats}");
    assert_eq!(stats["cache"]["capacity_bytes"], 16 << 20);
    let text = place.done(&with_cache(&["stats", "index"]));
    assert!(text.contains("of 16.0 MiB"), "{text}");
    assert_eq!(place.json(&["stats", "index"])["cache"], Value::Null);
}

#[test]
fn all_commands_that_read_take_a_cache() {
    let place = place();
    place.write("queries.tsv", "term\tw7\nand\tw7 w20\n");
    for arguments in [
        &["get", "index", "17"][..],
        &["export", "index"],
        &["bench", "index", "queries.tsv", "--count"],
        &["bench", "index", "queries.tsv", "--json"],
    ] {
        let plain = place.done(arguments);
        let cached = place.done(&with_cache(arguments));
        assert!(arguments[0] == "bench" || plain == cached, "{arguments:?}");
    }
    let bench = ["bench", "index", "queries.tsv"];
    let figures = place.json(&with_pages(&bench));
    assert!(
        figures["cache"]["read_pages"].as_u64() > Some(0),
        "{figures}"
    );
    assert_eq!(figures["reads_per_query"], 0.0);
    let places = &figures["places"];
    let queries = |number: usize| {
        places["situations"][number - 1]["queries"]
            .as_u64()
            .unwrap()
    };
    let all: u64 = (1..=9).map(queries).sum();
    assert_eq!(figures["queries"], all, "{places}");
    // All pages came from memory and from flash.
    assert_eq!(queries(2) + queries(4) + queries(5), all, "{places}");
    assert!(queries(4) + queries(5) > 0, "{places}");
    // The opening has read there, too.
    let [flash, hits] = [&places["pages"]["flash"], &figures["cache"]["read_pages"]];
    assert!(
        flash.as_u64() > Some(0) && flash.as_u64() <= hits.as_u64(),
        "{figures}"
    );
    assert_eq!(places["pages"]["index"], 0, "{places}");
    let text = place.done(&with_pages(&bench));
    assert!(text.contains("cache: "), "{text}");
}

#[test]
fn commands_that_write_keep_pages_for_those_that_search() {
    let place = place();
    let pages = |place: &Place| {
        let stats = place.json(&with_cache(&["stats", "index"]));
        stats["cache"]["pages"].as_u64().unwrap()
    };
    place.write("more.jsonl", "{\"id\":\"17\",\"body\":\"w7 new\"}\n");
    place.write("changes.jsonl", "{\"id\":\"18\",\"title\":\"changed\"}\n");
    for arguments in [
        &["delete", "index", "--query", "w7 w20", "--dry-run"][..],
        &["delete", "index", "16", "no-such-id"],
        &["index", "index", "more.jsonl"],
        &["update", "index", "changes.jsonl"],
        &["rebuild", "index"],
        &["vacuum", "index"],
    ] {
        let _ = std::fs::remove_dir_all(place.path("cache"));
        place.done(&with_cache(arguments));
        assert!(!place.path("cache/answers").exists(), "{arguments:?}");
        assert!(pages(&place) > 0, "{arguments:?}");
    }
    place.done(&with_cache(&["delete", "index", "--query", "w499"]));
    let found = place.json(&with_pages(&["search", "index", "w499"]));
    assert_eq!(found["hits"], Value::Array(Vec::new()));
    assert!(found["io"]["tier_hits"].as_u64() > Some(0), "{found}");
    place.write("cache-file", "no folder");
    for command in [&["delete", "index", "19"][..], &["vacuum", "index"]] {
        let wrong = [
            command,
            &["--cache-dir", "cache-file", "--cache-size", "16MiB"],
        ]
        .concat();
        let told = place.run(&wrong).err;
        assert!(told.contains("is read past the cache"), "{told}");
    }
}

#[test]
fn a_trace_has_the_pages_that_each_query_asks_for_and_where_they_were() {
    let place = place();
    place.write("queries.tsv", "term\tw7\nand\tw7 w20\nterm\tw7\n");
    let bench = [
        "bench",
        "index",
        "queries.tsv",
        "--fetch",
        "--trace",
        "trace",
    ];
    let read = |arguments: &[&str]| {
        let figures = place.json(arguments);
        let text = std::fs::read_to_string(place.path("trace")).unwrap();
        let lines = text.lines().map(|line| {
            let parts: Vec<String> = line.split('\t').map(str::to_owned).collect();
            assert_eq!(parts.len(), 6, "{line}");
            parts
        });
        (figures, lines.collect::<Vec<_>>())
    };
    let (figures, lines) = read(&bench);
    let of_device = lines.iter().filter(|line| line[5] == "device");
    let bytes = figures["bytes_read_per_query"]["engine"].as_f64().unwrap() * 3.0;
    assert_eq!((of_device.count() * 4096) as f64, bytes.round());
    // The third query finds in memory all that the first one read.
    let of_third = lines.iter().filter(|line| line[0] == "2");
    let places: Vec<&str> = of_third.map(|line| &*line[5]).collect();
    assert!(places.len() > 2 && places.iter().all(|place| *place == "memory"));
    place.done(&with_cache(&bench));
    let (_, lines) = read(&with_cache(&bench));
    assert!(lines.iter().any(|line| line[5] == "tier"), "{lines:?}");
    let ran = place.run(&["bench", "index", "queries.tsv", "--trace", "missing/trace"]);
    assert!(
        ran.code != 0 && ran.err.contains("missing/trace"),
        "{ran:?}"
    );
}

#[test]
fn a_limit_of_writes_is_kept() {
    let place = place_of(20_000);
    let lines = (0..500).map(|n| format!("or\tw{n} w{}\n", n * 7 % 500));
    place.write("queries.tsv", lines.collect::<String>());
    let bench = [
        "bench",
        "index",
        "queries.tsv",
        "--memory",
        "16MiB",
        "--cache-writes",
        "64KiB",
    ];
    let started = std::time::Instant::now();
    let figures = place.json(&with_cache(&bench));
    let seconds = started.elapsed().as_secs() + 2;
    // All that was read leaves the memory at the end, as far as the limit allows.
    let read = figures["bytes_read"]["engine"].as_u64().unwrap() / 4096;
    let stats = place.run(&with_cache(&["stats", "index", "--json"]));
    let stats: Value = serde_json::from_str(&stats.out).unwrap();
    let kept = stats["cache"]["pages"].as_u64().unwrap();
    let most = read.min(seconds * 16);
    assert!(read > 150 && kept > 0 && kept <= most, "{figures} {stats}");
}

#[test]
fn a_command_beside_another_only_reads_the_cache_and_says_so() {
    let place = place();
    place.done(&with_cache(&["get", "index", "1"]));
    let lock = std::fs::File::open(place.path("cache/LOCK")).unwrap();
    lock.lock().unwrap();
    let ran = place.run(&with_cache(&["search", "index", "w7", "--count"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let stats = place.run(&with_cache(&["stats", "index", "--json"]));
    let stats: Value = serde_json::from_str(&stats.out).unwrap();
    let stopped = stats["cache"]["stopped"].as_str();
    assert!(
        stopped.is_some_and(|stopped| stopped.contains("only reads it")),
        "{stats}"
    );
    drop(lock);
    place.done(&with_cache(&["search", "index", "w7"]));
}

/// `GANNET_TIER_KILLS` (20): how often. Every second command asks much and is killed while pages
/// are evicted, the others ask one query and are killed anywhere up to their end.
#[test]
fn a_command_that_is_killed_leaves_a_cache_that_can_be_used() {
    let place = place_of(20_000);
    let kills = std::env::var("GANNET_TIER_KILLS").map_or(20, |kills| kills.parse().unwrap());
    let lines = (0..500).map(|n| format!("or\tw{n} w{}\n", n * 7 % 500));
    place.write("queries.tsv", lines.collect::<String>());
    let few = ["--memory", "16MiB"];
    let bench = [
        "bench",
        "index",
        "queries.tsv",
        "--fetch",
        "--seconds",
        "60",
    ];
    let mut answered = 0;
    for kill in 0..kills {
        let word = format!("w{}", kill * 11 % 500);
        let (arguments, time) = match kill % 2 {
            0 => (with_cache(&bench), 20 + kill * 37 % 300),
            _ => (with_cache(&["search", "index", &word]), kill * 7 % 60),
        };
        let mut killed = place
            .command(&[&arguments[..], &few].concat())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(time));
        killed.kill().unwrap();
        killed.wait().unwrap();
        for number in 0..3 {
            let query = format!("w{} w{}", kill * 13 % 500, number * 31 + kill % 7);
            let search = ["search", "index", &query];
            let answer = |arguments: &[&str]| place.json(arguments)["hits"].clone();
            assert_eq!(
                answer(&with_cache(&search)),
                answer(&search),
                "{kill}: {query}"
            );
            answered += 1;
        }
    }
    eprintln!("{kills} kills: {answered} answers, all right");
}

#[test]
fn a_search_goes_on_without_a_cache_of_a_size_that_cannot_be() {
    let place = place();
    let search = ["search", "index", "w7", "--count"];
    let answer = place.done(&search);
    for (given, said) in [
        (&["--cache-size", "1MiB"][..], "8MiB"),
        (&["--cache-size", "10GiB", "--memory", "16MiB"], "at most"),
        (&["--cache-writes", "1KiB"], "64KiB"),
    ] {
        let cache = [&["--cache-dir", "cache"][..], given].concat();
        let ran = place.run(&[&search[..], &cache].concat());
        assert_eq!((ran.code, &ran.out), (0, &answer), "{given:?}: {ran:?}");
        assert!(
            ran.err.contains("past the cache") && ran.err.contains(said),
            "{ran:?}"
        );
        assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
        let written = place.run(&[&["vacuum", "index"][..], &cache].concat());
        assert_eq!(written.code, 0, "{given:?}: {written:?}");
        assert_eq!(written.err.lines().count(), 1, "{written:?}");
        // What is wrong without a cache too is told as it is.
        let wrong = [&["search", "missing", "w7", "--cache-dir", "cache"], given].concat();
        let told = place.run(&wrong);
        assert!(told.code == 1 && told.err.lines().count() == 1, "{told:?}");
    }
    for given in [["--cache-size", "1GiB"], ["--cache-answers", "1MiB"]] {
        let ran = place.run(&[&search[..], &given].concat());
        assert_eq!(ran.code, 1, "{given:?}: {ran:?}");
        assert!(ran.err.contains("--cache-dir"), "{given:?}: {ran:?}");
    }
    let help = place.done(&["search", "--help"]);
    assert!(help.contains("--cache-dir") && help.contains("--cache-size"));
}

#[test]
fn a_cache_on_the_disk_of_the_index_keeps_answers_and_no_pages() {
    let place = place();
    let cache = ["--cache-dir", "cache"];
    let search = [&["search", "index", "w7 w20"][..], &cache].concat();
    let (first, second) = (place.json(&search), place.json(&search));
    assert_eq!(first["hits"], second["hits"]);
    assert_eq!(second["reused"]["from"], "flash", "{second}");
    assert!(!place.path("cache/flash-tier").exists());
    let stats = [&["stats", "index"][..], &cache].concat();
    let text = place.done(&stats);
    assert!(
        text.contains("no pages are kept in the cache: it is on the disk"),
        "{text}"
    );
    let past = place.json(&stats)["cache"]["past"].take();
    assert!(
        past.as_str()
            .is_some_and(|past| past.contains("--cache-size")),
        "{past}"
    );
    // A store behind a URL is on no disk that could be the same.
    if cfg!(feature = "remote") {
        let url = format!("file://{}", place.path("published").display());
        place.done(&["publish", "index", &url]);
        place.done(&[&["search", &url, "w7"][..], &cache].concat());
        assert!(place.path("cache/flash-tier").exists());
    }
}

/// Only the administrator can make such a folder.
#[test]
fn a_search_goes_on_without_the_cache_of_another_user() {
    use std::os::unix::fs::{MetadataExt, chown};
    let place = place();
    let search = ["search", "index", "w7", "--count"];
    let answer = place.done(&with_cache(&search));
    if std::fs::metadata(place.path("cache")).unwrap().uid() != 0 {
        eprintln!("skipped: only the administrator can give folders away");
        return;
    }
    for name in [
        "cache",
        "cache/flash-tier",
        "cache/answers",
        "cache/answers/answers",
    ] {
        chown(place.path(name), Some(12_345), None).unwrap();
    }
    let ran = place.run(&with_cache(&search));
    assert_eq!((ran.code, &ran.out), (0, &answer), "{ran:?}");
    assert!(ran.err.contains("another user (number 12345)"), "{ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
}

#[test]
fn a_search_goes_on_without_a_folder_that_is_no_cache() {
    let place = place();
    std::fs::create_dir(place.path("files")).unwrap();
    place.write("files/notes.txt", "x");
    let search = ["search", "index", "w7", "--count"];
    let answer = place.done(&search);
    let linked = place.path("linked");
    std::fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink(place.path("docs.jsonl"), linked.join("flash-tier")).unwrap();
    for (folder, said) in [
        ("index", "is no cache"),
        ("docs.jsonl", "is a file"),
        ("files", "notes.txt"),
        ("docs.jsonl/cache", "check the path"),
        ("linked", "a symbolic link"),
    ] {
        let cache = ["--cache-dir", folder, "--cache-size", "16MiB"];
        let ran = place.run(&[&search[..], &cache].concat());
        assert_eq!((ran.code, &ran.out), (0, &answer), "{folder}: {ran:?}");
        let note = "note: the index is read past the cache: ";
        assert!(ran.err.contains(note) && ran.err.contains(said), "{ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    }
}
