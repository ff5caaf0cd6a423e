//! The arguments of `gannet keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The arguments of `gannet keys`.
#[derive(Debug, Args)]
#[command(
    after_help = "A scope is read, write or admin, a colon and a pattern of names of indexes: read:logs-*. Writing does not \
                  include reading; admin includes both. A server sees a change of the file within a second."
)]
pub struct KeysArguments {
    /// The change or the question
    #[command(subcommand)]
    pub action: KeysAction,
}

/// A change of a file of keys, or a question about it.
#[derive(Debug, Subcommand)]
pub enum KeysAction {
    /// Make a key, and print its secret, which is told once
    Create(CreateKey),
    /// List the keys with their scopes
    List(KeysFile),
    /// Take a key away
    Revoke(RevokeKey),
}

/// The arguments of `gannet keys create`.
#[derive(Debug, Args)]
pub struct CreateKey {
    /// The file
    #[command(flatten)]
    pub file: KeysFile,
    /// Something that the key may do, such as read:logs-* or admin:*; several are allowed
    #[arg(long = "scope", value_name = "RIGHT:PATTERN", required = true)]
    pub scopes: Vec<String>,
    /// A name for people
    #[arg(long, value_name = "NAME", default_value = "")]
    pub name: String,
}

/// A file of keys.
#[derive(Debug, Args)]
pub struct KeysFile {
    /// The file of keys, which is made if it is missing; nobody else may read it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// The arguments of `gannet keys revoke`.
#[derive(Debug, Args)]
pub struct RevokeKey {
    /// The file
    #[command(flatten)]
    pub file: KeysFile,
    /// The identifier of the key
    #[arg(value_name = "ID")]
    pub id: String,
}
