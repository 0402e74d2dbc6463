//! The pieces that the operations on the GPU are put together from.

use super::device::{Size, launch, word};
use super::gemm::{Extent, Matrix, Which};
use super::inputs::Drop;
use super::memory::{Buffer, View};
use super::{Cuda, CudaStore, Lookups, Number, Numbers};
use crate::error::DeviceError;
use crate::kernel::Activation;
use crate::train::{Dropout, Linear, Norm};

/// The widest rows that the row kernels take.
const WIDEST: usize = 1024;

/// The variant of a row kernel for a width; the variants grow in steps of 256.
pub(super) fn variant(names: [&'static str; 4], width: usize) -> &'static str {
    names[width.div_ceil(256).clamp(1, 4) - 1]
}

/// The number of an activation in the kernels.
pub(super) fn kind(activation: Activation) -> u32 {
    match activation {
        Activation::GeluErf => 0,
        Activation::GeluTanh => 1,
        Activation::Relu => 2,
        // Number 3 is no activation (`int8`).
        Activation::Silu => 4,
        Activation::Tanh => 5,
    }
}

impl<N: Number> Cuda<N> {
    pub(super) fn alloc(&self, len: usize) -> Numbers<N> {
        Numbers(self.device().alloc(len))
    }

    /// Activations in full precision.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn to_floats(&self, numbers: &Numbers<N>) -> Buffer<f32> {
        let (device, len) = (self.device(), numbers.0.len());
        let floats: Buffer<f32> = device.alloc(len);
        let size = Size::of(len, 256);
        let (from, to) = (numbers.0.first(len), floats.first(len));
        // SAFETY: both buffers have the number of numbers that the kernel is told.
        unsafe { launch!(device, "from_activations", size, from, len as u64, to) };
        floats
    }

    /// Makes the device fail if the kernels have no variant for rows of this width.
    pub(super) fn check_width(&self, width: usize) {
        if !width.is_multiple_of(8) {
            let problem = format!("needs widths that are multiples of 8, and this one is {width}");
            self.device().fail(DeviceError::Unsupported(problem));
        }
    }

    /// Makes the device fail if the kernels that normalise rows have no variant for this width.
    pub(super) fn check_norm(&self, width: usize) {
        self.check_width(width);
        if width > WIDEST {
            let problem = format!("takes hidden states of at most {WIDEST} numbers, not {width}");
            self.device().fail(DeviceError::Unsupported(problem));
        }
    }

    /// The shift of a layer norm. Makes the device fail if the norm is an RMS norm.
    pub(super) fn shift(&self, norm: Norm) -> Option<usize> {
        if norm.shift.is_none() {
            let problem = "has no kernel for embeddings with an RMS norm";
            self.device().fail(DeviceError::Unsupported(problem.into()));
        }
        norm.shift
    }

    /// `y = x w^T + b`, where the rows of `y` are `stride` numbers apart.
    pub(super) fn forward(
        &self,
        store: &CudaStore<N>,
        map: Linear,
        (x, rows): (View<'_, N>, usize),
        (y, stride): (View<'_, N>, usize),
    ) {
        let Linear { inputs, outputs, .. } = map;
        let device = self.device();
        let weight = Matrix::new(store.active(map.weight, inputs * outputs), inputs);
        let matrices = [weight, Matrix::new(x, inputs), Matrix::new(y, stride)];
        let bias = map.bias.map(|bias| store.active(bias, outputs));
        let extent = Extent { rows, inputs, outputs };
        device.gemm.product(device, Which::Forward, extent, matrices, false, bias);
    }

    /// The gradients of the input and of the weight. That of the bias is [`Cuda::column_sums`]'s.
    pub(super) fn backward(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        (x, rows): (View<'_, N>, usize),
        (d_y, stride): (View<'_, N>, usize),
        (d_x, add): (View<'_, N>, bool),
    ) {
        let (device, Linear { inputs, outputs, .. }) = (self.device(), map);
        let extent = Extent { rows, inputs, outputs };
        let d_y = Matrix::new(d_y, stride);
        let weight = Matrix::new(store.active(map.weight, inputs * outputs), inputs);
        let matrices = [weight, d_y, Matrix::new(d_x, inputs)];
        device.gemm.product::<N>(device, Which::Input, extent, matrices, add, None);
        let gradient = Matrix::new(store.gradient(device, map.weight, inputs * outputs), inputs);
        let matrices = [Matrix::new(x, inputs), d_y, gradient];
        device.gemm.product::<N>(device, Which::Weight, extent, matrices, true, None);
    }

    /// Adds the gradient of the bias of a linear map, if it has one.
    pub(super) fn bias_backward(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        (d_y, rows): (View<'_, N>, usize),
        stride: usize,
    ) {
        if let Some(bias) = map.bias {
            let to = store.gradient(self.device(), bias, map.outputs);
            self.column_sums((d_y, rows), stride, None, to);
        }
    }

    /// Adds the sums of the first columns of `x` (rows of `stride` numbers) to `to`, which has one
    /// number per column. With `before`, `x` is first multiplied with the slope of the activation
    /// there.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn column_sums(
        &self,
        (x, rows): (View<'_, N>, usize),
        stride: usize,
        before: Option<(View<'_, N>, Activation)>,
        to: View<'_, f32>,
    ) {
        let device = self.device();
        self.check_width(stride);
        assert!(to.len() <= stride, "there are not more sums than columns");
        if rows == 0 {
            return;
        }
        // Enough blocks to fill the device, and as many rows for each as that leaves.
        let across = stride.div_ceil(256);
        let each =
            rows.div_ceil((4 * device.processors as usize).div_ceil(across)).next_multiple_of(8);
        let parts = rows.div_ceil(each);
        let partial: Buffer<f32> = device.alloc(parts * stride);
        let (at, which) = before.map_or((0, 0), |(numbers, activation)| {
            (numbers.first(rows * stride), kind(activation))
        });
        let size = Size::blocks(across, parts, 256, 0);
        let (x, partial_at) = (x.first(rows * stride), partial.first(parts * stride));
        let (rows, each, width) = (word(rows), word(each), word(stride));
        // SAFETY: `x` and, where it is not 0, `at` have `rows` rows of `width` numbers, a multiple
        // of 8; `partial` has one row per part. Blocks cover all columns, and rows end at `rows`.
        unsafe {
            launch!(device, "column_sums", size, x, at, which, rows, width, each, partial_at);
        }
        self.add_partials(partial.view(), (parts, stride), to);
    }

    /// Adds the sum of rows of `stride` numbers to `to`, which may have fewer columns.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn add_partials(
        &self,
        partial: View<'_, f32>,
        (parts, stride): (usize, usize),
        to: View<'_, f32>,
    ) {
        let count = to.len();
        let size = Size::blocks(count.div_ceil(32), 1, 256, 0);
        let end = if parts == 0 { 0 } else { (parts - 1) * stride + count };
        let (partial, to) = (partial.first(end), to.first(count));
        let (parts, stride, count) = (word(parts), word(stride), word(count));
        // SAFETY: the last of `parts` rows, `stride` numbers apart, has `count` numbers, and so has
        // `to`.
        unsafe { launch!(self.device(), "add_partials", size, partial, parts, stride, count, to) };
    }

    /// Layer norm backward: the gradient of the sum that was normalised. With `d_branch`, that
    /// sum's gradient through the second dropout goes there.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn through_norm(
        &self,
        store: &mut CudaStore<N>,
        (norm, shift): (Norm, usize),
        (sum, d_out, d_branch): (&Numbers<N>, &Numbers<N>, Option<&Numbers<N>>),
        (dropped_after, dropped_before): (Dropout, Dropout),
    ) -> Numbers<N> {
        let (device, width) = (self.device(), norm.width);
        self.check_norm(width);
        let rows = sum.0.len() / width;
        let blocks = rows.div_ceil(8).min(2 * device.processors as usize);
        let d_x = self.alloc(sum.0.len());
        let partial: Buffer<f32> = device.alloc(blocks * 2 * width);
        let names = ["norm_backward_1", "norm_backward_2", "norm_backward_3", "norm_backward_4"];
        let (after, before) = (Drop::from(dropped_after), Drop::from(dropped_before));
        let all = rows * width;
        // SAFETY: `sum`, `d_out`, `d_x` and, where it is not 0, `d_branch` have `rows` rows of
        // `width` numbers, for which `check_norm` knows a variant; the gain has `width`, and
        // `partial` two rows of `width` numbers per block, as has the shared memory.
        unsafe {
            launch!(
                device,
                variant(names, width),
                Size::blocks(blocks, 1, 256, 8 * width),
                sum.0.first(all),
                d_out.0.first(all),
                store.weight(norm.gain, width).first(width),
                norm.eps,
                d_x.0.first(all),
                d_branch.map_or(0, |numbers| numbers.0.first(all)),
                partial.first(blocks * 2 * width),
                word(rows),
                word(width),
                after,
                before
            );
        }
        if store.follow([norm.gain, shift]) {
            // One launch instead of two.
            let to = store.gradient(device, norm.gain, 2 * width);
            self.add_partials(partial.view(), (blocks, 2 * width), to);
        } else {
            for (tensor, first) in [(norm.gain, 0), (shift, width)] {
                let part = partial.slice(first.min(partial.len())..partial.len());
                let to = store.gradient(device, tensor, width);
                self.add_partials(part, (blocks, 2 * width), to);
            }
        }
        d_x
    }

    /// Adds rows of `what` to rows of the gradient of a table.
    pub(super) fn scatter_gradients(
        &self,
        what: &Numbers<N>,
        rows: &Lookups,
        to: View<'_, f32>,
        width: usize,
    ) {
        let to = to.first(rows.bound * width);
        self.scatter_with("scatter_gradients", what, rows, to, width);
    }

    /// Adds rows of `what` to rows of `to`.
    pub(super) fn scatter_rows(
        &self,
        what: &Numbers<N>,
        rows: &Lookups,
        to: &mut Numbers<N>,
        width: usize,
    ) {
        let to = to.0.first(rows.bound * width);
        self.scatter_with("scatter_rows", what, rows, to, width);
    }

    /// Adds rows of `what` to rows at the address `to`, of which there are as many as `rows` asks
    /// for.
    #[expect(unsafe_code, reason = "launches a kernel")]
    fn scatter_with(
        &self,
        name: &'static str,
        what: &Numbers<N>,
        rows: &Lookups,
        to: u64,
        width: usize,
    ) {
        self.check_norm(width);
        if self.device().failed() {
            return;
        }
        let [order, starts, different] = rows.groups();
        let groups = (384 / (width / 8)).max(1);
        let block = (groups * (width / 8)).next_multiple_of(32);
        let shared = 4 * width * (block / (width / 8));
        let size = Size::blocks(rows.different, 1, word(block), shared);
        let (what, width) = (what.0.first(rows.count * width), word(width));
        // SAFETY: `what` has a row for each place in `order`, and `to` has every row in
        // `different`, both of `width` numbers, a multiple of 8; `starts` has one number per block
        // and one more. The callers give the kernel of this name the type of numbers that it adds
        // to.
        unsafe { launch!(self.device(), name, size, what, order, starts, different, width, to) };
    }
}

/// Three maps whose weights and biases follow each other in memory, as one.
pub(super) fn one_map([first, second, third]: [Linear; 3]) -> Linear {
    Linear { outputs: first.outputs + second.outputs + third.outputs, ..first }
}
