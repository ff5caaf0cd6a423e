//! The versions that writes bring from other systems (`version`, `version_type`).

use serde_json::Value;

use super::action::{ActionKind, Precondition};
use crate::fault::{Fault, Outcome};
use crate::http::Call;

/// The version that a write gives or expects.
#[derive(Clone, Copy, Debug, Default)]
pub struct GivenVersion {
    version: Option<i64>,
    kind: VersionKind,
}

/// The comparison of a version with the one that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum VersionKind {
    /// Versions are counted here.
    #[default]
    Internal,
    /// It must be above.
    External,
    /// It must not be below.
    ExternalGte,
}

impl VersionKind {
    fn read(name: &str) -> Outcome<VersionKind> {
        match name {
            "internal" => Ok(VersionKind::Internal),
            "external" | "external_gt" => Ok(VersionKind::External),
            "external_gte" => Ok(VersionKind::ExternalGte),
            "force" => Err(Fault::illegal("version type [force] may no longer be used")),
            other => Err(Fault::illegal(format!("No version type match [{other}]"))),
        }
    }
}

impl GivenVersion {
    /// Reads the parameters of a URL.
    pub fn of_call(call: &Call) -> Outcome<GivenVersion> {
        let mut given = GivenVersion::default();
        if let Some(kind) = call.parameter("version_type") {
            given.kind = VersionKind::read(kind)?;
        }
        if let Some(version) = call.parameter("version") {
            given.version = Some(number(version)?);
        }
        Ok(given)
    }

    /// Reads the member `version` of an action of a bulk.
    pub fn set_version(&mut self, value: &Value) -> Outcome<()> {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.version = Some(number(&text)?);
        Ok(())
    }

    /// Reads the member `version_type` of an action of a bulk.
    pub fn set_kind(&mut self, value: &Value) -> Outcome<()> {
        let name = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        self.kind = VersionKind::read(&name)?;
        Ok(())
    }

    /// Returns true if a write says nothing of versions.
    pub fn is_none(&self) -> bool {
        self.version.is_none() && self.kind == VersionKind::Internal
    }

    /// Returns true if versions are those of another system.
    pub fn is_external(&self) -> bool {
        self.kind != VersionKind::Internal
    }

    /// Returns what a write with this version needs, of which `before` is needed otherwise. The
    /// error is what Elasticsearch's validation says.
    pub fn precondition(
        &self,
        kind: ActionKind,
        has_id: bool,
        before: Precondition,
    ) -> Result<Precondition, String> {
        if self.is_none() {
            return Ok(before);
        }
        if kind == ActionKind::Create && self.is_external() {
            let text = "create operations only support internal versioning. use index instead";
            return Err(text.to_owned());
        }
        if kind == ActionKind::Create {
            let text = "create operations do not support explicit versions. use index instead";
            return Err(text.to_owned());
        }
        if !has_id {
            return Err("an id must be provided if version type or value are set".to_owned());
        }
        if matches!(before, Precondition::Sequence(_)) {
            return Err("compare and write operations can not use versioning".to_owned());
        }
        let or_equal = match self.kind {
            VersionKind::Internal => return Err(INTERNAL.to_owned()),
            VersionKind::External => false,
            VersionKind::ExternalGte => true,
        };
        // Elasticsearch has -3 where none is given.
        let version = self.version.unwrap_or(-3);
        let name = if or_equal { "EXTERNAL_GTE" } else { "EXTERNAL" };
        match u64::try_from(version) {
            Ok(version) => Ok(Precondition::External { version, or_equal }),
            Err(_) => Err(format!(
                "illegal version value [{version}] for version type [{name}]"
            )),
        }
    }
}

/// The sentence about versions that are counted here.
pub const INTERNAL: &str = "internal versioning can not be used for optimistic concurrency control. \
    Please use `if_seq_no` and `if_primary_term` instead";

fn number(text: &str) -> Outcome<i64> {
    text.parse().map_err(|_| {
        Fault::illegal(format!(
            "Failed to parse long parameter [version] with value [{text}]"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn versions_need_a_type_an_id_and_no_other_condition() {
        let given = |version: Value, kind: Value| {
            let mut given = GivenVersion::default();
            given.set_version(&version).unwrap();
            given.set_kind(&kind).unwrap();
            given
        };
        let external = given(json!("7"), json!("external"));
        let index = ActionKind::Index;
        assert_eq!(
            external.precondition(index, true, Precondition::Any),
            Ok(Precondition::External {
                version: 7,
                or_equal: false
            })
        );
        for (given, kind, has_id, before, part) in [
            (
                external,
                ActionKind::Create,
                true,
                Precondition::Absent,
                "create operations only",
            ),
            (external, index, false, Precondition::Any, "an id must be"),
            (
                external,
                index,
                true,
                Precondition::Sequence(2),
                "can not use versioning",
            ),
            (
                given(json!(-1), json!("external_gte")),
                index,
                true,
                Precondition::Any,
                "illegal version value [-1] for version type [EXTERNAL_GTE]",
            ),
            (
                given(json!(3), json!("internal")),
                ActionKind::Delete,
                true,
                Precondition::Any,
                "internal versioning",
            ),
        ] {
            let text = given.precondition(kind, has_id, before).unwrap_err();
            assert!(text.contains(part), "{text}");
        }
        let mut given = GivenVersion::default();
        for wrong in [json!("x"), json!(1.5), json!(true)] {
            assert!(given.set_version(&wrong).is_err(), "{wrong}");
        }
        for wrong in [json!("force"), json!("nosuch"), json!(1)] {
            assert!(given.set_kind(&wrong).is_err(), "{wrong}");
        }
    }
}
