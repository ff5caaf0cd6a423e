//! The arguments as they are given: the one table from which parsing, help and completions are
//! made.
//!
//! Nothing here is checked against an index or a file; each command resolves its own.

mod analyze;
mod backup;
mod bench;
mod cache;
mod command;
mod common;
mod completions;
mod count;
mod delete;
mod documents;
mod fields;
mod index;
mod inspect;
#[cfg(feature = "server")]
mod keys;
mod long_help;
mod maintenance;
#[cfg(feature = "man")]
mod man;
mod mistakes;
mod path;
mod remote;
mod search;
#[cfg(feature = "server")]
mod serve;
mod sources;
mod update;

pub use analyze::AnalyzeArguments;
pub use backup::{BackupArguments, RestoreArguments};
pub use bench::{BenchArguments, PlainKind};
pub use cache::{CacheArguments, PageCacheArguments, ResultCacheArguments, StatsArguments};
pub use command::{Command, Given};
pub use common::{ColorChoice, Common};
pub use completions::CompletionsArguments;
pub use delete::DeleteArguments;
pub use documents::{ExportArguments, ExportFormat, GetArguments};
pub use fields::FieldsArguments;
pub use index::IndexArguments;
pub use inspect::{InspectArguments, Part};
#[cfg(feature = "server")]
pub use keys::{KeysAction, KeysArguments};
pub use maintenance::MaintenanceArguments;
#[cfg(feature = "man")]
pub use man::ManArguments;
pub use path::CheckArguments;
pub use remote::PublishArguments;
pub use search::SearchArguments;
#[cfg(feature = "server")]
pub use serve::ServeArguments;
pub use sources::SourceArguments;
pub use update::UpdateArguments;
