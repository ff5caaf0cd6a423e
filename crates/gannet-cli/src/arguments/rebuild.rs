//! The arguments of `gannet rebuild`.

use clap::{Args, ValueEnum};

use super::path::IndexPath;

/// What is to be written anew, and how.
#[derive(Debug, Args)]
#[command(
    after_help = "Searches go on meanwhile, and writing waits. It takes about as long as indexing all documents, and \
                  until it ends twice the space of the live documents."
)]
pub struct RebuildArguments {
    #[command(flatten)]
    pub index: IndexPath,
    /// How documents are numbered
    #[arg(long, value_enum, default_value_t = RebuildOrder::Kept)]
    pub order: RebuildOrder,
}

/// How a rebuild numbers documents.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum RebuildOrder {
    /// As they are
    #[default]
    Kept,
    /// Those with terms in common near each other: up to three times the CPU, and 40 bytes of
    /// memory a document; the index is a little smaller, and `OR` takes less CPU
    Alike,
}

impl From<RebuildOrder> for gannet::Order {
    fn from(order: RebuildOrder) -> gannet::Order {
        match order {
            RebuildOrder::Alike => gannet::Order::Alike,
            RebuildOrder::Kept => gannet::Order::Kept,
        }
    }
}
