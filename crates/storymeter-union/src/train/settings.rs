//! What a training run can be told.

use serde::{Deserialize, Serialize};
use storymeter_encoder::Grid;
use storymeter_encoder::train::AdamW;
use storymeter_perturb::Technique;

use crate::card::{Pooling, Reconstruction};

/// What the fields that a configuration does not name are set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// What works best for us: the paper's losses and negatives, batches by tokens, and the diagnosis head.
    #[default]
    Default,
    /// What the paper says (sections 3.2, 3.3 and 4.1): a reconstruction matrix of its own, 10 stories a batch, 5e-5.
    Paper,
    /// What the authors' released code does, as far as this network can: see [`Settings::of`].
    ReleasedCode,
}

impl Preset {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Paper => "paper",
            Self::ReleasedCode => "released-code",
        }
    }
}

/// What becomes of stories with more tokens than fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongStories {
    /// Whole sentences from a random place, another one every epoch.
    #[default]
    Window,
    /// The beginning.
    Cut,
}

/// Declares the settings once: their documentation is also the comment in a configuration file.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $default:expr;)+) => {
        /// The settings of a run; a missing field has its default. They are written into the model's card.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $name: $kind,)+
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Settings {
            /// Every field with its documentation, line by line.
            pub(super) const FIELDS: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($name), &[$($doc),+]),)+];
        }
    };
}

settings! {
    /// What fields that are not named here are set to: "default", "paper" (sections 3.2, 3.3 and 4.1 of the paper) or
    /// "released-code" (what the authors' code does).
    preset: Preset = Preset::Default;
    /// Everything random follows from it: the split, the negatives, the order, dropout, new weights.
    seed: u64 = 1;
    /// Passes over the training stories, each with fresh negatives.
    epochs: u64 = 2;
    /// Stop after this many epochs without a better loss on the dev stories; 0 never stops early.
    patience: u64 = 0;
    /// Most tokens of a batch, human stories and negatives together.
    tokens_a_batch: usize = 4096;
    /// Most stories of a batch, human stories and negatives together; 0 leaves it to the tokens.
    stories_a_batch: usize = 0;
    /// Most tokens of a story, prompt and special ones included.
    max_tokens: usize = 200;
    /// What becomes of longer stories: "window" takes whole sentences from a random place, another one every epoch;
    /// "cut" takes the beginning.
    long_stories: LongStories = LongStories::Window;
    /// Whether quotes, words cut by tokenisers and placeholders are made alike before the tokeniser, here and in scoring.
    normalise: bool = true;
    /// The share of stories whose person names are masked (`[MALE]`, `[FEMALE]`, `[NEUTRAL]`) before they are damaged, drawn anew
    /// every epoch. With 1.0 the model masks names before scoring too.
    delexicalise: f64 = 0.0;
    /// Whether `[MALE]`, `[FEMALE]` and `[NEUTRAL]` are one token each, an unused entry of the vocabulary that starts from the mean of
    /// some names. Without it they are three pieces, as in the released code.
    name_tokens: bool = true;
    /// How many of the encoder's layers are kept, counted from the first; 0 keeps all.
    layers: usize = 0;
    /// The grid the layers' matrices are kept on: every weight a whole multiple of this share of its row's root mean square (0.25 to
    /// 2; 0.7 takes 2.6 bits a weight). Training computes with the rounded weights, so that it learns to live with them. 0 keeps
    /// full precision.
    weight_step: f64 = 0.0;
    /// The same for the word embeddings; both are 0, or neither.
    word_step: f64 = 0.0;
    /// The learning rate at its peak.
    learning_rate: f64 = 3e-5;
    /// Share of all steps in which the learning rate rises; it falls in a straight line after.
    warm_up: f64 = 0.06;
    /// Decay of weights; biases and layer norms have none.
    weight_decay: f64 = 0.01;
    /// Gradients with a larger norm are scaled down to it.
    clip: f64 = 1.0;
    /// AdamW's epsilon, added to the root of the mean of squares.
    adam_epsilon: f64 = 1e-8;
    /// Whether AdamW corrects its means for their start at zero; Google's BERT code does not.
    bias_correction: bool = true;
    /// Whether the encoder's dropout is on.
    dropout: bool = true;
    /// Lambda of equation 6: the weight of the reconstruction loss.
    reconstruction_weight: f64 = 0.1;
    /// The weight of the diagnosis loss.
    diagnosis_weight: f64 = 0.1;
    /// How the story's vector is made: "cls" (the first token's, as in the paper) or "mean" (over all tokens).
    pooling: Pooling = Pooling::Cls;
    /// The reconstruction head: "tied" to the word embeddings, "own" matrix as in equation 4, or "none" (the paper's -Recon).
    reconstruction: Reconstruction = Reconstruction::Tied;
    /// Whether the leading context (prompt or first sentence), which is never damaged, is reconstructed too.
    reconstruct_context: bool = true;
    /// Whether there is a diagnosis head, which tells the techniques apart.
    diagnosis: bool = true;
    /// How much of each label is what the teachers (--teacher) say instead of whether a human wrote it, from 0 to 1.
    teacher_share: f64 = 1.0;
    /// The teachers' mean logit is divided by this before it becomes a label; more than 1 makes labels softer.
    teacher_temperature: f64 = 2.0;
    /// Compute activations again in the backward pass: about a tenth of the memory for a third more time.
    recompute: bool = false;
    /// How negatives are made: whose rules ("paper" or "released-code"), the weights of 1, 2, 3 and 4 techniques in a story,
    /// the weights of repetition, substitution, reordering and negation (0 leaves one out: Table 7), the share of keywords that
    /// word-level substitution replaces, and, beyond the paper, the shares of reorderings that are words "garbled" inside
    /// sentences and of substitutions that are halves of sentences "spliced" together.
    perturb: storymeter_perturb::Config = storymeter_perturb::Config::default();
}

