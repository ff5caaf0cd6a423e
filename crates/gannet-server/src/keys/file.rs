//! The file of keys.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fault::{Fault, Outcome};
use crate::http::{Grants, Scope};
use crate::indexes::random_name;

/// Keys of one file.
const KEYS_MAX: usize = 10_000;

/// Bytes of the longest file.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The digest of a secret.
pub type SecretDigest = [u8; 32];

/// The keys of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyFile {
    keys: Vec<KeptKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KeptKey {
    name: String,
    digest: SecretDigest,
    grants: Arc<Grants>,
}

/// A key that was made now. Its secret is told once.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// The identifier: the name of the user where a client asks for one.
    pub id: String,
    /// The secret: the password of that user.
    pub secret: String,
}

/// The part of a key that can be told.
#[derive(Clone, Debug)]
pub struct KeyListing {
    /// The identifier.
    pub id: String,
    /// The name that it was given.
    pub name: String,
    /// The scopes of what it may do.
    pub scopes: Vec<String>,
}

impl NewKey {
    /// The form in which clients take a key as one text: for `Authorization: ApiKey`.
    pub fn encoded(&self) -> String {
        use base64::Engine as _;
        let both = format!("{}:{}", self.id, self.secret);
        base64::engine::general_purpose::STANDARD.encode(both)
    }
}

/// The digest by which a secret is known.
pub fn digest(secret: &str) -> SecretDigest {
    Sha256::digest(secret.as_bytes()).into()
}

impl KeyFile {
    /// Reads a file, which must be there, and which nobody but its owner may read.
    pub fn read(path: &Path) -> Outcome<KeyFile> {
        let about = fs::metadata(path)
            .map_err(|error| failed(path, "cannot be read", &error.to_string()))?;
        if about.permissions().mode() & 0o077 != 0 {
            return Err(failed(path, "can be read by others", "chmod 600 it"));
        }
        if about.len() > FILE_BYTES_MAX {
            return Err(failed(path, "is no file of keys", "it is too long"));
        }
        let bytes =
            fs::read(path).map_err(|error| failed(path, "cannot be read", &error.to_string()))?;
        let kept: Option<Value> = serde_json::from_slice(&bytes).ok();
        let keys = kept.as_ref().and_then(KeyFile::from_kept);
        keys.ok_or_else(|| {
            failed(
                path,
                "is no file of keys",
                "make one with `gannet keys create`",
            )
        })
    }

    /// Makes a key, and writes it to a file, which is made if it is missing.
    pub fn create(path: &Path, name: &str, scopes: &[String]) -> Outcome<NewKey> {
        let mut file = if path.exists() {
            KeyFile::read(path)?
        } else {
            KeyFile::default()
        };
        if scopes.is_empty() {
            return Err(Fault::illegal("a key needs a --scope, such as read:logs-*"));
        }
        if file.keys.len() >= KEYS_MAX {
            return Err(failed(
                path,
                &format!("has {KEYS_MAX} keys already"),
                "revoke some",
            ));
        }
        let scopes = scopes.iter().map(|scope| Scope::parse(scope));
        let scopes = scopes.collect::<Outcome<Vec<Scope>>>()?;
        let new = NewKey {
            id: random_name()?,
            // Each has 128 random bits.
            secret: format!("{}{}", random_name()?, random_name()?),
        };
        file.keys.push(KeptKey {
            name: name.to_owned(),
            digest: digest(&new.secret),
            grants: Arc::new(Grants {
                id: new.id.clone(),
                scopes,
            }),
        });
        file.write(path)?;
        Ok(new)
    }

    /// Takes a key out of a file.
    pub fn revoke(path: &Path, id: &str) -> Outcome<()> {
        let mut file = KeyFile::read(path)?;
        let before = file.keys.len();
        file.keys.retain(|key| key.grants.id != id);
        if file.keys.len() == before {
            return Err(failed(
                path,
                &format!("has no key {id}"),
                "`gannet keys list` tells which it has",
            ));
        }
        file.write(path)
    }

