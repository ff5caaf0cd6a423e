//! How a folder is opened.

/// Which backend to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// io_uring where it works, otherwise `pread`.
    #[default]
    Auto,
    /// io_uring, or an error where it does not work.
    Uring,
    /// `pread` on a pool of threads.
    Pread,
}

/// What will be done with the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing: no other process may write.
    Write,
    /// Reading only, beside others who read and one who writes.
    Read,
}

/// How to open an index folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// The backend.
    pub backend: BackendChoice,
    /// Reading, or writing too.
    pub access: Access,
    /// Whether a missing folder is made, if access is for writing.
    pub create: bool,
}
