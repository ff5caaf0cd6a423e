//! Mistakes of newcomers: questions as queries, arguments in the wrong order, numbers that are
//! none, failed commands that leave something behind.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::json;

use crate::command::{Place, Ran};

fn whales() -> Place {
    let place = Place::with_lines(&[
        r#"{"id":"a","title":"Moby","body":"Ahab hunts the whale"}"#,
        r#"{"id":"b","title":"Rope","body":"who is on deck"}"#,
    ]);
    place.done(&["index", "index", "docs.jsonl"]);
    place
}

/// All words of a help text, side by side.
fn help(place: &Place, arguments: &[&str]) -> String {
    let help = place.done(arguments);
    help.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_mark_of_a_question_is_punctuation_and_a_note_says_so() {
    let place = whales();
    let ask = |query: &str| place.run(&["search", "index", query]);
    let note =
        "the ? at the end is taken as punctuation; for words with one more character write (Ahab?)";
    let told = ask("Who is Ahab?");
    assert_eq!(told.err, format!("gannet: note: {note}\n"));
    assert!(told.out.contains("2 documents found"), "{told:?}");
    for other in [r"Who is Ahab\?", "Ahab", "whal?", "title:quux*", "b?d"] {
        assert_eq!(ask(other).err, "", "{other}");
    }
    let answer = place.json(&["search", "index", "Who is Ahab?"]);
    assert_eq!(answer["notes"], json!([note]));
    let count = place.run(&["search", "index", "is Ahab?", "--count"]);
    assert_eq!((count.code, count.out.as_str()), (0, "2\n"));
    assert_eq!(count.err, format!("gannet: note: {note}\n"));
    let count = place.json(&["search", "index", "is Ahab?", "--count"]);
    assert_eq!(
        (&count["total"], &count["notes"]),
        (&json!(2), &json!([note]))
    );
    let export = place.run(&["export", "index", "is Ahab?"]);
    assert_eq!(export.err, format!("gannet: note: {note}\n"));
    let delete = ["delete", "index", "--query", "is Ahab?"];
    let dry = place.run(&[&delete[..], &["--dry-run"]].concat());
    assert_eq!(dry.err, format!("gannet: note: {note}\n"));
    let dry = place.json(&[&delete[..], &["--dry-run"]].concat());
    assert_eq!(
        (&dry["would_delete"], &dry["notes"]),
        (&json!(2), &json!([note]))
    );
    let done = place.json(&delete);
    assert_eq!(
        (&done["deleted"], &done["notes"]),
        (&json!(2), &json!([note]))
    );
}

#[test]
fn a_lone_word_with_a_question_mark_is_a_pattern() {
    let place = whales();
    let told = place.run(&["search", "index", "Ahab?"]);
    let note = r"note: Ahab? is a pattern, in which ? stands for one character, and no word fits it: for the word write Ahab or Ahab\?";
    assert!(told.err.contains(note), "{told:?}");
    let told = place.run(&["search", "index", "body:Ahab?"]);
    assert!(told.err.contains("write body:Ahab or"), "{told:?}");
    let answer = place.json(&["search", "index", "Ahab?"]);
    assert_eq!(answer["unmatched_patterns"], json!(["Ahab?"]));
}

#[test]
fn what_a_star_could_delete_is_not_deleted() {
    let place = whales();
    for query in ["\"Ahab\"*", "(Ahab)*", "title:Moby *", "Ahab **", "-*"] {
        place
            .run(&["delete", "index", "--query", query])
            .rejected(1, &["*", "at character"]);
    }
    assert_eq!(place.json(&["stats", "index"])["documents"], 2);
}

#[test]
fn a_query_of_nothing_is_told() {
    let place = whales();
    for query in ["", " ", "()"] {
        let told = place.run(&["search", "index", "--", query]).err;
        assert!(
            told.contains("note: the query is empty"),
            "{query:?}: {told}"
        );
    }
}

#[test]
fn the_index_of_a_deletion_comes_first() {
    let place = whales();
    place
        .run(&["delete", "17", "index"])
        .rejected(1, &["17 does not exist", "`gannet delete index 17`"]);
    place
        .run(&["delete", "17", "18"])
        .rejected(1, &["17 does not exist"]);
    let usage = help(&place, &["delete", "--help"]);
    for form in [
        "[OPTIONS] <INDEX> <ID>...",
        "[OPTIONS] <INDEX> --query <QUERY>",
    ] {
        assert!(usage.contains(form), "{usage}");
    }
    assert_eq!(place.json(&["stats", "index"])["documents"], 2);
}

#[test]
fn fields_that_are_named_are_shown_without_snippets() {
    let place = whales();
    let search = ["search", "index", "whale"];
    let shown = |more: &[&str]| place.done(&[&search[..], more].concat());
    assert!(shown(&[]).contains("[whale]"));
    let fields = shown(&["--fields", "title"]);
    assert!(
        fields.contains("title: Moby") && !fields.contains("[whale]"),
        "{fields}"
    );
    assert!(shown(&["--fields", "title", "--highlight", "body"]).contains("[whale]"));
    let answer = place.json(&[&search[..], &["--fields", "title"]].concat());
    assert_eq!(answer["hits"][0]["snippets"], json!({}));
    let said = help(&place, &["search", "--help"]);
    assert!(
        said.contains("[default: ID, title and snippets; with --json all]"),
        "{said}"
    );
    assert!(said.contains("not escaped for HTML"), "{said}");
}

#[test]
fn analyzers_are_listed_with_what_they_do() {
    let place = Place::new();
    for command in ["index", "analyze"] {
        let said = help(&place, &[command, "--help"]);
        for part in [
            "whitespace what stands between",
            "german",
            "Naive does not find Naïve",
        ] {
            assert!(said.contains(part), "{command}: {said}");
        }
    }
}

#[test]
fn the_query_language_fits_a_terminal() {
    let place = Place::new();
    let run = place
        .command(&["search", "--help"])
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    let help = String::from_utf8(run.stdout).unwrap();
    let lines: Vec<&str> = help.lines().collect();
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{help}"
    );
    let behind = lines
        .iter()
        .position(|line| line.starts_with("NOT binds"))
        .unwrap();
    // Every line of a paragraph but its last is as long as the next word allows.
    let paragraph = lines[behind..]
        .split(|line| line.is_empty())
        .next()
        .unwrap();
    for pair in paragraph.windows(2) {
        let next = pair[1].split(' ').next().unwrap();
        assert!(pair[0].len() + 1 + next.len() > 78, "{pair:?}");
    }
}

