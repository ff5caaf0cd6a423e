//! The command line as a whole: the options of every command, and the commands.

use clap::{Parser, Subcommand};

use super::analyze::AnalyzeArguments;
use super::backup::{BackupArguments, RestoreArguments};
use super::bench::BenchArguments;
use super::cache::StatsArguments;
use super::common::Common;
use super::completions::CompletionsArguments;
use super::delete::DeleteArguments;
use super::documents::{ExportArguments, GetArguments};
use super::fields::FieldsArguments;
use super::index::IndexArguments;
use super::inspect::InspectArguments;
use super::maintenance::MaintenanceArguments;
use super::path::CheckArguments;
use super::remote::PublishArguments;
use super::search::SearchArguments;
use super::update::UpdateArguments;

/// Full-text search on flash: one memory budget, reads only what a query needs.
#[derive(Debug, Parser)]
#[command(
    name = "gannet",
    version,
    propagate_version = true,
    after_help = "Exit codes: 0 done; 1 the caller's fault (a bad query, a wrong path, rejected input); \
                  2 a damaged index or a failing device; 3 a query that took longer than its time limit; \
                  4 a bug of gannet; 5 a writer in another process needed the space of what was read: run it again; \
                  130 Ctrl-C, and 143 a request to terminate (SIGTERM), after an orderly end."
)]
pub struct Given {
    /// The options of every command.
    #[command(flatten)]
    pub common: Common,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add documents to an index, which is made if it is missing
    Index(IndexArguments),
    /// Change some fields of documents, and leave the others as they are
    Update(UpdateArguments),
    /// Search an index
    Search(SearchArguments),
    /// Print documents by their IDs, one JSON object a line
    Get(GetArguments),
    /// Write all documents, or all that a query finds, as JSON lines or CSV
    Export(ExportArguments),
    /// Measure how fast queries are answered and what they read
    Bench(BenchArguments),
    /// Say what an index holds and where its bytes are
    Stats(StatsArguments),
    /// List the fields with their analyzers, how many documents have them, and an example
    Fields(FieldsArguments),
    /// Delete documents by their IDs or by a query
    Delete(DeleteArguments),
    /// Purge deleted documents, merge small chunks, and return the space to the file system
    #[command(
        after_help = "Nothing is done where it would write much for little: it begins where one in a hundred documents \
                      is deleted, where a sixty-fourth of the index comes back from zones of which a tenth is dead, or \
                      where chunks can be joined. `gannet rebuild` takes out every deleted document."
    )]
    Vacuum(MaintenanceArguments),
    /// Write the index anew, without what was deleted and each list in one piece
    #[command(
        after_help = "Searches go on meanwhile, and writing waits. It takes about as long as indexing all documents, and \
                      until it ends twice the space of the live documents."
    )]
    Rebuild(MaintenanceArguments),
    /// Copy an index as it is at this moment; later backups to the same folder copy only new pages
    Backup(BackupArguments),
    /// Copy an index to object storage, where it can be searched; later calls copy only new pages
    Publish(PublishArguments),
    /// Copy a backup to a new index, and check every page of it
    Restore(RestoreArguments),
    /// Serve a folder of indexes over HTTP, to clients of Elasticsearch
    #[cfg(feature = "server")]
    Serve(super::serve::ServeArguments),
    /// Make, list and revoke the keys of a server
    #[cfg(feature = "server")]
    Keys(super::keys::KeysArguments),
    /// Read the whole index and say whether any of it is damaged
    Check(CheckArguments),
    /// Look at the parts of an index, without changing it
    Inspect(InspectArguments),
    /// Show the tokens that an analyzer makes of a text
    Analyze(AnalyzeArguments),
    /// Print the completions for a shell
    Completions(CompletionsArguments),
    /// Write the man pages into a folder
    #[cfg(feature = "man")]
    #[command(hide = true)]
    Man(super::man::ManArguments),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_is_consistent() {
        Given::command().debug_assert();
    }
}
