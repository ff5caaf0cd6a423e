//! Programs that run inside a drive: what an engine may ask of a device that computes.
//!
//! A session runs one program over pages that the host names. OPEN starts it, GET polls it and
//! fetches results, PUT writes pages without a file system, CLOSE frees it. The calls are those of
//! the Smart SSD paper (Wang and Park, 2016); `research/papers/smart-ssd/page.md` maps them to
//! NVMe.
//!
//! Invariants: an implementation knows programs, pages and bytes, nothing of search. A program
//! reads only the spans of its session. When a program fails, its session ends, and the host does
//! the work itself: an error here never means that an answer is lost.

use crate::base::Result;

use super::FileId;

/// Consecutive pages of a file that a session may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSpan {
    /// The file.
    pub file: FileId,
    /// The first page.
    pub page: u32,
    /// The number of pages.
    pub pages: u32,
}

/// The request of OPEN.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The name of a program that the device has.
    pub program: &'a str,
    /// The program's parameters, in a form that only it and the host know.
    pub parameters: &'a [u8],
    /// The pages that it may read.
    pub spans: &'a [PageSpan],
}

/// A session of a device. Numbers are never reused, so a call with a closed one is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// The result of GET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Poll {
    /// The program has not ended. The host asks again after the poll interval of the device.
    Running,
    /// The program has ended. These are the next bytes of its results.
    Results {
        /// At most as many bytes as GET asked for; nothing when all were fetched.
        bytes: Vec<u8>,
        /// Set if there are more.
        more: bool,
    },
}

/// A device that runs programs.
pub trait Offload: Send + Sync {
    /// Starts a session. Fails if the device does not have the program, if a span lies outside a
    /// file, or if all sessions are taken.
    fn open(&self, task: &Task<'_>) -> Result<SessionId>;

    /// Polls a session and fetches at most `most_bytes` of its results. Fails with
    /// [`crate::Error::Device`] if the program failed.
    fn get(&self, session: SessionId, most_bytes: usize) -> Result<Poll>;

    /// Writes whole pages into a span of a session whose program was not polled yet. `page` counts
    /// from the beginning of the span.
    fn put(&self, session: SessionId, span: usize, page: u32, bytes: &[u8]) -> Result<()>;

    /// Ends a session and frees what it held, whether its program has ended or not.
    fn close(&self, session: SessionId) -> Result<()>;
}
