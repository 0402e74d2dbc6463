//! Runs the cases on all cores and counts how they ended.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::case::Case;
use crate::check;
use crate::stock::Stock;

/// So many failed cases are printed.
const SHOWN: usize = 100;

/// What happened to the cases of one class of input.
#[derive(Default)]
struct Row {
    tried: u64,
    /// Runs that ended with exit code 0 or 1, and with exit code 2.
    accepted: u64,
    refused: u64,
    failed: u64,
    /// What went wrong, and how often.
    faults: BTreeMap<String, u64>,
}

/// The results of all cases.
pub struct Tally {
    seed: u64,
    seconds: f64,
    rows: BTreeMap<&'static str, Row>,
    /// Number, command line and faults of the failed cases.
    failed: BTreeMap<u64, (String, Vec<String>)>,
}

impl Tally {
    pub fn is_clean(&self) -> bool {
        self.failed.is_empty()
    }
}

/// Runs the cases 0 to `cases`.
pub fn run(seed: u64, cases: u64, stock: &Stock) -> Tally {
    let start = Instant::now();
    let tally = Tally { seed, seconds: 0.0, rows: BTreeMap::new(), failed: BTreeMap::new() };
    let (next, tally) = (AtomicU64::new(0), Mutex::new(tally));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= cases {
                        break;
                    }
                    let case = Case::new(seed, number, stock);
                    let result = check::run(&case, stock, false);
                    let mut tally = tally.lock().unwrap();
                    let row = tally.rows.entry(case.class).or_default();
                    row.tried += 1;
                    row.accepted += u64::from(matches!(result.code, Some(0 | 1)));
                    row.refused += u64::from(result.code == Some(2));
                    row.failed += u64::from(!result.faults.is_empty());
                    for (kind, _) in &result.faults {
                        *row.faults.entry(kind.to_string()).or_default() += 1;
                    }
                    if !result.faults.is_empty() {
                        let faults =
                            result.faults.iter().map(|(kind, detail)| format!("{kind}: {detail}"));
                        tally.failed.insert(number, (case.line(), faults.collect()));
                    }
                }
            });
        }
    });
    let mut tally = tally.into_inner().unwrap();
    tally.seconds = start.elapsed().as_secs_f64();
    tally
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (line, faults)) in self.failed.iter().take(SHOWN) {
            writeln!(f, "STORYMETER_SEED={} STORYMETER_CASE={number}: {line}", self.seed)?;
            for fault in faults {
                writeln!(f, "    {fault}")?;
            }
        }
        if self.failed.len() > SHOWN {
            writeln!(f, "... and {} more", self.failed.len() - SHOWN)?;
        }
        writeln!(f, "\n| class of input | tried | accepted | refused | failed | how |")?;
        writeln!(f, "|---|---|---|---|---|---|")?;
        let mut total = Row::default();
        for (class, row) in &self.rows {
            write_row(f, class, row)?;
            total.tried += row.tried;
            total.accepted += row.accepted;
            total.refused += row.refused;
            total.failed += row.failed;
        }
        write_row(f, "all", &total)?;
        writeln!(f, "\nseed {}, {:.0} seconds", self.seed, self.seconds)
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, class: &str, row: &Row) -> fmt::Result {
    let how: Vec<String> = row.faults.iter().map(|(kind, n)| format!("{kind} ({n})")).collect();
    let (tried, accepted, refused, failed) = (row.tried, row.accepted, row.refused, row.failed);
    writeln!(f, "| {class} | {tried} | {accepted} | {refused} | {failed} | {} |", how.join(", "))
}
