//! What is learned: the ratings of stories, and whether stories are damaged.

use std::collections::BTreeMap;
use std::io::Write;
use std::iter::{repeat, repeat_n};
use std::ops::Range;

use serde_json::{Map, Value};
use storymeter_core::{AtomicFile, Place, Story};
use storymeter_encoder::train::{Backend, ForwardOptions, LabelLoss, Network, Selection};
use storymeter_encoder::{Batch, Tensor, portions};
use storymeter_stats::correlation::pearson;
use storymeter_union::criteria::{
    CriteriaCard, CriteriaScorer, Criterion, HeldOut, SentenceModel, UnionShare,
};
use storymeter_union::{Card, Heads, Model, Precision, TrainingRecord};

use super::preference::{self, Compared};
use super::rated::{OVERALL, Prepared, Rated};
use super::{HELD_OUT, Job};
use crate::Result;
use crate::fine_tune::{Quality, Task};

/// About how many tokens go through the network at once where nothing is learned.
const TOKENS_AT_ONCE: usize = 16 << 10;

/// The numbers of the sums of losses.
const RATINGS: usize = 0;
const DAMAGE: usize = 1;
const PREFERENCES: usize = 2;
const SENTENCES: usize = 3;

/// The tensors of the heads: weight and bias of the criteria, of the head for damage, and of the
/// one that learns sentence vectors. The last two may not be there.
const CRITERIA: &str = "criteria";
const WHOLE: &str = "score";
const SENTENCE: &str = "sentence";

/// Texts that the network reads at once, and what it learns from them.
pub(super) struct Example {
    pub texts: Vec<Text>,
    pub lesson: Lesson,
}

/// A window as the network reads it.
pub(super) struct Text {
    pub ids: Vec<u32>,
    /// Where it is in the story.
    pub place: Range<usize>,
    /// The sentence vector that the network shall give it. It is empty if it learns none.
    pub vector: Vec<f32>,
}

/// What is learned from some texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Lesson {
    /// The ratings of the story with this number, from one of its windows.
    Ratings {
        story: usize,
        /// The share of this window in the story.
        share: f32,
    },
    /// Which of the stories of an item were preferred.
    Preferences {
        /// The numbers of the stories, and for each its windows: their places among the texts,
        /// and their shares in the story.
        stories: Vec<(usize, Vec<(usize, f32)>)>,
    },
    /// Whether the text is whole.
    Damage { whole: bool },
}

impl Lesson {
    /// The number of the story that a text is from, if it is rated.
    pub fn story_of(&self, text: usize) -> Option<usize> {
        match self {
            Self::Ratings { story, .. } => Some(*story),
            Self::Preferences { stories } => {
                let has = |windows: &[(usize, f32)]| windows.iter().any(|(at, _)| *at == text);
                stories.iter().find(|(_, windows)| has(windows)).map(|(story, _)| *story)
            }
            Self::Damage { .. } => None,
        }
    }
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
        let heads = self.heads(network.heads()?);
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
    fn heads(&self, tensors: Vec<Tensor>) -> Heads {
        let mut data: BTreeMap<String, Vec<f32>> =
            tensors.into_iter().map(|tensor| (tensor.name, tensor.data)).collect();
        let mut take = |name: &str| {
            let [weight, bias] = parts(name);
            [weight, bias].map(|name| data.remove(&name).unwrap_or_default())
        };
        let [criteria, criteria_bias] = take(CRITERIA);
        let [score, score_bias] = take(WHOLE);
        let [sentence, sentence_bias] = take(SENTENCE);
        Heads {
            criteria,
            criteria_bias,
            score,
            score_bias: score_bias.first().copied().unwrap_or_default(),
            sentence,
            sentence_bias,
            ..Heads::default()
        }
    }

    /// How close the stories that were left out are to their prompts, by the sentence vectors that
    /// the saved model makes.
    fn own_closeness(&self) -> Result<Vec<Option<f64>>> {
        let scorer = CriteriaScorer::load(self.job.out, Precision::Int8)?;
        let story = |reading: &Reading| self.rated.stories[reading.story].story;
        let stories: Vec<&Story> = self.left_out.iter().map(story).collect();
        Ok(scorer.closeness(&stories)?)
    }

