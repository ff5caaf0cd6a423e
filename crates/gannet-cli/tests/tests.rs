//! The command from outside: every test runs the built program as a user would.

mod answers_on_flash;
mod arrays;
mod backups;
mod bad_input;
mod beside;
mod bulk;
mod command;
mod compressed;
mod damage;
mod early_ends;
mod everything;
mod first_steps;
mod flash_tier;
mod foreign;
mod formats;
mod help;
mod limits;
mod links;
mod listing;
mod maintenance;
mod mapping;
mod meaning;
mod newcomer;
mod one_rule;
mod pipes;
mod ranges;
#[cfg(feature = "remote")]
mod remote;
mod replaced;
mod result_cache;
mod round_trip;
mod rows;
#[cfg(feature = "server")]
mod serve;
mod settings;
mod shared_cache;
mod threads;
mod unicode;
mod updates;
mod whole_documents;
