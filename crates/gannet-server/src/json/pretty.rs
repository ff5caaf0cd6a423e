//! JSON for people, as Elasticsearch indents it.

/// Returns the JSON text `json` with a member a line. Nothing in it changes but white space.
pub fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        if in_string {
            out.push(character);
            let ends = character == '"' && !escaped;
            escaped = character == '\\' && !escaped;
            in_string = !ends;
            continue;
        }
        match character {
            '"' => {
                in_string = true;
                out.push('"');
            }
            '{' | '[' => {
                let end = if character == '{' { '}' } else { ']' };
                out.push(character);
                if characters.next_if_eq(&end).is_some() {
                    // Elasticsearch writes `{ }` and `[ ]`.
                    out.push(' ');
                    out.push(end);
                    continue;
                }
                depth += 1;
                new_line(depth, &mut out);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(depth, &mut out);
                out.push(character);
            }
            ',' => {
                out.push(',');
                new_line(depth, &mut out);
            }
            ':' => out.push_str(" : "),
            other if other.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out.push('\n');
    out
}

fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indented_json_is_the_same_json() {
        let json = r#"{"a":{},"b":[1,-2.5e3,"x: {\"y\"}, [\\"],"c":{"d":null,"e":[]}}"#;
        let indented = pretty(json);
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(json), parse(&indented));
        assert!(indented.starts_with("{\n  \"a\" : { },\n"), "{indented}");
        assert!(indented.contains("\n    -2.5e3,\n"), "{indented}");
    }
}
