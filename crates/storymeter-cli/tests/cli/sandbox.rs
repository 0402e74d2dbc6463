//! Runs the program in a temporary folder, one per test.

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

    /// Runs `storymeter` with arguments that are separated by spaces.
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

    /// The same with arguments that may hold anything.
    pub fn run_arguments(&self, arguments: &[&str]) -> Run {
        self.start_with(arguments, b"", &[])
    }

    /// Builds a library that replaces a function of the system, for `LD_PRELOAD`.
    #[cfg(target_os = "linux")]
    pub fn fault(&self, code: &str) -> PathBuf {
        let folder = tempfile::tempdir_in(self.0.path()).unwrap().keep();
        std::fs::write(folder.join("fault.c"), code).unwrap();
        let arguments = ["-shared", "-fPIC", "-o", "fault.so", "fault.c"];
        let built = Command::new("cc").args(arguments).current_dir(&folder).status();
        assert!(built.unwrap().success());
        folder.join("fault.so")
    }

    fn start(&self, line: &str, input: &[u8], variables: &[(&str, &str)]) -> Run {
        self.start_with(&line.split_whitespace().collect::<Vec<_>>(), input, variables)
    }

    fn start_with(&self, arguments: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Run {
        let mut child = Command::new(env!("CARGO_BIN_EXE_storymeter"))
            .args(arguments)
            .current_dir(self.0.path())
            .env("NO_COLOR", "1")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A run that fails early does not read its input. Its exit code says so.
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

    /// Checks that the run succeeded.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert_eq!(self.code(), 0, "{}", self.stderr());
        self
    }

    /// Checks that standard output contains a text.
    pub fn prints(self, text: &str) -> Self {
        assert!(self.stdout().contains(text), "expected {text:?}, got {:?}", self.stdout());
        self
    }

    /// Checks that the run failed with exit code 2 and this message.
    #[track_caller]
    pub fn fails_with(self, message: &str) -> Self {
        assert_eq!(self.code(), 2, "{}", self.stderr());
        assert!(self.stderr().contains(message), "expected {message:?}, got {:?}", self.stderr());
        self
    }
}

/// The example output in a document (a fenced block of `text`) that begins like this.
#[track_caller]
pub fn example_of(document: &str, beginning: &str) -> String {
    let page = std::fs::read_to_string(repository(document)).unwrap();
    let blocks = page.split("```text\n").skip(1).filter_map(|part| part.split("\n```").next());
    let examples: Vec<&str> = blocks.filter(|block| block.starts_with(beginning)).collect();
    assert_eq!(examples.len(), 1, "{document} has one example that begins with {beginning:?}");
    examples[0].to_owned()
}

/// A file of the repository.
pub fn repository(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(relative)
}
