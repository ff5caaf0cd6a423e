//! The engine's integration tests, in one binary.

mod backups;
mod cleaning;
mod effort;
mod environment;
mod expiry;
mod flash_tier;
mod forms;
mod kill;
mod language;
mod life;
mod listing;
mod oracle_test;
mod patterns;
mod pruning;
mod readers;
mod result_cache;
mod rooms;
mod shards;
mod snapshots;
mod soundness;
mod split_words;
mod totals;
mod typed;
mod updates;
mod vacuum;
mod words;
