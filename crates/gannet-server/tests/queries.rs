//! Queries, held against a plain evaluation of their JSON over the documents.

use serde_json::{Value, json};

use crate::client::{Random, TestServer};

/// A document of the tests: `body` is text, `tag` a keyword, `n` a number, `flag` a boolean.
fn documents() -> Vec<(String, Value)> {
    let mut random = Random(7);
    let words = ["red", "green", "blue", "fast", "slow", "whale"];
    let tags = ["alpha", "Beta", "beta gamma", "2020", "2020-05-01", ""];
    let documents = (0..120).map(|id| {
        let length = random.below(6);
        let body: Vec<&str> = (0..length)
            .map(|_| words[random.below(6) as usize])
            .collect();
        let mut source = json!({ "body": body.join(" ") });
        if random.below(3) > 0 {
            source["tag"] = json!(tags[random.below(5) as usize]);
        }
        if random.below(2) > 0 {
            source["n"] = json!(random.below(5));
        }
        if random.below(4) == 0 {
            source["flag"] = json!(random.below(2) == 0);
        }
        (format!("d{id}"), source)
    });
    documents.collect()
}

fn server_with(documents: &[(String, Value)]) -> TestServer {
    let server = TestServer::new();
    let mapping = json!({ "mappings": { "properties": {
        "body": { "type": "text" },
        "tag": { "type": "keyword" },
        "n": { "type": "integer" },
        "flag": { "type": "boolean" },
        "later": { "type": "text" },
    }}});
    server.json("PUT", "/q", &mapping.to_string(), 200);
    let lines = documents
        .iter()
        .map(|(id, source)| format!("{}\n{source}\n", json!({ "index": { "_id": id } })));
    assert_eq!(
        server.bulk("/q/_bulk", &lines.collect::<String>())["errors"],
        false
    );
    server
}

/// Returns true if a document matches, by the words of Elasticsearch's documentation.
fn matches(query: &Value, id: &str, source: &Value) -> bool {
    let (kind, asked) = query.as_object().unwrap().iter().next().unwrap();
    let field = || asked.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "match_all" => true,
        "match_none" => false,
        "ids" => asked["values"].as_array().unwrap().contains(&json!(id)),
        "exists" => source
            .get(asked["field"].as_str().unwrap())
            .is_some_and(has_value),
        "term" => {
            let (name, value) = field();
            has_term(name, &source[name], value)
        }
        "terms" => {
            let (name, values) = field();
            values
                .as_array()
                .unwrap()
                .iter()
                .any(|value| has_term(name, &source[name], value))
        }
        "match" => {
            let (name, options) = field();
            let text = options["query"].as_str().unwrap();
            let found = text
                .split(' ')
                .filter(|word| has_term(name, &source[name], &json!(word)));
            let (found, all) = (found.count(), text.split(' ').count());
            match (
                options["operator"].as_str(),
                options["minimum_should_match"].as_u64(),
            ) {
                (Some("and"), _) => found == all,
                (_, Some(minimum)) => found >= minimum as usize,
                _ => found > 0,
            }
        }
        "match_phrase" => {
            let (name, text) = field();
            let body = format!(" {} ", source[name].as_str().unwrap_or_default());
            body.contains(&format!(" {} ", text.as_str().unwrap()))
        }
        "prefix" => {
            let (name, prefix) = field();
            terms(name, &source[name])
                .iter()
                .any(|term| term.starts_with(prefix.as_str().unwrap()))
        }
        "wildcard" => {
            let (name, options) = field();
            let pattern: Vec<char> = options["value"].as_str().unwrap().chars().collect();
            terms(name, &source[name]).iter().any(|term| {
                let term: Vec<char> = term.chars().collect();
                fits(&pattern, &term)
            })
        }
        "constant_score" => matches(&asked["filter"], id, source),
        "bool" => matches_bool(asked, id, source),
        other => panic!("{other}"),
    }
}

