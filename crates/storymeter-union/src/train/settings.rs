//! What a training run can be told.

use serde::{Deserialize, Serialize};

use crate::card::{Pooling, Reconstruction};

/// The settings of a run; a missing field has its default. They are written into the model's card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Everything random follows from it: the split, the negatives, the order, dropout, new weights.
    pub seed: u64,
    /// Passes over the training stories, each with fresh negatives.
    pub epochs: u64,
    /// Stop after this many epochs without a better loss on the dev stories; 0 never stops early.
    pub patience: u64,
    /// Most tokens of a batch, human stories and negatives together.
    pub tokens_a_batch: usize,
    /// Most tokens of a story, special ones included; the rest is cut off.
    pub max_tokens: usize,
    /// The learning rate at its peak.
    pub learning_rate: f32,
    /// Share of all steps in which the learning rate rises; it falls in a straight line after.
    pub warm_up: f64,
    /// Decay of weights; biases and layer norms have none.
    pub weight_decay: f32,
    /// Gradients with a larger norm are scaled down to it.
    pub clip: f32,
    /// Whether the encoder's dropout is on.
    pub dropout: bool,
    /// Lambda of equation 6: the weight of the reconstruction loss.
    pub reconstruction_weight: f32,
    /// The weight of the diagnosis loss.
    pub diagnosis_weight: f32,
    /// How the story's vector is made.
    pub pooling: Pooling,
    /// Which reconstruction head there is; `none` is the paper's -Recon.
    pub reconstruction: Reconstruction,
    /// Whether there is a diagnosis head.
    pub diagnosis: bool,
    /// How negatives are made; weights of zero leave techniques out.
    pub perturb: storymeter_perturb::Config,
    /// Compute activations again in the backward pass: about a tenth of the memory for a third more time.
    pub recompute: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            epochs: 2,
            patience: 0,
            tokens_a_batch: 4096,
            max_tokens: 200,
            learning_rate: 3e-5,
            warm_up: 0.06,
            weight_decay: 0.01,
            clip: 1.0,
            dropout: true,
            reconstruction_weight: 0.1,
            diagnosis_weight: 0.1,
            pooling: Pooling::Cls,
            reconstruction: Reconstruction::Tied,
            diagnosis: true,
            perturb: storymeter_perturb::Config::default(),
            recompute: false,
        }
    }
}

impl Settings {
    /// What is wrong with them, if anything.
    pub(super) fn problem(&self, longest: usize) -> Option<String> {
        let positive =
            |name: &str, x: f64| (!(x > 0.0 && x.is_finite())).then(|| format!("{name} must be positive"));
        if !(8..=longest).contains(&self.max_tokens) {
            return Some(format!("max_tokens is {}, and the encoder takes 8 to {longest}", self.max_tokens));
        }
        if self.epochs == 0 || self.tokens_a_batch < 2 * self.max_tokens {
            return Some("a run needs an epoch, and a batch room for a story and its negative".to_owned());
        }
        if !(0.0..=1.0).contains(&self.warm_up) {
            return Some("warm_up is a share of all steps, from 0 to 1".to_owned());
        }
        positive("learning_rate", f64::from(self.learning_rate))
            .or_else(|| positive("clip", f64::from(self.clip)))
    }
}
