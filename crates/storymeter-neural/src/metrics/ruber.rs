//! RUBER-BERT: whether a story resembles its reference and fits its context.
//!
//! RUBER was made for dialogues: a reply is compared with a reference reply, and with the post that
//! it answers. UNION uses it as a baseline (Guan and Huang, EMNLP 2020, section 4.1), where the
//! post is the leading context of a story and the reply is the rest.
//!
//! Columns:
//!
//! - `ruber/r`: the cosine of the vectors of story and reference. A text's vector has the maximum
//!   and then the minimum of each column over the vectors of its tokens in the last layer, special
//!   tokens included. The whole texts are compared, as they are given.
//! - `ruber/u`: how probable a trained head finds it that the continuation q of the story belongs
//!   to its context c, where both are pooled vectors (by default the maximum over the tokens):
//!   `s = c^T M q`, `h = tanh(W [c; s; q] + b)`, and a softmax over two classes `V h + d`. The
//!   context is the prompt, or else the first sentence. If the story begins with its prompt, the
//!   sentences of the prompt are the context.
//! - `ruber/hybrid`: the arithmetic mean of the two, as in UNION.
//!
//! Scale: `r` and `u` are raw by default, so that the score of a story does not depend on the
//! others. With `union`, each is first scaled to run from 0 to 1 over all stories of the input,
//! `(x - min) / (max - min + 1e-42)`, as UNION and Tao et al. do; that reads all stories twice,
//! and the same story has another score in another input. It changes the order of the stories only
//! for `hybrid`.
//!
//! Needs: `r` and `hybrid` need a reference; `u` needs the story alone, and reads its prompt if it
//! has one.
//!
//! Several references: the largest `r`.
//!
//! Many stories: the mean of their scores.
//!
//! Absent: `r` without a reference, `u` if the story has neither a prompt nor a second sentence, or
//! nothing after a prompt with which it begins, and `hybrid` without one of its halves. No column
//! has a value for an empty story.
//!
//! Model: a folder that `storymeter train --kind ruber` has saved, named with `--weights
//! ruber=FOLDER`. It has the encoder, the head, and in `ruber.json` how texts are read: person
//! names are masked (`[MALE]`) if they were in training, and texts are cut after `max_tokens`
//! tokens, at most 500 as in the reference. Stories with such a text are counted as truncated.
//!
//! Reading the score: with BERT, `r` of two stories is rarely below 0.9. `u` knows nothing about
//! the story beyond its subject: a head that was trained on random continuations finds almost every
//! continuation good that mentions what the context mentions.
//!
//! Source: Tao, Mou, Zhao and Yan 2018, "RUBER: An Unsupervised Method for Automatic Evaluation of
//! Open-Domain Dialog Systems"; Ghazarian, Wei, Galstyan and Peng 2019, "Better Automatic
//! Evaluation of Open-Domain Dialogue Systems with Contextualized Embeddings".
//!
//! Checked against: PyTorch 2.5.1 and transformers 4.44.2 with a tiny BERT and a head whose weights
//! are known, within 0.000001.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use storymeter_core::{
    Choice, CorpusReader, CorpusWriter, Description, Direction, Entry, Metric, MetricError, Needs,
    Precision, Prepared, Range, Request, Resources, Rows, Signature, Survey, Value,
};

use crate::absent::{better, reasons, row, row_values};
use crate::models::{OpenModel, failed};
use crate::ruber::{CARD, Card, Head, Pool, PooledText, Reading, ReadyHead, masked, pooled};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["ruber"],
    choices: &[Choice::preset(
        "union",
        "as in UNION: both halves are scaled from 0 to 1 over all stories of the input",
    )],
    direction: Direction::Higher,
    range: Range::between(-1.0, 1.0),
    needs: Needs::STORY,
    source: include_str!("ruber.rs"),
    build: |request| Ok(Box::new(Ruber::new(request)?)),
};

/// The name of a trained RUBER in a folder of models.
const USUAL_NAME: &str = "ruber";

const COLUMNS: [&str; 3] = ["r", "u", "hybrid"];

/// One number per column, and one that says why it has no value.
const WIDTH: usize = 2 * COLUMNS.len();

reasons! {
    Why {
        EmptyStory = "the story is empty",
        NoReference = "the story has no reference",
        EmptyReference = "the reference is empty",
        NoContinuation =
            "the story has neither a prompt nor a second sentence, so nothing continues a context",
        NoDirection = "the vector of a text is zero, so that it has no direction",
        NotFinite = "the weights of the head are too large for a finite number",
    }
}

#[derive(Clone)]
struct Ruber {
    description: Description,
    model: Arc<OpenModel>,
    card: Arc<Card>,
    /// Laid out once, for all batches and for the metric that knows the corpus.
    head: Arc<ReadyHead<Head>>,
    scale: Scale,
}

/// What the halves are scaled by.
#[derive(Clone, Copy)]
enum Scale {
    Raw,
    /// By the smallest and the largest value of each half in the input, which are not known yet.
    Unknown,
    /// By those of `r` and of `u`.
    Known([Extent; 2]),
}

