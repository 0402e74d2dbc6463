//! The settings of training on ratings.

use std::collections::BTreeMap;

use storymeter_core::configuration::LARGEST_SEED;
use storymeter_encoder::Grid;
use storymeter_encoder::train::AdamW;
use storymeter_perturb::Config as Damage;

use crate::configuration::{Configuration, Fault};
use crate::fine_tune::Plan;

/// The fewest tokens of a window: special ones, and some of the story.
const LEAST_TOKENS: u64 = 16;

storymeter_core::documented_settings! {
    /// The settings of training on ratings. A field that a file does not name has its default.
    ///
    /// ```
    /// use storymeter_baselines::configuration::Configuration;
    /// use storymeter_baselines::criteria::Settings;
    ///
    /// let settings = Settings { epochs: 10, ..Settings::default() };
    /// assert!(settings.to_toml().contains("epochs = 10"));
    /// ```
    pub struct Settings;

    /// Everything random follows from the seed: which prompts choose the best epoch, the order of
    /// the stories, dropout and the damage.
    seed: u64 = 1;
    /// The number of passes over the rated stories.
    epochs: u64 = 4;
    /// The share of prompts (items) whose stories are not learned from, but choose the best epoch.
    /// With 0 all stories are learned from, and the model of the last epoch is kept.
    dev_share: f64 = 0.1;
    /// The number of stories or windows in a batch.
    batch: usize = 16;
    /// The largest number of tokens in a window, special tokens included. Longer stories are read
    /// in several windows, each of which learns the ratings of its story.
    max_tokens: usize = 384;
    /// The number of layers to keep, counted from the first. 0 keeps all.
    layers: usize = 0;
    /// The highest learning rate.
    learning_rate: f64 = 2e-5;
    /// The share of all steps in which the learning rate rises. After that it falls linearly.
    warm_up: f64 = 0.1;
    /// The weight decay. Biases and layer norms do not decay.
    weight_decay: f64 = 0.01;
    /// Gradients with a larger norm than this are scaled down to it.
    clip: f64 = 1.0;
    /// Whether the encoder uses dropout.
    dropout: bool = true;
    /// A story weighs n / (n + half_raters) if n people rated it: one with this many raters weighs
    /// half as much as one with very many. 0 makes all stories equal.
    half_raters: f64 = 2.0;
    /// How far small sets are raised to the weight of large ones. With 0 the number of stories
    /// decides what a set weighs; with 1 it has no influence.
    balance: f64 = 0.0;
    /// The sets that are learned as preferences: of two stories of one item, the one with the
    /// higher rating shall have the higher prediction, and ratings of different items are not
    /// compared. An item has at most 64 stories.
    pairs: Vec<String> = Vec::new();
    /// The heads that are kept apart from the head "overall": their criteria have no part in it.
    apart: Vec<String> = Vec::new();
    /// How much the vectors of the sentence encoder (--sentences) weigh beside the ratings. With 0
    /// the sentence encoder becomes part of the model as it is. With more the model learns its
    /// vectors, and compares prompt and story by itself.
    sentence_weight: f64 = 0.0;
    /// Whether quotes, words that tokenisers cut, and placeholders are made alike before a story is
    /// read.
    normalise: bool = true;
    /// Whether person names are masked before a story is read.
    delexicalise: bool = true;
    /// The step of the grid to which the matrices of the layers are rounded, as a share of the root
    /// mean square of a row. Training then computes with rounded weights, and a model file takes
    /// little room. 0 rounds nothing.
    weight_step: f32 = 0.0;
    /// The step of the grid for word embeddings. It is 0 exactly if weight_step is.
    word_step: f32 = 0.0;
    /// How many of the human stories (--stories) are damaged and learned from in every epoch, in
    /// pairs of a whole and a damaged story. 0 takes all.
    damage_pairs: usize = 4000;
    /// The weight of a damaged or whole story beside a rated one.
    damage_weight: f64 = 0.5;
    /// How much the score of the embedded UNION model counts in a criterion, beside the head that
    /// learns it. Both are in standard units. 0 leaves UNION out.
    union_share: f64 = 0.0;
    /// The same for the head "overall". It is what generalises best to stories of other kinds than
    /// those that were rated.
    union_share_overall: f64 = 0.0;
    /// Whether activations are computed again in the backward pass. This takes about a tenth of the
    /// memory and a third more time.
    recompute: bool = false;
    /// Whether there is a checkpoint after every epoch, from which a run can be resumed.
    checkpoints: bool = true;
    /// What a story of a set weighs, by the name of the set. It is 1 for the others.
    set_weights: BTreeMap<String, f64> = BTreeMap::new();
    /// How human stories are damaged. The default is what the embedded UNION model was trained on:
    /// the techniques of the paper, words garbled inside sentences, and halves of sentences joined.
    perturb: Damage = Damage {
        weights: [0.25, 0.45, 0.2, 0.1],
        garbled: 0.5,
        spliced: 0.3,
        ..Damage::default()
    };
}

