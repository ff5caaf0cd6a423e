//! The line in a lock file that says who has locked it, for error messages.
//!
//! A lock file with any other content, or with another name (a hard link), is somebody else's: it
//! is locked as it is, and nothing is written to it or told of it.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use super::Access;

/// More than the line that a holder writes.
const SIGNATURE_LIMIT: usize = 512;

/// The end of a reader's line.
const READING: &str = ", reading";

/// Writes who has the lock, unless the file is somebody else's.
pub fn sign(file: &File, access: Access) -> io::Result<()> {
    if !is_own(file)? {
        return Ok(());
    }
    let does = match access {
        Access::Write => "",
        Access::Read => READING,
    };
    let line = format!("process {} ({}){does}\n", std::process::id(), program());
    file.write_all_at(line.as_bytes(), 0)?;
    file.set_len(line.len() as u64)
}

/// Returns the line of a holder, if the file has one line and nothing else.
pub fn read(file: &File) -> Option<String> {
    let mut bytes = [0; SIGNATURE_LIMIT];
    let length = file.read_at(&mut bytes, 0).ok()?;
    let line = std::str::from_utf8(&bytes[..length]).ok()?;
    let line = line.strip_suffix('\n')?;
    let holder = line.strip_suffix(READING).unwrap_or(line);
    let (process, program) = holder.strip_prefix("process ")?.split_once(" (")?;
    let is_number = process.parse::<u32>().is_ok();
    (is_number && program.ends_with(')') && !line.contains('\n')).then(|| line.to_owned())
}

/// Returns true if a line is that of a reader.
pub fn is_of_reader(line: &str) -> bool {
    line.ends_with(READING)
}

/// Returns the holder of the lock, as far as it is known.
pub fn holder(file: &File) -> String {
    read(file).unwrap_or_else(|| "another process".to_owned())
}

/// Returns true if the file has nothing in it but the line of a holder, and no other name.
fn is_own(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    let is_short = metadata.len() < SIGNATURE_LIMIT as u64;
    Ok(is_short && metadata.nlink() == 1 && (metadata.len() == 0 || read(file).is_some()))
}

fn program() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(Path::file_name);
    name.map_or("unknown program".into(), |name| {
        name.to_string_lossy().into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns the content of a file after a writer has signed it.
    fn signed(path: &Path) -> String {
        let file = File::options().read(true).write(true).open(path).unwrap();
        sign(&file, Access::Write).unwrap();
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn the_line_of_an_earlier_holder_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        for earlier in ["", "process 1 (a program (of 2)), reading\n"] {
            fs::write(&path, earlier).unwrap();
            let now = signed(&path);
            assert!(now.contains(&std::process::id().to_string()), "{now}");
        }
    }

    #[test]
    fn what_is_no_line_of_a_holder_stays_and_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let long = format!("process 1 ({})\n", "x".repeat(SIGNATURE_LIMIT));
        for content in [
            "secret\n",
            "process 12 (gannet)\nsecret\n",
            "process x (gannet)\n",
            "process 12 (gannet)",
            &long,
        ] {
            fs::write(&path, content).unwrap();
            assert_eq!(signed(&path), content);
            assert_eq!(holder(&File::open(&path).unwrap()), "another process");
        }
    }

    #[test]
    fn a_file_that_has_another_name_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("lock"), folder.path().join("other"));
        fs::write(&other, "").unwrap();
        fs::hard_link(&other, &path).unwrap();
        assert_eq!(signed(&path), "");
    }
}
