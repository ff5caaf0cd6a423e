//! The catalog: what the server keeps of all indexes together, in one file that is replaced whole.
//! So each change is there after a crash, or none of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::aliases::Aliases;
use super::metadata::replace;
use crate::fault::{Fault, Outcome};

/// Bytes of the file, which is in memory as a tree, and written whole at each change.
const CATALOG_BYTES_MAX: usize = 4 << 20;

/// The catalog of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// The aliases.
    pub aliases: Aliases,
    /// Templates of indexes, by their names, as they were given.
    pub templates: BTreeMap<String, Value>,
    /// Templates that others are made of.
    pub components: BTreeMap<String, Value>,
    /// Legacy templates, of which all that fit count in their order.
    pub legacy: BTreeMap<String, Value>,
    /// Indexes that are being deleted together with a change of aliases.
    pub deleting: Vec<String>,
}

impl Catalog {
    /// Reads the file; an empty catalog if there is none.
    pub fn read(path: &Path) -> Outcome<Catalog> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Catalog::default());
            }
            Err(error) => return Err(failed(path, "cannot be read", &error.to_string())),
        };
        let kept: Option<Value> = serde_json::from_slice(&bytes).ok();
        let catalog = kept.as_ref().and_then(Catalog::from_kept);
        catalog.ok_or_else(|| {
            failed(
                path,
                "is damaged",
                "delete it, which deletes all aliases and templates, and start again",
            )
        })
    }

    /// Writes the file, durable once this returns.
    pub fn write(&self, path: &Path) -> Outcome<()> {
        let kept = json!({
            "aliases": self.aliases.kept(),
            "templates": self.templates,
            "components": self.components,
            "legacy": self.legacy,
            "deleting": self.deleting,
        });
        let text = kept.to_string();
        if text.len() > CATALOG_BYTES_MAX {
            return Err(Fault::illegal(format!(
                "all aliases and templates take {} bytes, at most {CATALOG_BYTES_MAX} are kept: delete some",
                text.len()
            )));
        }
        replace(path, text.as_bytes())
            .map_err(|error| failed(path, "cannot be written", &error.to_string()))
    }

    fn from_kept(kept: &Value) -> Option<Catalog> {
        let map = |name: &str| -> Option<BTreeMap<String, Value>> {
            let members: &Map<String, Value> = kept.get(name)?.as_object()?;
            let members = members.iter();
            Some(
                members
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
            )
        };
        let deleting = kept.get("deleting")?.as_array()?.iter();
        let deleting = deleting.map(|name| name.as_str().map(str::to_owned));
        Some(Catalog {
            aliases: Aliases::from_kept(kept.get("aliases")?)?,
            templates: map("templates")?,
            components: map("components")?,
            legacy: match kept.get("legacy") {
                // Of a program that had none.
                None => BTreeMap::new(),
                Some(_) => map("legacy")?,
            },
            deleting: deleting.collect::<Option<Vec<String>>>()?,
        })
    }
}

fn failed(path: &Path, what: &str, why: &str) -> Fault {
    Fault::internal(format!("{} {what}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_comes_back_and_a_damaged_one_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("_catalog");
        let mut catalog = Catalog::read(&path).unwrap();
        assert_eq!(catalog, Catalog::default());
        catalog.templates.insert("t".to_owned(), json!({ "a": 1 }));
        catalog.legacy.insert("l".to_owned(), json!({ "b": 2 }));
        catalog.deleting.push("x".to_owned());
        catalog.aliases.add("a", "x", Default::default()).unwrap();
        catalog.write(&path).unwrap();
        assert_eq!(Catalog::read(&path).unwrap(), catalog);
        let whole = fs::read(&path).unwrap();
        let older = String::from_utf8_lossy(&whole).replace(r#""legacy""#, r#""other""#);
        fs::write(&path, older).unwrap();
        assert!(Catalog::read(&path).unwrap().legacy.is_empty());
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            assert!(
                Catalog::read(&path)
                    .unwrap_err()
                    .reason
                    .contains("is damaged")
            );
        }
    }
}
