//! A batch as the device takes it: made on another thread, so that the device's own only hands it over.

use storymeter_encoder::Batch;
use storymeter_encoder::train::Rank;

use super::example::Example;
use super::settings::Settings;
use crate::card::Reconstruction;

/// Examples and everything they are asked, in the arrays the losses take.
pub(super) struct Task {
    pub batch: Batch,
    /// Rows before these in the whole batch, of which this may be one rank's part.
    pub first_row: usize,
    /// Tokens of the whole batch.
    pub tokens: usize,
    /// The row of each story's first token.
    pub firsts: Vec<u32>,
    /// Whether a human wrote it (equation 3), or what teachers think of that.
    pub human: Labels,
    /// Which techniques damaged it, four a story; empty without a diagnosis.
    pub damage: Labels,
    /// What stood there before the damage (equation 5); empty without a reconstruction.
    pub repairs: Repairs,
    /// The batch as each teacher reads it.
    pub taught: Vec<Batch>,
}

/// Labels and what each weighs in the loss.
#[derive(Default)]
pub(super) struct Labels {
    pub values: Vec<f32>,
    pub weights: Vec<f32>,
}

/// Rows of the batch, the pieces that belong there, and what each weighs in the loss.
#[derive(Default)]
pub(super) struct Repairs {
    pub rows: Vec<u32>,
    pub targets: Vec<u32>,
    pub weights: Vec<f32>,
}

impl Labels {
    fn new(labels: impl Iterator<Item = bool>, weight: f32) -> Self {
        let values: Vec<f32> = labels.map(|label| f32::from(u8::from(label))).collect();
        Self { weights: vec![weight; values.len()], values }
    }
}

impl Task {
    /// The mean loss of these examples (equation 6), as arrays: what a rank's part contributes to it.
    pub fn new(settings: &Settings, examples: &[Example], rank: Rank) -> Self {
        let tokens = |examples: &[Example]| examples.iter().map(|example| example.ids.len()).sum();
        let (part, tokens_of_all) = (rank.part(examples.len()), tokens(examples));
        let (first_row, each) = (tokens(&examples[..part.start]), 1.0 / examples.len() as f32);
        let examples = &examples[part];
        let batch: Batch = examples.iter().map(|example| example.ids.as_slice()).collect();
        let mut repairs = Repairs::default();
        if settings.reconstruction != Reconstruction::None {
            for (story, example) in examples.iter().enumerate() {
                // Equation 5 is a mean over the positions, equation 6 one over the stories.
                let count = example.targets.len();
                let weight = each * settings.reconstruction_weight as f32 / count.max(1) as f32;
                let rows = batch.span(story).skip(example.first).take(count);
                repairs.rows.extend(rows.map(|row| row as u32));
                repairs.targets.extend(&example.targets);
                repairs.weights.resize(repairs.targets.len(), weight);
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