/// A mistake on the command line or in the input makes no index that nobody asked for.
#[test]
fn an_input_without_documents_leaves_no_index() {
    let place = Place::new();
    for (format, input) in [("jsonl", "oops\n"), ("csv", ""), ("csv", "a,a\n")] {
        let ran = place.piped(
            &["index", "index", "-", "--format", format],
            input.as_bytes(),
        );
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(!place.path("index").exists(), "{ran:?}");
    }
    let ran = place.piped(&["index", "index", "-"], b"no json\n");
    ran.rejected(1, &["expected JSON lines", "no document before it"]);
    assert!(!place.path("index").exists());
    // An empty input is no mistake, and an index that was there stays.
    assert_eq!(place.piped(&["index", "index", "-"], b"").code, 0);
    assert_eq!(place.piped(&["index", "index", "-"], b"oops\n").code, 1);
    assert_eq!(place.json(&["stats", "index"])["documents"], 0);
}

#[test]
fn json_and_csv_exclude_each_other() {
    let place = whales();
    place
        .run(&["export", "index", "--format", "csv", "--json"])
        .rejected(1, &["--json", "--format csv"]);
    let lines = place.done(&["export", "index", "--json"]);
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn sizes_are_told_in_the_units_in_which_they_are_given() {
    let place = whales();
    place
        .run(&["search", "index", "whale", "--memory", "1MiB"])
        .rejected(1, &["1.0 MiB", "at least 16 MiB"]);
    place
        .run(&["search", "index", "whale", "--memory", "1"])
        .rejected(1, &["1 byte of memory"]);
    place
        .run(&["search", "index", "whale", "--memory", "9000GiB"])
        .rejected(
            1,
            &[
                "--memory 9000GiB is more than the ",
                "iB of memory of this ",
            ],
        );
    let said = help(&place, &["search", "--help"]);
    assert!(said.contains("at least 16MiB"), "{said}");
    assert!(said.contains("a number alone is seconds"), "{said}");
}

#[test]
fn a_restore_says_what_it_needs_and_what_it_checked() {
    let place = whales();
    place.done(&["backup", "index", "copy"]);
    let told = place.done(&["restore", "copy", "again"]);
    assert!(
        told.contains("all of it was checked: ") && told.contains(" page"),
        "{told}"
    );
    let restore = |from: &str, to: &str| place.run(&["restore", from, to]);
    restore("none", "new").rejected(1, &["none does not exist", "`gannet backup`"]);
    assert!(!place.path("new").exists());
    let wanted = "a folder that is missing or empty";
    restore("copy", "index").rejected(1, &["index", wanted]);
    std::fs::create_dir(place.path("full")).unwrap();
    place.write("full/other.txt", "");
    restore("copy", "full").rejected(1, &["other.txt", wanted]);
    for error in [restore("copy", "index"), restore("copy", "full")] {
        assert!(!error.err.contains("earlier backup"), "{error:?}");
    }
}

#[test]
fn a_backup_says_what_it_has_of_a_writer() {
    let said = help(&Place::new(), &["backup", "--help"]);
    assert!(said.contains("it copies the last checkpoint"), "{said}");
}

/// A command that ends in order leaves nothing that `check` has to tell of.
#[test]
fn a_check_behind_a_deletion_has_nothing_to_note() {
    let place = whales();
    place.done(&["delete", "index", "a"]);
    let told = place.done(&["check", "index"]);
    assert!(told.starts_with("OK: "), "{told}");
    assert_eq!(place.json(&["check", "index"])["notes"], json!([]));
}

/// Runs the program as a user without rights to what `mode` keeps from others.
#[cfg(unix)]
fn run_as_other(place: &Place, arguments: &[&str]) -> std::io::Result<Ran> {
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let mut command = place.command(arguments);
    // Root may read everything.
    if fs::metadata("/proc/self")?.uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output()?;
    Ok(Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    })
}

