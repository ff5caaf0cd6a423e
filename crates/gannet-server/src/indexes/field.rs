//! A field of a mapping.

use gannet::Analyzer;
use serde_json::{Value, json};

use super::types::{FieldType, PARAMETERS_NOT_THERE, as_mapping, unknown_type};
use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// A field of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMapping {
    /// Its type.
    pub kind: FieldType,
    /// The analyzer of a text field, unless it is the default one of the index.
    pub analyzer: Option<String>,
    /// Set if a document brought it, so that a whole number may become a fraction.
    pub is_found: bool,
}

impl FieldMapping {
    /// A field of a type that a document brought.
    pub fn found(kind: FieldType) -> FieldMapping {
        FieldMapping {
            kind,
            analyzer: None,
            is_found: true,
        }
    }

    /// The analyzer by which its text is indexed; nothing for what is no string.
    pub fn analyzer(&self, default: Analyzer) -> Option<Analyzer> {
        match (self.kind, &self.analyzer) {
            (FieldType::Keyword, _) => Some(Analyzer::KEYWORD),
            (FieldType::Text, None) => Some(default),
            (FieldType::Text, Some(name)) => Some(Analyzer::named(name).unwrap_or(default)),
            _ => None,
        }
    }

    /// Its object in a mapping.
    pub fn json(&self) -> Value {
        match &self.analyzer {
            None => json!({ "type": self.kind.name() }),
            Some(analyzer) => json!({ "type": self.kind.name(), "analyzer": analyzer }),
        }
    }

    /// Reads its object in a mapping.
    pub fn parse(name: &str, value: &Value) -> Outcome<FieldMapping> {
        let members = Members::of(name, value)?;
        let written = members
            .text("type")?
            .ok_or_else(|| Fault::mapping(format!("No type specified for field [{name}]")))?;
        let kind = FieldType::named(written).ok_or_else(|| unknown_type(written, name))?;
        members
            .check(
                &["type", "analyzer", "search_analyzer"],
                &PARAMETERS_NOT_THERE,
            )
            .map_err(as_mapping)?;
        let analyzer = members.text("analyzer")?;
        let at_search = members.text("search_analyzer")?;
        if kind != FieldType::Text && (analyzer.is_some() || at_search.is_some()) {
            return Err(Fault::mapping(format!(
                "unknown parameter [analyzer] on mapper [{name}] of type [{written}]"
            )));
        }
        if at_search.is_some_and(|other| Some(other) != analyzer) {
            return Err(as_mapping(Fault::not_there(&format!(
                "a [search_analyzer] other than the [analyzer], as of field [{name}],"
            ))));
        }
        if let Some(analyzer) = analyzer {
            check_analyzer(analyzer, name)?;
        }
        Ok(FieldMapping {
            kind,
            analyzer: analyzer.map(str::to_owned),
            is_found: false,
        })
    }
}

fn check_analyzer(analyzer: &str, field: &str) -> Outcome<()> {
    match Analyzer::named(analyzer) {
        Ok(_) => Ok(()),
        Err(error) => Err(Fault::mapping(format!(
            "analyzer [{analyzer}] has not been configured in mappings, as field [{field}] wants it: {error}"
        ))),
    }
}
