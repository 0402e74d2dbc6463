//! The pieces that the operations of training are put together from, on slices.

use super::attention::{Heads, Story};
use super::products::{add_product, pack, product, transpose_on_all};
use super::rows::{self, TASK_NUMBERS, TASK_ROWS};
use crate::kernel::gemm::{pack_columns, pack_rows};
use crate::kernel::norm::rms_rows;
use crate::kernel::rotary::turn_heads;
use crate::kernel::steps::add_norm_rows;
use crate::kernel::{Activation, Isa};
use crate::relative;
use crate::train::backend::{Attention, Dropout, Linear, Rotary, TableRows};
use rayon::prelude::*;

/// The operations with the given instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ops {
    pub(super) isa: Isa,
}

impl Ops {
    pub(super) fn add(&self, to: &mut [f32], what: &[f32]) {
        to.par_chunks_mut(TASK_NUMBERS)
            .zip(what.par_chunks(TASK_NUMBERS))
            .for_each(|(to, what)| rows::add_to(self.isa, to, what));
    }

    /// The sum of the rows of all tables that a token has, for rows of `width` numbers.
    pub(super) fn embed(
        &self,
        rows: &TableRows<Vec<u32>>,
        (words, positions, segments): (&[f32], &[f32], Option<&[f32]>),
        width: usize,
    ) -> Vec<f32> {
        let mut out = self.gather(words, &rows.words, width);
        for (token, (sum, &place)) in out.chunks_exact_mut(width).zip(&rows.positions).enumerate() {
            rows::add_to(self.isa, sum, &positions[place as usize * width..][..width]);
            if let Some(table) = segments {
                let segment = rows.segments.as_ref().map_or(0, |segments| segments[token] as usize);
                rows::add_to(self.isa, sum, &table[segment * width..][..width]);
            }
        }
        out
    }

    pub(super) fn add_column_sums(&self, x: &[f32], sums: &mut [f32]) {
        rows::add_column_sums(self.isa, x, sums);
    }

    /// Layer norm or, without a shift, RMS norm.
    pub(super) fn norm(
        &self,
        x: &[f32],
        gain: &[f32],
        shift: Option<&[f32]>,
        eps: f32,
    ) -> Vec<f32> {
        let mut out = x.to_vec();
        let tasks = out.par_chunks_mut(TASK_ROWS * gain.len());
        match shift {
            Some(shift) => {
                tasks.for_each(|rows| add_norm_rows(self.isa, rows, &[], gain, shift, eps));
            }
            None => tasks.for_each(|rows| rms_rows(self.isa, rows, gain, eps)),
        }
        out
    }

    pub(super) fn rms_backward(
        &self,
        x: &[f32],
        gain: &[f32],
        eps: f32,
        d_out: &[f32],
        d_gain: &mut [f32],
    ) -> Vec<f32> {
        let task = TASK_ROWS * gain.len();
        let mut d_x = vec![0.0; x.len()];
        let sums: Vec<Vec<f32>> = x
            .par_chunks(task)
            .zip(d_out.par_chunks(task))
            .zip(d_x.par_chunks_mut(task))
            .map(|((x, d_out), d_x)| {
                let mut d_gain = vec![0.0; gain.len()];
                rows::rms_rows_backward(self.isa, x, gain, eps, d_out, d_x, &mut d_gain);
                d_gain
            })
            .collect();
        sums.iter().for_each(|sum| rows::add_to(self.isa, d_gain, sum));
        d_x
    }

