//! Prepares documents before their turn: analysis, inversion and compression.
//!
//! Batches are prepared side by side by any number of threads and written in order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

use gannet_values::{Address, format_date};

use super::content::{BatchContent, find_misfit, find_value};
use super::fields::{Fields, FieldsInUse};
use crate::analysis::{
    Analyzer, Field, FieldId, FieldKind, Schema, SchemaOptions, Scratch, Token, term_key,
};
use crate::base::{Budget, ByteReader, Error, Reservation, Result};
use crate::columns::{Columns, FoundValues, VALUES_MAX};
use crate::documents::{Compressor, Dictionaries, Document, Expected, Trainer, Value};
use crate::postings::Inverter;

/// Positions between two values of one field, so that no phrase spans them.
const POSITION_GAP: u32 = 100;

/// The longest term in bytes; longer ones are not indexed.
const TERM_BYTES_MAX: usize = 1_020;

/// The state for preparing documents, shared by all threads.
pub(crate) struct Preparation {
    pub(crate) fields: Fields,
    trainer: Mutex<Option<Trainer>>,
    /// Bytes of the longest source.
    document_bytes_max: usize,
    dictionaries: Arc<RwLock<Dictionaries>>,
    /// The decisions on columns: those that were given up take no values.
    columns: RwLock<Arc<Columns>>,
    /// Set if a dictionary is trained on a thread of its own.
    beside: bool,
    ids: MadeIds,
}

/// External IDs for documents that bring none: a number of this opening, drawn at random, and a
/// count.
struct MadeIds {
    opening: u64,
    count: AtomicU64,
}

/// The tools of one thread; kept from batch to batch.
#[derive(Default)]
pub struct Workbench {
    inverter: Inverter,
    values: FoundValues,
    scratch: Scratch,
    compressor: Option<Compressor>,
    key: Vec<u8>,
    /// Fields of numbers to which the last document gave text.
    given_text: Vec<FieldId>,
}

/// Documents that are ready to be written.
#[derive(Default)]
pub struct PreparedBatch {
    pub(crate) documents: Vec<PreparedDocument>,
    pub(crate) content: BatchContent,
    pub(crate) schema: Arc<Schema>,
    pub(crate) dictionaries: Dictionaries,
    pub(crate) source_bytes: u64,
    _fields: FieldsInUse,
    pub(crate) rejected: Vec<(usize, Error)>,
    given_text: Vec<(usize, String)>,
    /// Documents that brought no external ID.
    ids_made: u64,
    /// Bytes of memory that the documents take, without their postings.
    held: usize,
}

/// A document as it comes.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    Parsed(&'a Document),
    /// JSON.
    Line(&'a [u8]),
}

/// The length of each indexed field of one document, in tokens.
pub(crate) type FieldLengths = Vec<(FieldId, u32)>;

pub(crate) struct PreparedDocument {
    pub(crate) id: String,
    pub(crate) source_length: usize,
    pub(crate) compressed: Vec<u8>,
    pub(crate) dictionary: u32,
    pub(crate) id_in_source: bool,
    pub(crate) lengths: FieldLengths,
    pub(crate) expected: Option<Expected>,
    pub(crate) version: Option<u64>,
}

impl PreparedBatch {
    /// Number of documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Documents that brought no external ID, so that one was made.
    pub fn ids_made(&self) -> u64 {
        self.ids_made
    }

    /// The documents that could not be prepared: their places in the batch as it was given, and
    /// why.
    pub fn rejected(&self) -> &[(usize, Error)] {
        &self.rejected
    }

