//! The engine's integration tests, in one binary.

#[path = "tests/backups.rs"]
mod backups;
#[path = "tests/bloom.rs"]
mod bloom;
#[path = "tests/cleaning.rs"]
mod cleaning;
#[path = "tests/effort.rs"]
mod effort;
#[path = "tests/environment.rs"]
mod environment;
#[path = "tests/expiry.rs"]
mod expiry;
#[path = "tests/flash_tier.rs"]
mod flash_tier;
#[path = "tests/forms.rs"]
mod forms;
#[path = "tests/kill.rs"]
mod kill;
#[path = "tests/language/mod.rs"]
mod language;
#[path = "tests/listing.rs"]
mod listing;
#[path = "tests/oracle/mod.rs"]
mod oracle;
#[path = "tests/oracle_test.rs"]
mod oracle_test;
#[path = "tests/patterns.rs"]
mod patterns;
#[path = "tests/pruning.rs"]
mod pruning;
#[path = "tests/random.rs"]
mod random;
#[path = "tests/readers.rs"]
mod readers;
#[path = "tests/result_cache.rs"]
mod result_cache;
#[path = "tests/rooms.rs"]
mod rooms;
#[path = "tests/shards.rs"]
mod shards;
#[path = "tests/snapshots.rs"]
mod snapshots;
#[path = "tests/soundness.rs"]
mod soundness;
#[path = "tests/split_words.rs"]
mod split_words;
#[path = "tests/totals.rs"]
mod totals;
#[path = "tests/typed/mod.rs"]
mod typed;
#[path = "tests/updates.rs"]
mod updates;
#[path = "tests/vacuum.rs"]
mod vacuum;
#[path = "tests/words.rs"]
mod words;
