//! Documents go in, answers come out.

use serde_json::{Value, json};

use crate::command::Place;

const SCRIPTS: [&str; 8] = [
    r#"{"id":"la","title":"Élan vital","body":"L'élan vital d'Henri Bergson, naïve façade"}"#,
    r#"{"id":"cy","title":"Война и мир","body":"Все счастливые семьи похожи друг на друга"}"#,
    r#"{"id":"el","title":"Οδύσσεια","body":"Ἄνδρα μοι ἔννεπε, Μοῦσα, πολύτροπον"}"#,
    r#"{"id":"ja","title":"吾輩は猫である","body":"名前はまだ無い。東京タワー"}"#,
    r#"{"id":"ar","title":"ألف ليلة وليلة","body":"كان يا ما كان في قديم الزمان"}"#,
    r#"{"id":"ko","title":"한국어","body":"동해 물과 백두산이 마르고 닳도록"}"#,
    r#"{"id":"od","title":"odd","body":"nul\u0000 tab\t bell\u0007 escape\u001b[31m smile 😀 zwj 👩‍👩‍👧 bom\ufeff end"}"#,
    r#"{"id":"nr","title":"numbers","body":"","year":1851,"price":9.50,"sold":true,"tags":["sea","whale"],"by":{"name":"Melville"}}"#,
];

#[test]
fn every_script_is_found_and_comes_back_as_it_was() {
    let place = Place::with_lines(&SCRIPTS);
    let summary = place.json(&[
        "index",
        "index",
        "docs.jsonl",
        "--commit-every",
        "3",
        "--threads",
        "2",
    ]);
    assert_eq!(
        (&summary["documents"], &summary["rejected"]),
        (&json!(8), &json!(0))
    );
    for (query, id) in [
        ("ÉLAN", "la"),
        ("семьи", "cy"),
        ("title:мир", "cy"),
        ("Μοῦσα", "el"),
        ("東京", "ja"),
        ("الزمان", "ar"),
        ("한국어", "ko"),
        ("smile", "od"),
        ("year:1851", "nr"),
        ("price:9.5", "nr"),
        ("sold:true", "nr"),
        ("tags:whale", "nr"),
        ("by.name:melville", "nr"),
    ] {
        assert_eq!(place.found(query), [id], "{query}");
    }
    let answer = place.json(&["search", "index", "melville"]);
    let source: serde_json::Value = serde_json::from_str(SCRIPTS[7]).unwrap();
    assert_eq!(answer["hits"][0]["source"], source);
}

#[test]
fn answers_have_the_promised_members() {
    let place = Place::with_lines(&SCRIPTS);
    place.done(&["index", "index", "docs.jsonl"]);
    let answer = place.json(&["search", "index", "body:vital", "--explain", "-k", "3"]);
    assert_eq!(answer["total"], 1);
    let hit = &answer["hits"][0];
    assert!(hit["score"].as_f64().unwrap() > 0.0 && hit["explanation"]["value"] == hit["score"]);
    assert!(
        hit["snippets"]["body"][0]
            .as_str()
            .unwrap()
            .contains("<em>vital</em>"),
        "{hit}"
    );
    assert!(answer["took_us"].as_u64().is_some() && answer["plan"]["steps"].is_array());
    for name in ["rounds", "reads", "bytes", "frames_hit"] {
        assert!(answer["io"][name].as_u64().is_some(), "{name}");
    }
}

#[test]
fn in_a_pipe_there_is_text_without_colour() {
    let place = Place::with_lines(&SCRIPTS);
    place.done(&["index", "index", "docs.jsonl"]);
    let text = place.done(&["search", "index", "smile"]);
    assert!(
        text.contains("1. ") && text.contains("od  odd") && text.contains("[smile]"),
        "{text}"
    );
    assert!(
        text.contains("1 document found in ") && text.contains(" rounds, "),
        "{text}"
    );
    assert!(
        !text.contains(['\x1b', '\x07', '\0']),
        "stored text must not steer a terminal: {text:?}"
    );
    let colored = place.done(&["search", "index", "smile", "--color", "always"]);
    assert!(colored.contains("\x1b[1;33msmile\x1b[0m"), "{colored:?}");
}

