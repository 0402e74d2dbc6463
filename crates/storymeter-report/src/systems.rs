//! Systems compared by their scores, where there is no meta-evaluation.

use storymeter_core::{Role, ScoreTable};
use storymeter_meta::systems::verdict::{Verdict, VerdictOutcome, verdict};
use storymeter_meta::systems::{Options, SystemComparison, compare, compare_systems};
use storymeter_meta::view::{
    Sheet, Subject, VerdictWords, columns_left_out, system_sheets, verdict_sheets, verdict_words,
};
use storymeter_meta::{Finding, Study};

use crate::inputs::Inputs;

/// The most metrics by which the tables of a page compare systems, and the most ratings. The
/// verdict is about all of them, as that of `compare`.
const MOST_COLUMNS: usize = 12;

/// The systems of the first score table, compared by its metrics and ratings.
#[derive(Debug, Default)]
pub struct Comparisons {
    /// One comparison per column that the tables have; the metric that the user points out comes
    /// first, then the other metrics, then ratings.
    pub found: Vec<SystemComparison>,
    /// What all columns say together, if there are systems to compare.
    verdict: Option<(Verdict, VerdictWords)>,
    /// That the tables leave columns out.
    pub left_out: Vec<String>,
    /// What a reader should know about comparisons that are not there.
    pub notes: Vec<String>,
}

impl Comparisons {
    /// Compares the systems where there is a score table and no meta-evaluation.
    pub fn new(inputs: &Inputs) -> Self {
        let mut all = Self::default();
        let (true, Some(stories)) = (inputs.runs.is_empty(), inputs.stories()) else { return all };
        let mut keys: Vec<(String, Role)> = Vec::new();
        let mut shown: Vec<(String, Role)> = Vec::new();
        for (role, what) in [(Role::Metric, "metrics"), (Role::Human, "ratings")] {
            let mut columns: Vec<_> = stories.keys(role).collect();
            // The user's own metric first, the others in the order of the table.
            columns.sort_by_key(|key| Some(*key) != inputs.highlight.as_ref());
            if columns.len() > MOST_COLUMNS {
                all.left_out.push(columns_left_out(MOST_COLUMNS, columns.len(), what));
            }
            let named = || columns.iter().map(|key| (key.as_str().to_owned(), role));
            shown.extend(named().take(MOST_COLUMNS));
            keys.extend(named());
        }
        if keys.is_empty() {
            return all;
        }
        let keys: Vec<String> = keys.into_iter().map(|(key, _)| key).collect();
        // Columns that are compared together share their draws.
        let options = Options::default().with(|it| it.columns = keys.clone());
        match compare(stories.scores(), &options) {
            Ok(found) => all.found = found,
            Err(_) => all.compare_each(stories.scores(), &keys),
        }
        match verdict(stories.scores(), &all.found, &Options::default()) {
            Ok(verdict) if verdict.outcome != VerdictOutcome::NothingToCompare => {
                let words = verdict_words(&verdict, &all.found);
                all.verdict = Some((verdict, words));
            }
            Ok(_) => {}
            Err(error) => all.notes.push(format!("There is no verdict over all columns: {error}")),
        }
        all.found.retain(|one| {
            shown
                .iter()
                .any(|(key, role)| one.column.key.as_str() == key && one.column.role == *role)
        });
        all
    }

    /// Compares the systems column by column, because some column cannot be compared by.
    fn compare_each(&mut self, scores: &ScoreTable, keys: &[String]) {
        for key in keys {
            match compare_systems(scores, key, &Options::default()) {
                Ok(found) => self.found.push(found),
                Err(error) => {
                    self.notes.push(format!("{key}: the systems are not compared: {error}"));
                }
            }
        }
    }

    /// What all comparisons say together, and in which words, if there are systems to compare.
    pub fn verdict(&self) -> Option<(&Verdict, &VerdictWords)> {
        self.verdict.as_ref().map(|(verdict, words)| (verdict, words))
    }
}

/// The comparisons of systems that a study holds.
pub fn of_study(study: &Study) -> &[SystemComparison] {
    let found = study.findings.iter().find_map(|finding| match finding {
        Finding::SystemPairs(found) => Some(found.as_slice()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// What the comparisons of a study say together with the lengths and flags of its stories, where
/// these are known: the same verdict as that of `compare`.
pub fn verdict_of_study(study: &Study, scores: &ScoreTable) -> Option<Verdict> {
    let found = of_study(study);
    let method = &found.first()?.method;
    let options = Options::default().with(|it| {
        (it.seed, it.resamples) = (method.seed, method.resamples);
        (it.confidence, it.sides, it.correction) =
            (method.confidence, method.sides, method.correction);
        let known = |name: &&str| study.systems.iter().any(|own| own == name);
        let others = scores.systems().into_iter().filter(|name| !known(name));
        it.without = others.map(str::to_owned).collect();
    });
    verdict(scores, found, &options).ok()
}

/// The ranking of one comparison, and the table of its pairs where there is more than one system.
pub fn sheets(
    verdict: Option<&Verdict>,
    found: &SystemComparison,
) -> (Option<Sheet>, Option<Sheet>) {
    let (mut ranking, mut pairs) = (None, None);
    let found = std::slice::from_ref(found);
    let sheets = match verdict {
        Some(verdict) => verdict_sheets(verdict, found),
        None => system_sheets(found),
    };
    for sheet in sheets {
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