    /// Fails with the error of the first document that could not be prepared.
    pub(crate) fn check_whole(&self) -> Result<()> {
        match self.rejected.first() {
            Some((_, error)) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// The fields that match exactly, since their first value was a number or a boolean, to which
    /// documents of this batch give text: the place of the first such document in the batch as it
    /// was given, and the name. The words of this text are not found, only all of it.
    pub fn given_text(&self) -> &[(usize, String)] {
        &self.given_text
    }

    /// Notes the fields of numbers to which the document at `place` gave text.
    fn note_text(&mut self, place: usize, fields: &mut Vec<FieldId>) {
        for field in fields.drain(..) {
            let name = self.schema.field(field).map(|field| field.name.as_str());
            let Some(name) = name.filter(|name| !self.given_text.iter().any(|(_, n)| n == name))
            else {
                continue;
            };
            self.given_text.push((place, name.to_owned()));
        }
    }

    /// Adds a document. Where memory is lacking, the whole batch fails.
    fn add(
        &mut self,
        bench: &mut Workbench,
        fields: (&Schema, &Columns),
        id: String,
        document: &Document,
    ) -> Result<()> {
        let bound = Compressor::bound(document.source.len());
        bench.hold(self.held + document.memory_bytes() + bound)?;
        let compressor = bench.compressor(&self.dictionaries)?;
        let compressed = compressor.compress(&document.source)?.to_vec();
        let lengths = bench.invert(fields, self.documents.len() as u32, document);
        bench.inverter.check()?;
        self.source_bytes += document.source.len() as u64;
        let prepared = PreparedDocument {
            id,
            source_length: document.source.len(),
            compressed,
            dictionary: self.dictionaries.newest(),
            id_in_source: document.id_in_source,
            lengths,
            expected: document.expected,
            version: document.version,
        };
        self.held += prepared.memory_bytes();
        self.documents.push(prepared);
        bench.hold(self.held)
    }
}

impl PreparedDocument {
    /// Bytes of memory, about.
    fn memory_bytes(&self) -> usize {
        let lengths = self.lengths.capacity() * size_of::<(FieldId, u32)>();
        let own = 2 * size_of::<PreparedDocument>();
        own + self.compressed.capacity() + self.id.capacity() + lengths
    }
}

impl Preparation {
    pub(crate) fn new(
        schema: Arc<Schema>,
        options: SchemaOptions,
        dictionaries: Dictionaries,
        document_bytes_max: usize,
        samples: Option<Reservation>,
        beside: bool,
        opening: u64,
    ) -> Preparation {
        Preparation {
            columns: RwLock::default(),
            fields: Fields::new(schema, options),
            trainer: Mutex::new(samples.map(Trainer::new)),
            document_bytes_max,
            dictionaries: Arc::new(RwLock::new(dictionaries)),
            beside,
            ids: MadeIds {
                opening,
                count: AtomicU64::new(0),
            },
        }
    }

    /// Prepares documents as one batch. A document that cannot be indexed is rejected alone; where
    /// `budget` has too little memory, all of them fail.
    pub(crate) fn prepare<'a>(
        &self,
        bench: &mut Workbench,
        budget: &Budget,
        documents: &mut dyn Iterator<Item = Input<'a>>,
    ) -> Result<PreparedBatch> {
        bench.begin(budget)?;
        let columns = self.columns();
        let mut batch = PreparedBatch {
            dictionaries: self.newest_dictionaries(),
            _fields: self.fields.begin_use(),
            ..PreparedBatch::default()
        };
        for (place, document) in documents.enumerate() {
            match self.take(&mut batch, bench, &columns, document) {
                Err(error @ Error::Memory { .. }) => {
                    bench.give_up();
                    return Err(error);
                }
                Err(error) => batch.rejected.push((place, error)),
                Ok(()) => batch.note_text(place, &mut bench.given_text),
            }
        }
        batch.content = bench.finish()?;
        Ok(batch)
    }

    fn take(
        &self,
        batch: &mut PreparedBatch,
        bench: &mut Workbench,
        columns: &Columns,
        input: Input<'_>,
    ) -> Result<()> {
        let parsed;
        let document = match input {
            Input::Parsed(document) => document,
            Input::Line(line) => {
                self.check_length(line.trim_ascii().len())?;
                let held = batch.held;
                parsed = Document::parse_within(line, &mut |bytes| bench.hold(held + bytes))?;
                &parsed
            }
        };
        self.check_length(document.source.len())?;
        self.fields.mapping().check(document)?;
        self.offer(document)?;
        let id = document.id.clone().unwrap_or_else(|| self.ids.next());
        let schema = self.fields.with_those_of(document)?;
        batch.add(bench, (&schema, columns), id, document)?;
        batch.ids_made += u64::from(document.id.is_none());
        batch.schema = schema;
        Ok(())
    }

    /// Rejects a document that could not be returned within the memory.
    fn check_length(&self, length: usize) -> Result<()> {
        if length <= self.document_bytes_max {
            Ok(())
        } else {
            Err(Error::invalid(format!(
                "the document has {length} bytes, and with this memory budget at most {} are possible: \
                 give more memory, or cut the document",
                self.document_bytes_max
            )))
        }
    }

    /// Inverts documents that were written before, for a replay: nothing is compressed. The log has
    /// named every field before it was used; a member that it did not name, like the external ID,
    /// is no field. Beside the postings, `kept` bytes of memory stay counted for the caller.
    pub(crate) fn invert_again(
        &self,
        bench: &mut Workbench,
        documents: Vec<Document>,
        kept: usize,
    ) -> Result<(BatchContent, Vec<FieldLengths>)> {
        let (schema, columns) = (self.fields.written(), self.columns());
        let mut lengths = Vec::with_capacity(documents.len());
        for (ordinal, document) in (0..).zip(documents) {
            lengths.push(bench.invert((&schema, &columns), ordinal, &document));
        }
        bench.hold(kept)?;
        Ok((bench.finish()?, lengths))
    }

    /// Takes dictionaries that a replay found.
    pub(crate) fn replace_dictionaries(&self, dictionaries: Dictionaries) {
        *self.trainer.lock().unwrap_or_else(|e| e.into_inner()) = None;
        *self.dictionaries.write().unwrap_or_else(|e| e.into_inner()) = dictionaries;
    }

    /// Takes what was decided of columns.
    pub(crate) fn replace_columns(&self, columns: Arc<Columns>) {
        *self.columns.write().unwrap_or_else(|e| e.into_inner()) = columns;
    }

    /// The version of what was decided of columns.
    pub(crate) fn columns_version(&self) -> u64 {
        self.columns().version()
    }

    fn columns(&self) -> Arc<Columns> {
        Arc::clone(&self.columns.read().unwrap_or_else(|e| e.into_inner()))
    }

    /// The dictionaries to compress with.
    fn newest_dictionaries(&self) -> Dictionaries {
        let newest = self.dictionaries.read().unwrap_or_else(|e| e.into_inner());
        newest.clone()
    }

    /// Offers a document as a sample for the first dictionary. Whoever brings the last sample
    /// trains it, beside writing where that is asked for: it takes a tenth of a second, and
    /// meanwhile documents are compressed without.
    fn offer(&self, document: &Document) -> Result<()> {
        let Some(trainer) = self.full_trainer(document) else {
            return Ok(());
        };
        let dictionaries = Arc::clone(&self.dictionaries);
        let train = move || match trainer.train() {
            None => Ok(()),
            Some(dictionary) => {
                let mut newest = dictionaries.write().unwrap_or_else(|e| e.into_inner());
                newest.add(dictionary).map(drop)
            }
        };
        if !self.beside {
            return train();
        }
        let thread = thread::Builder::new().name("gannet-train".to_owned());
        // Without the thread, or where training fails, there is no dictionary.
        drop(thread.spawn(train));
        Ok(())
    }

    /// The trainer, if this was the last sample.
    fn full_trainer(&self, document: &Document) -> Option<Trainer> {
        let mut trainer = self.trainer.lock().unwrap_or_else(|e| e.into_inner());
        let enough = trainer.as_mut()?.offer(&document.source);
        trainer.take_if(|_| enough)
    }
}

impl MadeIds {
    fn next(&self) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        format!("{:016x}{count:08x}", self.opening)
    }
}

