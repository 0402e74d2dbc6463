//! MoverScore: how far the story's words must move to become the reference's.
//!
//! Each text is a cloud of word vectors, which an encoder computes in context. The earth mover's
//! distance is the least total distance that the mass of one cloud must travel to become the other
//! cloud. It compares whole texts, where BERTScore lets each word choose its own partner.
//!
//! Definition of version 2 (the default): the vectors are the last hidden states of the encoder,
//! divided by their norms; the distance of two words is Euclidean, and the mass of a word is its
//! idf weight, divided by the sum of its text.
//!
//! ```text
//! MoverScore = 1 / (1 + EMD)
//! ```
//!
//! The idf weight of a token is `ln((N + 1) / (df + 1))`: N is the number of texts, and df the
//! number of texts that have the token. Stories and references are counted apart, over the whole
//! input. All references of one story count as one text. With the option `uniform`, all tokens
//! weigh the same, special tokens included. Words are represented by their first piece:
//! continuations (`##ing`) and ASCII punctuation have no mass. With the option `stop`, 153 English
//! stop words have none either.
//!
//! Definition of version 1 (the option `v1`): the vector of a token has the minimum, the mean and
//! the maximum of its normalised states over the last five layers. Distances are squared, and
//! n-grams of tokens can be moved instead of tokens (`n-gram-N`); the vector of an n-gram is the
//! mean of its tokens by idf weight, and its mass is their sum.
//!
//! ```text
//! MoverScore v1 = 1 - EMD
//! ```
//!
//! As in the released code, masses are divided by their sum plus 0.00001, and the small difference
//! of mass between the two texts is charged with the largest distance.
//!
//! Which file a number comes from matters: the PyPI package `moverscore` 1.0.3 returns `1 - EMD`
//! for both of its modules, `moverscore_v2` included, while `moverscore_v2.py` of the authors'
//! repository, which this metric follows, returns `1 / (1 + EMD)`. The distances are the same, so
//! that a score s of the package is `1 / (2 - s)` here.
//!
//! Model: `distilbert-base-uncased` for version 2. Version 1 was published with a BERT that was
//! fine-tuned on MNLI, whose file is no longer offered; `textattack/bert-base-uncased-MNLI` is the
//! nearest. For another model, name its folder, or its usual name, as the weights of `moverscore`.
//!
//! Preset `hanna`: version 2 with stop words and idf weights, as SummEval's class computes it, and
//! distances in single precision, by which a story has 0.9997 against itself.
//!
//! Long texts: what exceeds the model's maximum (512 tokens for most) is cut off, as by the
//! released code, and such stories are counted. With the option `whole`, a long text is read in
//! windows of that length that overlap by half.
//!
//! Several references: the mean of the scores against each.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: no value. The same holds for a text without a token that has mass, such as one of
//! stop words only, for an input of a single story with idf weights, and with `whole` for two texts
//! with more than 4 million pairs of tokens.
//!
//! Source: Zhao et al., EMNLP 2019.
//!
//! Checked against: the released code with MiniLM, within 1e-5. It takes its idf weights from the
//! texts of one call, and gives padded positions a mass if the padding token is not number 0.

use std::io;
use std::sync::Arc;

use storymeter_core::{
    Choice, CorpusReader, CorpusWriter, Description, Direction, Entry, Metric, MetricError, Needs,
    Precision, Prepared, Range, Request, Resources, Rows, Signature, Survey, Value,
};
use storymeter_transport::{Problem, exact};

use crate::absent::{reasons, row_values};
use crate::distances::{MOST_PAIRS, single_distances, squared_distances};
use crate::idf::{CorpusIdf, Idf, IdfSurvey, ReferenceDocument};
use crate::models::OpenModel;
use crate::states::{Reader, StoryStates, TextStates};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["moverscore"],
    choices: &[
        Choice::preset("hanna", "as HANNA: version 2, idf weights, stop words, single precision"),
        Choice::new("version", "v2", "the last layer, 1 / (1 + EMD) (the default)"),
        Choice::new("version", "v1", "five layers, squared distances, 1 - EMD, as UNION"),
        Choice::new("n-grams", "n-gram-N", "moves sequences of N words; version 1 only"),
        Choice::new("weights", "idf", "rare tokens have more mass, by the input (the default)"),
        Choice::new("weights", "uniform", "all tokens have the same mass"),
        Choice::new("stop words", "stop", "stop words have no mass"),
        Choice::new("length", "whole", "long texts are read in windows instead of being cut"),
    ],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs { corpus: true, ..Needs::REFERENCE },
    source: include_str!("moverscore.rs"),
    build: |request| Ok(Box::new(MoverScore::new(request)?)),
};