    /// Writes what the model says about the stories that were left out.
    fn write_held_out<B: Backend>(&self, network: &mut Network<B>) -> Result<()> {
        let predictions = self.rounded(network, |network| self.predict(network, &self.left_out))?;
        let path = self.job.out.join(HELD_OUT);
        let io = |error| storymeter_core::Error::io(Place::file(&path), error);
        let mut file = AtomicFile::create(&path)?;
        let heads = &self.rated.heads;
        let closeness = match network.head_named(SENTENCE) {
            Some(_) => self.own_closeness()?,
            None => self.closeness.clone(),
        };
        let left_out = self.left_out.iter().zip(&closeness);
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
        self.examples[example].texts.iter().map(|text| text.ids.len()).sum()
    }

    fn learn<B: Backend>(
        &self,
        network: &mut Network<B>,
        examples: &[usize],
        options: ForwardOptions,
    ) -> Result<()> {
        let examples: Vec<&Example> =
            examples.iter().map(|number| &self.examples[*number]).collect();
        let texts = || examples.iter().flat_map(|example| &example.texts);
        let batch: Batch = texts().map(|text| text.ids.as_slice()).collect();
        let each = 1.0 / examples.len() as f32;
        let means = Selection::StoryMeans;
        self.rounded(network, |network| {
            let trace = network.forward(&batch, options)?;
            let mut states = network.states(&trace);
            for (name, loss, kind) in [
                (CRITERIA, RATINGS, LabelLoss::SquaredError),
                (WHOLE, DAMAGE, LabelLoss::CrossEntropy),
                (SENTENCE, SENTENCES, LabelLoss::SquaredError),
            ] {
                let Some(head) = network.head_named(name) else { continue };
                let (mut labels, mut weights) = (Vec::new(), Vec::new());
                for example in &examples {
                    self.labels(example, (loss, head.outputs), &mut labels, &mut weights);
                }
                weights.iter_mut().for_each(|weight| *weight *= each);
                let labels = (&labels[..], &weights[..]);
                network.label_loss(&mut states, head, means, labels, kind, loss);
            }
            let compared = self.compared(&examples, each);
            if let Some(head) = network.head_named(CRITERIA).filter(|_| !compared.is_empty()) {
                network.host_loss(&mut states, head, means, PREFERENCES, |outputs| {
                    preference::loss(outputs, head.outputs, &compared)
                })?;
            }
            let gradient = states.into_gradient();
            network.backward(trace, gradient);
            Ok(())
        })
    }

    /// The mean loss over the dev stories and their heads, which is the squared error or that of
    /// preferences, and Pearson's correlation of the head for all criteria with ratings.
    fn evaluate<B: Backend>(&self, network: &mut Network<B>) -> Result<Quality> {
        let predictions = self.rounded(network, |network| self.predict(network, &self.dev))?;
        let (mut sum, mut weights) = self.compared_loss(&predictions);
        let (mut said, mut wanted) = (Vec::new(), Vec::new());
        for (reading, outputs) in self.dev.iter().zip(&predictions) {
            let Rated { targets, weight, is_compared, .. } = &self.rated.stories[reading.story];
            if *is_compared {
                continue;
            }
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
                sentence: network.head_named(SENTENCE).map_or(0, |head| head.outputs),
                ..CriteriaCard::default()
            }),
            training: TrainingRecord::new(record),
            ..self.card.clone()
        };
        let model = Model {
            config: network.config().clone(),
            parameters: network.parameters()?,
            heads: self.heads(network.heads()?),
            card,
            tokenizer_files: self.tokenizer_files.clone(),
            sentences: self.sentences.clone(),
        };
        model.save(self.job.out)?;
        if !self.left_out.is_empty() {
            self.write_held_out(network)?;
        }
        Ok(())
    }
}

