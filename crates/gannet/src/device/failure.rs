//! The operating system's errors in the engine's words.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::base::Error;

/// The [`Error::Device`] for `error`, which `operation` met at `file`.
///
/// A full disk and an exhausted quota are both `full`: to the caller they mean the same, that
/// writing must wait for space while reading goes on.
pub fn failure(operation: &'static str, file: impl Display, error: io::Error) -> Error {
    let full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    );
    let reason = match full {
        true => format!("{error}: make space, then try again"),
        false => error.to_string(),
    };
    Error::Device {
        operation,
        file: file.to_string(),
        reason,
        full,
    }
}

/// What `operation` met at the folder of an index: the caller's to mend where the path or its
/// permissions are wrong, else as [`failure`].
pub fn unusable(operation: &'static str, folder: &Path, error: io::Error) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "check the path",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose another path, or give this user the right to read and write it"
        }
        _ => return failure(operation, folder.display(), error),
    };
    let folder = folder.display();
    Error::invalid(format!("{operation} of {folder} failed: {error}: {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn a_wrong_path_is_the_callers_and_a_failing_device_is_not() {
        for (errno, expected) in [
            (Errno::NOTDIR, false),
            (Errno::ACCESS, false),
            (Errno::ROFS, false),
            (Errno::IO, true),
            (Errno::NOSPC, true),
        ] {
            let error = unusable("open", Path::new("books.gnt"), errno.into());
            assert_eq!(error.is_storage_fault(), expected, "{error}");
        }
    }

    #[test]
    fn only_missing_space_is_full() {
        for (errno, expected) in [
            (Errno::NOSPC, true),
            (Errno::DQUOT, true),
            (Errno::IO, false),
        ] {
            let Error::Device { full, .. } = failure("write", "zone-1", errno.into()) else {
                panic!("not a device error");
            };
            assert_eq!(full, expected, "{errno}");
        }
    }
}