/// NLTK's English stop words of 2018, which the authors' examples use. Word pieces are compared, so
/// that parts of contractions such as "don" and "t" are there.
const STOP_WORDS: &str = "i me my myself we our ours ourselves you your yours yourself yourselves \
    he him his himself she her hers herself it its itself they them their theirs themselves what \
    which who whom this that these those am is are was were be been being have has had having do \
    does did doing a an the and but if or because as until while of at by for with about against \
    between into through during before after above below to from up down in out on off over under \
    again further then once here there when where why how all any both each few more most other \
    some such no nor not only own same so than too very s t can will just don should now d ll m o \
    re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn \
    weren won wouldn";

/// What version 1 adds to sums that it divides by, and to norms.
const ADDED_TO_SUMS: f64 = 1e-5;
const ADDED_TO_NORMS: f64 = 1e-6;

/// How many layers version 1 reads.
const V1_LAYERS: usize = 5;

#[derive(Clone)]
struct MoverScore {
    description: Description,
    reader: Arc<Reader>,
    form: Form,
    layers: Vec<usize>,
    stop: bool,
    /// By token id: whether it has no mass.
    dropped: Arc<[bool]>,
    weights: Weights,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One layer. In single precision if it is as HANNA.
    Second { single: bool },
    /// Several layers, with sequences of so many tokens.
    First { order: usize },
}

#[derive(Clone)]
enum Weights {
    Uniform,
    /// Not known before the first pass.
    Unknown,
    Idf(Arc<CorpusIdf>),
}

reasons! {
    Why {
        EmptyStory = "the story or its reference has no tokens",
        NoMass = "no token of the story or of its reference has a weight",
        SingleStory = "idf weights need at least two stories in the input",
        TooLong = "the texts are too long to be compared token by token",
        Other = "the vectors of the model are not finite numbers",
    }
}

impl MoverScore {
    fn new(request: &Request<'_>) -> Result<Self, MetricError> {
        let hanna = request.has("hanna");
        let order = request.number("n-gram-N");
        let form = match (request.has("v1"), order) {
            (true, order) => Form::First { order: order.unwrap_or(1).max(1) },
            (false, None) => Form::Second { single: hanna },
            (false, Some(order)) => {
                return Err(MetricError::OptionClash {
                    metric: request.id.to_owned(),
                    first: "v2".to_owned(),
                    second: format!("n-gram-{order}"),
                    why: "only v1 moves n-grams".to_owned(),
                });
            }
        };
        let usual_name = match form {
            Form::First { .. } => "textattack/bert-base-uncased-MNLI",
            Form::Second { .. } => "distilbert-base-uncased",
        };
        let model = OpenModel::for_metric(request, usual_name, Precision::F32)?;
        let last = model.model().config().layers;
        let layers: Vec<usize> = match form {
            Form::First { .. } => ((last + 1).saturating_sub(V1_LAYERS).max(1)..=last).collect(),
            Form::Second { .. } => vec![last],
        };
        let stop = hanna || request.has("stop");
        let tokenizer = model.tokenizer(request.key)?;
        let stop_words: Vec<&str> =
            if stop { STOP_WORDS.split_whitespace().collect() } else { Vec::new() };
        let dropped = (0..model.model().config().vocabulary as u32)
            .map(|id| tokenizer.piece(id).is_some_and(|piece| is_dropped(piece, &stop_words)))
            .collect();
        let reader = Reader::shared(request, model, request.has("whole"))?;
        reader.want(request.key, layers.iter().copied())?;
        let uniform = request.has("uniform");
        let mut description = request.describe().width(2).in_portions();
        description.needs.corpus = !uniform;
        if let Form::First { .. } = form {
            description = description.range(Range::between(-3.0, 1.0));
        }
        let weights = if uniform { Weights::Uniform } else { Weights::Unknown };
        let mut metric = Self { description, reader, form, layers, stop, dropped, weights };
        metric.description.signature = metric.signature();
        Ok(metric)
    }

    /// The metric that knows the corpus.
    fn knowing(self, corpus: CorpusIdf) -> Box<dyn Metric> {
        let mut metric = Self { weights: Weights::Idf(Arc::new(corpus)), ..self };
        metric.description.signature = metric.signature();
        Box::new(metric)
    }

