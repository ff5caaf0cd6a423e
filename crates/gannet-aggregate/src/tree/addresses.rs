//! Ranges of internet addresses: the documents of each are those of a filter.

use gannet_values::{Address, AddressRange};
use serde_json::{Map, Value, json};

use super::members::Members;
use super::{Aggregations, FilterId, Kind};
use crate::error::{Error, Result};

/// The most ranges of an aggregation.
const RANGES_MAX: usize = 1_024;

/// A bucket for each range of addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct IpRanges {
    /// The field.
    pub field: String,
    /// The ranges.
    pub ranges: Vec<IpRange>,
    /// If the answer is an object by key.
    pub keyed: bool,
}

/// A range of addresses. It holds its lower end and not its upper one.
#[derive(Clone, Debug, PartialEq)]
pub struct IpRange {
    /// The key in the answer, if it is not to be made of the ends.
    pub key: Option<String>,
    /// The lower end, which is included.
    pub from: Option<Address>,
    /// The upper end, which is excluded.
    pub to: Option<Address>,
    /// The filter that has its documents.
    pub filter: FilterId,
}

impl IpRange {
    /// Returns the key in the answer.
    pub(crate) fn name(&self) -> String {
        let end = |end: Option<Address>| end.map_or("*".to_owned(), |end| end.to_string());
        let made = || format!("{}-{}", end(self.from), end(self.to));
        self.key.clone().unwrap_or_else(made)
    }
}

impl Aggregations {
    /// Gives numbers to the filters of ranges of addresses: `number` is asked for each, with its
    /// field.
    pub fn number_addresses(&mut self, number: &mut dyn FnMut(&str, &IpRange) -> FilterId) {
        for own in &mut self.list {
            if let Kind::IpRange(ranges) = &mut own.kind {
                for range in &mut ranges.ranges {
                    range.filter = number(&ranges.field, range);
                }
            }
            own.children.number_addresses(number);
        }
    }
}

/// Reads ranges of addresses, which have no filters yet.
pub(super) fn ip_ranges(members: &mut Members<'_>) -> Result<IpRanges> {
    let list = members.list("ranges")?.map(Vec::as_slice);
    let list = list.unwrap_or_default();
    if list.is_empty() || list.len() > RANGES_MAX {
        return Err(members.wrong("ranges", &format!("a list of 1 to {RANGES_MAX} ranges")));
    }
    let mut ranges = Vec::new();
    for value in list {
        let mut own = Members::of(format!("a range of {}", members.of), value)?;
        ranges.push(ip_range(&mut own)?);
        own.end()?;
    }
    ranges.sort_by_key(|range: &IpRange| (range.from, range.to.is_none(), range.to));
    Ok(IpRanges {
        field: members.field()?,
        ranges,
        keyed: members.boolean("keyed")?,
    })
}

fn ip_range(own: &mut Members<'_>) -> Result<IpRange> {
    let key = own.string("key")?.map(str::to_owned);
    let mask = own.string("mask")?;
    let mut end = |name: &'static str| -> Result<Option<Address>> {
        let Some(text) = own.string(name)? else {
            return Ok(None);
        };
        let address = Address::parse(text);
        address
            .map(Some)
            .ok_or_else(|| own.wrong(name, "an internet address"))
    };
    let (from, to) = (end("from")?, end("to")?);
    let Some(mask) = mask else {
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            let text = format!("{} is upside down: from is above to", own.of);
            return Err(Error::request(text));
        }
        return Ok(IpRange {
            key,
            from,
            to,
            filter: FilterId::MAX,
        });
    };
    let network = AddressRange::parse(mask).filter(|_| mask.contains('/'));
    let network = network.filter(|_| from.is_none() && to.is_none());
    let network = network.ok_or_else(|| {
        own.wrong(
            "mask",
            "a network such as 10.0.0.0/8, without from and to beside it",
        )
    })?;
    Ok(IpRange {
        key: Some(key.unwrap_or_else(|| mask.to_owned())),
        // As in Elasticsearch the first and the last of all addresses are open ends.
        from: Some(network.first).filter(|first| first.to_bits() > 0),
        to: network.last.next(),
        filter: FilterId::MAX,
    })
}

/// Returns the JSON that is read.
pub(super) fn ip_ranges_json(own: &IpRanges) -> Value {
    let ranges = own.ranges.iter().map(|range| {
        let mut members = Map::new();
        if let Some(key) = &range.key {
            members.insert("key".to_owned(), json!(key));
        }
        for (name, end) in [("from", range.from), ("to", range.to)] {
            if let Some(end) = end {
                members.insert(name.to_owned(), json!(end.to_string()));
            }
        }
        Value::Object(members)
    });
    let ranges: Vec<Value> = ranges.collect();
    let mut object = json!({ "field": own.field, "ranges": ranges });
    if own.keyed {
        object["keyed"] = json!(true);
    }
    object
}
