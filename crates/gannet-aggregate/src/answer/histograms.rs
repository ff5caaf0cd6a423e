//! Answers of histograms: empty buckets stand between the others where that is asked for.

use gannet_values::{Number, ValueType};
use serde_json::{Map, Value, json};

use super::keys::{double, members};
use super::{Shown, keyed, of_another_request, order};
use crate::dates::format::DateFormat;
use crate::error::Result;
use crate::state::{BucketState, Key, PortableNumber};
use crate::tree::{Aggregation, BUCKETS_MAX, Bounds, DateHistogram, Histogram, HistogramCommon};

impl Aggregation {
    pub(super) fn answer_histogram(
        &self,
        own: &Histogram,
        buckets: &[BucketState],
        state: &Shown<'_>,
    ) -> Result<Value> {
        let number = |key: &Key| match key {
            Key::Index(number) => Ok(*number),
            _ => Err(of_another_request()),
        };
        let begin = |number: i64| number as f64 * own.interval + own.offset;
        let of = |end: f64| crate::run::number_of_interval(end, own.interval, own.offset);
        let bounds = own.common.extended_bounds.unwrap_or_default();
        let bounds = Bounds {
            min: bounds.min.map(of),
            max: bounds.max.map(of),
        };
        let next = |number: i64| number.checked_add(1);
        let key = |number: i64| Key::Index(number);
        let all = self.filled(&own.common, bounds, buckets, number, key, next, state)?;
        let mut list = Vec::new();
        for bucket in self.ordered(&own.common, &all) {
            let value = double(begin(number(&bucket.key)?));
            let name = value.to_string();
            let members = Map::from_iter([("key".to_owned(), value)]);
            list.push((name, self.bucket(members, bucket, state)?));
        }
        Ok(keyed(list, own.common.keyed, false))
    }

    pub(super) fn answer_dates(
        &self,
        own: &DateHistogram,
        buckets: &[BucketState],
        state: &Shown<'_>,
    ) -> Result<Value> {
        let number = |key: &Key| match key {
            Key::Number(own) => own.0.exact_long().ok_or_else(of_another_request),
            _ => Err(of_another_request()),
        };
        let bounds = own.common.extended_bounds.unwrap_or_default();
        let bounds = Bounds {
            min: bounds.min.map(|end| own.interval.begin(end)),
            max: bounds.max.map(|end| own.interval.begin(end)),
        };
        let next = |begin: i64| Some(own.interval.next(begin)).filter(|next| *next > begin);
        let key = |begin: i64| Key::Number(PortableNumber(Number::Long(begin)));
        let all = self.filled(&own.common, bounds, buckets, number, key, next, state)?;
        let (format, zone) = (own.format.as_ref(), &own.interval.zone);
        let mut list = Vec::new();
        for bucket in self.ordered(&own.common, &all) {
            let members = members(&bucket.key, Some(ValueType::Date), format, zone);
            let name = format
                .unwrap_or(&DateFormat::Iso)
                .print(number(&bucket.key)?, zone);
            let members = Map::from_iter([
                ("key_as_string".to_owned(), json!(name)),
                (
                    "key".to_owned(),
                    members.get("key").cloned().unwrap_or_default(),
                ),
            ]);
            list.push((name, self.bucket(members, bucket, state)?));
        }
        Ok(keyed(list, own.common.keyed, false))
    }

    /// Returns the buckets that have enough documents, with empty ones where none are needed.
    #[expect(
        clippy::too_many_arguments,
        reason = "numbers and dates differ in all of them"
    )]
    fn filled<T>(
        &self,
        common: &HistogramCommon<T>,
        bounds: Bounds<i64>,
        buckets: &[BucketState],
        number: impl Fn(&Key) -> Result<i64>,
        key: impl Fn(i64) -> Key,
        next: impl Fn(i64) -> Option<i64>,
        state: &Shown<'_>,
    ) -> Result<Vec<BucketState>> {
        let enough = buckets
            .iter()
            .filter(|bucket| bucket.count >= common.min_doc_count);
        let mut own = enough.cloned().peekable();
        if common.min_doc_count > 0 {
            return self.limited(own.collect());
        }
        let first = own.peek().map(|bucket| number(&bucket.key)).transpose()?;
        let last = buckets
            .last()
            .map(|bucket| number(&bucket.key))
            .transpose()?;
        let least = bounds.min.into_iter().chain(first).min();
        let greatest = bounds.max.into_iter().chain(last).max();
        // An open bound alone adds nothing where there are no documents.
        let (Some(mut at), Some(greatest)) = (least, greatest) else {
            return Ok(Vec::new());
        };
        let empty = self.children.empty(state.is_whole);
        let mut all = Vec::new();
        while at <= greatest {
            match own.next_if(|bucket| bucket.key == key(at)) {
                Some(bucket) => all.push(bucket),
                None => all.push(BucketState {
                    key: key(at),
                    count: 0,
                    children: empty.clone(),
                }),
            }
            if all.len() > BUCKETS_MAX {
                return self.limited(all);
            }
            let Some(after) = next(at) else {
                break;
            };
            // Where clocks are set back, a bucket may begin between two others.
            let between = own.peek().map(|bucket| number(&bucket.key)).transpose()?;
            at = between
                .filter(|own| *own > at)
                .map_or(after, |own| own.min(after));
        }
        self.limited(all)
    }

    fn limited(&self, buckets: Vec<BucketState>) -> Result<Vec<BucketState>> {
        if buckets.len() > BUCKETS_MAX {
            return Err(self.too_many_buckets());
        }
        Ok(buckets)
    }

    fn ordered<'a, T>(
        &self,
        common: &HistogramCommon<T>,
        buckets: &'a [BucketState],
    ) -> Vec<&'a BucketState> {
        let mut ordered: Vec<&BucketState> = buckets.iter().collect();
        order::sort(&mut ordered, &common.order, &self.children);
        ordered
    }
}