    fn signature(&self) -> Signature {
        let (form, order, single) = match self.form {
            Form::First { order } => ("v1", order, false),
            Form::Second { single } => ("v2", 1, single),
        };
        let layers: Vec<String> = self.layers.iter().map(usize::to_string).collect();
        let idf = match &self.weights {
            Weights::Uniform => "no".to_owned(),
            Weights::Unknown => "stories[0]+references[0]".to_owned(),
            Weights::Idf(idf) => format!(
                "stories[{}]+references[{}]",
                idf.stories.documents(),
                idf.references.documents()
            ),
        };
        let signature = Signature::new("moverscore").with("form", "f", form);
        let signature = self
            .reader
            .sign(signature)
            .with("layers", "L", layers.join("+"))
            .with("ngram", "n", order)
            .with("idf", "idf", idf)
            .with("stop", "s", if self.stop { "nltk-2018" } else { "no" })
            .with("distance", "d", if single { "f32" } else { "f64" });
        self.reader.sign_length(signature)
    }

    /// The mass of each token of a text, before it is divided by the sum.
    fn masses(&self, text: &TextStates, idf: Option<&Idf>) -> Vec<f64> {
        let dropped = |id: u32| self.dropped.get(id as usize).copied().unwrap_or(false);
        let weight = |id: u32| idf.map_or(1.0, |idf| idf.weight(id));
        let mass = |&id: &u32| if dropped(id) { 0.0 } else { weight(id) };
        text.tokens.ids.iter().map(mass).collect()
    }

    fn score(&self, texts: &StoryStates) -> Result<f64, Why> {
        let (of_stories, of_references) = match &self.weights {
            Weights::Idf(idf) if idf.stories.documents() < 2 => return Err(Why::SingleStory),
            Weights::Idf(idf) => (Some(&idf.stories), Some(&idf.references)),
            Weights::Uniform | Weights::Unknown => (None, None),
        };
        let story = self.cloud(&texts.story, of_stories)?;
        let mut sum = 0.0;
        for reference in &texts.references {
            sum += self.compare(&self.cloud(reference, of_references)?, &story)?;
        }
        Ok(sum / texts.references.len() as f64)
    }

    /// The points of a text that have mass.
    fn cloud(&self, text: &TextStates, idf: Option<&Idf>) -> Result<Cloud, Why> {
        if text.is_empty() {
            return Err(Why::EmptyStory);
        }
        let masses = self.masses(text, idf);
        let cloud = match self.form {
            Form::Second { .. } => Cloud::of_tokens(text, self.layers[0], &masses),
            Form::First { order } => {
                let kept: Vec<usize> = (0..text.tokens.ids.len())
                    .filter(|&at| {
                        !self.dropped.get(text.tokens.ids[at] as usize).is_some_and(|drop| *drop)
                    })
                    .collect();
                Cloud::of_sequences(text, &self.layers, &masses, &kept, order)
            }
        };
        if cloud.masses.is_empty() { Err(Why::NoMass) } else { Ok(cloud) }
    }

    fn compare(&self, reference: &Cloud, story: &Cloud) -> Result<f64, Why> {
        if reference.masses.len().saturating_mul(story.masses.len()) > MOST_PAIRS {
            return Err(Why::TooLong);
        }
        let score = match self.form {
            Form::Second { single } => {
                let costs = if single {
                    single_distances(&reference.points, &story.points, story.width)
                } else {
                    let mut costs =
                        squared_distances(&reference.points, &story.points, story.width);
                    costs.iter_mut().for_each(|cost| *cost = cost.max(0.0).sqrt());
                    costs
                };
                let problem = Problem::new(&reference.masses, &story.masses, costs);
                1.0 / (1.0 + exact(&problem.map_err(|_| Why::Other)?).cost)
            }
            Form::First { .. } => 1.0 - unequal_distance(reference, story)?,
        };
        if score.is_finite() { Ok(score) } else { Err(Why::Other) }
    }
}

/// Points with masses.
struct Cloud {
    points: Vec<f32>,
    masses: Vec<f64>,
    width: usize,
}

impl Cloud {
    /// The tokens that have mass.
    fn of_tokens(text: &TextStates, layer: usize, masses: &[f64]) -> Self {
        let width = text.width();
        let rows = text.layer(layer).chunks_exact(width).zip(masses);
        let heavy = rows.filter(|(_, mass)| **mass > 0.0);
        let (points, masses): (Vec<&[f32]>, Vec<f64>) =
            heavy.map(|(row, mass)| (row, *mass)).unzip();
        Self { points: points.concat(), masses, width }
    }

