//! Making the nodes of a run from a tree, once the types of fields and numbers of terms are known.

use gannet_values::ValueType;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

use super::buckets::BucketNode;
use super::cut::{By, Criterion, Cut};
use super::finder::{Finder, TermsFinder};
use super::metric::{MetricNode, Missing};
use super::node::{Node, Phase, Work};
use crate::batch::Pair;
use crate::error::{Error, Result};
use crate::state::numbers::has_number;
use crate::tree::{
    Aggregation, Aggregations, DEPTH_MAX, FilterId, Kind, Metric, OrderBy, Scalar, Terms,
};
use crate::values::{ClassKey, NO_NUMBER, scalar_key, scalar_number, scalar_string, scalar_text};

/// Numbers of keywords, by field and term.
pub(crate) type Numbers = BTreeMap<(String, String), Option<u32>>;

/// The nodes of a run, with what they read.
pub(crate) struct Plan {
    pub(crate) nodes: Vec<Node>,
    pub(crate) fields: Vec<String>,
    pub(crate) types: Vec<ValueType>,
    pub(crate) filters: Vec<FilterId>,
    /// All documents of a chunk in the bucket above all.
    pub(crate) all: Vec<Pair>,
}

pub(crate) struct Planner<'a> {
    pub(crate) type_of: &'a dyn Fn(&str) -> Option<ValueType>,
    pub(crate) numbers: &'a Numbers,
    pub(crate) is_whole: bool,
    pub(super) plan: Plan,
    /// The name of the aggregation that is planned, for errors.
    name: String,
}

