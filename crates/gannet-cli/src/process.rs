//! Reads what the operating system knows of this process.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time that all threads of the process have used.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The most bytes that the process had resident at once, libraries and allocator included; 0 where
/// the system does not tell.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
    line.and_then(|kilobytes| kilobytes.trim().parse().ok())
        .map_or(0, |kilobytes: u64| kilobytes << 10)
}

/// Bytes that the process has read from block devices; nothing where the system does not tell.
pub fn bytes_read() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_goes_on() {
        let before = cpu_time();
        let sum: u64 = (0..2_000_000u64).map(std::hint::black_box).sum();
        assert!(sum > 0 && cpu_time() > before);
    }
}
