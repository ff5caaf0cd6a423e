//! `gannet serve`: indexes over HTTP.

use gannet_server::{Fault, Server, Settings, TlsFiles, log_to_standard_error};
use serde_json::json;

use crate::arguments::{Common, ServeArguments};
use crate::failure::{Failure, Outcome, remark};
use crate::output::Output;
use crate::size::grouped;

/// The memory of a server that is given none, where the machine has that much.
const MEMORY: usize = 1 << 30;

/// Serves a folder of indexes until a signal ends it.
pub fn run(common: &Common, arguments: &ServeArguments, output: &mut Output) -> Outcome<()> {
    log_to_standard_error(&arguments.log).map_err(failure)?;
    // One is not given without the other.
    let tls = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(cert), Some(key)) => Some(TlsFiles {
            cert: cert.clone(),
            key: key.clone(),
        }),
        _ => None,
    };
    let settings = Settings {
        memory: memory(common),
        listen: arguments.listen.clone(),
        max_open: arguments.max_open,
        es_version: arguments.es_version.clone(),
        max_connections: arguments.max_connections,
        keys: arguments.keys.clone(),
        tls,
        insecure: arguments.insecure,
        ..Settings::new(&arguments.folder)
    };
    let server = Server::bind(settings).map_err(failure)?;
    server.end_on_signals().map_err(failure)?;
    let (url, indexes) = (server.url(), server.indexes().map_err(failure)?);
    if output.is_json() {
        output.json(&json!({ "url": url, "indexes": indexes }))?;
    } else {
        let folder = arguments.folder.display();
        output.line(format!(
            "{url} serves {} of {folder}",
            counted_indexes(indexes)
        ))?;
    }
    output.finish()?;
    let ended = server.run().map_err(failure)?;
    if ended.left_open > 0 {
        remark(&format!(
            "{} could not be closed in time: nothing is lost, and opening them takes longer",
            counted_indexes(ended.left_open)
        ));
    }
    Ok(())
}

fn counted_indexes(count: usize) -> String {
    match count {
        1 => "1 index".to_owned(),
        _ => format!("{} indexes", grouped(count as u64)),
    }
}

fn memory(common: &Common) -> usize {
    let default = || MEMORY.min(2 * gannet::default_memory());
    common
        .given_memory
        .map_or_else(default, |size| size.bytes())
}

/// The failure that an error of the server is for the command.
pub fn failure(fault: Fault) -> Failure {
    if fault.status >= 500 {
        Failure::fault(fault.reason)
    } else {
        Failure::caller(fault.reason)
    }
}
