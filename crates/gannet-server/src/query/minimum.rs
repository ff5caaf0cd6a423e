//! `minimum_should_match`: a number, or a percentage, of what should match.

use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::json::kind_of;

/// Returns how many of `clauses` must match; more than there are match nothing.
pub fn minimum_should_match(written: &Value, clauses: usize) -> Outcome<u32> {
    let text = match written {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        other => return Err(unreadable(&kind_of(other))),
    };
    if text.contains('<') {
        return Err(Fault::query_not_there(&format!(
            "[minimum_should_match] of conditions, as [{text}] is,"
        )));
    }
    let all = clauses as i64;
    let wanted = match text.strip_suffix('%') {
        Some(percent) => {
            let percent: i64 = percent.parse().map_err(|_| unreadable(&text))?;
            if !(-100..=100).contains(&percent) {
                return Err(unreadable(&text));
            }
            // Rounded towards zero, also where it says how many may be missing.
            let share = all * percent / 100;
            if percent < 0 { all + share } else { share }
        }
        None => {
            let number: i64 = text.parse().map_err(|_| unreadable(&text))?;
            if number < 0 {
                all.saturating_add(number)
            } else {
                number
            }
        }
    };
    Ok(wanted.clamp(0, i64::from(u32::MAX)) as u32)
}

fn unreadable(text: &str) -> Fault {
    Fault::query_shard(format!(
        "[minimum_should_match] is a number such as 2 or -1, or a percentage such as 75%, not {text}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_and_percentages_are_read_as_elasticsearch_reads_them() {
        for (written, clauses, expected) in [
            (json!(2), 4, 2),
            (json!("3"), 2, 3),
            (json!(-1), 4, 3),
            (json!(-9), 4, 0),
            (json!("75%"), 4, 3),
            (json!("75%"), 3, 2),
            (json!("-25%"), 4, 3),
            (json!("-30%"), 3, 3),
            (json!("100%"), 5, 5),
            (json!("0%"), 5, 0),
        ] {
            assert_eq!(
                minimum_should_match(&written, clauses).unwrap(),
                expected,
                "{written}"
            );
        }
        for written in [json!("x"), json!("2<75%"), json!("101%"), json!([])] {
            assert!(minimum_should_match(&written, 3).is_err(), "{written}");
        }
    }
}