    /// Sequences of `order` tokens of those that are kept, with the step 1. If there are fewer
    /// tokens, they are one sequence.
    fn of_sequences(
        text: &TextStates,
        layers: &[usize],
        masses: &[f64],
        kept: &[usize],
        order: usize,
    ) -> Self {
        let states: Vec<&[f32]> = layers.iter().map(|&layer| text.layer(layer)).collect();
        let width = 3 * text.width();
        let mut cloud = Self { points: Vec::new(), masses: Vec::new(), width };
        for tokens in kept.windows(order.min(kept.len()).max(1)) {
            let mass: f64 = tokens.iter().map(|&token| masses[token]).sum();
            if mass <= 0.0 {
                continue;
            }
            let mut point = vec![0.0; width];
            for &token in tokens {
                let share = masses[token] / (mass + ADDED_TO_SUMS);
                let vector = extremes(&states, token, text.width());
                point.iter_mut().zip(vector).for_each(|(sum, x)| *sum += share * f64::from(x));
            }
            let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt() + ADDED_TO_NORMS;
            cloud.points.extend(point.iter().map(|x| (x / norm) as f32));
            cloud.masses.push(mass);
        }
        cloud
    }
}

/// The minimum, the mean and the maximum of each coordinate over the layers, one after the other.
fn extremes(layers: &[&[f32]], token: usize, width: usize) -> Vec<f32> {
    let mut vector = vec![0.0; 3 * width];
    let (least, others) = vector.split_at_mut(width);
    let (mean, most) = others.split_at_mut(width);
    for at in 0..width {
        let coordinates = || layers.iter().map(|layer| layer[token * width + at]);
        least[at] = coordinates().fold(f32::INFINITY, f32::min);
        most[at] = coordinates().fold(f32::NEG_INFINITY, f32::max);
        mean[at] = coordinates().sum::<f32>() / layers.len() as f32;
    }
    vector
}

/// The earth mover's distance by squared distances, where the masses of a side are divided by a
/// little more than their sum. The side with more mass keeps the excess, which costs the largest
/// distance of any two points of both sides.
fn unequal_distance(reference: &Cloud, story: &Cloud) -> Result<f64, Why> {
    let scaled = |masses: &[f64]| -> (Vec<f64>, f64) {
        let sum: f64 = masses.iter().sum();
        let divisor = sum + ADDED_TO_SUMS;
        (masses.iter().map(|mass| mass / divisor).collect(), sum / divisor)
    };
    let width = story.width;
    let (mut left, left_sum) = scaled(&reference.masses);
    let (mut right, right_sum) = scaled(&story.masses);
    let mut costs = squared_distances(&reference.points, &story.points, width);
    let within = |cloud: &Cloud| squared_distances(&cloud.points, &cloud.points, width);
    let all = costs.iter().copied().chain(within(reference)).chain(within(story));
    let largest = all.fold(0.0, f64::max);
    costs.iter_mut().for_each(|cost| *cost = cost.max(0.0));
    let excess = (left_sum - right_sum).abs();
    if left_sum > right_sum {
        let columns = right.len();
        right.push(excess);
        costs = costs.chunks_exact(columns).flat_map(|row| [row, &[0.0]].concat()).collect();
    } else if right_sum > left_sum {
        left.push(excess);
        costs.extend(std::iter::repeat_n(0.0, right.len()));
    }
    let problem = Problem::new(&left, &right, costs).map_err(|_| Why::Other)?;
    Ok(exact(&problem).cost * left_sum.max(right_sum) + excess * largest)
}

/// Whether a piece has no mass: a continuation, a punctuation mark or a stop word.
fn is_dropped(piece: &str, stop_words: &[&str]) -> bool {
    let mark = matches!(piece.as_bytes(), [byte] if byte.is_ascii_punctuation());
    mark || piece.contains("##") || stop_words.contains(&piece)
}

impl Metric for MoverScore {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        if let Weights::Unknown = self.weights {
            return Err(MetricError::NoCorpus { metric: self.description.key.clone() });
        }
        self.reader.rows(&self.description.key, stories, |texts| [self.score(texts)])
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        row_values::<Why>(row, values);
    }

    fn survey(&self) -> Option<Box<dyn Survey>> {
        let Weights::Unknown = self.weights else { return None };
        let (reader, metric) = (Arc::clone(&self.reader), self.clone());
        Some(Box::new(IdfSurvey::new(
            self.reader.vocabulary(),
            ReferenceDocument::Joined,
            move |text| reader.tokens(text).ids.clone(),
            move |corpus| metric.knowing(corpus),
        )))
    }

    fn save_corpus(&self, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        match &self.weights {
            Weights::Idf(idf) => idf.save(out),
            Weights::Uniform | Weights::Unknown => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn with_corpus(&self, input: &mut CorpusReader<'_>) -> io::Result<Box<dyn Metric>> {
        Ok(self.clone().knowing(CorpusIdf::load(input)?))
    }
}
