//! BaryScore: the distance between mean clouds of words of story and reference.
//!
//! The mean is taken over the last layers of an encoder.
//!
//! Different layers of an encoder see different things. BaryScore therefore joins the word vectors
//! of several layers to one cloud per text, the barycentre, and compares the barycentres of both
//! texts by optimal transport.
//!
//! Definition: the vectors are the hidden states of the last five layers, divided by their norms,
//! of all tokens. The barycentre of a text has one point per token, the mean of the vectors that
//! the token has in the five layers. All points of a text have the same mass, and moving mass costs
//! the squared Euclidean distance.
//!
//! - `w` is the cost of the cheapest way to move one barycentre onto the other (the squared
//!   2-Wasserstein distance).
//! - `sd-R` is the cost of the way that is cheapest when the entropy of the plan, times R, is
//!   subtracted from its cost. It is not a Sinkhorn divergence: a story has not 0 against itself if
//!   R is large.
//!
//! Reading the score: lower is better.
//!
//! Model: `bert-base-uncased`, layers 8 to 12. For another model, name its folder, or its usual
//! name, as the weights of `baryscore`; its last five hidden states are used.
//!
//! Preset `hanna`: the procedure of the released code. It searches the barycentre by an iteration
//! that starts with all points at zero, where every first step is as good as any other, so that the
//! result depends on the solver; values differ from the released ones by up to 2 %. Its Sinkhorn
//! loop does not work with logarithms and breaks off when numbers become too small, which happens
//! at once for `sd-0.001`: the published values of that column are near 0 and mean nothing. The
//! default has neither weakness.
//!
//! The idf weights of the paper have no effect in the released code, because they are never found
//! in their table. Here there are none.
//!
//! Long texts: what exceeds the model's maximum (512 tokens for most) is cut off, and such stories
//! are counted. With the option `whole`, a long text is read in windows of that length that overlap
//! by half.
//!
//! Several references: for each column the reference with the smallest value counts.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: no value. With `whole`, two texts with more than 4 million pairs of tokens have
//! none either.
//!
//! Source: Colombo et al., EMNLP 2021.
//!
//! Checked against: the released code and POT 0.9.7 with MiniLM, within 1e-5, except `sd-0.001`.

use std::sync::Arc;

use storymeter_core::{
    Choice, Description, Direction, Entry, Metric, MetricError, Needs, Precision, Prepared, Range,
    Request, Resources, Rows, Signature, Value,
};
use storymeter_transport::sinkhorn::{self, Settings};
use storymeter_transport::{Problem, barycentre, exact};

use crate::absent::{better, reasons, row_values};
use crate::distances::{MOST_PAIRS, squared_distances};
use crate::models::OpenModel;
use crate::states::{Reader, StoryStates, TextStates};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["baryscore"],
    choices: &[
        Choice::preset("hanna", "as HANNA: the released iterations, which may break off early"),
        Choice::new("length", "whole", "long texts are read in windows instead of being cut"),
    ],
    direction: Direction::Lower,
    range: Range::NOT_NEGATIVE,
    needs: Needs::REFERENCE,
    source: include_str!("baryscore.rs"),
    build: |request| Ok(Box::new(BaryScore::new(request)?)),
};

const COLUMNS: [&str; 8] =
    ["w", "sd-10", "sd-5", "sd-1", "sd-0.5", "sd-0.1", "sd-0.01", "sd-0.001"];

/// The weights of the entropy, as in the names of the columns.
const REGULARISATIONS: [f64; 7] = [10.0, 5.0, 1.0, 0.5, 0.1, 0.01, 0.001];

/// How many hidden states are used.
const LAYERS: usize = 5;

/// The searches of the default in their order: the regularisation, how far an iteration goes beyond
/// the plain one, and whether the result is a column. The others only prepare the next search.
///
/// On 42 to 512 tokens of real stories, each takes at most some hundred iterations.
const SEARCHES: [(f64, f64, bool); 9] = [
    (10.0, 1.0, true),
    (5.0, 1.0, true),
    (1.0, 1.0, true),
    (0.5, 1.0, true),
    (0.1, 1.8, true),
    (0.03, 1.8, false),
    (0.01, 1.8, true),
    (0.003, 1.9, false),
    (0.001, 1.9, true),
];

/// The largest number of iterations of a search.
const ITERATIONS: usize = 2000;

/// A search ends when masses are wrong by less than this. Columns are then right to about 1e-6.
const TOLERANCE: f64 = 1e-7;

struct BaryScore {
    description: Description,
    reader: Arc<Reader>,
    layers: Vec<usize>,
    hanna: bool,
}

reasons! {
    Why {
        EmptyText = "the story or its reference has no tokens",
        TooLong = "the texts are too long to be compared token by token",
        NotFinite = "the vectors of the model are not finite numbers",
    }
}

/// The points of a barycentre.
struct Atoms(Vec<f32>);

