//! What is learned: the ratings of stories, and whether stories are damaged.

use std::io::Write;

use serde_json::{Map, Value};
use storymeter_core::{AtomicFile, Place};
use storymeter_encoder::train::{Backend, ForwardOptions, LabelLoss, Network, Selection};
use storymeter_encoder::{Batch, Tensor, portions};
use storymeter_stats::correlation::pearson;
use storymeter_union::criteria::{CriteriaCard, Criterion, HeldOut, SentenceModel, UnionShare};
use storymeter_union::{Card, Heads, Model, TrainingRecord};

use super::rated::{OVERALL, Prepared, Rated};
use super::{HELD_OUT, Job};
use crate::Result;
use crate::fine_tune::{Quality, Task};

/// About how many tokens go through the network at once where nothing is learned.
const TOKENS_AT_ONCE: usize = 16 << 10;

/// The numbers of the sums of losses.
const RATINGS: usize = 0;
const DAMAGE: usize = 1;

/// The numbers of the tensors of the heads: weight and bias of the criteria, and of the head for
/// damage, which may not be there.
const CRITERIA: [usize; 2] = [0, 1];
const WHOLE: [usize; 2] = [2, 3];

/// A text as the network reads it, and what it learns from it.
pub(super) struct Example {
    pub ids: Vec<u32>,
    pub lesson: Lesson,
}

/// What is learned from a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lesson {
    /// The ratings of the story with this number.
    Ratings {
        story: usize,
        /// The share of this window in the story.
        share: f32,
    },
    /// Whether it is whole.
    Damage { whole: bool },
}

/// The tokens of a story, to predict its ratings.
pub(super) struct Reading {
    /// The number of the story.
    pub story: usize,
    pub windows: Vec<Vec<u32>>,
}

/// All that is learned in a run.
pub(super) struct Lessons<'a> {
    pub job: &'a Job<'a>,
    pub rated: Prepared<'a>,
    pub examples: Vec<Example>,
    pub dev: Vec<Reading>,
    pub left_out: Vec<Reading>,
    /// The card of the model, without the record of the training.
    pub card: Card,
    pub tokenizer_files: Vec<(&'static str, Vec<u8>)>,
    /// Whether there is a head for damage.
    pub has_damage: bool,
    /// What UNION says about every rated story in standard units, if that counts.
    pub union: Option<(UnionShare, Vec<f64>)>,
    /// The sentence encoder of the model, if it has one.
    pub sentences: Option<SentenceModel>,
    /// How close each story that was left out is to its prompt, as far as that is known.
    pub closeness: Vec<Option<f64>>,
}

