//! The values of a batch of documents, as any thread finds them; which columns they go to is not
//! decided yet.

use crate::analysis::FieldId;

/// The most values that a document has in a column.
pub const VALUES_MAX: usize = 100;

/// The longest string in a keyword column beside words, in bytes. Longer ones are texts.
pub const TEXT_BYTES_MAX: usize = 256;

/// The longest string in a keyword column of whole strings, in bytes, as of a term.
pub const KEYWORD_BYTES_MAX: usize = 1_020;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FoundValue {
    /// A whole number.
    Whole(i64),
    /// A whole number that has no 64 bits, as a fraction.
    Beyond(f64),
    /// A number that is not whole.
    Fraction(f64),
    /// A boolean.
    Boolean(bool),
    /// A string, in the bytes of the batch.
    Text {
        /// Where it begins.
        at: u32,
        /// Its length.
        length: u32,
        /// Milliseconds, if it is spelled as a date.
        date: Option<i64>,
    },
    /// A number or a boolean as it is spelled, in a field of strings; in the bytes of the batch.
    Spelled {
        /// Where it begins.
        at: u32,
        /// Its length.
        length: u32,
    },
    /// A string that is too long.
    LongText,
    /// Values that fit nothing, so many.
    Misfits(u32),
}

/// The values of the documents of a batch, in the order of the documents, and of a document by
/// field.
#[derive(Debug, Default)]
pub struct FoundValues {
    values: Vec<(u32, FieldId, FoundValue)>,
    texts: Vec<u8>,
    /// Where the document that is being added begins.
    document: usize,
    /// By field: how many values, and how many bytes of strings.
    counts: Vec<FoundCounts>,
    /// The fields that have any.
    counted: Vec<FieldId>,
}

/// Counts of the values of a field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FoundCounts {
    /// Values that columns may take.
    pub(super) values: usize,
    /// Bytes of strings among them.
    pub(super) bytes: usize,
}

impl FoundValues {
    /// Adds a value of a document, which is the newest.
    pub fn add(&mut self, document: u32, field: FieldId, value: FoundValue) {
        self.values.push((document, field, value));
    }

    /// Adds a string.
    pub fn add_text(&mut self, document: u32, field: FieldId, text: &str, date: Option<i64>) {
        let at = self.texts.len() as u32;
        self.texts.extend_from_slice(text.as_bytes());
        let length = text.len() as u32;
        self.add(document, field, FoundValue::Text { at, length, date });
    }

    /// Adds a number or a boolean of a field of strings.
    pub fn add_spelled(&mut self, document: u32, field: FieldId, text: &str) {
        let at = self.texts.len() as u32;
        self.texts.extend_from_slice(text.as_bytes());
        let length = text.len() as u32;
        self.add(document, field, FoundValue::Spelled { at, length });
    }

    /// Ends a document: its values stand by field from now on. Where a field has more than a
    /// document may have, none of them counts.
    pub fn end_document(&mut self) {
        let own = &mut self.values[self.document..];
        own.sort_by_key(|(_, field, _)| *field);
        let crowded = own
            .chunk_by(|a, b| a.1 == b.1)
            .any(|run| run.len() > VALUES_MAX);
        if crowded {
            self.leave_crowds_out();
        }
        for (_, field, value) in &self.values[self.document..] {
            let bytes = match value {
                FoundValue::LongText | FoundValue::Misfits(_) => continue,
                FoundValue::Text { length, .. } | FoundValue::Spelled { length, .. } => {
                    *length as usize
                }
                _ => 0,
            };
            let at = *field as usize;
            if self.counts.len() <= at {
                self.counts.resize(at + 1, FoundCounts::default());
            }
            let counts = &mut self.counts[at];
            if counts.values == 0 {
                self.counted.push(*field);
            }
            counts.values += 1;
            counts.bytes += bytes;
        }
        self.document = self.values.len();
    }

    #[cold]
    fn leave_crowds_out(&mut self) {
        let own = self.values.split_off(self.document);
        for run in own.chunk_by(|a, b| a.1 == b.1) {
            match run {
                [(document, field, _), ..] if run.len() > VALUES_MAX => {
                    let misfits = FoundValue::Misfits(run.len() as u32);
                    self.values.push((*document, *field, misfits));
                }
                few => self.values.extend_from_slice(few),
            }
        }
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the number of values that columns may take.
    pub fn counted(&self) -> usize {
        self.counts().map(|(_, counts)| counts.values).sum()
    }

    /// All values: the document in the batch, the field, the value.
    pub fn all(&self) -> &[(u32, FieldId, FoundValue)] {
        &self.values
    }

    /// The bytes of a string.
    pub fn text(&self, at: u32, length: u32) -> &[u8] {
        let range = at as usize..at as usize + length as usize;
        self.texts.get(range).unwrap_or_default()
    }

    /// The counts of each field that has values.
    pub(super) fn counts(&self) -> impl Iterator<Item = (FieldId, FoundCounts)> + '_ {
        let of = |field: &FieldId| (*field, self.counts[*field as usize]);
        self.counted.iter().map(of)
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> usize {
        let values = self.values.capacity() * size_of::<(u32, FieldId, FoundValue)>();
        let counts = self.counts.capacity() * size_of::<FoundCounts>();
        let counted = self.counted.capacity() * size_of::<FieldId>();
        values + counts + counted + self.texts.capacity()
    }
}
