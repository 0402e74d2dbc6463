//! DepthScore: how far the reference's cloud of words reaches beyond the story's.
//!
//! Each text is a cloud of word vectors, which an encoder computes in context. Words that are
//! typical of the text lie deep inside it, and unusual ones at its border. The metric compares the
//! shapes of both clouds, layer by layer from the outside to the deepest word.
//!
//! Definition: the vectors are the hidden states after one layer, divided by their norms. The depth
//! of a word is the mean of `min(rank / n, 1 - rank / n)` over 10,000 random directions, where n is
//! the number of words and `rank` the place of the word in that direction. For each of five levels
//! a (30, 47.5, 65, 82.5 and 100 %), the words with at least that percentile of depth are kept, and
//! `h` is how far they reach in each of another 10,000 directions u:
//!
//! ```text
//! DepthScore = (mean over a of max over u of (h_reference(u) - h_story(u))^5)^(1/5)
//! ```
//!
//! The directions are those of the released code, to the last bit: numpy's old generator with the
//! seed 0.
//!
//! Reading the score: lower is better, and 0 is a story that equals its reference. The power is odd
//! and has a sign, so that story and reference cannot be exchanged. The option `symmetric`, which
//! the authors do not have, takes the absolute value of the difference.
//!
//! Model: `bert-base-uncased`, layer 9. For another model, name its folder, or its usual name, as
//! the weights of `depthscore`. The layer is 9, or the last one of a model that has fewer; the
//! option `layer-N` chooses another one.
//!
//! Long texts: what exceeds the model's maximum (512 tokens for most) is cut off, and such stories
//! are counted. With the option `whole`, a long text is read in windows of that length that overlap
//! by half.
//!
//! Several references: the one with the smallest score counts.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: no value. The same holds if the mean of the powers is negative, which means that
//! the story reaches farther in every direction.
//!
//! Preset `hanna`: the same as the default.
//!
//! Source: Staerman et al., 2021 (A Pseudo-Metric between Probability Distributions based on
//! Depth-Trimmed Regions).
//!
//! Checked against: the released code with MiniLM, within 1e-5.

use std::sync::Arc;

use storymeter_core::{
    Choice, Description, Direction, Entry, Metric, MetricError, Needs, Precision, Prepared, Range,
    Request, Resources, Rows, Signature, Value,
};

use crate::absent::{better, reasons, row_values};
use crate::depth::{Directions, LEVELS, Reach};
use crate::models::OpenModel;
use crate::states::{Reader, StoryStates, TextStates};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["depthscore"],
    choices: &[
        Choice::preset("hanna", "as HANNA (the default)"),
        Choice::new("layer", "layer-N", "vectors of layer N; 0 is the output of the embeddings"),
        Choice::new("sign", "symmetric", "absolute differences, so that the order does not matter"),
        Choice::new("length", "whole", "long texts are read in windows instead of being cut"),
    ],
    direction: Direction::Lower,
    range: Range::NOT_NEGATIVE,
    needs: Needs::REFERENCE,
    source: include_str!("depthscore.rs"),
    build: |request| Ok(Box::new(DepthScore::new(request)?)),
};

/// The layer of the released code.
const LAYER: usize = 9;

/// The power of the differences.
const POWER: i32 = 5;

struct DepthScore {
    description: Description,
    reader: Arc<Reader>,
    layer: usize,
    symmetric: bool,
}

reasons! {
    Why {
        EmptyText = "the story or its reference has no tokens",
        Negative = "the story reaches farther than its reference everywhere",
        NotFinite = "the vectors of the model are not finite numbers",
    }
}

impl DepthScore {
    fn new(request: &Request<'_>) -> Result<Self, MetricError> {
        let model = OpenModel::for_metric(request, "bert-base-uncased", Precision::F32)?;
        let last = model.model().config().layers;
        let layer = request.number("layer-N").unwrap_or(LAYER.min(last));
        let reader = Reader::shared(request, model, request.has("whole"))?;
        reader.want(request.key, [layer])?;
        let symmetric = request.has("symmetric");
        let signature = reader
            .sign(Signature::new("depthscore"))
            .with("layer", "L", layer)
            .with("depth", "d", "irw")
            .with("power", "pw", POWER)
            .with("sign", "sg", if symmetric { "absolute" } else { "reference-minus-story" });
        let signature = reader.sign_length(signature);
        let description = request.describe().width(2).in_portions().signature(signature);
        Ok(Self { description, reader, layer, symmetric })
    }

    /// How far the parts of a text reach. It is kept with the text.
    fn reach(&self, text: &TextStates, directions: &Directions) -> Arc<Reach> {
        let points = text.layer(self.layer);
        text.derived(&self.layer.to_string(), Reach::bytes, || directions.reach(points))
    }

    fn score(&self, texts: &StoryStates, directions: &Directions) -> Result<f64, Why> {
        let usable = |text: &TextStates| {
            if text.is_empty() {
                return Err(Why::EmptyText);
            }
            let finite = text.layer(self.layer).iter().all(|x| x.is_finite());
            if finite { Ok(()) } else { Err(Why::NotFinite) }
        };
        usable(&texts.story)?;
        let story = self.reach(&texts.story, directions);
        let mut best = Err(Why::EmptyText);
        for reference in &texts.references {
            let score = usable(reference).and_then(|()| {
                root(self.reach(reference, directions).excess(&story, self.symmetric))
            });
            best = better(best, score, f64::min);
        }
        best
    }
}

/// The root of the mean power of the differences.
fn root(differences: [f64; LEVELS.len()]) -> Result<f64, Why> {
    let sum: f64 = differences.iter().map(|difference| difference.powi(POWER)).sum();
    if sum < 0.0 {
        return Err(Why::Negative);
    }
    Ok((sum / LEVELS.len() as f64).powf(1.0 / f64::from(POWER)))
}

impl Metric for DepthScore {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], resources: &Resources) -> Result<Rows, MetricError> {
        let width = self.reader.width();
        let name = format!("directions in {width} dimensions");
        let directions = resources.shared(&name, || Ok(Directions::new(width)))?;
        self.reader.rows(&self.description.key, stories, |texts| [self.score(texts, &directions)])
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        row_values::<Why>(row, values);
    }
}
