//! A value with what it comes from, as Lucene's `explain` shows it, and what is known of a leaf to
//! explain its score.

use std::fmt;

use super::field::FieldStatistics;

/// A value and what it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The value.
    pub value: f32,
    /// The name of this part.
    pub description: String,
    /// The parts that make it up.
    pub details: Vec<Explanation>,
}

impl Explanation {
    /// A value that comes from nothing else.
    pub(crate) fn new(value: f32, description: impl Into<String>) -> Explanation {
        Explanation {
            value,
            description: description.into(),
            details: Vec::new(),
        }
    }

    /// Bytes that it takes with all that it has.
    pub(crate) fn memory_bytes(&self) -> usize {
        let details = self.details.iter().map(Explanation::memory_bytes);
        size_of::<Explanation>() + self.description.capacity() + details.sum::<usize>()
    }

    /// The value with its parts.
    pub(crate) fn with(mut self, details: Vec<Explanation>) -> Explanation {
        self.details = details;
        self
    }

    fn write(&self, depth: usize, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = 2 * depth;
        writeln!(out, "{:indent$}{} = {}", "", self.value, self.description)?;
        let mut details = self.details.iter();
        details.try_for_each(|detail| detail.write(depth + 1, out))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(0, out)
    }
}

/// Describes a leaf for explanations: a term, a phrase, or something whose score is constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeafNote {
    /// The field, or for a constant what it is.
    pub field: String,
    /// The terms with their document frequencies; none for a constant.
    pub terms: Vec<(String, u64)>,
    /// The boost.
    pub boost: f32,
    /// The statistics of the field.
    pub statistics: FieldStatistics,
    /// Set if these and the frequencies were given, so that they are not those of the index.
    pub is_given: bool,
    /// Set if the values of the field are terms as a whole.
    pub is_whole: bool,
}

impl LeafNote {
    /// Names a count, and says if it is not that of the index.
    pub fn counted(&self, what: &str) -> String {
        if self.is_given {
            format!("{what}, by the statistics given")
        } else {
            what.to_owned()
        }
    }
}

/// A leaf that occurs in a document, for its explanation.
pub struct ScoredLeaf<'a> {
    /// The leaf.
    pub note: &'a LeafNote,
    /// The frequency in the document.
    pub frequency: f32,
    /// The norm of its field there.
    pub norm: u8,
    /// The score.
    pub score: f32,
}
