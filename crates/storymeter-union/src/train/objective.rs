//! The loss of equations 3, 5 and 6, with the diagnosis beside it.

use std::ops::{Add, AddAssign};

use serde::Serialize;
use storymeter_encoder::train::{
    Backend, ForwardOptions, HeadTensors, Network, Selection, States, label_loss, token_loss,
};
use storymeter_encoder::{Batch, Stream};

use super::example::Example;
use super::settings::Settings;
use crate::card::{Pooling, Reconstruction};
use crate::heads::Heads;

/// The losses of some examples: sums of what one example contributes to equation 6.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Losses {
    /// Equation 3.
    pub score: f64,
    /// Equation 5, times its weight.
    pub reconstruction: f64,
    /// The diagnosis loss, times its weight.
    pub diagnosis: f64,
}

impl Losses {
    /// All together.
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

/// The heads' tensors on the device: score, diagnosis, reconstruction, each weight and bias.
pub(super) struct HeadBuffers<B: Backend> {
    pub weights: [B::Buffer; 6],
    pub gradients: [B::Buffer; 6],
}

impl<B: Backend> HeadBuffers<B> {
    pub fn upload(backend: &B, heads: &Heads) -> Self {
        let parts = [
            heads.score.as_slice(),
            &[heads.score_bias],
            &heads.diagnosis,
            &heads.diagnosis_bias,
            &heads.reconstruction,
            &heads.reconstruction_bias,
        ];
        Self {
            weights: parts.map(|part| backend.upload(part)),
            gradients: parts.map(|part| backend.zeros(part.len())),
        }
    }

    pub fn download(&self, backend: &B) -> Heads {
        let [score, score_bias, diagnosis, diagnosis_bias, reconstruction, reconstruction_bias] =
            self.weights.each_ref().map(|weight| backend.download(weight));
        Heads {
            score,
            score_bias: score_bias[0],
            diagnosis,
            diagnosis_bias,
            reconstruction,
            reconstruction_bias,
        }
    }

    /// For the optimiser: biases do not decay.
    pub fn tensors(&mut self) -> impl Iterator<Item = (&mut B::Buffer, &B::Buffer, bool)> {
        let decays = [true, false, true, false, true, false];
        self.weights.iter_mut().zip(&self.gradients).zip(decays).map(|((w, g), decays)| (w, g, decays))
    }
}

/// Adds the gradients of the mean loss of `examples` (equation 6) to network and heads; returns the losses' means.
pub(super) fn learn<B: Backend>(
    network: &mut Network<B>,
    heads: &mut HeadBuffers<B>,
    settings: &Settings,
    examples: &[Example],
    dropout: Option<Stream>,
) -> Losses {
    let batch: Batch = examples.iter().map(|example| example.ids.as_slice()).collect();
    let (width, vocabulary) = (network.config().hidden, network.config().vocabulary);
    let trace = network.forward(&batch, ForwardOptions { dropout, recompute: settings.recompute });
    let mut d_hidden = network.backend().zeros(batch.ids().len() * width);
    let mut states = States { hidden: trace.hidden(), d_hidden: &mut d_hidden, width };
    let each = 1.0 / examples.len() as f32;
    let mut losses = Losses::default();

    let HeadBuffers { weights: [score, score_bias, diagnosis, diagnosis_bias, own, bias], gradients } = heads;
    let [d_score, d_score_bias, d_diagnosis, d_diagnosis_bias, d_own, d_bias] = gradients;
    let firsts: Vec<u32> = (0..batch.len()).map(|story| batch.span(story).start as u32).collect();
    let pooled = match settings.pooling {
        Pooling::Cls => Selection::Rows(&firsts),
        Pooling::Mean => Selection::StoryMeans(batch.bounds()),
    };
    let labels: Vec<f32> = examples.iter().map(|example| f32::from(u8::from(example.human))).collect();
    let mut head = HeadTensors { weight: score, bias: score_bias, d_weight: d_score, d_bias: d_score_bias };
    let backend = network.backend();
    losses.score = label_loss(backend, &mut states, &mut head, pooled, &labels, &vec![each; labels.len()]);

    if settings.diagnosis {
        let labels: Vec<f32> =
            examples.iter().flat_map(|example| example.damage).map(|hit| f32::from(u8::from(hit))).collect();
        let weights = vec![each * settings.diagnosis_weight; labels.len()];
        let mut head = HeadTensors {
            weight: diagnosis,
            bias: diagnosis_bias,
            d_weight: d_diagnosis,
            d_bias: d_diagnosis_bias,
        };
        losses.diagnosis = label_loss(backend, &mut states, &mut head, pooled, &labels, &weights);
    }

    if settings.reconstruction != Reconstruction::None {
        let (mut rows, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (story, example) in examples.iter().enumerate() {
            // Equation 5 is a mean over the positions, equation 6 one over the stories.
            let weight = each * settings.reconstruction_weight / example.targets.len().max(1) as f32;
            rows.extend(batch.span(story).skip(1).take(example.targets.len()).map(|row| row as u32));
            targets.extend(&example.targets);
            weights.resize(targets.len(), weight);
        }
        let (backend, words, d_words) = network.words();
        let tied = settings.reconstruction == Reconstruction::Tied;
        let (weight, d_weight) = if tied { (words, d_words) } else { (&*own, d_own) };
        let mut head = HeadTensors { weight, bias, d_weight, d_bias };
        losses.reconstruction =
            token_loss(backend, &mut states, &mut head, vocabulary, &rows, &targets, &weights);
    }
    network.backward(trace, d_hidden);
    losses
}
