//! A finished model: whether its predictions depend on how a story is written down, and its
//! predictions for HANNA's systems.

use serde::Serialize;
use storymeter::core::Story;
use storymeter::union::criteria::Scorer;
use storymeter_stats::spearman;

use super::calibrated::{SystemMean, system_means};
use super::{CRITERIA, Judged, OVERALL};
use crate::evaluate::VARIANTS;
use crate::{Error, Result};

/// The sets whose stories are written down differently: tokenised stories in small letters with
/// placeholders for names, such stories with prompts, and long ones as people write, with prompts.
const REWRITTEN: [&str; 3] = ["union_roc", "nextchapter_inhouse_roc", "hanna"];

/// Figures on a finished model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Packed {
    /// The signature of the model.
    pub signature: String,
    /// How well predictions for rewritten stories keep the order of the original ones.
    pub robustness: Vec<Robustness>,
    /// Mean predictions for HANNA's systems beside the mean ratings, for each criterion. The model
    /// was trained on these stories.
    pub systems: Vec<(String, Vec<SystemMean>)>,
}

/// Spearman's correlation of the predictions for stories with those for the same stories, written
/// down differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Robustness {
    /// The set.
    pub set: String,
    /// How the stories and their prompts were rewritten.
    pub variant: String,
    /// The criterion.
    pub criterion: String,
    /// The number of stories that have both predictions.
    pub n: usize,
    /// The correlation.
    pub spearman: f64,
}

/// The predictions of a model, one column per criterion; NaN where there is none.
struct Columns {
    names: Vec<String>,
    values: Vec<Vec<f64>>,
}

impl Columns {
    fn new(scorer: &Scorer, stories: &[Story]) -> Result<Self> {
        let names: Vec<String> =
            scorer.criteria().heads.iter().map(|criterion| criterion.name.clone()).collect();
        let mut values = vec![Vec::new(); names.len()];
        for predictions in scorer.score(&stories.iter().collect::<Vec<_>>())? {
            for (column, prediction) in values.iter_mut().zip(predictions) {
                column.push(prediction.map_or(f64::NAN, |prediction| prediction.value));
            }
        }
        Ok(Self { names, values })
    }
}

impl Packed {
    /// Computes the figures of a model on the rated sets.
    ///
    /// # Errors
    /// If the model fails or lacks one of HANNA's criteria.
    pub fn new(scorer: &Scorer, sets: &[Judged]) -> Result<Self> {
        let (mut robustness, mut systems) = (Vec::new(), Vec::new());
        for Judged { set, .. } in sets.iter().filter(|one| REWRITTEN.contains(&&*one.set.name)) {
            let original = Columns::new(scorer, &set.stories)?;
            if set.name == "hanna" {
                systems = means_of_hanna(&original, &set.stories, &set.criteria)?;
            }
            for (variant, rewrite) in VARIANTS {
                let changed = rewritten(&set.stories, rewrite);
                if changed == set.stories {
                    continue;
                }
                let columns = Columns::new(scorer, &changed)?;
                for (at, criterion) in original.names.iter().enumerate() {
                    let (before, after): (Vec<f64>, Vec<f64>) = original.values[at]
                        .iter()
                        .zip(&columns.values[at])
                        .filter(|(before, after)| !before.is_nan() && !after.is_nan())
                        .unzip();
                    if before.len() < 2 {
                        continue;
                    }
                    robustness.push(Robustness {
                        set: set.name.clone(),
                        variant: variant.to_owned(),
                        criterion: criterion.clone(),
                        n: before.len(),
                        spearman: spearman(&before, &after)?.coefficient,
                    });
                }
            }
        }
        Ok(Self { signature: scorer.signature().to_string(), robustness, systems })
    }

    /// The lowest of the correlations, with its variant.
    pub fn least_robust(&self) -> Option<&Robustness> {
        self.robustness.iter().min_by(|a, b| a.spearman.total_cmp(&b.spearman))
    }
}

/// The stories and their prompts, written down differently.
fn rewritten(stories: &[Story], rewrite: fn(&str, usize) -> String) -> Vec<Story> {
    let one = |(at, story): (usize, &Story)| Story {
        text: rewrite(&story.text, at),
        prompt: story.prompt.as_ref().map(|prompt| rewrite(prompt, at)),
        // The sentences of the original are elsewhere now.
        sentences: Vec::new(),
        ..story.clone()
    };
    stories.iter().enumerate().map(one).collect()
}

fn means_of_hanna(
    columns: &Columns,
    stories: &[Story],
    ratings: &[(String, Vec<f64>)],
) -> Result<Vec<(String, Vec<SystemMean>)>> {
    // The last column of the ratings is their mean, which `overall` predicts.
    let rated = CRITERIA.into_iter().chain([OVERALL]).zip(ratings);
    rated
        .map(|(criterion, (_, rated))| {
            let at = columns.names.iter().position(|name| name == criterion).ok_or_else(|| {
                Error::failed(format!("the model does not predict \"{criterion}\""))
            })?;
            let means = system_means(stories, &columns.values[at], rated);
            Ok((criterion.to_owned(), means))
        })
        .collect()
}
