//! Options for opening a folder.

/// The backends to choose from.
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

/// The kinds of access to an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing: no other process may write.
    Write,
    /// Reading only, beside others who read and one who writes.
    Read,
}

/// The options for opening an index folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// The backend.
    pub backend: BackendChoice,
    /// Reading, or writing too.
    pub access: Access,
    /// Set if a missing folder is made, if access is for writing.
    pub create: bool,
}