/// Lists the terms whose numbers are needed, by field.
pub(crate) fn terms_needed(
    tree: &Aggregations,
    type_of: &dyn Fn(&str) -> Option<ValueType>,
    needed: &mut BTreeMap<String, BTreeSet<String>>,
) {
    for own in &tree.list {
        let (field, scalars): (&str, Vec<&Scalar>) = match &own.kind {
            Kind::Terms(terms) => {
                let include = terms.include.iter().flatten();
                let scalars = include.chain(&terms.exclude).chain(&terms.missing);
                (&terms.field, scalars.collect())
            }
            Kind::Metric(metric) => (&metric.field, metric.missing.iter().collect()),
            _ => ("", Vec::new()),
        };
        if let Some(of_strings) = type_of(field).filter(|own| own.has_strings())
            && !scalars.is_empty()
        {
            let terms = needed.entry(field.to_owned()).or_default();
            let strings = scalars.into_iter();
            terms.extend(strings.filter_map(|own| scalar_string(of_strings, own)));
        }
        terms_needed(&own.children, type_of, needed);
    }
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        type_of: &'a dyn Fn(&str) -> Option<ValueType>,
        numbers: &'a Numbers,
        is_whole: bool,
    ) -> Planner<'a> {
        Planner {
            type_of,
            numbers,
            is_whole,
            plan: Plan {
                nodes: Vec::new(),
                fields: Vec::new(),
                types: Vec::new(),
                filters: Vec::new(),
                all: Vec::new(),
            },
            name: String::new(),
        }
    }

    pub(crate) fn plan(mut self, tree: &Aggregations) -> Result<Plan> {
        if tree.depth() > DEPTH_MAX {
            return Err(Error::request(format!(
                "aggregations stand more than {DEPTH_MAX} deep in each other"
            )));
        }
        self.plan.nodes = self.nodes(tree, &FxHashSet::default(), true)?;
        self.plan
            .nodes
            .iter_mut()
            .for_each(|node| node.start(self.is_whole));
        Ok(self.plan)
    }

    fn nodes(
        &mut self,
        tree: &Aggregations,
        eager: &FxHashSet<String>,
        is_top: bool,
    ) -> Result<Vec<Node>> {
        let mut names = BTreeSet::new();
        let mut nodes = Vec::new();
        for own in &tree.list {
            self.name.clone_from(&own.name);
            if !names.insert(&own.name) {
                return Err(self.wrong("has the name of another one beside it"));
            }
            if !is_top && matches!(own.kind, Kind::Global | Kind::Composite(_)) {
                return Err(self.wrong("may only stand at the top"));
            }
            let is_eager = eager.contains(&own.name) && !self.is_whole;
            nodes.push(self.node(own, is_eager)?);
        }
        Ok(nodes)
    }

    pub(super) fn wrong(&self, text: &str) -> Error {
        Error::request(format!("aggregation \"{}\" {text}", self.name))
    }

    fn node(&mut self, own: &Aggregation, is_eager: bool) -> Result<Node> {
        let mut eager = FxHashSet::default();
        let finder = match &own.kind {
            Kind::Terms(terms) => {
                let orders = terms.order.iter();
                eager.extend(orders.filter_map(|order| match &order.by {
                    OrderBy::Metric(name, _) => Some(name.clone()),
                    _ => None,
                }));
                let work = self.terms(terms, &own.children)?;
                return self.with_children(own, work, &eager, is_eager);
            }
            Kind::Metric(metric) => {
                let work = Work::Metric(Box::new(self.metric(metric, is_eager)?));
                return self.with_children(own, work, &eager, is_eager);
            }
            Kind::Composite(composite) => {
                let work = Work::Composite(Box::new(self.composite(composite)?));
                return self.with_children(own, work, &eager, is_eager);
            }
            Kind::Range(ranges) => self.range(ranges)?,
            Kind::DateRange(ranges) => self.date_range(&ranges.ranges)?,
            Kind::Histogram(histogram) => self.histogram(histogram)?,
            Kind::DateHistogram(histogram) => self.dates(histogram)?,
            Kind::Filter(id) => Finder::Filter(self.filter(*id)),
            Kind::Filters(filters) => {
                let ids = filters
                    .filters
                    .iter()
                    .map(|(_, id)| *id)
                    .collect::<Vec<_>>();
                let numbers = ids.into_iter().map(|id| self.filter(id)).collect();
                Finder::Filters(numbers, filters.other.is_some())
            }
            Kind::IpRange(own) => {
                // The filters find only what they are asked for in a field of addresses.
                self.column_of(&own.field, &[ValueType::Ip])?;
                let ids = own.ranges.iter().map(|range| range.filter);
                let numbers = ids.map(|id| self.filter(id)).collect();
                Finder::Filters(numbers, false)
            }
            Kind::Missing(field) => Finder::Missing(self.column(field)?.0),
            Kind::Global => Finder::Global,
        };
        let work = Work::Buckets(Box::new(BucketNode::new(finder, None)));
        self.with_children(own, work, &eager, is_eager)
    }

    fn with_children(
        &mut self,
        own: &Aggregation,
        work: Work,
        eager: &FxHashSet<String>,
        is_eager: bool,
    ) -> Result<Node> {
        if matches!(work, Work::Metric(_)) && !own.children.is_empty() {
            return Err(self.wrong("is a metric, so nothing can stand below it"));
        }
        Ok(Node {
            name: own.name.clone(),
            phase: Phase::Waiting,
            is_eager,
            work,
            children: self.nodes(&own.children, eager, false)?,
        })
    }

    pub(super) fn column(&mut self, field: &str) -> Result<(usize, ValueType)> {
        let value_type = (self.type_of)(field).ok_or_else(|| {
            self.wrong(&format!(
                "needs the values of the field \"{field}\", which has no column: name a field of \
                 numbers, dates, booleans or keywords, such as \"{field}.keyword\""
            ))
        })?;
        let known = self.plan.fields.iter().position(|own| own == field);
        let number = known.unwrap_or_else(|| {
            self.plan.fields.push(field.to_owned());
            self.plan.types.push(value_type);
            self.plan.fields.len() - 1
        });
        Ok((number, value_type))
    }

    /// Returns the column of a field whose type is one of some.
    pub(super) fn column_of(
        &mut self,
        field: &str,
        types: &[ValueType],
    ) -> Result<(usize, ValueType)> {
        let (column, value_type) = self.column(field)?;
        if types.contains(&value_type) {
            return Ok((column, value_type));
        }
        let names: Vec<&str> = types.iter().map(|own| own.name()).collect();
        Err(self.wrong(&format!(
            "needs a field of type {}, and \"{field}\" is {value_type}",
            names.join(" or ")
        )))
    }

    fn filter(&mut self, id: FilterId) -> usize {
        let known = self.plan.filters.iter().position(|own| *own == id);
        known.unwrap_or_else(|| {
            self.plan.filters.push(id);
            self.plan.filters.len() - 1
        })
    }

    /// Returns the key of a written value; of a keyword none if the index does not have it.
    fn key(&self, field: &str, field_type: ValueType, scalar: &Scalar) -> Result<Option<ClassKey>> {
        let wrong = || {
            let text = scalar_text(scalar);
            self.wrong(&format!(
                "has the value \"{text}\", which is no {field_type}"
            ))
        };
        if field_type.has_strings() {
            let string = scalar_string(field_type, scalar).ok_or_else(wrong)?;
            let number = self.numbers.get(&(field.to_owned(), string));
            let number = number.copied().flatten();
            return Ok(number.map(|number| (0, u64::from(number))));
        }
        let key = scalar_key(field_type, scalar);
        key.map(Some).ok_or_else(wrong)
    }

    fn terms(&mut self, terms: &Terms, children: &Aggregations) -> Result<Work> {
        let (column, field_type) = self.column(&terms.field)?;
        if terms.size == 0 || terms.min_doc_count == 0 {
            return Err(self.wrong("needs a size and a min_doc_count of 1 or more"));
        }
        let string = |scalar: &Scalar| scalar_string(field_type, scalar);
        let text = terms.missing.as_ref().and_then(string);
        let key = |scalar: &Scalar| match self.key(&terms.field, field_type, scalar)? {
            None if text.is_some() && text == string(scalar) => Ok(Some((0, NO_NUMBER))),
            key => Ok(key),
        };
        let keys = |list: &[Scalar]| -> Result<FxHashSet<ClassKey>> {
            let keys = list.iter().map(key).filter_map(Result::transpose);
            keys.collect()
        };
        let missing = terms.missing.as_ref().map(key).transpose()?.flatten();
        let finder = TermsFinder {
            column,
            field_type,
            missing,
            include: terms.include.as_deref().map(keys).transpose()?,
            exclude: keys(&terms.exclude)?,
        };
        let criteria = self.criteria(terms, children)?;
        // One more than may be answered tells that there are too many.
        let is_rare = terms.max_doc_count.is_some();
        let size = terms.size.saturating_add(usize::from(is_rare));
        let counted = terms.min_doc_count..=terms.max_doc_count.unwrap_or(u64::MAX);
        let cut = Cut::new(criteria, size, counted, field_type, text);
        let node = BucketNode::new(Finder::Terms(finder), Some(cut));
        Ok(Work::Buckets(Box::new(node)))
    }

    fn criteria(&self, terms: &Terms, children: &Aggregations) -> Result<Vec<Criterion>> {
        let ordering = |name: &str| {
            let mut orders = terms.order.iter();
            orders.any(|order| matches!(&order.by, OrderBy::Metric(own, _) if own == name))
        };
        // The number of an eager child counts only those.
        let eager: Vec<&Aggregation> = children
            .list
            .iter()
            .filter(|own| ordering(&own.name))
            .collect();
        let mut criteria = Vec::new();
        for order in &terms.order {
            let by = match &order.by {
                OrderBy::Count => By::Count,
                OrderBy::Key => By::Key,
                OrderBy::Metric(name, number) => {
                    let child = eager.iter().position(|own| own.name == *name);
                    let kind = child.and_then(|child| match &eager[child].kind {
                        Kind::Metric(metric) => Some(&metric.kind),
                        _ => None,
                    });
                    let kind = kind.filter(|kind| has_number(kind, number.as_deref()));
                    let (Some(child), Some(kind)) = (child, kind) else {
                        return Err(self.wrong(&format!(
                            "is ordered by \"{name}\", which must be a metric below it, of several \
                             numbers with one of them, such as \"{name}.avg\""
                        )));
                    };
                    By::Metric(child, kind.clone(), number.clone())
                }
            };
            criteria.push(Criterion {
                by,
                ascending: order.ascending,
            });
        }
        criteria.push(Criterion {
            by: By::Key,
            ascending: true,
        });
        Ok(criteria)
    }

    fn metric(&mut self, metric: &Metric, is_eager: bool) -> Result<MetricNode> {
        let (column, field_type) = self.column(&metric.field)?;
        if field_type.has_strings() && !metric.kind.takes_keywords() {
            return Err(self.wrong(&format!(
                "is {}, which needs numbers, and the field \"{}\" is {field_type}",
                metric.kind.name(),
                metric.field
            )));
        }
        let missing = match &metric.missing {
            None => None,
            Some(scalar) => {
                let key = self.key(&metric.field, field_type, scalar)?;
                Some(Missing {
                    key: key.unwrap_or((0, NO_NUMBER)),
                    number: scalar_number(field_type, scalar),
                })
            }
        };
        let mut node = MetricNode::new(metric.kind.clone(), column, field_type, missing, is_eager);
        node.missing_text.clone_from(&metric.missing);
        Ok(node)
    }
}
