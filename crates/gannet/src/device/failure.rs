//! The operating system's errors in the engine's words.

use std::fmt::Display;
use std::io;

use crate::base::Error;

/// The [`Error::Device`] for `error`, which `operation` met at `file`.
///
/// A full disk and an exhausted quota are both `full`: to the caller they mean the same, that writing
/// must wait for space while reading goes on.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

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