fn matches_bool(asked: &Value, id: &str, source: &Value) -> bool {
    let list = |name: &str| asked[name].as_array().cloned().unwrap_or_default();
    let count = |name: &str| {
        list(name)
            .iter()
            .filter(|query| matches(query, id, source))
            .count()
    };
    let required = [list("must"), list("filter")].concat();
    let should = list("should");
    let least = asked["minimum_should_match"].as_u64().map_or_else(
        || usize::from(required.is_empty() && !should.is_empty()),
        |least| least as usize,
    );
    count("must") + count("filter") == required.len()
        && count("must_not") == 0
        && count("should") >= least
}

fn has_value(value: &Value) -> bool {
    match value {
        // A text without tokens has no length.
        Value::String(text) => !text.is_empty(),
        other => !other.is_null(),
    }
}

/// The tag is one term, the body is lowercase words.
fn terms(name: &str, value: &Value) -> Vec<String> {
    let text = value.as_str().unwrap_or_default();
    let terms = match name {
        "tag" => vec![text],
        _ => text.split(' ').collect(),
    };
    let terms = terms.into_iter().filter(|term| !term.is_empty());
    terms.map(str::to_owned).collect()
}

fn has_term(name: &str, value: &Value, term: &Value) -> bool {
    match (value, term) {
        (Value::String(_), Value::String(term)) => terms(name, value).contains(term),
        (Value::Number(number), Value::String(term)) => number.to_string() == *term,
        (Value::Null, _) => false,
        (value, term) => value == term,
    }
}

fn fits(pattern: &[char], text: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            fits(rest, text)
                || text
                    .split_first()
                    .is_some_and(|(_, text)| fits(pattern, text))
        }
        (Some(('?', rest)), Some((_, text))) => fits(rest, text),
        (Some((one, rest)), Some((other, text))) => one == other && fits(rest, text),
        _ => false,
    }
}

fn leaf(random: &mut Random) -> Value {
    let words = ["red", "green", "blue", "fast", "slow", "whale", "none"];
    let tags = ["alpha", "Beta", "beta", "beta gamma", "2020", "2020-05-01"];
    let mut word = || words[random.below(7) as usize];
    let (one, two) = (word(), word());
    let tag = tags[random.below(6) as usize];
    let number = random.below(6);
    match random.below(16) {
        0 => json!({ "match_all": {} }),
        1 => json!({ "match_none": {} }),
        2 => json!({ "ids": { "values": [format!("d{}", random.below(120)), "d3", "no"] } }),
        3 => {
            json!({ "exists": { "field": *random.pick(&["tag", "n", "flag", "body", "later"]) } })
        }
        4 => json!({ "term": { "tag": tag } }),
        5 => json!({ "term": { "n": number } }),
        6 => json!({ "term": { "flag": random.below(2) == 0 } }),
        7 => json!({ "terms": { "tag": [tag, "alpha"] } }),
        8 => json!({ "terms": { "n": [number, 3, 99] } }),
        9 => json!({ "match": { "body": { "query": format!("{one} {two}") } } }),
        10 => {
            json!({ "match": { "body": { "query": format!("{one} {two}"), "operator": "and" } } })
        }
        11 => json!({ "match": { "body": {
            "query": format!("{one} {two} red"), "minimum_should_match": random.below(3) + 1,
        } } }),
        12 => json!({ "match_phrase": { "body": format!("{one} {two}") } }),
        13 => json!({ "prefix": { "tag": &tag[..random.below(tag.len() as u64) as usize + 1] } }),
        14 => {
            json!({ "wildcard": { "tag": { "value": *random.pick(&["*a", "b?ta*", "*20*", "Beta", "????"]) } } })
        }
        _ => json!({ "constant_score": { "filter": { "match": { "body": { "query": one } } } } }),
    }
}

fn tree(random: &mut Random, depth: u64) -> Value {
    if depth == 0 || random.below(3) == 0 {
        return leaf(random);
    }
    let mut members = json!({});
    for name in ["must", "should", "must_not", "filter"] {
        let count = random.below(3);
        if random.below(2) == 0 && count > 0 {
            let list: Vec<Value> = (0..count).map(|_| tree(random, depth - 1)).collect();
            members[name] = json!(list);
        }
    }
    if members.get("should").is_some() && random.below(3) == 0 {
        members["minimum_should_match"] = json!(random.below(3) + 1);
    }
    json!({ "bool": members })
}