    pub(super) fn norm_backward(
        &self,
        x: &[f32],
        gain: &[f32],
        eps: f32,
        d_out: &[f32],
        d_gain: &mut [f32],
        d_shift: &mut [f32],
    ) -> Vec<f32> {
        let width = gain.len();
        let task = TASK_ROWS * width;
        let mut d_x = vec![0.0; x.len()];
        let sums: Vec<(Vec<f32>, Vec<f32>)> = x
            .par_chunks(task)
            .zip(d_out.par_chunks(task))
            .zip(d_x.par_chunks_mut(task))
            .map(|((x, d_out), d_x)| {
                let (mut d_gain, mut d_shift) = (vec![0.0; width], vec![0.0; width]);
                rows::norm_rows_backward(
                    self.isa,
                    x,
                    gain,
                    eps,
                    d_out,
                    d_x,
                    &mut d_gain,
                    &mut d_shift,
                );
                (d_gain, d_shift)
            })
            .collect();
        for (gain, shift) in &sums {
            rows::add_to(self.isa, d_gain, gain);
            rows::add_to(self.isa, d_shift, shift);
        }
        d_x
    }

    pub(super) fn linear(
        &self,
        x: &[f32],
        weight: &[f32],
        bias: &[f32],
        (map, rows): (Linear, usize),
    ) -> Vec<f32> {
        let Linear { inputs, outputs, .. } = map;
        let packed = pack(inputs, outputs, |col, cols, out| {
            pack_columns(&weight[col * inputs..], inputs, inputs, cols, out);
        });
        let mut out = vec![0.0; rows * outputs];
        product(self.isa, &x[..rows * inputs], inputs, &packed, outputs, bias, &mut out);
        out
    }

    /// Adds the gradients of `x` and `weight`.
    pub(super) fn linear_backward(
        &self,
        x: &[f32],
        weight: &[f32],
        (map, rows): (Linear, usize),
        d_out: &[f32],
        d_x: &mut [f32],
        d_weight: &mut [f32],
    ) {
        let Linear { inputs, outputs, .. } = map;
        if rows == 0 {
            return;
        }
        let packed = pack(outputs, inputs, |col, cols, out| {
            pack_rows(&weight[col..], inputs, outputs, cols, out);
        });
        add_product(self.isa, d_out, outputs, &packed, inputs, d_x);
        let mut turned = vec![0.0; d_out.len()];
        transpose_on_all(d_out, rows, outputs, &mut turned);
        let packed =
            pack(rows, inputs, |col, cols, out| pack_rows(&x[col..], inputs, rows, cols, out));
        add_product(self.isa, &turned, rows, &packed, inputs, d_weight);
    }

    pub(super) fn multiply(&self, to: &mut [f32], factors: &[f32]) {
        to.par_chunks_mut(TASK_NUMBERS)
            .zip(factors.par_chunks(TASK_NUMBERS))
            .for_each(|(to, factors)| rows::multiply(self.isa, to, factors));
    }

    /// Turns every head of rows of `width` numbers by the angles of the row's position.
    pub(super) fn turn(
        &self,
        x: &mut [f32],
        (width, head_width): (usize, usize),
        angles: &[f32],
        places: &[u32],
    ) {
        x.par_chunks_mut(width).zip(places).for_each(|(row, &place)| {
            turn_heads(self.isa, row, &angles[place as usize * head_width..][..head_width]);
        });
    }

    /// Repeats every head for all heads that share it.
    pub(super) fn repeat_heads(&self, x: Vec<f32>, rotary: Rotary) -> Vec<f32> {
        if rotary.shared() == 1 {
            return x;
        }
        let heads = x.chunks_exact(rotary.head_width);
        heads
            .flat_map(|head| std::iter::repeat_n(head, rotary.shared()))
            .flatten()
            .copied()
            .collect()
    }

    /// The sums over the heads that share one.
    pub(super) fn sum_heads(&self, x: Vec<f32>, rotary: Rotary) -> Vec<f32> {
        let (shared, width) = (rotary.shared(), rotary.head_width);
        if shared == 1 {
            return x;
        }
        let mut out = vec![0.0; x.len() / shared];
        for (to, heads) in out.chunks_exact_mut(width).zip(x.chunks_exact(shared * width)) {
            heads.chunks_exact(width).for_each(|head| rows::add_to(self.isa, to, head));
        }
        out
    }

