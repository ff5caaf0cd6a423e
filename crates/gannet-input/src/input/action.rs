//! An action line of Elasticsearch's bulk API, such as `{"index":{"_id":"1"}}`.

use std::fmt;

use gannet::ObjectMembers;

use super::members::{fault, id_of, members_of};

/// The verbs of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A document is written, in place of the one with its ID.
    Index,
    /// A document is written, unless there is one with its ID.
    Create,
    /// Fields of a document are changed.
    Update,
    /// A document is deleted.
    Delete,
}

/// All verbs.
const VERBS: [Verb; 4] = [Verb::Index, Verb::Create, Verb::Update, Verb::Delete];

/// Settings that say where a document lies, or how a cluster goes about it: here they mean nothing.
const PASSED_OVER: [&str; 12] = [
    "_index",
    "_type",
    "routing",
    "_routing",
    "parent",
    "_parent",
    "require_alias",
    "require_data_stream",
    "retry_on_conflict",
    "_retry_on_conflict",
    "dynamic_templates",
    "list_executed_pipelines",
];

/// Settings on which it depends what is written: they are rejected.
const NOT_SUPPORTED: [&str; 8] = [
    "if_seq_no",
    "if_primary_term",
    "version",
    "_version",
    "version_type",
    "_version_type",
    "pipeline",
    "_source",
];

/// An action.
pub struct Action {
    /// The verb.
    pub verb: Verb,
    /// With which document, where it is said.
    pub id: Option<String>,
    /// The index that is named.
    pub index: Option<String>,
    /// Why it cannot be done.
    pub fault: Option<String>,
}

impl Action {
    /// The action of a line; or why it is none.
    pub fn of(line: &[u8]) -> Result<Action, String> {
        let members = members_of(line.trim_ascii()).map_err(|error| {
            format!(
                "{}; expected an action such as {{\"index\":{{\"_id\":\"1\"}}}}",
                fault(&error)
            )
        })?;
        let [(name, settings)] = members.0.as_slice() else {
            return Err(format!(
                "expected an action such as {{\"index\":{{\"_id\":\"1\"}}}}, found an object of {} members",
                members.0.len()
            ));
        };
        let verb = VERBS.into_iter().find(|verb| verb.to_string() == *name);
        let verb = verb.ok_or_else(|| {
            format!("expected an action, which is index, create, update or delete, found {name:?}")
        })?;
        let settings = members_of(settings.as_bytes()).map_err(|_| {
            format!("expected an object with _id behind {name:?}, found something else")
        })?;
        Ok(Action::with(verb, &settings))
    }

    fn with(verb: Verb, settings: &ObjectMembers<'_>) -> Action {
        let mut action = Action {
            verb,
            id: None,
            index: None,
            fault: None,
        };
        for (name, value) in &settings.0 {
            let value = *value;
            let fault = match name.as_str() {
                _ if value == "null" => None,
                "_id" => {
                    action.id = id_of(value);
                    let is_id = action.id.is_some();
                    (!is_id)
                        .then(|| format!("expected a string or an integer as _id, found {value}"))
                }
                "_index" => {
                    action.index = id_of(value);
                    None
                }
                "op_type" if verb == Verb::Index && value == "\"create\"" => {
                    action.verb = Verb::Create;
                    None
                }
                "op_type" if value == format!("\"{verb}\"") => None,
                name if PASSED_OVER.contains(&name) => None,
                name => Some(format!(
                    "{name} is not supported in an action: leave it out"
                )),
            };
            action.fault = action.fault.or(fault);
        }
        action
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Verb::Index => "index",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Delete => "delete",
        })
    }
}

/// Returns true if a line is an action beyond doubt: no document has such members alone.
pub fn is_action(line: &[u8]) -> bool {
    let Ok(members) = members_of(line.trim_ascii()) else {
        return false;
    };
    let [(name, settings)] = members.0.as_slice() else {
        return false;
    };
    let is_verb = VERBS.iter().any(|verb| verb.to_string() == *name);
    let is_setting = |name: &str| {
        matches!(name, "_id" | "op_type")
            || PASSED_OVER.contains(&name)
            || NOT_SUPPORTED.contains(&name)
    };
    let settings = members_of(settings.as_bytes());
    is_verb && settings.is_ok_and(|settings| settings.0.iter().all(|(name, _)| is_setting(name)))
}

/// Appends a document with its ID as the last member, so that the columns of all others stay.
pub fn with_id(document: &[u8], id: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let document = document.trim_ascii_end();
    let Ok(members) = members_of(document) else {
        // What is wrong is told with its column by whoever reads it.
        out.extend_from_slice(document);
        return Ok(());
    };
    if members.has("id") {
        let own = members.value("id").and_then(id_of);
        if own.as_deref() == Some(id) {
            out.extend_from_slice(document);
            return Ok(());
        }
        return Err(format!(
            "the action has the _id {id:?} and the document another id, {}: \"id\" is the ID in the index, so rename the \
             field, or make both the same",
            own.unwrap_or_else(|| "null".to_owned())
        ));
    }
    out.extend_from_slice(&document[..document.len() - 1]);
    let comma = if members.0.is_empty() { "" } else { "," };
    let id = serde_json::Value::from(id);
    out.extend_from_slice(format!("{comma}\"id\":{id}}}").as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_told_from_documents() {
        for line in [
            r#"{"index":{"_index":"x","_id":"b"}}"#,
            r#" {"delete": {"_id": 7, "routing": "r"}}"#,
            r#"{"index":{}}"#,
            r#"{"create":{"_index":"x","pipeline":"p"}}"#,
        ] {
            assert!(is_action(line.as_bytes()), "{line}");
        }
        for line in [
            r#"{"index":{"fund":"msci"}}"#,
            r#"{"index":"x"}"#,
            r#"{"index":{"_id":1},"body":"x"}"#,
            r#"{"id":"1"}"#,
            "[1]",
            "x",
            "",
        ] {
            assert!(!is_action(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_document_gets_its_id_behind_its_members() {
        let given = |document: &str, id: &str| {
            let mut out = Vec::new();
            with_id(document.as_bytes(), id, &mut out)?;
            Ok::<_, String>(String::from_utf8(out).unwrap())
        };
        assert_eq!(given(r#"{"a":1} "#, "b").unwrap(), r#"{"a":1,"id":"b"}"#);
        assert_eq!(given("{ }", "\"").unwrap(), r#"{ "id":"\""}"#);
        assert_eq!(
            given(r#"{"id":7,"a":1}"#, "7").unwrap(),
            r#"{"id":7,"a":1}"#
        );
        assert_eq!(given(r#"{"a":"#, "7").unwrap(), r#"{"a":"#);
        assert!(given(r#"{"id":8}"#, "7").unwrap_err().contains("_id \"7\""));
    }
}