#[test]
fn random_queries_find_what_their_words_say() {
    let documents = documents();
    let server = server_with(&documents);
    let mut random = Random(11);
    for _ in 0..300 {
        let query = tree(&mut random, 3);
        let mut found = server.found("q", &query.to_string());
        let expected = documents
            .iter()
            .filter(|(id, source)| matches(&query, id, source));
        let mut expected: Vec<String> = expected.map(|(id, _)| id.clone()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{query}");
        let body = json!({ "query": query }).to_string();
        let count = server.json("POST", "/q/_count", &body, 200)["count"].clone();
        assert_eq!(count, expected.len(), "{query}");
    }
}

#[test]
fn words_that_differ_a_little_are_found_on_request() {
    let server = server_with(&documents());
    let right = server.found("q", r#"{"match":{"body":"whale"}}"#);
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    for query in [
        r#"{"match":{"body":{"query":"whlae","fuzziness":"AUTO"}}}"#,
        r#"{"fuzzy":{"body":{"value":"wahle"}}}"#,
        r#"{"fuzzy":{"body":"whalee"}}"#,
    ] {
        assert_eq!(
            sorted(server.found("q", query)),
            sorted(right.clone()),
            "{query}"
        );
    }
    assert!(
        server
            .found("q", r#"{"match":{"body":"whlae"}}"#)
            .is_empty()
    );
}

#[test]
fn several_fields_are_searched_as_the_best_or_the_sum() {
    let server = TestServer::new();
    server.json(
        "PUT",
        "/m/_doc/1",
        r#"{"title":"white whale","body":"a story of the sea"}"#,
        201,
    );
    server.json(
        "PUT",
        "/m/_doc/2",
        r#"{"title":"the sea","body":"a whale in the sea, a white one"}"#,
        201,
    );
    server.json(
        "PUT",
        "/m/_doc/3",
        r#"{"title":"land","body":"no water"}"#,
        201,
    );
    for query in [
        r#"{"multi_match":{"query":"white whale"}}"#,
        r#"{"multi_match":{"query":"white whale","fields":["title","body"]}}"#,
        r#"{"multi_match":{"query":"white whale","fields":["title^3","body"],"type":"most_fields"}}"#,
        r#"{"multi_match":{"query":"white whale","fields":["title","body"],"tie_breaker":1.0}}"#,
    ] {
        assert_eq!(server.found("m", query), ["1", "2"], "{query}");
    }
    let phrase = r#"{"multi_match":{"query":"white whale","type":"phrase"}}"#;
    assert_eq!(server.found("m", phrase), ["1"]);
    let one = r#"{"multi_match":{"query":"sea","fields":["title^2"]}}"#;
    assert_eq!(server.found("m", one), ["2"]);
    let body = r#"{"query":{"multi_match":{"query":"sea","tie_breaker":1.5}}}"#;
    let (_, reason) = server.error("POST", "/m/_search", body, 400);
    assert!(reason.contains("[tie_breaker]"), "{reason}");
}

/// The score of the best of several queries is that of the best alone, and a part of the others.
#[test]
fn scores_of_several_are_joined_by_the_tie_breaker() {
    let documents = documents();
    let server = server_with(&documents);
    let scores = |query: &str| -> std::collections::BTreeMap<String, f64> {
        let body = format!(r#"{{"query":{query},"size":1000}}"#);
        let found = server.json("POST", "/q/_search", &body, 200);
        let hits = found["hits"]["hits"].as_array().unwrap().clone();
        let hits = hits.iter().map(|hit| {
            let id = hit["_id"].as_str().unwrap().to_owned();
            (id, hit["_score"].as_f64().unwrap())
        });
        hits.collect()
    };
    let parts = [
        r#"{"match":{"body":{"query":"red whale","boost":3}}}"#,
        r#"{"term":{"tag":"alpha"}}"#,
        r#"{"match":{"body":"slow"}}"#,
    ];
    let each = parts.map(scores);
    for tie in [0.0, 0.3, 1.0] {
        let all = parts.join(",");
        let query = format!(r#"{{"dis_max":{{"queries":[{all}],"tie_breaker":{tie}}}}}"#);
        let found = scores(&query);
        assert!(found.len() > 30);
        for (id, _) in &documents {
            let own: Vec<f64> = each
                .iter()
                .filter_map(|part| part.get(id))
                .copied()
                .collect();
            let best = own.iter().copied().reduce(f64::max);
            let expected = best.map(|best| best + tie * (own.iter().sum::<f64>() - best));
            match (expected, found.get(id)) {
                (None, None) => {}
                (Some(expected), Some(found)) => {
                    assert!(
                        (expected - found).abs() < 1e-4,
                        "{tie} {id}: {expected} {found}"
                    );
                }
                other => panic!("{tie} {id}: {other:?}"),
            }
        }
    }
    let fields =
        r#"{"multi_match":{"query":"red alpha","fields":["body^2","tag"],"tie_breaker":0.5}}"#;
    let same = r#"{"dis_max":{"queries":[{"match":{"body":{"query":"red alpha","boost":2}}},{"match":{"tag":"red alpha"}}],"tie_breaker":0.5}}"#;
    assert_eq!(scores(fields), scores(same));
    let body = r#"{"query":{"dis_max":{"queries":[]}}}"#;
    server.error("POST", "/q/_search", body, 400);
}

#[test]
fn what_queries_cannot_ask_is_rejected_by_name() {
    let server = server_with(&documents());
    for (query, part) in [
        (
            json!({ "range": { "tag": { "gte": "2020" } } }),
            "numbers or dates",
        ),
        (json!({ "term": { "n": "five" } }), "For input string"),
        (
            json!({ "term": { "flag": "yes" } }),
            "Can't parse boolean value [yes]",
        ),
        (
            json!({ "prefix": { "n": "1" } }),
            "Can only use prefix queries",
        ),
        (json!({ "term": { "body.keyword": "red" } }), "multi-field"),
        (json!({ "knn": { "field": "v" } }), "[knn]"),
        (
            json!({ "mtach": { "body": "red" } }),
            "unknown query [mtach] did you mean [match]?",
        ),
        (
            json!({ "match": { "body": { "qury": "red" } } }),
            "did you mean [query]?",
        ),
        (
            json!({ "match": { "a": "x", "b": "y" } }),
            "doesn't support multiple fields",
        ),
        (
            json!({ "match": { "body": { "query": "x", "analyzer": "english" } } }),
            "[analyzer]",
        ),
        (json!({ "bool": { "most": [] } }), "did you mean [must]?"),
        (
            json!({ "term": { "tag": { "value": "x", "case_insensitive": true } } }),
            "[case_insensitive]",
        ),
        (
            json!({ "match": { "body": "x" }, "term": { "tag": "y" } }),
            "expected one member",
        ),
        (json!([]), "expected an object"),
    ] {
        let body = json!({ "query": query }).to_string();
        let (kind, reason) = server.error("POST", "/q/_search", &body, 400);
        assert!(reason.contains(part), "{query}: {reason}");
        assert!(kind.ends_with("_exception"), "{kind}");
    }
    // In a field that no document has, nothing is found.
    for query in [r#"{"match":{"later":"x"}}"#, r#"{"term":{"never":"x"}}"#] {
        assert!(server.found("q", query).is_empty());
    }
}

#[test]
fn strings_that_are_kept_whole_have_an_order() {
    let server = TestServer::new();
    let body = r#"{"mappings":{"properties":{"k":{"type":"keyword"}}}}"#;
    server.json("PUT", "/r", body, 200);
    for key in ["apple", "banana", "cherry"] {
        server.json(
            "PUT",
            &format!("/r/_doc/{key}"),
            &json!({ "k": key }).to_string(),
            201,
        );
    }
    assert_eq!(
        server.found("r", r#"{"range":{"k":{"gt":"apple","lte":"c"}}}"#),
        ["banana"]
    );
    assert_eq!(
        server
            .found("r", r#"{"range":{"k":{"gte":"banana"}}}"#)
            .len(),
        2
    );
}
