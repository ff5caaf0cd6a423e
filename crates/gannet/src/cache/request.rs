//! The requests of a query for pages, one by one, and their form as a line of a trace.
//!
//! A line has the number of the query's round, the zone, the page, its kind, and where it came
//! from, with tabs between. Whoever writes a trace puts the number of the query before it.

use std::fmt;
use std::str::FromStr;

use crate::storage::PageKind;

/// A request of a query for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Rounds of the query before the one that it is a part of. A page found in memory belongs to
    /// the round in which it would have been read.
    pub round: u32,
    /// Its zone.
    pub zone: u32,
    /// Its number in the zone.
    pub page: u32,
    /// The kind of the page.
    pub kind: PageKind,
    /// The place where it was found.
    pub source: PageSource,
}

/// The place where a page was found that a query asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSource {
    /// In memory.
    Memory,
    /// In the flash tier.
    Tier,
    /// On the device of the index.
    Device,
}

/// Names of kinds of pages.
const KINDS: [(PageKind, &str); 7] = [
    (PageKind::Log, "log"),
    (PageKind::Node, "node"),
    (PageKind::Postings, "postings"),
    (PageKind::Documents, "documents"),
    (PageKind::Table, "table"),
    (PageKind::Root, "root"),
    (PageKind::RootSlot, "slot"),
];

/// Names of places.
const SOURCES: [(PageSource, &str); 3] = [
    (PageSource::Memory, "memory"),
    (PageSource::Tier, "tier"),
    (PageSource::Device, "device"),
];

fn name<T: PartialEq>(names: &[(T, &'static str)], wanted: T) -> &'static str {
    let found = names.iter().find(|(one, _)| *one == wanted);
    found.map_or("", |(_, name)| name)
}

fn named<T: Copy>(names: &[(T, &str)], wanted: &str) -> Option<T> {
    let found = names.iter().find(|(_, name)| *name == wanted);
    found.map(|(one, _)| *one)
}

impl fmt::Display for PageRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PageRequest {
            round, zone, page, ..
        } = self;
        let (kind, source) = (name(&KINDS, self.kind), name(&SOURCES, self.source));
        write!(out, "{round}\t{zone}\t{page}\t{kind}\t{source}")
    }
}

impl FromStr for PageRequest {
    type Err = String;

    /// Reads a line as it is displayed.
    fn from_str(line: &str) -> Result<PageRequest, String> {
        let parts: Vec<&str> = line.split('\t').collect();
        let [round, zone, page, kind, source] = parts[..] else {
            return Err(format!(
                "expected round, zone, page, kind and source with tabs between, found {line:?}"
            ));
        };
        let number = |text: &str| {
            let number = text.parse::<u32>();
            number.map_err(|_| format!("expected a number below 2^32, found {text:?}"))
        };
        Ok(PageRequest {
            round: number(round)?,
            zone: number(zone)?,
            page: number(page)?,
            kind: named(&KINDS, kind).ok_or_else(|| format!("{kind:?} is no kind of page"))?,
            source: named(&SOURCES, source)
                .ok_or_else(|| format!("expected memory, tier or device, found {source:?}"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_gives_the_request_again() {
        for kind in PageKind::ALL {
            for (source, _) in SOURCES {
                let request = PageRequest {
                    round: 3,
                    zone: 70_000,
                    page: u32::MAX,
                    kind: *kind,
                    source,
                };
                assert_eq!(request.to_string().parse(), Ok(request));
            }
        }
        for wrong in [
            "",
            "1\t2\t3\tnode",
            "1\t2\t-3\tnode\ttier",
            "1\t2\t3\ttree\ttier",
        ] {
            assert!(wrong.parse::<PageRequest>().is_err(), "{wrong}");
        }
    }
}
