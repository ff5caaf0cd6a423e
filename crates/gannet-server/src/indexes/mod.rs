//! The indexes of a folder: their names, what is kept beside them, which of them are open.

mod field;
mod mapping;
mod metadata;
mod names;
mod open;
mod registry;
mod slot;
mod turns;
mod types;
mod values;

pub use mapping::Mapping;
pub use metadata::{IndexSettings, Metadata, random_name};
pub use open::OpenIndex;
pub use registry::Indexes;
pub use turns::Turn;
pub use types::{FieldType, type_names};
