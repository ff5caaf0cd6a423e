//! Holds requests against the keys of a file, as it is now.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use tracing::error;

use super::file::{KeyFile, SecretDigest, digest};
use crate::fault::{Fault, Outcome};
use crate::http::Grants;

/// The time between two looks at whether the file has changed.
const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// The longest header that is read.
const HEADER_BYTES_MAX: usize = 1 << 10;

/// The keys of a file.
pub struct Keys {
    path: PathBuf,
    state: Mutex<Known>,
}

struct Known {
    file: Arc<KeyFile>,
    /// The state of the file that was read.
    seen: Option<(SystemTime, u64)>,
    looked: Instant,
}

impl Keys {
    /// Reads a file.
    pub fn read(path: &Path) -> Outcome<Keys> {
        let seen = seen(path);
        Ok(Keys {
            path: path.to_owned(),
            state: Mutex::new(Known {
                file: Arc::new(KeyFile::read(path)?),
                seen,
                looked: Instant::now(),
            }),
        })
    }

    /// Returns the rights of the key of a request.
    ///
    /// # Errors
    ///
    /// 401 if there is none, or a wrong one.
    pub fn check(&self, authorization: Option<&str>) -> Outcome<Arc<Grants>> {
        let missing = || {
            unauthorized(
                "missing authentication credentials: send a key as `Authorization: ApiKey`, or its identifier and its \
                 secret as a user with a password",
            )
        };
        let written = authorization.ok_or_else(missing)?;
        let wrong = || {
            unauthorized("unable to authenticate: there is no such key, or its secret is another")
        };
        let (id, secret) = parse(written).ok_or_else(wrong)?;
        let found = self.now().find(&id);
        let given = digest(&secret);
        // Also without a key there is something to compare, which takes as long.
        let (kept, grants) = match found {
            Some((kept, grants)) => (kept, Some(grants)),
            None => (SecretDigest::default(), None),
        };
        let is_right = is_same(&given, &kept);
        grants.filter(|_| is_right).ok_or_else(wrong)
    }

    /// The keys as they are now. None counts where the file cannot be read.
    fn now(&self) -> Arc<KeyFile> {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if state.looked.elapsed() < LOOK_PAUSE {
            return Arc::clone(&state.file);
        }
        state.looked = Instant::now();
        let seen = seen(&self.path);
        if seen.is_none() || seen != state.seen {
            state.seen = seen;
            let read = KeyFile::read(&self.path);
            state.file = Arc::new(read.unwrap_or_else(|fault| {
                error!(reason = fault.reason, "there are no keys");
                KeyFile::default()
            }));
        }
        Arc::clone(&state.file)
    }
}

fn seen(path: &Path) -> Option<(SystemTime, u64)> {
    let about = fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

/// The identifier and the secret of a header.
fn parse(written: &str) -> Option<(String, String)> {
    if written.len() > HEADER_BYTES_MAX {
        return None;
    }
    let (scheme, encoded) = written.split_once(' ')?;
    let is_known = ["apikey", "basic", "bearer"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(scheme));
    let decoded = base64::engine::general_purpose::STANDARD.decode(encoded.trim());
    let decoded = String::from_utf8(decoded.ok().filter(|_| is_known)?).ok()?;
    let (id, secret) = decoded.split_once(':')?;
    Some((id.to_owned(), secret.to_owned()))
}

/// Compares all bytes, wherever they differ.
fn is_same(one: &SecretDigest, other: &SecretDigest) -> bool {
    let differences = one.iter().zip(other).map(|(a, b)| a ^ b);
    differences.fold(0, |all, bits| all | bits) == 0
}

fn unauthorized(reason: &str) -> Fault {
    Fault::new(401, "security_exception", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_secrets_until_they_are_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let key = KeyFile::create(&path, "k", &["read:*".to_owned()]).unwrap();
        let keys = Keys::read(&path).unwrap();
        for scheme in ["ApiKey", "Basic", "bearer"] {
            let header = format!("{scheme} {}", key.encoded());
            assert_eq!(keys.check(Some(&header)).unwrap().id, key.id);
        }
        let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        for header in [
            String::new(),
            format!("Digest {}", key.encoded()),
            format!("ApiKey {}", encode(&format!("{}:x", key.id))),
            format!("ApiKey {}", encode(&format!("x:{}", key.secret))),
            format!("ApiKey {}", encode(&key.id)),
            "ApiKey ???".to_owned(),
            format!("ApiKey {}", "A".repeat(100_000)),
        ] {
            assert_eq!(keys.check(Some(&header)).unwrap_err().status, 401);
        }
        assert_eq!(keys.check(None).unwrap_err().status, 401);
        // Changes are seen, and where nothing can be read no key counts.
        let header = format!("ApiKey {}", key.encoded());
        let other = KeyFile::create(&path, "other", &["read:*".to_owned()]).unwrap();
        std::thread::sleep(2 * LOOK_PAUSE);
        let of_other = format!("ApiKey {}", other.encoded());
        assert!(keys.check(Some(&header)).is_ok() && keys.check(Some(&of_other)).is_ok());
        KeyFile::revoke(&path, &key.id).unwrap();
        std::thread::sleep(2 * LOOK_PAUSE);
        assert!(keys.check(Some(&header)).is_err() && keys.check(Some(&of_other)).is_ok());
        fs::remove_file(&path).unwrap();
        std::thread::sleep(2 * LOOK_PAUSE);
        assert!(keys.check(Some(&of_other)).is_err());
    }
}
