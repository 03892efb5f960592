//! Runs of the built command, and folders for the files that they write.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Folder of one test, removed when the test ends.
pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-lab-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Path of a file in the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction-lab")).args(arguments).output().unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command that must succeed, and reads the results that it writes with `--json`.
pub(crate) fn results(arguments: &[&str]) -> (Vec<Value>, String) {
    let folder = TestFolder::new(&arguments[..2].join("-"));
    let file = folder.file("results.json");
    let output = lab(&[arguments, &["--json", text(&file)]].concat());
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    (serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap(), stdout(&output))
}
