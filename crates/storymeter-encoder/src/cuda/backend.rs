//! The operations of training on the GPU.

use super::device::{Size, launch, word};
use super::inputs::Drop;
use super::memory::Buffer;
use super::pieces::{kind, one_map, variant};
use super::{Cuda, CudaStore, Indices, Lookups, Number, Numbers, Projected, Stories};
use crate::Result;
use crate::error::DeviceError;
use crate::grid::Rounded;
use crate::kernel::Activation;
use crate::train::{
    AdamStep, Attention, Backend, Dropout, Given, LOSSES, LabelLoss, Linear, Norm, Part, Rotary,
    Skipped, TableRows, Tables,
};

impl<N: Number> Backend for Cuda<N> {
    type Numbers = Numbers<N>;
    type Floats = Numbers<f32>;
    type Indices = Indices;
    type Lookups = Lookups;
    type Stories = Stories;
    type Projected = Projected<N>;
    /// The logarithm of each softmax's sum.
    type Softmax = Numbers<f32>;
    type Store = CudaStore<N>;

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn upload(&self, numbers: &[f32]) -> Numbers<N> {
        let (device, floats) = (self.device(), self.device().upload(numbers));
        let (len, out) = (numbers.len(), self.alloc(numbers.len()));
        let size = Size::of(len, 256);
        let (from, to) = (floats.first(len), out.0.first(len));
        // SAFETY: both buffers have `len` numbers.
        unsafe { launch!(device, "to_activations", size, from, len as u64, to) };
        out
    }

    fn download(&self, numbers: &Numbers<N>) -> Result<Vec<f32>> {
        self.device().read(&self.to_floats(numbers), 0, numbers.0.len())
    }

    fn zeros(&self, len: usize) -> Numbers<N> {
        Numbers(self.device().zeros(len))
    }

    fn floats(&self, numbers: &[f32]) -> Numbers<f32> {
        Numbers(self.device().upload(numbers))
    }

    fn indices(&self, numbers: &[u32]) -> Indices {
        Indices::new(self.device(), numbers)
    }

    fn lookups(&self, rows: &[u32]) -> Lookups {
        Lookups::new(self.device(), rows)
    }

    fn stories(&self, bounds: &[usize]) -> Stories {
        Stories::new(self.device(), bounds)
    }

