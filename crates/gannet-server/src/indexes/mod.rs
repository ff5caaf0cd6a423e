//! The indexes of a folder: their names, what is kept beside them, which of them are open.

mod mapping;
mod metadata;
mod names;
mod open;
mod registry;
mod turns;
mod values;

pub use mapping::{FieldType, Mapping, type_names};
pub use metadata::{IndexSettings, Metadata, random_name};
pub use open::OpenIndex;
pub use registry::Indexes;
pub use turns::Turn;
