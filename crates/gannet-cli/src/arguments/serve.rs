//! The arguments of `gannet serve`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `gannet serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "At the URL that is printed there is a page, /_ui, and an API, /v1, which docs/server.md describes. Clients of \
                  Elasticsearch send their requests to it, too; docs/compatibility.md lists what is answered. `gannet keys create` makes keys. Other machines are listened to with --keys, --tls-cert and \
                  --tls-key, or with --insecure. SIGTERM and Ctrl-C end the server in order, with exit code 0."
)]
pub struct ServeArguments {
    /// The folder of the indexes, one subfolder each; it is made if it is missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The address and the port to listen at; port 0 takes one that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9200")]
    pub listen: String,
    /// The most indexes that are open at once; they share the memory evenly
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub max_open: usize,
    /// The most connections that are open at once
    #[arg(long, value_name = "N", default_value_t = gannet_server::CONNECTIONS_MAX)]
    pub max_connections: usize,
    /// The file of keys, without one of which nothing is answered
    #[arg(long, value_name = "FILE")]
    pub keys: Option<PathBuf>,
    /// The certificate for TLS, in PEM, with those that lead to its root
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Let other machines ask without keys or without TLS: whoever reaches the server can do all
    #[arg(long)]
    pub insecure: bool,
    /// The version of Elasticsearch that clients are told, as some reject others than their own
    #[arg(long, value_name = "VERSION", default_value = gannet_server::ES_VERSION)]
    pub es_version: String,
    /// Log what is this serious and more to standard error, as lines of JSON
    #[arg(long, value_name = "LEVEL", default_value = "warn", value_parser = ["error", "warn", "info", "debug"])]
    pub log: String,
}
