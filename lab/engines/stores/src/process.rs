//! What the operating system says of this process.

use std::fs;
use std::path::Path;

/// Ticks a second in `/proc/self/stat`; Linux fixes it for programs.
const TICKS_PER_SECOND: f64 = 100.0;

/// Counters of the process, all threads, since its start.
#[derive(Clone, Copy, Default)]
pub struct Usage {
    /// User and system together.
    cpu_ticks: u64,
    /// Bytes fetched from the device, for mapped files too.
    pub bytes_read: u64,
    /// Bytes of pages that were made dirty, which the device gets unless they are cancelled.
    pub bytes_written: u64,
    /// Bytes of dirty pages that were deleted before they were written.
    pub bytes_cancelled: u64,
}

impl Usage {
    /// The counters now; zero where the system does not tell.
    pub fn now() -> Self {
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or("");
        let ticks = after_name.split_whitespace().skip(11).take(2);
        Self {
            cpu_ticks: ticks.filter_map(|text| text.parse::<u64>().ok()).sum(),
            bytes_read: value(&io, "read_bytes:"),
            bytes_written: value(&io, "write_bytes:"),
            bytes_cancelled: value(&io, "cancelled_write_bytes:"),
        }
    }

    /// What was used since `start`.
    pub fn since(self, start: Self) -> Self {
        Self {
            cpu_ticks: self.cpu_ticks - start.cpu_ticks,
            bytes_read: self.bytes_read - start.bytes_read,
            bytes_written: self.bytes_written - start.bytes_written,
            bytes_cancelled: self.bytes_cancelled - start.bytes_cancelled,
        }
    }

    /// The processors' time.
    pub fn cpu_seconds(self) -> f64 {
        self.cpu_ticks as f64 / TICKS_PER_SECOND
    }
}

/// The most resident memory this process ever had, mapped files included, in bytes.
pub fn peak_resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    value(&status, "VmHWM:") * 1024
}

/// The bytes that the files of a folder and of those in it have on the device.
pub fn allocated_bytes(folder: &Path) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.file_type()?.is_dir() {
            true => allocated_bytes(&entry.path())?,
            false => entry.metadata()?.blocks() * 512,
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
