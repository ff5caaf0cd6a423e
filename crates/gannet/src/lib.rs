//! Gannet: full-text search on flash.
mod analysis;
mod base;
mod device;
mod search;
