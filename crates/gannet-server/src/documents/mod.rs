//! Documents on their way into an index: actions, the lines of a bulk, the writing of batches.

mod action;
mod bulk;
mod done;
mod rows;
mod sent;
mod update;
mod version;
mod write;

pub use action::{Action, ActionKind, Change, Precondition, sequence_number};
pub use bulk::{BulkAction, parse_bulk};
pub use done::{Done, ItemResult};
pub use sent::{SentDocument, sent_documents};
pub use update::UpdateBody;
pub use version::{GivenVersion, INTERNAL};
pub use write::{carry_out, carry_out_in};