impl Lessons<'_> {
    /// Adds the labels of an example for one of the heads, and their weights. A label that the
    /// example does not have weighs nothing.
    fn labels(
        &self,
        Example { texts, lesson }: &Example,
        (loss, outputs): (usize, usize),
        labels: &mut Vec<f32>,
        weights: &mut Vec<f32>,
    ) {
        let settings = self.job.settings;
        match lesson {
            _ if loss == SENTENCES => {
                let tokens: usize = texts.iter().map(|text| text.ids.len()).sum();
                for Text { ids, vector, .. } in texts {
                    let share = match lesson {
                        Lesson::Ratings { share, .. } => *share,
                        _ => ids.len() as f32 / tokens as f32,
                    };
                    let weight = settings.sentence_weight as f32 * share / outputs as f32;
                    let known = if vector.is_empty() { 0.0 } else { weight };
                    labels.extend(vector.iter().copied().chain(repeat(0.0)).take(outputs));
                    weights.extend(repeat_n(known, outputs));
                }
            }
            Lesson::Ratings { story, share } if loss == RATINGS => {
                let Rated { targets, weight, .. } = &self.rated.stories[*story];
                // A story with few criteria counts as much as one with many.
                let count = targets.iter().flatten().count().max(1) as f32;
                for target in targets {
                    labels.push(target.unwrap_or_default());
                    weights.push(target.map_or(0.0, |_| weight * share / count));
                }
            }
            Lesson::Damage { whole } if loss == DAMAGE => {
                labels.push(f32::from(u8::from(*whole)));
                weights.push(settings.damage_weight as f32);
            }
            _ => {
                labels.extend(repeat_n(0.0, texts.len() * outputs));
                weights.extend(repeat_n(0.0, texts.len() * outputs));
            }
        }
    }

    /// The loss of the preferences among the dev stories, and what they weigh.
    fn compared_loss(&self, predictions: &[Vec<f64>]) -> (f64, f64) {
        let heads = self.rated.heads.len();
        let outputs: Vec<f32> = predictions.iter().flatten().map(|x| *x as f32).collect();
        let mut items: BTreeMap<u64, Compared<'_>> = BTreeMap::new();
        for (place, reading) in self.dev.iter().enumerate() {
            let Rated { targets, weight, item, is_compared, .. } =
                &self.rated.stories[reading.story];
            if *is_compared {
                let own = items.entry(*item).or_default();
                own.stories.push(vec![(place, 1.0)]);
                own.targets.push(targets);
                own.weight += weight;
            }
        }
        let mut items: Vec<Compared<'_>> = items.into_values().collect();
        let weights = items.iter().map(|item| f64::from(item.weight)).sum();
        items.iter_mut().for_each(|item| item.weight /= item.stories.len() as f32);
        let found = preference::loss(&outputs, heads, &items);
        (found.losses.iter().map(|loss| f64::from(*loss)).sum(), weights)
    }

    /// The items of a batch whose stories were compared with each other. Windows have their places
    /// in the batch.
    fn compared(&self, examples: &[&Example], each: f32) -> Vec<Compared<'_>> {
        let mut found = Vec::new();
        let mut first = 0;
        for Example { texts, lesson } in examples {
            if let Lesson::Preferences { stories } = lesson {
                let rated = || stories.iter().map(|(story, _)| &self.rated.stories[*story]);
                let windows = |windows: &[(usize, f32)]| {
                    windows.iter().map(|(place, share)| (first + place, *share)).collect()
                };
                let weights: f32 = rated().map(|rated| rated.weight).sum();
                found.push(Compared {
                    stories: stories.iter().map(|(_, own)| windows(own)).collect(),
                    targets: rated().map(|rated| &rated.targets[..]).collect(),
                    weight: each * weights / stories.len() as f32,
                });
            }
            first += texts.len();
        }
        found
    }
}

/// The names of the tensors of a head.
pub(super) fn parts(head: &str) -> [String; 2] {
    ["weight", "bias"].map(|part| format!("{head}.{part}"))
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
