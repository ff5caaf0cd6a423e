//! Running the program in a folder of its own.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder that is gone after the test, in which the program runs.
pub struct Place {
    folder: TempDir,
}

/// Returns the error output of a run of the program that failed.
#[derive(Debug)]
pub struct Ran {
    code: Option<i32>,
    error: String,
}

impl Place {
    /// An empty folder.
    pub fn new() -> Place {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Place { folder }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gannet-lab"));
        command.args(arguments).current_dir(self.folder.path());
        command.output().unwrap()
    }

    /// Runs the program; it must succeed and say nothing on standard error.
    pub fn done(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), error.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the program with `--json`; it must succeed.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let out = self.done(&[arguments, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    /// Runs the program, whatever comes of it.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.output(arguments);
        Ran {
            code: output.status.code(),
            error: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Checks that the run failed with this code, and that its error has these parts.
    pub fn rejected(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for part in parts {
            assert!(self.error.contains(part), "{part}: {self:?}");
        }
    }
}
