//! Reading a tree from the JSON of Elasticsearch. What is not supported is an error that names it.

use serde_json::Value;

use super::addresses::ip_ranges;
use super::members::{Members, scalar};
use super::{
    Aggregation, Aggregations, Composite, DEFAULT_PERCENTS, DEPTH_MAX, FilterId, Filters, Kind,
    Metric, MetricKind, Source, SourceKind,
};
use crate::error::{Error, Result};

/// The most aggregations of a request.
const AGGREGATIONS_MAX: usize = 256;

/// The most buckets of one page of a composite.
const COMPOSITE_SIZE_MAX: usize = 10_000;

/// The most filters of an aggregation.
const FILTERS_MAX: usize = 1_024;

/// Reads a tree.
pub(crate) struct Reader<'a> {
    /// The time that `now` means, in milliseconds since 1970.
    pub(crate) now_ms: i64,
    /// Gives a filter a number, or says what is wrong with it.
    pub(crate) filter: &'a mut dyn FnMut(&Value) -> std::result::Result<FilterId, String>,
    /// Aggregations so far.
    pub(crate) count: usize,
}

impl Aggregations {
    /// Reads the value of `aggs`. `now_ms` is what `now` means. `filter` gives the JSON of a filter
    /// a number, or says what is wrong with it.
    pub fn from_json(
        value: &Value,
        now_ms: i64,
        filter: &mut dyn FnMut(&Value) -> std::result::Result<FilterId, String>,
    ) -> Result<Aggregations> {
        let mut reader = Reader {
            now_ms,
            filter,
            count: 0,
        };
        reader.aggregations(value, 1)
    }
}

