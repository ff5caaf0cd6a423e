//! The lines of a bulk: an action, and behind most of them a source. All are read before the first
//! is carried out, so a malformed line changes nothing.

use serde_json::Value;

use super::action::{Action, ActionKind, Change, Precondition};
use super::update::UpdateBody;
use super::version::GivenVersion;
use crate::fault::{Fault, Outcome};
use crate::json::{kind_of, parse_strictly};

/// Actions of one bulk.
const ACTIONS_MAX: usize = 1_000_000;

/// One action of a bulk.
#[derive(Debug)]
pub struct BulkAction<'a> {
    /// The index that it is about.
    pub index: String,
    /// Its kind.
    pub kind: ActionKind,
    /// The change, or why it cannot be carried out.
    pub action: Outcome<Action<'a>>,
    /// The ID that was given.
    pub id: Option<String>,
    /// Set if the index must be an alias, where that is said.
    pub requires_alias: Option<bool>,
}

/// Metadata that change nothing where they are as here.
const IGNORED: [&str; 3] = ["_type", "routing", "require_data_stream"];

/// Reads the lines of a bulk. Those that name no index are about `index`.
pub fn parse_bulk<'a>(body: &'a [u8], index: Option<&str>) -> Outcome<Vec<BulkAction<'a>>> {
    if body.trim_ascii().is_empty() {
        return Err(Fault::new(
            400,
            "parse_exception",
            "request body is required",
        ));
    }
    if body.last() != Some(&b'\n') {
        return Err(Fault::illegal(
            "The bulk request must be terminated by a newline [\\n]",
        ));
    }
    let mut lines = body.split(|byte| *byte == b'\n').zip(1..).peekable();
    let mut actions = Vec::new();
    while let Some((line, number)) = lines.next() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let mut action = parse_action(line, number, index)?;
        if action.kind != ActionKind::Delete {
            let source = lines.next().map(|(source, _)| source.trim_ascii());
            let source = source.filter(|source| !source.is_empty()).ok_or_else(|| {
                Fault::illegal(format!(
                    "Malformed action/metadata line [{number}], the source of the action [{}] is missing behind it",
                    action.kind.name()
                ))
            })?;
            action.take_source(source);
            action.check_expected(number)?;
        }
        actions.push(action);
        if actions.len() > ACTIONS_MAX {
            return Err(Fault::illegal(format!(
                "a bulk has more than {ACTIONS_MAX} actions: send several"
            )));
        }
    }
    Ok(actions)
}

impl<'a> BulkAction<'a> {
    fn take_source(&mut self, source: &'a [u8]) {
        let Ok(action) = &mut self.action else {
            return;
        };
        if self.kind != ActionKind::Update {
            action.change = Change::Index(source);
            return;
        }
        match UpdateBody::parse(source) {
            Ok(update) => action.change = Change::Update(update),
            Err(fault) => self.action = Err(fault),
        }
    }

    /// Fails where a document is expected that may not be there.
    fn check_expected(&self, number: usize) -> Outcome<()> {
        match &self.action {
            Ok(Action {
                before: Precondition::Sequence(_),
                ..
            }) if self.kind == ActionKind::Create => Err(validation(
                number,
                "create operations do not support compare and set. use index instead",
            )),
            Ok(Action {
                before: Precondition::Sequence(_),
                change: Change::Update(update),
                ..
            }) if update.is_upsert() => Err(validation(
                number,
                "compare and write operations can not be used with upsert",
            )),
            _ => Ok(()),
        }
    }
}

