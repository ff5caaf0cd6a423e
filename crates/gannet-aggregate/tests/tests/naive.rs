//! The answer of a request by going through all documents for each bucket.

use std::collections::{BTreeMap, BTreeSet};

use gannet_aggregate::{DateFormat, Interval, Step, Unit, Zone};
use gannet_values::{Number, ValueType, parse_date};
use serde_json::{Map, Value, json};

use crate::world::{Document, Own, has_filter, type_of};

/// A key that is ordered as values are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Missing,
    Number(Number),
    Term(String),
}

type Documents<'a> = Vec<&'a Document>;

/// Evaluates `aggs` on the documents that match; `all` has the others too.
pub fn evaluate(aggs: &Value, documents: &Documents<'_>, all: &Documents<'_>) -> Value {
    let mut answer = Map::new();
    for (name, own) in aggs.as_object().into_iter().flatten() {
        answer.insert(name.clone(), one(own, documents, all));
    }
    Value::Object(answer)
}

fn one(own: &Value, documents: &Documents<'_>, all: &Documents<'_>) -> Value {
    let members = own.as_object().expect("an object");
    let (kind, parameters) = members
        .iter()
        .find(|(name, _)| *name != "aggs")
        .expect("a kind");
    let children = own.get("aggs").cloned().unwrap_or(json!({}));
    let bucket = |key: Value, documents: &Documents<'_>| {
        let mut members = key.as_object().cloned().unwrap_or_default();
        members.insert("doc_count".into(), json!(documents.len()));
        let below = evaluate(&children, documents, all);
        members.extend(below.as_object().cloned().unwrap_or_default());
        Value::Object(members)
    };
    let that = |is_in: &dyn Fn(&Document) -> bool| -> Documents<'_> {
        documents.iter().copied().filter(|own| is_in(own)).collect()
    };
    match kind.as_str() {
        "terms" => terms(parameters, documents, &bucket),
        "rare_terms" => rare_terms(parameters, documents, &bucket),
        "range" | "date_range" => ranges(kind, parameters, documents, &bucket),
        "histogram" | "date_histogram" => histogram(kind, parameters, documents, &bucket),
        "composite" => composite(parameters, documents, &bucket),
        "filter" => {
            let id = parameters["id"].as_u64().expect("an ID") as u32;
            bucket(json!({}), &that(&|own| has_filter(id, own)))
        }
        "filters" => {
            let filters = parameters["filters"].as_object().expect("an object");
            let mut buckets = Map::new();
            let ids = filters
                .values()
                .map(|own| own["id"].as_u64().expect("an ID") as u32);
            let ids: Vec<u32> = ids.collect();
            for (name, id) in filters.keys().zip(&ids) {
                buckets.insert(
                    name.clone(),
                    bucket(json!({}), &that(&|own| has_filter(*id, own))),
                );
            }
            if let Some(name) = parameters.get("other_bucket_key") {
                let others = that(&|own| !ids.iter().any(|id| has_filter(*id, own)));
                buckets.insert(
                    name.as_str().expect("a name").into(),
                    bucket(json!({}), &others),
                );
            }
            json!({ "buckets": buckets })
        }
        "missing" => {
            let field = field(parameters);
            bucket(
                json!({}),
                &that(&|own| !own.values.contains_key(field.as_str())),
            )
        }
        "global" => bucket(json!({}), all),
        metric => metrics(metric, parameters, documents),
    }
}

fn field(parameters: &Value) -> String {
    parameters["field"].as_str().expect("a field").to_owned()
}

/// The values of a document, or the missing one.
fn values(parameters: &Value, document: &Document) -> Vec<Own> {
    let field = field(parameters);
    if let Some(values) = document.values.get(field.as_str()) {
        return values.clone();
    }
    let missing = parameters.get("missing");
    missing
        .map(|value| own_of(&field, value))
        .into_iter()
        .collect()
}

fn own_of(field: &str, value: &Value) -> Own {
    match (type_of(field).expect("a type"), value) {
        (ValueType::Keyword, value) => {
            Own::Term(value.as_str().map_or(value.to_string(), str::to_owned))
        }
        (ValueType::Date, Value::String(text)) => {
            Own::Number(Number::Long(parse_date(text).expect("a date").first_ms))
        }
        (_, Value::String(text)) if text == "true" => Own::Number(Number::Long(1)),
        (_, Value::String(text)) if text == "false" => Own::Number(Number::Long(0)),
        (_, value) => Own::Number(Number::parse(&value.to_string()).expect("a number")),
    }
}

