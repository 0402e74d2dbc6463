//! InfoLM: how far the words that a model expects differ in story and reference.
//!
//! A masked-word model guesses every word of a text from the words around it. The mean of its
//! guesses is a distribution over the vocabulary, which says what the text is about without
//! depending on the very words that were chosen. InfoLM compares these distributions.
//!
//! Definition: the model reads a text once per token, with that token hidden. `p_i` is the softmax
//! of its logits at token i, divided by the temperature T = 0.25. The distribution of the text is
//! the mean of the `p_i`, weighted by the idf of the hidden tokens. With p for the story and q for
//! the reference:
//!
//! ```text
//! fisher-rao = 2 * acos(sum of sqrt(p q))      (the default)
//! kl         = sum of p ln(p/q)
//! r-kl       = sum of q ln(q/p)
//! alpha      = 4 * (1 - sum of sqrt(p q))
//! renyi      = -2 * ln(sum of sqrt(p q))
//! beta       = 4/3 ln(sum of p^1.5) + 2/3 ln(sum of q^1.5) - 2 ln(sum of p q^0.5)
//! r-beta     = beta with p and q exchanged
//! ab         = 8 ln(sum of p^0.5) + 8 ln(sum of q^0.5) - 16 ln(sum of (p q)^0.25)
//! l1, l2, linf = the norms of p - q
//! ```
//!
//! The column is called after the measure: `infolm` gives `infolm/fisher-rao`, and `infolm:kl`
//! gives `infolm:kl/kl`. Measures that are asked for together share the work of the model.
//!
//! Signs: all measures are distances here, 0 for equal distributions and positive otherwise. The
//! released code and torchmetrics give `kl`, `r-kl` and `alpha` the opposite sign. Also,
//! torchmetrics calls `kl` what is `r-kl` here and in the released code.
//!
//! idf: `ln((N + 1) / (df + 1))`, counted over the whole input, in the stories for the story and in
//! the references for the reference. Tokens that are in every text weigh nothing. The score of a
//! story therefore depends on the other stories; `no-idf` weighs all tokens alike.
//!
//! Long texts are cut at the 512 tokens of the model, as in the released code, and counted as
//! truncated. The idf is that of the whole texts. `whole` hides every token of a long text, in
//! overlapping windows.
//!
//! Several references: the smallest distance.
//!
//! Many stories: the mean of their scores.
//!
//! Absent: if a text has no tokens, or if all its tokens weigh nothing. The latter happens to a
//! single story with its reference, to which the released code gives 0, the best possible value.
//!
//! Preset `hanna`: the columns of HANNA. They are `fisher-rao`, the same with the texts exchanged
//! (`r-fisher-rao`) and the mean of the two (`sim-fisher-rao`), and all three are equal. HANNA's
//! values for texts against themselves are up to 0.001 because the released code takes the arc
//! cosine in 32 bits; here they are 0.
//!
//! Cost: a text of 300 tokens is read 300 times.
//!
//! Model: `bert-base-uncased` with its head for masked words.
//!
//! Source: Colombo et al., AAAI 2022.
//!
//! Checked against: the definition in 64 bits on a tiny model, equal to 1e-6, and the released code
//! and torchmetrics 1.9, equal to 2e-5, which is their rounding. Lists of texts of different length
//! must not be given to torchmetrics: it compares texts that do not belong together.

mod measure;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use storymeter_core::{
    Choice, CorpusReader, CorpusWriter, Description, Direction, Entry, Metric, MetricError, Needs,
    Precision, Prepared, Range, Request, Resources, Rows, Signature, Survey, TextCache, Value,
};
use storymeter_encoder::{Head, Tokenizer};

use crate::absent::{self, reasons, row_values};
use crate::idf::{CorpusIdf, Idf, IdfSurvey, ReferenceDocument};
use crate::masked::{self, Masked};
use crate::models::{OpenModel, failed};
use crate::recent::Recent;
use crate::windows::{Window, windows};
use measure::Measure;

