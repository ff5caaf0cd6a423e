//! Requests of the host.

/// Bytes of a page of the host: the engine's unit of I/O.
pub const PAGE_BYTES: u32 = gannet::device::PAGE_SIZE as u32;

/// What the host asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Data from the drive.
    Read,
    /// Data to the drive.
    Write,
    /// The pages have no content any more.
    Trim,
    /// What was written must survive a power loss. It has no pages.
    Flush,
}

/// One request for consecutive pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is asked for.
    pub operation: Operation,
    /// The first page of [`PAGE_BYTES`].
    pub page: u64,
    /// How many pages.
    pub pages: u32,
}

impl Request {
    /// A read.
    pub fn read(page: u64, pages: u32) -> Request {
        Request {
            operation: Operation::Read,
            page,
            pages,
        }
    }

    /// A write.
    pub fn write(page: u64, pages: u32) -> Request {
        Request {
            operation: Operation::Write,
            page,
            pages,
        }
    }

    /// A trim.
    pub fn trim(page: u64, pages: u32) -> Request {
        Request {
            operation: Operation::Trim,
            page,
            pages,
        }
    }

    /// A flush.
    pub fn flush() -> Request {
        Request {
            operation: Operation::Flush,
            page: 0,
            pages: 0,
        }
    }

    /// Its bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.pages) * u64::from(PAGE_BYTES)
    }
}
