//! A temporary folder for one test, in which the binary is run.
#![allow(dead_code, reason = "each test uses a part")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    /// An empty folder, deleted when dropped.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Sorted names in a subfolder, or in the folder itself ("").
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(below)).expect("a folder");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name().into_string();
        let mut names: Vec<_> = entries.map(|entry| name(entry).expect("text")).collect();
        names.sort();
        names
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("the folder can be written");
        fs::write(path, bytes).expect("the folder can be written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The binary with the words of a line as arguments.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mero"));
        command.current_dir(self.0.path()).args(line.split_whitespace()).stdin(Stdio::null());
        command
    }

    pub(crate) fn mero(&self, line: &str) -> Output {
        self.command(line).output().expect("the binary starts")
    }

    /// Standard output of a command that must succeed without standard error.
    pub(crate) fn told(&self, line: &str) -> String {
        let output = self.mero(line);
        let problems = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && problems.is_empty(), "{line}: {:?}\n{problems}", output.status);
        String::from_utf8(output.stdout).expect("the binary writes UTF-8")
    }

    /// The exit code and the message of a command that must fail.
    pub(crate) fn refused(&self, line: &str) -> (Option<i32>, String) {
        let output = self.mero(line);
        assert!(!output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stdout));
        (output.status.code(), String::from_utf8(output.stderr).expect("text").trim_end().into())
    }
}
