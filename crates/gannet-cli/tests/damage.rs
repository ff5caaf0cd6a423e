//! Indexes that are not what they were: the exit code is 2 and the sentence names what is wrong.

use std::fs;

use crate::command::Place;

/// An index of enough documents to have several pages of everything.
fn indexed() -> Place {
    let lines: Vec<String> = (0..2_000)
        .map(|n| format!("{{\"id\":{n},\"body\":\"common word{n} and some text to fill pages\"}}"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let place = Place::with_lines(&lines);
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

#[test]
fn damaged_pages_are_found_and_never_give_wrong_answers() {
    let place = indexed();
    place.done(&["check", "index"]);
    let zones = fs::read_dir(place.path("index")).unwrap().flatten();
    let zone = zones
        .map(|entry| entry.path())
        .filter(|path| path.display().to_string().contains("zone-"));
    for path in zone {
        let mut bytes = fs::read(&path).unwrap();
        // One bit in each page: whatever is read, it is not what was written.
        bytes
            .iter_mut()
            .skip(100)
            .step_by(4_096)
            .for_each(|byte| *byte ^= 1);
        fs::write(&path, bytes).unwrap();
    }
    let checked = place.run(&["check", "index"]);
    assert_eq!(checked.code, 2, "{checked:?}");
    place
        .run(&["search", "index", "common"])
        .refused(2, &["damaged"]);
}

#[test]
fn an_index_of_a_newer_format_is_left_alone() {
    let place = indexed();
    let path = place.path("index/superblock");
    let before = fs::read(&path).unwrap();
    fs::write(&path, vec![0xA5; before.len()]).unwrap();
    let ran = place.run(&["search", "index", "common"]);
    assert!(ran.code == 1 || ran.code == 2, "{ran:?}");
    assert!(
        ran.err.starts_with("gannet: ") && ran.err.contains("superblock"),
        "{ran:?}"
    );
    fs::write(&path, before).unwrap();
    place.done(&["check", "index"]);
}
