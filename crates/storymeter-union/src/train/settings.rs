//! The settings of a training run, and their presets.

use serde::{Deserialize, Serialize};
use storymeter_encoder::Grid;
use storymeter_encoder::train::AdamW;
use storymeter_perturb::Technique;

use crate::card::{Pooling, Reconstruction};

/// Where the settings come from that a configuration does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// What works best for us: the paper's losses and negatives, batches by tokens, and the
    /// diagnosis head.
    #[default]
    Default,
    /// What the paper describes (sections 3.2, 3.3 and 4.1): a separate reconstruction matrix, 10
    /// stories per batch, a learning rate of 5e-5.
    Paper,
    /// What the authors' released code does, as far as this network can: see [`Settings::of`].
    ReleasedCode,
}

impl Preset {
    /// The name of the preset in settings files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Paper => "paper",
            Self::ReleasedCode => "released-code",
        }
    }
}

/// What is read of a story that has more tokens than fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongStories {
    /// Whole sentences from a random place, which is another one in every epoch.
    #[default]
    Window,
    /// The beginning.
    Cut,
}

/// Declares the settings. The documentation of a field is also its comment in a settings file.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $default:expr;)+) => {
        /// The settings of a run. A field that a file does not name has its default. The settings
        /// are written into the model's card.
        ///
        /// ```
        /// use storymeter_union::train::{Preset, Settings};
        ///
        /// let settings = Settings { epochs: 3, ..Settings::of(Preset::Paper) };
        /// assert!(!settings.prompts);
        /// assert!(settings.to_toml().contains("epochs = 3"));
        /// ```
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
            /// The name of every field, and the lines of its documentation.
            pub(super) const FIELDS: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($name), &[$($doc),+]),)+];
        }
    };
}

