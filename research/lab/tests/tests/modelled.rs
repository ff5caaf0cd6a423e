//! Modelled drives from outside: what is told, and that no answer depends on it.

use crate::command::Place;

fn place() -> Place {
    let place = Place::new();
    let lines = (0..3_000).map(|id| {
        let words = (0..20).map(|n| format!("w{}", (id * 7 + n * n) % 90));
        let words = words.collect::<Vec<_>>().join(" ");
        format!("{{\"id\":\"{id}\",\"body\":\"{words}\"}}\n")
    });
    place.write("docs.jsonl", lines.collect::<String>());
    place.done(&["index", "index", "docs.jsonl", "--commit-every", "10000"]);
    place
}

#[test]
fn a_search_tells_what_was_decided_and_answers_the_same() {
    let place = place();
    let search = ["search", "index", "+w7 +w20"];
    let plain = place.json(&search);
    assert!(plain["offload"].is_null(), "{plain}");
    for profile in ["smart-ssd-2016", "smart-fast"] {
        let driven = place.json(&[&search[..], &["--device", profile]].concat());
        assert_eq!(plain["hits"], driven["hits"]);
        assert_eq!(plain["total"], driven["total"]);
        let offload = &driven["offload"];
        assert_eq!(offload["operation"], "intersection");
        let reason = offload["reason"].as_str().unwrap();
        assert!(reason.contains("modelled"), "{reason}");
        let host = &offload["figures"]["host, modelled before, ms"];
        assert!(host.as_f64() > Some(0.0), "{offload}");
    }
    let text = place.done(&[&search[..], &["--device", "smart-pcie5"]].concat());
    assert!(text.contains("intersection on the "), "{text}");
}

#[test]
fn a_benchmark_tells_whether_a_drive_would_pay() {
    let place = place();
    place.write(
        "queries.tsv",
        "and\tw7 w20\nor\tw1 w2\nterm\tw5\nphrase\tw7 w8\n",
    );
    let bench = [
        "bench",
        "index",
        "queries.tsv",
        "--device",
        "smart-ssd-2016",
    ];
    let text = place.done(&bench);
    for part in [
        "ms and mJ are modelled",
        "ranked intersection",
        "ranked union",
        "all modelled",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("1 stay with the host: "), "{text}");
    let json = place.json(&bench);
    assert_eq!(json["all"]["queries"], 3);
    assert!(
        json["all"]["counted"]["operators"].as_u64() > Some(0),
        "{json}"
    );
    assert!(
        json["all"]["modelled"]["drive"]["ms"].as_f64() > Some(0.0),
        "{json}"
    );
}

#[test]
fn an_unknown_profile_is_rejected_with_the_known_ones() {
    let place = place();
    place.write("queries.tsv", "term\tw5\n");
    for command in [
        ["search", "index", "w5", "--device", "smart-ssd-3000"],
        [
            "bench",
            "index",
            "queries.tsv",
            "--device",
            "smart-ssd-3000",
        ],
    ] {
        let ran = place.run(&command);
        ran.rejected(1, &["smart-ssd-3000", "smart-pcie4"]);
    }
    place.write("bad.profile", "device_cores = 0\n");
    let ran = place.run(&["search", "index", "w5", "--device", "bad.profile"]);
    ran.rejected(1, &["bad.profile", "line 1", "expected 1 to 1024"]);
    let url = format!("file://{}", place.path("published").display());
    let ran = place.run(&["search", &url, "w5", "--device", "smart-pcie4"]);
    ran.rejected(1, &[&url, "--device", "give the folder of an index"]);
}
