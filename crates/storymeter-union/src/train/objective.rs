//! The loss of equations 3, 5 and 6, and the loss of the diagnosis, which the paper does not have.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};
use storymeter_encoder::train::{Backend, Exchange, ForwardOptions, LabelLoss, Network, Selection};
use storymeter_encoder::{Stream, Tensor};

use super::settings::Settings;
use super::task::{Repairs, Task};
use crate::Result;
use crate::card::{Pooling, Reconstruction};
use crate::heads::Heads;

/// The parts of the loss in equation 6, summed over batches or averaged over steps.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Losses {
    /// The loss of equation 3.
    pub score: f64,
    /// The loss of equation 5 times its weight.
    pub reconstruction: f64,
    /// The diagnosis loss times its weight.
    pub diagnosis: f64,
}

impl Losses {
    /// The sum of all losses.
    pub fn total(&self) -> f64 {
        self.score + self.reconstruction + self.diagnosis
    }

    pub(super) fn scaled(self, by: f64) -> Self {
        Self {
            score: self.score * by,
            reconstruction: self.reconstruction * by,
            diagnosis: self.diagnosis * by,
        }
    }
}

impl Add for Losses {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            score: self.score + other.score,
            reconstruction: self.reconstruction + other.reconstruction,
            diagnosis: self.diagnosis + other.diagnosis,
        }
    }
}

impl AddAssign for Losses {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// The numbers of the sums of losses.
const SCORE: usize = 0;
const DIAGNOSIS: usize = 2;
const RECONSTRUCTION: usize = 4;

/// Where the tensors of the heads begin in a network. A pooler, if there is one, comes directly
/// before the score, and the dense layer and its norm before the bias of the reconstruction,
/// because the network takes heads of several layers as tensors in a row.
struct Places {
    pooler: usize,
    score: usize,
    diagnosis: usize,
    reconstruction: usize,
    dense: usize,
    reconstruction_bias: usize,
}

impl Places {
    fn of(pooler: bool, dense: bool) -> Self {
        let score = if pooler { 2 } else { 0 };
        let (diagnosis, reconstruction) = (score + 2, score + 4);
        let dense_at = reconstruction + 1;
        let reconstruction_bias = dense_at + if dense { 4 } else { 0 };
        Self { pooler: 0, score, diagnosis, reconstruction, dense: dense_at, reconstruction_bias }
    }

