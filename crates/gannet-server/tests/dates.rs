//! Fields of dates: formats, ranges against a list of plain milliseconds, zones, arithmetic,
//! orders, values of hits.

use serde_json::{Value, json};

use crate::client::{Random, TestServer, text};

const DAY_MS: i64 = 86_400_000;

/// The first millisecond of 2024.
const YEAR_2024: i64 = 1_704_067_200_000;

fn found(server: &TestServer, query: &Value) -> Vec<String> {
    let mut ids = server.found("d", &query.to_string());
    ids.sort();
    ids
}

fn server(properties: &Value) -> TestServer {
    let server = TestServer::new();
    let mapping = json!({ "mappings": { "properties": properties } });
    server.json("PUT", "/d", &mapping.to_string(), 200);
    server
}

/// A day of 2024 by its number, as `01-31`.
fn day_of(mut number: i64) -> String {
    let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (month, length) in (1..).zip(lengths) {
        if number < length {
            return format!("{month:02}-{:02}", number + 1);
        }
        number -= length;
    }
    unreachable!("2024 has 366 days")
}

#[test]
fn ranges_find_what_lies_between_their_ends() {
    let formats = "strict_date_optional_time||yyyy/MM/dd HH:mm||epoch_second";
    let server = server(&json!({ "at": { "type": "date", "format": formats } }));
    let mut random = Random(2024);
    let mut all: Vec<(String, i64)> = Vec::new();
    for id in 0..120 {
        let (day, minute) = (random.below(366) as i64, random.below(1_440) as i64);
        let ms = YEAR_2024 + day * DAY_MS + minute * 60_000;
        let (date, hour, minute) = (day_of(day), minute / 60, minute % 60);
        let at = match id % 4 {
            0 => json!(format!("2024-{date}T{hour:02}:{minute:02}:00Z")),
            1 => json!(format!(
                "2024/{} {hour:02}:{minute:02}",
                date.replace('-', "/")
            )),
            2 => json!(ms / 1_000),
            _ => json!((ms / 1_000).to_string()),
        };
        let source = json!({ "at": at }).to_string();
        server.json("PUT", &format!("/d/_doc/{id}"), &source, 201);
        all.push((id.to_string(), ms));
    }
    for _ in 0..60 {
        let (from, days) = (random.below(360) as i64, random.below(90) as i64);
        let to = (from + days).min(365);
        let hours = random.below(27) as i64 - 13;
        let (has_zone, has_format) = (random.below(2) == 0, random.below(2) == 0);
        let written = |day: i64| {
            if has_format {
                format!("{}.2024", day_of(day).replace('-', "."))
            } else {
                format!("2024-{}", day_of(day))
            }
        };
        // A day begins so many hours before UTC where clocks are ahead of it.
        let shift = if has_zone { hours * 3_600_000 } else { 0 };
        let begin = |day: i64| YEAR_2024 + day * DAY_MS - shift;
        let (lower, upper) = (random.below(3), random.below(3));
        let mut range = json!({});
        let (mut least, mut most) = (i64::MIN, i64::MAX);
        match lower {
            0 => (range["gte"], least) = (json!(written(from)), begin(from)),
            1 => (range["gt"], least) = (json!(written(from)), begin(from + 1)),
            _ => {}
        }
        match upper {
            0 => (range["lte"], most) = (json!(written(to)), begin(to + 1) - 1),
            1 => (range["lt"], most) = (json!(written(to)), begin(to) - 1),
            _ => {}
        }
        if has_zone {
            let sign = if hours < 0 { '-' } else { '+' };
            range["time_zone"] = json!(format!("{sign}{:02}:00", hours.abs()));
        }
        if has_format {
            range["format"] = json!("MM.dd.yyyy");
        }
        let between = all.iter().filter(|(_, ms)| (least..=most).contains(ms));
        let mut wanted: Vec<String> = between.map(|(id, _)| id.clone()).collect();
        wanted.sort();
        let query = json!({ "range": { "at": range } });
        assert_eq!(found(&server, &query), wanted, "{query}");
    }
    // A date asks for all that begins with it; a day by its name is that of UTC.
    for day in 0..60 {
        let (first, last) = (YEAR_2024 + day * DAY_MS, YEAR_2024 + (day + 1) * DAY_MS - 1);
        let between = all.iter().filter(|(_, ms)| (first..=last).contains(ms));
        let mut wanted: Vec<String> = between.map(|(id, _)| id.clone()).collect();
        wanted.sort();
        let day = format!("2024-{}", day_of(day));
        for query in [
            json!({ "term": { "at": day } }),
            json!({ "match": { "at": day } }),
            json!({ "range": { "at": { "gte": format!("{day}||/d"), "lt": format!("{day}||+1d") } } }),
        ] {
            assert_eq!(found(&server, &query), wanted, "{query}");
        }
    }
    let body = json!({ "size": 120, "sort": [{ "at": { "order": "desc", "format": "yyyy-MM-dd" } }],
        "docvalue_fields": ["at", { "field": "at", "format": "epoch_millis" }] });
    let answer = server.json("POST", "/d/_search", &body.to_string(), 200);
    all.sort_by_key(|(_, ms)| -ms);
    for (hit, (_, ms)) in answer["hits"]["hits"].as_array().unwrap().iter().zip(&all) {
        let day = day_of((ms - YEAR_2024) / DAY_MS);
        assert_eq!(hit["sort"][0], format!("2024-{day}"));
        assert_eq!(hit["fields"]["at"], json!([ms.to_string()]));
    }
}