impl Settings {
    /// The settings of a preset.
    ///
    /// `released-code` follows the released code in its negatives, its optimiser (BERT's, without bias correction), batches of 10,
    /// 200 tokens of a story's beginning, names in three pieces, and a reconstruction tied to the embeddings that
    /// leaves the first sentence out. It does not have that code's tanh pooler before the classifier, nor its dense layer before the
    /// reconstruction: both heads are the paper's equations 2 and 4.
    pub fn of(preset: Preset) -> Self {
        let default = Self { preset, ..Self::default() };
        let paper = || Self {
            learning_rate: 5e-5,
            stories_a_batch: 10,
            warm_up: 0.1,
            normalise: false,
            diagnosis: false,
            reconstruction: Reconstruction::Own,
            ..default.clone()
        };
        match preset {
            Preset::Default => default,
            Preset::Paper => paper(),
            Preset::ReleasedCode => Self {
                long_stories: LongStories::Cut,
                name_tokens: false,
                adam_epsilon: 1e-6,
                bias_correction: false,
                reconstruction: Reconstruction::Tied,
                reconstruct_context: false,
                perturb: storymeter_perturb::Config {
                    preset: storymeter_perturb::Preset::ReleasedCode,
                    ..storymeter_perturb::Config::default()
                },
                ..paper()
            },
        }
    }

    /// The same settings without a technique (Table 7's ablations).
    #[must_use]
    pub fn without_technique(mut self, technique: Technique) -> Self {
        self.perturb.weights[technique.index()] = 0.0;
        self
    }

    /// The optimiser's settings.
    pub(super) fn adam(&self) -> AdamW {
        AdamW {
            eps: self.adam_epsilon as f32,
            decay: self.weight_decay as f32,
            bias_correction: self.bias_correction,
            clip: self.clip as f32,
            ..AdamW::default()
        }
    }

    /// The grid weights are kept on; `None` is full precision.
    pub(super) fn grid(&self) -> Option<Grid> {
        (self.weight_step != 0.0 || self.word_step != 0.0)
            .then_some(Grid { layers: self.weight_step as f32, words: self.word_step as f32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_released_code_s_optimiser_is_bert_s() {
        assert_eq!(Settings::of(Preset::ReleasedCode).adam(), AdamW::bert());
        assert_eq!(Settings::of(Preset::Paper).adam(), AdamW::default());
    }
}
