//! Statistics of a query: the counts that its scores take from the whole index.
//!
//! Several indexes answer like one if each ranks with the sums of all: the documents and tokens of
//! each field, the documents of each term, and the terms that each fuzzy term stands for. Nothing
//! else in a score depends on other documents. Fields go by their names, since each index numbers
//! its own.

mod json;

use std::collections::BTreeMap;

use crate::base::{Error, Result};
use crate::search::scoring::field::FieldStatistics;

/// The most names that an error shows.
const NAMES_SHOWN: usize = 3;

/// The counts that the scores of a query, or of several, take from an index; see
/// [`Snapshot::statistics`](crate::Snapshot::statistics).
///
/// [`QueryStatistics::merge`] adds those of other documents. A search that is given the sum ranks
/// as one index of all the documents does. A deleted document counts until a vacuum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryStatistics {
    fields: BTreeMap<String, FieldCounts>,
}

/// The counts of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FieldCounts {
    whole: FieldStatistics,
    /// The documents of each term that scores.
    terms: BTreeMap<String, u64>,
    /// Fuzzy terms as they were written, with what they stand for.
    similar: BTreeMap<String, SimilarTerms>,
}

/// The terms that a fuzzy term stands for, with their documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimilarTerms {
    /// Set if there may be more.
    pub is_cut: bool,
    /// The terms.
    pub terms: BTreeMap<String, u64>,
}

impl QueryStatistics {
    /// The names of the fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// Documents that have a field, and tokens in it over all documents.
    pub fn field(&self, field: &str) -> Option<(u64, u64)> {
        let whole = self.whole(field)?;
        Some((whole.documents, whole.total_length))
    }

    /// Documents in which a term is, if it is one that scores.
    pub fn document_frequency(&self, field: &str, term: &str) -> Option<u64> {
        self.fields.get(field)?.terms.get(term).copied()
    }

    /// Adds the counts of the same queries on other documents. A field that only one side has is
    /// taken as it is.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if they are of other queries, or of an index that cuts a field into other
    /// terms. Nothing is added then.
    pub fn merge(&mut self, others: &QueryStatistics) -> Result<()> {
        for (name, counts) in &others.fields {
            let known = self.fields.get(name);
            known.map_or(Ok(()), |known| known.check_same(counts, name))?;
        }
        for (name, counts) in &others.fields {
            self.fields.entry(name.clone()).or_default().add(counts);
        }
        Ok(())
    }

    /// Takes what another query counts in the same documents.
    pub(crate) fn join(&mut self, other: QueryStatistics) {
        for (name, counts) in other.fields {
            let known = self.fields.entry(name).or_default();
            known.whole = counts.whole;
            known.terms.extend(counts.terms);
            known.similar.extend(counts.similar);
        }
    }

    /// The counts of a whole field.
    pub(crate) fn whole(&self, field: &str) -> Option<FieldStatistics> {
        self.fields.get(field).map(|counts| counts.whole)
    }

    /// The terms that a fuzzy term stands for in a field.
    pub(crate) fn similar(&self, field: &str, written: &str) -> Option<&SimilarTerms> {
        self.fields.get(field)?.similar.get(written)
    }

    /// Notes a field.
    pub(crate) fn note_field(&mut self, field: &str, whole: FieldStatistics) {
        self.counts(field).whole = whole;
    }

    /// Notes the documents of a term.
    pub(crate) fn note_term(&mut self, field: &str, term: &str, documents: u64) {
        self.counts(field).terms.insert(term.to_owned(), documents);
    }

    /// Notes what a fuzzy term stands for.
    pub(crate) fn note_similar(&mut self, field: &str, written: &str, similar: SimilarTerms) {
        let known = &mut self.counts(field).similar;
        known.insert(written.to_owned(), similar);
    }

    fn counts(&mut self, field: &str) -> &mut FieldCounts {
        self.fields.entry(field.to_owned()).or_default()
    }
}

impl FieldCounts {
    /// Checks that the same was counted.
    fn check_same(&self, other: &FieldCounts, field: &str) -> Result<()> {
        check_same(self.terms.keys(), other.terms.keys(), field)?;
        check_same(self.similar.keys(), other.similar.keys(), field)
    }

    fn add(&mut self, other: &FieldCounts) {
        let FieldStatistics {
            documents,
            total_length,
        } = &mut self.whole;
        *documents = documents.saturating_add(other.whole.documents);
        *total_length = total_length.saturating_add(other.whole.total_length);
        add(&mut self.terms, &other.terms);
        for (written, similar) in &other.similar {
            let known = self.similar.entry(written.clone()).or_default();
            known.is_cut |= similar.is_cut;
            add(&mut known.terms, &similar.terms);
        }
    }
}

