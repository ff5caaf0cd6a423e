//! Names of indexes, as Elasticsearch allows them. A name is also that of a folder.

use crate::fault::{Fault, Outcome};

const BYTES_MAX: usize = 255;
const FORBIDDEN: &str = "\\/*?\"<>| ,#:";

/// Fails if an index cannot have this name.
pub fn check_index_name(name: &str) -> Outcome<()> {
    match fault_of(name) {
        None => Ok(()),
        Some(reason) => {
            let shown: String = name.chars().take(BYTES_MAX).collect();
            let reason = format!("Invalid index name [{shown}], {reason}");
            Err(Fault::new(400, "invalid_index_name_exception", reason).of_index(&shown))
        }
    }
}

fn fault_of(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("must not be empty")
    } else if name == "." || name == ".." {
        Some("must not be '.' or '..'")
    } else if name.contains(|c: char| FORBIDDEN.contains(c)) {
        Some(
            "must not contain the following characters [' ','\"','*','\\','<','|',',','>','/','?','#',':']",
        )
    } else if name.chars().any(char::is_control) {
        Some("must not contain control characters")
    } else if name.starts_with(['_', '-', '+']) {
        Some("must not start with '_', '-', or '+'")
    } else if name.chars().any(char::is_uppercase) {
        Some("must be lowercase")
    } else if name.len() > BYTES_MAX {
        Some("index name is too long, (more than 255 bytes)")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_elasticsearch_allows() {
        for name in ["a", "logs-2026.11.29", "über", ".kibana", "a_b+c"] {
            check_index_name(name).unwrap();
        }
        for (name, part) in [
            ("", "empty"),
            ("..", "'..'"),
            ("../x", "must not contain"),
            ("a/b", "must not contain"),
            ("a b", "must not contain"),
            ("a\0b", "control"),
            ("_server", "start with"),
            ("-a", "start with"),
            ("Books", "lowercase"),
            (&"a".repeat(256), "too long"),
        ] {
            let fault = check_index_name(name).unwrap_err();
            assert_eq!(
                (fault.status, fault.kind),
                (400, "invalid_index_name_exception")
            );
            assert!(fault.reason.contains(part), "{}", fault.reason);
        }
    }
}
