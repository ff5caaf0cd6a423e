//! What the operating system says of this process.

use std::fs;
use std::path::Path;

/// Ticks a second in `/proc/self/stat`; Linux fixes it for programs.
const TICKS_PER_SECOND: f64 = 100.0;

/// Counters of the process, all threads, since its start.
#[derive(Clone, Copy, Default)]
pub struct Usage {
    /// User and system together.
    pub cpu_seconds: f64,
    /// Bytes fetched from the device, for mapped files too.
    pub bytes_read: u64,
    /// Bytes of pages that were made dirty, which the device gets unless they are cancelled.
    pub bytes_dirtied: u64,
    /// Bytes of dirty pages that were deleted before they were written.
    pub bytes_cancelled: u64,
    pub major_faults: u64,
}

impl Usage {
    /// The counters now; zero where the system does not tell.
    pub fn now() -> Self {
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .split_whitespace()
            .collect();
        let field = |at: usize| {
            fields
                .get(at)
                .and_then(|text| text.parse().ok())
                .unwrap_or(0u64)
        };
        Self {
            cpu_seconds: (field(11) + field(12)) as f64 / TICKS_PER_SECOND,
            bytes_read: value(&io, "read_bytes:"),
            bytes_dirtied: value(&io, "write_bytes:"),
            bytes_cancelled: value(&io, "cancelled_write_bytes:"),
            major_faults: field(9),
        }
    }

    /// What was used since `start`.
    pub fn since(self, start: Self) -> Self {
        Self {
            cpu_seconds: self.cpu_seconds - start.cpu_seconds,
            bytes_read: self.bytes_read - start.bytes_read,
            bytes_dirtied: self.bytes_dirtied - start.bytes_dirtied,
            bytes_cancelled: self.bytes_cancelled - start.bytes_cancelled,
            major_faults: self.major_faults - start.major_faults,
        }
    }

    /// Bytes given to the device.
    pub fn bytes_written(self) -> u64 {
        self.bytes_dirtied.saturating_sub(self.bytes_cancelled)
    }
}

/// The most resident memory this process ever had, mapped files included, in bytes.
pub fn peak_resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    value(&status, "VmHWM:") * 1024
}

/// The bytes that the files of a folder and of the folders in it have on the device.
pub fn allocated_bytes(folder: &Path) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.metadata()? {
            folder if folder.is_dir() => allocated_bytes(&entry.path())?,
            file => file.blocks() * 512,
        };
    }
    Ok(bytes)
}

fn value(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}
