//! The pieces the operations on the GPU are put together from.

use super::device::{Buffer, Size, launch};
use super::gemm::{Extent, Matrix, Which};
use super::inputs::Drop;
use super::{Cuda, CudaStore, Format, Lookups, Number, Numbers, Stories};
use crate::kernel::Activation;
use crate::train::{Attention, Dropout, Linear, Norm};

/// The widest rows the row kernels take, and the step in which their variants grow.
const WIDEST: usize = 1024;
/// Buckets of relative position bias the kernels have room for.
const MOST_BUCKETS: usize = 64;

/// The variant of a row kernel for a width.
pub(super) fn variant(names: [&'static str; 4], width: usize) -> &'static str {
    names[width.div_ceil(256).clamp(1, 4) - 1]
}

pub(super) fn kind(activation: Activation) -> u32 {
    match activation {
        Activation::GeluErf => 0,
        Activation::GeluTanh => 1,
        Activation::Relu => 2,
    }
}

impl<N: Number> Cuda<N> {
    pub(super) fn alloc(&self, len: usize) -> Numbers<N> {
        Numbers(self.device().alloc(len))
    }

    /// Activations in full precision.
    pub(super) fn to_floats(&self, numbers: &Numbers<N>) -> Buffer<f32> {
        let (device, len) = (self.device(), numbers.0.len());
        let floats = device.alloc(len);
        let size = Size::of(len, 256);
        launch!(
            device,
            "from_activations",
            size,
            numbers.0.pointer(),
            len as u64,
            floats.pointer()
        );
        floats
    }

    /// Notes a width the kernels have no variant for.
    pub(super) fn check_width(&self, width: usize) {
        if !width.is_multiple_of(8) {
            self.device().fail(format!(
                "the GPU needs widths that are multiples of 8, and this one is {width}"
            ));
        }
    }

    pub(super) fn check_norm(&self, width: usize) {
        self.check_width(width);
        if width > WIDEST {
            self.device().fail(format!(
                "the GPU takes hidden states of at most {WIDEST} numbers, not {width}"
            ));
        }
    }

    pub(super) fn active(&self, pointer: u64, stride: usize) -> Matrix {
        Matrix { pointer, stride, format: N::FORMAT }
    }

    /// `y = x w^T + b`, rows of `y` being `stride` numbers apart.
    pub(super) fn forward(
        &self,
        store: &CudaStore<N>,
        map: Linear,
        (x, rows): (u64, usize),
        y: u64,
        stride: usize,
    ) {
        let Linear { inputs, outputs, .. } = map;
        let matrices = [
            self.active(store.active(map.weight), inputs),
            self.active(x, inputs),
            self.active(y, stride),
        ];
        let bias = Some(store.active(map.bias));
        let extent = Extent { rows, inputs, outputs };
        self.device().gemm.product(self.device(), Which::Forward, extent, matrices, false, bias);
    }

    /// Gradients of input and weight; the bias's is [`Cuda::column_sums`].
    pub(super) fn backward(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        (x, rows): (u64, usize),
        (d_y, stride): (u64, usize),
        (d_x, add): (u64, bool),
    ) {
        let (device, Linear { inputs, outputs, .. }) = (self.device(), map);
        let extent = Extent { rows, inputs, outputs };
        let d_y = self.active(d_y, stride);
        let matrices =
            [self.active(store.active(map.weight), inputs), d_y, self.active(d_x, inputs)];
        device.gemm.product(device, Which::Input, extent, matrices, add, None);
        let gradient = Matrix {
            pointer: store.gradient(device, map.weight),
            stride: inputs,
            format: Format::F32,
        };
        device.gemm.product(
            device,
            Which::Weight,
            extent,
            [self.active(x, inputs), d_y, gradient],
            true,
            None,
        );
    }

    /// Adds the column sums of `x` to `to`; with `before`, `x` is first multiplied with the activation's slope there.
    pub(super) fn column_sums(
        &self,
        (x, rows): (u64, usize),
        (stride, columns): (usize, usize),
        before: Option<(u64, Activation)>,
        to: u64,
    ) {
        let device = self.device();
        self.check_width(stride);
        // Enough blocks to fill the device, and as many rows each as that leaves.
        let across = stride.div_ceil(256);
        let each =
            rows.div_ceil((4 * device.processors as usize).div_ceil(across)).next_multiple_of(8);
        let parts = rows.div_ceil(each);
        let partial: Buffer<f32> = device.alloc(parts * stride);
        let (at, which) = before.map_or((0, 0), |(at, activation)| (at, kind(activation)));
        let size = Size::blocks(across, parts, 256, 0);
        let (rows, each, width) = (rows as u32, each as u32, stride as u32);
        launch!(device, "column_sums", size, x, at, which, rows, width, each, partial.pointer());
        self.add_partials(partial.pointer(), (parts, stride, columns), to);
    }

    pub(super) fn add_partials(
        &self,
        partial: u64,
        (parts, stride, count): (usize, usize, usize),
        to: u64,
    ) {
        let size = Size::blocks(count.div_ceil(32), 1, 256, 0);
        let (parts, stride, count) = (parts as u32, stride as u32, count as u32);
        launch!(self.device(), "add_partials", size, partial, parts, stride, count, to);
    }

    /// Layer norm backward; `d_branch` is an address or 0.
    pub(super) fn norm_backward(
        &self,
        store: &mut CudaStore<N>,
        norm: Norm,
        (sum, d_out, d_branch): (&Numbers<N>, u64, u64),
        (dropped_after, dropped_before): (Dropout, Dropout),
    ) -> Numbers<N> {
        let (device, width) = (self.device(), norm.width);
        self.check_norm(width);
        let rows = sum.0.len() / width;
        let blocks = rows.div_ceil(8).min(2 * device.processors as usize);
        let (d_x, partial): (Numbers<N>, Buffer<f32>) =
            (self.alloc(sum.0.len()), device.alloc(blocks * 2 * width));
        let names = ["norm_backward_1", "norm_backward_2", "norm_backward_3", "norm_backward_4"];
        let (after, before) = (Drop::from(dropped_after), Drop::from(dropped_before));
        launch!(
            device,
            variant(names, width),
            Size::blocks(blocks, 1, 256, 8 * width),
            sum.0.pointer(),
            d_out,
            store.weight(norm.gain),
            norm.eps,
            d_x.0.pointer(),
            d_branch,
            partial.pointer(),
            rows as u32,
            width as u32,
            after,
            before
        );
        let [d_gain, d_shift] =
            [norm.gain, norm.shift].map(|tensor| store.gradient(device, tensor));
        if d_shift == d_gain + 4 * width as u64 {
            self.add_partials(partial.pointer(), (blocks, 2 * width, 2 * width), d_gain);
        } else {
            self.add_partials(partial.pointer(), (blocks, 2 * width, width), d_gain);
            self.add_partials(partial.at(width), (blocks, 2 * width, width), d_shift);
        }
        d_x
    }

    /// Adds rows of `what` to rows of a gradient.
    pub(super) fn scatter_gradients(
        &self,
        what: &Numbers<N>,
        rows: &Lookups,
        to: u64,
        width: usize,
    ) {
        self.scatter_with("scatter_gradients", what, rows, to, width);
    }

    pub(super) fn scatter_with(
        &self,
        name: &'static str,
        what: &Numbers<N>,
        rows: &Lookups,
        to: u64,
        width: usize,
    ) {
        self.check_norm(width);
        let [order, starts, different] = rows.groups();
        let groups = (384 / (width / 8)).max(1);
        let block = (groups * (width / 8)).next_multiple_of(32);
        let size = Size::blocks(rows.different, 1, block as u32, 4 * width * (block / (width / 8)));
        launch!(
            self.device(),
            name,
            size,
            what.0.pointer(),
            order,
            starts,
            different,
            width as u32,
            to
        );
    }

    /// The bias of every distance by head, and each distance's bucket and their number; addresses of 0 without a table.
    pub(super) fn relative(&self, store: &CudaStore<N>, attention: Attention) -> Relative {
        let Some(tensor) = attention.relative else { return Relative::default() };
        let (device, heads) = (self.device(), attention.heads);
        let buckets = store.size(tensor) / heads;
        if buckets > MOST_BUCKETS {
            device.fail(format!(
                "the GPU takes at most {MOST_BUCKETS} buckets of relative positions, not {buckets}"
            ));
        }
        let span = 2 * attention.longest - 1;
        let bucket_of = store.bucket_of(device, attention.longest, buckets);
        let table: Buffer<f32> = device.alloc(span * heads);
        let size = Size::of(span * heads, 256);
        let (weights, heads) = (store.weight(tensor), heads as u32);
        launch!(
            device,
            "relative_table",
            size,
            weights,
            bucket_of,
            span as u32,
            heads,
            table.pointer()
        );
        Relative { table: Some(table), bucket_of, buckets }
    }

    /// Bytes of shared memory of the plain attention kernels.
    pub(super) fn plain_shared(attention: Attention, buckets: usize) -> usize {
        4 * (8 * attention.longest + 4 * buckets)
    }

    pub(super) fn check_attention(&self, attention: Attention, stories: &Stories) {
        if stories.longest > attention.longest {
            self.device().fail(format!(
                "a story of {} tokens, at most {} fit",
                stories.longest, attention.longest
            ));
        }
    }
}

/// A relative position bias made ready for attention.
#[derive(Default)]
pub(super) struct Relative {
    table: Option<Buffer<f32>>,
    pub(super) bucket_of: u64,
    pub(super) buckets: usize,
}

impl Relative {
    pub(super) fn table(&self) -> u64 {
        self.table.as_ref().map_or(0, Buffer::pointer)
    }
}

/// Whether attention has a version on tensor cores: heads of 32 or 64 columns, in sixteen bits.
pub(super) fn on_tensor_cores<N: Number>(attention: Attention) -> Option<usize> {
    let width = attention.width / attention.heads;
    (N::HALF && (width == 32 || width == 64)).then_some(width)
}

/// Three maps whose weights and biases follow each other in memory.
pub(super) fn one_map([first, second, third]: [Linear; 3]) -> Linear {
    Linear { outputs: first.outputs + second.outputs + third.outputs, ..first }
}
