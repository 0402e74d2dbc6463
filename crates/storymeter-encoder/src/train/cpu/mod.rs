//! The operations of training on the CPU.

mod attention;
mod products;
mod rows;

use super::backend::{AdamStep, AttentionShape, Backend, Dropout, LinearShape};
use crate::kernel::gemm::{pack_columns, pack_rows};
use crate::kernel::steps::add_norm_rows;
use crate::kernel::{Activation, Isa};
use crate::relative;
use attention::{Heads, Story};
use products::{add_product, pack, product, transpose_on_all};
use rayon::prelude::*;
use rows::{TASK_NUMBERS, TASK_ROWS};

/// The CPU as a device for training. Uses the threads of the current rayon pool; the same bytes for any number of them.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    isa: Isa,
}

impl Cpu {
    /// The CPU with the given instructions.
    pub fn new(isa: Isa) -> Cpu {
        Cpu { isa }
    }
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::new(Isa::detect())
    }
}

/// Cuts a buffer of rows into one slice a story.
fn by_story<'a>(mut rest: &'a mut [f32], bounds: &[usize], width: usize) -> Vec<&'a mut [f32]> {
    let mut stories = Vec::with_capacity(bounds.len().saturating_sub(1));
    for story in bounds.windows(2) {
        let (one, more) = rest.split_at_mut((story[1] - story[0]) * width);
        stories.push(one);
        rest = more;
    }
    stories
}

impl Backend for Cpu {
    type Buffer = Vec<f32>;

    fn upload(&self, numbers: &[f32]) -> Vec<f32> {
        numbers.to_vec()
    }

    fn download(&self, buffer: &Vec<f32>) -> Vec<f32> {
        buffer.clone()
    }

    fn zeros(&self, len: usize) -> Vec<f32> {
        vec![0.0; len]
    }

    fn clear(&self, buffer: &mut Vec<f32>) {
        buffer.fill(0.0);
    }

    fn copy(&self, from: &Vec<f32>) -> Vec<f32> {
        from.clone()
    }

    fn add(&self, to: &mut Vec<f32>, what: &Vec<f32>) {
        to.par_chunks_mut(TASK_NUMBERS)
            .zip(what.par_chunks(TASK_NUMBERS))
            .for_each(|(to, what)| rows::add_to(self.isa, to, what));
    }

    fn embed(
        &self,
        ids: &[u32],
        places: &[u32],
        (words, positions, segments): (&Vec<f32>, &Vec<f32>, Option<&Vec<f32>>),
        width: usize,
    ) -> Vec<f32> {
        let mut out = self.gather(words, ids, width);
        for (row, &place) in out.chunks_exact_mut(width).zip(places) {
            rows::add_to(self.isa, row, &positions[place as usize * width..][..width]);
            if let Some(segments) = segments {
                rows::add_to(self.isa, row, &segments[..width]);
            }
        }
        out
    }

    fn embed_backward(
        &self,
        ids: &[u32],
        places: &[u32],
        d_out: &Vec<f32>,
        (d_words, d_positions, d_segments): (&mut Vec<f32>, &mut Vec<f32>, Option<&mut Vec<f32>>),
        width: usize,
    ) {
        self.scatter(d_out, ids, d_words, width);
        self.scatter(d_out, places, d_positions, width);
        if let Some(d_segments) = d_segments {
            rows::add_column_sums(self.isa, d_out, &mut d_segments[..width]);
        }
    }

    fn norm(&self, x: &Vec<f32>, gain: &Vec<f32>, shift: &Vec<f32>, eps: f32) -> Vec<f32> {
        let mut out = x.clone();
        out.par_chunks_mut(TASK_ROWS * gain.len())
            .for_each(|rows| add_norm_rows(self.isa, rows, &[], gain, shift, eps));
        out
    }