#[test]
fn a_document_with_the_same_id_replaces_the_first() {
    let place = Place::with_lines(&[
        r#"{"id":"a","body":"old"}"#,
        r#"{"id":"a","body":"new"}"#,
        r#"{"body":"without id"}"#,
    ]);
    let summary = place.json(&["index", "index", "docs.jsonl"]);
    assert_eq!(summary["documents"], 3);
    assert_eq!(place.found("body:old"), Vec::<String>::new());
    assert_eq!(place.found("body:new"), ["a"]);
    place.write("more.jsonl", r#"{"id":"a","body":"newest"}"#);
    place.done(&["index", "index", "more.jsonl"]);
    assert_eq!(place.found("body:(new newest)"), ["a"]);
    assert_eq!(place.json(&["stats", "index"])["documents"], 2);
    place.done(&["check", "index"]);
}

#[test]
fn the_summary_and_the_statistics_have_the_promised_members() {
    let place = Place::with_lines(&SCRIPTS);
    let summary = place.json(&["index", "index", "docs.jsonl", "--assert-memory"]);
    for name in [
        "documents",
        "rejected",
        "seconds",
        "cpu_seconds",
        "flushes",
        "index_bytes",
        "host_write_amplification",
        "peak_memory_bytes",
    ] {
        assert!(summary[name].is_number(), "{name} in {summary}");
    }
    assert_eq!(
        (&summary["error"], &summary["durable"]),
        (&Value::Null, &json!(true))
    );
    let total = summary["bytes_written"].as_u64().unwrap();
    let written = summary["bytes_written_for"].as_object().unwrap();
    let bytes = |cause: &str| written[cause].as_u64().unwrap();
    let caused: u64 = written.keys().map(|cause| bytes(cause)).sum();
    assert!(bytes("log") > 0 && bytes("dictionary") > 0);
    assert!(bytes("root_slots") > 0 && bytes("root_slots").is_multiple_of(4096));
    assert_eq!(caused, total);
    assert!(["uring", "pread"].contains(&summary["backend"].as_str().unwrap()));
    assert_eq!(summary["settings"]["memory_bytes"], 512 << 20);
    let stats = place.json(&["stats", "index"]);
    let source = stats["source_bytes"].as_u64().unwrap();
    let written = stats["bytes_written_in_life"].as_u64().unwrap();
    let parts = stats["bytes_written_in_life_for"].as_object().unwrap();
    assert_eq!(
        parts.values().filter_map(Value::as_u64).sum::<u64>(),
        written
    );
    assert!(source > 0 && written > source, "{stats}");
    assert_eq!(
        stats["host_write_amplification"],
        json!(written as f64 / source as f64)
    );
    assert!(
        stats["device_free"].as_u64() > Some(0) && stats["longest_stall_us"].is_u64(),
        "{stats}"
    );
    assert_eq!(stats["documents"], 8);
    assert!(
        stats["bytes"].is_object() && stats["memory"].is_object(),
        "{stats}"
    );
}

#[test]
fn a_benchmark_reports_figures_with_their_settings() {
    let place = Place::with_lines(&SCRIPTS);
    place.done(&["index", "index", "docs.jsonl"]);
    place.write(
        "queries.tsv",
        "term\tvital\nterm\tvital\nphrase\télan vital\n",
    );
    let bench = ["bench", "index", "queries.tsv"];
    let more = [
        "--threads",
        "2",
        "--group",
        "4",
        "--count",
        "--fetch",
        "--cold",
        "--distinct",
    ];
    let figures = place.json(&[&bench[..], &more].concat());
    assert_eq!(
        (&figures["queries"], &figures["settings"]["cold"]),
        (&json!(2), &json!(true))
    );
    for name in [
        "qps",
        "latency_us_mean",
        "latency_us_p50",
        "latency_us_p95",
        "latency_us_p99",
        "latency_us_max",
        "reads_per_query",
        "rounds_per_query",
        "cpu_us_per_query",
        "open_reads",
    ] {
        assert!(figures[name].is_number(), "{name} in {figures}");
    }
    assert!(figures["bytes_read_per_query"]["engine"].is_number());
    let [plain, ids] = [&[][..], &["--ids"]].map(|more| place.json(&[&bench[..], more].concat()));
    assert_eq!(ids["settings"]["ids"], json!(true));
    let reads = |figures: &Value| figures["reads_per_query"].as_f64().unwrap();
    assert!(reads(&ids) > reads(&plain), "{ids} {plain}");
    place
        .run(&[&bench[..], &["--ids", "--fetch"]].concat())
        .rejected(1, &["--ids", "--fetch"]);
    let timed = place.json(&[&bench[..], &["--seconds", "0.2"]].concat());
    assert!(timed["queries"].as_u64().unwrap() > 3, "{timed}");
    let without = ["--without", "prefetch", "batches"];
    let slower = place.json(&[&bench[..], &without].concat());
    assert_eq!(slower["settings"]["without"], json!(without[1..]));
    place
        .run(&[&bench[..], &["--without", "luck"]].concat())
        .rejected(1, &["luck", "prefetch"]);
}

/// By Little's law. Queries that take long enough, so that next to no time passes between two
/// calls.
#[test]
fn the_mean_latency_of_a_benchmark_is_the_queries_in_flight_divided_by_the_rate() {
    let lines: Vec<String> = (0..4_000)
        .map(|n| {
            format!(
                "{{\"id\":{n},\"body\":\"common word{} and more text\"}}",
                n % 50
            )
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let place = Place::with_lines(&lines);
    place.done(&["index", "index", "docs.jsonl"]);
    let queries: Vec<String> = (0..50)
        .map(|n| format!("or\tcommon text word{n}\n"))
        .collect();
    place.write("queries.tsv", queries.concat());
    for (threads, group) in [(1, 1), (2, 1), (1, 8), (2, 60)] {
        // What the system takes between two queries is in no latency, so a busy machine may take
        // several tries.
        let differs = (0..5).map(|_| latency_differs(&place, threads, group));
        let tries = differs.take_while(|by| *by >= 0.05).count();
        assert!(tries < 5, "{threads} threads, groups of {group}");
    }
}

/// By what part the mean latency differs from that of the rate.
fn latency_differs(place: &Place, threads: u32, group: u32) -> f64 {
    let [threads_text, group_text] = [threads, group].map(|number| number.to_string());
    // Hot lists would answer in no time.
    let bench = "bench index queries.tsv --count --fetch --without hot";
    let bench: Vec<&str> = bench.split(' ').collect();
    let how = [
        "--seconds",
        "0.5",
        "--threads",
        &threads_text,
        "--group",
        &group_text,
    ];
    let figures = place.json(&[&bench[..], &how].concat());
    let figure = |name: &str| figures[name].as_f64().expect(name);
    let ascending = ["p50", "p95", "p99", "max"].map(|name| {
        let name = format!("latency_us_{name}");
        figure(&name)
    });
    assert!(ascending.is_sorted() && ascending[0] > 0.0, "{ascending:?}");
    let expected = f64::from(threads * group) / figure("qps") * 1e6;
    (figure("latency_us_mean") / expected - 1.0).abs()
}
