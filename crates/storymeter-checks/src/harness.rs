//! A test runner that reports checks without data as ignored.
//!
//! Rust's own runner knows before a test starts whether it is ignored, and a test that returns
//! early counts as passed. Whether data is there is known only at run time, so the checks bring
//! their own runner. It takes the usual arguments (a filter, `--list`, `--exact`, `--test-threads`)
//! and prints the usual lines.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Conclusion, Failed, Trial};

use crate::{Error, Result};

/// A check and its name.
pub type Check = (&'static str, fn() -> Result);

/// Lists the checks of a file: functions that return [`Result`](crate::Result).
///
/// A check that returns [`Error::Absent`](crate::Error::Absent), as [`shared`](crate::shared) does,
/// is ignored; any other error and any panic is a failure.
///
/// ```no_run
/// use storymeter_checks::{Result, shared};
///
/// fn roc_has_a_header() -> Result {
///     let bytes = std::fs::read(shared("data/roc/stories.tsv.gz")?)?;
///     assert!(!bytes.is_empty());
///     Ok(())
/// }
///
/// storymeter_checks::checks!(roc_has_a_header);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! checks {
    ($($check:ident),+ $(,)?) => {
        /// The checks of this file.
        pub const CHECKS: &[$crate::Check] = &[$((stringify!($check), $check)),+];
    };
}

/// Runs the checks that the program's arguments select, by files: the name of a check begins with
/// that of its file.
pub fn main(files: &[(&str, &[Check])]) -> ExitCode {
    run(&Arguments::from_args(), files).exit_code()
}

fn run(arguments: &Arguments, files: &[(&str, &[Check])]) -> Conclusion {
    let trial = |file: &str, (name, check): Check| {
        Trial::ignorable_test(format!("{file}::{name}"), move || match check() {
            Ok(()) => Ok(Completion::Completed),
            Err(Error::Absent(reason)) => Ok(Completion::ignored_with(reason)),
            Err(Error::Failed(reason)) => Err(Failed::from(reason)),
        })
    };
    let of_file = |(file, checks): &(&str, &[Check])| -> Vec<Trial> {
        checks.iter().map(|check| trial(file, *check)).collect()
    };
    libtest_mimic::run(arguments, files.iter().flat_map(of_file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKS: [Check; 3] = [
        ("passes", || Ok(())),
        ("lacks_data", || Err(Error::Absent("the file is absent".to_owned()))),
        ("returns_an_error", || Ok("x".parse::<f64>().map(drop)?)),
    ];

    /// Runs the checks and returns what was printed.
    fn printed(filter: Option<&str>) -> (Conclusion, String) {
        let log = tempfile::NamedTempFile::new().expect("a temporary file");
        let arguments = Arguments {
            filter: filter.map(str::to_owned),
            logfile: log.path().to_str().map(str::to_owned),
            ..Arguments::default()
        };
        let conclusion = run(&arguments, &[("roc", &CHECKS)]);
        (conclusion, std::fs::read_to_string(log.path()).expect("the log"))
    }

    #[test]
    fn absent_data_is_ignored_and_an_error_fails() {
        let (found, log) = printed(None);
        assert_eq!((found.num_passed, found.num_ignored, found.num_failed), (1, 1, 1));
        assert!(
            log.contains("test roc::lacks_data       ... ignored (the file is absent)"),
            "{log}"
        );
        assert!(log.contains("test result: FAILED. 1 passed; 1 failed; 1 ignored;"), "{log}");
    }

    #[test]
    fn an_ignored_check_does_not_fail_the_run() {
        let (found, log) = printed(Some("data"));
        assert!(!found.has_failed());
        assert!(log.contains("ok. 0 passed; 0 failed; 1 ignored; 0 measured; 2 filtered"), "{log}");
    }
}