fn key_of(own: &Own) -> Key {
    match own {
        Own::Number(number) => Key::Number(*number),
        Own::Term(term) => Key::Term(term.clone()),
    }
}

fn key_json(field: &str, key: &Key) -> Value {
    match key {
        Key::Missing => Value::Null,
        Key::Term(term) => json!({ "key": term }),
        Key::Number(number) => {
            let long = number.exact_long();
            match type_of(field).expect("a type") {
                ValueType::Double => json!({ "key": number_json(*number) }),
                ValueType::Boolean => {
                    json!({ "key": long, "key_as_string": (long == Some(1)).to_string() })
                }
                ValueType::Date => {
                    let text = DateFormat::Iso.print(long.expect("a date"), &Zone::utc());
                    json!({ "key": long, "key_as_string": text })
                }
                _ => json!({ "key": long }),
            }
        }
    }
}

fn number_json(number: Number) -> Value {
    number
        .exact_double()
        .map_or(json!(number.exact_long()), |own| json!(own))
}

fn group<'a>(
    documents: &Documents<'a>,
    keys: impl Fn(&Document) -> BTreeSet<Key>,
) -> BTreeMap<Key, Documents<'a>> {
    let mut groups: BTreeMap<Key, Documents<'a>> = BTreeMap::new();
    for document in documents {
        for key in keys(document) {
            groups.entry(key).or_default().push(document);
        }
    }
    groups
}

