//! Callers, and their rights.

use std::sync::Arc;

use crate::fault::{Fault, Outcome};
use crate::json::fits;

/// The right that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Asks about the server: any key will do.
    Monitor,
    /// Reads documents.
    Read,
    /// Changes documents.
    Write,
    /// Makes, changes and deletes indexes.
    Manage,
}

/// A part of what a key may do: a right on the indexes that a pattern stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The right.
    pub right: Right,
    /// The pattern of the names of indexes.
    pub pattern: String,
}

/// The rights of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grants {
    /// The identifier of the key.
    pub id: String,
    /// The parts of what it may do.
    pub scopes: Vec<Scope>,
}

/// A caller, with the right that the request needs.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Nothing if there are no keys, so that everybody may do everything.
    grants: Option<Arc<Grants>>,
    right: Right,
}

impl Right {
    /// Its name in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Right::Monitor => "monitor",
            Right::Read => "read",
            Right::Write => "write",
            Right::Manage => "admin",
        }
    }
}

impl Scope {
    /// Reads a right and a pattern, as `read:logs-*`.
    pub fn parse(text: &str) -> Outcome<Scope> {
        let rejected = || {
            Fault::illegal(format!(
                "the scope [{text}] is not read, write or admin, a colon and a pattern of indexes, as in read:logs-*"
            ))
        };
        let (right, pattern) = text.split_once(':').ok_or_else(rejected)?;
        let right = [Right::Read, Right::Write, Right::Manage]
            .into_iter()
            .find(|known| known.name() == right)
            .ok_or_else(rejected)?;
        if pattern.is_empty() || pattern.contains(',') {
            return Err(rejected());
        }
        Ok(Scope {
            right,
            pattern: pattern.to_owned(),
        })
    }

    fn allows(&self, right: Right, index: &str) -> bool {
        let has_right = self.right == right || self.right == Right::Manage;
        has_right && fits(&self.pattern, index)
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}", self.right.name(), self.pattern)
    }
}

impl Caller {
    /// A caller who has these rights, or all of them, and needs `right`.
    pub fn new(grants: Option<Arc<Grants>>, right: Right) -> Caller {
        Caller { grants, right }
    }

    /// The same, who needs another right.
    #[must_use]
    pub fn to(&self, right: Right) -> Caller {
        Caller {
            right,
            ..self.clone()
        }
    }

    /// The key that asks, if there are keys.
    pub fn key(&self) -> Option<&str> {
        self.grants.as_ref().map(|grants| grants.id.as_str())
    }

    /// Returns true if the right is there for an index.
    pub fn may(&self, index: &str) -> bool {
        match (&self.grants, self.right) {
            (None, _) | (_, Right::Monitor) => true,
            (Some(grants), right) => grants.scopes.iter().any(|scope| scope.allows(right, index)),
        }
    }

    /// Fails unless the right is there for an index.
    pub fn check(&self, index: &str) -> Outcome<()> {
        if self.may(index) {
            return Ok(());
        }
        let shown: String = index.chars().take(255).collect();
        Err(forbidden(format!(
            "the key [{}] has no scope {}:{shown}",
            self.key().unwrap_or_default(),
            self.right.name()
        )))
    }

    /// Fails unless the right is there for all indexes.
    pub fn check_all(&self) -> Outcome<()> {
        let Some(grants) = &self.grants else {
            return Ok(());
        };
        let mut scopes = grants.scopes.iter();
        let is_all = |scope: &Scope| scope.pattern == "*" && scope.allows(self.right, "any index");
        if self.right == Right::Monitor || scopes.any(is_all) {
            return Ok(());
        }
        Err(forbidden(format!(
            "the key [{}] has no scope {}:*, which is needed for what is of all indexes",
            grants.id,
            self.right.name()
        )))
    }
}

fn forbidden(reason: String) -> Fault {
    Fault::new(403, "security_exception", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(scopes: &[&str], right: Right) -> Caller {
        let scopes = scopes.iter().map(|scope| Scope::parse(scope).unwrap());
        let grants = Grants {
            id: "k".to_owned(),
            scopes: scopes.collect(),
        };
        Caller::new(Some(Arc::new(grants)), right)
    }

    #[test]
    fn a_key_does_what_its_scopes_say() {
        let of = |right| caller(&["read:logs-*", "write:logs-a", "admin:own"], right);
        assert!(of(Right::Read).may("logs-a") && of(Right::Read).may("own"));
        assert!(of(Right::Write).may("logs-a") && of(Right::Write).may("own"));
        assert!(!of(Right::Write).may("logs-b") && !of(Right::Read).may("other"));
        assert!(!of(Right::Manage).may("logs-a") && of(Right::Manage).may("own"));
        assert!(of(Right::Read).check_all().is_err());
        assert!(caller(&["admin:*"], Right::Write).check_all().is_ok());
        assert!(Caller::new(None, Right::Manage).check_all().is_ok());
        let fault = of(Right::Write).check("logs-b").unwrap_err();
        assert_eq!((fault.status, fault.kind), (403, "security_exception"));
    }

    #[test]
    fn scopes_are_rights_with_patterns() {
        for text in ["", "read", "read:", "reads:a", "read:a,b", ":a"] {
            assert!(Scope::parse(text).is_err(), "{text}");
        }
        assert_eq!(Scope::parse("admin:*").unwrap().to_string(), "admin:*");
    }
}
