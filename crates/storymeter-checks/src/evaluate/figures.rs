//! The figures that a recipe is chosen by, and those that are reported.

use serde::Serialize;
use storymeter::core::read::Record;
use storymeter::core::{Place, Settings, Story};
use storymeter::union::{Agreement, DiagnosisFigure, Scorer};
use storymeter_stats::auc;

use super::agreement::{Figures, pooled, within_items};
use super::examples::{Ranking, ranking};
use super::sets::{Rated, UnionRoc, hanna_machine, other, union_roc};
use super::variants::robustness;
use super::{probabilities, scores};
use crate::{Result, present, score};

/// Everything that is looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// The signature of the model.
    pub signature: String,
    /// Correlations with ratings.
    pub agreement: Vec<Agreement>,
    /// The number to choose a recipe by: the mean Spearman correlation over the even lines of
    /// union_roc and every other set. Only [`selection`] has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection_mean: Option<f64>,
    /// The mean Pearson and Spearman correlations over the other sets alone. Only [`selection`] has
    /// them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_sets: Option<[f64; 2]>,
    /// Spearman's correlation of the scores of union_roc's stories with those of the same stories,
    /// written down differently. It uses no ratings, so both functions compute it.
    pub robustness: Vec<(String, f64)>,
    /// The diagnosis, on the even lines of union_roc ([`selection`]) or on all of them
    /// ([`report`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnosis: Vec<DiagnosisFigure>,
    /// The paper's examples. Only [`report`] has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Ranking>,
}

/// The outputs of the diagnosis head, in their order.
const OUTPUTS: [&str; 4] = ["repetition", "incoherence", "wrong order", "contradiction"];

/// The error types of union_roc, by number.
const ERRORS: [(usize, &str); 4] =
    [(1, "repeated plots"), (2, "bad coherence"), (3, "conflicting logic"), (4, "chaotic scenes")];

/// Computes what a recipe may be chosen by: figures on the even-numbered lines (0, 2, 4, ...) of
/// union_roc and on the other rated sets.
///
/// # Errors
/// If the data is absent or damaged, or the model fails.
pub fn selection(scorer: &Scorer) -> Result<Evaluation> {
    let set = union_roc()?;
    let even: Vec<usize> = (0..set.stories.len()).step_by(2).collect();
    let mut agreement = vec![union_row(scorer, &set, "union_roc even lines", &even)?];
    let mut spearmans = vec![agreement[0].spearman.value];
    let mut others = Vec::new();
    for set in other()? {
        let rows = pooled_rows(scorer, &set)?;
        others.extend(rows.last().map(|row| [row.pearson.value, row.spearman.value]));
        agreement.extend(rows);
    }
    spearmans.extend(others.iter().map(|[_, spearman]| *spearman));
    let mean_of_others =
        |at: usize| others.iter().map(|row| row[at]).sum::<f64>() / others.len() as f64;
    Ok(Evaluation {
        signature: scorer.signature().to_string(),
        agreement,
        selection_mean: Some(spearmans.iter().sum::<f64>() / spearmans.len() as f64),
        other_sets: Some([mean_of_others(0), mean_of_others(1)]),
        robustness: robustness(scorer, &set.stories)?,
        diagnosis: diagnosis(scorer, &set, &even)?,
        examples: Vec::new(),
    })
}

/// Computes what is reported of a released model: figures on all lines and on the odd lines of
/// union_roc, on HANNA, the diagnosis, and the paper's examples.
///
/// # Errors
/// If the data is absent or damaged, or the model fails.
pub fn report(scorer: &Scorer) -> Result<Evaluation> {
    let set = union_roc()?;
    let all: Vec<usize> = (0..set.stories.len()).collect();
    let odd: Vec<usize> = (1..set.stories.len()).step_by(2).collect();
    let mut agreement = vec![
        union_row(scorer, &set, "union_roc all", &all)?,
        union_row(scorer, &set, "union_roc odd lines", &odd)?,
    ];
    agreement.extend(hanna_rows(scorer, &hanna_machine()?)?);
    Ok(Evaluation {
        signature: scorer.signature().to_string(),
        agreement,
        robustness: robustness(scorer, &set.stories)?,
        diagnosis: diagnosis(scorer, &set, &all)?,
        examples: ranking(scorer)?,
        ..Evaluation::default()
    })
}

