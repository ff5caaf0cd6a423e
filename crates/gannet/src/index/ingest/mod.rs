//! From documents to batches that are ready to be written, on any thread.

mod content;
mod declarations;
mod fields;
mod mapping;
mod packing;
mod prepare;

pub(crate) use content::BatchContent;
pub(crate) use fields::Fields;
pub(crate) use mapping::DeclaredField;
pub use mapping::{FieldMapping, FieldType};
pub(crate) use packing::pack;
pub(crate) use prepare::{FieldLengths, Input, Preparation, PreparedDocument, decode_schema};
pub use prepare::{PreparedBatch, Workbench};
