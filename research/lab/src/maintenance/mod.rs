//! Strategies that maintain lists of postings while documents come, behind one interface, on the
//! engine's device layer.
//!
//! Each is real: it keeps lists in files, takes in what a flush brings, and gives the lists back
//! after it. What it does with the device is counted and priced by a model of a disk beside
//! ([`gannet_ssd`]). So they can be compared as the paper of MFIS compared them (Jung, Roh, Shin,
//! Park, "Inverted index maintenance strategy for flashSSDs: Revitalization of in-place index
//! update strategy", 2014), and with Gannet's own maintenance.
//!
//! [`SubIndexes`] is one implementation of what merges: No-Merge, Immediate Merge, Geometric
//! Partitioning and Logarithmic Merge are rules of it. [`Blocks`] appends in place to lists in
//! blocks, one block after the other (In-place, non-contiguous) or many at a time (MFIS).
//! [`Contiguous`] keeps each list in one piece with room to grow, [`LongInPlace`] and
//! [`LongMerged`] are the hybrids. These share [`Files`], the codings of [`coding`], and hold the
//! same: documents, frequencies, positions. Their vocabulary is in memory, as in the paper;
//! sub-indexes write theirs too, since they are made anew. [`Gannet`]'s entries are on the device,
//! and count.

mod arguments;
mod asking;
mod blocks;
#[cfg(test)]
mod closed_forms;
mod coding;
mod contiguous;
mod engine;
mod files;
mod flush;
mod hybrids;
mod input;
mod invert;
mod measure;
mod merging;
mod psync;
mod queries;
mod run;
mod run_file;
mod strategy;
#[cfg(test)]
mod tests;

use blocks::Blocks;
use contiguous::Contiguous;
use engine::Gannet;
use files::Files;
use flush::{Flush, Stream, TermNumber};
use hybrids::{LongInPlace, LongMerged};
use merging::{Rule, SubIndexes};
pub use run::{Arguments, run};
use strategy::Strategy;
