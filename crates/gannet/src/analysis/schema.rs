//! The fields of an index: which there are, how their text is analyzed, and what is kept of them.
//!
//! Fields are numbered in the order in which they were first seen; a number is never reused,
//! because it is part of every term's key. Names that are the same text in Unicode (NFC and NFD)
//! are one field, which has the form that was seen first. The schema is written into each
//! checkpoint.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::value_rules::{FieldId, ValueRules};
use super::{Analyzer, VERSION, forms};
use crate::base::{ByteReader, Error, PhraseFilters, Result, put_bytes, put_varint};

/// The most fields that an index can have: documents with generated field names would fill the
/// dictionary.
pub const MAX_FIELDS: usize = 1000;

/// The longest field name in bytes.
const MAX_NAME_BYTES: usize = 512;

/// The kind of values that a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Text, searched by its words.
    Text,
    /// Values that are matched as a whole.
    Exact,
}

/// The parts of a field's postings, one bit each but for phrase filters, whose kind takes two; bits
/// without a name are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOptions(u8);

/// The place of the kind of phrase filters among the bits.
const FILTERS_SHIFT: u8 = 2;
const FILTERS_BITS: u8 = 0b11;

/// The number of Bloom filters, which are no longer kept nor read.
const FORMER_FILTERS: u8 = 2;

impl FieldOptions {
    /// The position of each occurrence among the words; phrases need it.
    pub const POSITIONS: FieldOptions = FieldOptions(1);
    /// The offset of each occurrence in the source.
    pub const OFFSETS: FieldOptions = FieldOptions(2);

    /// The default options of a field of `kind`.
    pub fn of(kind: FieldKind) -> FieldOptions {
        match kind {
            FieldKind::Text => FieldOptions::POSITIONS,
            FieldKind::Exact => FieldOptions(0),
        }
    }

    /// Returns true if all of `others` are set.
    pub fn contains(self, others: FieldOptions) -> bool {
        self.0 & others.0 == others.0
    }

    /// The kind of its phrase filters: they name the words before and after each occurrence, so
    /// that phrases read less.
    pub fn phrase_filters(self) -> PhraseFilters {
        PhraseFilters::decode(self.filters_code()).unwrap_or(PhraseFilters::None)
    }

    /// These with phrase filters in place of the ones they have.
    pub fn with_phrase_filters(self, filters: PhraseFilters) -> FieldOptions {
        let others = self.0 & !(FILTERS_BITS << FILTERS_SHIFT);
        FieldOptions(others | filters.code() << FILTERS_SHIFT)
    }

    /// Returns true if it has phrase filters that are no longer read: no list of it can be.
    pub fn has_former_filters(self) -> bool {
        self.filters_code() == FORMER_FILTERS
    }

    fn filters_code(self) -> u8 {
        (self.0 >> FILTERS_SHIFT) & FILTERS_BITS
    }

    fn decode(reader: &mut ByteReader<'_>) -> Result<FieldOptions> {
        let options = FieldOptions(reader.u8()?);
        let is_known = PhraseFilters::decode(options.filters_code()).is_some();
        if is_known || options.has_former_filters() {
            Ok(options)
        } else {
            Err(reader.damaged("options of a field", options.0))
        }
    }
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its number.
    pub id: FieldId,
    /// Its name; objects inside a document give names with dots.
    pub name: String,
    /// The analyzer that makes terms of its text.
    pub analyzer: Analyzer,
    /// The kind of its values.
    pub kind: FieldKind,
    /// The parts of its postings.
    pub options: FieldOptions,
    /// The rules for its values.
    pub rules: ValueRules,
}

impl Field {
    /// Returns true if its values are terms as a whole: a keyword, a number, a boolean.
    pub fn is_whole(&self) -> bool {
        self.kind == FieldKind::Exact || self.analyzer.is_whole()
    }
}

/// Settings of fields, taken when a field is first seen.
#[derive(Clone, Debug, Default)]
pub struct SchemaOptions {
    /// For text fields that `per_field` does not name.
    pub default_analyzer: Analyzer,
    /// Field names and their analyzers; the last one for a name counts.
    pub per_field: Vec<(String, Analyzer)>,
    /// The phrase filters that text fields keep.
    pub phrase_filters: PhraseFilters,
}

