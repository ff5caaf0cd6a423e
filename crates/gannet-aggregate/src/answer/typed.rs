//! Names of aggregations with the types of their answers, as `typed_keys` asks for: `sterms#kinds`.

use gannet_values::ValueType;
use serde_json::{Map, Value};

use crate::state::State;
use crate::tree::{Aggregation, Aggregations, Kind, MetricKind};

impl Aggregations {
    /// Puts the type of each answer before its name.
    pub(super) fn named_by_type(&self, answer: &mut Map<String, Value>, state: &State) {
        for own in &self.list {
            let Some(mut found) = answer.remove(&own.name) else {
                continue;
            };
            own.children.name_below(&mut found, state);
            answer.insert(format!("{}#{}", own.type_name(state), own.name), found);
        }
    }

    /// Does the same in the buckets of an answer, which may be an only one.
    fn name_below(&self, answer: &mut Value, state: &State) {
        if self.is_empty() {
            return;
        }
        let own = |bucket: &mut Value| {
            if let Value::Object(members) = bucket {
                self.named_by_type(members, state);
            }
        };
        match answer.get_mut("buckets") {
            Some(Value::Array(buckets)) => buckets.iter_mut().for_each(own),
            Some(Value::Object(buckets)) => buckets.values_mut().for_each(own),
            _ => own(answer),
        }
    }
}

impl Aggregation {
    /// Returns the type as Elasticsearch's clients know it.
    fn type_name(&self, state: &State) -> &'static str {
        match &self.kind {
            Kind::Terms(terms) if terms.max_doc_count.is_some() => {
                match state.type_of(&terms.field) {
                    Some(ValueType::Keyword | ValueType::Ip) => "srareterms",
                    Some(_) => "lrareterms",
                    None => "umrareterms",
                }
            }
            Kind::Terms(terms) => match state.type_of(&terms.field) {
                Some(ValueType::Keyword | ValueType::Ip) => "sterms",
                Some(ValueType::Double) => "dterms",
                Some(ValueType::Boolean | ValueType::Date | ValueType::Long) => "lterms",
                None => "umterms",
            },
            Kind::Range(_) => "range",
            Kind::DateRange(_) => "date_range",
            Kind::IpRange(_) => "ip_range",
            Kind::Histogram(_) => "histogram",
            Kind::DateHistogram(_) => "date_histogram",
            Kind::Filter(_) => "filter",
            Kind::Filters(_) => "filters",
            Kind::Missing(_) => "missing",
            Kind::Global => "global",
            Kind::Composite(_) => "composite",
            Kind::Metric(metric) => match &metric.kind {
                MetricKind::Percentiles { .. } => "tdigest_percentiles",
                kind => kind.name(),
            },
        }
    }
}
