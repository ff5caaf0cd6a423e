//! The arguments of `gannet backup` and `gannet restore`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `gannet backup`.
#[derive(Debug, Args)]
#[command(
    after_help = "All documents, lists and settings are copied as they are when the command begins; others may write \
                  meanwhile. Beside a writer it copies the last checkpoint: what the writer has made durable since \
                  (--commit-every) is in the next backup after the next checkpoint, which a writer makes about every ten \
                  seconds while somebody reads the index, and at its end. Where the folder has an earlier backup of the index, only pages written since are copied. \
                  A backup can be searched where it is, and `gannet restore` makes an index of it. A backup that is \
                  cut short leaves the earlier one."
)]
pub struct BackupArguments {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The folder of the backup: missing, empty, or with an earlier backup of this index
    #[arg(value_name = "DESTINATION")]
    pub destination: PathBuf,
}

/// The arguments of `gannet restore`.
#[derive(Debug, Args)]
#[command(
    after_help = "All documents, lists and settings of the backup are copied, and the backup is left as it is. The new \
                  index has an identity of its own: its backups go to another folder."
)]
pub struct RestoreArguments {
    /// The folder of the backup
    #[arg(value_name = "BACKUP")]
    pub backup: PathBuf,
    /// The folder of the new index: missing or empty
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
}