impl SchemaOptions {
    /// The analyzer of the text field `name`.
    pub fn analyzer_for(&self, name: &str) -> Analyzer {
        let name = in_nfc(name);
        let mut fields = self.per_field.iter().rev();
        let named = fields.find(|(field, _)| in_nfc(field) == name);
        named.map_or(self.default_analyzer, |(_, analyzer)| *analyzer)
    }
}

/// The fields of an index in the order of their numbers.
#[derive(Clone, Debug)]
pub struct Schema {
    fields: Vec<Field>,
    /// By the names in NFC.
    by_name: FxHashMap<String, FieldId>,
    version: String,
}

impl Default for Schema {
    fn default() -> Schema {
        Schema {
            fields: Vec::new(),
            by_name: FxHashMap::default(),
            version: VERSION.to_string(),
        }
    }
}

impl Schema {
    /// All fields.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field with number `id`.
    pub fn field(&self, id: FieldId) -> Option<&Field> {
        self.fields.get(id as usize)
    }

    /// The field called `name`.
    pub fn named(&self, name: &str) -> Option<&Field> {
        let id = self.by_name.get(name).or_else(|| {
            // What is in the map is in NFC, so that most names are found as they are.
            if forms::is_nfc(name) {
                None
            } else {
                self.by_name.get(&forms::nfc(name))
            }
        });
        id.and_then(|&id| self.field(id))
    }

    /// The `VERSION` of the analysis under which the index was made.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Adds a field that is not there yet.
    pub fn add(&mut self, name: &str, kind: FieldKind, analyzer: Analyzer) -> Result<FieldId> {
        self.check_new(name)?;
        let id = self.fields.len() as FieldId;
        self.by_name.insert(in_nfc(name).into_owned(), id);
        self.fields.push(Field {
            id,
            name: name.to_string(),
            analyzer,
            kind,
            options: FieldOptions::of(kind),
            rules: ValueRules::default(),
        });
        Ok(id)
    }

    /// The field called `name`: the one that is there, or a new one set up by `options`.
    pub fn ensure(
        &mut self,
        name: &str,
        kind: FieldKind,
        options: &SchemaOptions,
    ) -> Result<FieldId> {
        if let Some(field) = self.named(name) {
            return Ok(field.id);
        }
        let analyzer = match kind {
            FieldKind::Text => options.analyzer_for(name),
            FieldKind::Exact => Analyzer::KEYWORD,
        };
        let id = self.add(name, kind, analyzer)?;
        if kind == FieldKind::Text {
            let kept = &mut self.fields[id as usize].options;
            *kept = kept.with_phrase_filters(options.phrase_filters);
        }
        Ok(id)
    }

    /// The field called `name`: the one that is there, or a new one of text with this analyzer.
    pub fn ensure_text(
        &mut self,
        name: &str,
        analyzer: Analyzer,
        options: &SchemaOptions,
    ) -> Result<FieldId> {
        let options = SchemaOptions {
            default_analyzer: analyzer,
            per_field: Vec::new(),
            phrase_filters: options.phrase_filters,
        };
        self.ensure(name, FieldKind::Text, &options)
    }

    /// Gives a field, which is new, rules for its values. Those of a multi-field stand right behind
    /// the field whose values they take.
    pub fn set_rules(&mut self, id: FieldId, rules: ValueRules) {
        if let Some(field) = self.fields.get_mut(id as usize) {
            field.rules = rules;
        }
    }

    /// The field of a name that takes the values which documents have under it, with its
    /// multi-fields behind it. A multi-field takes none under its own name.
    pub fn takers(&self, name: &str) -> impl Iterator<Item = &Field> {
        let first = self
            .named(name)
            .filter(|field| field.rules.source.is_none());
        let rest = first.map_or(&[][..], |field| &self.fields[field.id as usize..]);
        let own = first.map(|field| field.id);
        let mut is_first = true;
        rest.iter()
            .take_while(move |field| std::mem::take(&mut is_first) || field.rules.source == own)
    }

    /// The fields that a query without a name asks: those of text that have terms. A multi-field is
    /// left out, since the field whose values it takes is asked.
    pub fn asked_without_name(&self) -> impl Iterator<Item = &Field> {
        let fields = self.fields.iter();
        let has_terms = |field: &&Field| field.rules.source.is_none() && !field.rules.without_terms;
        // Addresses are no words, as numbers are none.
        let has_words =
            |field: &&Field| field.kind == FieldKind::Text && field.analyzer != Analyzer::IP;
        fields.filter(move |field| has_words(field) && has_terms(field))
    }

