//! The settings of a training run, and their presets.

use serde::{Deserialize, Serialize};
use storymeter_encoder::Grid;
use storymeter_encoder::train::AdamW;
use storymeter_perturb::Technique;

use crate::card::{Pooling, Reconstruction};

/// Where the settings come from that a configuration does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Preset {
    /// What works best for us: the paper's losses and negatives, batches by tokens, and the
    /// diagnosis head.
    #[default]
    Default,
    /// What the paper describes in sections 3.2, 3.3, 4.1 and 4.2; see [`Preset::notes`].
    Paper,
    /// What the code does that the authors released; see [`Preset::notes`].
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

    /// What the preset takes from its source, and what was chosen where the source is silent. Each
    /// note is one line of text.
    pub fn notes(self) -> &'static [&'static str] {
        match self {
            Self::Default => &[],
            Self::Paper => &PAPER_NOTES,
            Self::ReleasedCode => &RELEASED_CODE_NOTES,
        }
    }
}

const PAPER_NOTES: [&str; 13] = [
    "From the paper (Guan and Huang, EMNLP 2020):",
    "- negatives as in section 3.2 and appendix A, one for each story, the same in all epochs;",
    "- the linear layer on [CLS] of equation 2, and a reconstruction matrix of its own (equation 4);",
    "- lambda 0.1, batches of ten stories and negatives, a learning rate of 5e-5 (section 4.1);",
    "- names masked, and about the first 200 words of a story, to the end of a sentence (section 4.2).",
    "Chosen, because the paper is silent: two epochs, warm-up over the first tenth of the steps and",
    "linear decay, AdamW with weight decay 0.01, gradients clipped at 1, dropout of the encoder;",
    "batches drawn at random; the reconstruction matrix starts as a copy of the word embeddings;",
    "400 tokens, which hold 200 words; [MALE], [FEMALE] and [NEUTRAL] are three tokens each, the",
    "brackets and the word, as in the released code. Stories are normalised, because ours come in",
    "several forms (raw, tokenised, lower-case) and the paper's in one. The encoder is the user's;",
    "the paper's is BERT-base uncased. Keywords and antonyms come from Open English WordNet unless",
    "tables are given. The paper takes them from ConceptNet.",
];

const RELEASED_CODE_NOTES: [&str; 11] = [
    "From the code that the authors released:",
    "- its negatives, one for each story, the same in all epochs; batches of ten, drawn at random;",
    "- the tanh pooler on [CLS] with dropout, and a reconstruction head of a dense layer, GELU, a",
    "  layer norm and the matrix of the word embeddings, which leaves the first sentence out;",
    "- the first 200 tokens of a story; [MALE], [FEMALE] and [NEUTRAL] are three tokens each, the",
    "  brackets and the word;",
    "- the optimiser of BERT (no bias correction), 5e-5, a schedule of 100 epochs with warm-up over a",
    "  tenth of it. Its documentation ends training after at most 40,000 steps, which are about four",
    "  epochs of 55,000 stories; the learning rate is then still rising.",
    "Chosen: the best of these epochs by the loss on dev stories (the code keeps 50 checkpoints and",
    "does not say which one was used). Names are masked and stories normalised, as in the data.",
];

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

/// How stories are put into batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Batches {
    /// Stories of similar length share a batch, and a story shares it with its negative.
    #[default]
    ByLength,
    /// Stories and negatives are shuffled together.
    Random,
}

