//! The metadata that the server keeps beside an index: an identifier, settings, the mapping.
//!
//! It stands in the folder `_server` of the indexes' folder, where no index can be, so an index
//! stays an ordinary one. One that has nothing there is taken as it is.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use gannet::{Analyzer, Error, Field, FieldKind, Schema};
use serde_json::{Map, Value, json};

use super::field::FieldMapping;
use super::mapping::Mapping;
use super::types::FieldType;
use crate::fault::{Fault, Outcome};
use crate::json::Members;
use crate::near::nearest;

/// Settings that are taken. The first three change nothing: an index has one shard, no replicas,
/// and is always fresh.
const SETTINGS: [&str; 5] = [
    "number_of_shards",
    "number_of_replicas",
    "refresh_interval",
    "analysis.analyzer.default.type",
    "query.default_field",
];

/// Settings of Lucene, of shards and of limits that are Gannet's own here. They are kept and change
/// nothing; one with a dot at its end stands for all that begin so.
const IDLE: [&str; 15] = [
    "allocation.",
    "auto_expand_replicas",
    "codec",
    "hidden",
    "mapping.depth.",
    "mapping.field_name_length.",
    "mapping.nested_fields.",
    "mapping.nested_objects.",
    "mapping.total_fields.",
    "max_docvalue_fields_search",
    "number_of_routing_shards",
    "priority",
    "routing.allocation.",
    "translog.",
    "unassigned.",
];

/// Settings that are whole numbers, and the least of each.
const LEAST: [(&str, i64); 2] = [(SETTINGS[0], 1), (SETTINGS[1], 0)];

/// Those that may change.
const DYNAMIC: [&str; 2] = [SETTINGS[1], SETTINGS[2]];

const DEFAULT_ANALYZER: &str = SETTINGS[3];

const DEFAULT_FIELD: &str = SETTINGS[4];

/// Settings by name, without `index.` before them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexSettings(pub Map<String, Value>);

/// The metadata of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// A random name, the same as long as the index is there.
    pub uuid: String,
    /// The time at which it was made, in milliseconds since 1970.
    pub created: u64,
    /// The settings that were given.
    pub settings: IndexSettings,
    /// The fields.
    pub mapping: Mapping,
}

/// Returns 22 random letters and digits, 128 bits of them random.
pub fn random_name() -> Outcome<String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Fault::internal(format!("no random numbers can be had: {error}")))?;
    let mut number = u128::from_le_bytes(bytes);
    let mut name = String::with_capacity(22);
    for _ in 0..22 {
        name.push(char::from(LETTERS[(number % 64) as usize]));
        number /= 64;
    }
    // A minus or an underscore at the front is trouble on command lines.
    Ok(name.replace(['-', '_'], "x"))
}

impl IndexSettings {
    /// Reads the object `settings` of a request.
    pub fn parse(value: &Value) -> Outcome<IndexSettings> {
        let mut flat = Map::new();
        flatten("", value, &mut flat)?;
        for (name, value) in &flat {
            check_setting(name, value)?;
        }
        Ok(IndexSettings(flat))
    }

    /// Takes settings over that may change while an index is open, which are those that change
    /// nothing here.
    pub fn update(&mut self, other: &IndexSettings) -> Outcome<()> {
        for (name, value) in &other.0 {
            if !DYNAMIC.contains(&name.as_str()) {
                return Err(Fault::illegal(format!(
                    "Can't update non dynamic settings [[index.{name}]] for open indices"
                )));
            }
            self.0.insert(name.clone(), value.clone());
        }
        Ok(())
    }

    /// The analyzer of text fields for which the mapping names none.
    pub fn default_analyzer(&self) -> Analyzer {
        let name = self.0.get(DEFAULT_ANALYZER).and_then(Value::as_str);
        let named = name.and_then(|name| Analyzer::named(name).ok());
        named.unwrap_or_default()
    }

    /// The fields that a text in Lucene's syntax asks for where it names none: names and patterns,
    /// which may have boosts.
    pub fn default_fields(&self) -> Vec<&str> {
        match self.0.get(DEFAULT_FIELD) {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => vec!["*"],
        }
    }
}

