//! The root record: all that a checkpoint knows, as bytes.

use std::sync::Arc;

use super::parts::RootParts;
use super::table::owners;
use crate::analysis::Schema;
use crate::base::{ByteReader, DocId, Result, Sequence, put_bytes, put_varint};
use crate::documents::{Dictionaries, DocumentTables};
use crate::index::state::{Lifetime, State, Vacuumed};
use crate::search::FieldStatistics;
use crate::storage::{LogStart, PageKind, ZoneTable};

/// The part of the log that the trees of a root cover.
#[derive(Clone, Copy)]
pub(crate) struct Covered {
    /// The first place that they do not cover: a replay starts here.
    pub(crate) log_start: LogStart,
    /// They hold all documents below this.
    pub(crate) below: DocId,
}

/// The content of a root besides the state that readers see.
pub(crate) struct RootRecord {
    pub(crate) zones: ZoneTable,
    pub(crate) covered: Covered,
    pub(crate) next_doc: DocId,
    pub(crate) sequence: Sequence,
    pub(crate) documents: u64,
    pub(crate) schema: Arc<Schema>,
    pub(crate) statistics: Vec<FieldStatistics>,
    pub(crate) dictionaries: Dictionaries,
    pub(crate) tables: DocumentTables,
    pub(crate) vacuumed: Vacuumed,
    pub(crate) lifetime: Lifetime,
    /// The parts of owners in it.
    pub(crate) parts: RootParts,
}

impl RootRecord {
    /// The term dictionary, the runs of external IDs and the columns, as their rooms keep them;
    /// nothing before the first checkpoint.
    pub(crate) fn trees(&self) -> [&[u8]; 3] {
        match self.parts.of(PageKind::Table) {
            [terms, ids, columns] => [terms, ids, columns],
            _ => [&[], &[], &[]],
        }
    }
}

/// The bytes of a root record.
pub(crate) fn encode_root(
    state: &State,
    zones: &ZoneTable,
    covered: Covered,
    parts: &RootParts,
) -> Vec<u8> {
    let mut out = Vec::new();
    zones.encode(&mut out);
    covered.log_start.encode(&mut out);
    put_varint(&mut out, covered.below as u64);
    put_varint(&mut out, state.below as u64);
    put_varint(&mut out, state.sequence);
    put_varint(&mut out, state.documents);
    state.schema.encode(&mut out);
    FieldStatistics::encode_all(&state.statistics, &mut out);
    state.dictionaries.encode(&mut out);
    state.tables.encode(&mut out);
    state.vacuumed.encode(&mut out);
    state.lifetime.encode(&mut out);
    for owner in owners() {
        let strings = parts.of(owner.kind());
        debug_assert_eq!(strings.len(), owner.root_parts());
        strings.iter().for_each(|bytes| put_bytes(&mut out, bytes));
    }
    out
}

/// Reads what [`encode_root`] wrote.
pub(crate) fn decode_root(bytes: &[u8]) -> Result<RootRecord> {
    let mut reader = ByteReader::new(bytes, "the root record");
    let reader = &mut reader;
    let record = RootRecord {
        zones: ZoneTable::decode(reader)?,
        covered: Covered {
            log_start: LogStart::decode(reader)?,
            below: reader.varint_u32()?,
        },
        next_doc: reader.varint_u32()?,
        sequence: reader.varint()?,
        documents: reader.varint()?,
        schema: Arc::new(Schema::decode(reader)?),
        statistics: FieldStatistics::decode_all(reader)?,
        dictionaries: Dictionaries::decode(reader)?,
        tables: DocumentTables::decode(reader)?,
        vacuumed: Vacuumed::decode(reader)?,
        lifetime: Lifetime::decode(reader)?,
        parts: decode_parts(reader)?,
    };
    let (deleted, gone) = (record.tables.deleted_count(), record.vacuumed.documents);
    if gone > deleted {
        return Err(reader.damaged(&format!("at most {deleted} documents taken out"), gone));
    }
    Ok(record)
}

fn decode_parts(reader: &mut ByteReader<'_>) -> Result<RootParts> {
    let mut parts = RootParts::default();
    for owner in owners() {
        let strings = (0..owner.root_parts()).map(|_| Ok(reader.bytes()?.to_vec()));
        parts.set(owner.kind(), strings.collect::<Result<_>>()?);
    }
    Ok(parts)
}

impl FieldStatistics {
    /// Appends the statistics of all fields.
    pub(crate) fn encode_all(all: &[FieldStatistics], out: &mut Vec<u8>) {
        put_varint(out, all.len() as u64);
        for field in all {
            put_varint(out, field.documents);
            put_varint(out, field.total_length);
        }
    }

    /// Reads what [`FieldStatistics::encode_all`] wrote.
    pub(crate) fn decode_all(reader: &mut ByteReader<'_>) -> Result<Vec<FieldStatistics>> {
        let count = reader.length(reader.rest().len())?;
        let field = |_| {
            Ok(FieldStatistics {
                documents: reader.varint()?,
                total_length: reader.varint()?,
            })
        };
        (0..count).map(field).collect()
    }
}
