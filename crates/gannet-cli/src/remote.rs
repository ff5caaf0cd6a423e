//! Indexes on object storage: `gannet publish`, and commands that may not write to a URL.

#[cfg(not(feature = "remote"))]
use std::path::Path;

use crate::arguments::{Command, Common, PublishArguments};
use crate::failure::{Failure, Outcome};
use crate::opening::is_url;
#[cfg(not(feature = "remote"))]
use crate::opening::without;
use crate::output::Output;

/// Fails if a command would write to a URL.
pub fn reject_to_write(command: &Command) -> Outcome<()> {
    let written = match command {
        Command::Index(arguments) => &arguments.index,
        Command::Update(arguments) => &arguments.index,
        Command::Delete(arguments) => &arguments.index,
        Command::Vacuum(arguments) => &arguments.index,
        Command::Rebuild(arguments) => &arguments.index,
        Command::Restore(arguments) => &arguments.index,
        Command::Backup(arguments) => &arguments.destination,
        _ => return Ok(()),
    };
    if is_url(written) {
        Err(Failure::caller(format!(
            "{} is a URL, and only `gannet publish INDEX URL` writes to one: give the folder of an index, and publish \
             it then",
            written.display()
        )))
    } else {
        Ok(())
    }
}

/// Copies the state of an index to a URL.
#[cfg(not(feature = "remote"))]
pub fn publish(_: &Common, arguments: &PublishArguments, _: &mut Output) -> Outcome<()> {
    let url = Path::new(&arguments.url);
    if is_url(url) {
        Err(without(url).into())
    } else {
        Err(Failure::caller(format!(
            "{} is no URL: give one such as s3://bucket/path or file:///folder, or copy the index into a folder with `gannet \
             backup`",
            arguments.url
        )))
    }
}

#[cfg(feature = "remote")]
pub use with::publish;

#[cfg(feature = "remote")]
mod with {
    use std::time::Instant;

    use gannet::Index;
    use gannet_remote::{PublishOptions, PublishReport};
    use serde_json::json;

    use super::*;
    use crate::backup::{bar, figures, open_settled, sentence, show};
    use crate::failure::remark;
    use crate::opening::limit;
    use crate::search::requests;
    use crate::size::{Size, counted, human};

    /// The least memory for publishing: half of it for the index, and half beside it.
    const PUBLISH_MEMORY: usize = 128 << 20;

    /// Copies the state of an index to a URL.
    pub fn publish(
        common: &Common,
        arguments: &PublishArguments,
        output: &mut Output,
    ) -> Outcome<()> {
        let started = Instant::now();
        let memory = common.memory().bytes();
        if memory < PUBLISH_MEMORY {
            return Err(Failure::caller(format!(
                "--memory {} is too little for publishing, which needs at least {}: give more",
                common.memory(),
                human(PUBLISH_MEMORY as u64)
            )));
        }
        let half = Common {
            given_memory: Some(Size::of(memory / 2)),
            ..common.clone()
        };
        let index = open_settled(&half, &arguments.index)?;
        let options = PublishOptions {
            keep: limit(arguments.keep),
            timeout: limit(common.remote.remote_timeout),
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
