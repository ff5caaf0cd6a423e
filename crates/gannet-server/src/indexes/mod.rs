//! The indexes of a folder: their names, what is kept beside them, which of them are open.

mod aliases;
mod catalog;
mod changes;
mod dynamic;
mod field;
mod mapping;
mod metadata;
mod names;
mod open;
mod plan;
mod registry;
mod resolve;
mod slot;
mod turns;
mod types;
mod values;

pub use aliases::AliasOptions;
pub use catalog::Catalog;
pub use field::FieldMapping;
pub use mapping::Mapping;
pub use metadata::{IndexSettings, Metadata, random_name};
pub use open::OpenIndex;
pub use plan::{IndexPlan, patterns, priority};
pub use registry::Indexes;
pub use turns::Turn;
pub use types::{FieldType, type_names};
