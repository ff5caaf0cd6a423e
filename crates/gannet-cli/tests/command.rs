//! Running the program in a folder of its own.
//!
//! `GANNET_BACKEND` (`auto`, `uring` or `pread`) is passed on to the program, and what the program
//! says of its backend must be the same. `GANNET_BACKENDS` is a file that gets a line for each run
//! that said so.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder that is gone after the test, in which the program runs.
pub struct Place {
    folder: TempDir,
}

/// The output and exit code of a run of the program.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Place {
    /// An empty folder.
    pub fn new() -> Place {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Place { folder }
    }

    /// A folder with `docs.jsonl` of these lines.
    pub fn with_lines(lines: &[&str]) -> Place {
        let place = Place::new();
        place.write("docs.jsonl", lines.join("\n") + "\n");
        place
    }

    /// A folder with an index of these lines; `analyzers` are arguments of `--analyzer`.
    pub fn indexed(lines: &[&str], analyzers: &[&str]) -> Place {
        let place = Place::with_lines(lines);
        let analyzers = analyzers.iter().flat_map(|own| ["--analyzer", own]);
        let index = ["index", "index", "docs.jsonl"].into_iter();
        place.done(&index.chain(analyzers).collect::<Vec<_>>());
        place
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// The program with arguments, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gannet"));
        if let Some(backend) = asked_for(arguments) {
            command.args(["--backend", &backend]);
        }
        command.args(arguments).current_dir(self.folder.path());
        command.stdin(Stdio::null());
        command
    }

    /// Runs the program.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::new(arguments, self.command(arguments).output().unwrap())
    }

    /// Runs the program; it must succeed and say nothing on standard error.
    pub fn done(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(
            (ran.code, ran.err.as_str()),
            (0, ""),
            "{arguments:?}: {}",
            ran.out
        );
        ran.out
    }

    /// Runs the program where no thread can be had beside its first: each would get a stack that is
    /// larger than any address space.
    pub fn run_without_threads(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.env("RUST_MIN_STACK", (1u64 << 60).to_string());
        Ran::new(arguments, command.output().unwrap())
    }

    /// Runs the program with `--json`; it must succeed.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let out = self.done(&[arguments, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    /// The IDs that a query finds.
    pub fn found(&self, query: &str) -> Vec<String> {
        let out = self.done(&["search", "index", "--json", "--", query]);
        let answer: Value = serde_json::from_str(&out).unwrap();
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The IDs that a query finds, sorted.
    pub fn found_sorted(&self, query: &str) -> Vec<String> {
        let mut found = self.found(query);
        found.sort();
        found
    }

    /// Runs the program with text on standard input.
    pub fn piped(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        process.stdin.take().unwrap().write_all(input).unwrap();
        Ran::new(arguments, process.wait_with_output().unwrap())
    }
}

impl Ran {
    fn new(arguments: &[&str], output: Output) -> Ran {
        let ran = Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        let said = serde_json::from_str::<Value>(&ran.out).ok();
        if let Some(active) = said.as_ref().and_then(|said| said["backend"].as_str()) {
            expect_backend(arguments, active);
        }
        ran
    }

    /// It failed with this code and one sentence that has all of `parts`.
    #[track_caller]
    pub fn rejected(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.err.starts_with("gannet: "), "{self:?}");
        assert_eq!(self.err.trim_end().lines().count(), 1, "{self:?}");
        for part in parts {
            assert!(self.err.contains(part), "no {part:?} in {self:?}");
        }
    }
}

/// The backend that the environment asks for, where the test itself asks for none.
fn asked_for(arguments: &[&str]) -> Option<String> {
    let asked = std::env::var("GANNET_BACKEND").ok()?;
    (!arguments.contains(&"--backend")).then_some(asked)
}

/// The program says which backend it had.
fn expect_backend(arguments: &[&str], active: &str) {
    // Who reads a URL has a backend of its own.
    if arguments.iter().any(|argument| argument.contains("://")) {
        return;
    }
    if let Some(asked) = asked_for(arguments) {
        assert!(asked == "auto" || asked == active, "{active} is active");
    }
    if arguments.contains(&"--backend") {
        return;
    }
    if let Ok(path) = std::env::var("GANNET_BACKENDS") {
        let thread = std::thread::current();
        let line = json!({"program": "gannet-cli", "test": thread.name(), "backend": active});
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        let line = format!("{line}\n");
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
}
