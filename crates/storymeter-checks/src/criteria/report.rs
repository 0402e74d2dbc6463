//! All figures together.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;
use storymeter::core::Story;
use storymeter::union::{Agreement, EMBEDDED_NAME, Location, Precision, Scorer, criteria};

use super::cross_validation::{BEST, MEAN_OF_SIX};
use super::{
    CrossValidation, Judged, LeftOut, Level, MODEL, OVERALL, Packed, Published, Scores, baselines,
    folds, nine_sets, unseen_sets,
};
use crate::{Error, Result};

/// What is evaluated.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Predictions of a cross-validation over HANNA's prompts.
    pub held_out: Vec<PathBuf>,
    /// Predictions for whole sets by models that have not seen them.
    pub left_out: Vec<PathBuf>,
    /// A finished model, and how it multiplies. The name is that of a folder, a model file, or an
    /// installed or embedded model.
    pub model: Option<(String, Precision)>,
}

/// All figures on a recipe for criteria.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The rows that belong on the card of a model, which `storymeter model pack --figures` takes.
    pub agreement: Vec<Agreement>,
    /// HANNA's stories with unseen prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross_validation: Option<CrossValidation>,
    /// Unseen sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// The finished model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packed: Option<Packed>,
    /// What a reader must know about the figures.
    pub notes: Vec<String>,
}

/// Computes the figures for which there are files or a model.
///
/// # Errors
/// If the shared data is absent, the files are not what they should be, or a model fails.
pub fn evaluate(inputs: &Inputs) -> Result<Report> {
    let sets = nine_sets()?;
    let hanna = sets.iter().position(|judged| judged.set.name == "hanna");
    let hanna = hanna.ok_or_else(|| Error::failed("HANNA is not among the rated sets"))?;
    // All files are read before the baselines are computed, which takes a minute.
    let mut held_out =
        (!inputs.held_out.is_empty()).then(|| folds(&inputs.held_out, &sets[hanna])).transpose()?;
    let unseen = unseen_sets(&inputs.left_out, &sets)?;
    let scorer = match &inputs.model {
        Some((name, precision)) => Some(Location::find(name)?.criteria_scorer(*precision)?),
        None => None,
    };
    let mut cosines_of_model = false;
    if let (Some(folds), Some(scorer)) = (&mut held_out, &scorer)
        && folds.cosines().is_none()
    {
        folds.set_cosines(&sets[hanna], &cosines(scorer, &sets[hanna])?);
        cosines_of_model = folds.cosines().is_some();
    }
    let mut scores: Vec<Vec<Scores>> = vec![Vec::new(); sets.len()];
    let union = Scorer::embedded()?;
    for (at, judged) in sets.iter().enumerate() {
        if held_out.is_some() && at == hanna || unseen.iter().any(|(set, _)| *set == at) {
            scores[at] = baselines(&union, &judged.set.stories)?;
        }
    }
    let cross_validation = match &held_out {
        Some(folds) => {
            let published = Published::of_hanna()?;
            let found = CrossValidation::new(folds, &sets[hanna].set, &scores[hanna], &published);
            Some(found?)
        }
        None => None,
    };
    let left_out =
        (!unseen.is_empty()).then(|| LeftOut::new(&unseen, &sets, &scores)).transpose()?;
    let packed = scorer.map(|scorer| Packed::new(&scorer, &sets)).transpose()?;
    let mut notes = notes(cross_validation.as_ref(), left_out.as_ref(), packed.as_ref());
    if cosines_of_model {
        notes.push(
            "The cosines of prompt and story are those of the finished model, because the held-out \
             predictions have none. They are honest only if its sentence vectors have not learned \
             from ratings."
                .to_owned(),
        );
    }
    Ok(Report {
        agreement: for_the_card(cross_validation.as_ref(), left_out.as_ref()),
        notes,
        cross_validation,
        left_out,
        packed,
    })
}