impl BaryScore {
    fn new(request: &Request<'_>) -> Result<Self, MetricError> {
        let model = OpenModel::for_metric(request, "bert-base-uncased", Precision::F32)?;
        let last = model.model().config().layers;
        let layers: Vec<usize> = ((last + 1).saturating_sub(LAYERS)..=last).collect();
        let hanna = request.has("hanna");
        let reader = Reader::shared(request, model, request.has("whole"))?;
        reader.want(request.key, layers.iter().copied())?;
        let (barycentre, entropic) =
            if hanna { ("from-zeros", "published") } else { ("mean", "log") };
        let signature = reader
            .sign(Signature::new("baryscore"))
            .with("layers", "L", format!("{}-{last}", layers[0]))
            .with("barycentre", "bc", barycentre)
            .with("sinkhorn", "sk", entropic);
        let signature = reader.sign_length(signature);
        let description = request.describe().width(2 * COLUMNS.len()).in_portions();
        let description = description.family(COLUMNS).signature(signature);
        Ok(Self { description, reader, layers, hanna })
    }

    /// The barycentre of a text. It is kept with the text.
    fn atoms(&self, text: &TextStates) -> Result<Arc<Atoms>, Why> {
        if text.is_empty() {
            return Err(Why::EmptyText);
        }
        let layers: Vec<&[f32]> = self.layers.iter().map(|&layer| text.layer(layer)).collect();
        if layers.iter().any(|layer| layer.iter().any(|x| !x.is_finite())) {
            return Err(Why::NotFinite);
        }
        let name = if self.hanna { "barycentre from zeros" } else { "barycentre" };
        let bytes = |atoms: &Atoms| size_of_val(atoms.0.as_slice());
        Ok(text.derived(name, bytes, || {
            let points = if self.hanna { from_zeros(&layers, text.width()) } else { mean(&layers) };
            Atoms(points)
        }))
    }

    fn score(&self, texts: &StoryStates) -> [Result<f64, Why>; COLUMNS.len()] {
        let mut best = [Err(Why::EmptyText); COLUMNS.len()];
        for reference in &texts.references {
            let scores = self.compare(&texts.story, reference);
            for (at, best) in best.iter_mut().enumerate() {
                let score = scores.as_ref().map(|scores| scores[at]).map_err(|why| *why);
                *best = better(*best, score, f64::min);
            }
        }
        best
    }

    fn compare(
        &self,
        story: &TextStates,
        reference: &TextStates,
    ) -> Result<[f64; COLUMNS.len()], Why> {
        let (n, m) = (reference.tokens.ids.len(), story.tokens.ids.len());
        if n.saturating_mul(m) > MOST_PAIRS {
            return Err(Why::TooLong);
        }
        let (left, right) = (self.atoms(reference)?, self.atoms(story)?);
        let costs = squared_distances(&left.0, &right.0, story.width());
        let problem = Problem::uniform(n, m, costs).map_err(|_| Why::NotFinite)?;
        let mut scores = [exact(&problem).cost; COLUMNS.len()];
        if self.hanna {
            for (score, regularisation) in scores[1..].iter_mut().zip(REGULARISATIONS) {
                *score = sinkhorn::as_published(&problem, &Settings::new(regularisation)).cost;
            }
        } else {
            let settings = SEARCHES.map(|(regularisation, relaxation, _)| Settings {
                regularisation,
                relaxation,
                tolerance: TOLERANCE,
                iterations: ITERATIONS,
            });
            let found = sinkhorn::descending(&problem, &settings);
            let columns = found.iter().zip(SEARCHES).filter(|(_, search)| search.2);
            scores[1..].iter_mut().zip(columns).for_each(|(score, (found, _))| *score = found.cost);
        }
        if scores.iter().all(|score| score.is_finite()) { Ok(scores) } else { Err(Why::NotFinite) }
    }
}

/// The mean of the layers, token by token.
fn mean(layers: &[&[f32]]) -> Vec<f32> {
    let count = layers.len() as f64;
    let coordinate = |at: usize| layers.iter().map(|layer| f64::from(layer[at])).sum::<f64>();
    (0..layers[0].len()).map(|at| (coordinate(at) / count) as f32).collect()
}

/// The barycentre by the released iteration.
fn from_zeros(layers: &[&[f32]], width: usize) -> Vec<f32> {
    let double = |layer: &&[f32]| layer.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    let single = |points: &[f64]| points.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let clouds: Vec<Vec<f64>> = layers.iter().map(double).collect();
    let clouds: Vec<&[f64]> = clouds.iter().map(Vec::as_slice).collect();
    let costs =
        |left: &[f64], right: &[f64]| squared_distances(&single(left), &single(right), width);
    // The layers of a text have the same size, so that this cannot fail.
    let atoms = barycentre::from_zeros_by(&clouds, width, costs);
    atoms.map_or_else(|_| mean(layers), |atoms| single(&atoms))
}

impl Metric for BaryScore {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        self.reader.rows(&self.description.key, stories, |texts| self.score(texts))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        row_values::<Why>(row, values);
    }
}
