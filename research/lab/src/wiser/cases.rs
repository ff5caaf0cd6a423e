//! The cases that are compared: the paper's, the paper's without each technique, and the layout of
//! Elasticsearch.

use super::documents::Stored;
use super::pages::Prefetch;
use super::query::Filters;
use crate::queries::Kind;

/// Bytes of the smallest prefetch zone, as printed.
pub const THRESHOLD: u64 = 128 << 10;

/// Pages of a segment of a prefetch zone. The paper gives none; Linux reads ahead as much.
const SEGMENT: u32 = 32;

/// Pages of a segment under the scaled threshold. They are not scaled: a segment of one page would
/// read nothing ahead.
const SHORT_SEGMENT: u32 = 8;

/// Documents of the paper's corpus.
const PAPER_DOCUMENTS: u64 = 6_000_000;

/// The threshold by which lists of so many documents prefetch as those of the paper's.
pub fn scaled_threshold(documents: u64) -> u64 {
    THRESHOLD * documents / PAPER_DOCUMENTS
}

/// What is switched.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name in results.
    pub name: &'static str,
    /// All of a list in one place.
    pub is_grouped: bool,
    /// Whether term entries are in memory.
    pub entries_in_memory: bool,
    /// When filters are asked.
    pub filters: Filters,
    /// What is read beside a page that is missing.
    pub prefetch: Prefetch,
    /// How documents are stored.
    pub stored: Stored,
}

/// As published.
const PUBLISHED: Case = Case {
    name: "published",
    is_grouped: true,
    entries_in_memory: true,
    filters: Filters::CostAware,
    prefetch: Prefetch::Adaptive {
        threshold: THRESHOLD,
        segment: SEGMENT,
    },
    stored: Stored::Aligned,
};

/// Elasticsearch's layout, without read-ahead.
const BY_STAGE: Case = Case {
    name: "elasticsearch",
    is_grouped: false,
    entries_in_memory: false,
    filters: Filters::Off,
    prefetch: Prefetch::Off,
    stored: Stored::Groups,
};

/// All of them, for lists of so many documents; the published one is the first.
pub fn cases(documents: u64) -> [Case; 14] {
    let scaled = Prefetch::Adaptive {
        threshold: scaled_threshold(documents),
        segment: SHORT_SEGMENT,
    };
    [
        PUBLISHED,
        Case {
            name: "no filters",
            filters: Filters::Off,
            ..PUBLISHED
        },
        Case {
            name: "plain filters",
            filters: Filters::Plain,
            ..PUBLISHED
        },
        Case {
            name: "filters without the rule",
            filters: Filters::TwoWay,
            ..PUBLISHED
        },
        Case {
            name: "no grouping",
            is_grouped: false,
            ..PUBLISHED
        },
        Case {
            name: "entries on the device",
            entries_in_memory: false,
            ..PUBLISHED
        },
        Case {
            name: "no grouping, entries on the device",
            is_grouped: false,
            entries_in_memory: false,
            ..PUBLISHED
        },
        Case {
            name: "no prefetch",
            prefetch: Prefetch::Off,
            ..PUBLISHED
        },
        Case {
            name: "scaled prefetch",
            prefetch: scaled,
            ..PUBLISHED
        },
        Case {
            name: "read-ahead of 128 KiB",
            prefetch: Prefetch::Fixed,
            ..PUBLISHED
        },
        Case {
            name: "no alignment",
            stored: Stored::Alone,
            ..PUBLISHED
        },
        Case {
            name: "documents in groups",
            stored: Stored::Groups,
            ..PUBLISHED
        },
        BY_STAGE,
        Case {
            name: "elasticsearch, read-ahead",
            prefetch: Prefetch::Fixed,
            ..BY_STAGE
        },
    ]
}

impl Case {
    /// Whether the case says something of queries of a kind.
    pub fn is_for(&self, kind: Kind) -> bool {
        kind == Kind::Phrase || !matches!(self.filters, Filters::Plain | Filters::TwoWay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_follows_the_documents_of_the_run() {
        assert_eq!(scaled_threshold(PAPER_DOCUMENTS), THRESHOLD);
        assert_eq!(scaled_threshold(180_000), 3_932);
        let prefetch = |documents| {
            let cases = cases(documents);
            let case = cases.iter().find(|case| case.name == "scaled prefetch");
            case.unwrap().prefetch
        };
        for documents in [6_000, 540_000] {
            let threshold = scaled_threshold(documents);
            let segment = SHORT_SEGMENT;
            assert_eq!(
                prefetch(documents),
                Prefetch::Adaptive { threshold, segment }
            );
        }
        assert_eq!(cases(1)[0].name, "published");
    }
}