#[test]
#[cfg(target_os = "linux")]
fn who_may_not_read_an_index_is_told_so() {
    let place = whales();
    let set = |name: &str, mode| {
        fs::set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap()
    };
    set(".", 0o755);
    let search = ["search", "index", "whale"];
    // Whoever cannot reach the program either has nothing to try.
    let Ok(ran) = run_as_other(&place, &search) else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:?}");
    set("index", 0o000);
    for command in [
        &search[..],
        &["index", "index", "docs.jsonl"],
        &["stats", "index"],
    ] {
        let ran = run_as_other(&place, command).unwrap();
        ran.rejected(1, &["open of index failed", "Permission denied"]);
    }
    set("index", 0o755);
    let zones = fs::read_dir(place.path("index")).unwrap().flatten();
    let names = zones.map(|file| format!("index/{}", file.file_name().to_string_lossy()));
    for zone in names.filter(|name| name.contains("zone")) {
        set(&zone, 0o000);
    }
    let ran = run_as_other(&place, &search).unwrap();
    ran.rejected(1, &["index/zone-", "Permission denied"]);
    set("index/superblock", 0o000);
    let ran = run_as_other(&place, &search).unwrap();
    ran.rejected(1, &["index/superblock", "Permission denied"]);
}

/// A vacuum that would write much for little writes nothing.
#[test]
fn a_vacuum_that_is_not_worth_it_does_nothing() {
    let place = Place::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample/sample.jsonl.zst");
    for memory in ["512MiB", "16MiB"] {
        let more = ["--memory", memory];
        let run = |arguments: &[&str]| place.json(&[arguments, &more].concat());
        run(&["index", memory, sample]);
        run(&["vacuum", memory]);
        run(&["delete", memory, "chapter_113-9"]);
        // The zones of this deletion and of the flushes before may just be worth a cleaning, which
        // depends on when the flushes began. Then it gives back a 64th; the next has nothing to do.
        let first = run(&["vacuum", memory]);
        let bytes = |name: &str| first[name].as_u64().unwrap();
        if bytes("bytes_written") >= 100_000 {
            let given_back = bytes("allocated_before") - bytes("allocated");
            assert!(given_back * 64 >= bytes("allocated_before"), "{first}");
            assert!(bytes("bytes_written") <= given_back * 10, "{first}");
        }
        let second = run(&["vacuum", memory]);
        assert!(second["bytes_written"].as_u64() < Some(100_000), "{second}");
        for done in [&first, &second] {
            assert_eq!(done["dead_documents"], 1);
        }
        let told = place.done(&[&["vacuum", memory][..], &more].concat());
        assert!(told.starts_with("nothing to do: "), "{told}");
        // A rebuild takes the document out, and makes the index no larger.
        let done = run(&["rebuild", memory]);
        let figure = |name: &str| done[name].as_u64().unwrap();
        assert_eq!(figure("dead_documents"), 0);
        assert!(figure("free") * 10 <= figure("allocated"), "{done}");
    }
    let empty = Place::new();
    empty.write("none.jsonl", "");
    empty.done(&["index", "index", "none.jsonl"]);
    let done = empty.json(&["vacuum", "index"]);
    assert_eq!(
        (&done["allocated"], &done["bytes_written"]),
        (&done["allocated_before"], &json!(0))
    );
}