    fn in_settings(settings: &Settings) -> Self {
        let dense = settings.reconstruction == Reconstruction::Dense;
        Self::of(settings.pooling == Pooling::Pooler, dense)
    }
}

/// The heads as tensors of a network. A head that the model does not have is an empty tensor, or
/// no tensor if it is the pooler or the dense layer.
pub(super) fn head_tensors(heads: &Heads, width: usize) -> Vec<Tensor> {
    let weight = |name: &str, data: &[f32]| {
        (name.to_owned(), vec![data.len() / width, width], data.to_vec())
    };
    let bias = |name: &str, data: &[f32]| (name.to_owned(), vec![data.len()], data.to_vec());
    let mut tensors = Vec::new();
    if !heads.pooler.is_empty() {
        tensors.push(weight("pooler.weight", &heads.pooler));
        tensors.push(bias("pooler.bias", &heads.pooler_bias));
    }
    tensors.extend([
        weight("score.weight", &heads.score),
        bias("score.bias", &[heads.score_bias]),
        weight("diagnosis.weight", &heads.diagnosis),
        bias("diagnosis.bias", &heads.diagnosis_bias),
        weight("reconstruction.weight", &heads.reconstruction),
    ]);
    if !heads.dense.is_empty() {
        tensors.push(weight("dense.weight", &heads.dense));
        tensors.push(bias("dense.bias", &heads.dense_bias));
        tensors.push(bias("norm.weight", &heads.norm));
        tensors.push(bias("norm.bias", &heads.norm_bias));
    }
    tensors.push(bias("reconstruction.bias", &heads.reconstruction_bias));
    tensors.into_iter().map(|(name, shape, data)| Tensor { name, shape, data }).collect()
}

/// The heads of a network that was made with [`head_tensors`].
pub(super) fn heads_of<B: Backend>(network: &Network<B>) -> Result<Heads> {
    let mut heads = Heads::default();
    for tensor in network.heads()? {
        let place = match tensor.name.as_str() {
            "pooler.weight" => &mut heads.pooler,
            "pooler.bias" => &mut heads.pooler_bias,
            "score.weight" => &mut heads.score,
            "diagnosis.weight" => &mut heads.diagnosis,
            "diagnosis.bias" => &mut heads.diagnosis_bias,
            "reconstruction.weight" => &mut heads.reconstruction,
            "dense.weight" => &mut heads.dense,
            "dense.bias" => &mut heads.dense_bias,
            "norm.weight" => &mut heads.norm,
            "norm.bias" => &mut heads.norm_bias,
            "reconstruction.bias" => &mut heads.reconstruction_bias,
            _ => {
                heads.score_bias = tensor.data.first().copied().unwrap_or_default();
                continue;
            }
        };
        *place = tensor.data;
    }
    Ok(heads)
}

/// Takes the losses since the last call, as sums over batches of the means of each batch. It waits
/// for the device.
pub(super) fn take_losses<B: Backend>(
    network: &mut Network<B>,
    exchange: &dyn Exchange<B>,
) -> Result<Losses> {
    let mut sums = network.take_losses()?;
    exchange.sum(network.backend(), &mut sums)?;
    Ok(Losses {
        score: sums[SCORE],
        reconstruction: sums[RECONSTRUCTION],
        diagnosis: sums[DIAGNOSIS],
    })
}

/// Adds the gradients of the mean loss of a batch (equation 6), or of one rank's share in it, to
/// those of the network, and the mean losses to its sums.
pub(super) fn learn<B: Backend>(
    network: &mut Network<B>,
    settings: &Settings,
    task: &Task,
    dropout: Option<Stream>,
) -> Result<()> {
    if task.batch.is_empty() {
        return Ok(());
    }
    let options =
        ForwardOptions { dropout, recompute: settings.recompute, first_row: task.first_row };
    let trace = network.forward(&task.batch, options)?;
    let mut states = network.states(&trace);
    let places = Places::in_settings(settings);
    let Task { human, damage, repairs, .. } = task;
    let labels = (&human.values[..], &human.weights[..]);
    let pooled = match settings.pooling {
        Pooling::Cls | Pooling::Pooler => Selection::Rows(&task.firsts),
        Pooling::Mean => Selection::StoryMeans,
    };
    if settings.pooling == Pooling::Pooler {
        let head = network.pooled_head(places.pooler);
        let kind = LabelLoss::CrossEntropy;
        network.pooled_loss(&mut states, head, &task.firsts, labels, kind, SCORE);
    } else {
        let head = network.head(places.score, places.score + 1);
        network.label_loss(&mut states, head, pooled, labels, LabelLoss::CrossEntropy, SCORE);
    }
    if settings.diagnosis {
        let head = network.head(places.diagnosis, places.diagnosis + 1);
        let labels = (&damage.values[..], &damage.weights[..]);
        let kind = LabelLoss::CrossEntropy;
        network.label_loss(&mut states, head, pooled, labels, kind, DIAGNOSIS);
    }
    let Repairs { rows, targets, weights } = repairs;
    let repairs = (&rows[..], &targets[..], &weights[..]);
    let bias = places.reconstruction_bias;
    match settings.reconstruction {
        Reconstruction::None => {}
        Reconstruction::Tied => {
            network.token_loss(&mut states, network.tied_head(bias), repairs, RECONSTRUCTION);
        }
        Reconstruction::Own => {
            let head = network.head(places.reconstruction, bias);
            network.token_loss(&mut states, head, repairs, RECONSTRUCTION);
        }
        Reconstruction::Dense => {
            let head = network.masked_word_head(places.dense);
            network.masked_word_loss(&mut states, head, repairs, RECONSTRUCTION);
        }
    }
    let d_hidden = states.into_gradient();
    network.backward(trace, d_hidden);
    Ok(())
}
