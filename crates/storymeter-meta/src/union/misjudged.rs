//! Appendix F, Table 11: the stories that a metric misjudges most.
//!
//! The paper shows stories that its authors chose. Here they are chosen by a rule, so that the list
//! can be made for any metric.

use storymeter_core::Key;

use super::names;
use super::rated::{RatedSet, Scores};
use crate::error::Result;
use crate::study::{MisjudgedBy, MisjudgedStory, Misjudgements};

/// The most metrics whose stories are listed unless the caller names others.
const MOST_METRICS: usize = 10;

/// The most stories of each list.
const MOST_STORIES: usize = 1000;

/// The most characters of a text. UNION's longest stories have about 1,500.
const MOST_CHARACTERS: usize = 2000;

/// Which stories to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MisjudgedOptions {
    /// The most stories of each list; 0 for no lists.
    pub most: usize,
    /// The metrics, by their names in the tables. Empty means all learned metrics of the paper's
    /// Table 5, and those that the paper does not have.
    pub metrics: Vec<String>,
}

impl Default for MisjudgedOptions {
    fn default() -> Self {
        Self { most: 5, metrics: Vec::new() }
    }
}

/// Lists the stories that metrics misjudge most.
///
/// # Errors
/// If a metric is named that the set does not have.
pub(super) fn table_11(
    set: &RatedSet,
    criterion: &Key,
    options: &MisjudgedOptions,
) -> Result<Misjudgements> {
    let chosen: Vec<&Scores> = match options.metrics.as_slice() {
        [] => {
            let learned = |scores: &&Scores| names::is_learned(scores.metric.as_str());
            set.metrics.iter().filter(learned).take(MOST_METRICS).collect()
        }
        named => {
            let mut found: Vec<&Scores> = Vec::with_capacity(named.len());
            for name in named {
                let scores = find(set, name)?;
                // A metric that is named twice is listed once.
                if !found.iter().any(|one| one.metric == scores.metric) {
                    found.push(scores);
                }
            }
            found
        }
    };
    let most = options.most.min(MOST_STORIES);
    let metrics = chosen.into_iter().map(|scores| misjudged_by(set, scores, most));
    Ok(Misjudgements {
        criterion: criterion.clone(),
        most,
        metrics: metrics.collect::<Result<_>>()?,
    })
}

fn find<'a>(set: &'a RatedSet, name: &str) -> Result<&'a Scores> {
    let known = || set.metrics.iter().map(|scores| scores.metric.as_str());
    let found = set.metrics.iter().find(|scores| scores.metric.as_str() == name);
    Ok(found.ok_or_else(|| storymeter_core::Error::unknown("metric", name, known()))?)
}

fn misjudged_by(set: &RatedSet, scores: &Scores, most: usize) -> Result<MisjudgedBy> {
    let scored: Vec<usize> = (0..set.len())
        .filter(|&story| !scores.values[story].is_nan() && !set.human[story].is_nan())
        .collect();
    let places = |values: &[f64]| -> Result<Vec<f64>> {
        crate::scatter::places(&scored.iter().map(|&story| values[story]).collect::<Vec<_>>())
    };
    let (human, score) = (places(&set.human)?, places(&scores.values)?);
    let story = |at: usize| {
        let story = scored[at];
        MisjudgedStory {
            line: story + 1,
            id: set.ids[story].clone(),
            text: shortened(&set.texts[story]),
            human: set.human[story],
            score: scores.as_given(story),
            human_place: human[at],
            score_place: score[at],
            errors: set.errors.as_ref().map(|errors| errors.counts(story)),
        }
    };
    // With sign 1 the stories that are placed too high, with -1 those that are placed too low.
    let worst = |sign: f64| -> Vec<MisjudgedStory> {
        let gap = |at: usize| sign * (score[at] - human[at]);
        let mut order: Vec<usize> = (0..scored.len()).filter(|&at| gap(at) > 0.0).collect();
        // The sort is stable, so that equally misjudged stories stay in the order of the file.
        order.sort_by(|&a, &b| gap(b).total_cmp(&gap(a)));
        order.into_iter().take(most).map(story).collect()
    };
    Ok(MisjudgedBy {
        metric: scores.metric.clone(),
        n: scored.len(),
        overrated: worst(1.0),
        underrated: worst(-1.0),
    })
}

/// A text of bounded length.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shortened_between_characters() {
        assert_eq!(shortened("old Löwe"), "old Löwe");
        let long = "ö".repeat(MOST_CHARACTERS + 1);
        assert_eq!(shortened(&long), format!("{}...", "ö".repeat(MOST_CHARACTERS)));
    }
}
