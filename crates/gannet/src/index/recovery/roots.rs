//! Reading a root: what it names must be there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::analysis::{Schema, VERSION};
use crate::base::{Error, Result};
use crate::device::{Device, FileId};
use crate::index::owners::{RootRecord, decode_root};
use crate::index::state::HeldRoot;
use crate::storage::{EXPORT_FIRST, PageKind, RootSlot, Store, ZoneTable};

/// An index of which the root has been read.
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) record: RootRecord,
    /// Nothing if the index is new.
    pub(crate) root: Option<HeldRoot>,
}

/// Reads a root record; the zones that it names must be there, its words must be those that this
/// program makes of text, and its phrase filters such as it reads. `path` is for error messages.
pub(crate) fn open_root(device: Arc<dyn Device>, path: &Path, root: HeldRoot) -> Result<Opened> {
    let store = Store::new(device, root.slot.identity, ZoneTable::default());
    let record = read_root(&store, &root.slot)?;
    check_analysis(&record, path)?;
    check_filters(&record.schema, path)?;
    check_zones(&store, &record.zones)?;
    take_zones(&store, &record, &root.slot);
    Ok(Opened {
        store,
        record,
        root: Some(root),
    })
}

/// Fails if the words of an index are not those that this program makes of the same text: it would
/// miss documents in silence.
fn check_analysis(record: &RootRecord, path: &Path) -> Result<()> {
    let found = record.schema.version();
    if found == VERSION {
        Ok(())
    } else {
        Err(Error::Format {
            path: path.into(),
            reason: format!(
                "the words of the index are of analysis {found}, this program makes those of analysis {VERSION}: \
                 {EXPORT_FIRST}"
            ),
        })
    }
}

/// Fails if a field has phrase filters of a kind that is no longer read.
pub(super) fn check_filters(schema: &Schema, path: &Path) -> Result<()> {
    let mut fields = schema.fields().iter();
    match fields.find(|field| field.options.has_former_filters()) {
        None => Ok(()),
        Some(field) => Err(Error::Format {
            path: path.into(),
            reason: format!(
                "field {:?} has Bloom filters for phrases, which this program does not read: {EXPORT_FIRST}",
                field.name
            ),
        }),
    }
}

/// Takes in the zones that a root names.
pub(crate) fn take_zones(store: &Store, record: &RootRecord, slot: &RootSlot) {
    let mut zones = store.zones();
    *zones = record.zones.clone();
    zones.adopt_root(slot.root);
}

/// Fails if a zone that the root names is missing or too short: then it is the wrong root.
pub(crate) fn check_zones(store: &Store, zones: &ZoneTable) -> Result<()> {
    let files: BTreeMap<FileId, u32> = store.device().list()?.into_iter().collect();
    for (number, zone) in zones.iter() {
        let file = FileId::Zone(number);
        let pages = files.get(&file).copied().unwrap_or(0);
        if pages < zone.pages {
            return store.unless_expired(Err(Error::damaged(
                file.name(),
                format!("expected {} pages, got {pages}", zone.pages),
            )));
        }
    }
    Ok(())
}

/// The root record that a slot names.
pub(crate) fn read_root(store: &Store, slot: &RootSlot) -> Result<RootRecord> {
    decode_root(&store.read_span(slot.root, PageKind::Root)?)
}

/// The error for a folder without an index.
pub(crate) fn no_index(path: &Path) -> Error {
    Error::Format {
        path: path.into(),
        reason: "there is no index here; make one with `gannet index`".to_owned(),
    }
}

/// The error for a copy that is not whole.
pub(crate) fn unfinished(path: &Path) -> Error {
    Error::Format {
        path: path.into(),
        reason: "expected an index, got a copy that was cut short: back up into this folder again, or remove it"
            .to_owned(),
    }
}

pub(crate) fn draw_number() -> Result<u64> {
    getrandom::u64().map_err(|error| Error::Device {
        operation: "read",
        file: "the random numbers of the system".to_owned(),
        reason: error.to_string(),
        full: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Analyzer, FieldKind};
    use crate::base::ByteReader;

    #[test]
    fn an_index_with_bloom_filters_is_rejected_with_what_to_do() {
        let mut schema = Schema::default();
        let added = schema.add("body", FieldKind::Text, Analyzer::default());
        assert_eq!(added.unwrap(), 0);
        let path = Path::new("books.gnt");
        assert!(check_filters(&schema, path).is_ok());
        let mut bytes = Vec::new();
        schema.encode(&mut bytes);
        // The options of the only field: positions, and the number of Bloom filters. Its rules, one
        // byte, stand behind them.
        let options = bytes.len() - 2;
        bytes[options] = 1 | 2 << 2;
        let schema = Schema::decode(&mut ByteReader::new(&bytes, "schema")).unwrap();
        let error = check_filters(&schema, path).unwrap_err().to_string();
        assert!(error.contains("\"body\" has Bloom filters"), "{error}");
        assert!(error.contains("gannet export"), "{error}");
    }
}
