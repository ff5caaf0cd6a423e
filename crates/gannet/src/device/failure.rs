//! The operating system's errors in the engine's words.

use std::fmt::Display;
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::regular::Irregular;
use crate::base::Error;

/// The operation that takes a lock.
pub const LOCK: &str = "lock";

/// The [`Error::Device`] for `error`, which `operation` met at `file`.
///
/// A full disk and an exhausted quota are both `full`: to the caller they mean the same, that
/// writing must wait for space while reading goes on. What is no regular file is the caller's to
/// mend.
pub fn failure(operation: &'static str, file: impl Display, error: io::Error) -> Error {
    if let Some(irregular) = Irregular::of(&error) {
        return Error::invalid(format!("{file}: {irregular}"));
    }
    let full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    );
    let reason = match device_advice(operation, &error) {
        Some(advice) => format!("{error}: {advice}"),
        None => error.to_string(),
    };
    Error::Device {
        operation,
        file: file.to_string(),
        reason,
        full,
    }
}

/// Returns the error of `operation` on the folder of an index: the caller can mend a wrong path or
/// its permissions; others are as of [`failure`].
pub fn unusable(operation: &'static str, folder: &Path, error: io::Error) -> Error {
    let Some(advice) = path_advice(&error) else {
        return failure(operation, folder.display(), error);
    };
    let folder = folder.display();
    Error::invalid(format!("{operation} of {folder} failed: {error}: {advice}"))
}

/// Returns the advice for a path that is wrong, or may not be used.
fn path_advice(error: &io::Error) -> Option<&'static str> {
    if Errno::from_io_error(error) == Some(Errno::LOOP) {
        return Some("check the path, whose links lead in a circle");
    }
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Some("check the path"),
        io::ErrorKind::InvalidFilename => Some("choose a shorter path"),
        io::ErrorKind::PermissionDenied => {
            Some("choose another path, or give this user the right to read and write it")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            Some("mount the file system for writing, or choose another path")
        }
        _ => None,
    }
}

/// Returns the advice for a fault of the system or the device, as far as the error tells.
fn device_advice(operation: &'static str, error: &io::Error) -> Option<&'static str> {
    match Errno::from_io_error(error)? {
        Errno::NOSPC | Errno::DQUOT => Some("make space, then try again"),
        Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS if operation == LOCK => Some(
            "this file system has no locks, without which two writers would destroy an index: mount it with locks \
             (of NFS, with its lock service), or put the index on a local disk",
        ),
        Errno::MFILE => Some("allow this process more open files (ulimit -n)"),
        Errno::NFILE => {
            Some("the system has too many open files: end other programs, then try again")
        }
        Errno::FBIG => {
            Some("allow this process longer files (ulimit -f), or use another file system")
        }
        Errno::IO => Some("the device may be failing: look at the messages of the system"),
        Errno::STALE => Some("the file is gone from its server: open the index again"),
        Errno::ROFS => Some("mount the file system for writing, then try again"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn advice_is_of_the_kind_of_the_error() {
        for (operation, errno, advice) in [
            (LOCK, Errno::ROFS, "mount the file system for writing"),
            (LOCK, Errno::ACCESS, "the right to read and write"),
            (LOCK, Errno::NOLCK, "has no locks"),
            (LOCK, Errno::OPNOTSUPP, "has no locks"),
            ("open", Errno::MFILE, "ulimit -n"),
            ("open", Errno::LOOP, "circle"),
            ("write", Errno::FBIG, "ulimit -f"),
            ("write", Errno::ROFS, "mount the file system for writing"),
        ] {
            let said = unusable(operation, Path::new("books.gnt"), errno.into()).to_string();
            assert!(said.contains(advice), "{said}");
            assert_eq!(said.contains("right to"), errno == Errno::ACCESS, "{said}");
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
