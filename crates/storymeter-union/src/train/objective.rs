//! The loss of equations 3, 5 and 6, and the loss of the diagnosis, which the paper does not have.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};
use storymeter_encoder::train::{Backend, Exchange, ForwardOptions, Network, Selection};
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

// The places of the heads' tensors in a network, and of the sums of their losses.
const SCORE: usize = 0;
const SCORE_BIAS: usize = 1;
const DIAGNOSIS: usize = 2;
const DIAGNOSIS_BIAS: usize = 3;
const RECONSTRUCTION: usize = 4;
const RECONSTRUCTION_BIAS: usize = 5;

/// The heads as tensors of a network. A head that the model does not have is an empty tensor.
pub(super) fn head_tensors(heads: &Heads, width: usize) -> Vec<Tensor> {
    let weight = |name: &str, data: &[f32]| {
        (name.to_owned(), vec![data.len() / width, width], data.to_vec())
    };
    let bias = |name: &str, data: &[f32]| (name.to_owned(), vec![data.len()], data.to_vec());
    let tensors = [
        weight("score.weight", &heads.score),
        bias("score.bias", &[heads.score_bias]),
        weight("diagnosis.weight", &heads.diagnosis),
        bias("diagnosis.bias", &heads.diagnosis_bias),
        weight("reconstruction.weight", &heads.reconstruction),
        bias("reconstruction.bias", &heads.reconstruction_bias),
    ];
    tensors.into_iter().map(|(name, shape, data)| Tensor { name, shape, data }).collect()
}

/// The heads of a network that was made with [`head_tensors`].
pub(super) fn heads_of<B: Backend>(network: &Network<B>) -> Result<Heads> {
    let mut tensors = network.heads()?.into_iter().map(|tensor| tensor.data);
    let mut next = || tensors.next().unwrap_or_default();
    Ok(Heads {
        score: next(),
        score_bias: next().first().copied().unwrap_or_default(),
        diagnosis: next(),
        diagnosis_bias: next(),
        reconstruction: next(),
        reconstruction_bias: next(),
    })
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
    let pooled = match settings.pooling {
        Pooling::Cls => Selection::Rows(&task.firsts),
        Pooling::Mean => Selection::StoryMeans,
    };
    let Task { human, damage, repairs, .. } = task;
    let head = network.head(SCORE, SCORE_BIAS);
    network.label_loss(&mut states, head, pooled, (&human.values, &human.weights), SCORE);
    if settings.diagnosis {
        let head = network.head(DIAGNOSIS, DIAGNOSIS_BIAS);
        network.label_loss(&mut states, head, pooled, (&damage.values, &damage.weights), DIAGNOSIS);
    }
    if settings.reconstruction != Reconstruction::None {
        let head = match settings.reconstruction {
            Reconstruction::Tied => network.tied_head(RECONSTRUCTION_BIAS),
            _ => network.head(RECONSTRUCTION, RECONSTRUCTION_BIAS),
        };
        let Repairs { rows, targets, weights } = repairs;
        network.token_loss(&mut states, head, (rows, targets, weights), RECONSTRUCTION);
    }
    let d_hidden = states.into_gradient();
    network.backward(trace, d_hidden);
    Ok(())
}
