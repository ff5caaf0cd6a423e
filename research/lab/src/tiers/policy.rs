//! What a cache in memory asks a policy.

/// The number of a query or of a term.
pub type Key = u32;

/// What a cache knows of a result or of the cached part of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Whose it is.
    pub key: Key,
    /// How many bytes are cached.
    pub bytes: u64,
    /// How often the query or term was asked for so far.
    pub asked: u32,
    /// Modelled nanoseconds that reading it again would take.
    pub again: f64,
}

/// The order in which the entries of a cache leave it.
///
/// The cache reports every entry that enters ([`Policy::insert`]), is asked for
/// ([`Policy::touch`]) or is removed ([`Policy::remove`]), and evicts what [`Policy::victim`]
/// gives. The policy knows exactly the keys that are in the cache, each once.
pub trait Policy: std::fmt::Debug {
    /// An entry enters that was not there.
    fn insert(&mut self, entry: &Entry);

    /// An entry that is there is asked for.
    fn touch(&mut self, entry: &Entry);

    /// An entry that is there is removed.
    fn remove(&mut self, key: Key);

    /// Chooses the entry that leaves for a newcomer of so many bytes, and forgets it; nothing
    /// where there is none.
    fn victim(&mut self, bytes: u64) -> Option<Key>;
}
