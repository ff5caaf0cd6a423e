//! From documents to batches that are ready to be written, on any thread.

mod fields;
mod packing;
mod prepare;

pub(crate) use fields::Fields;
pub(crate) use packing::pack;
pub(crate) use prepare::{FieldLengths, Input, Preparation, PreparedDocument, decode_schema};
pub use prepare::{PreparedBatch, Workbench};
