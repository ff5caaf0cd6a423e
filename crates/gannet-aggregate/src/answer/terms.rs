//! Answers of terms, ranges and composites.

use gannet_values::{Number, ValueType};
use serde_json::{Map, Value, json};

use super::keys::{double, members, number, text};
use super::{Shown, keyed, of_another_request, order};
use crate::dates::format::DateFormat;
use crate::dates::zone::Zone;
use crate::error::{Error, Result};
use crate::run::composite::compare;
use crate::state::{BucketState, Key};
use crate::tree::{Aggregation, Composite, DateRanges, RangeOf, Ranges, Source, SourceKind, Terms};

impl Aggregation {
    pub(super) fn answer_terms(
        &self,
        terms: &Terms,
        buckets: &[BucketState],
        left: u64,
        state: &Shown<'_>,
    ) -> Result<Value> {
        let enough = buckets
            .iter()
            .filter(|bucket| bucket.count >= terms.min_doc_count)
            .filter(|bucket| terms.max_doc_count.is_none_or(|most| bucket.count <= most));
        let mut chosen: Vec<&BucketState> = enough.collect();
        if terms.max_doc_count.is_some() && chosen.len() > terms.size {
            return Err(Error::request(format!(
                "rare_terms \"{}\" has more than {} terms: ask for those of fewer documents by \
                 \"max_doc_count\", or for some by \"include\"",
                self.name, terms.size
            )));
        }
        order::sort(&mut chosen, &terms.order, &self.children);
        chosen.truncate(terms.size);
        let all: u64 = buckets.iter().map(|bucket| bucket.count).sum();
        let shown: u64 = chosen.iter().map(|bucket| bucket.count).sum();
        let value_type = state.type_of(&terms.field);
        let mut list = Vec::new();
        for bucket in chosen {
            let key = members(&bucket.key, value_type, terms.format.as_ref(), &Zone::utc());
            list.push(self.bucket(key, bucket, state)?);
        }
        if terms.max_doc_count.is_some() {
            return Ok(json!({ "buckets": list }));
        }
        Ok(json!({
            "doc_count_error_upper_bound": 0,
            "sum_other_doc_count": left.saturating_add(all - shown),
            "buckets": list,
        }))
    }

    pub(super) fn answer_ranges(
        &self,
        ranges: &Ranges<Number>,
        buckets: &[BucketState],
        state: &Shown<'_>,
    ) -> Result<Value> {
        let value = |own: &Number| number(Some(ValueType::Double), *own);
        let text = |own: &Number| value(own).to_string();
        self.range_buckets(ranges, buckets, state, value, text, false)
    }

    pub(super) fn answer_date_ranges(
        &self,
        own: &DateRanges,
        buckets: &[BucketState],
        state: &Shown<'_>,
    ) -> Result<Value> {
        let format = own.format.as_ref().unwrap_or(&DateFormat::Iso);
        let value = |own: &i64| double(*own as f64);
        let text = |own: &i64| format.print(*own, &Zone::utc());
        self.range_buckets(&own.ranges, buckets, state, value, text, true)
    }

    /// Answers ranges in the order of their ends.
    fn range_buckets<T: PartialOrd>(
        &self,
        ranges: &Ranges<T>,
        buckets: &[BucketState],
        state: &Shown<'_>,
        value: impl Fn(&T) -> Value,
        text: impl Fn(&T) -> String,
        has_text: bool,
    ) -> Result<Value> {
        if ranges.ranges.len() != buckets.len() {
            return Err(of_another_request());
        }
        let mut pairs: Vec<(&RangeOf<T>, &BucketState)> =
            ranges.ranges.iter().zip(buckets).collect();
        pairs.sort_by(|(one, _), (other, _)| {
            let by_from = one.from.partial_cmp(&other.from);
            let open_is_last = one.to.is_none().cmp(&other.to.is_none());
            let by_to = open_is_last.then(
                one.to
                    .partial_cmp(&other.to)
                    .unwrap_or(std::cmp::Ordering::Equal),
            );
            by_from.unwrap_or(std::cmp::Ordering::Equal).then(by_to)
        });
        let mut list = Vec::new();
        for (range, bucket) in pairs {
            let mut members = Map::new();
            for (name, end) in [("from", &range.from), ("to", &range.to)] {
                if let Some(end) = end {
                    members.insert(name.to_owned(), value(end));
                    if has_text {
                        members.insert(format!("{name}_as_string"), json!(text(end)));
                    }
                }
            }
            let end = |end: &Option<T>| end.as_ref().map_or("*".to_owned(), &text);
            let name = range.key.clone();
            let name = name.unwrap_or_else(|| format!("{}-{}", end(&range.from), end(&range.to)));
            list.push((name, self.bucket(members, bucket, state)?));
        }
        Ok(keyed(list, ranges.keyed, true))
    }

    pub(super) fn answer_composite(
        &self,
        composite: &Composite,
        buckets: &[BucketState],
        state: &Shown<'_>,
    ) -> Result<Value> {
        let ascending: Vec<bool> = composite.sources.iter().map(|own| own.ascending).collect();
        let mut pairs = Vec::new();
        for bucket in buckets {
            match &bucket.key {
                Key::Composite(keys) if keys.len() == ascending.len() => pairs.push((keys, bucket)),
                _ => return Err(of_another_request()),
            }
        }
        pairs.sort_by(|one, other| compare(one.0, other.0, &ascending));
        pairs.truncate(composite.size);
        let (mut list, mut last) = (Vec::new(), None);
        for (keys, bucket) in pairs {
            let sources = composite.sources.iter().zip(keys);
            let values = sources.map(|(source, key)| {
                let value = source_value(source, key, state);
                (source.name.clone(), value)
            });
            let key = Value::Object(values.collect());
            let members = Map::from_iter([("key".to_owned(), key.clone())]);
            list.push(self.bucket(members, bucket, state)?);
            last = Some(key);
        }
        let mut answer = Map::new();
        if let Some(last) = last {
            answer.insert("after_key".to_owned(), last);
        }
        answer.insert("buckets".to_owned(), Value::Array(list));
        Ok(Value::Object(answer))
    }
}

fn source_value(source: &Source, key: &Key, state: &Shown<'_>) -> Value {
    let field_type = state.type_of(&source.field);
    let own = match key {
        Key::Term(term) => {
            let shown = field_type.map(|own| own.shown_string(term));
            return json!(shown.unwrap_or_else(|| term.as_ref().into()));
        }
        Key::Number(own) => own.0,
        _ => return Value::Null,
    };
    match &source.kind {
        SourceKind::Histogram { .. } => number(Some(ValueType::Double), own),
        // Milliseconds are a number, since a text of few digits would be a year.
        SourceKind::DateHistogram { interval, format } => match format {
            None | Some(DateFormat::Milliseconds) => number(field_type, own),
            Some(format) => {
                let text = text(field_type, own, Some(format), &interval.zone);
                text.map_or(Value::Null, Value::String)
            }
        },
        SourceKind::Terms if field_type == Some(ValueType::Boolean) => {
            json!(own.exact_long() == Some(1))
        }
        SourceKind::Terms => number(field_type, own),
    }
}