    /// Fails if a document brings more new fields than one may: half of those that an index can
    /// still have, so that no document takes them from all others.
    pub fn check_new_fields(&self, new: usize) -> Result<()> {
        let left = MAX_FIELDS.saturating_sub(self.fields.len());
        let most = left.div_ceil(2);
        if new <= most {
            return Ok(());
        }
        Err(Error::invalid(if left == 0 {
            format!(
                "the document has {new} fields that the index does not have, and the index has {MAX_FIELDS}, as many \
                 as it can have: leave these fields out, or put values whose names vary into one field"
            )
        } else {
            format!(
                "the document has {new} fields that the index does not have, and one document may add {most}, half of \
                 the {left} that are left of {MAX_FIELDS}: put values whose names vary into one field"
            )
        }))
    }

    fn check_new(&self, name: &str) -> Result<()> {
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return Err(Error::invalid(format!(
                "a field name has 1 to {MAX_NAME_BYTES} bytes, this one has {}",
                name.len()
            )));
        }
        if self.named(name).is_some() {
            return Err(Error::invalid(format!("there is a field {name:?} already")));
        }
        if self.fields.len() >= MAX_FIELDS {
            return Err(Error::invalid(format!(
                "field {name:?} would be one more than the {MAX_FIELDS} an index can have: put values that vary \
                 in their names into one field"
            )));
        }
        Ok(())
    }

    /// Appends the schema to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.version.as_bytes());
        put_varint(out, self.fields.len() as u64);
        for field in &self.fields {
            put_bytes(out, field.name.as_bytes());
            put_bytes(out, field.analyzer.name().as_bytes());
            out.push(match field.kind {
                FieldKind::Text => 0,
                FieldKind::Exact => 1,
            });
            out.push(field.options.0);
            field.rules.encode(out);
        }
    }

    /// Reads what [`Schema::encode`] wrote.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<Schema> {
        let mut schema = Schema {
            version: reader.text()?.to_string(),
            ..Schema::default()
        };
        for _ in 0..reader.length(MAX_FIELDS)? {
            schema.decode_field(reader)?;
        }
        Ok(schema)
    }

    fn decode_field(&mut self, reader: &mut ByteReader<'_>) -> Result<()> {
        let name = reader.text()?;
        let analyzer = reader.text()?;
        let analyzer = Analyzer::stored(analyzer)
            .map_err(|_| reader.damaged("the name of an analyzer", analyzer))?;
        let kind = match reader.u8()? {
            0 => FieldKind::Text,
            1 => FieldKind::Exact,
            other => return Err(reader.damaged("a kind of field, 0 or 1", other)),
        };
        let options = FieldOptions::decode(reader)?;
        let rules = ValueRules::decode(reader)?;
        if rules
            .source
            .is_some_and(|source| source as usize >= self.fields.len())
        {
            return Err(reader.damaged("a field before a multi-field", name));
        }
        let id = self
            .add(name, kind, analyzer)
            .map_err(|error| reader.damaged("a new field", error))?;
        let field = &mut self.fields[id as usize];
        (field.options, field.rules) = (options, rules);
        Ok(())
    }
}

/// Returns a name in NFC, as fields are looked up.
pub(crate) fn in_nfc(name: &str) -> Cow<'_, str> {
    if forms::is_nfc(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(forms::nfc(name))
    }
}

/// Appends the key of `term` in `field`: the field's number, big-endian so that keys sort by field
/// first, then the term's bytes.
pub fn term_key(field: FieldId, term: &[u8], out: &mut Vec<u8>) {
    let field = field.to_be_bytes();
    out.reserve(field.len() + term.len());
    out.extend_from_slice(&field);
    out.extend_from_slice(term);
}

