//! The parts of JSON text, as they stand in it.
//!
//! A stored source is not taken apart into values, which would take many times its memory: members
//! and items are found by going over the text. The text must be JSON; sources are, and are checked
//! when they are read.

/// The members of an object with their decoded names; nothing if it is no object.
pub fn members(object: &str) -> impl Iterator<Item = (String, &str)> {
    parts(object, '{', '}').map(|member| {
        let end = end_of_part(member, b':');
        let name = serde_json::from_str(&member[..end]).unwrap_or_default();
        let value = member.get(end + 1..).unwrap_or_default();
        (name, value.trim_ascii())
    })
}

/// The items of an array; nothing if it is no array.
pub fn items(array: &str) -> impl Iterator<Item = &str> {
    parts(array, '[', ']')
}

/// The pieces of JSON between which nothing but white space stands: together they are the same on
/// one line.
pub fn compact(json: &str) -> impl Iterator<Item = &str> {
    let (mut rest, mut inside) = (json, Text::default());
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut bytes = rest.bytes();
        let end = bytes.position(|byte| !inside.goes_on(byte) && byte.is_ascii_whitespace());
        let piece = &rest[..end.unwrap_or(rest.len())];
        rest = end.map_or("", |end| &rest[end + 1..]);
        Some(piece)
    })
}

/// Appends JSON so that it stands on one line.
pub fn append_compact(json: &str, out: &mut String) {
    compact(json).for_each(|piece| out.push_str(piece));
}

fn parts(json: &str, open: char, close: char) -> impl Iterator<Item = &str> {
    let json = json.trim_ascii();
    let inner = json.strip_prefix(open);
    let mut rest = inner
        .and_then(|inner| inner.strip_suffix(close))
        .unwrap_or_default()
        .trim_ascii();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = end_of_part(rest, b',');
        let part = rest[..end].trim_ascii();
        rest = rest.get(end + 1..).unwrap_or_default().trim_ascii_start();
        Some(part)
    })
}

/// Returns the position of the first `separator` outside texts, objects and arrays.
fn end_of_part(json: &str, separator: u8) -> usize {
    let (mut depth, mut inside) = (0_usize, Text::default());
    for (at, byte) in json.bytes().enumerate() {
        if inside.goes_on(byte) {
            continue;
        }
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ if byte == separator && depth == 0 => return at,
            _ => {}
        }
    }
    json.len()
}

/// Tracks whether a position is in a text between quotes.
#[derive(Default)]
struct Text {
    is_open: bool,
    is_escaped: bool,
}

impl Text {
    /// Takes the next byte; whether it belongs to a text, the quotes included.
    fn goes_on(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_open => self.is_escaped = true,
            b'"' => {
                self.is_open = !self.is_open;
                return true;
            }
            _ => {}
        }
        self.is_open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_items_are_found_by_the_signs_outside_of_texts() {
        let json = r#" { "a" : "x,\"}:" , "\u0062":[1, {"c":2}], "d":{} , "e":1.50 } "#;
        let found: Vec<(String, &str)> = members(json).collect();
        let expected = [
            ("a", r#""x,\"}:""#),
            ("b", r#"[1, {"c":2}]"#),
            ("d", "{}"),
            ("e", "1.50"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(found, expected);
        let list: Vec<&str> = items(r#"[ "a,b" , [1,2], {"x":"]"}]"#).collect();
        assert_eq!(list, [r#""a,b""#, "[1,2]", r#"{"x":"]"}"#]);
        assert_eq!(
            members("[1]").count() + items("{}").count() + items(" [ ] ").count(),
            0
        );
    }

    #[test]
    fn white_space_between_parts_goes_and_inside_of_texts_stays() {
        let mut out = String::new();
        append_compact("{ \"a\" : [1 ,\n 2], \"b\\\" c\" : \" x \\\\\" }", &mut out);
        assert_eq!(out, r#"{"a":[1,2],"b\" c":" x \\"}"#);
    }
}
