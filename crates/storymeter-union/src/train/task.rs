//! A batch in the form in which the device takes it. It is made on another thread, so that the
//! thread of the device only passes it on.

use storymeter_encoder::Batch;
use storymeter_encoder::train::Rank;

use super::example::Example;
use super::settings::Settings;
use crate::card::Reconstruction;

/// A batch of examples, and what they are to predict, in the arrays that the losses take.
pub(super) struct Task {
    pub batch: Batch,
    /// The number of rows in the whole batch before those of this part.
    pub first_row: usize,
    /// The number of tokens in the whole batch.
    pub tokens: usize,
    /// The rows of the first tokens of the stories.
    pub firsts: Vec<u32>,
    /// Whether a human wrote each story (equation 3), or how likely the teachers find that.
    pub human: Labels,
    /// Which techniques damaged each story: four labels per story. It is empty if there is no
    /// diagnosis head.
    pub damage: Labels,
    /// What the stories said before the damage (equation 5). It is empty if there is no
    /// reconstruction head.
    pub repairs: Repairs,
    /// The batch as each teacher reads it.
    pub taught: Vec<Batch>,
}

/// Labels and their weights in the loss.
#[derive(Default)]
pub(super) struct Labels {
    pub values: Vec<f32>,
    pub weights: Vec<f32>,
}

/// Rows of the batch, the tokens that belong there, and their weights in the loss.
#[derive(Default)]
pub(super) struct Repairs {
    pub rows: Vec<u32>,
    pub targets: Vec<u32>,
    pub weights: Vec<f32>,
}

/// The weights of the positions of an example, which sum up to `share`.
fn position_weights(
    example: &Example,
    settings: &Settings,
    share: f32,
) -> impl Iterator<Item = f32> + use<> {
    let changed_weight = settings.changed_weight as f32;
    let here = example.ids[example.first.min(example.ids.len())..].iter();
    let weights: Vec<f32> = here
        .zip(&example.targets)
        .map(|(id, target)| if id == target { 1.0 } else { changed_weight })
        .collect();
    let sum: f32 = weights.iter().sum();
    weights.into_iter().map(move |weight| weight * (share / sum))
}

impl Labels {
    fn new(labels: impl Iterator<Item = bool>, weight: f32) -> Self {
        let values: Vec<f32> = labels.map(|label| f32::from(u8::from(label))).collect();
        Self { weights: vec![weight; values.len()], values }
    }
}

impl Task {
    /// The arrays for one rank's part of a batch, weighted so that the parts sum up to the mean
    /// loss of the batch (equation 6).
    pub fn new(settings: &Settings, examples: &[Example], rank: Rank) -> Self {
        let tokens = |examples: &[Example]| examples.iter().map(|example| example.ids.len()).sum();
        let (part, tokens_of_all) = (rank.part(examples.len()), tokens(examples));
        let (first_row, each) = (tokens(&examples[..part.start]), 1.0 / examples.len() as f32);
        let examples = &examples[part];
        let batch: Batch = examples.iter().map(|example| example.ids.as_slice()).collect();
        let mut repairs = Repairs::default();
        if settings.reconstruction != Reconstruction::None {
            for (story, example) in examples.iter().enumerate() {
                let count = example.targets.len();
                let rows = batch.span(story).skip(example.first).take(count);
                repairs.rows.extend(rows.map(|row| row as u32));
                repairs.targets.extend(&example.targets);
                // Equation 5 is a mean over positions, and equation 6 is a mean over stories.
                let share = each * settings.reconstruction_weight as f32;
                repairs.weights.extend(position_weights(example, settings, share));
            }
        }
        let damage = examples.iter().flat_map(|example| example.damage);
        Self {
            first_row,
            tokens: tokens_of_all,
            firsts: (0..batch.len()).map(|story| batch.span(story).start as u32).collect(),
            human: Labels::new(examples.iter().map(|example| example.human), each),
            damage: if settings.diagnosis {
                Labels::new(damage, each * settings.diagnosis_weight as f32)
            } else {
                Labels::default()
            },
            repairs,
            taught: (0..examples.first().map_or(0, |example| example.taught.len()))
                .map(|teacher| {
                    examples.iter().map(|example| example.taught[teacher].as_slice()).collect()
                })
                .collect(),
            batch,
        }
    }
}