storymeter_core::documented_settings! {
    /// The settings of a run. A field that a file does not name has its default. The settings are
    /// written into the model's card.
    ///
    /// ```
    /// use storymeter_union::train::{Preset, Settings};
    ///
    /// let settings = Settings { epochs: 3, ..Settings::of(Preset::Paper) };
    /// assert!(!settings.prompts);
    /// assert!(settings.to_toml().contains("epochs = 3"));
    /// ```
    pub struct Settings;

    /// The preset from which all settings come that this file does not name: "default", "paper"
    /// (sections 3.2, 3.3, 4.1 and 4.2 of the paper) or "released-code" (what the authors' code
    /// does).
    preset: Preset = Preset::Default;
    /// Everything random follows from the seed: the split, the negatives, the order of the stories,
    /// dropout and new weights.
    seed: u64 = 1;
    /// The number of passes over the training stories.
    epochs: u64 = 2;
    /// Whether every epoch makes new negatives. If not, one negative is made of each story, and all
    /// epochs use it, as in the paper.
    fresh_negatives: bool = true;
    /// Stop after this number of epochs without a smaller loss on the dev stories. 0 never stops
    /// early.
    patience: u64 = 0;
    /// The largest number of tokens in a batch, human stories and negatives together.
    tokens_a_batch: usize = 4096;
    /// The largest number of stories in a batch, human stories and negatives together. 0 sets no
    /// limit besides tokens_a_batch.
    stories_a_batch: usize = 0;
    /// How stories are put into batches: "by-length" puts stories of similar length together, and a
    /// story with its negative; "random" shuffles stories and negatives together.
    batches: Batches = Batches::ByLength;
    /// A story with more words than this keeps only its first whole sentences, as many as have
    /// together at most this number of words, but at least one. 0 keeps all.
    first_words: usize = 0;
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
    /// The share of stories that are shown with typos, drawn anew in every epoch. The human text
    /// and its negative are mistyped independently, so that typos are no sign of damage: at most
    /// one letter in fifty, as in the aspect "typo" of the test suite for metrics. A pair that no
    /// longer fits into max_tokens with its typos is shown without them. More than 0 needs
    /// reconstruction = "none", because a mistyped word may have another number of tokens.
    typos: f64 = 0.0;
    /// Whether `[MALE]`, `[FEMALE]` and `[NEUTRAL]` are one token each: an unused entry of the
    /// vocabulary that starts as the mean of some names. If not, they are three tokens each, the
    /// brackets and the word, as in the released code.
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
    /// The share of the schedule in which the learning rate rises. After that it falls linearly.
    warm_up: f64 = 0.06;
    /// The number of epochs over which the schedule of the learning rate extends. Training may end
    /// before the schedule does. 0 means as many as there are epochs.
    schedule_epochs: u64 = 0;
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
    /// paper; "pooler" takes it through a dense layer with tanh, as in the released code; "mean"
    /// takes the mean over all tokens.
    pooling: Pooling = Pooling::Cls;
    /// The reconstruction head: "own" is a matrix of its own as in equation 4, "tied" is that of
    /// the word embeddings, "dense" puts a dense layer, an activation and a layer norm before the
    /// tied matrix as in the released code, and "none" leaves the head out (the paper's -Recon).
    reconstruction: Reconstruction = Reconstruction::Tied;
    /// The weight, in the reconstruction loss, of the positions where the damaged story differs
    /// from the human one. All other positions have the weight 1, as all have in equation 5.
    changed_weight: f64 = 1.0;
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
    /// The settings of a preset; see [`Preset::notes`].
    pub fn of(preset: Preset) -> Self {
        let default = Self { preset, ..Self::default() };
        let paper = || Self {
            fresh_negatives: false,
            stories_a_batch: 10,
            batches: Batches::Random,
            first_words: 200,
            max_tokens: 400,
            long_stories: LongStories::Cut,
            delexicalise: 1.0,
            name_tokens: false,
            learning_rate: 5e-5,
            warm_up: 0.1,
            diagnosis: false,
            reconstruction: Reconstruction::Own,
            ..default.clone()
        };
        match preset {
            Preset::Default => default,
            Preset::Paper => paper(),
            Preset::ReleasedCode => Self {
                epochs: 4,
                schedule_epochs: 100,
                first_words: 0,
                max_tokens: 200,
                adam_epsilon: 1e-6,
                bias_correction: false,
                pooling: Pooling::Pooler,
                reconstruction: Reconstruction::Dense,
                reconstruct_context: false,
                perturb: storymeter_perturb::Config {
                    preset: storymeter_perturb::Preset::ReleasedCode,
                    ..storymeter_perturb::Config::default()
                },
                ..paper()
            },
        }
    }

    /// The same settings for a discriminator between human and machine stories (DisScore), which
    /// has nothing to repair and no damage to name.
    #[must_use]
    pub fn for_machine_stories(self) -> Self {
        Self { reconstruction: Reconstruction::None, diagnosis: false, ..self }
    }

    /// The same settings without one technique, for the ablations of Table 7.
    #[must_use]
    pub fn without_technique(mut self, technique: Technique) -> Self {
        self.perturb.weights[technique.index()] = 0.0;
        self
    }

    /// How much of the schedule of the learning rate all epochs take.
    pub(super) fn share_of_schedule(&self) -> f64 {
        if self.schedule_epochs == 0 {
            return 1.0;
        }
        self.epochs as f64 / self.schedule_epochs as f64
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
    fn the_paper_s_preset_is_the_paper_and_says_where_the_paper_is_silent() {
        let paper = Settings::of(Preset::Paper);
        // Section 4.1.
        assert_eq!((paper.stories_a_batch, paper.learning_rate), (10, 5e-5));
        assert_eq!(paper.reconstruction_weight, 0.1);
        // Equations 2 and 4.
        assert_eq!((paper.pooling, paper.reconstruction), (Pooling::Cls, Reconstruction::Own));
        // Section 4.2.
        assert_eq!(
            (paper.delexicalise, paper.first_words, paper.fresh_negatives),
            (1.0, 200, false)
        );
        let notes = Preset::Paper.notes().join("\n");
        for chosen in ["two epochs", "warm-up", "three tokens", "ConceptNet", "normalised"] {
            assert!(notes.contains(chosen), "{chosen}");
        }
        assert!(paper.to_toml().starts_with("# From the paper"));
        assert!(Settings::default().to_toml().starts_with("# The preset from which"));
    }

    #[test]
    fn the_released_code_s_optimiser_is_bert_s() {
        assert_eq!(Settings::of(Preset::ReleasedCode).adam(), AdamW::bert());
        assert_eq!(Settings::of(Preset::Paper).adam(), AdamW::default());
    }
}
