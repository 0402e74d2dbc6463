//! The mean of models: runs from one encoder that differ in their seed alone mostly lie in one valley, and its middle
//! generalises better than its sides ("model soups": Wortsman et al. 2022).

use serde_json::{Map, Value};

use crate::{Error, Heads, Model, Result};

impl Model {
    /// The mean of all weights, heads and calibrations of the score; the diagnosis is to be calibrated anew. The card is the first model's; its record of training lists
    /// the signatures of all.
    ///
    /// # Errors
    /// If there is no model, or they are not of one shape and one way of reading.
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
            let heads = (other.card.reconstruction, other.card.diagnosis);
            if reading(first) != reading(other)
                || heads != (first.card.reconstruction, first.card.diagnosis)
            {
                return Err(wrong(
                    "the models read stories in different ways, or have different heads",
                ));
            }
        }
        let count = models.len() as f64;
        for (place, tensor) in mean.parameters.tensors.iter_mut().enumerate() {
            average_into(
                &mut tensor.data,
                models.iter().map(|m| m.parameters.tensors[place].data.as_slice()),
            );
        }
        let parts: [fn(&Heads) -> &[f32]; 5] = [
            |heads| &heads.score,
            |heads| &heads.diagnosis,
            |heads| &heads.diagnosis_bias,
            |heads| &heads.reconstruction,
            |heads| &heads.reconstruction_bias,
        ];
        let heads = &mut mean.heads;
        let own = [
            &mut heads.score,
            &mut heads.diagnosis,
            &mut heads.diagnosis_bias,
            &mut heads.reconstruction,
            &mut heads.reconstruction_bias,
        ];
        for (own, part) in own.into_iter().zip(parts) {
            average_into(own, models.iter().map(|model| part(&model.heads)));
        }
        let of = |number: fn(&Model) -> f64| models.iter().map(number).sum::<f64>() / count;
        mean.heads.score_bias = of(|model| f64::from(model.heads.score_bias)) as f32;
        mean.card.temperature = of(|model| model.card.temperature);
        mean.card.bias = of(|model| model.card.bias);
        mean.card.repetition = of(|model| model.card.repetition);
        mean.card.diagnosis_calibration = Default::default();
        let signature =
            |model: &Model| model.card.training.get("signature").cloned().unwrap_or(Value::Null);
        let signatures = models.iter().map(signature).collect();
        mean.card.training = Map::from_iter([("average_of".to_owned(), Value::Array(signatures))]);
        Ok(mean)
    }
}

/// In double precision and in the order given.
fn average_into<'a>(mean: &mut [f32], parts: impl ExactSizeIterator<Item = &'a [f32]>) {
    let count = parts.len() as f64;
    let mut sums = vec![0f64; mean.len()];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += f64::from(*x));
    }
    mean.iter_mut().zip(sums).for_each(|(mean, sum)| *mean = (sum / count) as f32);
}