    fn norm_backward(
        &self,
        x: &Vec<f32>,
        gain: &Vec<f32>,
        eps: f32,
        d_out: &Vec<f32>,
        d_gain: &mut Vec<f32>,
        d_shift: &mut Vec<f32>,
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
                rows::norm_rows_backward(self.isa, x, gain, eps, d_out, d_x, &mut d_gain, &mut d_shift);
                (d_gain, d_shift)
            })
            .collect();
        for (gain, shift) in &sums {
            rows::add_to(self.isa, d_gain, gain);
            rows::add_to(self.isa, d_shift, shift);
        }
        d_x
    }

    fn linear(&self, x: &Vec<f32>, weight: &Vec<f32>, bias: &Vec<f32>, shape: LinearShape) -> Vec<f32> {
        let LinearShape { rows, inputs, outputs } = shape;
        let packed = pack(inputs, outputs, |col, cols, out| {
            pack_columns(&weight[col * inputs..], inputs, inputs, cols, out);
        });
        let mut out = vec![0.0; rows * outputs];
        product(self.isa, &x[..rows * inputs], inputs, &packed, outputs, bias, &mut out);
        out
    }

    fn linear_backward(
        &self,
        x: &Vec<f32>,
        weight: &Vec<f32>,
        shape: LinearShape,
        d_out: &Vec<f32>,
        d_x: Option<&mut Vec<f32>>,
        d_weight: &mut Vec<f32>,
        d_bias: &mut Vec<f32>,
    ) {
        let LinearShape { rows, inputs, outputs } = shape;
        if rows == 0 {
            return;
        }
        if let Some(d_x) = d_x {
            let packed = pack(outputs, inputs, |col, cols, out| {
                pack_rows(&weight[col..], inputs, outputs, cols, out);
            });
            add_product(self.isa, d_out, outputs, &packed, inputs, d_x);
        }
        let mut turned = vec![0.0; d_out.len()];
        transpose_on_all(d_out, rows, outputs, &mut turned);
        let packed = pack(rows, inputs, |col, cols, out| pack_rows(&x[col..], inputs, rows, cols, out));
        add_product(self.isa, &turned, rows, &packed, inputs, d_weight);
        rows::add_column_sums(self.isa, d_out, d_bias);
    }

    fn activate(&self, x: &Vec<f32>, activation: Activation) -> Vec<f32> {
        let mut out = x.clone();
        out.par_chunks_mut(TASK_NUMBERS).for_each(|x| rows::activate(self.isa, x, activation));
        out
    }

    fn activate_backward(&self, x: &Vec<f32>, activation: Activation, d_out: &mut Vec<f32>) {
        d_out
            .par_chunks_mut(TASK_NUMBERS)
            .zip(x.par_chunks(TASK_NUMBERS))
            .for_each(|(d, x)| rows::activate_backward(self.isa, x, activation, d));
    }

    fn attention(
        &self,
        query: &Vec<f32>,
        key: &Vec<f32>,
        value: &Vec<f32>,
        relative: Option<&Vec<f32>>,
        shape: AttentionShape<'_>,
    ) -> Vec<f32> {
        let table = relative.map(|weights| relative::bias_table(weights, shape.heads, shape.longest));
        let heads = Heads { isa: self.isa, shape, bias: table.as_deref() };
        let mut out = vec![0.0; query.len()];
        by_story(&mut out, shape.bounds, shape.width)
            .into_par_iter()
            .enumerate()
            .for_each(|(i, out)| heads.forward(story(query, key, value, shape, i), out));
        out
    }

    fn attention_backward(
        &self,
        query: &Vec<f32>,
        key: &Vec<f32>,
        value: &Vec<f32>,
        relative: Option<(&Vec<f32>, &mut Vec<f32>)>,
        shape: AttentionShape<'_>,
        d_out: &Vec<f32>,
    ) -> [Vec<f32>; 3] {
        let (weights, d_weights) = relative.unzip();
        let table = weights.map(|weights| relative::bias_table(weights, shape.heads, shape.longest));
        let heads = Heads { isa: self.isa, shape, bias: table.as_deref() };
        let mut d = [(); 3].map(|()| vec![0.0; query.len()]);
        let [d_query, d_key, d_value] = d.each_mut().map(|d| by_story(d, shape.bounds, shape.width));
        let biases: Vec<Vec<f32>> = d_query
            .into_par_iter()
            .zip(d_key)
            .zip(d_value)
            .enumerate()
            .map(|(i, ((d_query, d_key), d_value))| {
                let rows = shape.bounds[i] * shape.width..shape.bounds[i + 1] * shape.width;
                let story = story(query, key, value, shape, i);
                heads.backward(story, &d_out[rows], [d_query, d_key, d_value])
            })
            .collect();
        if let Some(d_weights) = d_weights {
            for (bias, story) in biases.iter().zip(shape.bounds.windows(2)) {
                relative::add_to_buckets(bias, shape.heads, story[1] - story[0], d_weights);
            }
        }
        d
    }

    fn dropout(&self, x: &mut Vec<f32>, dropout: Dropout) {
        if dropout.rate > 0.0 {
            x.par_chunks_mut(TASK_NUMBERS)
                .enumerate()
                .for_each(|(task, x)| rows::drop_out(self.isa, x, (task * TASK_NUMBERS) as u64, dropout));
        }
    }

    fn gather(&self, x: &Vec<f32>, rows: &[u32], width: usize) -> Vec<f32> {
        let mut out = Vec::with_capacity(rows.len() * width);
        rows.iter().for_each(|&row| out.extend_from_slice(&x[row as usize * width..][..width]));
        out
    }

    fn scatter(&self, what: &Vec<f32>, rows: &[u32], to: &mut Vec<f32>, width: usize) {
        for (what, &row) in what.chunks_exact(width).zip(rows) {
            rows::add_to(self.isa, &mut to[row as usize * width..][..width], what);
        }
    }

    fn story_means(&self, x: &Vec<f32>, bounds: &[usize], width: usize) -> Vec<f32> {
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

    fn story_means_backward(&self, d_means: &Vec<f32>, bounds: &[usize], d_x: &mut Vec<f32>, width: usize) {
        for (story, d_mean) in bounds.windows(2).zip(d_means.chunks_exact(width)) {
            let count = (story[1] - story[0]).max(1) as f32;
            let d: Vec<f32> = d_mean.iter().map(|d| d / count).collect();
            let rows = d_x[story[0] * width..story[1] * width].chunks_exact_mut(width);
            rows.for_each(|row| rows::add_to(self.isa, row, &d));
        }
    }

    fn cross_entropy(&self, logits: &mut Vec<f32>, targets: &[u32], weights: &[f32]) -> f64 {
        if targets.is_empty() {
            return 0.0;
        }
        let width = logits.len() / targets.len();
        let mut losses = vec![0.0; targets.len()];
        logits.par_chunks_mut(width).zip(targets.par_iter().zip(weights)).zip(&mut losses).for_each(
            |((logits, (target, weight)), loss)| {
                let (target, weight, loss) =
                    (std::slice::from_ref(target), std::slice::from_ref(weight), std::slice::from_mut(loss));
                rows::cross_entropy_rows(self.isa, logits, width, target, weight, loss);
            },
        );
        losses.iter().map(|loss| f64::from(*loss)).sum()
    }

    fn binary_cross_entropy(&self, logits: &mut Vec<f32>, labels: &[f32], weights: &[f32]) -> f64 {
        let mut total = 0.0;
        for ((z, &label), &weight) in logits.iter_mut().zip(labels).zip(weights) {
            let (logit, label, weight) = (f64::from(*z), f64::from(label), f64::from(weight));
            // log(1 + e^z) - label * z without overflow.
            total += weight * (logit.max(0.0) - label * logit + (-logit.abs()).exp().ln_1p());
            *z = (weight * (1.0 / (1.0 + (-logit).exp()) - label)) as f32;
        }
        total
    }

    fn square_sum(&self, x: &Vec<f32>) -> f64 {
        let parts: Vec<f64> = x
            .par_chunks(TASK_NUMBERS)
            .map(|part| part.iter().map(|v| f64::from(*v) * f64::from(*v)).sum())
            .collect();
        parts.iter().sum()
    }

    fn adam(
        &self,
        weights: &mut Vec<f32>,
        gradient: &Vec<f32>,
        mean: &mut Vec<f32>,
        square: &mut Vec<f32>,
        step: AdamStep,
    ) {
        weights
            .par_chunks_mut(TASK_NUMBERS)
            .zip(gradient.par_chunks(TASK_NUMBERS))
            .zip(mean.par_chunks_mut(TASK_NUMBERS))
            .zip(square.par_chunks_mut(TASK_NUMBERS))
            .for_each(|(((w, g), m), v)| rows::adam(self.isa, w, g, m, v, step));
    }
}

fn story<'a>(
    query: &'a [f32],
    key: &'a [f32],
    value: &'a [f32],
    shape: AttentionShape<'_>,
    i: usize,
) -> Story<'a> {
    let rows = shape.bounds[i] * shape.width..shape.bounds[i + 1] * shape.width;
    Story {
        query: &query[rows.clone()],
        key: &key[rows.clone()],
        value: &value[rows],
        first: shape.bounds[i],
    }
}