fn parse_action<'a>(line: &[u8], number: usize, index: Option<&str>) -> Outcome<BulkAction<'a>> {
    let malformed =
        |what: String| Fault::illegal(format!("Malformed action/metadata line [{number}], {what}"));
    let value = parse_strictly(line)
        .map_err(|error| malformed(format!("which cannot be read as JSON: {error}")))?;
    let Value::Object(members) = &value else {
        return Err(malformed(format!(
            "expected an object but found {}",
            kind_of(&value)
        )));
    };
    let mut members = members.iter();
    let (Some((name, metadata)), None) = (members.next(), members.next()) else {
        return Err(malformed("expected one action".to_owned()));
    };
    let kind = ActionKind::ALL.into_iter().find(|kind| kind.name() == name);
    let kind = kind.ok_or_else(|| {
        malformed(format!(
            "expected field [create], [delete], [index] or [update] but found [{name}]"
        ))
    })?;
    let Value::Object(metadata) = metadata else {
        return Err(malformed(format!(
            "expected an object but found {}",
            kind_of(metadata)
        )));
    };
    let mut of_line = index.map(str::to_owned);
    let (mut id, mut sequence, mut term) = (None, None, None);
    let mut requires_alias = None;
    let mut given = GivenVersion::default();
    for (name, value) in metadata {
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            ("_index", Value::String(name)) => of_line = Some(name.clone()),
            ("_id", Value::String(text)) => id = Some(text.clone()),
            ("_id", Value::Number(number)) => id = Some(number.to_string()),
            ("if_seq_no", Value::Number(number)) => sequence = number.as_u64(),
            ("if_primary_term", Value::Number(number)) => term = number.as_u64(),
            ("version", value) => given.set_version(value)?,
            ("version_type", value) => given.set_kind(value)?,
            ("require_alias", Value::Bool(flag)) => requires_alias = Some(*flag),
            ("pipeline", Value::String(text)) if text == "_none" => {}
            ("retry_on_conflict" | "_retry_on_conflict", Value::Number(_)) => {}
            (name, _) if IGNORED.contains(&name) => {}
            ("pipeline" | "dynamic_templates", _) => {
                return Err(Fault::not_there(&format!(
                    "[{name}] of an action, in line {number},"
                )));
            }
            (name, value) => {
                return Err(Fault::illegal(format!(
                    "Action/metadata line [{number}] contains an unknown parameter [{name}] of {}",
                    kind_of(value)
                )));
            }
        }
    }
    let index = of_line.ok_or_else(|| validation(number, "index is missing"))?;
    if id.is_none() && matches!(kind, ActionKind::Delete | ActionKind::Update) {
        return Err(validation(number, "id is missing"));
    }
    let expected = match Precondition::of(sequence, term)? {
        Precondition::Any => kind.precondition(),
        expected => expected,
    };
    if kind == ActionKind::Update && !given.is_none() {
        return Err(Fault::illegal(
            "Update requests do not support versioning. Please use `if_seq_no` and `if_primary_term` instead",
        ));
    }
    let expected = given
        .precondition(kind, id.is_some(), expected)
        .map_err(|what| validation(number, &what))?;
    Ok(BulkAction {
        index,
        kind,
        requires_alias,
        id: id.clone(),
        action: Ok(Action {
            id,
            before: expected,
            change: Change::Delete,
        }),
    })
}

fn validation(number: usize, what: &str) -> Fault {
    Fault::new(
        400,
        "action_request_validation_exception",
        format!("Validation Failed: 1: {what}, in line {number};"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_read_with_their_sources() {
        let body = b"{\"index\":{\"_index\":\"a\",\"_id\":1}}\n{\"x\":1}\n\n{\"delete\":{\"_id\":\"2\"}}\n\
            {\"create\":{}}\r\n{\"y\":2}\r\n{\"update\":{\"_id\":\"3\"}}\n{\"doc\":{}}\n";
        let actions = parse_bulk(body, Some("b")).unwrap();
        let shown: Vec<_> = actions
            .iter()
            .map(|action| {
                (
                    action.index.as_str(),
                    action.kind.name(),
                    action.id.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("a", "index", Some("1")),
                ("b", "delete", Some("2")),
                ("b", "create", None),
                ("b", "update", Some("3")),
            ]
        );
        assert!(matches!(
            actions[2].action.as_ref().unwrap().change,
            Change::Index(b"{\"y\":2}")
        ));
    }

    #[test]
    fn malformed_lines_are_named() {
        for (body, part) in [
            ("", "body is required"),
            ("{\"index\":{}}", "terminated by a newline"),
            ("{\"index\":{}}\n", "source of the action [index]"),
            (
                "{\"delete\":{\"_id\":\"1\"}}\n[]\n",
                "line [2], expected an object",
            ),
            ("{\"idnex\":{}}\n{}\n", "but found [idnex]"),
            (
                "{\"index\":{\"_ID\":\"1\"}}\n{}\n",
                "unknown parameter [_ID]",
            ),
            ("{\"index\":{\"pipeline\":\"p\"}}\n{}\n", "[pipeline]"),
            ("{\"delete\":{}}\n", "id is missing, in line 1"),
            ("{\"index\"\n{}\n", "line [1], which cannot be read as JSON"),
        ] {
            let fault = parse_bulk(body.as_bytes(), Some("b")).unwrap_err();
            assert_eq!(fault.status, 400);
            assert!(fault.reason.contains(part), "{body}: {}", fault.reason);
        }
    }
}