#[test]
fn now_is_the_time_of_the_request() {
    let server = server(&json!({ "at": { "type": "date" } }));
    let now = std::time::SystemTime::now();
    let now = now
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis() as i64;
    for (id, days) in [("1", 0), ("2", -2), ("3", 2)] {
        let source = json!({ "at": now + days * DAY_MS }).to_string();
        server.json("PUT", &format!("/d/_doc/{id}"), &source, 201);
    }
    for (range, ids) in [
        (json!({ "gte": "now-1d", "lte": "now+1d" }), &["1"][..]),
        (json!({ "gte": "now-3d/d", "lt": "now/d" }), &["2"]),
        (json!({ "gt": "now" }), &["3"]),
        (
            json!({ "gte": "now-3d/d", "time_zone": "Europe/Berlin" }),
            &["1", "2", "3"],
        ),
        (json!({ "gte": "now+1d", "lte": "now" }), &[]),
    ] {
        let query = json!({ "range": { "at": range } });
        assert_eq!(found(&server, &query), ids, "{query}");
    }
}

#[test]
fn dates_are_mapped_kept_and_shown() {
    let server = server(&json!({
        "at": { "type": "date", "format": "yyyy-MM-dd||epoch_second", "null_value": "1970-01-01" },
        "loose": { "type": "date", "ignore_malformed": true },
        "title": { "type": "text", "fields": { "day": { "type": "date", "ignore_malformed": true } } },
    }));
    for (id, source) in [
        (
            "1",
            r#"{"at":"2024-02-03","loose":"2024-02-03T04:05:06.007+02:00","title":"2024-02-03"}"#,
        ),
        ("2", r#"{"at":null,"loose":"soon","title":"soon"}"#),
        ("3", r#"{"at":[1706918400,"2020-01-01"],"loose":5}"#),
    ] {
        server.json("PUT", &format!("/d/_doc/{id}"), source, 201);
    }
    for (query, ids) in [
        (json!({ "term": { "at": "1970-01-01" } }), &["2"][..]),
        (json!({ "term": { "at": 1706918400 } }), &["1", "3"]),
        (
            json!({ "terms": { "at": ["2020-01-01", "1970-01-01"] } }),
            &["2", "3"],
        ),
        (json!({ "term": { "loose": "1970-01-01" } }), &["3"]),
        (json!({ "exists": { "field": "loose" } }), &["1", "3"]),
        (
            json!({ "range": { "loose": { "gt": "2024-02-03T02:05:06.006Z", "lt": "2024-02-03T02:05:06.008Z" } } }),
            &["1"],
        ),
        (json!({ "term": { "title.day": "2024-02-03" } }), &["1"]),
        // A month stands for its first day.
        (json!({ "term": { "title.day": "2024-02" } }), &[]),
        (
            json!({ "range": { "loose": { "gte": "2024-02", "lte": "2024-02" } } }),
            &[],
        ),
        (json!({ "term": { "title": "soon" } }), &["2"]),
    ] {
        assert_eq!(found(&server, &query), ids, "{query}");
    }
    for (source, part) in [
        (r#"{"at":"2024-02-03T00:00:00Z"}"#, "[at] of type [date]"),
        (r#"{"at":true}"#, "[at] of type [date]"),
    ] {
        let (kind, reason) = server.error("PUT", "/d/_doc/9", source, 400);
        assert!(
            kind == "document_parsing_exception" && reason.contains(part),
            "{kind} {reason}"
        );
    }
    for (query, part) in [
        (
            json!({ "range": { "at": { "gte": "soon" } } }),
            "failed to parse date field [soon]",
        ),
        (json!({ "range": { "at": { "gte": "now+1x" } } }), "now+1x"),
        (
            json!({ "range": { "at": { "gte": "2024-01-01", "format": "week" } } }),
            "no format of dates",
        ),
        (
            json!({ "range": { "at": { "gte": "2024-01-01", "time_zone": "Nowhere" } } }),
            "Nowhere",
        ),
        (
            json!({ "prefix": { "at": "2024" } }),
            "Can only use prefix queries",
        ),
    ] {
        let body = json!({ "query": query }).to_string();
        let answer = server.json("POST", "/d/_search", &body, 400);
        assert!(answer.to_string().contains(part), "{part}: {answer}");
    }
    let body = json!({ "sort": [{ "loose": { "order": "asc", "format": "strict_date_optional_time" } }],
        "docvalue_fields": ["at", "loose", "title.day", "nowhere"] });
    let answer = server.json("POST", "/d/_search", &body.to_string(), 200);
    let hits = answer["hits"]["hits"].as_array().unwrap();
    assert_eq!(hits[0]["fields"]["at"], json!(["2020-01-01", "2024-02-03"]));
    assert_eq!(hits[0]["sort"][0], "1970-01-01T00:00:00.005Z");
    assert_eq!(
        hits[1]["fields"]["loose"],
        json!(["2024-02-03T02:05:06.007Z"])
    );
    assert_eq!(
        hits[1]["fields"]["title.day"],
        json!(["2024-02-03T00:00:00.000Z"])
    );
    assert_eq!(hits[2]["fields"], json!({ "at": ["1970-01-01"] }));
    // The page goes on behind a date as it was shown.
    let mut next = body;
    next["search_after"] = hits[0]["sort"].clone();
    let answer = server.json("POST", "/d/_search", &next.to_string(), 200);
    let ids: Vec<String> = answer["hits"]["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| text(&hit["_id"]))
        .collect();
    assert_eq!(ids, ["1", "2"]);
    let told = |server: &TestServer| server.json("GET", "/d/_mapping", "", 200);
    let before = told(&server);
    let at = &before["d"]["mappings"]["properties"]["at"];
    assert_eq!(at["format"], "yyyy-MM-dd||epoch_second");
    let other = r#"{"properties":{"at":{"type":"date"}}}"#;
    let (_, reason) = server.error("PUT", "/d/_mapping", other, 400);
    assert!(reason.contains("[null_value]"), "{reason}");
    let (_, folder) = server.end();
    let server = TestServer::in_folder(folder, |_| ());
    assert_eq!(told(&server), before);
    assert_eq!(
        found(&server, &json!({ "term": { "at": "2024-02-03" } })),
        ["1", "3"]
    );
}