impl Reader<'_> {
    fn aggregations(&mut self, value: &Value, depth: usize) -> Result<Aggregations> {
        let object = value
            .as_object()
            .ok_or_else(|| Error::request("\"aggs\" must be an object of aggregations by name"))?;
        if depth > DEPTH_MAX {
            return Err(Error::request(format!(
                "aggregations stand more than {DEPTH_MAX} deep in each other"
            )));
        }
        let mut aggregations = Aggregations::default();
        for (name, value) in object {
            self.count += 1;
            if self.count > AGGREGATIONS_MAX {
                let text = format!("a request has more than {AGGREGATIONS_MAX} aggregations");
                return Err(Error::request(text));
            }
            aggregations
                .list
                .push(self.aggregation(name, value, depth)?);
        }
        Ok(aggregations)
    }

    fn aggregation(&mut self, name: &str, value: &Value, depth: usize) -> Result<Aggregation> {
        let of = format!("aggregation \"{name}\"");
        if name.is_empty() || name.contains(['[', ']', '>']) {
            let text = format!("{of} needs a name without brackets and >");
            return Err(Error::request(text));
        }
        let object = value
            .as_object()
            .ok_or_else(|| Error::request(format!("{of} must be an object")))?;
        let (mut kind, mut children) = (None, Aggregations::default());
        for (member, value) in object {
            if member == "meta" {
                return Err(Error::request(format!("\"meta\" of {of} is not supported")));
            } else if member == "aggs" || member == "aggregations" {
                children = self.aggregations(value, depth + 1)?;
            } else if let Some((other, _)) = kind {
                let text = format!("{of} has two kinds: \"{other}\" and \"{member}\"");
                return Err(Error::request(text));
            } else {
                kind = Some((member, value));
            }
        }
        let (kind, value) =
            kind.ok_or_else(|| Error::request(format!("{of} has no kind, such as \"terms\"")))?;
        let kind = self.kind(name, kind, value)?;
        if matches!(kind, Kind::Metric(_)) && !children.is_empty() {
            let text = format!("{of} is a metric, so nothing can stand below it");
            return Err(Error::request(text));
        }
        if depth > 1 && matches!(kind, Kind::Global | Kind::Composite(_)) {
            return Err(Error::request(format!("{of} may only stand at the top")));
        }
        Ok(Aggregation {
            name: name.to_owned(),
            kind,
            children,
        })
    }

    fn kind(&mut self, name: &str, kind: &str, value: &Value) -> Result<Kind> {
        let of = format!("{kind} \"{name}\"");
        if kind == "filter" {
            return self.filter_id(&of, value).map(Kind::Filter);
        }
        let mut members = Members::of(of, value)?;
        let kind = match kind {
            "terms" => Kind::Terms(self.terms(&mut members)?),
            "rare_terms" => Kind::Terms(self.rare_terms(&mut members)?),
            "range" => Kind::Range(self.range(&mut members)?),
            "ip_range" => Kind::IpRange(ip_ranges(&mut members)?),
            "date_range" => Kind::DateRange(self.date_range(&mut members)?),
            "histogram" => Kind::Histogram(self.histogram(&mut members)?),
            "date_histogram" => Kind::DateHistogram(self.date_histogram(&mut members)?),
            "filters" => Kind::Filters(self.filters(&mut members)?),
            "missing" => Kind::Missing(members.field()?),
            "global" => Kind::Global,
            "composite" => Kind::Composite(self.composite(&mut members)?),
            metric => {
                let format = self.format(&mut members)?;
                let metric = read_metric(metric, &mut members)?;
                Kind::Metric(Metric { format, ..metric })
            }
        };
        members.end()?;
        Ok(kind)
    }

    fn filter_id(&mut self, of: &str, value: &Value) -> Result<FilterId> {
        (self.filter)(value).map_err(|text| Error::request(format!("{of}: {text}")))
    }

    fn filters(&mut self, members: &mut Members<'_>) -> Result<Filters> {
        let of = members.of.clone();
        let value = members.take("filters");
        let (list, keyed): (Vec<(String, &Value)>, _) = match value {
            Some(Value::Array(list)) => {
                let numbered = list.iter().enumerate();
                (
                    numbered.map(|(at, own)| (at.to_string(), own)).collect(),
                    false,
                )
            }
            Some(Value::Object(object)) => {
                let named = object.iter();
                (named.map(|(name, own)| (name.clone(), own)).collect(), true)
            }
            _ => return Err(members.wrong("filters", "a list or an object of filters")),
        };
        if list.is_empty() || list.len() > FILTERS_MAX {
            return Err(members.wrong("filters", &format!("1 to {FILTERS_MAX} filters")));
        }
        let mut filters = Vec::new();
        for (name, value) in list {
            filters.push((name, self.filter_id(&of, value)?));
        }
        let has_other = members.boolean("other_bucket")?;
        let other = members.string("other_bucket_key")?.map(str::to_owned);
        let other = other.or_else(|| has_other.then(|| "_other_".to_owned()));
        Ok(Filters {
            filters,
            keyed,
            other,
        })
    }

    fn composite(&mut self, members: &mut Members<'_>) -> Result<Composite> {
        let size = members.size(COMPOSITE_SIZE_MAX)?;
        let list = members.list("sources")?.map(Vec::as_slice);
        let list = list.unwrap_or_default();
        if list.is_empty() || list.len() > 16 {
            return Err(members.wrong("sources", "a list of 1 to 16 sources"));
        }
        let mut sources: Vec<Source> = Vec::new();
        for value in list {
            let source = self.source(&members.of, value)?;
            if sources.iter().any(|own| own.name == source.name) {
                return Err(members.wrong("sources", "sources whose names differ"));
            }
            sources.push(source);
        }
        let after = match members.take("after") {
            None => None,
            Some(value) => Some(after(members, &sources, value)?),
        };
        Ok(Composite {
            size,
            sources,
            after,
        })
    }

    fn source(&mut self, of: &str, value: &Value) -> Result<Source> {
        let of = format!("a source of {of}");
        let single = |value: &'_ Value| -> Option<(String, Value)> {
            let object = value.as_object().filter(|object| object.len() == 1)?;
            object
                .iter()
                .next()
                .map(|(name, own)| (name.clone(), own.clone()))
        };
        let wrong = || Error::request(format!("{of} must be an object with one name and one kind"));
        let (name, value) = single(value).ok_or_else(wrong)?;
        let (kind, value) = single(&value).ok_or_else(wrong)?;
        let mut members = Members::of(format!("source \"{name}\""), &value)?;
        let field = members.field()?;
        let kind = match kind.as_str() {
            "terms" => SourceKind::Terms,
            "histogram" => SourceKind::Histogram {
                interval: self.number_interval(&mut members)?,
            },
            "date_histogram" => SourceKind::DateHistogram {
                interval: self.interval(&mut members)?,
                format: self.readable_format(&mut members)?,
            },
            other => {
                let text = format!("\"{other}\" of {of} is not supported");
                return Err(Error::request(text));
            }
        };
        let ascending = match members.string("order")? {
            None | Some("asc") => true,
            Some("desc") => false,
            Some(_) => return Err(members.wrong("order", "asc or desc")),
        };
        let missing_bucket = members.boolean("missing_bucket")?;
        members.end()?;
        Ok(Source {
            name,
            kind,
            field,
            ascending,
            missing_bucket,
        })
    }
}

