//! The ends of a `range`: `gte` and `gt`, or as older clients write them `from` with
//! `include_lower`.

use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::json::Members;

/// The names that one end has.
pub struct End {
    included: &'static str,
    excluded: &'static str,
    plain: &'static str,
    /// The member that says of `plain` if the end belongs to the range.
    flag: &'static str,
}

/// The least value.
pub const LOWER: End = End {
    included: "gte",
    excluded: "gt",
    plain: "from",
    flag: "include_lower",
};

/// The greatest value.
pub const UPPER: End = End {
    included: "lte",
    excluded: "lt",
    plain: "to",
    flag: "include_upper",
};

/// All names.
pub const ENDS: [&str; 8] = [
    LOWER.included,
    LOWER.excluded,
    LOWER.plain,
    LOWER.flag,
    UPPER.included,
    UPPER.excluded,
    UPPER.plain,
    UPPER.flag,
];

impl End {
    /// The value of the end, and true if it belongs to the range.
    pub fn of<'a>(&self, members: &Members<'a>) -> Outcome<Option<(&'a Value, bool)>> {
        let is_included = members.flag(self.flag)?.unwrap_or(true);
        let given = [
            (self.included, true),
            (self.excluded, false),
            (self.plain, is_included),
        ];
        let given = given.map(|(name, included)| Some((name, members.get(name)?, included)));
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (None, _) => Ok(None),
            (Some((_, value, included)), None) => Ok(Some((value, included))),
            (Some((one, ..)), Some((other, ..))) => Err(Fault::parsing(format!(
                "[range] has both [{one}] and [{other}]: give one"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ends_are_read_in_both_ways_of_writing() {
        let read = |value: Value| {
            let members = Members::of("range", &value).unwrap();
            let end = LOWER.of(&members).unwrap();
            end.map(|(value, included)| (value.clone(), included))
        };
        assert_eq!(read(json!({})), None);
        assert_eq!(read(json!({ "from": null })), None);
        assert_eq!(read(json!({ "gte": 1 })), Some((json!(1), true)));
        assert_eq!(read(json!({ "gt": 1 })), Some((json!(1), false)));
        assert_eq!(read(json!({ "from": 1 })), Some((json!(1), true)));
        let open = json!({ "from": 1, "include_lower": false });
        assert_eq!(read(open), Some((json!(1), false)));
        let both = json!({ "from": 1, "gt": 2 });
        let members = Members::of("range", &both).unwrap();
        assert!(LOWER.of(&members).is_err());
    }
}
