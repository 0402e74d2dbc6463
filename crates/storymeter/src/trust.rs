//! How far the scores of a run can be trusted. The rule and the sentences are those of `compare`.

use storymeter_core::{Key, terminal};
use storymeter_meta::systems::verdict::{ColumnTrust, StoryCounts};
use storymeter_meta::view::TrustWords;

use crate::Run;
use crate::layout::wrapped;

/// How far the scores of a run can be trusted.
pub(crate) struct TrustNote {
    /// One sentence per card, broken into lines.
    pub sentences: Vec<String>,
    /// All of them in one line, if there are any.
    pub brief: Option<String>,
}

impl TrustNote {
    /// Looks at the cards of the columns of a run, and at its stories.
    pub fn new(run: &Run) -> Self {
        let (score_rows, flags) = (run.score_rows(), &run.texts().flags);
        let columns = run.columns();
        let trusted = columns.iter().filter_map(|column| {
            let counts = StoryCounts {
                texts: score_rows.texts() as u64,
                measured: score_rows.len() as u64,
                outside: column.counts.outside,
                flags: flags.iter().map(|(name, count)| (name.as_str(), *count)).collect(),
            };
            Some((&column.key, ColumnTrust::new(column.validity.as_ref()?, &counts)))
        });
        let trusted: Vec<(&Key, ColumnTrust)> = trusted.collect();
        let words = TrustWords::new(trusted.iter().map(|(key, trust)| (*key, trust)));
        let sentence = |line: String| wrapped(&terminal::plain(&line));
        Self {
            sentences: words.lines.iter().map(|line| sentence(line.to_string())).collect(),
            brief: words.brief.map(|line| terminal::plain(&line).into_owned()),
        }
    }
}
