//! The arguments for indexes on object storage.

use std::path::PathBuf;

use clap::Args;

use crate::size::Size;
use crate::time::TimeLimit;

/// The options of every command that reads a URL.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct RemoteArguments {
    /// Time limit of the requests for one batch of reads of a URL, with all their attempts
    #[arg(
        long,
        global = true,
        value_name = "TIME",
        default_value = "30s",
        hide_short_help = true
    )]
    pub remote_timeout: TimeLimit,
    /// Greatest age of the newest known publication of a URL, where many queries are asked
    #[arg(
        long,
        global = true,
        value_name = "TIME",
        default_value = "10s",
        hide_short_help = true
    )]
    pub refresh: TimeLimit,
    /// Bytes of a URL that are read for nothing rather than making another request
    #[arg(long, global = true, value_name = "SIZE", hide = true)]
    pub remote_gap: Option<Size>,
}

/// The arguments of `gannet publish`.
#[derive(Debug, Args)]
#[command(
    after_help = "Whoever has the rights can search the URL: gannet search s3://bucket/wiki star. Where an earlier state of \
                  the index is published, only pages written since are copied, and readers move to the new state within \
                  --refresh. A publishing that is cut short leaves the state before; of two at once, one wins and the \
                  other is told. The credentials come from the environment: AWS_ACCESS_KEY_ID, \
                  AWS_SECRET_ACCESS_KEY, AWS_REGION, and AWS_ENDPOINT_URL for stores other than AWS.\n\n\
                  Examples:\n  gannet publish wiki.gnt s3://bucket/wiki\n  gannet publish wiki.gnt file:///mnt/share/wiki"
)]
pub struct PublishArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// s3://BUCKET/PREFIX or file:///FOLDER: an empty place, or one with an earlier state of this
    /// index
    #[arg(value_name = "URL")]
    pub url: String,
    /// Time that objects stay which the newest state does not need: readers of an older one have
    /// this time to refresh
    #[arg(long, value_name = "TIME", default_value = "1h")]
    pub keep: TimeLimit,
}
