//! Gannet: full-text search on flash.
#![allow(dead_code)] // until the rooms above stand
mod analysis;
mod base;
mod cache;
mod device;
mod dictionary;
mod documents;
mod index;
mod postings;
mod search;
mod storage;