impl Lessons<'_> {
    /// Computes with rounded weights, if the model will have them.
    fn rounded<B: Backend, R>(
        &self,
        network: &mut Network<B>,
        work: impl FnOnce(&mut Network<B>) -> Result<R>,
    ) -> Result<R> {
        let Some(grid) = self.job.settings.grid() else { return work(network) };
        network.round(grid);
        let result = work(network);
        network.restore();
        result
    }

    /// The outputs of the heads for each story: the means over its windows, weighted by tokens.
    fn predict<B: Backend>(
        &self,
        network: &Network<B>,
        readings: &[Reading],
    ) -> Result<Vec<Vec<f64>>> {
        let heads = self.heads(&network.heads()?);
        let texts: Vec<&[u32]> =
            readings.iter().flat_map(|reading| &reading.windows).map(Vec::as_slice).collect();
        let mut pooled = pooled(network, &texts)?.into_iter();
        let width = network.config().hidden;
        let predict = |Reading { windows, .. }: &Reading| {
            let lengths = windows.iter().map(|ids| ids.len() as f64);
            let windows: Vec<(f64, Vec<f32>)> = lengths.zip(pooled.by_ref()).collect();
            mapped(&windows, &heads.criteria, &heads.criteria_bias, width)
        };
        Ok(readings.iter().map(predict).collect())
    }

    /// How much UNION's score counts in a head.
    fn share(&self, head: &str) -> f64 {
        let settings = self.job.settings;
        if head == OVERALL { settings.union_share_overall } else { settings.union_share }
    }

    /// The heads of a network as scoring uses them.
    fn heads(&self, tensors: &[Tensor]) -> Heads {
        let data = |at: usize| tensors[at].data.clone();
        let mut heads = Heads {
            criteria: data(CRITERIA[0]),
            criteria_bias: data(CRITERIA[1]),
            ..Heads::default()
        };
        if self.has_damage {
            heads.score = data(WHOLE[0]);
            heads.score_bias = data(WHOLE[1]).first().copied().unwrap_or_default();
        }
        heads
    }

    /// Writes what the model says about the stories that were left out.
    fn write_held_out<B: Backend>(&self, network: &mut Network<B>) -> Result<()> {
        let predictions = self.rounded(network, |network| self.predict(network, &self.left_out))?;
        let path = self.job.out.join(HELD_OUT);
        let io = |error| storymeter_core::Error::io(Place::file(&path), error);
        let mut file = AtomicFile::create(&path)?;
        let heads = &self.rated.heads;
        let left_out = self.left_out.iter().zip(&self.closeness);
        for ((reading, cosine), mut outputs) in left_out.zip(predictions) {
            if let Some((_, union)) = &self.union {
                let shares = heads.iter().map(|name| self.share(name));
                let own = shares.map(|share| share * union[reading.story]);
                outputs.iter_mut().zip(own).for_each(|(output, own)| *output += own);
            }
            let Rated { set, story, ratings, .. } = &self.rated.stories[reading.story];
            let ratings = heads.iter().cloned().zip(ratings.iter().copied());
            let line = HeldOut {
                set: self.job.sets[*set].name.to_owned(),
                id: story.id.clone(),
                item: story.item().to_owned(),
                system: story.system.clone(),
                raw: heads.iter().cloned().zip(outputs).collect(),
                cosine: *cosine,
                rating: ratings.filter_map(|(head, rating)| Some((head, rating?))).collect(),
            };
            let line = serde_json::to_string(&line).unwrap_or_default();
            writeln!(file, "{line}").map_err(io)?;
        }
        Ok(file.commit()?)
    }
}

impl Task for Lessons<'_> {
    fn examples(&self) -> usize {
        self.examples.len()
    }

    fn dev_examples(&self) -> usize {
        self.dev.len()
    }

    fn keeps_last_epoch(&self) -> bool {
        self.job.settings.dev_share == 0.0
    }

    fn tokens(&self, example: usize) -> usize {
        self.examples[example].ids.len()
    }

    fn learn<B: Backend>(
        &self,
        network: &mut Network<B>,
        examples: &[usize],
        options: ForwardOptions,
    ) -> Result<()> {
        let examples: Vec<&Example> =
            examples.iter().map(|number| &self.examples[*number]).collect();
        let batch: Batch = examples.iter().map(|example| example.ids.as_slice()).collect();
        let each = 1.0 / examples.len() as f32;
        self.rounded(network, |network| {
            let trace = network.forward(&batch, options)?;
            let mut states = network.states(&trace);
            let damage = self.has_damage.then_some((WHOLE, DAMAGE));
            for ([weight, bias], loss) in [(CRITERIA, RATINGS)].into_iter().chain(damage) {
                let head = network.head(weight, bias);
                let (mut labels, mut weights) = (Vec::new(), Vec::new());
                for example in &examples {
                    self.labels(example.lesson, loss, head.outputs, &mut labels, &mut weights);
                }
                weights.iter_mut().for_each(|weight| *weight *= each);
                let kind = match loss {
                    DAMAGE => LabelLoss::CrossEntropy,
                    _ => LabelLoss::SquaredError,
                };
                let labels = (&labels[..], &weights[..]);
                network.label_loss(&mut states, head, Selection::StoryMeans, labels, kind, loss);
            }
            let gradient = states.into_gradient();
            network.backward(trace, gradient);
            Ok(())
        })
    }

    /// The mean squared error over the dev stories and their heads, and Pearson's correlation of
    /// the head for all criteria.
    fn evaluate<B: Backend>(&self, network: &mut Network<B>) -> Result<Quality> {
        let predictions = self.rounded(network, |network| self.predict(network, &self.dev))?;
        let (mut sum, mut weights) = (0.0, 0.0);
        let (mut said, mut wanted) = (Vec::new(), Vec::new());
        for (reading, outputs) in self.dev.iter().zip(&predictions) {
            let Rated { targets, weight, .. } = &self.rated.stories[reading.story];
            let weight = f64::from(*weight);
            for ((target, output), head) in targets.iter().zip(outputs).zip(&self.rated.heads) {
                let Some(target) = target.map(f64::from) else { continue };
                sum += weight * (output - target).powi(2);
                weights += weight;
                if head == OVERALL {
                    said.push(*output);
                    wanted.push(target);
                }
            }
        }
        let loss = if weights > 0.0 { sum / weights } else { 0.0 };
        let mut quality = Quality::of_loss(loss);
        if let Ok(found) = pearson(&said, &wanted)
            && found.coefficient.is_finite()
        {
            quality.figures.insert("pearson".to_owned(), found.coefficient);
        }
        Ok(quality)
    }

    fn save<B: Backend>(&self, network: &mut Network<B>, record: Map<String, Value>) -> Result<()> {
        if !self.left_out.is_empty() {
            self.write_held_out(network)?;
        }
        let criteria = self.rated.heads.iter();
        let criteria = criteria.map(|name| Criterion {
            name: name.clone(),
            union: self.share(name),
            calibration: None,
        });
        let card = Card {
            criteria: Some(CriteriaCard {
                heads: criteria.collect(),
                training: self.rated.sets.clone(),
                union: self.union.as_ref().map(|(share, _)| share.clone()),
                ..CriteriaCard::default()
            }),
            training: TrainingRecord::new(record),
            ..self.card.clone()
        };
        let model = Model {
            config: network.config().clone(),
            parameters: network.parameters()?,
            heads: self.heads(&network.heads()?),
            card,
            tokenizer_files: self.tokenizer_files.clone(),
            sentences: self.sentences.clone(),
        };
        Ok(model.save(self.job.out)?)
    }
}

