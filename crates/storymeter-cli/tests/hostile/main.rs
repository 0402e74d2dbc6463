//! Feeds the program thousands of damaged inputs, and checks that it stays calm.
//!
//! A case is a command line over a folder of valid files, of which something is then spoilt: bytes
//! of a file, a file as a whole, the output, or the value of an option. One case in five has a
//! fault that was made for a purpose instead. A case is a function of the seed and its number only,
//! so that any case can be run again alone:
//!
//! ```console
//! $ cargo test --release -p storymeter-cli --test hostile
//! $ STORYMETER_CASES=5000 STORYMETER_SEED=7 cargo test --release -p storymeter-cli --test hostile
//! $ STORYMETER_CASE=1234 STORYMETER_SEED=7 cargo test --release -p storymeter-cli --test hostile
//! ```
//!
//! `STORYMETER` names another program to test. What is checked stands in `check.rs`. The cases are
//! drawn by number and have no test harness, so that they are a program of their own.

#[cfg(target_os = "linux")]
mod case;
#[cfg(target_os = "linux")]
mod check;
#[cfg(target_os = "linux")]
mod craft;
#[cfg(target_os = "linux")]
mod draw;
#[cfg(target_os = "linux")]
mod formats;
#[cfg(target_os = "linux")]
mod lines;
#[cfg(target_os = "linux")]
mod mutate;
#[cfg(target_os = "linux")]
mod options;
#[cfg(target_os = "linux")]
mod stock;
#[cfg(target_os = "linux")]
mod tally;

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}

/// The number of cases and the seed where the environment names none. These cases take less than
/// 40 seconds on two cores.
#[cfg(target_os = "linux")]
const DEFAULT: (u64, u64) = (400, 1);

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use std::io::Write as _;

    // There is no test harness, so a filter on the command line is honoured here.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    if filter.is_some_and(|filter| !"hostile".contains(&filter)) {
        return ExitCode::SUCCESS;
    }
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect(name));
    let seed = number("STORYMETER_SEED").unwrap_or(DEFAULT.1);
    let stock = stock::Stock::build();
    let mut out = std::io::stdout();
    if let Some(one) = number("STORYMETER_CASE") {
        let result = check::run(&case::Case::new(seed, one, &stock), &stock, true);
        let _ = writeln!(out, "{}", result.transcript);
        return if result.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let cases = number("STORYMETER_CASES").unwrap_or(DEFAULT.0);
    let tally = tally::run(seed, cases, &stock);
    let _ = write!(out, "{tally}");
    if tally.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
