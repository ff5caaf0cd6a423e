//! Queries of plain words, in one field or in several, answered straight from their lists where all
//! pages are in memory.
//!
//! The unit is a block of the list that leads. Its documents are filtered by their scores, the
//! other lists are asked for those that stay, and what is left is offered to the best documents.
//! Nothing waits here: where a page is not in memory the run ends, and tells what it has found and
//! from which document on the ranking (see `rank`) goes on. Source of the order, scores first:
//! Lucene's `BlockMaxConjunctionBulkScorer`.
//!
//! A union, also one of several fields, is a pass for each list: it finds the documents of which
//! that list is the shortest, and asks those of the passes before only to leave out what they gave.
//! The shortest lists come first, since they raise the threshold most. Passes of long ones end at
//! once where what is left cannot lift a document above it. That is the idea of MaxScore, list by
//! list.

mod bounds;
mod list;
mod pass;
mod run;
mod survivors;

pub use bounds::{OthersAdd, PassBounds};
pub use list::WordList;
pub use pass::{FIRST, FIRSTS, Other, Pass, WordClause};
pub use run::{WordsFound, WordsRun};