impl Lessons<'_> {
    /// Adds the labels of an example for one of the heads, and their weights. A label that the
    /// example does not have weighs nothing.
    fn labels(
        &self,
        lesson: Lesson,
        loss: usize,
        outputs: usize,
        labels: &mut Vec<f32>,
        weights: &mut Vec<f32>,
    ) {
        let settings = self.job.settings;
        match lesson {
            Lesson::Ratings { story, share } if loss == RATINGS => {
                let Rated { targets, weight, .. } = &self.rated.stories[story];
                // A story with few criteria counts as much as one with many.
                let count = targets.iter().flatten().count().max(1) as f32;
                for target in targets {
                    labels.push(target.unwrap_or_default());
                    weights.push(target.map_or(0.0, |_| weight * share / count));
                }
            }
            Lesson::Damage { whole } if loss == DAMAGE => {
                labels.push(f32::from(u8::from(whole)));
                weights.push(settings.damage_weight as f32);
            }
            _ => {
                labels.extend(std::iter::repeat_n(0.0, outputs));
                weights.extend(std::iter::repeat_n(0.0, outputs));
            }
        }
    }
}

/// The mean vector of each text.
fn pooled<B: Backend>(network: &Network<B>, texts: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
    let (backend, width) = (network.backend(), network.config().hidden);
    let mut vectors = Vec::with_capacity(texts.len());
    for now in portions(texts, TOKENS_AT_ONCE, |ids| ids.len()) {
        let batch: Batch = now.iter().copied().collect();
        let hidden = network.encode(&batch)?;
        let means = backend.story_means(&hidden, &backend.stories(batch.bounds()), width);
        vectors.extend(backend.download(&means)?.chunks_exact(width).map(<[f32]>::to_vec));
    }
    Ok(vectors)
}

/// The outputs of a linear map: the mean over windows, weighted by their tokens.
fn mapped(windows: &[(f64, Vec<f32>)], weight: &[f32], bias: &[f32], width: usize) -> Vec<f64> {
    let tokens: f64 = windows.iter().map(|(tokens, _)| tokens).sum();
    let output = |(row, bias): (&[f32], &f32)| -> f64 {
        let dot = |vector: &[f32]| -> f64 {
            vector.iter().zip(row).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum()
        };
        let sum: f64 = windows.iter().map(|(tokens, vector)| tokens * dot(vector)).sum();
        sum / tokens + f64::from(*bias)
    };
    weight.chunks_exact(width).zip(bias).map(output).collect()
}