fn check_setting(name: &str, value: &Value) -> Outcome<()> {
    if name == DEFAULT_FIELD {
        let is_named = match value {
            Value::Array(names) => !names.is_empty() && names.iter().all(Value::is_string),
            other => other.is_string(),
        };
        return if is_named {
            Ok(())
        } else {
            Err(Fault::illegal(format!(
                "[index.{name}] is {value}: give the name of a field, or a list of names"
            )))
        };
    }
    if let Some((_, least)) = LEAST.iter().find(|(counted, _)| *counted == name) {
        let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
        if number.is_none_or(|number| number < *least) {
            return Err(Fault::illegal(format!(
                "Failed to parse value [{value}] for setting [index.{name}] must be >= {least}"
            )));
        }
    }
    if name == DEFAULT_ANALYZER {
        let analyzer = value.as_str().unwrap_or_default();
        return Analyzer::named(analyzer).map(drop).map_err(Fault::from);
    }
    let is_idle = |idle: &&str| name == *idle || idle.ends_with('.') && name.starts_with(*idle);
    if SETTINGS.contains(&name) || IDLE.iter().any(is_idle) {
        return Ok(());
    }
    if let Some((_, parameter)) = name
        .strip_prefix("similarity.")
        .and_then(|rest| rest.rsplit_once('.'))
    {
        let number = || value.as_f64().or_else(|| value.as_str()?.parse().ok());
        let is_ours = match parameter {
            "type" => value == "BM25",
            "k1" => number() == Some(1.2),
            "b" => number() == Some(0.75),
            _ => false,
        };
        if is_ours {
            return Ok(());
        }
    }
    for (prefix, feature) in [
        ("analysis.", "an analyzer of its own"),
        ("similarity.", "another similarity than BM25"),
        ("sort.", "an index that is sorted"),
        ("lifecycle.", "index lifecycle management"),
        ("default_pipeline", "an ingest pipeline"),
        ("final_pipeline", "an ingest pipeline"),
    ] {
        if name.starts_with(prefix) {
            return Err(Fault::not_there(&format!(
                "{feature}, as [index.{name}] asks for,"
            )));
        }
    }
    let proposal = nearest(name, SETTINGS);
    let proposal =
        proposal.map_or_else(String::new, |near| format!(" did you mean [index.{near}]?"));
    Err(Fault::illegal(format!(
        "unknown setting [index.{name}]{proposal}"
    )))
}

/// Names with dots, from objects or names that have some.
fn flatten(prefix: &str, value: &Value, flat: &mut Map<String, Value>) -> Outcome<()> {
    for (name, value) in Members::of("settings", value)?.iter() {
        let path = format!("{prefix}{name}");
        if value.is_object() {
            flatten(&format!("{path}."), value, flat)?;
        } else if !value.is_null() {
            let short = path.strip_prefix("index.").unwrap_or(&path);
            flat.insert(short.to_owned(), value.clone());
        }
    }
    Ok(())
}

