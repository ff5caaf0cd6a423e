//! What a cache asks a policy.

/// The order in which the entries of a cache go.
///
/// The cache tells of every entry that comes ([`Policy::insert`]) and is asked for
/// ([`Policy::touch`]), and takes what [`Policy::victim`] gives out of itself. The policy knows the
/// keys that are in the cache, no others, each once.
pub trait Policy<K> {
    /// An entry comes that was not there.
    fn insert(&mut self, key: K);

    /// An entry that is there is asked for.
    fn touch(&mut self, key: &K);

    /// Chooses the entry that goes next, and forgets it; nothing where there is none.
    fn victim(&mut self) -> Option<K>;
}
