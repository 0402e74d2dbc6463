//! Systems compared by their scores, and what the comparisons of a meta-evaluation say of them.

use storymeter_core::{Role, ScoreTable};
use storymeter_meta::study::{Standing, SystemAverages};
use storymeter_meta::systems::verdict::{Verdict, VerdictOutcome, verdict};
use storymeter_meta::systems::{Options, SystemComparison, compare, compare_systems};
use storymeter_meta::view::{
    Sheet, Subject, VerdictWords, column_conclusion, columns_left_out, conclusion, system_sheets,
    verdict_sheets, verdict_words,
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

/// What is said under sentences about systems where there are no scores to make a verdict from.
const ONE_CRITERION: &str = "Each sentence looks at one criterion alone: the lengths and flags of \
                             the stories, which `compare` and a report with the scores look at, \
                             are not known here.";

/// What the ratings say of the systems, criterion by criterion: the sentences of the comparisons
/// that the study holds. An analysis without such comparisons only has the means. Without a
/// verdict, it is said that the sentences look at one criterion alone.
pub fn in_words(study: &Study, verdict: Option<&Verdict>) -> Vec<String> {
    let by_people = of_study(study).iter().filter(|found| found.column.role == Role::Human);
    let mut sentences: Vec<String> = by_people
        .map(|found| match verdict {
            Some(verdict) => column_conclusion(verdict, found),
            None => conclusion(found),
        })
        .collect();
    if !sentences.is_empty() {
        sentences.extend(verdict.is_none().then(|| ONE_CRITERION.to_owned()));
        return sentences;
    }
    let averages = study.findings.iter().filter_map(|finding| match finding {
        Finding::SystemAverages(averages) => Some(averages),
        _ => None,
    });
    averages.filter_map(best_system).collect()
}

/// Which system has the highest mean rating, where no test was made.
fn best_system(averages: &SystemAverages) -> Option<String> {
    // The last average of a system is the one over all criteria.
    let overall =
        || averages.systems.iter().filter_map(|(system, own)| Some((system.as_str(), own.last()?)));
    let (best, average) = overall().find(|(_, own)| own.standing == Standing::Best)?;
    let mean = average.mean.as_ref().ok()?;
    let outside: Vec<&str> = overall()
        .filter(|(_, own)| own.standing == Standing::Outside)
        .map(|(system, _)| system)
        .collect();
    let among = match outside.is_empty() {
        true => String::new(),
        false => format!(" ({} excluded)", outside.join(", ")),
    };
    Some(format!(
        "{best} has the highest mean rating{among}, {mean:.2}. Systems were not compared by tests."
    ))
}

#[cfg(test)]
mod tests {
    use storymeter_core::{Column, Direction, Ratings, Row};

    use super::*;

    #[test]
    fn what_ratings_say_of_systems_comes_from_the_comparisons_of_the_study() {
        let rows = (0..24).map(|at| {
            let mut ratings = Ratings::new();
            let level = if at % 2 == 0 { 10.0 } else { 0.0 };
            ratings.push("plot", Some(level + f64::from(at * 5 % 7)));
            let (system, item) = (Some(["rain", "tale"][at as usize % 2].into()), at / 2);
            let words = Some(if at % 2 == 0 { 900 } else { 100 } + at as u64);
            let item = item.to_string();
            Row { id: at.to_string(), system, item, ratings, words, ..Row::default() }
        });
        let mut table = ScoreTable::new(rows.collect());
        let values = (0..24).map(|at| Ok(f64::from(at * 5 % 11))).collect();
        table.push(Column::metric("bleu", Direction::Higher), values);
        let mut study = storymeter_meta::table::analyse(&table, &Default::default()).unwrap();
        let options = Options::default();
        let found = compare_systems(&table, "plot", &options).unwrap();
        let said = conclusion(&found);
        assert!(said.starts_with("rain is better than tale by plot (p"), "{said}");
        assert_eq!(in_words(&study, None), [said.as_str(), ONE_CRITERION]);
        // A verdict says whether more than chance speaks against the lead.
        let verdict = verdict_of_study(&study, &table).unwrap();
        let hedged = in_words(&study, Some(&verdict));
        assert_eq!(hedged, [column_conclusion(&verdict, &found)]);
        assert!(hedged[0].starts_with("No clear winner by plot: rain has the best"), "{hedged:?}");
        // Where no test was made, none is spoken of.
        study.findings.retain(|finding| !matches!(finding, Finding::SystemPairs(_)));
        let said = in_words(&study, None);
        let means = "rain has the highest mean rating, 13.08.";
        assert!(said.len() == 1 && said[0].starts_with(means), "{said:?}");
        assert!(said[0].ends_with("Systems were not compared by tests."));
    }
}
