//! Gannet: full-text search on flash.
#![allow(dead_code)] // until the rooms above stand
mod base;
mod cache;
mod device;
mod postings;
mod storage;