    pub(super) fn activate(&self, x: &[f32], activation: Activation) -> Vec<f32> {
        let mut out = x.to_vec();
        out.par_chunks_mut(TASK_NUMBERS).for_each(|x| rows::activate(self.isa, x, activation));
        out
    }

    pub(super) fn activate_backward(&self, x: &[f32], activation: Activation, d_out: &mut [f32]) {
        d_out
            .par_chunks_mut(TASK_NUMBERS)
            .zip(x.par_chunks(TASK_NUMBERS))
            .for_each(|(d, x)| rows::activate_backward(self.isa, x, activation, d));
    }

    pub(super) fn attention(
        &self,
        query: &[f32],
        key: &[f32],
        value: &[f32],
        relative: Option<&[f32]>,
        (shape, bounds): (Attention, &[usize]),
    ) -> Vec<f32> {
        let table =
            relative.map(|weights| relative::bias_table(weights, shape.heads, shape.longest));
        let heads = Heads { isa: self.isa, shape, bias: table.as_deref() };
        let mut out = vec![0.0; query.len()];
        by_story(&mut out, bounds, shape.width)
            .into_par_iter()
            .enumerate()
            .for_each(|(i, out)| heads.forward(story(query, key, value, (shape, bounds), i), out));
        out
    }

    pub(super) fn attention_backward(
        &self,
        query: &[f32],
        key: &[f32],
        value: &[f32],
        relative: Option<(&[f32], &mut [f32])>,
        (shape, bounds): (Attention, &[usize]),
        d_out: &[f32],
    ) -> [Vec<f32>; 3] {
        let (weights, d_weights) = relative.unzip();
        let table =
            weights.map(|weights| relative::bias_table(weights, shape.heads, shape.longest));
        let heads = Heads { isa: self.isa, shape, bias: table.as_deref() };
        let mut d = [(); 3].map(|()| vec![0.0; query.len()]);
        let [d_query, d_key, d_value] = d.each_mut().map(|d| by_story(d, bounds, shape.width));
        let biases: Vec<Vec<f32>> = d_query
            .into_par_iter()
            .zip(d_key)
            .zip(d_value)
            .enumerate()
            .map(|(i, ((d_query, d_key), d_value))| {
                let rows = bounds[i] * shape.width..bounds[i + 1] * shape.width;
                let story = story(query, key, value, (shape, bounds), i);
                heads.backward(story, &d_out[rows], [d_query, d_key, d_value])
            })
            .collect();
        if let Some(d_weights) = d_weights {
            for (bias, story) in biases.iter().zip(bounds.windows(2)) {
                relative::add_to_buckets(bias, shape.heads, story[1] - story[0], d_weights);
            }
        }
        d
    }

    pub(super) fn dropout(&self, x: &mut [f32], dropout: Dropout) {
        if dropout.rate > 0.0 {
            x.par_chunks_mut(TASK_NUMBERS).enumerate().for_each(|(task, x)| {
                rows::drop_out(self.isa, x, (task * TASK_NUMBERS) as u64, dropout)
            });
        }
    }

    pub(super) fn gather(&self, x: &[f32], rows: &[u32], width: usize) -> Vec<f32> {
        let mut out = Vec::with_capacity(rows.len() * width);
        rows.iter().for_each(|&row| out.extend_from_slice(&x[row as usize * width..][..width]));
        out
    }

    pub(super) fn scatter(&self, what: &[f32], rows: &[u32], to: &mut [f32], width: usize) {
        for (what, &row) in what.chunks_exact(width).zip(rows) {
            rows::add_to(self.isa, &mut to[row as usize * width..][..width], what);
        }
    }

