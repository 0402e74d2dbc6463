//! `union`: how likely the story is a whole one, as a human would write it.
//!
//! The judge is a model that was trained to tell human stories from damaged ones.
//!
//! Definition: an encoder of the BERT family reads `[CLS] story [SEP]`. A linear layer on the
//! vector of the story gives a logit, and its calibrated sigmoid is the score (Guan and Huang,
//! EMNLP 2020, equations 1 and 2):
//!
//! ```text
//! union = sigmoid((w . h + b - bias) / temperature - repetition * repeated)
//! ```
//!
//! Temperature and bias are fitted on held-out stories after training, because the raw sigmoid
//! saturates. The temperature of the embedded model is twice the fitted one. `repeated` is the
//! share of a window's word pieces that occurred in it before, beyond 0.25. The card of the model
//! says what it costs: 0 unless the model was packed with another value, and 2 for the embedded
//! model.
//!
//! Stories longer than the model's window are read in overlapping windows that end at sentence
//! ends. The logit is their mean, weighted by tokens.
//!
//! Needs: the story. Its prompt is read before it by models that were trained on stories with
//! prompts. The embedded model was not, and agrees better with readers without a prompt
//! (docs/experiments.md, section 6).
//!
//! Before a story is read, quotes, words cut by tokenisers and names are made alike, as far as the
//! card of the model says so. A story without a letter or digit scores 0.
//!
//! Model: the one that is part of the program (`storymeter model show union-compact`), or one that
//! the user names: a folder written by `storymeter train`, a model file, or an installed model.
//!
//! Direction: higher is better. Range: 0 to 1.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use storymeter_core::{
    Depth, Description, DeviceProblem, Direction, Entry, Explained, Metric, MetricError, Needs,
    Precision, Prepared, Range, Rationale, Request, Resources, Rows, Story, Value, finite_or,
};

#[cfg(feature = "cuda")]
use crate::GpuPrecision;
use crate::opened::Opened;
use crate::{EmbeddedModel, Error, Explanation, Kind, Location, UnionScorer};

/// The entry of the learned metric in the catalogue.
///
/// Its model is the one that [`Settings::weights`](storymeter_core::Settings::weights) names under
/// `union` (a path, or the name of an installed model), and the embedded one where none is named.
pub static ENTRY: Entry = Entry {
    ids: &["union"],
    choices: &[],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs::STORY,
    source: include_str!("metric.rs"),
    build: |request| {
        let scorer = open(request, Kind::Union)?;
        let description = request.describe().in_batches().explains();
        let mut description = description.signature(scorer.signature());
        scorer.model.card.describe(&mut description.columns);
        Ok(Box::new(HumanScore { scorer, description }))
    },
};

/// The score of a model that tells human stories from others, as a [`Metric`] like any other. It
/// explains itself if its description says so.
pub(crate) struct HumanScore {
    pub scorer: Arc<UnionScorer>,
    pub description: Description,
}

/// Opens the model of a metric that tells human stories from others once, whoever asks for it.
pub(crate) fn open(request: &Request<'_>, kind: Kind) -> Result<Arc<UnionScorer>, MetricError> {
    request.resources.shared(kind.metric(), || {
        let model = open_model(request, kind)?;
        UnionScorer::new(model).map_err(|error| metric_error(request.key, error))
    })
}

/// Opens the model of a metric on the device and in the precision of the settings.
pub(crate) fn open_model(request: &Request<'_>, kind: Kind) -> Result<Opened, MetricError> {
    let settings = request.resources.settings();
    let failed = |error| metric_error(request.key, error);
    let location = match (settings.weights.get(kind.metric()), kind) {
        (Some(named), _) => named_model(named).map_err(failed)?,
        (None, Kind::Union) => Location::Embedded(EmbeddedModel::Union),
        (None, Kind::Criteria) => Location::Embedded(EmbeddedModel::Criteria),
        (None, Kind::DisScore) => {
            return Err(MetricError::NoWeights {
                metric: request.key.to_owned(),
                files: "the folder of a discriminator that was trained on human and machine \
                        stories"
                    .to_owned(),
                name: kind.metric().to_owned(),
                searched: Vec::new(),
            });
        }
    };
    let precision = settings.precision.unwrap_or(Precision::Int8);
    let opened = match (settings.device.gpu(), precision) {
        (None, Precision::Int8) => location.open(crate::Precision::Int8),
        (None, Precision::F32) => location.open(crate::Precision::F32),
        (None, Precision::F16 | Precision::Bf16) => {
            return Err(MetricError::Device {
                metric: request.key.to_owned(),
                problem: DeviceProblem::Precision,
                message: "f16 and bf16 are computed on a GPU only".to_owned(),
            });
        }
        #[cfg(feature = "cuda")]
        (Some(gpu), precision) => location.open_on_gpu(gpu, on_gpu(precision)),
        #[cfg(not(feature = "cuda"))]
        (Some(_), _) => {
            return Err(MetricError::Device {
                metric: request.key.to_owned(),
                problem: DeviceProblem::Missing,
                message: "this build cannot compute on a GPU".to_owned(),
            });
        }
    };
    opened.and_then(|opened| opened.of_kind(&[kind])).map_err(failed)
}

