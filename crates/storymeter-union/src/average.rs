//! Averages the weights of several models.
//!
//! Runs that start from one encoder and differ only in their seed mostly end in the same valley of
//! the loss. The middle of the valley generalises better than its sides ("model soups", Wortsman et
//! al. 2022).

use serde_json::json;

use crate::{Error, Heads, Model, Result, TrainingRecord};

impl Model {
    /// Averages the weights, the heads and the calibration of the score.
    ///
    /// The calibrations of the diagnosis and of the criteria are reset to their defaults, so the
    /// result must be calibrated again. The card is that of the first model; its record of training
    /// lists the signatures of all models. A sentence encoder, which all of them must share, stays.
    ///
    /// # Errors
    /// Returns [`Error::Average`] if there is no model, or if the models differ in shape or in how
    /// they read stories.
    pub fn average(models: &[Model]) -> Result<Model> {
        let wrong = |problem: &str| Error::Average { problem: problem.to_owned() };
        let Some((first, others)) = models.split_first() else {
            return Err(wrong("there is no model"));
        };
        let mut mean = first.clone();
        for other in others {
            let shapes = |model: &Model| -> Vec<Vec<usize>> {
                model.parameters.tensors.iter().map(|tensor| tensor.shape.clone()).collect()
            };
            let reading = |model: &Model| {
                let card = &model.card;
                let names = card.name_tokens.clone();
                (
                    card.kind,
                    card.pooling,
                    card.normalise,
                    card.delexicalise,
                    card.max_tokens,
                    card.prompts,
                    card.grid,
                    names,
                )
            };
            if shapes(first) != shapes(other) || first.tokenizer_files != other.tokenizer_files {
                return Err(wrong("the models do not start from one encoder"));
            }
            let heads = |model: &Model| {
                let Model { card, heads, .. } = model;
                let criteria = card.criteria.as_ref();
                let names = criteria.map(|own| own.names().map(str::to_owned).collect::<Vec<_>>());
                let lengths = (heads.score.len(), heads.sentence.len());
                (card.reconstruction, card.diagnosis, names, lengths)
            };
            if reading(first) != reading(other) || heads(first) != heads(other) {
                return Err(wrong(
                    "the models read stories in different ways, or have different heads",
                ));
            }
        }
        if models.iter().any(|model| model.sentences != first.sentences) {
            return Err(wrong("the models have different sentence encoders"));
        }
        let count = models.len() as f64;
        for (place, tensor) in mean.parameters.tensors.iter_mut().enumerate() {
            average_into(
                &mut tensor.data,
                models.iter().map(|m| m.parameters.tensors[place].data.as_slice()),
            );
        }
        let parts: [fn(&Heads) -> &[f32]; 15] = [
            |heads| &heads.score,
            |heads| &heads.diagnosis,
            |heads| &heads.diagnosis_bias,
            |heads| &heads.reconstruction,
            |heads| &heads.reconstruction_bias,
            |heads| &heads.pooler,
            |heads| &heads.pooler_bias,
            |heads| &heads.dense,
            |heads| &heads.dense_bias,
            |heads| &heads.norm,
            |heads| &heads.norm_bias,
            |heads| &heads.criteria,
            |heads| &heads.criteria_bias,
            |heads| &heads.sentence,
            |heads| &heads.sentence_bias,
        ];
        let heads = &mut mean.heads;
        let own = [
            &mut heads.score,
            &mut heads.diagnosis,
            &mut heads.diagnosis_bias,
            &mut heads.reconstruction,
            &mut heads.reconstruction_bias,
            &mut heads.pooler,
            &mut heads.pooler_bias,
            &mut heads.dense,
            &mut heads.dense_bias,
            &mut heads.norm,
            &mut heads.norm_bias,
            &mut heads.criteria,
            &mut heads.criteria_bias,
            &mut heads.sentence,
            &mut heads.sentence_bias,
        ];
        for (own, part) in own.into_iter().zip(parts) {
            average_into(own, models.iter().map(|model| part(&model.heads)));
        }
        let mean_of = |number: fn(&Model) -> f64| models.iter().map(number).sum::<f64>() / count;
        mean.heads.score_bias = mean_of(|model| f64::from(model.heads.score_bias)) as f32;
        mean.card.temperature = mean_of(|model| model.card.temperature);
        mean.card.bias = mean_of(|model| model.card.bias);
        mean.card.repetition = mean_of(|model| model.card.repetition);
        mean.card.diagnosis_calibration = Default::default();
        if let Some(criteria) = &mut mean.card.criteria {
            criteria.heads.iter_mut().for_each(|criterion| criterion.calibration = None);
            criteria.calibrated_on = None;
        }
        let signatures: Vec<_> =
            models.iter().map(|model| model.card.training.signature()).collect();
        mean.card.training = TrainingRecord::new(json!({ "average_of": signatures }));
        Ok(mean)
    }
}

/// Sums in double precision and in the order given, so that the mean is always the same.
fn average_into<'a>(mean: &mut [f32], parts: impl ExactSizeIterator<Item = &'a [f32]>) {
    let count = parts.len() as f64;
    let mut sums = vec![0f64; mean.len()];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += f64::from(*x));
    }
    mean.iter_mut().zip(sums).for_each(|(mean, sum)| *mean = (sum / count) as f32);
}