/// The field and the term of a key.
pub fn split_term_key(key: &[u8]) -> Result<(FieldId, &[u8])> {
    let (field, term) = key.split_first_chunk().ok_or_else(|| {
        let reason = format!(
            "expected a field's number of 2 bytes, got {} bytes",
            key.len()
        );
        Error::damaged("term key", reason)
    })?;
    Ok((FieldId::from_be_bytes(*field), term))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Schema {
        let options = SchemaOptions {
            default_analyzer: Analyzer::default(),
            per_field: vec![("body".into(), Analyzer::named("english").unwrap())],
            phrase_filters: PhraseFilters::Common,
        };
        let mut schema = Schema::default();
        for (name, kind) in [
            ("title", FieldKind::Text),
            ("body", FieldKind::Text),
            ("year", FieldKind::Exact),
        ] {
            schema.ensure(name, kind, &options).unwrap();
        }
        schema
    }

    #[test]
    fn fields_keep_their_number_and_take_the_analyzer_of_the_options() {
        let schema = example();
        let name_of = |field: &str| schema.named(field).unwrap().analyzer.name();
        assert_eq!(
            ["title", "body", "year"].map(name_of),
            ["standard", "english", "keyword"]
        );
        let filters = |id| schema.field(id).unwrap().options.phrase_filters();
        let kept = PhraseFilters::Common;
        assert_eq!([0, 1, 2].map(filters), [kept, kept, PhraseFilters::None]);
        assert_eq!(schema.field(1).unwrap().name, "body");
        assert!(schema.named("absent").is_none() && schema.field(3).is_none());
    }

    #[test]
    fn text_fields_know_their_common_neighbours_unless_told_otherwise() {
        let mut schema = Schema::default();
        let options = SchemaOptions::default();
        schema.ensure("body", FieldKind::Text, &options).unwrap();
        let kept = schema.named("body").unwrap().options.phrase_filters();
        assert_eq!(kept, PhraseFilters::Common);
    }

    #[test]
    fn names_that_are_the_same_text_are_one_field() {
        let options = SchemaOptions {
            per_field: vec![("pre\u{301}nom".into(), Analyzer::KEYWORD)],
            ..SchemaOptions::default()
        };
        let mut schema = Schema::default();
        for name in ["prénom", "pre\u{301}nom"] {
            assert_eq!(schema.ensure(name, FieldKind::Text, &options).unwrap(), 0);
            let field = schema.named(name).unwrap();
            assert_eq!(
                (field.name.as_str(), field.analyzer),
                ("prénom", Analyzer::KEYWORD)
            );
        }
        assert!(schema.named("prenom").is_none());
        assert!(
            schema
                .add("pre\u{301}nom", FieldKind::Text, Analyzer::KEYWORD)
                .is_err()
        );
    }

    #[test]
    fn a_schema_comes_back_as_it_was_written_and_damage_is_noticed() {
        let mut bytes = Vec::new();
        example().encode(&mut bytes);
        let back = Schema::decode(&mut ByteReader::new(&bytes, "schema")).unwrap();
        assert_eq!(back.fields(), example().fields());
        assert_eq!(back.version(), VERSION);
        for length in 0..bytes.len() {
            assert!(Schema::decode(&mut ByteReader::new(&bytes[..length], "schema")).is_err());
        }
    }

    #[test]
    fn filters_of_a_kind_that_is_no_longer_read_are_told_from_damage() {
        let mut bytes = Vec::new();
        example().encode(&mut bytes);
        // Behind the options of the last field are its rules, one byte.
        let options = bytes.len() - 2;
        let mut last_options = |filters: u8| {
            bytes[options] = filters << FILTERS_SHIFT;
            let schema = Schema::decode(&mut ByteReader::new(&bytes, "schema"));
            schema.map(|schema| schema.fields()[2].options)
        };
        assert!(last_options(FORMER_FILTERS).unwrap().has_former_filters());
        assert!(!last_options(1).unwrap().has_former_filters());
        assert!(last_options(3).is_err());
    }

    #[test]
    fn names_are_checked_and_fields_are_limited() {
        let mut schema = example();
        let mut add = |name: &str| schema.add(name, FieldKind::Text, Analyzer::default());
        assert!(add("").is_err() && add("title").is_err() && add(&"x".repeat(513)).is_err());
        for number in 3..MAX_FIELDS {
            assert_eq!(add(&format!("f{number}")).unwrap() as usize, number);
        }
        let error = add("last").unwrap_err().to_string();
        assert!(error.contains("1000"), "{error}");
    }

    #[test]
    fn term_keys_sort_by_field_and_split_again() {
        let key = |field, term: &[u8]| {
            let mut out = Vec::new();
            term_key(field, term, &mut out);
            out
        };
        assert!(key(1, b"zebra") < key(2, b"ant") && key(255, b"") < key(256, b""));
        assert_eq!(
            split_term_key(&key(300, b"ant")).unwrap(),
            (300, &b"ant"[..])
        );
        assert!(split_term_key(&[1]).is_err());
    }
}
