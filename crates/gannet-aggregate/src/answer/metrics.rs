//! Metrics as JSON, and the numbers of them that order buckets.

use gannet_values::{Number, ValueType};
use serde_json::{Map, Value, json};

use super::keys::{double, number, text};
use super::of_another_request;
use crate::dates::format::DateFormat;
use crate::dates::zone::Zone;
use crate::error::Result;
use crate::state::numbers::{number_of_metric, percentiles};
use crate::state::{MetricState, State};
use crate::stats::Stats;
use crate::tree::{Metric, MetricKind};

/// Returns a metric as JSON.
pub(super) fn answer(metric: &Metric, found: &MetricState, state: &State) -> Result<Value> {
    let value_type = state.type_of(&metric.field);
    let members = Members {
        value_type,
        format: metric.format.as_ref(),
        members: Map::new(),
    };
    match (&metric.kind, found) {
        (MetricKind::Cardinality, MetricState::Distinct(_) | MetricState::Hashes(_)) => {
            let count = number_of_metric(&metric.kind, None, found);
            Ok(json!({ "value": count.map(|count| count as u64) }))
        }
        (
            MetricKind::Percentiles { percents, keyed },
            MetricState::Percentiles(_) | MetricState::Values(_),
        ) => {
            let values = percentiles(percents, found);
            if values.len() != percents.len() {
                return Err(of_another_request());
            }
            Ok(members.percentiles(percents, &values, *keyed))
        }
        (MetricKind::Cardinality | MetricKind::Percentiles { .. }, _) => Err(of_another_request()),
        (kind, MetricState::Stats(stats)) => Ok(members.stats(kind, stats)),
        _ => Err(of_another_request()),
    }
}

/// Members of an answer, each perhaps with a text beside it.
struct Members<'m> {
    value_type: Option<ValueType>,
    /// The form of dates.
    format: Option<&'m DateFormat>,
    members: Map<String, Value>,
}

impl Members<'_> {
    fn put(&mut self, name: &str, value: Value) {
        self.members.insert(name.to_owned(), value);
    }

    /// Puts a value of the field, as a double as far as it is one.
    fn put_value(&mut self, name: &str, value: Option<Number>) {
        let json = value.map(|value| number(Some(ValueType::Double), value));
        self.put(name, json.unwrap_or(Value::Null));
        // A mean need not be whole: the text shows the millisecond that it is in.
        let shown = value.map(|value| match value {
            Number::Double(own) if self.value_type == Some(ValueType::Date) => {
                Number::Long(own as i64)
            }
            value => value,
        });
        let shown = shown.filter(|_| self.value_type == Some(ValueType::Date));
        if let Some(text) =
            shown.and_then(|own| text(self.value_type, own, self.format, &Zone::utc()))
        {
            self.put(&format!("{name}_as_string"), json!(text));
        }
    }

    fn stats(mut self, kind: &MetricKind, stats: &Stats) -> Value {
        let (least, greatest) = stats.extremes.unzip();
        let avg = stats.avg().map(Number::Double);
        let sum = Some(Number::Double(stats.sum()));
        match kind {
            MetricKind::Min => self.put_value("value", least),
            MetricKind::Max => self.put_value("value", greatest),
            MetricKind::Avg => self.put_value("value", avg),
            MetricKind::Sum => self.put_value("value", sum),
            MetricKind::ValueCount => self.put("value", json!(stats.count)),
            _ => {
                self.put("count", json!(stats.count));
                self.put_value("min", least);
                self.put_value("max", greatest);
                self.put_value("avg", avg);
                self.put_value("sum", sum);
                if let MetricKind::ExtendedStats { sigma } = kind {
                    self.squares(*sigma, stats);
                }
            }
        }
        Value::Object(self.members)
    }

    fn squares(&mut self, sigma: f64, stats: &Stats) {
        let some = |value: Option<f64>| value.map_or(Value::Null, double);
        let [whole, sample] = [false, true].map(|of_sample| stats.variance(of_sample));
        let has_values = stats.count > 0;
        self.put(
            "sum_of_squares",
            some(has_values.then(|| stats.sum_of_squares())),
        );
        let root = |variance: Option<f64>| variance.map(f64::sqrt);
        for (name, own) in [("variance", whole), ("std_deviation", root(whole))] {
            self.put(name, some(own));
            self.put(&format!("{name}_population"), some(own));
            let sample = if name == "variance" {
                sample
            } else {
                root(sample)
            };
            self.put(&format!("{name}_sampling"), some(sample));
        }
        let bound = |sign: f64, variance: Option<f64>| {
            let deviation = root(variance)?;
            Some(stats.avg()? + sign * sigma * deviation)
        };
        let bounds = [
            ("upper", 1.0, whole),
            ("lower", -1.0, whole),
            ("upper_population", 1.0, whole),
            ("lower_population", -1.0, whole),
            ("upper_sampling", 1.0, sample),
            ("lower_sampling", -1.0, sample),
        ];
        let bounds = bounds.map(|(name, sign, own)| (name.to_owned(), some(bound(sign, own))));
        self.put(
            "std_deviation_bounds",
            Value::Object(Map::from_iter(bounds)),
        );
    }

    fn percentiles(mut self, percents: &[f64], values: &[f64], keyed: bool) -> Value {
        let pairs = percents.iter().zip(values);
        if keyed {
            for (percent, value) in pairs {
                let value = (!value.is_nan()).then_some(Number::Double(*value));
                self.put_value(&format!("{percent:?}"), value);
            }
            return json!({ "values": self.members });
        }
        let list = pairs.map(|(percent, value)| json!({ "key": percent, "value": double(*value) }));
        json!({ "values": list.collect::<Vec<Value>>() })
    }
}
