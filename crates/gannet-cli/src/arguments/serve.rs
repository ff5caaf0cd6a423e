//! The arguments of `gannet serve`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `gannet serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Clients of Elasticsearch send their requests to the URL that is printed; docs/compatibility.md lists what is \
                  answered. There are no keys and no TLS yet, so only this machine is listened to. SIGTERM and Ctrl-C end the \
                  server in order, with exit code 0."
)]
pub struct ServeArguments {
    /// The folder of the indexes, one subfolder each; it is made if it is missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The address and the port to listen at, of this machine alone; port 0 takes one that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9200")]
    pub listen: String,
    /// The most indexes that are open at once; they share the memory evenly
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub max_open: usize,
    /// The version of Elasticsearch that clients are told, as some reject others than their own
    #[arg(long, value_name = "VERSION", default_value = gannet_server::ES_VERSION)]
    pub es_version: String,
    /// Log what is this serious and more to standard error, as lines of JSON
    #[arg(long, value_name = "LEVEL", default_value = "warn", value_parser = ["error", "warn", "info", "debug"])]
    pub log: String,
}