    /// Lists the keys, without their secrets.
    pub fn list(&self) -> Vec<KeyListing> {
        let keys = self.keys.iter().map(|key| KeyListing {
            id: key.grants.id.clone(),
            name: key.name.clone(),
            scopes: key.grants.scopes.iter().map(Scope::to_string).collect(),
        });
        keys.collect()
    }

    /// The key of an identifier: its digest, and what it may do.
    pub fn find(&self, id: &str) -> Option<(SecretDigest, Arc<Grants>)> {
        let key = self.keys.iter().find(|key| key.grants.id == id)?;
        Some((key.digest, Arc::clone(&key.grants)))
    }

    fn write(&self, path: &Path) -> Outcome<()> {
        let keys = self.keys.iter().map(|key| {
            let digest: String = key
                .digest
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let scopes: Vec<String> = key.grants.scopes.iter().map(Scope::to_string).collect();
            json!({ "id": key.grants.id, "name": key.name, "sha256": digest, "scopes": scopes })
        });
        let kept = json!({ "keys": keys.collect::<Vec<Value>>() });
        let text = format!("{kept:#}\n");
        replace_secret(path, text.as_bytes())
            .map_err(|error| failed(path, "cannot be written", &error.to_string()))
    }

    fn from_kept(kept: &Value) -> Option<KeyFile> {
        let list = kept.get("keys")?.as_array()?;
        if list.len() > KEYS_MAX {
            return None;
        }
        let keys = list.iter().map(|key| {
            let scopes = key.get("scopes")?.as_array()?.iter();
            let scopes = scopes.map(|scope| Scope::parse(scope.as_str()?).ok());
            Some(KeptKey {
                name: key.get("name")?.as_str()?.to_owned(),
                digest: from_hex(key.get("sha256")?.as_str()?)?,
                grants: Arc::new(Grants {
                    id: key.get("id")?.as_str()?.to_owned(),
                    scopes: scopes.collect::<Option<Vec<Scope>>>()?,
                }),
            })
        });
        Some(KeyFile {
            keys: keys.collect::<Option<Vec<KeptKey>>>()?,
        })
    }
}

fn from_hex(text: &str) -> Option<SecretDigest> {
    let mut digest = SecretDigest::default();
    if text.len() != 2 * digest.len() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(digest)
}

/// Replaces a file by one that its owner alone may read, durably.
fn replace_secret(path: &Path, bytes: &[u8]) -> Result<(), std::io::Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let _ = fs::remove_file(&beside);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn failed(path: &Path, what: &str, why: &str) -> Fault {
    Fault::illegal(format!("{} {what}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_listed_and_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        assert!(KeyFile::read(&path).is_err());
        let scopes = ["read:logs-*".to_owned(), "admin:x".to_owned()];
        let one = KeyFile::create(&path, "one", &scopes).unwrap();
        let other = KeyFile::create(&path, "other", &scopes[..1]).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&one.secret) && text.contains(&one.id));
        let file = KeyFile::read(&path).unwrap();
        let names: Vec<String> = file.list().into_iter().map(|key| key.name).collect();
        assert_eq!(names, ["one", "other"]);
        assert_eq!(file.list()[0].scopes, scopes);
        assert_eq!(file.find(&one.id).unwrap().0, digest(&one.secret));
        KeyFile::revoke(&path, &one.id).unwrap();
        assert!(KeyFile::revoke(&path, &one.id).is_err());
        let file = KeyFile::read(&path).unwrap();
        assert!(file.find(&one.id).is_none() && file.find(&other.id).is_some());
        assert!(KeyFile::create(&path, "x", &[]).is_err());
        assert!(KeyFile::create(&path, "x", &["rd:x".to_owned()]).is_err());
    }

    #[test]
    fn what_others_can_read_or_is_damaged_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        KeyFile::create(&path, "one", &["read:*".to_owned()]).unwrap();
        let whole = fs::read(&path).unwrap();
        for end in 0..whole.len() - 1 {
            fs::write(&path, &whole[..end]).unwrap();
            assert!(KeyFile::read(&path).is_err(), "{end}");
        }
        fs::write(&path, &whole).unwrap();
        KeyFile::read(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(
            KeyFile::read(&path)
                .unwrap_err()
                .reason
                .contains("chmod 600")
        );
    }
}
