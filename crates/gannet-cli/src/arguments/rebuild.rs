//! The arguments of `gannet rebuild`.

use clap::{Args, ValueEnum};

use super::IndexPath;

/// What is to be written anew, and how.
#[derive(Debug, Args)]
#[command(
    after_help = "Searches go on meanwhile, and writing waits. It takes about as long as indexing all documents, and \
                  until it ends twice the space of the live documents."
)]
pub struct RebuildArguments {
    #[command(flatten)]
    pub index: IndexPath,
    /// How documents are numbered: similar ones together, which takes about 40 bytes of memory a
    /// document, or as they are
    #[arg(long, value_enum, default_value_t = RebuildOrder::Alike)]
    pub order: RebuildOrder,
}

/// How a rebuild numbers documents.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum RebuildOrder {
    /// Those with terms in common near each other
    #[default]
    Alike,
    /// As they are
    Kept,
}

impl From<RebuildOrder> for gannet::Order {
    fn from(order: RebuildOrder) -> gannet::Order {
        match order {
            RebuildOrder::Alike => gannet::Order::Alike,
            RebuildOrder::Kept => gannet::Order::Kept,
        }
    }
}
