//! Backups and what is restored from them, by the command.

use std::fs;

use serde_json::Value;

use crate::command::Place;

/// An index of enough documents to have several pages of everything.
fn indexed() -> Place {
    let lines: Vec<String> = (0..3_000)
        .map(|n| format!("{{\"id\":{n},\"body\":\"common word{n} and some text to fill pages\"}}"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let place = Place::with_lines(&lines);
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

fn answers(place: &Place, folder: &str, query: &str) -> Value {
    place.json(&["search", folder, query, "-k", "20"])["hits"].take()
}

#[test]
fn a_backup_is_an_index_and_the_next_one_copies_what_is_new() {
    let place = indexed();
    let first = place.json(&["backup", "index", "saved/copy"]);
    assert_eq!(first["bytes"], first["bytes_copied"]);
    assert_eq!(
        (&first["documents"], &first["incremental"]),
        (&3_000.into(), &false.into())
    );
    let again = place.json(&["backup", "index", "saved/copy"]);
    assert_eq!(
        (&again["bytes_copied"], &again["incremental"]),
        (&0.into(), &true.into())
    );

    place.write("more.jsonl", "{\"id\":\"new\",\"body\":\"common news\"}\n");
    place.done(&["index", "index", "more.jsonl"]);
    let next = place.json(&["backup", "index", "saved/copy"]);
    assert_eq!(next["documents"], 3_001);
    assert!(
        next["bytes_copied"].as_u64() < next["bytes"].as_u64().map(|all| all / 2),
        "{next}"
    );
    place.done(&["check", "saved/copy"]);
    for query in ["news", "common", "word17 OR word2999", "\"some text\""] {
        let found = answers(&place, "saved/copy", query);
        assert_eq!(found, answers(&place, "index", query), "{query}");
    }
    let said = place.done(&["backup", "index", "other"]);
    assert!(
        said.contains("3,001 documents") && said.contains("other"),
        "{said}"
    );
}

#[test]
fn a_backup_is_restored_to_an_index_that_can_be_written() {
    let place = indexed();
    place.done(&["backup", "index", "copy"]);
    let restored = place.json(&["restore", "copy", "again"]);
    assert_eq!(
        (&restored["sound"], &restored["documents"]),
        (&true.into(), &3_000.into())
    );
    assert_eq!(
        answers(&place, "again", "common"),
        answers(&place, "index", "common")
    );
    place.write("more.jsonl", "{\"id\":\"new\",\"body\":\"common news\"}\n");
    place.done(&["index", "again", "more.jsonl"]);
    place.done(&["check", "again"]);
    // It is another index now, and the backup is not its own.
    place
        .run(&["backup", "again", "copy"])
        .rejected(1, &["copy", "another index", "empty folder"]);
    place.done(&["backup", "again", "own copy"]);
}

#[test]
fn nothing_is_overwritten() {
    let place = indexed();
    place.done(&["backup", "index", "copy"]);
    place
        .run(&["restore", "copy", "index"])
        .rejected(1, &["index", "missing or empty"]);
    fs::create_dir(place.path("papers")).unwrap();
    place.write("papers/letter.txt", "dear");
    for command in [["backup", "index", "papers"], ["restore", "copy", "papers"]] {
        place
            .run(&command)
            .rejected(1, &["papers", "letter.txt", "empty"]);
    }
    assert_eq!(fs::read_dir(place.path("papers")).unwrap().count(), 1);
    place
        .run(&["backup", "index", "index"])
        .rejected(1, &["is inside index"]);
    place
        .run(&["backup", "nothing", "new"])
        .rejected(1, &["nothing", "does not exist"]);
    place
        .run(&["restore", "nothing", "new"])
        .rejected(1, &["nothing", "does not exist"]);
    assert!(!place.path("new").exists());
    place.done(&["check", "index"]);
}

#[test]
fn damage_is_found_on_the_way() {
    let place = indexed();
    place.done(&["backup", "index", "copy"]);
    let zone = fs::read_dir(place.path("copy")).unwrap().flatten();
    let zone = zone.map(|entry| entry.path());
    let zone = zone
        .max_by_key(|path| fs::metadata(path).unwrap().len())
        .unwrap();
    let mut bytes = fs::read(&zone).unwrap();
    bytes[4_096 + 77] ^= 8;
    fs::write(&zone, bytes).unwrap();
    let name = zone.file_name().unwrap().to_str().unwrap();
    let page = format!("page 1 of {name}");
    place
        .run(&["restore", "copy", "new"])
        .rejected(2, &["damaged", &page]);
    // What was begun says so.
    place
        .run(&["search", "new", "common"])
        .rejected(1, &["new", "cut short", "remove it"]);
    place
        .run(&["index", "new", "docs.jsonl"])
        .rejected(1, &["new", "cut short", "remove it"]);
}

/// An index whose writer was killed is recovered before it is copied.
#[test]
fn an_index_that_was_not_closed_is_backed_up_with_all_that_is_durable() {
    let place = indexed();
    let mut command = place.command(&["index", "index", "-", "--commit-every", "1"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // None replaces another: a vacuum that a checkpoint begins would change scores.
    let line = |id: u32| format!("{{\"id\":\"late{id}\",\"body\":\"latecomer\"}}\n");
    let lines: String = (0..3_000).map(line).collect();
    let before = fs::read_dir(place.path("index")).unwrap().count();
    std::io::Write::write_all(&mut input, lines.as_bytes()).unwrap();
    for _ in 0..2_000 {
        let files = fs::read_dir(place.path("index")).unwrap().count();
        if files > before {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    let expected = answers(&place, "index", "latecomer");
    place.done(&["backup", "index", "copy"]);
    assert_eq!(answers(&place, "copy", "latecomer"), expected);
    place.done(&["check", "copy"]);
}

#[test]
fn a_backup_is_read_and_never_written() {
    let place = indexed();
    place.done(&["backup", "index", "copy"]);
    place.write("more.jsonl", "{\"id\":\"new\",\"body\":\"common news\"}\n");
    // A copy of the folder is a backup, too.
    let copied = std::process::Command::new("cp")
        .args(["-r", "copy", "twin"])
        .current_dir(place.path("."))
        .status();
    assert!(copied.unwrap().success());
    for folder in ["copy", "twin"] {
        for command in [
            &["index", folder, "more.jsonl"][..],
            &["delete", folder, "17"],
            &["vacuum", folder],
            &["rebuild", folder],
        ] {
            place.run(command).rejected(
                1,
                &[folder, "backup", "gannet restore", "delete the folder"],
            );
        }
        assert_eq!(place.json(&["stats", folder])["documents"], 3_000);
        assert_eq!(place.json(&["search", folder, "news"])["total"], 0);
        place.done(&["check", folder]);
    }
    // The next backup goes on, and what is restored can be written.
    place.done(&["index", "index", "more.jsonl"]);
    for folder in ["copy", "twin"] {
        let next = place.json(&["backup", "index", folder]);
        assert_eq!(
            (&next["documents"], &next["incremental"]),
            (&3_001.into(), &true.into())
        );
    }
    place.done(&["restore", "copy", "again"]);
    place.done(&["index", "again", "more.jsonl"]);
    place.done(&["check", "again"]);
}