fn after(
    members: &Members<'_>,
    sources: &[Source],
    value: &Value,
) -> Result<Vec<Option<super::Scalar>>> {
    let wrong = || {
        members.wrong(
            "after",
            "the \"after_key\" of an answer to the same request, with a value for each source",
        )
    };
    let object = value.as_object().ok_or_else(wrong)?;
    if object.len() != sources.len() {
        return Err(wrong());
    }
    let values = sources.iter().map(|source| {
        let value = object.get(&source.name).ok_or_else(wrong)?;
        if value.is_null() && source.missing_bucket {
            return Ok(None);
        }
        scalar(value).map(Some).ok_or_else(wrong)
    });
    values.collect()
}

fn read_metric(kind: &str, members: &mut Members<'_>) -> Result<Metric> {
    let kind = match kind {
        "min" => MetricKind::Min,
        "max" => MetricKind::Max,
        "sum" => MetricKind::Sum,
        "avg" => MetricKind::Avg,
        "value_count" => MetricKind::ValueCount,
        "stats" => MetricKind::Stats,
        "extended_stats" => MetricKind::ExtendedStats {
            sigma: sigma(members)?,
        },
        "cardinality" => {
            // Distinct values are counted exactly, whatever the threshold.
            members.ignore(&["precision_threshold"]);
            MetricKind::Cardinality
        }
        "percentiles" => percentiles(members)?,
        other => {
            return Err(Error::request(format!(
                "the kind \"{other}\" of {} is not supported",
                members.of
            )));
        }
    };
    Ok(Metric {
        kind,
        field: members.field()?,
        missing: members.scalar("missing")?,
        format: None,
    })
}

fn sigma(members: &mut Members<'_>) -> Result<f64> {
    let sigma = members.double("sigma")?.unwrap_or(2.0);
    if sigma < 0.0 {
        return Err(members.wrong("sigma", "a number of 0 or more"));
    }
    Ok(sigma)
}

fn percentiles(members: &mut Members<'_>) -> Result<MetricKind> {
    // Percentiles are exact, so the compression of a sketch says nothing.
    members.ignore(&["tdigest"]);
    let percents = match members.list("percents")? {
        None => DEFAULT_PERCENTS.to_vec(),
        Some(list) => {
            // As in Elasticsearch, a number may be written as a string.
            let double = |own: &Value| own.as_f64().or_else(|| own.as_str()?.parse().ok());
            let doubles = list.iter().map(double);
            let doubles = doubles.map(|own| own.filter(|own| (0.0..=100.0).contains(own)));
            let doubles: Option<Vec<f64>> = doubles.collect();
            let some = doubles.filter(|own| !own.is_empty() && own.len() <= 1_000);
            some.ok_or_else(|| members.wrong("percents", "a list of numbers from 0 to 100"))?
        }
    };
    let keyed = members
        .take("keyed")
        .is_none_or(|keyed| keyed != &Value::Bool(false));
    Ok(MetricKind::Percentiles { percents, keyed })
}
