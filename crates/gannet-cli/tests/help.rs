//! The output of `-h` and `--help`.

use crate::command::Place;

#[test]
fn the_short_help_leaves_out_what_is_rarely_needed() {
    let place = Place::new();
    for command in ["index", "search", "stats"] {
        let [short, long] = ["-h", "--help"].map(|help| place.done(&[command, help]));
        for option in ["--backend", "--color"] {
            assert!(!short.contains(option), "{short}");
            assert!(long.contains(option), "{long}");
        }
        assert!(short.contains("--memory") && short.contains("--json"));
    }
    let help = place.done(&["index", "-h"]);
    assert!(help.contains("made durable together"), "{help}");
    for (command, what) in [
        ("backup", "All documents, lists and settings are copied"),
        ("restore", "All documents, lists and settings of the backup"),
    ] {
        let help = place.done(&[command, "--help"]);
        let words: Vec<&str> = help.split_whitespace().collect();
        assert!(words.join(" ").contains(what), "{help}");
    }
}
