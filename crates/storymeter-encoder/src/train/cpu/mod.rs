//! The operations of training on the CPU.

mod attention;
mod ops;
mod products;
mod rows;
mod store;

use super::backend::{
    AdamStep, Attention, Backend, Dropout, Given, LOSSES, LabelLoss, Linear, Norm, Part, Rotary,
    Skipped, TableRows, Tables,
};
use crate::Result;
use crate::grid::Rounded;
use crate::kernel::{Activation, Isa};
use ops::Ops;
pub use store::CpuStore;

/// The rows whose logits over a whole vocabulary are in memory at one time.
const ROWS_AT_ONCE: usize = 1024;

/// The CPU as a device for training. It uses the threads of the current rayon pool, and gives the
/// same bytes for any number of them.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    ops: Ops,
}

impl Cpu {
    /// The CPU with the given instructions.
    pub fn new(isa: Isa) -> Cpu {
        Cpu { ops: Ops { isa } }
    }

    /// Adds the gradients of a linear map.
    fn through(
        &self,
        store: &mut CpuStore,
        map: Linear,
        (x, rows): (&[f32], usize),
        d_out: &[f32],
        d_x: &mut [f32],
    ) {
        let weight = &store.weights[map.weight];
        let d_weight = &mut store.gradients[map.weight];
        self.ops.linear_backward(x, weight, (map, rows), d_out, d_x, d_weight);
        if let Some(bias) = map.bias {
            self.ops.add_column_sums(&d_out[..rows * map.outputs], &mut store.gradients[bias]);
        }
    }

    /// The rows of `x` after a norm.
    fn normed(&self, store: &CpuStore, norm: Norm, x: &[f32]) -> Vec<f32> {
        let shift = norm.shift.map(|shift| store.weights[shift].as_slice());
        self.ops.norm(x, &store.weights[norm.gain], shift, norm.eps)
    }

    /// The gradient of what went through a norm.
    fn through_norm(&self, store: &mut CpuStore, norm: Norm, x: &[f32], d_out: &[f32]) -> Vec<f32> {
        let gain = &store.weights[norm.gain];
        let Some(shift) = norm.shift else {
            let d_gain = &mut store.gradients[norm.gain];
            return self.ops.rms_backward(x, gain, norm.eps, d_out, d_gain);
        };
        let [d_gain, d_shift] = two(&mut store.gradients, norm.gain, shift);
        self.ops.norm_backward(x, gain, norm.eps, d_out, d_gain, d_shift)
    }
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::new(Isa::detect())
    }
}

/// Borrows two different tensors.
fn two(tensors: &mut [Vec<f32>], first: usize, second: usize) -> [&mut Vec<f32>; 2] {
    tensors.get_disjoint_mut([first, second]).expect("gain and shift are two different tensors")
}

impl Backend for Cpu {
    type Numbers = Vec<f32>;
    type Floats = Vec<f32>;
    type Indices = Vec<u32>;
    type Lookups = Vec<u32>;
    type Stories = Vec<usize>;
    type Projected = [Vec<f32>; 3];
    /// Nothing is kept: the probabilities are computed again.
    type Softmax = ();
    type Store = CpuStore;

    fn upload(&self, numbers: &[f32]) -> Vec<f32> {
        numbers.to_vec()
    }

    fn download(&self, numbers: &Vec<f32>) -> Result<Vec<f32>> {
        Ok(numbers.clone())
    }

    fn zeros(&self, len: usize) -> Vec<f32> {
        vec![0.0; len]
    }

    fn floats(&self, numbers: &[f32]) -> Vec<f32> {
        numbers.to_vec()
    }

    fn indices(&self, numbers: &[u32]) -> Vec<u32> {
        numbers.to_vec()
    }

    fn lookups(&self, rows: &[u32]) -> Vec<u32> {
        rows.to_vec()
    }

    fn stories(&self, bounds: &[usize]) -> Vec<usize> {
        bounds.to_vec()
    }

