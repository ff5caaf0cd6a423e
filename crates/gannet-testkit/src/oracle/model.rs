//! The documents of the oracle: for each field a vector of tokens.

use std::collections::HashMap;

use gannet::{Analyzer, Query, Scratch};

use super::bm25::Totals;
use super::check::Rejection;
use super::evaluate::Answer;
use super::view::{Seen, View};

/// Positions between two values of one field.
const GAP: u32 = 100;

/// Bytes of the longest term that is indexed.
const TERM_BYTES_MAX: usize = 1_020;

/// A value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A number or a boolean, spelled as its one term.
    Exact(String),
}

/// A document as the oracle takes it: fields in order, a name several times for several values.
#[derive(Clone, Debug)]
pub struct PlainDocument {
    /// The external ID.
    pub id: String,
    /// Names and values.
    pub fields: Vec<(String, Value)>,
}

/// A field that documents may have, known from the start.
#[derive(Clone, Copy, Debug)]
pub struct PlainField {
    /// Its name.
    pub name: &'static str,
    /// The analyzer, or nothing if the field holds numbers or booleans.
    pub analyzer: Option<&'static str>,
}

/// One occurrence of a term.
#[derive(Clone, Copy)]
pub struct Occurrence {
    /// The term, by its number in the field.
    pub term: usize,
    /// The position in the text.
    pub position: u32,
}

/// A document; `fields` runs parallel to the fields of the model.
pub struct Stored {
    /// The external ID.
    pub id: String,
    /// Set once it was deleted or replaced.
    pub deleted: bool,
    /// For each field the occurrences of its terms.
    pub fields: Vec<Vec<Occurrence>>,
}

/// A field with all terms that any document ever had in it.
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Set if it has text, not numbers and booleans.
    pub is_text: bool,
    /// The analyzer that makes terms of its text.
    pub analyzer: Analyzer,
    /// The terms; their numbers are the places here.
    pub terms: Vec<String>,
    numbers: HashMap<String, usize>,
}

/// Counts of a field; terms that no document has any more are gone.
#[derive(Clone, Default)]
pub struct Statistics {
    frequencies: Vec<u64>,
    /// Documents and their lengths.
    pub totals: Totals,
}

/// All documents in the order in which they were written.
pub struct Model {
    /// The fields.
    pub fields: Vec<Field>,
    /// The counts of each field.
    pub statistics: Vec<Statistics>,
    /// The documents.
    pub documents: Vec<Stored>,
}

impl Model {
    /// A model without documents.
    pub fn new(fields: &[PlainField]) -> Model {
        Model {
            fields: fields.iter().map(Field::new).collect(),
            statistics: vec![Statistics::default(); fields.len()],
            documents: Vec::new(),
        }
    }

    /// The documents that are not deleted and match `query`.
    pub fn answer(&self, query: &Query) -> Result<Answer, Rejection> {
        self.view().answer(query)
    }

    /// The documents and statistics that queries are asked of.
    pub fn view(&self) -> View<'_> {
        let documents = self.documents.iter().enumerate();
        let seen = documents.map(|(number, document)| Seen {
            number,
            is_live: !document.deleted,
            fields: &document.fields,
        });
        View {
            fields: &self.fields,
            statistics: &self.statistics,
            documents: seen.collect(),
        }
    }

    /// Adds a document; one with the same ID is deleted.
    pub fn write(&mut self, document: &PlainDocument) {
        self.delete(&document.id);
        let fields = take(&mut self.fields, document);
        for (statistics, occurrences) in self.statistics.iter_mut().zip(&fields) {
            statistics.count(occurrences);
        }
        self.documents.push(Stored {
            id: document.id.clone(),
            deleted: false,
            fields,
        });
    }

    /// Deletes a document, which goes on to count in the statistics.
    pub fn delete(&mut self, id: &str) {
        for document in &mut self.documents {
            document.deleted |= document.id == id;
        }
    }

    /// The documents that are deleted.
    pub fn dead(&self) -> Vec<usize> {
        let documents = self.documents.iter().enumerate();
        let dead = documents.filter(|(_, document)| document.deleted);
        dead.map(|(number, _)| number).collect()
    }

    /// Takes deleted documents out of the statistics. Terms that no other has are gone.
    pub fn vacuum(&mut self, dead: &[usize]) {
        for document in dead {
            let fields = std::mem::take(&mut self.documents[*document].fields);
            for (statistics, occurrences) in self.statistics.iter_mut().zip(&fields) {
                statistics.forget(occurrences);
            }
            self.documents[*document].fields = vec![Vec::new(); fields.len()];
        }
    }
}

