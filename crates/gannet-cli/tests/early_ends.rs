//! Runs of `gannet index` that end before the end of their sources say what they took, as text and
//! as one JSON object.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::command::{Place, Ran};

/// The one JSON object on standard output of a run that failed with the sentence that stands in it.
#[track_caller]
fn summary(ran: &Ran, code: i32) -> Value {
    assert_eq!(ran.code, code, "{ran:?}");
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let error = summary["error"].as_str().unwrap();
    assert!(ran.err.contains(&format!("gannet: {error}\n")), "{ran:?}");
    summary
}

#[test]
fn a_strict_run_says_how_many_it_took() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#, "oops", r#"{"id":"b"}"#]);
    let index = ["index", "index", "docs.jsonl", "--strict"];
    let summary = summary(&place.run(&[&index[..], &["--json"]].concat()), 1);
    assert_eq!(
        (&summary["documents"], &summary["durable"]),
        (&1.into(), &true.into())
    );
    assert!(summary["error"].as_str().unwrap().contains("line 2"));
    let text = place.run(&index).out;
    assert!(text.starts_with("1 document ("), "{text}");
    assert_eq!(place.found("one"), ["a"]);
}

#[test]
fn a_source_that_cannot_be_read_to_its_end_says_how_many_it_took() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#, r#"{"id":"b","body":"one"}"#]);
    place.write("broken.zst", b"\x28\xb5\x2f\xfd and no more of it");
    let index = ["index", "index", "docs.jsonl", "broken.zst"];
    let summary = summary(&place.run(&[&index[..], &["--json"]].concat()), 1);
    assert_eq!(
        (&summary["documents"], &summary["rejected"]),
        (&2.into(), &0.into())
    );
    assert!(summary["error"].as_str().unwrap().contains("broken.zst"));
    assert_eq!(place.found("one"), ["a", "b"]);
}

/// A file that may not grow fails a write in the middle of a run, as a full disk does that does not
/// tell what is free.
#[test]
#[cfg(target_os = "linux")]
fn a_failing_device_says_how_many_it_took() {
    let place = Place::new();
    let word = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let words = |n: u64| (0..30).map(move |m| format!("{:x} ", word(n * 30 + m)));
    let line = |n: u64| {
        format!(
            "{{\"id\":{n},\"body\":\"{}\"}}\n",
            words(n).collect::<String>()
        )
    };
    place.write("docs.jsonl", (1..4_000).map(line).collect::<String>());
    for form in ["--json", "--color never"] {
        let program = env!("CARGO_BIN_EXE_gannet");
        let limited = format!(
            "trap '' XFSZ; ulimit -f 512; exec {program} index index docs.jsonl --commit-every 100 {form}"
        );
        let mut command = Command::new("sh");
        let output = command
            .args(["-c", &limited])
            .current_dir(place.path("."))
            .output()
            .unwrap();
        let ran = Ran {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(ran.err.contains("write of zone"), "{ran:?}");
        let taken = match form {
            "--json" => {
                let summary = summary(&ran, 2);
                assert_eq!(summary["durable"], false, "{summary}");
                summary["documents"].as_u64().unwrap()
            }
            _ => {
                let taken = ran.out.split(" documents").next().unwrap();
                assert!(
                    ran.err.contains(&format!("{taken} documents taken")),
                    "{ran:?}"
                );
                taken.parse().unwrap()
            }
        };
        let kept = place.json(&["stats", "index"])["documents"]
            .as_u64()
            .unwrap();
        assert!(0 < kept && kept <= taken, "{kept} of {taken}");
        fs::remove_dir_all(place.path("index")).unwrap();
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_says_how_many_it_took_and_which_signal_ended_it() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let place = Place::new();
        let mut command = place.command(&["index", "index", "-", "--json", "--commit-every", "1"]);
        let (stdin, stdout) = (Stdio::piped(), Stdio::piped());
        let mut run = command
            .stdin(stdin)
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = run.stdin.take().unwrap();
        let line = |n: u32| format!("{{\"id\":{n},\"body\":\"one\"}}\n");
        // More than a batch, so that some are in the index while the input stays open.
        let lines: String = (0..300).map(line).collect();
        input.write_all(lines.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(2));
        send(signal, &run);
        let output = run.wait_with_output().unwrap();
        drop(input);
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(summary["documents"].as_u64() >= Some(256), "{summary}");
        assert!(
            summary["error"]
                .as_str()
                .unwrap()
                .starts_with("interrupted")
        );
    }
}

/// Documents that arrive slowly are written when they arrive, not when a batch of them is full.
#[test]
#[cfg(unix)]
fn what_has_arrived_is_durable_while_the_input_stays_open() {
    for (format, line) in [
        ("jsonl", "{\"id\":9,\"body\":\"one\"}\n"),
        ("csv", "9,one\n"),
    ] {
        let place = Place::new();
        let index = [
            "index",
            "index",
            "-",
            "--commit-every",
            "1",
            "--format",
            format,
        ];
        let mut run = place
            .command(&index)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = run.stdin.take().unwrap();
        if format == "csv" {
            input.write_all(b"id,body\n").unwrap();
        }
        // Lines of which the last is not whole.
        for part in 1..6 {
            let lines = (0..4).map(|n| line.replace('9', &format!("{part}{n}")));
            let lines = lines.collect::<String>();
            let whole = lines.len() - usize::from(part == 5) * 3;
            input.write_all(&lines.as_bytes()[..whole]).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
        std::thread::sleep(std::time::Duration::from_secs(1));
        send("-KILL", &run);
        run.wait().unwrap();
        drop(input);
        assert_eq!(place.json(&["stats", "index"])["documents"], 19, "{format}");
    }
}

#[cfg(unix)]
fn send(signal: &str, run: &Child) {
    let sent = Command::new("kill")
        .args([signal, &run.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

#[test]
#[cfg(unix)]
fn an_interrupted_measurement_says_what_it_has() {
    let place = Place::with_lines(&[r#"{"id":"a","body":"one"}"#]);
    place.done(&["index", "index", "docs.jsonl"]);
    place.write("queries.tsv", "term\tone\n");
    let bench = ["bench", "index", "queries.tsv", "--seconds", "60", "--json"];
    let mut command = place.command(&bench);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = command.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    send("-INT", &run);
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["queries"].as_u64() > Some(0), "{report}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"));
}

#[test]
fn the_help_lists_all_exit_codes() {
    let help = Place::new().done(&["--help"]);
    let codes = help.split("Exit codes:").nth(1).unwrap();
    for code in ["0", "1", "2", "3", "4", "5", "130", "143"] {
        let mut words = codes.split_whitespace();
        assert!(words.any(|word| word == code), "{code}: {help}");
    }
}