impl Configuration for Settings {
    fn fault(&self) -> Option<Fault> {
        let (within, positive, number) = (Fault::within, Fault::positive, Fault::number);
        number("seed", self.seed, 0, LARGEST_SEED)
            .or_else(|| number("epochs", self.epochs, 1, 1_000_000))
            .or_else(|| within("dev_share", self.dev_share, 0.0, 0.9))
            .or_else(|| number("batch", self.batch as u64, 1, 65_536))
            .or_else(|| number("max_tokens", self.max_tokens as u64, LEAST_TOKENS, 1_000_000))
            .or_else(|| number("layers", self.layers as u64, 0, 1024))
            .or_else(|| positive("learning_rate", self.learning_rate, 1.0))
            .or_else(|| within("warm_up", self.warm_up, 0.0, 1.0))
            .or_else(|| within("weight_decay", self.weight_decay, 0.0, 1e6))
            .or_else(|| positive("clip", self.clip, 1e6))
            .or_else(|| within("half_raters", self.half_raters, 0.0, 1e6))
            .or_else(|| within("balance", self.balance, 0.0, 1.0))
            .or_else(|| within("sentence_weight", self.sentence_weight, 0.0, 1e6))
            .or_else(|| {
                let mut weights = self.set_weights.values();
                weights.find_map(|weight| positive("set_weights", *weight, 1e6))
            })
            .or_else(|| within("damage_weight", self.damage_weight, 0.0, 1e6))
            .or_else(|| within("union_share", self.union_share, 0.0, 100.0))
            .or_else(|| within("union_share_overall", self.union_share_overall, 0.0, 100.0))
            .or_else(|| {
                let problem = self.perturb.clone().checked().err()?.to_string();
                Some(Fault { field: "perturb", problem })
            })
            .or_else(|| {
                let problem = self.grid()?.problem()?.to_owned();
                Some(Fault { field: "weight_step", problem })
            })
    }
}

impl Settings {
    /// The grid to which weights are rounded, if they are.
    pub(super) fn grid(&self) -> Option<Grid> {
        let grid = Grid { layers: self.weight_step, words: self.word_step };
        (grid != Grid { layers: 0.0, words: 0.0 }).then_some(grid)
    }

    pub(super) fn plan(&self) -> Plan {
        Plan {
            seed: self.seed,
            epochs: self.epochs,
            patience: 0,
            examples_a_batch: self.batch,
            tokens_a_batch: usize::MAX,
            learning_rate: self.learning_rate,
            warm_up: self.warm_up,
            optimiser: AdamW {
                decay: self.weight_decay as f32,
                clip: self.clip as f32,
                ..AdamW::default()
            },
            dropout: self.dropout,
            recompute: self.recompute,
            checkpoints: self.checkpoints,
        }
    }
}
