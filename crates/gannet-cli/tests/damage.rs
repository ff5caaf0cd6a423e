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
        .rejected(2, &["damaged"]);
}

/// Every page of lists, trees and documents is met from several sides; its finding says so.
#[test]
fn a_check_tells_each_damaged_page_once() {
    let place = indexed();
    let zones = fs::read_dir(place.path("index")).unwrap().flatten();
    let paths = zones.map(|entry| entry.path());
    let mut has_referrers = false;
    for path in paths.filter(|path| path.display().to_string().contains("zone-")) {
        let before = fs::read(&path).unwrap();
        for page in 0..before.len() / 4_096 {
            let mut bytes = before.clone();
            bytes[page * 4_096 + 100] ^= 1;
            fs::write(&path, &bytes).unwrap();
            let ran = place.run(&["check", "index"]);
            let name = format!("damaged page {page} of ");
            let told = ran.out.matches(&name).count();
            assert!(
                told <= 1,
                "{}, {page}: {told} times: {ran:?}",
                path.display()
            );
            has_referrers |= told == 1 && ran.out.contains("; referred to by ");
        }
        fs::write(&path, &before).unwrap();
    }
    assert!(has_referrers);
    place.done(&["check", "index"]);
}

#[test]
fn a_check_names_a_damaged_root_slot_beside_a_whole_one() {
    let place = indexed();
    let path = place.path("index/superblock");
    let before = fs::read(&path).unwrap();
    for slot in [0, 1] {
        let mut bytes = before.clone();
        bytes[slot * 4_096 + 2_000] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_eq!(place.found("word1999"), ["1999"]);
        let checked = place.run(&["check", "index"]);
        assert_eq!(checked.code, 2, "{checked:?}");
        let named = format!("damaged root slot {slot}");
        assert!(checked.out.contains(&named), "{checked:?}");
    }
    fs::write(&path, before).unwrap();
    let checked = place.json(&["check", "index"]);
    assert_eq!(checked["notes"], serde_json::json!([]));
    assert!(checked["pages"].as_u64() > Some(10), "{checked}");
}

#[test]
fn an_index_of_a_newer_format_is_left_alone() {
    let place = indexed();
    let path = place.path("index/superblock");
    let before = fs::read(&path).unwrap();
    let mut newer = before.clone();
    // The version stands behind the eight bytes of the mark, in both slots.
    for slot in newer.chunks_mut(4_096) {
        slot[8] = 99;
    }
    fs::write(&path, newer).unwrap();
    let expected = ["superblock", "format 99", "use a newer gannet"];
    place
        .run(&["search", "index", "common"])
        .rejected(1, &expected);
    place
        .run(&["index", "index", "docs.jsonl"])
        .rejected(1, &expected);
    fs::write(&path, before).unwrap();
    place.done(&["check", "index"]);
}

#[test]
fn a_superblock_of_other_bytes_is_damaged() {
    let place = indexed();
    fs::write(place.path("index/superblock"), vec![0xA5; 8_192]).unwrap();
    place
        .run(&["search", "index", "common"])
        .rejected(2, &["superblock"]);
}

#[test]
fn an_index_without_a_superblock_is_damaged_and_nothing_is_made_in_its_place() {
    let place = indexed();
    let path = place.path("index/superblock");
    let before = fs::read(&path).unwrap();
    for content in [None, Some(0), Some(8_192)] {
        match content {
            None => fs::remove_file(&path).unwrap(),
            Some(length) => fs::write(&path, vec![0; length]).unwrap(),
        }
        for command in [
            &["index", "index", "docs.jsonl"][..],
            &["search", "index", "common"],
            &["check", "index"],
        ] {
            place
                .run(command)
                .rejected(2, &["damaged superblock", "restore"]);
        }
    }
    fs::write(&path, before).unwrap();
    assert_eq!(place.found("word1999"), ["1999"]);
    place.done(&["check", "index"]);
}

/// A slot whose version is damaged is no index of another format: the other slot counts, and
/// without it the bytes are damaged.
#[test]
fn a_damaged_version_is_damage() {
    let place = indexed();
    let path = place.path("index/superblock");
    let before = fs::read(&path).unwrap();
    for slot in 0..2 {
        let mut damaged = before.clone();
        damaged[slot * 4_096 + 8] ^= 1;
        fs::write(&path, &damaged).unwrap();
        assert_eq!(place.found("word1999"), ["1999"]);
        damaged[(1 - slot) * 4_096 + 30] ^= 1;
        fs::write(&path, &damaged).unwrap();
        for command in [
            &["index", "index", "docs.jsonl"][..],
            &["search", "index", "common"],
        ] {
            place.run(command).rejected(2, &["damaged", "superblock"]);
        }
    }
    fs::write(&path, before).unwrap();
    place.done(&["check", "index"]);
}
