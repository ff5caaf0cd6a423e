//! Gannet: full-text search on flash.
mod base;
mod device;