impl Metadata {
    /// Of an index that is made now.
    pub fn new(settings: IndexSettings, mapping: Mapping) -> Outcome<Metadata> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Metadata {
            uuid: random_name()?,
            created: now.map_or(0, |now| now.as_millis() as u64),
            settings,
            mapping,
        })
    }

    /// Reads what is kept in a file; nothing if there is none.
    pub fn read(path: &Path) -> Outcome<Option<Metadata>> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(path, "cannot be read", &error.to_string())),
        };
        let kept: Option<Value> = serde_json::from_slice(&bytes).ok();
        let metadata = kept.as_ref().and_then(Metadata::from_kept);
        metadata.map(Some).ok_or_else(|| {
            failed(
                path,
                "is damaged",
                "delete it, and the mapping is found anew",
            )
        })
    }

    fn from_kept(kept: &Value) -> Option<Metadata> {
        Some(Metadata {
            uuid: kept.get("uuid")?.as_str()?.to_owned(),
            created: kept.get("created")?.as_u64()?,
            settings: IndexSettings(kept.get("settings")?.as_object()?.clone()),
            mapping: Mapping::from_kept(kept.get("mapping")?)?,
        })
    }

    /// Writes it, durable once this returns: a crash leaves this or what was there before.
    pub fn write(&self, path: &Path) -> Outcome<()> {
        let kept = json!({
            "uuid": self.uuid,
            "created": self.created,
            "settings": self.settings.0,
            "mapping": self.mapping.kept(),
        });
        replace(path, kept.to_string().as_bytes())
            .map_err(|error| failed(path, "cannot be written", &error.to_string()))
    }

    /// Takes the fields that an index has: of those, the engine knows best how they are indexed.
    pub fn take_schema(&mut self, schema: &Schema) -> bool {
        let default = self.settings.default_analyzer();
        let mut is_changed = false;
        for field in schema.fields() {
            if let Some(source) = field.rules.source {
                is_changed |= self.take_multi_field(field, schema.field(source));
                continue;
            }
            let known = self.mapping.fields.get(&field.name);
            let is_date = known.is_some_and(|known| known.kind == FieldType::Date);
            let fits = match field.kind {
                FieldKind::Text if is_date => field.analyzer == Analyzer::KEYWORD,
                FieldKind::Exact => {
                    known.is_some_and(|known| !matches!(known.kind, FieldType::Text))
                }
                FieldKind::Text => {
                    known.and_then(|known| known.analyzer(default)) == Some(field.analyzer)
                }
            };
            if fits {
                continue;
            }
            let is_words = field.kind == FieldKind::Text && !field.analyzer.is_whole();
            let kind = match &field.rules.date_formats {
                _ if field.analyzer == Analyzer::IP => FieldType::Ip,
                _ if is_words => FieldType::Text,
                Some(_) => FieldType::Date,
                None => FieldType::Keyword,
            };
            let found = FieldMapping {
                date_formats: field.rules.date_formats.clone(),
                analyzer: (is_words && field.analyzer != default)
                    .then(|| field.analyzer.name().to_owned()),
                ..FieldMapping::found(kind)
            };
            self.mapping.fields.insert(field.name.clone(), found);
            is_changed = true;
        }
        is_changed
    }

    /// Takes a multi-field that stands behind the field whose values it takes.
    fn take_multi_field(&mut self, field: &Field, source: Option<&Field>) -> bool {
        let Some(source) = source else {
            return false;
        };
        let own = field.name.strip_prefix(&format!("{}.", source.name));
        let (Some(own), Some(known)) = (own, self.mapping.fields.get_mut(&source.name)) else {
            return false;
        };
        if known.fields.get(own).is_some_and(|field| !field.is_found) {
            return false;
        }
        let is_words = field.kind == FieldKind::Text && !field.analyzer.is_whole();
        let found = FieldMapping {
            is_found: false,
            fields: BTreeMap::new(),
            analyzer: is_words.then(|| field.analyzer.name().to_owned()),
            ignore_above: field.rules.ignore_above,
            ..FieldMapping::found(if is_words {
                FieldType::Text
            } else if field.analyzer == Analyzer::IP {
                FieldType::Ip
            } else {
                FieldType::Keyword
            })
        };
        known.fields.insert(own.to_owned(), found);
        true
    }
}

fn failed(path: &Path, what: &str, why: &str) -> Fault {
    Fault::internal(format!("{} {what}: {why}", path.display()))
}

/// Replaces a file by a new one, durably.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), std::io::Error> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Reads or draws the identifier of a folder of indexes.
pub fn folder_uuid(path: &Path) -> Outcome<String> {
    if let Ok(text) = fs::read_to_string(path)
        && !text.trim().is_empty()
    {
        return Ok(text.trim().to_owned());
    }
    let uuid = random_name()?;
    replace(path, uuid.as_bytes()).map_err(|error| {
        Fault::from(Error::invalid(format!(
            "{} cannot be written: {error}",
            path.display()
        )))
    })?;
    Ok(uuid)
}
