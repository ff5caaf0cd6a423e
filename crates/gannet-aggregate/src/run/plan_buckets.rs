//! Making the nodes of buckets of numbers and dates, and of composites.

use std::ops::Bound;

use gannet_values::{Number, NumberRange, ValueType};

use super::composite::CompositeNode;
use super::finder::{DatesFinder, Finder, HistogramFinder, RangesFinder};
use super::plan::Planner;
use super::sources::{SourceFinder, SourceKeys};
use crate::dates::rounding::Step;
use crate::error::Result;
use crate::state::{Key, PortableNumber};
use crate::tree::{
    Composite, DateHistogram, Histogram, RangeOf, Ranges, Scalar, Source, SourceKind,
};
use crate::values::{scalar_number, scalar_string, scalar_text};

impl Planner<'_> {
    fn number(&self, field_type: ValueType, scalar: Option<&Scalar>) -> Result<Option<Number>> {
        let Some(scalar) = scalar else {
            return Ok(None);
        };
        let number = scalar_number(field_type, scalar);
        number.map(Some).ok_or_else(|| {
            let text = scalar_text(scalar);
            self.wrong(&format!(
                "has the missing value \"{text}\", which is no {field_type}"
            ))
        })
    }

    pub(super) fn range(&mut self, own: &Ranges<Number>) -> Result<Finder> {
        let keys = own
            .ranges
            .iter()
            .map(|range| number_range(range, |own| *own));
        self.ranges(&own.field, keys.collect(), own.missing.as_ref(), false)
    }

    pub(super) fn date_range(&mut self, own: &Ranges<i64>) -> Result<Finder> {
        let keys = own.ranges.iter();
        let keys = keys.map(|range| number_range(range, |own| Number::Long(*own)));
        self.ranges(&own.field, keys.collect(), own.missing.as_ref(), true)
    }

    fn ranges(
        &mut self,
        field: &str,
        ranges: Vec<NumberRange>,
        missing: Option<&Scalar>,
        of_dates: bool,
    ) -> Result<Finder> {
        let numbers = [ValueType::Long, ValueType::Double, ValueType::Date];
        let types = if of_dates {
            &numbers[2..]
        } else {
            &numbers[..]
        };
        let (column, field_type) = self.column_of(field, types)?;
        let missing = self.number(field_type, missing)?;
        Ok(Finder::Ranges(RangesFinder::new(column, &ranges, missing)))
    }

    pub(super) fn histogram(&mut self, own: &Histogram) -> Result<Finder> {
        let numbers = [ValueType::Long, ValueType::Double, ValueType::Date];
        let (column, field_type) = self.column_of(&own.field, &numbers)?;
        if !(own.interval > 0.0 && own.interval.is_finite() && own.offset.is_finite()) {
            return Err(self.wrong("needs an interval above 0, and a finite offset"));
        }
        let missing = self.number(field_type, own.common.missing.as_ref())?;
        Ok(Finder::Histogram(HistogramFinder {
            column,
            interval: own.interval,
            offset: own.offset,
            hard: own.common.hard_bounds,
            missing: missing.map(Number::nearest_double),
        }))
    }

    pub(super) fn dates(&mut self, own: &DateHistogram) -> Result<Finder> {
        let (column, field_type) = self.column_of(&own.field, &[ValueType::Date])?;
        if matches!(own.interval.step, Step::Fixed(length) if length <= 0) {
            return Err(self.wrong("needs an interval above 0"));
        }
        let missing = self.number(field_type, own.common.missing.as_ref())?;
        Ok(Finder::Dates(DatesFinder {
            column,
            interval: own.interval.clone(),
            hard: own.common.hard_bounds,
            missing: missing.and_then(Number::exact_long),
            last: (0, 0),
        }))
    }

    pub(super) fn composite(&mut self, own: &Composite) -> Result<CompositeNode> {
        if own.size == 0 || own.sources.is_empty() {
            return Err(self.wrong("needs a size of 1 or more, and sources"));
        }
        let mut sources = Vec::new();
        for source in &own.sources {
            sources.push(self.source(source)?);
        }
        let after = match &own.after {
            None => None,
            Some(after) if after.len() == sources.len() => {
                let keys = sources
                    .iter()
                    .zip(after)
                    .map(|(source, scalar)| match scalar {
                        None => Ok(Key::Missing),
                        Some(scalar) if source.field_type.has_strings() => {
                            let string = scalar_string(source.field_type, scalar);
                            let string = string
                                .ok_or_else(|| self.wrong("has an after key of another request"))?;
                            Ok(Key::Term(string.into()))
                        }
                        Some(scalar) => {
                            let number = self.number(source.field_type, Some(scalar))?;
                            let number = number.map(|own| source.after(own, scalar));
                            Ok(number.map_or(Key::Missing, |own| Key::Number(PortableNumber(own))))
                        }
                    });
                Some(keys.collect::<Result<Vec<Key>>>()?)
            }
            Some(_) => return Err(self.wrong("has an after key of another request")),
        };
        Ok(CompositeNode::new(sources, own.size, after))
    }

    fn source(&mut self, source: &Source) -> Result<SourceFinder> {
        let numbers = [ValueType::Long, ValueType::Double, ValueType::Date];
        let (kind, (column, field_type)) = match &source.kind {
            SourceKind::Terms => (SourceKeys::Terms, self.column(&source.field)?),
            SourceKind::Histogram { interval } if *interval > 0.0 => (
                SourceKeys::Histogram(*interval),
                self.column_of(&source.field, &numbers)?,
            ),
            SourceKind::Histogram { .. } => return Err(self.wrong("needs an interval above 0")),
            SourceKind::DateHistogram { interval, .. } => (
                SourceKeys::Dates(interval.clone(), (0, 0)),
                self.column_of(&source.field, &numbers[2..])?,
            ),
        };
        Ok(SourceFinder {
            column,
            field_type,
            kind,
            ascending: source.ascending,
            missing_bucket: source.missing_bucket,
        })
    }
}

/// Returns the numbers from the lower end up to below the upper one.
fn number_range<T>(range: &RangeOf<T>, number: impl Fn(&T) -> Number) -> NumberRange {
    NumberRange {
        lower: range
            .from
            .as_ref()
            .map_or(Bound::Unbounded, |own| Bound::Included(number(own))),
        upper: range
            .to
            .as_ref()
            .map_or(Bound::Unbounded, |own| Bound::Excluded(number(own))),
    }
}
