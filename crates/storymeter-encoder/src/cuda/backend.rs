//! The operations of training on the GPU.

use super::device::{Buffer, Size, launch};
use super::inputs::{Drop, Shape};
use super::pieces::{kind, on_tensor_cores, one_map, variant};
use super::{Cuda, CudaStore, Lookups, Number, Numbers, Projected, Stories};
use crate::Result;
use crate::grid::Rounded;
use crate::kernel::Activation;
use crate::train::{
    AdamStep, Attention, Backend, Dropout, Given, LOSSES, Linear, Norm, Part, Tables,
};

/// Rows whose logits over a whole vocabulary are in memory at one time.
const ROWS_AT_ONCE: usize = 2048;
/// Outputs of a softmax whose logits a block can hold in registers.
const MOST_HELD: usize = 32_768;

impl<N: Number> Backend for Cuda<N> {
    type Numbers = Numbers<N>;
    type Floats = Numbers<f32>;
    type Indices = Numbers<u32>;
    type Lookups = Lookups;
    type Stories = Stories;
    type Projected = Projected<N>;
    /// The logarithm of each softmax's sum.
    type Softmax = Numbers<f32>;
    type Store = CudaStore<N>;

    fn upload(&self, numbers: &[f32]) -> Numbers<N> {
        let (device, floats) = (self.device(), self.device().upload(numbers));
        let out = self.alloc(numbers.len());
        let size = Size::of(numbers.len(), 256);
        launch!(
            device,
            "to_activations",
            size,
            floats.pointer(),
            numbers.len() as u64,
            out.0.pointer()
        );
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

    fn indices(&self, numbers: &[u32]) -> Numbers<u32> {
        Numbers(self.device().upload(numbers))
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

    fn gradient_norm(&self, store: &CudaStore<N>) -> Result<f64> {
        store.norm(self.device())
    }

    fn take_losses(&self, store: &mut CudaStore<N>) -> Result<[f64; LOSSES]> {
        store.take_losses(self.device())
    }

    fn embed(
        &self,
        store: &CudaStore<N>,
        tables: Tables,
        norm: Norm,
        ids: &Lookups,
        places: &Lookups,
        dropout: Dropout,
    ) -> [Numbers<N>; 2] {
        let (rows, width) = (ids.count, norm.width);
        self.check_norm(width);
        let (sum, out) = (self.alloc(rows * width), self.alloc(rows * width));
        launch!(
            self.device(),
            variant(["embed_1", "embed_2", "embed_3", "embed_4"], width),
            Size::of(rows * 32, 256),
            ids.rows(),
            places.rows(),
            store.weight(tables.words),
            store.weight(tables.positions),
            tables.segments.map_or(0, |segments| store.weight(segments)),
            store.weight(norm.gain),
            store.weight(norm.shift),
            norm.eps,
            sum.0.pointer(),
            out.0.pointer(),
            rows as u32,
            width as u32,
            Drop::from(dropout)
        );
        [sum, out]
    }

    fn embed_backward(
        &self,
        store: &mut CudaStore<N>,
        tables: Tables,
        norm: Norm,
        ids: &Lookups,
        places: &Lookups,
        sum: &Numbers<N>,
        d_out: Numbers<N>,
        dropout: Dropout,
    ) {
        let drops = (dropout, Dropout::none());
        let d = self.norm_backward(store, norm, (sum, d_out.0.pointer(), 0), drops);
        let (device, width) = (self.device(), norm.width);
        self.scatter_gradients(&d, ids, store.gradient(device, tables.words), width);
        self.scatter_gradients(&d, places, store.gradient(device, tables.positions), width);
        if let Some(segments) = tables.segments {
            let to = store.gradient(device, segments);
            self.column_sums((d.0.pointer(), ids.count), (width, width), None, to);
        }
    }

    fn add_norm(
        &self,
        store: &CudaStore<N>,
        norm: Norm,
        branch: Numbers<N>,
        residual: &Numbers<N>,
        dropout: Dropout,
    ) -> [Numbers<N>; 2] {
        let (rows, width) = (branch.0.len() / norm.width, norm.width);
        self.check_norm(width);
        let out = self.alloc(branch.0.len());
        launch!(
            self.device(),
            variant(["add_norm_1", "add_norm_2", "add_norm_3", "add_norm_4"], width),
            Size::of(rows * 32, 256),
            branch.0.pointer(),
            residual.0.pointer(),
            store.weight(norm.gain),
            store.weight(norm.shift),
            norm.eps,
            out.0.pointer(),
            rows as u32,
            width as u32,
            Drop::from(dropout)
        );
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
        let d_branch = self.alloc(sum.0.len());
        let from = (sum, d_out.0.pointer(), d_branch.0.pointer());
        let d_residual = self.norm_backward(store, norm, from, (Dropout::none(), dropout));
        [d_residual, d_branch]
    }

    fn linear(&self, store: &CudaStore<N>, map: Linear, x: &Numbers<N>, rows: usize) -> Numbers<N> {
        let out = self.alloc(rows * map.outputs);
        self.forward(store, map, (x.0.pointer(), rows), out.0.pointer(), map.outputs);
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
        let (d_x, d_y) = (self.alloc(rows * map.inputs), d_out.0.pointer());
        self.backward(
            store,
            map,
            (x.0.pointer(), rows),
            (d_y, map.outputs),
            (d_x.0.pointer(), false),
        );
        let to = store.gradient(self.device(), map.bias);
        self.column_sums((d_y, rows), (map.outputs, map.outputs), None, to);
        d_x
    }

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
        let out = self.alloc(rows * map.outputs);
        let vectors = rows * map.outputs / 8;
        let (size, count, which) = (Size::of(vectors, 256), vectors as u64, kind(activation));
        launch!(self.device(), "activate", size, before.0.pointer(), out.0.pointer(), count, which);
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
        let (d_y, to) = (d_out.0.pointer(), store.gradient(self.device(), map.bias));
        let before = Some((before.0.pointer(), activation));
        self.column_sums((d_y, rows), (map.outputs, map.outputs), before, to);
        self.backward(
            store,
            map,
            (x.0.pointer(), rows),
            (d_y, map.outputs),
            (d_x.0.pointer(), true),
        );
    }

    fn project(
        &self,
        store: &CudaStore<N>,
        maps: [Linear; 3],
        x: &Numbers<N>,
        rows: usize,
    ) -> Projected<N> {
        if !store.together(maps) {
            self.device().fail(
                "the weights of query, key and value are not one matrix: is the width a multiple of 8?",
            );
        }
        Projected(self.linear(store, one_map(maps), x, rows))
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
        let (map, d_y) = (one_map(maps), d.0.0.pointer());
        self.backward(
            store,
            map,
            (x.0.pointer(), rows),
            (d_y, map.outputs),
            (d_x.0.pointer(), true),
        );
        let to = store.gradient(self.device(), map.bias);
        self.column_sums((d_y, rows), (map.outputs, map.outputs), None, to);
    }

    fn attention(
        &self,
        store: &CudaStore<N>,
        attention: Attention,
        stories: &Stories,
        projected: &Projected<N>,
    ) -> (Numbers<N>, Numbers<f32>) {
        let device = self.device();
        self.check_attention(attention, stories);
        let out = self.alloc(stories.rows * attention.width);
        let sums: Buffer<f32> = device.alloc(stories.rows * attention.heads);
        let relative = self.relative(store, attention);
        let (name, shared) = match on_tensor_cores::<N>(attention) {
            Some(32) => ("attention_mma_32", 0),
            Some(_) => ("attention_mma_64", 0),
            None => ("attention", Self::plain_shared(attention, 0)),
        };
        launch!(
            device,
            name,
            Size::blocks(stories.tiles, attention.heads, 128, shared),
            projected.0.0.pointer(),
            stories.tiles_at(),
            relative.table(),
            Shape::from(attention),
            out.0.pointer(),
            sums.pointer()
        );
        (out, Numbers(sums))
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
        let (device, heads, shape) = (self.device(), attention.heads, Shape::from(attention));
        let d = self.alloc(3 * stories.rows * attention.width);
        let delta: Buffer<f32> = device.alloc(stories.rows * heads);
        let size = Size::of(stories.rows * heads, 128);
        let (rows, d_y) = (stories.rows as u32, d_out.0.pointer());
        launch!(
            device,
            "attention_delta",
            size,
            out.0.pointer(),
            d_y,
            rows,
            shape,
            delta.pointer()
        );
        let relative = self.relative(store, attention);
        let partial: Buffer<f32> = device.alloc(stories.tiles * heads * relative.buckets);
        let shared = Self::plain_shared(attention, relative.buckets);
        let (of_query, of_key_value, shared) = match on_tensor_cores::<N>(attention) {
            Some(32) => ("attention_d_query_mma_32", "attention_d_key_value_mma_32", 0),
            Some(_) => ("attention_d_query_mma_64", "attention_d_key_value_mma_64", 0),
            None => ("attention_d_query", "attention_d_key_value", shared),
        };
        let size = Size::blocks(stories.tiles, heads, 128, shared);
        let (qkv, tiles, table) = (projected.0.0.pointer(), stories.tiles_at(), relative.table());
        let (sums, delta_at, d_at) = (softmax.0.pointer(), delta.pointer(), d.0.pointer());
        launch!(
            device,
            of_query,
            size,
            qkv,
            d_y,
            tiles,
            table,
            relative.bucket_of,
            relative.buckets as u32,
            shape,
            sums,
            delta_at,
            d_at,
            partial.pointer()
        );
        launch!(device, of_key_value, size, qkv, d_y, tiles, table, shape, sums, delta_at, d_at);
        if let Some(tensor) = attention.relative {
            let size = Size::blocks(relative.buckets, heads, 128, 0);
            let (tiles, heads, buckets) =
                (stories.tiles as u32, heads as u32, relative.buckets as u32);
            let to = store.gradient(device, tensor);
            launch!(device, "add_relative", size, partial.pointer(), tiles, heads, buckets, to);
        }
        Projected(d)
    }

    fn gather(&self, x: &Numbers<N>, rows: &Lookups, width: usize) -> Numbers<N> {
        self.check_width(width);
        let out = self.alloc(rows.count * width);
        let size = Size::of(rows.count * width / 8, 256);
        let (count, columns) = (rows.count as u32, width as u32);
        launch!(
            self.device(),
            "gather_rows",
            size,
            x.0.pointer(),
            rows.rows(),
            count,
            columns,
            out.0.pointer()
        );
        out
    }

    fn scatter(&self, what: &Numbers<N>, rows: &Lookups, to: &mut Numbers<N>, width: usize) {
        self.scatter_with("scatter_rows", what, rows, to.0.pointer(), width);
    }

    fn story_means(&self, x: &Numbers<N>, stories: &Stories, width: usize) -> Numbers<N> {
        self.check_width(width);
        let out = self.alloc(stories.count * width);
        let size = Size::blocks(stories.count, 1, 128, 0);
        let (from, bounds) = (x.0.pointer(), stories.bounds());
        launch!(self.device(), "story_means", size, from, bounds, width as u32, out.0.pointer());
        out
    }

    fn story_means_backward(
        &self,
        d_means: &Numbers<N>,
        stories: &Stories,
        d_x: &mut Numbers<N>,
        width: usize,
    ) {
        let size = Size::blocks(stories.count, 1, 128, 0);
        let (from, bounds) = (d_means.0.pointer(), stories.bounds());
        launch!(
            self.device(),
            "story_means_backward",
            size,
            from,
            bounds,
            width as u32,
            d_x.0.pointer()
        );
    }

    fn softmax_loss(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        x: &Numbers<N>,
        rows: usize,
        targets: &Numbers<u32>,
        weights: &Numbers<f32>,
        loss: usize,
    ) -> Numbers<N> {
        let device = self.device();
        let d_x = self.alloc(rows * map.inputs);
        let losses: Buffer<f32> = device.alloc(rows);
        let stride = map.outputs.next_multiple_of(8);
        let logits = self.alloc(rows.min(ROWS_AT_ONCE) * stride);
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            let part = ROWS_AT_ONCE.min(rows - first);
            let (x, d_x) = (x.0.at(first * map.inputs), d_x.0.at(first * map.inputs));
            let at = logits.0.pointer();
            self.forward(store, map, (x, part), at, stride);
            launch!(
                device,
                if map.outputs <= MOST_HELD { "softmax_loss_held" } else { "softmax_loss" },
                Size::blocks(part, 1, 512, 0),
                at,
                stride as u32,
                map.outputs as u32,
                targets.0.at(first),
                weights.0.at(first),
                losses.at(first)
            );
            self.backward(store, map, (x, part), (at, stride), (d_x, false));
            self.column_sums(
                (at, part),
                (stride, map.outputs),
                None,
                store.gradient(device, map.bias),
            );
        }
        let size = Size::blocks(1, 1, 256, 0);
        launch!(device, "sum_losses", size, losses.pointer(), rows as u32, store.losses.at(loss));
        d_x
    }

