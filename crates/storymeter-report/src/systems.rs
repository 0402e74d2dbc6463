//! Systems compared by their scores, where there is no meta-evaluation.

use storymeter_core::Role;
use storymeter_meta::systems::{Options, SystemComparison, compare_systems};
use storymeter_meta::view::{Sheet, Subject, system_sheets};

use crate::inputs::Inputs;

/// The most metrics that a page compares the systems by.
const MOST_METRICS: usize = 12;
/// The systems of the first score table, compared by its metrics.
#[derive(Debug, Default)]
pub struct Comparisons {
    /// One comparison per metric; the metric that the user points out comes first.
    pub found: Vec<SystemComparison>,
    /// What a reader should know about comparisons that are not there.
    pub notes: Vec<String>,
}

impl Comparisons {
    /// Compares the systems where there is a score table and no meta-evaluation.
    ///
    /// A table without metrics is compared by its ratings.
    pub fn new(inputs: &Inputs) -> Self {
        let mut all = Self::default();
        let (true, Some(stories)) = (inputs.runs.is_empty(), inputs.stories()) else { return all };
        let keys = |role| stories.keys(role).collect::<Vec<_>>();
        let mut columns = keys(Role::Metric);
        if columns.is_empty() {
            columns = keys(Role::Human);
        }
        // The user's own metric first, the others in the order of the table.
        columns.sort_by_key(|key| Some(*key) != inputs.highlight.as_ref());
        if columns.len() > MOST_METRICS {
            all.notes.push(format!(
                "Systems are compared by {MOST_METRICS} of {} metrics.",
                columns.len()
            ));
            columns.truncate(MOST_METRICS);
        }
        for key in columns {
            match compare_systems(stories.scores(), key.as_str(), &Options::default()) {
                Ok(found) => all.found.push(found),
                Err(error) => {
                    all.notes.push(format!("{key}: the systems are not compared: {error}"))
                }
            }
        }
        all
    }
}

/// The ranking of one comparison, and the table of its pairs where there is more than one system.
pub fn sheets(found: &SystemComparison) -> (Option<Sheet>, Option<Sheet>) {
    let (mut ranking, mut pairs) = (None, None);
    for sheet in system_sheets(std::slice::from_ref(found)) {
        match sheet.subject {
            Subject::SystemRanking { .. } => ranking = Some(sheet),
            Subject::SystemPairs { .. } => pairs = Some(sheet),
            _ => {}
        }
    }
    (ranking, pairs)
}

/// The means of all systems by all metrics, where there are several metrics.
pub fn means(found: &[SystemComparison]) -> Option<Sheet> {
    system_sheets(found).into_iter().find(|sheet| sheet.subject == Subject::SystemMeans)
}