    fn store(&self, tensors: &[Given<'_>], order: &[usize]) -> Result<CudaStore<N>> {
        CudaStore::new(self.device(), tensors, order)
    }

    fn read(&self, store: &CudaStore<N>, part: Part, tensor: usize) -> Result<Vec<f32>> {
        store.read(self.device(), part, tensor)
    }

    fn write(
        &self,
        store: &mut CudaStore<N>,
        part: Part,
        tensor: usize,
        numbers: &[f32],
    ) -> Result<()> {
        store.write(self.device(), part, tensor, numbers)
    }

    fn round(&self, store: &mut CudaStore<N>, rounded: &[Rounded]) {
        store.round(self.device(), rounded);
    }

    fn restore(&self, store: &mut CudaStore<N>) {
        store.restore(self.device());
    }

    fn clear_gradients(&self, store: &mut CudaStore<N>) {
        store.clear_gradients(self.device());
    }

    fn step(&self, store: &mut CudaStore<N>, step: AdamStep) {
        store.step(self, step);
    }

    fn steps(&self, store: &CudaStore<N>) -> Result<(f64, Skipped)> {
        store.steps(self.device())
    }

    fn set_skipped(&self, store: &mut CudaStore<N>, skipped: Skipped) {
        store.set_skipped(self.device(), skipped);
    }

    fn take_losses(&self, store: &mut CudaStore<N>) -> Result<[f64; LOSSES]> {
        store.take_losses(self.device())
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn embed(
        &self,
        store: &CudaStore<N>,
        tables: Tables,
        norm: Norm,
        rows: &TableRows<Lookups>,
        dropout: Dropout,
    ) -> [Numbers<N>; 2] {
        let TableRows { words: ids, positions: places, segments: kinds } = rows;
        let (rows, width) = (ids.count, norm.width);
        assert_eq!(places.count, rows, "one position per token");
        assert!(kinds.as_ref().is_none_or(|kinds| kinds.count == rows), "one segment per token");
        let kinds_bound = kinds.as_ref().map_or(1, |kinds| kinds.bound);
        self.check_norm(width);
        let (sum, out) = (self.alloc(rows * width), self.alloc(rows * width));
        let Some(shift) = self.shift(norm) else { return [sum, out] };
        let table = |tensor, bound: usize| store.weight(tensor, bound * width).first(bound * width);
        // SAFETY: there is an id and a place for each of `rows` rows, and the tables have all rows
        // that these name; the segments, if they are not 0, have all rows that `kinds` names, or
        // the first one where that is 0; gain and shift have `width` numbers, and `sum` and `out`
        // `rows` rows. `check_norm` knows a variant for the width.
        unsafe {
            launch!(
                self.device(),
                variant(["embed_1", "embed_2", "embed_3", "embed_4"], width),
                Size::of(rows * 32, 256),
                ids.rows(),
                places.rows(),
                table(tables.words, ids.bound),
                table(tables.positions, places.bound),
                tables.segments.map_or(0, |segments| table(segments, kinds_bound)),
                kinds.as_ref().map_or(0, Lookups::rows),
                table(norm.gain, 1),
                table(shift, 1),
                norm.eps,
                sum.0.first(rows * width),
                out.0.first(rows * width),
                word(rows),
                word(width),
                Drop::from(dropout)
            );
        }
        [sum, out]
    }

    fn embed_backward(
        &self,
        store: &mut CudaStore<N>,
        tables: Tables,
        norm: Norm,
        rows: &TableRows<Lookups>,
        sum: &Numbers<N>,
        d_out: Numbers<N>,
        dropout: Dropout,
    ) {
        let drops = (dropout, Dropout::none());
        let Some(shift) = self.shift(norm) else { return };
        let d = self.through_norm(store, (norm, shift), (sum, &d_out, None), drops);
        let (device, width) = (self.device(), norm.width);
        let segments = tables.segments.zip(rows.segments.as_ref());
        let tables_and_rows = [(tables.words, &rows.words), (tables.positions, &rows.positions)];
        for (table, rows) in tables_and_rows.into_iter().chain(segments) {
            let to = store.gradient(device, table, rows.bound * width);
            self.scatter_gradients(&d, rows, to, width);
        }
        if let (Some(table), None) = (tables.segments, &rows.segments) {
            let to = store.gradient(device, table, width);
            self.column_sums((d.0.view(), rows.words.count), width, None, to);
        }
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn add_norm(
        &self,
        store: &CudaStore<N>,
        norm: Norm,
        branch: Numbers<N>,
        residual: &Numbers<N>,
        dropout: Dropout,
    ) -> [Numbers<N>; 2] {
        let Some(shift) = norm.shift else {
            let sum = self.add(branch, residual, dropout);
            let out = self.norm(store, norm, &sum);
            return [sum, out];
        };
        let (rows, width) = (branch.0.len() / norm.width, norm.width);
        self.check_norm(width);
        let out = self.alloc(branch.0.len());
        let all = rows * width;
        // SAFETY: `branch`, `residual` and `out` have `rows` rows of `width` numbers, gain and
        // shift one, and `check_norm` knows a variant for the width.
        unsafe {
            launch!(
                self.device(),
                variant(["add_norm_1", "add_norm_2", "add_norm_3", "add_norm_4"], width),
                Size::of(rows * 32, 256),
                branch.0.first(all),
                residual.0.first(all),
                store.weight(norm.gain, width).first(width),
                store.weight(shift, width).first(width),
                norm.eps,
                out.0.first(all),
                word(rows),
                word(width),
                Drop::from(dropout)
            );
        }
        [branch, out]
    }

    fn add_norm_backward(
        &self,
        store: &mut CudaStore<N>,
        norm: Norm,
        sum: &Numbers<N>,
        d_out: &Numbers<N>,
        dropout: Dropout,
    ) -> [Numbers<N>; 2] {
        let Some(shift) = norm.shift else {
            let mut d_residual = self.zeros(sum.0.len());
            self.norm_backward(store, norm, sum, d_out, &mut d_residual);
            let d_branch = self.dropped(&d_residual, dropout);
            return [d_residual, d_branch];
        };
        let d_branch = self.alloc(sum.0.len());
        let from = (sum, d_out, Some(&d_branch));
        let d_residual = self.through_norm(store, (norm, shift), from, (Dropout::none(), dropout));
        [d_residual, d_branch]
    }

    fn embed_plain(
        &self,
        store: &CudaStore<N>,
        tables: (usize, Option<usize>),
        width: usize,
        rows: &TableRows<Lookups>,
        dropout: Dropout,
    ) -> Numbers<N> {
        self.embed_words(store, tables, width, rows, dropout)
    }

    fn embed_plain_backward(
        &self,
        store: &mut CudaStore<N>,
        (words, positions): (usize, Option<usize>),
        width: usize,
        rows: &TableRows<Lookups>,
        d_out: Numbers<N>,
        dropout: Dropout,
    ) {
        let d = self.dropped(&d_out, dropout);
        let positions = positions.map(|table| (table, &rows.positions));
        for (table, rows) in [(words, &rows.words)].into_iter().chain(positions) {
            let to = store.gradient(self.device(), table, rows.bound * width);
            self.scatter_gradients(&d, rows, to, width);
        }
    }

    fn norm(&self, store: &CudaStore<N>, norm: Norm, x: &Numbers<N>) -> Numbers<N> {
        self.norm_plain(store, norm, x)
    }

    fn norm_backward(
        &self,
        store: &mut CudaStore<N>,
        norm: Norm,
        x: &Numbers<N>,
        d_out: &Numbers<N>,
        d_x: &mut Numbers<N>,
    ) {
        self.norm_plain_backward(store, norm, x, d_out, d_x);
    }

    fn add(&self, branch: Numbers<N>, residual: &Numbers<N>, dropout: Dropout) -> Numbers<N> {
        self.add_dropped(&branch, Some(residual), dropout)
    }

    fn dropped(&self, x: &Numbers<N>, dropout: Dropout) -> Numbers<N> {
        self.add_dropped(x, None, dropout)
    }

    fn gated(&self, gate: &Numbers<N>, up: &Numbers<N>, activation: Activation) -> Numbers<N> {
        self.gated_product(gate, up, activation)
    }

    fn gated_backward(
        &self,
        gate: &Numbers<N>,
        up: &Numbers<N>,
        activation: Activation,
        d_out: &Numbers<N>,
    ) -> [Numbers<N>; 2] {
        self.gated_product_backward(gate, up, activation, d_out)
    }

    fn linear(&self, store: &CudaStore<N>, map: Linear, x: &Numbers<N>, rows: usize) -> Numbers<N> {
        let out = self.alloc(rows * map.outputs);
        self.forward(store, map, (x.0.view(), rows), (out.0.view(), map.outputs));
        out
    }

    fn linear_backward(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        x: &Numbers<N>,
        rows: usize,
        d_out: &Numbers<N>,
    ) -> Numbers<N> {
        let (d_x, d_y) = (self.alloc(rows * map.inputs), d_out.0.view());
        let to_input = (d_x.0.view(), false);
        self.backward(store, map, (x.0.view(), rows), (d_y, map.outputs), to_input);
        self.bias_backward(store, map, (d_y, rows), map.outputs);
        d_x
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn linear_activate(
        &self,
        store: &CudaStore<N>,
        map: Linear,
        x: &Numbers<N>,
        rows: usize,
        activation: Activation,
    ) -> [Numbers<N>; 2] {
        self.check_width(map.outputs);
        let before = self.linear(store, map, x, rows);
        let len = rows * map.outputs;
        let out = self.alloc(len);
        let vectors = len / 8;
        let (size, count, which) = (Size::of(vectors, 256), vectors as u64, kind(activation));
        let (from, to) = (before.0.first(len), out.0.first(len));
        // SAFETY: both buffers have `count` times eight numbers.
        unsafe { launch!(self.device(), "activate", size, from, to, count, which) };
        [before, out]
    }

    fn linear_activate_backward(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        x: &Numbers<N>,
        rows: usize,
        before: &Numbers<N>,
        activation: Activation,
        d_out: Numbers<N>,
        d_x: &mut Numbers<N>,
    ) {
        let d_y = d_out.0.view();
        let before = Some((before.0.view(), activation));
        // The gradient goes through the activation even where there is no bias to sum it up for.
        let nowhere: Buffer<f32>;
        let to = match map.bias {
            Some(bias) => store.gradient(self.device(), bias, map.outputs),
            None => {
                nowhere = self.device().zeros(map.outputs);
                nowhere.view()
            }
        };
        self.column_sums((d_y, rows), map.outputs, before, to);
        let to_input = (d_x.0.view(), true);
        self.backward(store, map, (x.0.view(), rows), (d_y, map.outputs), to_input);
    }

    fn project(
        &self,
        store: &CudaStore<N>,
        maps: [Linear; 3],
        x: &Numbers<N>,
        rows: usize,
    ) -> Projected<N> {
        let map = one_map(maps);
        if !store.together(maps) {
            let problem = "needs the weights of query, key and value as one matrix: is the width a \
                           multiple of 8?";
            self.device().fail(DeviceError::Unsupported(problem.into()));
            return Projected(self.alloc(rows * map.outputs));
        }
        Projected(self.linear(store, map, x, rows))
    }

    fn project_backward(
        &self,
        store: &mut CudaStore<N>,
        maps: [Linear; 3],
        x: &Numbers<N>,
        rows: usize,
        d: Projected<N>,
        d_x: &mut Numbers<N>,
    ) {
        if self.device().failed() {
            return;
        }
        let (map, d_y) = (one_map(maps), d.0.0.view());
        let to_input = (d_x.0.view(), true);
        self.backward(store, map, (x.0.view(), rows), (d_y, map.outputs), to_input);
        self.bias_backward(store, map, (d_y, rows), map.outputs);
    }

    fn turn(
        &self,
        rotary: Rotary,
        projected: Projected<N>,
        angles: &Numbers<f32>,
        places: &Lookups,
    ) -> Projected<N> {
        self.turn_heads(rotary, &projected, angles, places)
    }

    fn turn_backward(
        &self,
        rotary: Rotary,
        d: Projected<N>,
        angles: &Numbers<f32>,
        places: &Lookups,
    ) -> Projected<N> {
        self.turn_heads_back(rotary, &d, angles, places)
    }

    fn attention(
        &self,
        store: &CudaStore<N>,
        attention: Attention,
        stories: &Stories,
        projected: &Projected<N>,
    ) -> (Numbers<N>, Numbers<f32>) {
        self.attend(store, attention, stories, projected)
    }

    fn attention_backward(
        &self,
        store: &mut CudaStore<N>,
        attention: Attention,
        stories: &Stories,
        projected: &Projected<N>,
        softmax: &Numbers<f32>,
        out: &Numbers<N>,
        d_out: &Numbers<N>,
    ) -> Projected<N> {
        self.attend_backward(store, attention, stories, projected, softmax, [out, d_out])
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn scale(&self, x: &mut Numbers<N>, factors: &Numbers<f32>) {
        let len = x.0.len();
        let (size, x, factors) = (Size::of(len, 256), x.0.first(len), factors.0.first(len));
        // SAFETY: both buffers have `len` numbers.
        unsafe { launch!(self.device(), "scale_numbers", size, x, factors, len as u64) };
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn gather(&self, x: &Numbers<N>, rows: &Lookups, width: usize) -> Numbers<N> {
        self.check_width(width);
        let out = self.alloc(rows.count * width);
        let size = Size::of(rows.count * width / 8, 256);
        let (from, to) = (x.0.first(rows.bound * width), out.0.first(rows.count * width));
        let (count, columns) = (word(rows.count), word(width));
        // SAFETY: `from` has every row that `rows` names, and `to` a row for each of `count`.
        unsafe {
            launch!(self.device(), "gather_rows", size, from, rows.rows(), count, columns, to)
        };
        out
    }

    fn scatter(&self, what: &Numbers<N>, rows: &Lookups, to: &mut Numbers<N>, width: usize) {
        self.scatter_rows(what, rows, to, width);
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn story_means(&self, x: &Numbers<N>, stories: &Stories, width: usize) -> Numbers<N> {
        self.check_width(width);
        let out = self.alloc(stories.count * width);
        let size = Size::blocks(stories.count, 1, 128, 0);
        let (from, to) = (x.0.first(stories.rows * width), out.0.first(stories.count * width));
        let (bounds, width) = (stories.bounds(), word(width));
        // SAFETY: `from` has the rows of all stories, and `to` one row per story.
        unsafe { launch!(self.device(), "story_means", size, from, bounds, width, to) };
        out
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn story_means_backward(
        &self,
        d_means: &Numbers<N>,
        stories: &Stories,
        d_x: &mut Numbers<N>,
        width: usize,
    ) {
        self.check_width(width);
        let size = Size::blocks(stories.count, 1, 128, 0);
        let from = d_means.0.first(stories.count * width);
        let to = d_x.0.first(stories.rows * width);
        let (bounds, width) = (stories.bounds(), word(width));
        // SAFETY: `from` has one row per story, and `to` the rows of all stories.
        unsafe { launch!(self.device(), "story_means_backward", size, from, bounds, width, to) };
    }

    fn softmax_loss(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        x: &Numbers<N>,
        rows: usize,
        targets: &Indices,
        weights: &Numbers<f32>,
        loss: usize,
    ) -> Numbers<N> {
        self.softmax_of(store, map, (x, rows), (targets, weights), loss)
    }

    fn label_loss(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        x: &Numbers<N>,
        rows: usize,
        labels: &Numbers<f32>,
        weights: &Numbers<f32>,
        kind: LabelLoss,
        loss: usize,
    ) -> Numbers<N> {
        self.labels_of(store, map, (x, rows), (labels, weights, kind), loss)
    }
}
