//! The arguments of `gannet inspect`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The arguments of `gannet inspect`.
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The part to show
    #[command(subcommand)]
    pub part: Part,
}

/// A part of an index.
#[derive(Debug, Subcommand)]
pub enum Part {
    /// The zones: what they hold and how much of it is live
    Zones,
    /// The trees of frequent words, of long and of short lists, of each level of delta postings and
    /// of external IDs: height, nodes, leaves, entries, and how full the leaves are
    Trees,
    /// All postings lists: where their bytes are, by how many documents have the term
    Lists,
    /// One page, after its checksum was checked
    Page {
        /// The number of the zone
        zone: u32,
        /// The number of the page in it
        page: u32,
    },
    /// The postings list of one term, as it is on flash
    Term {
        /// The field
        field: String,
        /// The term as it is indexed
        term: String,
    },
}