impl Ruber {
    fn new(request: &Request<'_>) -> Result<Self, MetricError> {
        let model = OpenModel::for_metric(request, USUAL_NAME, Precision::F32)?;
        model.tokenizer(request.key)?;
        let (width, weights) = (model.model().config().hidden, model.model().fingerprint());
        if !model.path().join(CARD).is_file() {
            let why = format!("its folder has no {CARD}, which training RUBER writes");
            return Err(model.unfit(request.key, &why));
        }
        let (card, head) = Card::load(model.path(), width, weights).map_err(|problem| {
            MetricError::Failed { metric: request.key.to_owned(), source: problem.into() }
        })?;
        let union = request.has("union");
        let mut description = request.describe().width(WIDTH).in_batches().family(COLUMNS);
        description.needs.corpus = union;
        let ranges = match union {
            true => [Range::UNIT; 3],
            false => [Range::between(-1.0, 1.0), Range::UNIT, Range::between(-0.5, 1.0)],
        };
        for (column, range) in description.columns.iter_mut().zip(ranges) {
            column.range = range;
        }
        let scale = if union { Scale::Unknown } else { Scale::Raw };
        let (card, head) = (Arc::new(card), Arc::new(ReadyHead::new(head)));
        let mut metric = Self { description, model, card, head, scale };
        metric.description.signature = metric.signature();
        Ok(metric)
    }

    /// The metric that knows the corpus.
    fn knowing(self, extents: [Extent; 2]) -> Box<dyn Metric> {
        let mut metric = Self { scale: Scale::Known(extents), ..self };
        metric.description.signature = metric.signature();
        Box::new(metric)
    }

    fn signature(&self) -> Signature {
        let scale = match self.scale {
            Scale::Raw => "raw".to_owned(),
            Scale::Unknown => "min-max[0]".to_owned(),
            Scale::Known(extents) => format!("min-max[{}]", extents[0].count.max(extents[1].count)),
        };
        let head: String = self.card.head_sha256.chars().take(8).collect();
        self.model
            .sign(Signature::new("ruber"))
            .with("head", "h", head)
            .with("pooling", "pool", self.card.pooling.name())
            .with("names", "n", if self.card.delexicalise { "masked" } else { "kept" })
            .with("long", "l", format!("cut-{}", self.longest()))
            .with("refs", "r", "max")
            .with("scale", "sc", scale)
    }

    /// The most tokens of a text.
    fn longest(&self) -> usize {
        self.card.max_tokens.min(self.model.model().config().max_tokens())
    }

    /// The raw halves of each story, and whether a text of it is read only in part.
    fn halves(&self, stories: &[Prepared<'_>]) -> Result<Vec<(Halves, bool)>, MetricError> {
        let mask = self.card.delexicalise;
        let readings: Vec<(Reading, Vec<String>)> = stories
            .iter()
            .map(|story| {
                let references = story.references.iter();
                let references = references.map(|text| masked(text.text(), mask).into_owned());
                (Reading::of(story.story, mask), references.collect())
            })
            .collect();
        let mut texts: Vec<&str> = Vec::new();
        for (reading, references) in &readings {
            if references.iter().any(|text| !text.trim().is_empty()) {
                texts.push(&reading.text);
                texts.extend(references.iter().map(String::as_str));
            }
            if reading.is_whole() {
                texts.extend([reading.context.as_str(), &reading.continuation]);
            }
        }
        texts.retain(|text| !text.trim().is_empty());
        texts.sort_unstable();
        texts.dedup();
        let pools = [Pool::Max, Pool::Min, self.card.pooling];
        let at_once = self.model.tokens_at_once();
        let vectors = pooled(self.model.model(), &texts, self.longest(), at_once, &pools)
            .map_err(|error| failed(&self.description.key, error))?;
        let vectors: FxHashMap<&str, PooledText> = texts.into_iter().zip(vectors).collect();
        let related = self.related(&readings, &vectors);
        Ok(readings
            .iter()
            .zip(related)
            .map(|((reading, references), u)| {
                let own = [reading.text.as_str(), &reading.context, &reading.continuation];
                let read = own.into_iter().chain(references.iter().map(String::as_str));
                let is_cut = read.filter_map(|text| vectors.get(text)).any(|text| text.is_cut);
                let r = self.resemblance(reading, references, &vectors);
                let empty = reading.text.trim().is_empty();
                let halves = if empty { [Err(Why::EmptyStory); 2] } else { [r, u] };
                (halves, is_cut)
            })
            .collect())
    }

    /// `u` of each story.
    fn related(
        &self,
        readings: &[(Reading, Vec<String>)],
        vectors: &FxHashMap<&str, PooledText>,
    ) -> Vec<Result<f64, Why>> {
        let width = self.card.width;
        let (mut contexts, mut continuations) = (Vec::new(), Vec::new());
        for (reading, _) in readings.iter().filter(|(reading, _)| reading.is_whole()) {
            // The third vector of a text is the one that the head reads.
            contexts.extend(&vectors[reading.context.as_str()].vectors[2 * width..]);
            continuations.extend(&vectors[reading.continuation.as_str()].vectors[2 * width..]);
        }
        let forward = self.head.forward(&contexts, &continuations);
        let mut next = 0..;
        readings
            .iter()
            .map(|(reading, _)| match reading.is_whole() {
                true => next
                    .next()
                    .map(|example| forward.probability(example))
                    .filter(|probability| probability.is_finite())
                    .ok_or(Why::NotFinite),
                false => Err(Why::NoContinuation),
            })
            .collect()
    }

    /// `r` of a story: the largest cosine over its references.
    fn resemblance(
        &self,
        reading: &Reading,
        references: &[String],
        vectors: &FxHashMap<&str, PooledText>,
    ) -> Result<f64, Why> {
        if references.is_empty() {
            return Err(Why::NoReference);
        }
        let both = |text: &str| vectors.get(text).map(|text| &text.vectors[..2 * self.card.width]);
        let Some(story) = both(&reading.text) else { return Err(Why::EmptyReference) };
        let cosines = references.iter().filter_map(|text| Some(cosine(story, both(text)?)));
        let mut best = Err(Why::EmptyReference);
        for cosine in cosines {
            best = better(best, cosine.ok_or(Why::NoDirection), f64::max);
        }
        best
    }
}

/// `r` and `u` of a story.
type Halves = [Result<f64, Why>; 2];

impl Metric for Ruber {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let halves = self.halves(stories)?;
        let cut = halves.iter().filter(|(_, is_cut)| *is_cut).count() as u64;
        let values = halves.into_iter().flat_map(|([r, u], _)| {
            let [r, u] = match self.scale {
                Scale::Raw | Scale::Unknown => [r, u],
                Scale::Known([of_r, of_u]) => {
                    [r.map(|r| of_r.scaled(r)), u.map(|u| of_u.scaled(u))]
                }
            };
            let hybrid = r.and_then(|r| u.map(|u| f64::midpoint(r, u)));
            row([r, u, hybrid])
        });
        Ok(Rows::from_values(WIDTH, values.collect()).truncated(cut))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        row_values::<Why>(row, values);
    }

