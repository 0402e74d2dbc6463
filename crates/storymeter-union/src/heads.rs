//! The linear heads on the last hidden states of the encoder, as scoring uses them.

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use storymeter_encoder::Config;

use crate::card::{Card, Kind, Pooling, Reconstruction};
use crate::error::brief;
use crate::{Error, Result};

/// The weights of the heads. Matrices are row-major and have one row per output.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heads {
    /// `score.weight` \[1, H\]: the logit of "written by a human" (equation 2). A criteria model
    /// may have none, and it is then empty.
    pub score: Vec<f32>,
    /// `score.bias` \[1\].
    pub score_bias: f32,
    /// `diagnosis.weight` \[4, H\]: one logit per technique, in the order of `Technique::ALL`. It
    /// is empty if there is no such head.
    pub diagnosis: Vec<f32>,
    /// `diagnosis.bias` \[4\].
    pub diagnosis_bias: Vec<f32>,
    /// `reconstruction.weight` \[V, H\] (equation 4). It is empty if the head is tied to the word
    /// embeddings or absent.
    pub reconstruction: Vec<f32>,
    /// `reconstruction.bias` \[V\]. It is empty if there is no such head.
    pub reconstruction_bias: Vec<f32>,
    /// `pooler.weight` \[H, H\] ([`Pooling::Pooler`]). It is empty if there is no pooler.
    pub pooler: Vec<f32>,
    /// `pooler.bias` \[H\].
    pub pooler_bias: Vec<f32>,
    /// `dense.weight` \[H, H\] ([`Reconstruction::Dense`]). It is empty if there is no such layer.
    pub dense: Vec<f32>,
    /// `dense.bias` \[H\].
    pub dense_bias: Vec<f32>,
    /// `norm.weight` \[H\], of the layer norm after the dense layer.
    pub norm: Vec<f32>,
    /// `norm.bias` \[H\].
    pub norm_bias: Vec<f32>,
    /// `criteria.weight` \[n, H\]: one output per criterion of the card, in its order. It is empty
    /// unless the model is a criteria model.
    pub criteria: Vec<f32>,
    /// `criteria.bias` \[n\].
    pub criteria_bias: Vec<f32>,
    /// `sentence.weight` \[S, H\]: the vector that compares a text with a prompt. It is empty if
    /// the model compares none, or has a sentence encoder of its own.
    pub sentence: Vec<f32>,
    /// `sentence.bias` \[S\].
    pub sentence_bias: Vec<f32>,
}

/// The names and shapes of the tensors that a model with this card has. A criteria model has the
/// score head only if it was trained on damage beside the ratings.
fn expected(card: &Card, config: &Config, score: bool) -> Vec<(&'static str, Vec<usize>)> {
    let (hidden, vocabulary) = (config.hidden, config.vocabulary);
    let mut tensors = Vec::new();
    if card.kind != Kind::Criteria || score {
        tensors.extend([("score.weight", vec![1, hidden]), ("score.bias", vec![1])]);
    }
    if let Some(criteria) = &card.criteria {
        let count = criteria.heads.len();
        tensors.extend([("criteria.weight", vec![count, hidden]), ("criteria.bias", vec![count])]);
        if criteria.sentence > 0 {
            let width = criteria.sentence;
            tensors.push(("sentence.weight", vec![width, hidden]));
            tensors.push(("sentence.bias", vec![width]));
        }
    }
    if card.diagnosis {
        tensors.push(("diagnosis.weight", vec![4, hidden]));
        tensors.push(("diagnosis.bias", vec![4]));
    }
    if card.reconstruction == Reconstruction::Own {
        tensors.push(("reconstruction.weight", vec![vocabulary, hidden]));
    }
    if card.reconstruction != Reconstruction::None {
        tensors.push(("reconstruction.bias", vec![vocabulary]));
    }
    if card.pooling == Pooling::Pooler {
        tensors.push(("pooler.weight", vec![hidden, hidden]));
        tensors.push(("pooler.bias", vec![hidden]));
    }
    if card.reconstruction == Reconstruction::Dense {
        tensors.push(("dense.weight", vec![hidden, hidden]));
        tensors.extend(["dense.bias", "norm.weight", "norm.bias"].map(|name| (name, vec![hidden])));
    }
    tensors
}

impl Heads {
    /// Reads the content of a `heads.safetensors`. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if a tensor that the card asks for is missing, has another shape or type
    /// than the encoder asks for, or holds NaN or infinity.
    pub fn from_bytes(path: &Path, bytes: &[u8], card: &Card, config: &Config) -> Result<Self> {
        let wrong = |problem: String| Error::Model { path: path.to_owned(), problem };
        let file = SafeTensors::deserialize(bytes)
            .map_err(|e| wrong(format!("not a complete safetensors file: {}", brief(e))))?;
        let score = file.tensor("score.weight").is_ok();
        let mut found: HashMap<&'static str, Vec<f32>> = HashMap::new();
        for (name, shape) in expected(card, config, score) {
            let view = file
                .tensor(name)
                .map_err(|_| wrong(format!("tensor {name} is missing (expected {shape:?})")))?;
            if view.shape() != shape || view.dtype() != Dtype::F32 {
                let problem = format!(
                    "tensor {name} is {:?} {:?}, expected F32 {shape:?}",
                    view.dtype(),
                    view.shape()
                );
                return Err(wrong(problem));
            }
            let (chunks, _) = view.data().as_chunks();
            let data: Vec<f32> = chunks.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            if let Some(at) = data.iter().position(|x| !x.is_finite()) {
                return Err(wrong(format!("tensor {name}: number {at} is {}", data[at])));
            }
            found.insert(name, data);
        }
        let mut take = |name: &str| found.remove(name).unwrap_or_default();
        Ok(Self {
            score: take("score.weight"),
            score_bias: take("score.bias").first().copied().unwrap_or_default(),
            diagnosis: take("diagnosis.weight"),
            diagnosis_bias: take("diagnosis.bias"),
            reconstruction: take("reconstruction.weight"),
            reconstruction_bias: take("reconstruction.bias"),
            pooler: take("pooler.weight"),
            pooler_bias: take("pooler.bias"),
            dense: take("dense.weight"),
            dense_bias: take("dense.bias"),
            norm: take("norm.weight"),
            norm_bias: take("norm.bias"),
            criteria: take("criteria.weight"),
            criteria_bias: take("criteria.bias"),
            sentence: take("sentence.weight"),
            sentence_bias: take("sentence.bias"),
        })
    }