fn union_row(scorer: &Scorer, set: &UnionRoc, name: &str, kept: &[usize]) -> Result<Agreement> {
    let stories: Vec<Story> = kept.iter().map(|&line| set.stories[line].clone()).collect();
    let human: Vec<f64> = kept.iter().map(|&line| set.human[line]).collect();
    let figures = pooled(&probabilities(scorer, &stories)?, &human);
    Ok(row((name, "reasonable", "pooled"), "union", kept.len(), figures))
}

fn row(
    (set, criterion, level): (&str, &str, &str),
    metric: &str,
    n: usize,
    Figures { pearson, spearman, kendall }: Figures,
) -> Agreement {
    let [set, criterion, level, metric] = [set, criterion, level, metric].map(str::to_owned);
    Agreement { set, criterion, level, metric, n, pearson, spearman, kendall }
}

fn pooled_rows(scorer: &Scorer, set: &Rated) -> Result<Vec<Agreement>> {
    let scores = probabilities(scorer, &set.stories)?;
    let agreement = |(criterion, human): &(String, Vec<f64>)| {
        row((&set.name, criterion, "pooled"), "union", scores.len(), pooled(&scores, human))
    };
    Ok(set.criteria.iter().map(agreement).collect())
}

/// Coherence and the mean of all criteria, for the model and for Repetition-3. Repetition is
/// negated, so that more is better for both.
fn hanna_rows(scorer: &Scorer, set: &Rated) -> Result<Vec<Agreement>> {
    let record = |(number, story): (u64, &Story)| Record {
        story: story.clone(),
        number,
        place: Place::default(),
    };
    let records: Vec<Record> = (0..).zip(&set.stories).map(record).collect();
    let (_, repetition) = score(&["repetition-3"], Settings::default(), &records)?;
    let negated = |story| Ok(-present(repetition.values(story))?[0]);
    let metrics = [
        ("union", probabilities(scorer, &set.stories)?),
        ("repetition-3", (0..records.len()).map(negated).collect::<Result<Vec<f64>>>()?),
    ];
    let items: Vec<String> = set.stories.iter().map(|story| story.item().to_owned()).collect();
    let mut rows = Vec::new();
    for (criterion, human) in
        set.criteria.iter().filter(|(criterion, _)| criterion == "coherence" || criterion == "mean")
    {
        for (metric, scores) in &metrics {
            for (level, figures) in
                [("story", within_items(scores, human, &items)), ("pooled", pooled(scores, human))]
            {
                let what = ("hanna first 48 prompts", criterion.as_str(), level);
                rows.push(row(what, metric, scores.len(), figures));
            }
        }
    }
    Ok(rows)
}

/// Compares each output of the diagnosis head with each error type, on the lines that are kept.
/// A model without the head has no such figures.
fn diagnosis(scorer: &Scorer, set: &UnionRoc, kept: &[usize]) -> Result<Vec<DiagnosisFigure>> {
    let stories: Vec<Story> = kept.iter().map(|&line| set.stories[line].clone()).collect();
    let damage: Vec<Option<[f64; 4]>> =
        scores(scorer, &stories)?.iter().map(|score| score.damage).collect();
    let Some(damage) = damage.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(Vec::new());
    };
    let answers: Vec<_> = kept.iter().map(|&line| &set.answers[line]).collect();
    let mut rows = Vec::new();
    for (at, output) in OUTPUTS.into_iter().enumerate() {
        for (number, error) in ERRORS {
            let has = |story: &usize| answers[*story][number] >= 3;
            let area = |stories: Vec<usize>| -> Result<(f64, usize)> {
                let scores: Vec<f64> = stories.iter().map(|&story| damage[story][at]).collect();
                let area = auc(&scores, &stories.iter().map(has).collect::<Vec<_>>())?;
                Ok((area.value, area.positives))
            };
            let all = || 0..answers.len();
            let (auc, positives) = area(all().collect())?;
            let (auc_reasonable, _) =
                area(all().filter(|story| has(story) || answers[*story][0] == 7).collect())?;
            let (output, error) = (output.to_owned(), error.to_owned());
            rows.push(DiagnosisFigure { output, error, positives, auc, auc_reasonable });
        }
    }
    Ok(rows)
}
