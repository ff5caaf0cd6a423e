//! Indexes on object storage: who reads a URL, who may not write one, and `gannet publish`.

use std::path::Path;

use gannet::{Index, Options};

use crate::arguments::{Command, Common, PublishArguments};
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// Whether `path` is a URL and not the path of a folder.
pub fn is_url(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let is_name = |scheme: &str| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '+')
    };
    scheme.is_some_and(is_name)
}

/// Fails if a command would write to a URL.
pub fn reject_to_write(command: &Command) -> Outcome<()> {
    let written = match command {
        Command::Index(arguments) => &arguments.index,
        Command::Delete(arguments) => &arguments.index,
        Command::Vacuum(arguments) => &arguments.index,
        Command::Rebuild(arguments) => &arguments.index.index,
        Command::Restore(arguments) => &arguments.index,
        Command::Backup(arguments) => &arguments.destination,
        _ => return Ok(()),
    };
    match is_url(written) {
        false => Ok(()),
        true => Err(Failure::caller(format!(
            "{} is a URL, and only `gannet publish INDEX URL` writes to one: give the folder of an index, and publish \
             it then",
            written.display()
        ))),
    }
}

#[cfg(not(feature = "remote"))]
fn without(url: &Path) -> gannet::Error {
    gannet::Error::invalid(format!(
        "{} is a URL, and this gannet was built without the feature `remote`: build it with that feature",
        url.display()
    ))
}

/// Opens the index in a folder or at a URL.
#[cfg(not(feature = "remote"))]
pub fn open(options: Options, path: &Path, _: &Common) -> gannet::Result<Index> {
    match is_url(path) {
        true => Err(without(path)),
        false => options.open(path),
    }
}

/// Copies the state of an index to a URL.
#[cfg(not(feature = "remote"))]
pub fn publish(_: &Common, arguments: &PublishArguments, _: &mut Output) -> Outcome<()> {
    Err(without(Path::new(&arguments.url)).into())
}

#[cfg(feature = "remote")]
pub use with::{open, publish};

#[cfg(feature = "remote")]
mod with {
    use std::time::{Duration, Instant};

    use gannet_remote::{PublishOptions, PublishReport, RemoteOptions};
    use serde_json::json;

    use super::*;
    use crate::backup::{bar, figures, open_settled, sentence, show};
    use crate::failure::remark;
    use crate::search::requests;
    use crate::size::{Size, counted, human};
    use crate::time::TimeLimit;

    /// What stands for no limit.
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 3_600);

    /// The least memory for publishing: half of it for the index, and half beside it.
    const PUBLISH_MEMORY: usize = 128 << 20;

    /// Opens the index in a folder or at a URL.
    pub fn open(options: Options, path: &Path, common: &Common) -> gannet::Result<Index> {
        if !is_url(path) {
            return options.open(path);
        }
        let remote = RemoteOptions {
            index: options,
            timeout: time(common.remote.remote_timeout),
            refresh: time(common.remote.refresh),
            gap: common.remote.remote_gap.map(|gap| gap.bytes() as u64),
            ..RemoteOptions::default()
        };
        Ok(gannet_remote::open(&path.to_string_lossy(), remote)?.0)
    }

    fn time(limit: TimeLimit) -> Duration {
        limit.time().unwrap_or(LONGEST).min(LONGEST)
    }

    /// Copies the state of an index to a URL.
    pub fn publish(
        common: &Common,
        arguments: &PublishArguments,
        output: &mut Output,
    ) -> Outcome<()> {
        let started = Instant::now();
        let memory = common.memory.bytes();
        if memory < PUBLISH_MEMORY {
            return Err(Failure::caller(format!(
                "--memory {} is too little for publishing, which needs at least {}: give more",
                common.memory,
                human(PUBLISH_MEMORY as u64)
            )));
        }
        let half = Common {
            memory: Size::of(memory / 2),
            ..common.clone()
        };
        let index = open_settled(&half, &arguments.index)?;
        let options = PublishOptions {
            keep: time(arguments.keep),
            timeout: time(common.remote.remote_timeout),
            memory: memory / 2,
        };
        let bar = bar();
        let mut progress = |done, total| show(&bar, done, total);
        let published = gannet_remote::publish(&index, &arguments.url, &options, &mut progress);
        bar.finish_and_clear();
        let published = published?;
        if let Some(reason) = &published.not_removed {
            remark(&format!(
                "objects that nobody needs any more were not removed, which the next publication tries again: {reason}"
            ));
        }
        print(&published, &index, arguments, started, output)
    }

    fn print(
        published: &PublishReport,
        index: &Index,
        arguments: &PublishArguments,
        started: Instant,
        output: &mut Output,
    ) -> Outcome<()> {
        if output.is_json() {
            let mut object = figures(&published.copied, started, index.backend());
            object["publication"] = json!(published.publication);
            object["is_new"] = json!(published.is_new);
            object["packed_bytes"] = json!(published.packed_bytes);
            object["removed_objects"] = json!(published.removed);
            object["remote"] = requests(published.requests);
            return output.json(&object);
        }
        let url = &arguments.url;
        let number = published.publication;
        let copied = sentence(&published.copied);
        if !published.is_new {
            return output.line(format!(
                "{copied} are at {url} already, as publication {number}"
            ));
        }
        output.line(format!(
            "{copied} are at {url} as publication {number}; {}, {} sent",
            counted(published.requests.requests(), "request"),
            human(published.requests.put_bytes)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_paths() {
        for url in ["s3://b/p", "file:///tmp/x", "gs://b/p", "https://a/b"] {
            assert!(is_url(Path::new(url)), "{url}");
        }
        for path in ["wiki.gnt", "/a/b", "./s3:/x", "://x", "a b://c"] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
    }
}