settings! {
    /// Where settings come from that this file does not name: "default", "paper" (sections 3.2, 3.3
    /// and 4.1 of the paper) or "released-code" (what the authors' code does).
    preset: Preset = Preset::Default;
    /// Everything random follows from the seed: the split, the negatives, the order of the stories,
    /// dropout and new weights.
    seed: u64 = 1;
    /// The number of passes over the training stories, each with new negatives.
    epochs: u64 = 2;
    /// Stop after this number of epochs without a smaller loss on the dev stories. 0 never stops
    /// early.
    patience: u64 = 0;
    /// The largest number of tokens in a batch, human stories and negatives together.
    tokens_a_batch: usize = 4096;
    /// The largest number of stories in a batch, human stories and negatives together. 0 sets no
    /// limit besides tokens_a_batch.
    stories_a_batch: usize = 0;
    /// The largest number of tokens in a story, the prompt and special tokens included.
    max_tokens: usize = 200;
    /// What is read of a longer story: "window" takes whole sentences from a random place, which is
    /// another one in every epoch; "cut" takes the beginning.
    long_stories: LongStories = LongStories::Window;
    /// Whether the model reads the prompt of a story before the story, in training and in scoring.
    /// If not, prompts are ignored. The released models do not read prompts.
    prompts: bool = false;
    /// Whether different forms of quotes, split words and placeholders are made alike before the
    /// text is tokenised, in training and in scoring.
    normalise: bool = true;
    /// The share of stories whose person names are masked (`[MALE]`, `[FEMALE]`, `[NEUTRAL]`)
    /// before they are damaged. The stories are drawn anew in every epoch. With 1.0 the model masks
    /// names in scoring too.
    delexicalise: f64 = 0.0;
    /// Whether `[MALE]`, `[FEMALE]` and `[NEUTRAL]` are one token each: an unused entry of the
    /// vocabulary that starts as the mean of some names. If not, they are three pieces each, as in
    /// the released code.
    name_tokens: bool = true;
    /// The number of the encoder's layers that are kept, counted from the first. 0 keeps all.
    layers: usize = 0;
    /// The grid of the layers' matrices: every weight is rounded to a whole multiple of this share
    /// of the root mean square of its row (0.25 to 2; with 0.7 a weight takes 2.6 bits). Training
    /// computes with the rounded weights, so that the model adapts to them. 0 keeps full precision.
    weight_step: f64 = 0.0;
    /// The same for the word embeddings. Either both steps are 0, or neither is.
    word_step: f64 = 0.0;
    /// The highest learning rate.
    learning_rate: f64 = 3e-5;
    /// The share of all steps in which the learning rate rises. After that it falls linearly.
    warm_up: f64 = 0.06;
    /// The weight decay. Biases and layer norms do not decay.
    weight_decay: f64 = 0.01;
    /// Gradients with a larger norm than this are scaled down to it.
    clip: f64 = 1.0;
    /// The epsilon of AdamW, which is added to the root of the mean square.
    adam_epsilon: f64 = 1e-8;
    /// Whether AdamW corrects its means for their start at zero. Google's BERT code does not.
    bias_correction: bool = true;
    /// Whether the encoder uses dropout.
    dropout: bool = true;
    /// The weight of the reconstruction loss: lambda in equation 6.
    reconstruction_weight: f64 = 0.1;
    /// The weight of the diagnosis loss.
    diagnosis_weight: f64 = 0.1;
    /// How the vectors of the tokens become one: "cls" takes that of the first token, as in the
    /// paper; "mean" takes the mean over all tokens.
    pooling: Pooling = Pooling::Cls;
    /// The matrix of the reconstruction head: "tied" is that of the word embeddings, "own" is a
    /// separate one as in equation 4, and "none" leaves the head out (the paper's -Recon).
    reconstruction: Reconstruction = Reconstruction::Tied;
    /// Whether the leading context (the prompt or the first sentence) is reconstructed too,
    /// although it is never damaged.
    reconstruct_context: bool = true;
    /// Whether there is a diagnosis head, which tells the kinds of damage apart.
    diagnosis: bool = true;
    /// How much of each label comes from the teachers, if there are any, instead of from whether a
    /// human wrote the story: from 0 to 1.
    teacher_share: f64 = 1.0;
    /// The mean logit of the teachers is divided by this before it becomes a label. More than 1
    /// makes the labels softer.
    teacher_temperature: f64 = 2.0;
    /// Whether activations are computed again in the backward pass. This takes about a tenth of the
    /// memory and a third more time.
    recompute: bool = false;
    /// How negatives are made. preset: whose rules ("paper" or "released-code"). counts: the
    /// weights of 1, 2, 3 and 4 techniques in a story. weights: those of repetition, substitution,
    /// reordering and negation (0 leaves a technique out, as in Table 7). keyword_share: the share
    /// of keywords that word-level substitution replaces. Beyond the paper, garbled is the share of
    /// reorderings that move words inside a sentence, and spliced is the share of substitutions
    /// that join halves of two sentences.
    perturb: storymeter_perturb::Config = storymeter_perturb::Config::default();
}

impl Settings {
    /// The settings of a preset.
    ///
    /// [`Preset::ReleasedCode`] follows the released code in its negatives, its optimiser (that of
    /// BERT, without bias correction), batches of 10 stories, the first 200 tokens of a story,
    /// names in three pieces, and a reconstruction head that is tied to the embeddings and leaves
    /// the first sentence out. It has neither that code's tanh pooler before the classifier nor its
    /// dense layer before the reconstruction: both heads are those of equations 2 and 4.
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

    /// The same settings without one technique, for the ablations of Table 7.
    #[must_use]
    pub fn without_technique(mut self, technique: Technique) -> Self {
        self.perturb.weights[technique.index()] = 0.0;
        self
    }

    /// The settings of the optimiser.
    pub(super) fn adam(&self) -> AdamW {
        AdamW {
            eps: self.adam_epsilon as f32,
            decay: self.weight_decay as f32,
            bias_correction: self.bias_correction,
            clip: self.clip as f32,
            ..AdamW::default()
        }
    }

    /// The grid to which weights are rounded, or `None` for full precision.
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
