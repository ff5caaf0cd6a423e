//! `gannet keys`: the keys of a server.

use gannet_server::KeyFile;
use serde_json::json;

use crate::arguments::{KeysAction, KeysArguments};
use crate::failure::Outcome;
use crate::output::Output;
use crate::serve::failure;

/// Changes a file of keys, or lists it.
pub fn run(arguments: &KeysArguments, output: &mut Output) -> Outcome<()> {
    match &arguments.action {
        KeysAction::Create(create) => {
            let file = &create.file.file;
            let key = KeyFile::create(file, &create.name, &create.scopes).map_err(failure)?;
            let encoded = key.encoded();
            if output.is_json() {
                return output
                    .json(&json!({ "id": key.id, "secret": key.secret, "encoded": encoded }));
            }
            output.line(format!("Authorization: ApiKey {encoded}"))?;
            output.line(format!("user {} with the password {}", key.id, key.secret))
        }
        KeysAction::List(file) => {
            let keys = KeyFile::read(&file.file).map_err(failure)?;
            for key in keys.list() {
                if output.is_json() {
                    let (id, name, scopes) = (key.id, key.name, key.scopes);
                    output.json(&json!({ "id": id, "name": name, "scopes": scopes }))?;
                } else {
                    output.line(format!("{} {} {}", key.id, key.scopes.join(" "), key.name))?;
                }
            }
            Ok(())
        }
        KeysAction::Revoke(revoke) => {
            KeyFile::revoke(&revoke.file.file, &revoke.id).map_err(failure)?;
            if output.is_json() {
                return output.json(&json!({ "revoked": revoke.id }));
            }
            output.line(format!("{} is revoked", revoke.id))
        }
    }
}
