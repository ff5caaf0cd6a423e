//! An index that is open, with what is kept beside it.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use gannet::{FieldMapping as EngineMapping, Index, Schema};
use serde_json::{Map, Value};

use super::field::FieldMapping;
use super::mapping::Mapping;
use super::metadata::{IndexSettings, Metadata};
use super::turns::{Turn, Turns};
use super::types::FieldType;
use crate::fault::{Fault, Outcome};

/// An open index.
pub struct OpenIndex {
    /// Its name.
    pub name: String,
    /// The engine's index.
    pub index: Index,
    metadata: RwLock<Arc<Metadata>>,
    /// The file of its metadata.
    file: PathBuf,
    turns: Turns,
}

impl OpenIndex {
    /// Declares the fields of the mapping that the index does not have.
    pub fn new(
        name: String,
        index: Index,
        mut metadata: Metadata,
        file: PathBuf,
        is_kept: bool,
    ) -> Outcome<OpenIndex> {
        let snapshot = index.snapshot();
        if metadata.take_schema(snapshot.schema()) || !is_kept {
            metadata.write(&file)?;
        }
        let open = OpenIndex {
            name,
            index,
            metadata: RwLock::new(Arc::new(metadata)),
            file,
            turns: Turns::default(),
        };
        open.declare(&open.metadata().mapping)?;
        Ok(open)
    }

    /// Returns its metadata as they are now.
    pub fn metadata(&self) -> Arc<Metadata> {
        let metadata = self.metadata.read();
        Arc::clone(&metadata.unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Waits until the caller is the one who writes.
    pub fn wait_to_write(&self) -> Outcome<Turn<'_>> {
        self.turns.wait()
    }

    /// Replaces the mapping by one that has more fields, durably. The caller must be the one who
    /// writes.
    pub fn set_mapping(&self, mapping: Mapping, turn: &Turn<'_>) -> Outcome<()> {
        self.declare(&mapping)?;
        let metadata = Metadata {
            mapping,
            ..Metadata::clone(&self.metadata())
        };
        self.set_metadata(metadata, turn)
    }

    /// Replaces the settings, durably. The caller must be the one who writes.
    pub fn set_settings(&self, settings: IndexSettings, turn: &Turn<'_>) -> Outcome<()> {
        let metadata = Metadata {
            settings,
            ..Metadata::clone(&self.metadata())
        };
        self.set_metadata(metadata, turn)
    }

    fn set_metadata(&self, metadata: Metadata, _: &Turn<'_>) -> Outcome<()> {
        metadata.write(&self.file)?;
        let mut place = self
            .metadata
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *place = Arc::new(metadata);
        Ok(())
    }

    /// Makes what was written durable; writers who come meanwhile share the next sync.
    pub fn sync(&self) -> Outcome<()> {
        self.index.sync().map_err(Fault::from)
    }

    fn declare(&self, mapping: &Mapping) -> Outcome<()> {
        let default = self.metadata().settings.default_analyzer();
        let snapshot = self.index.snapshot();
        let schema = snapshot.schema();
        let mut declared = Map::new();
        for (name, field) in &mapping.fields {
            if schema.named(name).is_some() {
                check_multi_fields(name, field, schema)?;
                continue;
            }
            let has_more = !field.is_indexed || field.declared_fields().next().is_some();
            let is_plain = field.kind == FieldType::Text && !has_more;
            match field.analyzer(default) {
                Some(analyzer) if is_plain => self.index.declare_text(name, analyzer)?,
                _ if field.is_found => {}
                _ => drop(declared.insert(name.clone(), field.declaration(default))),
            }
        }
        if declared.is_empty() {
            return Ok(());
        }
        let declared = EngineMapping::from_json(&Value::Object(declared).to_string())?;
        self.index.declare(declared).map_err(Fault::from)
    }
}

/// Fails at a multi-field that the documents of an index lack.
fn check_multi_fields(name: &str, field: &FieldMapping, schema: &Schema) -> Outcome<()> {
    for (own, _) in field.declared_fields() {
        let path = format!("{name}.{own}");
        if schema.named(&path).is_none() {
            return Err(Fault::illegal(format!(
                "the multi-field [{path}] cannot be added, since documents have [{name}] already and would lack it: \
                 make an index that maps it, and reindex"
            )));
        }
    }
    Ok(())
}