pub(crate) static ENTRY: Entry = Entry {
    ids: &["infolm"],
    choices: &[
        Choice::new("measure", "fisher-rao", "the angle between the distributions (the default)"),
        Choice::new("measure", "kl", "Kullback-Leibler divergence of story from reference"),
        Choice::new("measure", "r-kl", "Kullback-Leibler divergence of reference from story"),
        Choice::new("measure", "alpha", "alpha divergence, alpha = 0.5"),
        Choice::new("measure", "renyi", "Renyi divergence, alpha = 0.5"),
        Choice::new("measure", "beta", "beta divergence, beta = 0.5"),
        Choice::new("measure", "r-beta", "beta divergence with the texts exchanged"),
        Choice::new("measure", "ab", "AB divergence, alpha = beta = 0.25"),
        Choice::new("measure", "l1", "sum of the absolute differences"),
        Choice::new("measure", "l2", "Euclidean distance"),
        Choice::new("measure", "linf", "largest difference"),
        Choice::new("temperature", "temperature-N", "T in hundredths, such as 100 for T = 1"),
        Choice::new("weights", "no-idf", "all tokens weigh alike; the input is read once"),
        Choice::new("length", "whole", "long texts are read whole, in overlapping windows"),
        Choice::preset("hanna", "the three columns of HANNA"),
    ],
    direction: Direction::Lower,
    range: Range::NOT_NEGATIVE,
    needs: Needs { corpus: true, ..Needs::REFERENCE },
    source: include_str!("infolm.rs"),
    build: |request| Ok(Box::new(InfoLm::new(request)?)),
};

/// The usual name of the model.
const MODEL: &str = "bert-base-uncased";
/// The temperature of the released class, in hundredths.
const TEMPERATURE: usize = 25;
/// The special tokens at the start and at the end of a text.
const SPECIAL: usize = 2;
/// The most bytes of distributions of references that are kept across batches.
const KEPT_BYTES: usize = 256 << 20;
/// The number of entries of the vocabulary that one task adds up.
const ENTRIES_PER_TASK: usize = 2048;

reasons! {
    Gap {
        EmptyStory = "the story has no tokens",
        EmptyReference = "the reference has no tokens",
        WeightlessStory = "all tokens of the story have an idf of 0: every story has them",
        WeightlessReference =
            "all tokens of the reference have an idf of 0: every reference has them",
        Infinite = "the distance is infinite",
    }
}

/// Whether a text is a story or a reference. Each has its own idf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Story,
    Reference,
}

/// What is known of a text after the model has read it.
struct Expected {
    /// The expected words, or `None` if no token of the text has a weight.
    distribution: Option<Vec<f64>>,
    /// Whether the text has no tokens.
    empty: bool,
    /// Whether a part of the text was not read.
    cut: bool,
}

impl Expected {
    fn distribution(&self, side: Side) -> Result<&[f64], Gap> {
        let gap = match (side, self.empty) {
            (Side::Story, true) => Gap::EmptyStory,
            (Side::Reference, true) => Gap::EmptyReference,
            (Side::Story, false) => Gap::WeightlessStory,
            (Side::Reference, false) => Gap::WeightlessReference,
        };
        self.distribution.as_deref().ok_or(gap)
    }
}

#[derive(Clone)]
struct InfoLm {
    description: Description,
    measure: Measure,
    temperature: f64,
    uses_idf: bool,
    whole: bool,
    model: Arc<OpenModel>,
    marks: Marks,
    references: Arc<Mutex<Recent<Expected>>>,
    /// `None` until the first pass is over, or if all tokens weigh alike.
    idf: Option<Arc<CorpusIdf>>,
}