fn add(counts: &mut BTreeMap<String, u64>, others: &BTreeMap<String, u64>) {
    for (term, documents) in others {
        let count = counts.entry(term.clone()).or_default();
        *count = count.saturating_add(*documents);
    }
}

fn check_same<'a>(
    one: impl Iterator<Item = &'a String> + Clone,
    other: impl Iterator<Item = &'a String> + Clone,
    field: &str,
) -> Result<()> {
    let (mut one, mut other) = (one, other);
    loop {
        let (a, b) = match (one.next(), other.next()) {
            (None, None) => return Ok(()),
            (a, b) if a == b => continue,
            (a, b) => (a, b),
        };
        let names = [a, b]
            .into_iter()
            .flatten()
            .map(|name| format!("{name:.40?}"));
        let names: Vec<String> = names.take(NAMES_SHOWN).collect();
        return Err(Error::invalid(format!(
            "statistics of other terms of field {field:?} cannot be added ({}): add those of the same query, \
             on indexes with the same analyzers",
            names.join(" beside ")
        )));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(documents: u64, terms: &[(&str, u64)]) -> QueryStatistics {
        let mut statistics = QueryStatistics::default();
        let total_length = 10 * documents;
        statistics.note_field(
            "body",
            FieldStatistics {
                documents,
                total_length,
            },
        );
        for (term, documents) in terms {
            statistics.note_term("body", term, *documents);
        }
        let similar = SimilarTerms {
            is_cut: documents > 5,
            terms: terms.iter().map(|(t, d)| ((*t).to_owned(), *d)).collect(),
        };
        statistics.note_similar("body", "sea~", similar);
        statistics
    }

    #[test]
    fn statistics_add_up() {
        let mut sum = counted(3, &[("sea", 2), ("fish", 0)]);
        sum.merge(&counted(7, &[("sea", 5), ("fish", 1)])).unwrap();
        assert_eq!(sum, counted(10, &[("sea", 7), ("fish", 1)]));
        assert_eq!(sum.field("body"), Some((10, 100)));
        assert_eq!(sum.document_frequency("body", "sea"), Some(7));
        let before = sum.clone();
        sum.merge(&QueryStatistics::default()).unwrap();
        assert_eq!(sum, before);
    }

    #[test]
    fn those_of_other_queries_cannot_be_added() {
        let mut sum = counted(3, &[("sea", 2)]);
        let before = sum.clone();
        let error = sum.merge(&counted(3, &[("fish", 2)])).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("\"body\"") && error.contains("fish"),
            "{error}"
        );
        assert_eq!(sum, before);
    }

    #[test]
    fn what_was_written_is_read_again() {
        let statistics = counted(7, &[("sea", 5), ("a \"quoted\" \u{1f40b}", 1)]);
        let text = statistics.to_json();
        assert_eq!(QueryStatistics::from_json(&text).unwrap(), statistics);
        let none = QueryStatistics::default();
        assert_eq!(QueryStatistics::from_json(&none.to_json()).unwrap(), none);
    }

    #[test]
    fn bad_input_is_told() {
        let good = counted(7, &[("sea", 5)]).to_json();
        let changed = |from: &str, to: &str| {
            assert!(good.contains(from), "{good}");
            QueryStatistics::from_json(&good.replacen(from, to, 1))
                .unwrap_err()
                .to_string()
        };
        for (from, to, told) in [
            ("{", "", "no JSON"),
            ("\"version\":1", "\"version\":2", "version 2"),
            ("\"version\":1", "\"version\":\"1\"", "version"),
            ("\"fields\"", "\"felder\"", "fields is missing"),
            ("\"fields\"", "\"felder\":1,\"fields\"", "felder is unknown"),
            ("\"fields\":{", "\"fields\":7,\"x\":{", "fields"),
            (
                "\"documents\":7",
                "\"documents\":-7",
                "fields.body.documents",
            ),
            (
                "\"documents\":7",
                "\"documents\":7.5",
                "fields.body.documents",
            ),
            ("\"documents\":7", "\"documents\":71", "fewer tokens"),
            ("\"documents\":7", "\"documents\":4", "sea"),
            ("\"tokens\":70", "\"tokens\":9007199254740993", "tokens"),
            ("\"tokens\":70", "\"tokens\":null", "fields.body.tokens"),
            ("\"tokens\":70,", "", "tokens"),
            ("\"cut\":true", "\"cut\":1", "cut"),
        ] {
            let error = changed(from, to);
            assert!(error.contains(told), "{from} -> {to}: {error}");
        }
        let error = QueryStatistics::from_json(&" ".repeat(17 << 20)).unwrap_err();
        assert!(error.to_string().contains("bytes"), "{error}");
    }
}
