//! Many files one by one: each is scored on its own, on any machine and in any order, and one table
//! is made from all of them.
//!
//! [`plan`] gives each input an output, and [`prepare`] also makes their folder and chooses the
//! part of one job. [`score_shard`] scores one of them: it writes the row statistics (`X.stats`),
//! the scores beside them and at last the header (`X.meta.json`), which is the mark that the shard
//! is complete. [`merge`] reads the headers, and makes what one run over all inputs would have
//! made, to the last bit: rows are read back in the order of the inputs, and beyond
//! [`MOST_ROWS`](crate::summary::MOST_ROWS) stories exact sums are added.
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let file = |name: &str, story: &str| {
//! #     let path = dir.path().join(name);
//! #     std::fs::write(&path, format!("{{\"id\": \"{name}\", \"story\": \"{story}\"}}\n"))?;
//! #     Ok::<_, std::io::Error>(path)
//! # };
//! # let inputs = [file("a.jsonl", "Rain fell.")?, file("b.jsonl", "The lamp went out.")?];
//! # let out = dir.path().join("out");
//! # std::fs::create_dir(&out)?;
//! use storymeter::Progress;
//! use storymeter::summary::Resampling;
//! use storymeter::shards::{self, MergeOptions, ShardOptions};
//!
//! let scorer = storymeter::Scorer::new().metrics(["text-length"]).build()?;
//! let mut headers = Vec::new();
//! for shard in shards::plan(&inputs, &out, None, None)? {
//!     let progress = Progress::unwatched();
//!     shards::score_shard(&scorer, &shard, &ShardOptions::default(), &progress)?;
//!     headers.push(shard.header());
//! }
//! let merged = shards::merge(&headers, &MergeOptions::default())?;
//! let all = merged.run.score_rows().all(merged.run.metrics(), &Resampling::default());
//! assert_eq!((all.stories, all.columns[0].score.clone()), (2, Ok(4.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod join;
mod merge;
mod plan;
mod score;
mod stored;

use std::path::{Path, PathBuf};

use storymeter_core::MetricTotals;

pub use error::ShardError;
pub use join::{join, refuse_replacing};
pub use merge::{MergeNote, MergeOptions, Merged, MergedShard, headers, merge};
pub use plan::{PlanOptions, Prepared, Shard, plan, prepare};
pub use score::{Outcome, ShardOptions, check_settings, refuse_corpus, score_shard};

/// Where the row statistics of a file of scores stand.
pub fn rows_of(scores: &Path) -> PathBuf {
    let mut name = scores.as_os_str().to_owned();
    name.push(".stats");
    name.into()
}

/// How the first metric that differs was computed in two places, if one differs.
fn difference(a: &[MetricTotals], b: &[MetricTotals]) -> Option<(String, String)> {
    let shown = |metric: Option<&MetricTotals>| {
        metric.map_or("no further metric".to_owned(), |metric| metric.signature.to_string())
    };
    let same = |a: &MetricTotals, b: &MetricTotals| {
        MetricTotals { truncated: b.truncated, ..a.clone() } == *b
    };
    (0..a.len().max(b.len()))
        .map(|at| (a.get(at), b.get(at)))
        .find(|(a, b)| !a.zip(*b).is_some_and(|(a, b)| same(a, b)))
        .map(|(a, b)| (shown(a), shown(b)))
}