impl InfoLm {
    fn new(request: &Request<'_>) -> Result<Self, MetricError> {
        let wrong = |problem: String| MetricError::Failed {
            metric: request.key.to_owned(),
            source: problem.into(),
        };
        let model = OpenModel::for_metric(request, MODEL, Precision::F32)?;
        let tokenizer = model.tokenizer(request.key)?;
        let Some(marks) = Marks::of(tokenizer).filter(|_| model.model().has(Head::MaskedWord))
        else {
            return Err(wrong(format!("the model {} cannot predict hidden words", model.name())));
        };
        let references =
            request.resources.shared("infolm", || Ok(Mutex::new(Recent::new(KEPT_BYTES))))?;
        let measure = match request.chosen("measure") {
            Some(name) => Measure::ALL.into_iter().find(|measure| measure.name() == name),
            None => None,
        };
        let measure = measure.unwrap_or(Measure::FisherRao);
        let hundredths = request.number("temperature-N").unwrap_or(TEMPERATURE);
        if hundredths == 0 {
            return Err(wrong("a temperature of 0 is not possible".to_owned()));
        }
        let (uses_idf, whole) = (!request.has("no-idf"), request.has("whole"));
        let names = match request.has("hanna") {
            true => vec!["fisher-rao", "r-fisher-rao", "sim-fisher-rao"],
            false => vec![measure.name()],
        };
        let mut description =
            request.describe().family(names).range(measure.range()).width(2).in_batches();
        description.needs.corpus = uses_idf;
        let temperature = hundredths as f64 / 100.0;
        let mut metric = Self {
            description,
            measure,
            temperature,
            uses_idf,
            whole,
            model,
            marks,
            references,
            idf: None,
        };
        metric.description.signature = metric.signature();
        Ok(metric)
    }

    /// The metric that knows the corpus.
    fn knowing(mut self, idf: CorpusIdf) -> Box<dyn Metric> {
        self.idf = Some(Arc::new(idf));
        self.description.signature = self.signature();
        Box::new(self)
    }

    fn signature(&self) -> Signature {
        let idf = match (&self.idf, self.uses_idf) {
            (_, false) => "no".to_owned(),
            (None, true) => "stories[0]+references[0]".to_owned(),
            (Some(idf), true) => format!(
                "stories[{}]+references[{}]",
                idf.stories.documents(),
                idf.references.documents()
            ),
        };
        let longest = self.model.longest();
        let long = if self.whole { format!("windows-{longest}") } else { format!("cut-{longest}") };
        self.model
            .sign(Signature::new("infolm"))
            .with("measure", "me", self.measure.name())
            .with("temperature", "t", self.temperature)
            .with("idf", "idf", idf)
            .with("long", "l", long)
    }

    /// The weights of the tokens of one side, or `None` if all weigh alike.
    fn idf(&self, side: Side) -> Option<&Idf> {
        let idf = self.idf.as_deref()?;
        Some(match side {
            Side::Story => &idf.stories,
            Side::Reference => &idf.references,
        })
    }

    /// The name under which the distribution of a text is kept, so that several measures share it.
    fn kept_name(&self, side: Side) -> String {
        let idf = self.idf(side).map(Idf::documents);
        let (weights, path) = (self.model.model().fingerprint(), self.model.path().display());
        let (temperature, whole) = (self.temperature, self.whole);
        format!("infolm {path} {weights} {temperature} {side:?} {idf:?} {whole}")
    }

    /// The tokens of a text, without special tokens.
    fn tokens(&self, text: &str) -> Vec<u32> {
        // There was a tokeniser when the metric was built.
        let tokenizer = self.model.model().tokenizer().ok();
        tokenizer.map(|tokenizer| tokenizer.encode_plain(text)).unwrap_or_default()
    }

