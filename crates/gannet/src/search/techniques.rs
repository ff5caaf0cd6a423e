//! Techniques that make searches fast, each with a switch, so that its worth can be measured.
//!
//! No switch changes an answer: `gannet-lab answers` asks the same queries with all and without
//! each.

/// The techniques that a search uses: all, unless one is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Techniques {
    /// Documents that cannot come among the best are passed over unread.
    pub pruning: bool,
    /// The pages of lists and tables that will be gone through are read ahead, as many as a round
    /// has room for; without, each is read when it is reached.
    pub prefetch: bool,
    /// All pages that a query knows it needs are read in one batch; without, one page after the
    /// other.
    pub batches: bool,
    /// Phrase filters tell which documents may have a phrase before any position is read; without,
    /// the positions of all documents that have its words are.
    pub filters: bool,
    /// The documents found are read together; without, one after the other.
    pub documents: bool,
    /// Lists that are asked for often are kept decoded; without, they are read from their pages.
    pub hot: bool,
}

impl Default for Techniques {
    fn default() -> Techniques {
        Techniques {
            pruning: true,
            prefetch: true,
            batches: true,
            filters: true,
            documents: true,
            hot: true,
        }
    }
}

impl Techniques {
    /// The names that [`Techniques::without`] knows.
    pub const NAMES: [&str; 6] = [
        "pruning",
        "prefetch",
        "batches",
        "filters",
        "documents",
        "hot",
    ];

    /// These less the one of this name; nothing if there is none.
    pub fn without(mut self, name: &str) -> Option<Techniques> {
        let switch = match name {
            "pruning" => &mut self.pruning,
            "prefetch" => &mut self.prefetch,
            "batches" => &mut self.batches,
            "filters" => &mut self.filters,
            "documents" => &mut self.documents,
            "hot" => &mut self.hot,
            _ => return None,
        };
        *switch = false;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_switches_something_else_off() {
        let all = Techniques::default();
        let each = Techniques::NAMES.map(|name| all.without(name).unwrap());
        for (at, one) in each.iter().enumerate() {
            assert!(*one != all && !each[..at].contains(one), "{one:?}");
        }
        assert_eq!(all.without("all"), None);
    }
}