fn named_model(named: &Path) -> Result<Location, Error> {
    match named.to_str() {
        Some(typed) => Location::find(typed),
        None => Ok(Location::Path(named.to_owned())),
    }
}

#[cfg(feature = "cuda")]
fn on_gpu(precision: Precision) -> GpuPrecision {
    match precision {
        Precision::Int8 => GpuPrecision::Int8,
        Precision::F16 => GpuPrecision::F16,
        Precision::Bf16 => GpuPrecision::Bf16,
        Precision::F32 => GpuPrecision::F32,
    }
}

pub(crate) fn metric_error(metric: &str, error: Error) -> MetricError {
    use storymeter_encoder::{DeviceError, Error as EncoderError};
    let metric_name = metric.to_owned();
    match error {
        Error::File(error) => error.into(),
        Error::Encoder(EncoderError::Overflow { .. }) => {
            MetricError::Overflow { metric: metric_name, message: error.to_string() }
        }
        Error::Encoder(EncoderError::Device(device)) => {
            let problem = match device {
                DeviceError::OutOfMemory { .. } => DeviceProblem::OutOfMemory,
                DeviceError::NoDriver | DeviceError::NoGpu { .. } => DeviceProblem::Missing,
                _ => DeviceProblem::Driver,
            };
            MetricError::Device { metric: metric_name, problem, message: device.to_string() }
        }
        error => MetricError::Failed { metric: metric_name, source: Box::new(error) },
    }
}

/// The probabilities of stories. What another metric has already computed with this model is not
/// computed again.
pub(crate) fn probabilities(
    scorer: &UnionScorer,
    stories: &[Prepared<'_>],
) -> Result<Vec<f64>, Error> {
    let signature = scorer.signature().to_string();
    // Texts are shared by stories that have the same one, but may be split or begun in other ways.
    let is_text_alone = |story: &Story| story.sentences.is_empty() && !scorer.card().prompts;
    let known = |story: &Prepared<'_>| match is_text_alone(story.story) {
        true => story.text.recall::<f64>(&signature),
        false => None,
    };
    let mut found: Vec<Option<f64>> = stories.iter().map(|own| known(own).map(|x| *x)).collect();
    let remaining: Vec<usize> = (0..stories.len()).filter(|at| found[*at].is_none()).collect();
    let texts: Vec<&Story> = remaining.iter().map(|at| stories[*at].story).collect();
    for (at, score) in remaining.into_iter().zip(scorer.score(&texts)?) {
        if is_text_alone(stories[at].story) {
            stories[at].text.keep(&signature, Arc::new(score.probability));
        }
        found[at] = Some(score.probability);
    }
    Ok(found.into_iter().flatten().collect())
}

impl HumanScore {
    fn failed(&self, error: Error) -> MetricError {
        metric_error(&self.description.key, error)
    }
}

impl Metric for HumanScore {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let probabilities = probabilities(&self.scorer, stories);
        Ok(Rows::from_values(1, probabilities.map_err(|error| self.failed(error))?))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        values[0] = finite_or(row[0], "the model gives no finite number");
    }

    /// An explanation contains the score, so the model does not read the stories again for it.
    fn explain(
        &self,
        stories: &[Prepared<'_>],
        depth: Depth,
        _: &Resources,
    ) -> Result<Option<Explained>, MetricError> {
        if !self.description.explains {
            return Ok(None);
        }
        let explain = |story: &Prepared<'_>| {
            if depth == Depth::All {
                self.scorer.explain_every_sentence(story.story)
            } else {
                self.scorer.explain(story.story)
            }
        };
        let explanations: Vec<Explanation> = stories
            .par_iter()
            .map(explain)
            .collect::<Result<_, _>>()
            .map_err(|error| self.failed(error))?;
        let scores = explanations.iter().map(|explanation| explanation.union).collect();
        Ok(Some(Explained {
            rows: Rows::from_values(1, scores),
            rationales: explanations
                .into_iter()
                .map(|explanation| Box::new(explanation) as Box<dyn Rationale>)
                .collect(),
        }))
    }
}