    /// The bytes of `heads.safetensors`.
    pub(crate) fn to_bytes(&self, path: &Path, card: &Card, config: &Config) -> Result<Vec<u8>> {
        let wrong = |problem: String| Error::Model { path: path.to_owned(), problem };
        let mut tensors = Vec::new();
        for (name, shape) in expected(card, config, !self.score.is_empty()) {
            let data: &[f32] = match name {
                "score.weight" => &self.score,
                "score.bias" => std::slice::from_ref(&self.score_bias),
                "diagnosis.weight" => &self.diagnosis,
                "diagnosis.bias" => &self.diagnosis_bias,
                "reconstruction.weight" => &self.reconstruction,
                "pooler.weight" => &self.pooler,
                "pooler.bias" => &self.pooler_bias,
                "dense.weight" => &self.dense,
                "dense.bias" => &self.dense_bias,
                "norm.weight" => &self.norm,
                "norm.bias" => &self.norm_bias,
                "criteria.weight" => &self.criteria,
                "criteria.bias" => &self.criteria_bias,
                "sentence.weight" => &self.sentence,
                "sentence.bias" => &self.sentence_bias,
                _ => &self.reconstruction_bias,
            };
            tensors.push((
                name,
                shape,
                data.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>(),
            ));
        }
        let views: Vec<(&str, TensorView<'_>)> = tensors
            .iter()
            .map(|(name, shape, bytes)| {
                let view = TensorView::new(Dtype::F32, shape.clone(), bytes)
                    .map_err(|e| wrong(format!("tensor {name}: {e}")))?;
                Ok((*name, view))
            })
            .collect::<Result<_>>()?;
        safetensors::serialize(views, None).map_err(|e| wrong(e.to_string()))
    }

    /// Combines the states of a story's tokens into one vector.
    pub(crate) fn pool(pooling: Pooling, states: &[f32], width: usize) -> Vec<f32> {
        match pooling {
            Pooling::Cls | Pooling::Pooler => states[..width].to_vec(),
            Pooling::Mean => {
                let mut sum = vec![0f64; width];
                for state in states.chunks_exact(width) {
                    sum.iter_mut().zip(state).for_each(|(total, x)| *total += f64::from(*x));
                }
                let count = (states.len() / width) as f64;
                sum.iter().map(|total| (total / count) as f32).collect()
            }
        }
    }

    /// The vector of the first token after BERT's pooler.
    fn pooled(&self, first: &[f32]) -> Vec<f32> {
        let outputs = self.pooler.chunks_exact(first.len()).zip(&self.pooler_bias);
        outputs.map(|(row, bias)| (dot(row, first) + f64::from(*bias)).tanh() as f32).collect()
    }

    /// The states of some tokens after the dense layer of the reconstruction head, its activation
    /// and its layer norm.
    pub(crate) fn transformed(&self, states: &[f32], config: &Config) -> Vec<f32> {
        let width = config.hidden;
        let mut transformed = Vec::with_capacity(states.len());
        for state in states.chunks_exact(width) {
            let outputs = self.dense.chunks_exact(width).zip(&self.dense_bias);
            let outputs = outputs.map(|(row, bias)| (dot(row, state) + f64::from(*bias)) as f32);
            let mut active: Vec<f32> = outputs.collect();
            config.activation.apply(&mut active);
            let count = width as f64;
            let mean = active.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
            let squares = active.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>();
            let scale = 1.0 / (squares / count + f64::from(config.norm_eps)).sqrt();
            let scaled = active.iter().zip(&self.norm).zip(&self.norm_bias);
            transformed.extend(scaled.map(|((x, gain), shift)| {
                ((f64::from(*x) - mean) * scale * f64::from(*gain) + f64::from(*shift)) as f32
            }));
        }
        transformed
    }

    /// The logit of "written by a human".
    pub(crate) fn logit(&self, pooled: &[f32]) -> f64 {
        let product = if self.pooler.is_empty() {
            dot(&self.score, pooled)
        } else {
            dot(&self.score, &self.pooled(pooled))
        };
        product + f64::from(self.score_bias)
    }

    /// The logit of each kind of damage, or `None` if there is no diagnosis head.
    pub(crate) fn damage(&self, pooled: &[f32]) -> Option<[f64; 4]> {
        if self.diagnosis.is_empty() {
            return None;
        }
        let logit = |i: usize| {
            let row = &self.diagnosis[i * pooled.len()..(i + 1) * pooled.len()];
            dot(row, pooled) + f64::from(self.diagnosis_bias[i])
        };
        Some([0, 1, 2, 3].map(logit))
    }
}

/// The scalar product. It is summed in double precision and in order, so that it does not depend on
/// the machine's vector width.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
}
