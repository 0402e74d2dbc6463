//! Heads: what is predicted from hidden states.

use super::net::{Linear, Net, Norm};
use super::words::Words;
use crate::kernel::likelihood::{AddExponentials, Sums};
use crate::kernel::quantised::RowBuffer;
use crate::kernel::steps::{STATES, Store};
use crate::kernel::{Activation, Isa};
use rayon::prelude::*;

/// The heads that a model has.
#[derive(Default)]
pub(super) struct Heads {
    pub(super) masked_word: Option<Head>,
    pub(super) next_token: Option<Head>,
    pub(super) answer: Option<Head>,
}

pub(super) struct Head {
    pub(super) transform: Option<Transform>,
    pub(super) projection: Projection,
    /// Empty if there is none.
    pub(super) bias: Vec<f32>,
}

/// What happens to a state before it is projected.
pub(super) struct Transform {
    pub(super) dense: Linear,
    pub(super) activation: Activation,
    pub(super) norm: Norm,
    pub(super) eps: f32,
}

/// What a state is multiplied with.
pub(super) enum Projection {
    /// The word embeddings.
    Words,
    Own(Linear),
}

/// How many rows one thread takes to a head at a time.
const ROWS: usize = 96;

/// What one thread needs.
#[derive(Default)]
struct Buffers {
    x: Vec<f32>,
    quantised: RowBuffer,
    sums: Vec<Sums>,
}

/// A token whose probability is wanted: where the state before it begins, and its id.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) state: usize,
    pub(super) token: u32,
}

impl Transform {
    fn apply(&self, isa: Isa, x: &mut Vec<f32>, quantised: &mut RowBuffer) {
        let mut out = vec![0.0; x.len()];
        self.dense.apply(isa, x, Some(self.activation), &mut out, quantised);
        self.norm.apply(isa, &mut out, &[], self.eps);
        *x = out;
    }
}

impl Net {
    /// How many logits a head gives.
    fn choices(&self, head: &Head) -> usize {
        match &head.projection {
            Projection::Words => self.words.entries(self.encoder.shape.hidden),
            Projection::Own(linear) => linear.outputs,
        }
    }

    /// The logits of a head for some rows of `states`, each given by where it begins, and how many
    /// logits a row has.
    pub(super) fn logits(&self, head: &Head, states: &[f32], rows: &[usize]) -> (Vec<f32>, usize) {
        let (width, choices) = (self.encoder.shape.hidden, self.choices(head));
        let mut logits = vec![0.0; rows.len() * choices];
        // As many rows at a time as the products with word embeddings take together.
        let parts = rows.par_chunks(STATES).zip(logits.par_chunks_mut(STATES * choices));
        parts.for_each_init(Buffers::default, |Buffers { x, quantised, .. }, (rows, out)| {
            gather(states, rows.iter().copied(), width, x);
            if let Some(transform) = &head.transform {
                transform.apply(self.isa, x, quantised);
            }
            let linear = match (&head.projection, &self.words) {
                (Projection::Own(linear), _) | (Projection::Words, Words::Packed(linear)) => linear,
                (Projection::Words, words) => {
                    let products = words.products(self.isa, x, width);
                    for (out, products) in out.chunks_exact_mut(choices).zip(products) {
                        let sums = products.iter().zip(&head.bias).map(|(x, bias)| x + bias);
                        out.iter_mut().zip(sums).for_each(|(out, x)| *out = x);
                    }
                    return;
                }
            };
            let mut store = Store { out, stride: choices, activation: None };
            linear.product(self.isa, x, &head.bias, &mut store, quantised);
        });
        (logits, choices)
    }

    /// The natural logarithms of the probabilities of tokens under the head for the next token.
    ///
    /// No row of logits is ever stored. The numbers of a token depend on its own state alone.
    pub(super) fn likelihoods(
        &self,
        head: &Head,
        states: &[f32],
        wanted: &[Wanted],
        out: &mut [f32],
    ) {
        let linear = match (&head.projection, &self.words) {
            (Projection::Own(linear), _) | (Projection::Words, Words::Packed(linear)) => linear,
            (Projection::Words, _) => unreachable!("words that a head multiplies with are packed"),
        };
        let width = self.encoder.shape.hidden;
        let parts = wanted.par_chunks(ROWS).zip(out.par_chunks_mut(ROWS));
        parts.for_each_init(Buffers::default, |Buffers { x, quantised, sums }, (wanted, out)| {
            gather(states, wanted.iter().map(|wanted| wanted.state), width, x);
            sums.clear();
            sums.extend(wanted.iter().map(|wanted| Sums::new(wanted.token)));
            linear.product(self.isa, x, &head.bias, &mut AddExponentials(sums), quantised);
            for (out, sums) in out.iter_mut().zip(&*sums) {
                *out = sums.log_probability();
            }
        });
    }
}

/// Copies rows of `states` one after the other to `x`.
fn gather(states: &[f32], rows: impl Iterator<Item = usize>, width: usize, x: &mut Vec<f32>) {
    x.clear();
    rows.for_each(|row| x.extend_from_slice(&states[row..][..width]));
}
