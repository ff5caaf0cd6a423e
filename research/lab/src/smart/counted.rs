//! What an operation on the host found, read and executed.

/// What was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operators.
    pub operators: u64,
    /// Accesses to memory.
    pub accesses: u64,
}

impl Tally {
    /// Adds operators, and accesses, each of which is an operator too.
    pub fn add(&mut self, operators: u64, accesses: u64) {
        self.operators += operators + accesses;
        self.accesses += accesses;
    }
}

/// Pages that were read from a span at once: spans of lists, and behind them those of their tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The number of the span.
    pub span: usize,
    /// Its first page that is read.
    pub page: usize,
    /// How many are read.
    pub pages: usize,
}

/// What an operation found.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The results as a drive sends them.
    pub bytes: Vec<u8>,
    /// Results before ranking; with early termination those that were ranked.
    pub results: usize,
    /// What was read, in order.
    pub reads: Vec<Read>,
    /// What was executed.
    pub tally: Tally,
}