impl Workbench {
    /// Begins a batch that takes its memory from `budget`.
    pub(crate) fn begin(&mut self, budget: &Budget) -> Result<()> {
        let reservation = budget.reserve("the documents of a batch", 0)?;
        self.inverter.begin(reservation);
        Ok(())
    }

    /// Counts what is held for the batch beside its tokens and values.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<()> {
        self.inverter
            .hold_beside(bytes + self.values.memory_bytes())
    }

    /// Forgets a batch that failed.
    pub(crate) fn give_up(&mut self) {
        drop(self.finish());
    }

    /// Ends a batch.
    fn finish(&mut self) -> Result<BatchContent> {
        let values = std::mem::take(&mut self.values);
        Ok(BatchContent {
            inverted: self.inverter.finish()?,
            values,
        })
    }

    /// A compressor with the newest dictionary.
    fn compressor(&mut self, dictionaries: &Dictionaries) -> Result<&mut Compressor> {
        match &mut self.compressor {
            Some(compressor) if compressor.has_newest_of(dictionaries) => {}
            stale => *stale = Some(Compressor::new(dictionaries, dictionaries.newest())?),
        }
        self.compressor
            .as_mut()
            .ok_or_else(|| Error::internal("a compressor was made and is missing"))
    }

    /// Adds the tokens of a document to the inverter, and its values; gives the lengths of its
    /// fields.
    fn invert(
        &mut self,
        (schema, columns): (&Schema, &Columns),
        ordinal: u32,
        document: &Document,
    ) -> FieldLengths {
        let mut ends: Vec<FieldEnd> = Vec::new();
        self.given_text.clear();
        for (name, value) in &document.fields {
            for field in schema.takers(name) {
                self.take_value(field, ordinal, value, &mut ends, columns);
            }
        }
        for (name, count) in &document.nulls {
            for field in schema.takers(name) {
                let Some(null) = &field.rules.null_value else {
                    continue;
                };
                let value = Value::of_null(null);
                // One more than a column takes of a document is as many as any number.
                for _ in 0..(*count as usize).min(VALUES_MAX + 1) {
                    self.take_value(field, ordinal, &value, &mut ends, columns);
                }
            }
        }
        self.values.end_document();
        ends.into_iter()
            .map(|end| (end.field, end.tokens))
            .collect()
    }

    /// Adds a value of a field.
    fn take_value(
        &mut self,
        field: &Field,
        ordinal: u32,
        value: &Value,
        ends: &mut Vec<FieldEnd>,
        columns: &Columns,
    ) {
        let (Value::Text(text) | Value::Exact(text)) = value;
        let as_iso;
        let value = match &field.rules.date_formats {
            None => value,
            Some(formats) => {
                let Some(range) = formats.read(text) else {
                    return find_misfit(&mut self.values, ordinal, field.id);
                };
                as_iso = Value::Text(format_date(range.first_ms));
                &as_iso
            }
        };
        if field.analyzer == Analyzer::IP {
            let Some(address) = Address::parse(text) else {
                return find_misfit(&mut self.values, ordinal, field.id);
            };
            let string = Value::Text(address.to_column_string());
            find_value(&mut self.values, ordinal, field, &string, columns);
        } else {
            find_value(&mut self.values, ordinal, field, value, columns);
        }
        if field.rules.is_too_long(text) || field.rules.without_terms {
            return;
        }
        let at = match ends.iter().position(|end| end.field == field.id) {
            Some(at) => at,
            None => {
                ends.push(FieldEnd::of(field.id));
                ends.len() - 1
            }
        };
        self.invert_value(field, ordinal, value, &mut ends[at]);
    }

    fn invert_value(&mut self, field: &Field, ordinal: u32, value: &Value, end: &mut FieldEnd) {
        let is_own = field.rules.source.is_none();
        if field.kind == FieldKind::Exact && is_own && is_words(value) {
            self.given_text.push(field.id);
        }
        let (key, inverter, start) = (&mut self.key, &mut self.inverter, end.next);
        let tokens = &mut end.tokens;
        let filters = field.options.phrase_filters();
        let is_whole = field.is_whole();
        let mut add = |text: &str, position: u32| {
            if !text.is_empty() && text.len() <= TERM_BYTES_MAX {
                key.clear();
                term_key(field.id, text.as_bytes(), key);
                // A document has a whole value once, as in Lucene.
                if is_whole && *tokens > 0 && inverter.has(key, ordinal) {
                    return;
                }
                inverter.add(key, ordinal, start + position, filters);
                *tokens += 1;
            }
        };
        let taken = match value {
            Value::Exact(text) => {
                add(text, 0);
                1
            }
            Value::Text(text) => {
                field
                    .analyzer
                    .analyze(text, &mut self.scratch, |token: Token<'_>| {
                        add(token.text, token.position);
                    })
            }
        };
        end.next = start.saturating_add(taken + POSITION_GAP);
    }
}

/// Returns true if a value is text, and not a number or a boolean in quotes.
fn is_words(value: &Value) -> bool {
    match value {
        Value::Text(text) => {
            !text.is_empty() && text.parse::<f64>().is_err() && text.parse::<bool>().is_err()
        }
        Value::Exact(_) => false,
    }
}

/// The end of the indexed part of a field of one document.
struct FieldEnd {
    field: FieldId,
    tokens: u32,
    /// The position where the next value starts.
    next: u32,
}

impl FieldEnd {
    fn of(field: FieldId) -> FieldEnd {
        FieldEnd {
            field,
            tokens: 0,
            next: 0,
        }
    }
}

/// Reads a schema as a log record or a root keeps it.
pub(crate) fn decode_schema(bytes: &[u8]) -> Result<Arc<Schema>> {
    let mut reader = ByteReader::new(bytes, "the schema");
    Schema::decode(&mut reader).map(Arc::new)
}
