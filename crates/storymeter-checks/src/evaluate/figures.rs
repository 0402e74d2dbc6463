//! What is looked at, for choosing and for reporting.

use serde::Serialize;
use storymeter::core::{Prepared, Story};
use storymeter::metrics::{Options, registry};
use storymeter::union::{Agreement, DiagnosisFigure, Scorer};
use storymeter_stats::auc;

use super::agreement::{Figures, pooled, within_items};
use super::examples::{Ranking, ranking};
use super::scores;
use super::sets::{Rated, Result, UnionRoc, hanna_machine, other, union_roc};
use super::variants::robustness;

/// Everything looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// How the scores come about.
    pub signature: String,
    /// Correlations.
    pub agreement: Vec<Agreement>,
    /// One number to choose by ([`selection`]): the mean Spearman over the even lines of union_roc and every other set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection_mean: Option<f64>,
    /// Mean Pearson and Spearman over the other sets alone ([`selection`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_sets: Option<[f64; 2]>,
    /// Spearman's correlation of the scores of union_roc's stories with those of the stories written down differently. No
    /// ratings are in it, so it is in both.
    pub robustness: Vec<(String, f64)>,
    /// Diagnosis: on the even lines of union_roc ([`selection`]), or on all of them ([`report`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnosis: Vec<DiagnosisFigure>,
    /// The paper's examples ([`report`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Ranking>,
}

/// The outputs of the diagnosis head, in their order.
const OUTPUTS: [&str; 4] = ["repetition", "incoherence", "wrong order", "contradiction"];

/// The error types of union_roc by their number.
const ERRORS: [(usize, &str); 4] =
    [(1, "repeated plots"), (2, "bad coherence"), (3, "conflicting logic"), (4, "chaotic scenes")];

/// What a recipe may be chosen by: the even-numbered lines (0, 2, 4, ...) of union_roc and the other rated sets.
///
/// # Errors
/// Where the data is not what it was, or the model fails.
pub fn selection(scorer: &Scorer) -> Result<Evaluation> {
    let mut evaluation =
        Evaluation { signature: scorer.signature().to_string(), ..Evaluation::default() };
    let mut summary = Vec::new();
    if let Some(set) = union_roc()? {
        let kept: Vec<usize> = (0..set.stories.len()).step_by(2).collect();
        let row = union_row(scorer, &set, "union_roc even lines", &kept)?;
        summary.push(row.spearman.value);
        evaluation.agreement.push(row);
        evaluation.diagnosis = diagnosis(scorer, &set, &kept)?;
        evaluation.robustness = robustness(scorer, &set.stories)?;
    }
    let mut others = Vec::new();
    for set in other()?.unwrap_or_default() {
        let rows = pooled_rows(scorer, &set)?;
        others.extend(rows.last().map(|row| [row.pearson.value, row.spearman.value]));
        evaluation.agreement.extend(rows);
    }
    summary.extend(others.iter().map(|[_, spearman]| *spearman));
    let mean = |of: usize| others.iter().map(|row| row[of]).sum::<f64>() / others.len() as f64;
    evaluation.other_sets = (!others.is_empty()).then(|| [mean(0), mean(1)]);
    evaluation.selection_mean = Some(summary.iter().sum::<f64>() / summary.len() as f64);
    Ok(evaluation)
}

/// What is reported of a released model: union_roc in full and its odd lines, HANNA, diagnosis, the paper's examples.
///
/// # Errors
/// Where the data is not what it was, or the model fails.
pub fn report(scorer: &Scorer) -> Result<Evaluation> {
    let mut evaluation =
        Evaluation { signature: scorer.signature().to_string(), ..Evaluation::default() };
    if let Some(set) = union_roc()? {
        let all: Vec<usize> = (0..set.stories.len()).collect();
        let odd: Vec<usize> = all.iter().copied().filter(|line| line % 2 == 1).collect();
        evaluation.agreement.push(union_row(scorer, &set, "union_roc all", &all)?);
        evaluation.agreement.push(union_row(scorer, &set, "union_roc odd lines", &odd)?);
        evaluation.diagnosis = diagnosis(scorer, &set, &all)?;
        evaluation.robustness = robustness(scorer, &set.stories)?;
    }
    if let Some(set) = hanna_machine()? {
        evaluation.agreement.extend(hanna_rows(scorer, &set)?);
    }
    evaluation.examples = ranking(scorer)?.unwrap_or_default();
    Ok(evaluation)
}

fn probabilities(scorer: &Scorer, stories: &[Story]) -> Result<Vec<f64>> {
    Ok(scores(scorer, stories)?.iter().map(|score| score.probability).collect())
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
    let of = |(criterion, human): &(String, Vec<f64>)| {
        row((&set.name, criterion, "pooled"), "union", scores.len(), pooled(&scores, human))
    };
    Ok(set.criteria.iter().map(of).collect())
}

/// Coherence and the mean of all criteria, beside Repetition-3 (turned round, so that more is better for both).
fn hanna_rows(scorer: &Scorer, set: &Rated) -> Result<Vec<Agreement>> {
    let repetition = registry::build("repetition-3", &Options::default())?;
    let repeated = |story: &Story| {
        let (mut row, mut score) = (vec![0.0; repetition.width()], [0.0]);
        repetition.stats(&Prepared::new(0, story), &mut row);
        repetition.score(&row, &mut score);
        -score[0]
    };
    let metrics = [
        ("union", probabilities(scorer, &set.stories)?),
        ("repetition-3", set.stories.iter().map(repeated).collect()),
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

/// Each output against each error type on these lines.
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