/// The cosine of prompt and story by id, for all stories that have one.
fn cosines(scorer: &criteria::Scorer, judged: &Judged) -> Result<HashMap<String, f64>> {
    let stories: Vec<&Story> = judged.set.stories.iter().chain(&judged.aside).collect();
    let mut by_id = HashMap::new();
    for (story, raw) in stories.iter().zip(scorer.raw(&stories)?) {
        if let Some(cosine) = raw.and_then(|raw| raw.cosine) {
            by_id.insert(story.id.clone(), cosine);
        }
    }
    Ok(by_id)
}

/// The rows for a card: the model's pooled figures, the mean and `overall` at the other levels,
/// what the mean is compared with, and the unseen sets beside the embedded UNION model.
fn for_the_card(
    cross_validation: Option<&CrossValidation>,
    left_out: Option<&LeftOut>,
) -> Vec<Agreement> {
    let belongs = |row: &&Agreement| {
        let pooled = row.level == Level::Pooled.name();
        let summary = row.criterion == MEAN_OF_SIX || row.criterion == OVERALL;
        let compared = [EMBEDDED_NAME, "length"].contains(&row.metric.as_str())
            || row.metric.starts_with(BEST);
        match row.metric.as_str() {
            MODEL => pooled || summary,
            _ => compared && pooled && row.criterion == MEAN_OF_SIX,
        }
    };
    let of_prompts = cross_validation.iter().flat_map(|found| &found.rows).filter(belongs);
    let shown = |row: &&Agreement| row.metric == MODEL || row.metric == EMBEDDED_NAME;
    let of_sets = left_out.iter().flat_map(|found| &found.rows).filter(shown);
    of_prompts.chain(of_sets).cloned().collect()
}

fn notes(
    cross_validation: Option<&CrossValidation>,
    left_out: Option<&LeftOut>,
    packed: Option<&Packed>,
) -> Vec<String> {
    let mut notes = vec![
        "Intervals are between the 2.5% and 97.5% quantiles of 1000 resamples. Whole prompts are \
         drawn where there are prompts, and stories otherwise."
            .to_owned(),
    ];
    if let Some(found) = cross_validation {
        let runs = match found.runs {
            1 => "one run per fold".to_owned(),
            runs => format!("{runs} runs per fold with different seeds, which are averaged"),
        };
        notes.push(format!(
            "HANNA: {} machine-written stories for {} prompts, in {} folds of whole prompts. Each \
             story was predicted by a model that has not seen its prompt ({runs}).",
            found.stories, found.prompts, found.folds
        ));
        let mixed = found.rows.iter().any(|row| row.metric == "cosine");
        let relevance = if mixed {
            "Relevance is predicted from the head and the cosine of prompt and story. How much \
             each of them counts is fitted for each fold on the other folds, as are the predicted \
             ratings and their intervals."
        } else {
            "Relevance is predicted by the head alone, because the files have no cosines of prompt \
             and story. Predicted ratings and their intervals are fitted for each fold on the \
             other folds."
        };
        notes.push(relevance.to_owned());
        notes.push(
            "\"best of 72\" is that one of the 72 metrics published by HANNA which has the highest \
             Spearman in this very row, in either direction. It was chosen on these ratings, so \
             its figure is flattering."
                .to_owned(),
        );
        notes.push("repetition-3 is negated, so that more is better for all metrics.".to_owned());
    }
    if left_out.is_some() {
        notes.push(format!(
            "Unseen sets: the output `overall` against the mean of a set's criteria, by models \
             that were trained without the set. {EMBEDDED_NAME} was not trained on ratings, but \
             was chosen on seven of these sets (annotated/other) and on half of union_roc, so its \
             figures there are flattering. So are those of models in whose output its score counts."
        ));
    }
    if packed.is_some() {
        notes.push(
            "The finished model was trained on the stories of HANNA and of the other sets, so its \
             predictions for them say nothing about agreement with readers."
                .to_owned(),
        );
    }
    notes
}