    fn store(&self, tensors: &[Given<'_>], _order: &[usize]) -> Result<CpuStore> {
        Ok(CpuStore::new(tensors))
    }

    fn read(&self, store: &CpuStore, part: Part, tensor: usize) -> Result<Vec<f32>> {
        Ok(store.read(part, tensor))
    }

    fn write(
        &self,
        store: &mut CpuStore,
        part: Part,
        tensor: usize,
        numbers: &[f32],
    ) -> Result<()> {
        store.write(part, tensor, numbers)
    }

    fn round(&self, store: &mut CpuStore, rounded: &[Rounded]) {
        store.round(rounded);
    }

    fn restore(&self, store: &mut CpuStore) {
        store.restore();
    }

    fn clear_gradients(&self, store: &mut CpuStore) {
        store.gradients.iter_mut().for_each(|gradient| gradient.fill(0.0));
    }

    fn step(&self, store: &mut CpuStore, step: AdamStep) {
        store.step(self.ops.isa, step);
    }

    fn steps(&self, store: &CpuStore) -> Result<(f64, Skipped)> {
        Ok((store.norm, store.skipped))
    }

    fn set_skipped(&self, store: &mut CpuStore, skipped: Skipped) {
        store.skipped = skipped;
    }

    fn take_losses(&self, store: &mut CpuStore) -> Result<[f64; LOSSES]> {
        Ok(std::mem::take(&mut store.losses))
    }

    fn embed(
        &self,
        store: &CpuStore,
        tables: Tables,
        norm: Norm,
        rows: &TableRows<Vec<u32>>,
        dropout: Dropout,
    ) -> [Vec<f32>; 2] {
        let (ops, weights) = (self.ops, &store.weights);
        let segments = tables.segments.map(|place| weights[place].as_slice());
        let sum = ops.embed(
            rows,
            (&weights[tables.words], &weights[tables.positions], segments),
            norm.width,
        );
        let mut out = self.normed(store, norm, &sum);
        ops.dropout(&mut out, dropout);
        [sum, out]
    }

    fn embed_backward(
        &self,
        store: &mut CpuStore,
        tables: Tables,
        norm: Norm,
        rows: &TableRows<Vec<u32>>,
        sum: &Vec<f32>,
        mut d_out: Vec<f32>,
        dropout: Dropout,
    ) {
        self.ops.dropout(&mut d_out, dropout);
        let d = self.through_norm(store, norm, sum, &d_out);
        let gradients = &mut store.gradients;
        self.ops.scatter(&d, &rows.words, &mut gradients[tables.words], norm.width);
        self.ops.scatter(&d, &rows.positions, &mut gradients[tables.positions], norm.width);
        match (tables.segments, &rows.segments) {
            (Some(place), Some(segments)) => {
                self.ops.scatter(&d, segments, &mut gradients[place], norm.width);
            }
            (Some(place), None) => {
                self.ops.add_column_sums(&d, &mut gradients[place][..norm.width]);
            }
            (None, _) => {}
        }
    }

    fn add_norm(
        &self,
        store: &CpuStore,
        norm: Norm,
        mut branch: Vec<f32>,
        residual: &Vec<f32>,
        dropout: Dropout,
    ) -> [Vec<f32>; 2] {
        self.ops.dropout(&mut branch, dropout);
        self.ops.add(&mut branch, residual);
        let out = self.normed(store, norm, &branch);
        [branch, out]
    }

    fn add_norm_backward(
        &self,
        store: &mut CpuStore,
        norm: Norm,
        sum: &Vec<f32>,
        d_out: &Vec<f32>,
        dropout: Dropout,
    ) -> [Vec<f32>; 2] {
        let d_residual = self.through_norm(store, norm, sum, d_out);
        let mut d_branch = d_residual.clone();
        self.ops.dropout(&mut d_branch, dropout);
        [d_residual, d_branch]
    }

    fn embed_plain(
        &self,
        store: &CpuStore,
        (words, positions): (usize, Option<usize>),
        width: usize,
        rows: &TableRows<Vec<u32>>,
        dropout: Dropout,
    ) -> Vec<f32> {
        let mut out = self.ops.gather(&store.weights[words], &rows.words, width);
        if let Some(positions) = positions {
            let more = self.ops.gather(&store.weights[positions], &rows.positions, width);
            self.ops.add(&mut out, &more);
        }
        self.ops.dropout(&mut out, dropout);
        out
    }

    fn embed_plain_backward(
        &self,
        store: &mut CpuStore,
        (words, positions): (usize, Option<usize>),
        width: usize,
        rows: &TableRows<Vec<u32>>,
        mut d_out: Vec<f32>,
        dropout: Dropout,
    ) {
        self.ops.dropout(&mut d_out, dropout);
        self.ops.scatter(&d_out, &rows.words, &mut store.gradients[words], width);
        if let Some(positions) = positions {
            self.ops.scatter(&d_out, &rows.positions, &mut store.gradients[positions], width);
        }
    }

    fn norm(&self, store: &CpuStore, norm: Norm, x: &Vec<f32>) -> Vec<f32> {
        self.normed(store, norm, x)
    }

    fn norm_backward(
        &self,
        store: &mut CpuStore,
        norm: Norm,
        x: &Vec<f32>,
        d_out: &Vec<f32>,
        d_x: &mut Vec<f32>,
    ) {
        let d = self.through_norm(store, norm, x, d_out);
        self.ops.add(d_x, &d);
    }

    fn add(&self, mut branch: Vec<f32>, residual: &Vec<f32>, dropout: Dropout) -> Vec<f32> {
        self.ops.dropout(&mut branch, dropout);
        self.ops.add(&mut branch, residual);
        branch
    }

    fn dropped(&self, x: &Vec<f32>, dropout: Dropout) -> Vec<f32> {
        let mut out = x.clone();
        self.ops.dropout(&mut out, dropout);
        out
    }

    fn gated(&self, gate: &Vec<f32>, up: &Vec<f32>, activation: Activation) -> Vec<f32> {
        let mut out = self.ops.activate(gate, activation);
        self.ops.multiply(&mut out, up);
        out
    }

    fn gated_backward(
        &self,
        gate: &Vec<f32>,
        up: &Vec<f32>,
        activation: Activation,
        d_out: &Vec<f32>,
    ) -> [Vec<f32>; 2] {
        let mut d_gate = d_out.clone();
        self.ops.multiply(&mut d_gate, up);
        self.ops.activate_backward(gate, activation, &mut d_gate);
        let mut d_up = self.ops.activate(gate, activation);
        self.ops.multiply(&mut d_up, d_out);
        [d_gate, d_up]
    }

    fn linear(&self, store: &CpuStore, map: Linear, x: &Vec<f32>, rows: usize) -> Vec<f32> {
        self.ops.linear(x, &store.weights[map.weight], store.bias(map), (map, rows))
    }

    fn linear_backward(
        &self,
        store: &mut CpuStore,
        map: Linear,
        x: &Vec<f32>,
        rows: usize,
        d_out: &Vec<f32>,
    ) -> Vec<f32> {
        let mut d_x = vec![0.0; rows * map.inputs];
        self.through(store, map, (x, rows), d_out, &mut d_x);
        d_x
    }

    fn linear_activate(
        &self,
        store: &CpuStore,
        map: Linear,
        x: &Vec<f32>,
        rows: usize,
        activation: Activation,
    ) -> [Vec<f32>; 2] {
        let before = self.linear(store, map, x, rows);
        let out = self.ops.activate(&before, activation);
        [before, out]
    }

    fn linear_activate_backward(
        &self,
        store: &mut CpuStore,
        map: Linear,
        x: &Vec<f32>,
        rows: usize,
        before: &Vec<f32>,
        activation: Activation,
        mut d_out: Vec<f32>,
        d_x: &mut Vec<f32>,
    ) {
        self.ops.activate_backward(before, activation, &mut d_out);
        self.through(store, map, (x, rows), &d_out, d_x);
    }

    fn project(
        &self,
        store: &CpuStore,
        maps: [Linear; 3],
        x: &Vec<f32>,
        rows: usize,
    ) -> [Vec<f32>; 3] {
        maps.map(|map| self.linear(store, map, x, rows))
    }

    fn project_backward(
        &self,
        store: &mut CpuStore,
        maps: [Linear; 3],
        x: &Vec<f32>,
        rows: usize,
        d: [Vec<f32>; 3],
        d_x: &mut Vec<f32>,
    ) {
        for (map, d) in maps.into_iter().zip(&d) {
            self.through(store, map, (x, rows), d, d_x);
        }
    }

    fn turn(
        &self,
        rotary: Rotary,
        [mut query, mut key, value]: [Vec<f32>; 3],
        angles: &Vec<f32>,
        places: &Vec<u32>,
    ) -> [Vec<f32>; 3] {
        self.ops.turn(&mut query, (rotary.queries(), rotary.head_width), angles, places);
        self.ops.turn(&mut key, (rotary.keys(), rotary.head_width), angles, places);
        [query, self.ops.repeat_heads(key, rotary), self.ops.repeat_heads(value, rotary)]
    }

    fn turn_backward(
        &self,
        rotary: Rotary,
        [mut query, key, value]: [Vec<f32>; 3],
        angles: &Vec<f32>,
        places: &Vec<u32>,
    ) -> [Vec<f32>; 3] {
        // The way back is a turn by the opposite angle, whose sine is the negative one.
        let mut back = angles.clone();
        for row in back.chunks_exact_mut(rotary.head_width) {
            row[rotary.head_width / 2..].iter_mut().for_each(|sine| *sine = -*sine);
        }
        let (mut key, value) = (self.ops.sum_heads(key, rotary), self.ops.sum_heads(value, rotary));
        self.ops.turn(&mut query, (rotary.queries(), rotary.head_width), &back, places);
        self.ops.turn(&mut key, (rotary.keys(), rotary.head_width), &back, places);
        [query, key, value]
    }

    fn attention(
        &self,
        store: &CpuStore,
        attention: Attention,
        stories: &Vec<usize>,
        [query, key, value]: &[Vec<f32>; 3],
    ) -> (Vec<f32>, ()) {
        let relative = attention.relative.map(|place| store.weights[place].as_slice());
        (self.ops.attention(query, key, value, relative, (attention, stories)), ())
    }

    fn attention_backward(
        &self,
        store: &mut CpuStore,
        attention: Attention,
        stories: &Vec<usize>,
        [query, key, value]: &[Vec<f32>; 3],
        (): &(),
        _out: &Vec<f32>,
        d_out: &Vec<f32>,
    ) -> [Vec<f32>; 3] {
        let (weights, gradients) = (&store.weights, &mut store.gradients);
        let relative = attention
            .relative
            .map(|place| (weights[place].as_slice(), gradients[place].as_mut_slice()));
        self.ops.attention_backward(query, key, value, relative, (attention, stories), d_out)
    }

    fn scale(&self, x: &mut Vec<f32>, factors: &Vec<f32>) {
        assert_eq!(x.len(), factors.len(), "one factor per number");
        x.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
    }

    fn gather(&self, x: &Vec<f32>, rows: &Vec<u32>, width: usize) -> Vec<f32> {
        self.ops.gather(x, rows, width)
    }

    fn scatter(&self, what: &Vec<f32>, rows: &Vec<u32>, to: &mut Vec<f32>, width: usize) {
        self.ops.scatter(what, rows, to, width);
    }

    fn story_means(&self, x: &Vec<f32>, stories: &Vec<usize>, width: usize) -> Vec<f32> {
        self.ops.story_means(x, stories, width)
    }

    fn story_means_backward(
        &self,
        d_means: &Vec<f32>,
        stories: &Vec<usize>,
        d_x: &mut Vec<f32>,
        width: usize,
    ) {
        self.ops.story_means_backward(d_means, stories, d_x, width);
    }

    fn softmax_loss(
        &self,
        store: &mut CpuStore,
        map: Linear,
        x: &Vec<f32>,
        rows: usize,
        targets: &Vec<u32>,
        weights: &Vec<f32>,
        loss: usize,
    ) -> Vec<f32> {
        let mut d_x = vec![0.0; rows * map.inputs];
        let parts =
            x.chunks(ROWS_AT_ONCE * map.inputs).zip(d_x.chunks_mut(ROWS_AT_ONCE * map.inputs));
        let wanted = targets.chunks(ROWS_AT_ONCE).zip(weights.chunks(ROWS_AT_ONCE));
        let mut sum = 0.0;
        for ((x, d_x), (targets, weights)) in parts.zip(wanted) {
            let (rows, bias) = (targets.len(), store.bias(map));
            let mut logits = self.ops.linear(x, &store.weights[map.weight], bias, (map, rows));
            sum += self.ops.cross_entropy(&mut logits, targets, weights);
            self.through(store, map, (x, rows), &logits, d_x);
        }
        store.losses[loss] += sum;
        d_x
    }

    fn label_loss(
        &self,
        store: &mut CpuStore,
        map: Linear,
        x: &Vec<f32>,
        rows: usize,
        labels: &Vec<f32>,
        weights: &Vec<f32>,
        kind: LabelLoss,
        loss: usize,
    ) -> Vec<f32> {
        let mut outputs = self.linear(store, map, x, rows);
        store.losses[loss] += match kind {
            LabelLoss::CrossEntropy => self.ops.binary_cross_entropy(&mut outputs, labels, weights),
            LabelLoss::SquaredError => self.ops.squared_error(&mut outputs, labels, weights),
            LabelLoss::OnHost => {
                outputs.copy_from_slice(labels);
                weights.iter().map(|loss| f64::from(*loss)).sum()
            }
        };
        self.linear_backward(store, map, x, rows, &outputs)
    }
}