    pub(super) fn story_means(&self, x: &[f32], bounds: &[usize], width: usize) -> Vec<f32> {
        let mut means = vec![0.0; bounds.len().saturating_sub(1) * width];
        for (story, mean) in bounds.windows(2).zip(means.chunks_exact_mut(width)) {
            x[story[0] * width..story[1] * width]
                .chunks_exact(width)
                .for_each(|row| rows::add_to(self.isa, mean, row));
            let count = (story[1] - story[0]).max(1) as f32;
            mean.iter_mut().for_each(|m| *m /= count);
        }
        means
    }

    pub(super) fn story_means_backward(
        &self,
        d_means: &[f32],
        bounds: &[usize],
        d_x: &mut [f32],
        width: usize,
    ) {
        for (story, d_mean) in bounds.windows(2).zip(d_means.chunks_exact(width)) {
            let count = (story[1] - story[0]).max(1) as f32;
            let d: Vec<f32> = d_mean.iter().map(|d| d / count).collect();
            let rows = d_x[story[0] * width..story[1] * width].chunks_exact_mut(width);
            rows.for_each(|row| rows::add_to(self.isa, row, &d));
        }
    }

    pub(super) fn cross_entropy(
        &self,
        logits: &mut [f32],
        targets: &[u32],
        weights: &[f32],
    ) -> f64 {
        if targets.is_empty() {
            return 0.0;
        }
        let width = logits.len() / targets.len();
        let mut losses = vec![0.0; targets.len()];
        logits
            .par_chunks_mut(width)
            .zip(targets.par_iter().zip(weights))
            .zip(&mut losses)
            .for_each(|((logits, (target, weight)), loss)| {
                let (target, weight, loss) = (
                    std::slice::from_ref(target),
                    std::slice::from_ref(weight),
                    std::slice::from_mut(loss),
                );
                rows::cross_entropy_rows(self.isa, logits, width, target, weight, loss);
            });
        losses.iter().map(|loss| f64::from(*loss)).sum()
    }

    pub(super) fn binary_cross_entropy(
        &self,
        logits: &mut [f32],
        labels: &[f32],
        weights: &[f32],
    ) -> f64 {
        let mut total = 0.0;
        for ((z, &label), &weight) in logits.iter_mut().zip(labels).zip(weights) {
            let (logit, label, weight) = (f64::from(*z), f64::from(label), f64::from(weight));
            // log(1 + e^z) - label * z, without overflow.
            total += weight * (logit.max(0.0) - label * logit + (-logit.abs()).exp().ln_1p());
            *z = (weight * (1.0 / (1.0 + (-logit).exp()) - label)) as f32;
        }
        total
    }

    pub(super) fn squared_error(
        &self,
        outputs: &mut [f32],
        labels: &[f32],
        weights: &[f32],
    ) -> f64 {
        let mut total = 0.0;
        for ((z, &label), &weight) in outputs.iter_mut().zip(labels).zip(weights) {
            let (difference, weight) = (f64::from(*z) - f64::from(label), f64::from(weight));
            total += weight * difference * difference;
            *z = (2.0 * weight * difference) as f32;
        }
        total
    }
}

/// Cuts a buffer of rows into one slice per story.
fn by_story<'a>(mut rest: &'a mut [f32], bounds: &[usize], width: usize) -> Vec<&'a mut [f32]> {
    let mut stories = Vec::with_capacity(bounds.len().saturating_sub(1));
    for story in bounds.windows(2) {
        let (one, more) = rest.split_at_mut((story[1] - story[0]) * width);
        stories.push(one);
        rest = more;
    }
    stories
}

fn story<'a>(
    query: &'a [f32],
    key: &'a [f32],
    value: &'a [f32],
    (shape, bounds): (Attention, &[usize]),
    i: usize,
) -> Story<'a> {
    let rows = bounds[i] * shape.width..bounds[i + 1] * shape.width;
    Story {
        query: &query[rows.clone()],
        key: &key[rows.clone()],
        value: &value[rows],
        first: bounds[i],
    }
}
