//! A folder of its own for each test, and runs of the binary in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A temporary folder in which `storymeter` runs.
pub struct Sandbox(tempfile::TempDir);

impl Sandbox {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Everything in the folder, hidden files included.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Runs `storymeter` with arguments separated by blanks.
    pub fn run(&self, line: &str) -> Run {
        self.run_with_input(line, b"")
    }

    /// The same with environment variables.
    pub fn run_with(&self, line: &str, variables: &[(&str, &str)]) -> Run {
        self.start(line, b"", variables)
    }

    /// The same with standard input.
    pub fn run_with_input(&self, line: &str, input: &[u8]) -> Run {
        self.start(line, input, &[])
    }

    fn start(&self, line: &str, input: &[u8], variables: &[(&str, &str)]) -> Run {
        let mut child = Command::new(env!("CARGO_BIN_EXE_storymeter"))
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .env("NO_COLOR", "1")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A run that fails early may not read its input; that is for its exit code to say.
        let _ = child.stdin.take().unwrap().write_all(input);
        Run(child.wait_with_output().unwrap())
    }
}

/// A finished run.
pub struct Run(Output);

impl Run {
    pub fn code(&self) -> i32 {
        self.0.status.code().expect("not killed by a signal")
    }

    pub fn stdout(&self) -> &str {
        std::str::from_utf8(&self.0.stdout).unwrap()
    }

    pub fn stderr(&self) -> &str {
        std::str::from_utf8(&self.0.stderr).unwrap()
    }

    /// The run did what was asked.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert_eq!(self.code(), 0, "{}", self.stderr());
        self
    }

    /// The run failed with exit code 2 and said this.
    #[track_caller]
    pub fn fails_with(self, message: &str) -> Self {
        assert_eq!(self.code(), 2, "{}", self.stderr());
        assert!(self.stderr().contains(message), "expected {message:?}, got {:?}", self.stderr());
        self
    }
}

/// A file of the repository.
pub fn repository(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(relative)
}