    /// What the model expects in each of these texts. Texts that were read before are not read
    /// again.
    fn expected(
        &self,
        texts: &[(&TextCache<'_>, Side)],
    ) -> Result<Vec<Arc<Expected>>, MetricError> {
        let names = [Side::Story, Side::Reference].map(|side| self.kept_name(side));
        let name = |side: Side| names[side as usize].as_str();
        let mut found: Vec<Option<Arc<Expected>>> = texts
            .iter()
            .map(|(text, side)| {
                text.recall(name(*side)).or_else(|| self.references().get(name(*side), text.text()))
            })
            .collect();
        // The same text may stand in several places.
        let mut places: BTreeMap<(&str, Side), Vec<usize>> = BTreeMap::new();
        for (place, (text, side)) in texts.iter().enumerate() {
            if found[place].is_none() {
                places.entry((text.text(), *side)).or_default().push(place);
            }
        }
        let missing: Vec<(&str, Side)> = places.keys().copied().collect();
        for ((places, (_, side)), expected) in
            places.values().zip(&missing).zip(self.read(&missing)?)
        {
            let expected = Arc::new(expected);
            let text = texts[places[0]].0.text();
            if *side == Side::Reference {
                let bytes = size_of_val(expected.distribution.as_deref().unwrap_or_default());
                self.references().keep((name(*side), text), &expected, bytes, || 0);
            }
            for &place in places {
                found[place] = Some(texts[place].0.keep(name(*side), Arc::clone(&expected)));
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    fn references(&self) -> MutexGuard<'_, Recent<Expected>> {
        self.references.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the model read texts, each once per token.
    fn read(&self, texts: &[(&str, Side)]) -> Result<Vec<Expected>, MetricError> {
        let plans: Vec<Plan> =
            texts.par_iter().map(|(text, side)| self.plan(text, *side)).collect();
        let vocabulary = self.model.model().config().vocabulary;
        let mut sums: Vec<Vec<f64>> = plans
            .iter()
            .map(|plan| if plan.total > 0.0 { vec![0.0; vocabulary] } else { Vec::new() })
            .collect();
        let copies = plans.iter().enumerate().flat_map(|(text, plan)| self.copies(text, plan));
        masked::predict(self.model.model(), copies, |copies: &[MaskedCopy], logits| {
            add_softmax(copies, logits, self.temperature, &mut sums);
        })
        .map_err(|error| failed(&self.description.key, error))?;
        let expected = |(plan, mut sum): (&Plan, Vec<f64>)| {
            sum.iter_mut().for_each(|p| *p /= plan.total);
            let distribution = (plan.total > 0.0).then_some(sum);
            Expected { distribution, empty: plan.tokens.is_empty(), cut: plan.cut }
        };
        Ok(plans.iter().zip(sums).map(expected).collect())
    }

    /// How a text is read.
    fn plan(&self, text: &str, side: Side) -> Plan {
        let tokens = self.tokens(text);
        let room = self.model.longest().saturating_sub(SPECIAL).max(1);
        let windows = match self.whole {
            true => windows(tokens.len(), room),
            false => {
                let kept = 0..tokens.len().min(room);
                vec![Window { read: kept.clone(), kept }]
            }
        };
        let idf = self.idf(side);
        let weights: Vec<f64> =
            tokens.iter().map(|&token| idf.map_or(1.0, |idf| idf.weight(token))).collect();
        let read = windows.last().map_or(0, |window| window.kept.end);
        let total = weights[..read].iter().sum();
        Plan { cut: read < tokens.len(), tokens, windows, weights, total }
    }

    /// The copies of a text in which one token is hidden. Tokens without weight are left out.
    fn copies<'a>(&'a self, text: usize, plan: &'a Plan) -> impl Iterator<Item = MaskedCopy> + 'a {
        plan.windows.iter().flat_map(move |Window { read, kept }| {
            let weighty = kept.clone().filter(|&at| plan.weights[at] > 0.0);
            weighty.map(move |at| {
                let place = 1 + at - read.start;
                let mut ids = Vec::with_capacity(read.len() + SPECIAL);
                ids.push(self.marks.start);
                ids.extend_from_slice(&plan.tokens[read.clone()]);
                ids.push(self.marks.end);
                ids[place] = self.marks.mask;
                let masked = Masked { ids, hidden: vec![place] };
                MaskedCopy { text, weight: plan.weights[at], masked }
            })
        })
    }

    /// The distance of a story from the nearest of its references.
    fn distance(&self, story: &Expected, references: &[Arc<Expected>]) -> Result<f64, Gap> {
        let p = story.distribution(Side::Story)?;
        let mut nearest = Err(Gap::EmptyReference);
        for (number, reference) in references.iter().enumerate() {
            let distance = reference.distribution(Side::Reference).and_then(|q| {
                let distance = self.measure.between(p, q);
                if distance.is_finite() { Ok(distance) } else { Err(Gap::Infinite) }
            });
            nearest = match (nearest, distance) {
                (Ok(old), Ok(new)) => Ok(f64::min(old, new)),
                (Ok(old), Err(_)) => Ok(old),
                (Err(_), Ok(new)) => Ok(new),
                // The reason is that of the first reference.
                (Err(old), Err(new)) => Err(if number == 0 { new } else { old }),
            };
        }
        nearest
    }
}

/// The special tokens of a model.
#[derive(Clone, Copy)]
struct Marks {
    start: u32,
    end: u32,
    mask: u32,
}

impl Marks {
    /// The special tokens of a vocabulary, if it has them all.
    fn of(tokenizer: &Tokenizer) -> Option<Self> {
        Some(Self { start: tokenizer.start()?, end: tokenizer.end()?, mask: tokenizer.mask()? })
    }
}

/// How a text is read.
struct Plan {
    tokens: Vec<u32>,
    windows: Vec<Window>,
    /// The weight of each token.
    weights: Vec<f64>,
    /// The sum of the weights of the tokens that are read.
    total: f64,
    /// Whether a part of the text is not read.
    cut: bool,
}

/// A text in which one token is hidden.
struct MaskedCopy {
    text: usize,
    weight: f64,
    masked: Masked,
}

impl AsRef<Masked> for MaskedCopy {
    fn as_ref(&self) -> &Masked {
        &self.masked
    }
}

/// Adds the softmax of the logits of each copy, times its weight, to the sum of its text.
///
/// The copies of a text are added in order, so that the sums do not depend on threads and batches.
fn add_softmax(copies: &[MaskedCopy], logits: &[&[f32]], temperature: f64, sums: &mut [Vec<f64>]) {
    let scaled: Vec<(f32, f64)> = copies
        .par_iter()
        .zip(logits)
        .map(|(copy, logits)| {
            let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let total: f64 =
                logits.iter().map(|logit| softmax_term(*logit, top, temperature)).sum();
            (top, copy.weight / total)
        })
        .collect();
    let mut number = 0;
    for group in copies.chunk_by(|one, next| one.text == next.text) {
        let numbers = number..number + group.len();
        number = numbers.end;
        let sum = &mut sums[group[0].text];
        sum.par_chunks_mut(ENTRIES_PER_TASK).enumerate().for_each(|(task, part)| {
            for number in numbers.clone() {
                let (top, factor) = scaled[number];
                let logits = &logits[number][task * ENTRIES_PER_TASK..][..part.len()];
                for (sum, logit) in part.iter_mut().zip(logits) {
                    *sum += factor * softmax_term(*logit, top, temperature);
                }
            }
        });
    }
}

fn softmax_term(logit: f32, top: f32, temperature: f64) -> f64 {
    ((f64::from(logit) - f64::from(top)) / temperature).exp()
}

impl Metric for InfoLm {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        if self.uses_idf && self.idf.is_none() {
            return Err(MetricError::NoCorpus { metric: self.description.key.clone() });
        }
        let texts: Vec<(&TextCache<'_>, Side)> = stories
            .iter()
            .flat_map(|story| {
                let references = story.references.iter().map(|text| (&**text, Side::Reference));
                std::iter::once((&*story.text, Side::Story)).chain(references)
            })
            .collect();
        let expected = self.expected(&texts)?;
        let mut expected = expected.as_slice();
        let mut cut = 0;
        let rows = Rows::each(stories, 2, |story, row| {
            let (own, later) = expected.split_at(1 + story.references.len());
            expected = later;
            cut += u64::from(own.iter().any(|text| text.cut));
            let numbers = absent::row([self.distance(&own[0], &own[1..])]);
            row.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
        });
        Ok(rows.truncated(cut))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        // The columns of the preset differ only in the order of the texts, which does not matter.
        row_values::<Gap>(row, &mut values[..1]);
        let first = values[0].clone();
        values.fill(first);
    }

    fn survey(&self) -> Option<Box<dyn Survey>> {
        if !self.uses_idf {
            return None;
        }
        let (reader, metric) = (self.clone(), self.clone());
        let survey = IdfSurvey::new(
            self.model.model().config().vocabulary,
            ReferenceDocument::Each,
            move |text| reader.tokens(text.text()),
            move |idf| metric.knowing(idf),
        );
        Some(Box::new(survey))
    }

    fn save_corpus(&self, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        match &self.idf {
            Some(idf) => idf.save(out),
            None => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn with_corpus(&self, input: &mut CorpusReader<'_>) -> io::Result<Box<dyn Metric>> {
        Ok(self.clone().knowing(CorpusIdf::load(input)?))
    }
}