/// The tokens of a document, by field.
pub fn take(fields: &mut [Field], document: &PlainDocument) -> Vec<Vec<Occurrence>> {
    let fields = fields.iter_mut();
    fields.map(|field| field.take(document)).collect()
}

impl Statistics {
    /// The number of documents that have a term.
    pub fn frequency(&self, term: usize) -> u64 {
        self.frequencies.get(term).copied().unwrap_or(0)
    }

    /// Returns true if any document has a term.
    pub fn has(&self, term: usize) -> bool {
        self.frequency(term) > 0
    }

    /// Counts a document with these tokens.
    pub fn count(&mut self, occurrences: &[Occurrence]) {
        if occurrences.is_empty() {
            return;
        }
        self.totals.documents += 1;
        self.totals.tokens += occurrences.len() as u64;
        for term in distinct(occurrences) {
            if self.frequencies.len() <= term {
                self.frequencies.resize(term + 1, 0);
            }
            self.frequencies[term] += 1;
        }
    }

    /// No longer counts a document with these tokens.
    pub fn forget(&mut self, occurrences: &[Occurrence]) {
        if occurrences.is_empty() {
            return;
        }
        self.totals.documents -= 1;
        self.totals.tokens -= occurrences.len() as u64;
        for term in distinct(occurrences) {
            self.frequencies[term] -= 1;
        }
    }
}

impl Field {
    /// A field without terms.
    pub fn new(plain: &PlainField) -> Field {
        let analyzer = plain.analyzer.unwrap_or("keyword");
        Field {
            name: plain.name,
            is_text: plain.analyzer.is_some(),
            analyzer: Analyzer::named(analyzer).expect("an analyzer of this name"),
            terms: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// The tokens of `text`.
    pub fn analyze(&self, text: &str) -> Vec<(String, u32)> {
        let mut tokens = Vec::new();
        self.analyzer
            .analyze(text, &mut Scratch::default(), |token| {
                tokens.push((token.text.to_owned(), token.position));
            });
        tokens
    }

    /// The number of a term, if any document ever had it.
    pub fn number(&self, term: &str) -> Option<usize> {
        self.numbers.get(term).copied()
    }

    /// Returns true if its values are terms as a whole.
    fn is_whole(&self) -> bool {
        !self.is_text || self.analyzer.name() == "keyword"
    }

    /// The length that scores take of a document with these tokens: of whole values 1.
    pub fn scored_length(&self, tokens: &[Occurrence]) -> u32 {
        if self.is_whole() {
            1
        } else {
            tokens.len() as u32
        }
    }

    /// The tokens of a document in this field.
    fn take(&mut self, document: &PlainDocument) -> Vec<Occurrence> {
        let mut occurrences = Vec::new();
        let mut start = 0;
        for (name, value) in &document.fields {
            if name == self.name {
                start = self.take_value(value, start, &mut occurrences);
            }
        }
        occurrences
    }

    /// Appends one value and tells where the next one starts.
    fn take_value(&mut self, value: &Value, start: u32, out: &mut Vec<Occurrence>) -> u32 {
        let (tokens, taken) = match value {
            Value::Exact(term) => (vec![(term.clone(), 0)], 1),
            Value::Text(text) => (self.analyze(text), self.positions(text)),
        };
        for (term, position) in tokens {
            if (1..=TERM_BYTES_MAX).contains(&term.len()) {
                let position = start + position;
                let term = self.number_or_new(term);
                // A document has a value once that is a term as a whole.
                if self.is_whole() && out.iter().any(|other| other.term == term) {
                    continue;
                }
                out.push(Occurrence { term, position });
            }
        }
        start + taken + GAP
    }

    /// The number of positions that a text takes up, words that are left out at its end included.
    pub fn positions(&self, text: &str) -> u32 {
        self.analyzer.analyze(text, &mut Scratch::default(), |_| {})
    }

    fn number_or_new(&mut self, term: String) -> usize {
        let next = self.terms.len();
        let number = *self.numbers.entry(term.clone()).or_insert(next);
        if number == next {
            self.terms.push(term);
        }
        number
    }
}

/// The terms of some occurrences, each once.
fn distinct(occurrences: &[Occurrence]) -> Vec<usize> {
    let mut terms: Vec<usize> = occurrences.iter().map(|one| one.term).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}
