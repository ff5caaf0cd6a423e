//! The type that a field without values is taken to have: one that all aggregations over it take.

use gannet_values::ValueType;

use super::{Aggregations, Kind, SourceKind};

impl Aggregations {
    /// Returns a type of a field that has no values, such that whatever is asked of it can be.
    pub fn fitting_type(&self, field: &str) -> ValueType {
        let types = self.list.iter().flat_map(|own| {
            let below = own.children.fitting_type(field);
            [own.kind.wanted_type(field), Some(below)]
        });
        let types: Vec<ValueType> = types.flatten().collect();
        let preferred = [ValueType::Ip, ValueType::Date, ValueType::Double];
        let mut preferred = preferred.into_iter();
        let found = preferred.find(|wanted| types.contains(wanted));
        found.unwrap_or(ValueType::Keyword)
    }
}

impl Kind {
    /// The type that this needs of a field; nothing if any will do.
    fn wanted_type(&self, field: &str) -> Option<ValueType> {
        match self {
            Kind::DateHistogram(own) if own.field == field => Some(ValueType::Date),
            Kind::DateRange(own) if own.ranges.field == field => Some(ValueType::Date),
            Kind::IpRange(own) if own.field == field => Some(ValueType::Ip),
            Kind::Histogram(own) if own.field == field => Some(ValueType::Double),
            Kind::Range(own) if own.field == field => Some(ValueType::Double),
            Kind::Metric(own) if own.field == field && !own.kind.takes_keywords() => {
                Some(ValueType::Double)
            }
            Kind::Composite(own) => {
                let sources = own.sources.iter().filter(|source| source.field == field);
                let types = sources.filter_map(|source| match source.kind {
                    SourceKind::Terms => None,
                    SourceKind::Histogram { .. } => Some(ValueType::Double),
                    SourceKind::DateHistogram { .. } => Some(ValueType::Date),
                });
                // Numbers can be asked of dates, too.
                types.max_by_key(|own| *own == ValueType::Date)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_type_is_one_that_all_take() {
        let json = json!({
            "t": { "terms": { "field": "a" }, "aggs": { "m": { "avg": { "field": "b" } } } },
            "c": { "cardinality": { "field": "c" } },
            "d": { "date_histogram": { "field": "d", "calendar_interval": "day" } },
            "l": { "max": { "field": "d" } },
        });
        let tree = Aggregations::from_json(&json, 0, &mut |_| Ok(0)).unwrap();
        let types = ["a", "b", "c", "d"].map(|field| tree.fitting_type(field));
        let [a, b, c, d] = types;
        assert_eq!((a, b), (ValueType::Keyword, ValueType::Double));
        assert_eq!((c, d), (ValueType::Keyword, ValueType::Date));
    }
}
