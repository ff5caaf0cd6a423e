//! The kinds of phrase filters: what the lists of a field keep of the words around each token, so
//! that a phrase reads less.

/// The kind of phrase filters that a field has, for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhraseFilters {
    /// None.
    None,
    /// The common word before and the one after each token, if there are any: some seven bits a
    /// token.
    #[default]
    Common,
}

impl PhraseFilters {
    /// The names of all kinds.
    pub const NAMES: [&str; 2] = ["none", "common"];

    /// All kinds, in the order of their names.
    const ALL: [PhraseFilters; 2] = [PhraseFilters::None, PhraseFilters::Common];

    /// The kind of this name, one of [`PhraseFilters::NAMES`].
    pub fn named(name: &str) -> Option<PhraseFilters> {
        let mut all = PhraseFilters::ALL.into_iter();
        all.find(|kind| kind.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        PhraseFilters::NAMES[self as usize]
    }

    /// The number that stands for it in an index.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The kind with this number, if there is one.
    pub fn decode(code: u8) -> Option<PhraseFilters> {
        PhraseFilters::ALL.get(code as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back_to_their_kind() {
        for kind in PhraseFilters::ALL {
            assert_eq!(PhraseFilters::named(kind.name()), Some(kind));
            assert_eq!(PhraseFilters::decode(kind.code()), Some(kind));
        }
        assert_eq!(PhraseFilters::named("some"), None);
        assert_eq!(PhraseFilters::decode(255), None);
    }
}