    fn sigmoid_loss(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        x: &Numbers<N>,
        rows: usize,
        labels: &Numbers<f32>,
        weights: &Numbers<f32>,
        loss: usize,
    ) -> Numbers<N> {
        let device = self.device();
        self.check_width(map.inputs);
        let d_x = self.alloc(rows * map.inputs);
        let count = rows * map.outputs;
        let (losses, d_logits): (Buffer<f32>, Buffer<f32>) =
            (device.alloc(count), device.alloc(count));
        let (height, width, outputs) = (rows as u32, map.inputs as u32, map.outputs as u32);
        launch!(
            device,
            "sigmoid_loss",
            Size::of(rows * 32, 256),
            x.0.pointer(),
            store.weight(map.weight),
            store.weight(map.bias),
            labels.0.pointer(),
            weights.0.pointer(),
            height,
            width,
            outputs,
            losses.pointer(),
            d_logits.pointer(),
            d_x.0.pointer()
        );
        let [d_weight, d_bias] =
            [map.weight, map.bias].map(|tensor| store.gradient(device, tensor));
        let size = Size::blocks(map.inputs.div_ceil(32), map.outputs, 256, 0);
        let d_at = d_logits.pointer();
        launch!(
            device,
            "sigmoid_gradients",
            size,
            x.0.pointer(),
            d_at,
            height,
            width,
            outputs,
            d_weight,
            d_bias
        );
        let size = Size::blocks(1, 1, 256, 0);
        launch!(device, "sum_losses", size, losses.pointer(), count as u32, store.losses.at(loss));
        d_x
    }
}
