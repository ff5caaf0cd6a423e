//! Answers on flash from outside: a command that asks what another has asked.

use serde_json::Value;

use crate::command::Place;

fn place() -> Place {
    let place = Place::new();
    let lines = (0..500).map(|id| {
        let (one, other) = (id % 7, id % 11);
        format!(
            "{{\"id\":\"{id}\",\"title\":\"t{id}\",\"body\":\"w{one} w{other}\",\"n\":{one}}}\n"
        )
    });
    place.write("docs.jsonl", lines.collect::<String>());
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

const CACHE: [&str; 2] = ["--cache-dir", "cache"];

fn with_cache<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &CACHE[..]].concat()
}

#[test]
fn a_second_command_gets_the_answer_of_the_first_and_says_so() {
    let place = place();
    for arguments in [
        &["search", "index", "w1 w3"][..],
        &["search", "index", "w1 w3", "-k", "3", "--explain"],
        &["search", "index", "w1", "--sort=-n", "--fields", "n"],
        &["search", "index", "w2*", "--filter", "n:[2 TO 5]"],
    ] {
        let plain = place.json(arguments);
        let [first, second] = [(); 2].map(|()| place.json(&with_cache(arguments)));
        assert_eq!(
            (&first["reused"], &first["hits"]),
            (&Value::Null, &plain["hits"])
        );
        assert_eq!(second["reused"]["from"], "flash", "{second}");
        assert_eq!(second["reused"]["is_older"], false);
        assert_eq!(
            (&second["hits"], &second["total"]),
            (&plain["hits"], &plain["total"])
        );
        assert_eq!(second["io"]["reads"], 0);
        assert_eq!(second["result_cache"]["reused_from_flash"], 1);
        assert_eq!(second["answers_on_flash"]["read_answers"], 1);
        assert_eq!(plain["answers_on_flash"], Value::Null);
    }
    let text = place.done(&with_cache(&["search", "index", "w1 w3"]));
    assert!(text.contains(", reused from flash after "), "{text}");
    let explained = with_cache(&["search", "index", "w1 w3", "-k", "3", "--explain"]);
    let text = place.done(&explained);
    assert!(
        text.contains("answers on flash: 4 answers of at most "),
        "{text}"
    );
    assert!(
        text.contains("result cache: 1 of 1 answer reused"),
        "{text}"
    );
    let count = ["search", "index", "w1 w3", "--count"];
    let [first, second] = [(); 2].map(|()| place.json(&with_cache(&count)));
    assert_eq!(
        (&first["reused"], &first["total"]),
        (&Value::Null, &second["total"])
    );
    assert_eq!(second["reused"]["from"], "flash");

    let stats = place.json(&with_cache(&["stats", "index"]));
    assert_eq!(stats["answers_on_flash"]["answers"], 5, "{stats}");
    let text = place.done(&with_cache(&["stats", "index"]));
    assert!(text.contains("answers on flash: 5 answers"), "{text}");
    place.write("queries.tsv", "or\tw1 w3\nterm\tw4\n");
    let bench = with_cache(&["bench", "index", "queries.tsv"]);
    let [_, again] = [(); 2].map(|()| place.json(&bench));
    assert_eq!(again["result_cache"]["reused_from_flash"], 2, "{again}");
}

#[test]
fn a_change_of_the_index_is_seen_unless_older_answers_are_taken() {
    let place = place();
    let search = ["search", "index", "w1"];
    let first = place.json(&with_cache(&search));
    place.write("more.jsonl", "{\"id\":\"one more\",\"body\":\"w1\"}\n");
    place.done(&["index", "index", "more.jsonl"]);
    let older = [&search[..], &["--result-ttl", "1h"]].concat();
    let older = place.json(&with_cache(&older));
    assert_eq!(
        (&older["reused"]["is_older"], &older["total"]),
        (&true.into(), &first["total"])
    );
    let second = place.json(&with_cache(&search));
    assert_eq!(second["reused"], Value::Null);
    assert_ne!(second["total"], first["total"]);
}

#[cfg(feature = "remote")]
#[test]
fn answers_of_a_published_index_are_kept_too() {
    let place = place();
    let url = format!("file://{}", place.path("published").display());
    place.done(&["publish", "index", &url]);
    let search = ["search", &url, "w1"];
    let [first, again] = [(); 2].map(|()| place.json(&with_cache(&search)));
    assert_eq!(again["reused"]["from"], "flash", "{again}");
    assert_eq!(
        (&first["total"], &first["hits"]),
        (&again["total"], &again["hits"])
    );
}

#[test]
fn answers_that_cannot_be_kept_are_remarked_once_and_searches_go_on() {
    let place = place();
    let search = ["search", "index", "w1", "--count"];
    let answer = place.done(&search);
    std::fs::create_dir(place.path("cache")).unwrap();
    std::os::unix::fs::symlink(place.path("index"), place.path("cache/answers")).unwrap();
    for (given, said) in [
        (&[][..], "a symbolic link"),
        (&["--cache-answers", "1KiB"], "at least 1048576 (1MiB)"),
    ] {
        let ran = place.run(&[&with_cache(&search)[..], given].concat());
        assert_eq!((ran.code, &ran.out), (0, &answer), "{ran:?}");
        let note = "note: no answers are kept in the cache: ";
        assert!(ran.err.contains(note) && ran.err.contains(said), "{ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    }
    let none = [&with_cache(&search)[..], &["--result-cache", "0"]].concat();
    assert_eq!(place.run(&none).err, "");
}