    fn survey(&self) -> Option<Box<dyn Survey>> {
        match self.scale {
            Scale::Unknown => {
                Some(Box::new(Extents { metric: self.clone(), seen: Mutex::default() }))
            }
            Scale::Raw | Scale::Known(_) => None,
        }
    }

    fn save_corpus(&self, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        let Scale::Known(extents) = self.scale else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        for extent in extents {
            out.u64(extent.count)?;
            out.f64(extent.least)?;
            out.f64(extent.most)?;
        }
        Ok(())
    }

    fn with_corpus(&self, input: &mut CorpusReader<'_>) -> io::Result<Box<dyn Metric>> {
        let mut extents = [Extent::default(); 2];
        for extent in &mut extents {
            let (count, least, most) = (input.u64()?, input.f64()?, input.f64()?);
            // Without a value, the bounds are infinite.
            if count > 0 && !(least.is_finite() && most.is_finite() && least <= most) {
                return Err(CorpusReader::wrong("the smallest and largest values are no range"));
            }
            if count > 0 {
                *extent = Extent { least, most, count };
            }
        }
        Ok(self.clone().knowing(extents))
    }
}

/// The first pass of the preset `union`: the smallest and the largest value of each half.
struct Extents {
    metric: Ruber,
    seen: Mutex<[Extent; 2]>,
}

impl Survey for Extents {
    fn add(&self, stories: &[Prepared<'_>]) -> Result<(), MetricError> {
        let halves = self.metric.halves(stories)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (halves, _) in halves {
            for (extent, value) in seen.iter_mut().zip(halves) {
                value.iter().for_each(|value| extent.add(*value));
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn Metric>, MetricError> {
        let seen = self.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(self.metric.knowing(seen))
    }
}

/// The smallest and the largest of some values, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Extent {
    least: f64,
    most: f64,
    count: u64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { least: f64::INFINITY, most: f64::NEG_INFINITY, count: 0 }
    }
}

impl Extent {
    fn add(&mut self, value: f64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        self.count += 1;
    }

    /// A value on the scale of UNION. If all values are the same, it is 0.
    fn scaled(&self, value: f64) -> f64 {
        (value - self.least) / (self.most - self.least + 1e-42)
    }
}

/// The cosine of two vectors, if both have a direction.
fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    (norms > 0.0 && norms.is_finite()).then(|| (dot(a, b) / norms).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_values_run_from_0_to_1_and_equal_ones_are_0() {
        let mut extent = Extent::default();
        [0.9, 0.95, 0.91].iter().for_each(|value| extent.add(*value));
        assert_eq!([0.9, 0.95].map(|value| extent.scaled(value)), [0.0, 1.0]);
        let mut single = Extent::default();
        single.add(0.5);
        assert_eq!(single.scaled(0.5), 0.0);
    }

    #[test]
    fn a_vector_of_zeros_has_no_cosine() {
        assert_eq!(cosine(&[3.0, 4.0], &[6.0, 8.0]), Some(1.0));
        assert_eq!(cosine(&[3.0, 4.0], &[0.0, 0.0]), None);
    }
}