type Bucket<'b> = &'b dyn Fn(Value, &Documents<'_>) -> Value;

/// Sorts buckets by `order`; they stand in the order of keys.
fn sort(parameters: &Value, default: Value, buckets: &mut [(Key, Value)]) {
    let order = parameters.get("order").cloned().unwrap_or(default);
    let list = order.as_array().cloned().unwrap_or_else(|| vec![order]);
    for one in list.iter().rev() {
        let (by, direction) = one
            .as_object()
            .expect("an object")
            .iter()
            .next()
            .expect("one");
        let ascends = direction == "asc";
        buckets.sort_by(|one, other| {
            let number = |bucket: &Value| {
                let (name, member) = by.split_once('.').unwrap_or((by, "value"));
                match bucket[name].get(member) {
                    Some(value) => value.as_f64(),
                    None => bucket[name]["values"]
                        [format!("{:?}", member.parse::<f64>().expect("a percent"))]
                    .as_f64(),
                }
            };
            let directed =
                |order: std::cmp::Ordering| if ascends { order } else { order.reverse() };
            match by.as_str() {
                "_key" => directed(one.0.cmp(&other.0)),
                "_count" => directed(count(&one.1).cmp(&count(&other.1))),
                _ => match (number(&one.1), number(&other.1)) {
                    (Some(one), Some(other)) => directed(one.total_cmp(&other)),
                    (one, other) => one.is_none().cmp(&other.is_none()),
                },
            }
        });
    }
}

fn count(bucket: &Value) -> u64 {
    bucket["doc_count"].as_u64().expect("a count")
}

fn rare_terms(parameters: &Value, documents: &Documents<'_>, bucket: Bucket<'_>) -> Value {
    let mut all = parameters.clone();
    all["size"] = json!(1_000_000);
    all["order"] = json!({ "_count": "asc" });
    let found = terms(&all, documents, bucket);
    let most = parameters["max_doc_count"].as_u64().unwrap_or(1);
    let buckets = found["buckets"].as_array().expect("buckets").iter();
    let rare = buckets.filter(|own| own["doc_count"].as_u64().expect("a count") <= most);
    json!({ "buckets": rare.collect::<Vec<_>>() })
}

fn terms(parameters: &Value, documents: &Documents<'_>, bucket: Bucket<'_>) -> Value {
    let field = field(parameters);
    let list = |name: &str| -> Option<Vec<Key>> {
        let list = parameters.get(name)?.as_array()?;
        Some(
            list.iter()
                .map(|own| key_of(&own_of(&field, own)))
                .collect(),
        )
    };
    let (include, exclude) = (list("include"), list("exclude").unwrap_or_default());
    let groups = group(documents, |document| {
        let keys = values(parameters, document);
        let keys = keys.iter().map(key_of).filter(|key| {
            include.as_ref().is_none_or(|list| list.contains(key)) && !exclude.contains(key)
        });
        keys.collect()
    });
    let all: usize = groups.values().map(Vec::len).sum();
    let least = parameters
        .get("min_doc_count")
        .and_then(Value::as_u64)
        .unwrap_or(1);
    let mut buckets: Vec<(Key, Value)> = groups
        .into_iter()
        .filter(|(_, documents)| documents.len() as u64 >= least)
        .map(|(key, documents)| {
            let json = bucket(key_json(&field, &key), &documents);
            (key, json)
        })
        .collect();
    sort(parameters, json!({ "_count": "desc" }), &mut buckets);
    buckets.truncate(parameters.get("size").and_then(Value::as_u64).unwrap_or(10) as usize);
    let shown: u64 = buckets.iter().map(|(_, own)| count(own)).sum();
    json!({
        "doc_count_error_upper_bound": 0,
        "sum_other_doc_count": all as u64 - shown,
        "buckets": buckets.into_iter().map(|own| own.1).collect::<Vec<_>>(),
    })
}

fn ranges(kind: &str, parameters: &Value, documents: &Documents<'_>, bucket: Bucket<'_>) -> Value {
    let of_dates = kind == "date_range";
    let mut list = Vec::new();
    for range in parameters["ranges"].as_array().expect("a list") {
        let end = |name: &str| {
            let value = range.get(name)?;
            Some(match value.as_str() {
                Some(text) => Number::Long(parse_date(text).expect("a date").first_ms),
                None => Number::parse(&value.to_string()).expect("a number"),
            })
        };
        let (from, to) = (end("from"), end("to"));
        let is_in = |own: &Own| match own {
            Own::Number(number) => {
                from.is_none_or(|from| *number >= from) && to.is_none_or(|to| *number < to)
            }
            Own::Term(_) => false,
        };
        let own = documents.iter().copied();
        let own = own.filter(|document| values(parameters, document).iter().any(is_in));
        let mut members = Map::new();
        let mut texts = Vec::new();
        for (name, end) in [("from", from), ("to", to)] {
            let Some(end) = end else {
                texts.push("*".to_owned());
                continue;
            };
            members.insert(name.into(), json!(end.nearest_double()));
            if of_dates {
                let text = DateFormat::Iso.print(end.exact_long().expect("a date"), &Zone::utc());
                members.insert(format!("{name}_as_string"), json!(text));
                texts.push(text);
            } else {
                texts.push(json!(end.nearest_double()).to_string());
            }
        }
        members.insert("key".into(), json!(texts.join("-")));
        let far = Number::Double(f64::INFINITY);
        let near = Number::Double(f64::NEG_INFINITY);
        let place = (from.unwrap_or(near), to.unwrap_or(far));
        list.push((place, bucket(Value::Object(members), &own.collect())));
    }
    list.sort_by_key(|own| own.0);
    json!({ "buckets": list.into_iter().map(|own| own.1).collect::<Vec<_>>() })
}

/// The interval of a date histogram.
pub fn interval(parameters: &Value) -> Interval {
    let step = match parameters.get("calendar_interval") {
        Some(name) => Step::Calendar(Unit::of(name.as_str().expect("a name")).expect("a unit")),
        None => {
            let text = parameters["fixed_interval"].as_str().expect("a time");
            Step::Fixed(
                text.strip_suffix('h')
                    .expect("hours")
                    .parse::<i64>()
                    .expect("a number")
                    * 3_600_000,
            )
        }
    };
    let zone = parameters
        .get("time_zone")
        .and_then(Value::as_str)
        .unwrap_or("UTC");
    let offset = parameters.get("offset").and_then(Value::as_str);
    let offset = offset.map_or(0, |text| {
        text.trim_end_matches('h').parse::<i64>().expect("hours") * 3_600_000
    });
    Interval {
        step,
        zone: Zone::of(zone).expect("a zone"),
        offset_ms: offset,
    }
}

fn histogram(
    kind: &str,
    parameters: &Value,
    documents: &Documents<'_>,
    bucket: Bucket<'_>,
) -> Value {
    let of_dates = kind == "date_histogram";
    let width = parameters
        .get("interval")
        .and_then(Value::as_f64)
        .unwrap_or(1.0);
    let shift = parameters
        .get("offset")
        .and_then(Value::as_f64)
        .unwrap_or(0.0);
    let dates = of_dates.then(|| interval(parameters));
    let begin = |number: Number| match &dates {
        Some(interval) => Number::Long(interval.begin(number.exact_long().expect("a date"))),
        None => Number::Double(((number.nearest_double() - shift) / width).floor() * width + shift),
    };
    let bounds = |name: &str| {
        let end = |end: &str| Number::parse(&parameters.get(name)?.get(end)?.to_string());
        (end("min"), end("max"))
    };
    let hard = bounds("hard_bounds");
    let mut groups = group(documents, |document| {
        let own = values(parameters, document).into_iter();
        let keys = own.filter_map(|own| match own {
            Own::Number(number) => {
                let key = begin(number);
                let is_in = hard.0.is_none_or(|min| number >= min || key >= min)
                    && hard.1.is_none_or(|max| key <= max);
                is_in.then_some(Key::Number(key))
            }
            Own::Term(_) => None,
        });
        keys.collect()
    });
    let least = parameters
        .get("min_doc_count")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    groups.retain(|_, documents| documents.len() as u64 >= least);
    if least == 0 {
        let extended = bounds("extended_bounds");
        let end = |end: Option<Number>| end.map(|own| Key::Number(begin(own)));
        let first = groups
            .keys()
            .next()
            .cloned()
            .into_iter()
            .chain(end(extended.0))
            .min();
        let last = groups
            .keys()
            .last()
            .cloned()
            .into_iter()
            .chain(end(extended.1))
            .max();
        if let (Some(Key::Number(first)), Some(Key::Number(last))) = (&first, &last) {
            let mut at = *first;
            while at <= *last {
                groups.entry(Key::Number(at)).or_default();
                at = match &dates {
                    Some(interval) => Number::Long(interval.next(at.exact_long().expect("a date"))),
                    None => begin(Number::Double(at.nearest_double() + width * 1.5)),
                };
            }
        }
    }
    let mut buckets: Vec<(Key, Value)> = groups
        .into_iter()
        .map(|(key, documents)| {
            let Key::Number(number) = key else {
                unreachable!("keys are numbers")
            };
            let json = match &dates {
                Some(interval) => {
                    let long = number.exact_long().expect("a date");
                    json!({ "key": long, "key_as_string": DateFormat::Iso.print(long, &interval.zone) })
                }
                None => json!({ "key": number.nearest_double() }),
            };
            (key, bucket(json, &documents))
        })
        .collect();
    sort(parameters, json!({ "_key": "asc" }), &mut buckets);
    json!({ "buckets": buckets.into_iter().map(|own| own.1).collect::<Vec<_>>() })
}

fn composite(parameters: &Value, documents: &Documents<'_>, bucket: Bucket<'_>) -> Value {
    let sources: Vec<(String, String, Value)> = parameters["sources"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|source| {
            let (name, own) = source.as_object().expect("one").iter().next().expect("one");
            let (kind, own) = own.as_object().expect("one").iter().next().expect("one");
            (name.clone(), kind.clone(), own.clone())
        })
        .collect();
    let mut groups: BTreeMap<Vec<Key>, Documents<'_>> = BTreeMap::new();
    for document in documents {
        let mut keys: BTreeSet<Vec<Key>> = BTreeSet::from([Vec::new()]);
        for (_, kind, own) in &sources {
            let values: BTreeSet<Key> = values(own, document)
                .iter()
                .map(|value| match (kind.as_str(), value) {
                    ("histogram", Own::Number(number)) => {
                        let width = own["interval"].as_f64().expect("an interval");
                        let begin = (number.nearest_double() / width).floor() * width;
                        Key::Number(Number::Double(begin))
                    }
                    ("date_histogram", Own::Number(number)) => {
                        let begin = interval(own).begin(number.exact_long().expect("a date"));
                        Key::Number(Number::Long(begin))
                    }
                    (_, value) => key_of(value),
                })
                .collect();
            let is_missing = values.is_empty() && own.get("missing_bucket").is_some();
            let values = if is_missing {
                BTreeSet::from([Key::Missing])
            } else {
                values
            };
            keys = keys
                .iter()
                .flat_map(|key| {
                    values.iter().map(move |value| {
                        let mut key = key.clone();
                        key.push(value.clone());
                        key
                    })
                })
                .collect();
        }
        for key in keys {
            groups.entry(key).or_default().push(document);
        }
    }
    let compare = |one: &Vec<Key>, other: &Vec<Key>| {
        let mut result = std::cmp::Ordering::Equal;
        for ((_, _, own), (one, other)) in sources.iter().zip(one.iter().zip(other)) {
            let order = one.cmp(other);
            let descends = own.get("order").is_some_and(|own| own == "desc");
            result = result.then(if descends { order.reverse() } else { order });
        }
        result
    };
    let mut buckets: Vec<(Vec<Key>, Documents<'_>)> = groups.into_iter().collect();
    buckets.sort_by(|one, other| compare(&one.0, &other.0));
    if let Some(after) = parameters.get("after") {
        let after: Vec<Key> = sources
            .iter()
            .map(|(name, _, own)| match &after[name] {
                Value::Null => Key::Missing,
                value => key_of(&own_of(&field(own), value)),
            })
            .collect();
        buckets.retain(|own| compare(&own.0, &after).is_gt());
    }
    buckets.truncate(parameters.get("size").and_then(Value::as_u64).unwrap_or(10) as usize);
    let mut list = Vec::new();
    let mut last = None;
    for (keys, documents) in buckets {
        let mut members = Map::new();
        for ((name, kind, own), key) in sources.iter().zip(keys) {
            let value = match (&key, type_of(&field(own)).expect("a type")) {
                (Key::Missing, _) => Value::Null,
                (Key::Term(term), _) => json!(term),
                (Key::Number(number), ValueType::Boolean) => json!(number.exact_long() == Some(1)),
                (Key::Number(number), ValueType::Double) => number_json(*number),
                (Key::Number(number), _) if kind == "histogram" => number_json(*number),
                (Key::Number(number), _) => json!(number.exact_long()),
            };
            members.insert(name.clone(), value);
        }
        last = Some(Value::Object(members.clone()));
        list.push(bucket(json!({ "key": members }), &documents));
    }
    match last {
        Some(last) => json!({ "after_key": last, "buckets": list }),
        None => json!({ "buckets": list }),
    }
}

fn metrics(kind: &str, parameters: &Value, documents: &Documents<'_>) -> Value {
    let field = field(parameters);
    let all: Vec<Own> = documents
        .iter()
        .flat_map(|own| values(parameters, own))
        .collect();
    match kind {
        "value_count" => return json!({ "value": all.len() }),
        "cardinality" => {
            let distinct: BTreeSet<Key> = all.iter().map(key_of).collect();
            return json!({ "value": distinct.len() });
        }
        _ => {}
    }
    let mut numbers: Vec<f64> = all
        .iter()
        .map(|own| match own {
            Own::Number(number) => number.nearest_double(),
            Own::Term(_) => unreachable!("a metric of numbers"),
        })
        .collect();
    numbers.sort_by(f64::total_cmp);
    let count = numbers.len() as f64;
    let sum: f64 = numbers.iter().sum();
    let some = |value: f64| (!numbers.is_empty()).then_some(value);
    let (min, max) = (numbers.first().copied(), numbers.last().copied());
    let mut members = Map::new();
    let mut put = |name: &str, value: Option<f64>| {
        members.insert(name.into(), json!(value));
        if let (Some(value), Some(ValueType::Date)) = (value, type_of(&field)) {
            let text = DateFormat::Iso.print(value as i64, &Zone::utc());
            members.insert(format!("{name}_as_string"), json!(text));
        }
    };
    match kind {
        "min" => put("value", min),
        "max" => put("value", max),
        "sum" => put("value", Some(sum)),
        "avg" => put("value", some(sum / count)),
        "percentiles" => {
            let percents = parameters["percents"].as_array().expect("a list");
            for percent in percents.iter().map(|own| own.as_f64().expect("a number")) {
                let at = (count - 1.0) * (percent / 100.0);
                let value = || {
                    let (low, high) = (numbers[at.floor() as usize], numbers[at.ceil() as usize]);
                    low + (high - low) * (at - at.floor())
                };
                let value = (!numbers.is_empty()).then(value);
                put(&format!("{percent:?}"), value);
            }
            return json!({ "values": members });
        }
        _ => {
            put("min", min);
            put("max", max);
            put("avg", some(sum / count));
            put("sum", Some(sum));
            members.insert("count".into(), json!(numbers.len()));
            if kind == "extended_stats" {
                let mean = sum / count;
                let squares: f64 = numbers.iter().map(|own| (own - mean) * (own - mean)).sum();
                members.insert("variance".into(), json!(some(squares / count)));
                members.insert(
                    "std_deviation".into(),
                    json!(some((squares / count).sqrt())),
                );
            }
        }
    }
    Value::Object(members)
}
