//! The operations of inference on the GPU, each of them one product or one kernel
//! (`kernels/forward.cu`, `kernels/forward_attention.cu`).
//!
//! Hidden states are floats in every precision. What a product reads or writes is of type `N`.
//! Floats are split for products, so that tensor cores multiply them almost as exactly as other
//! units would ([`Steps::weight`]).

use super::rows::{Indices, Spans};
use crate::Activation;
use crate::cuda::Number;
use crate::cuda::device::{Argument, Device, Size, launch, word};
use crate::cuda::driver::PLAIN_SHARED;
use crate::cuda::gemm::{Extent, Matrix, Which};
use crate::cuda::memory::{Buffer, View};
use crate::cuda::pieces::kind;
use crate::error::DeviceError;
use std::marker::PhantomData;
use std::rc::Rc;

/// The widest head that attention takes.
const WIDEST_HEAD: usize = 128;

/// A GPU that runs networks forward.
pub(super) struct Steps<N> {
    pub(super) device: Rc<Device>,
    kind: PhantomData<N>,
}

/// A matrix that rows are multiplied with.
pub(super) struct Weight<N> {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// Rows of `inputs` numbers or, if these are split floats, of three times as many.
    numbers: Rc<Buffer<N>>,
}

/// A linear map `y = x w^T + b`.
pub(super) struct Linear<N> {
    pub(super) weight: Weight<N>,
    bias: Option<Buffer<N>>,
}

/// Layer norm, or RMS norm, which subtracts no mean.
pub(super) struct Norm {
    gain: Buffer<f32>,
    shift: Option<Buffer<f32>>,
    eps: f32,
    rms: bool,
}

/// The shape of attention.
#[derive(Clone, Copy)]
pub(super) struct Heads {
    /// The number of heads of queries.
    pub(super) count: usize,
    /// The number of heads of keys and of values, each of which serves several of queries.
    pub(super) shared: usize,
    pub(super) width: usize,
    pub(super) causal: bool,
    pub(super) scale: f32,
}

/// Rows of queries, keys or values: `stride` numbers from one row to the next.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, N> {
    pub(super) numbers: View<'a, N>,
    pub(super) stride: usize,
    pub(super) count: usize,
}

impl<N> Rows<'_, N> {
    /// The address, if each row has at least `width` numbers from there on.
    fn address(&self, width: usize) -> u64 {
        let end = self.count.checked_sub(1).map_or(0, |last| last * self.stride + width);
        self.numbers.first(end)
    }
}

/// `Heads` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct HeadsAt {
    queries: u64,
    keys: u64,
    values: u64,
    out: u64,
    query_stride: u32,
    key_stride: u32,
    out_stride: u32,
    group: u32,
    width: u32,
    causal: u32,
    scale: f32,
    table: u64,
    longest: u32,
}

impl Argument for HeadsAt {}

/// Where the results of [`Steps::norm`] go. `None` means that a result is not wanted.
#[derive(Default)]
pub(super) struct Normed<N> {
    /// The sum that was normalised.
    pub(super) sum: Option<Buffer<f32>>,
    /// Its norm.
    pub(super) states: Option<Buffer<f32>>,
    /// Its norm, for a product.
    pub(super) active: Option<Buffer<N>>,
}

/// The address of a buffer that may be missing.
fn address<N>(buffer: Option<&Buffer<N>>, len: usize) -> u64 {
    buffer.map_or(0, |buffer| buffer.first(len))
}

impl<N: Number> Steps<N> {
    pub(super) fn new(device: Rc<Device>) -> Steps<N> {
        Steps { device, kind: PhantomData }
    }

    /// Numbers that stay on the device.
    pub(super) fn keep(&self, numbers: &[f32]) -> Buffer<f32> {
        let buffer = self.device.upload(numbers);
        self.device.usage.keep(&buffer);
        buffer
    }

    /// Numbers that stay on the device, in the format of products.
    pub(super) fn keep_active(&self, numbers: &[f32]) -> Buffer<N> {
        let active = self.active(&self.device.upload(numbers));
        self.device.usage.keep(&active);
        active
    }

    /// Floats in the format of products.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn active(&self, floats: &Buffer<f32>) -> Buffer<N> {
        let len = floats.len();
        let active: Buffer<N> = self.device.alloc(len);
        let (size, from, to) = (Size::of(len, 256), floats.first(len), active.first(len));
        // SAFETY: both buffers have `len` numbers.
        unsafe { launch!(self.device, "to_activations", size, from, len as u64, to) };
        active
    }

    /// The result of a product as floats.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn floats(&self, active: &Buffer<N>) -> Buffer<f32> {
        let len = active.len();
        let floats: Buffer<f32> = self.device.alloc(len);
        let (size, from, to) = (Size::of(len, 256), active.first(len), floats.first(len));
        // SAFETY: both buffers have `len` numbers.
        unsafe { launch!(self.device, "from_activations", size, from, len as u64, to) };
        floats
    }

    /// A matrix of rows of `inputs` numbers, ready for products.
    pub(super) fn weight(&self, numbers: Rc<Buffer<N>>, inputs: usize) -> Weight<N> {
        let outputs = numbers.len() / inputs.max(1);
        if !inputs.is_multiple_of(8) {
            self.unsupported(format!("needs widths that are multiples of 8, not {inputs}"));
        }
        let numbers = if N::HALF {
            numbers
        } else {
            let split = self.split(numbers.view(), outputs, true);
            self.device.usage.keep(&split);
            Rc::new(split)
        };
        Weight { inputs, outputs, numbers }
    }

    /// Rows of floats as one side of a product ([`Choice::Steady`](crate::cuda::gemm::Choice)).
    #[expect(unsafe_code, reason = "launches a kernel")]
    fn split(&self, x: View<'_, N>, rows: usize, right: bool) -> Buffer<N> {
        let all = x.len();
        let out: Buffer<N> = self.device.alloc(3 * all);
        let (size, from, to) = (Size::of(all / 8, 256), x.first(all), out.first(3 * all));
        let (count, width) = (word(rows), word(all / rows.max(1)));
        // SAFETY: `x` has `rows` rows of `width` numbers, a multiple of 8, which are floats where
        // there is a kernel of this name, and `out` has three times as many.
        unsafe {
            launch!(self.device, "split_rows", size, from, count, width, u32::from(right), to)
        };
        out
    }

    /// A linear map from a matrix of rows of `inputs` numbers.
    pub(super) fn linear_map(
        &self,
        weight: &[f32],
        bias: Option<&[f32]>,
        inputs: usize,
    ) -> Linear<N> {
        let bias = bias.map(|bias| self.keep_active(bias));
        // Only the split floats stay.
        let weight = match N::HALF {
            true => self.keep_active(weight),
            false => self.active(&self.device.upload(weight)),
        };
        Linear { weight: self.weight(Rc::new(weight), inputs), bias }
    }

    pub(super) fn norm_of(&self, gain: &[f32], shift: Option<&[f32]>, eps: f32, rms: bool) -> Norm {
        let width = gain.len();
        if !width.is_multiple_of(8) || 4 * width > PLAIN_SHARED as usize {
            let most = PLAIN_SHARED / 4;
            self.unsupported(format!(
                "needs hidden states of a multiple of 8 and at most {most} numbers, not {width}"
            ));
        }
        Norm { gain: self.keep(gain), shift: shift.map(|shift| self.keep(shift)), eps, rms }
    }

    /// Makes the device fail: the kernels do not support a network of this shape.
    pub(super) fn unsupported(&self, problem: String) {
        self.device.fail(DeviceError::Unsupported(problem));
    }

    /// `x w^T + b` for `rows` rows.
    pub(super) fn linear(&self, map: &Linear<N>, x: View<'_, N>, rows: usize) -> Buffer<N> {
        let outputs = map.weight.outputs;
        let out: Buffer<N> = self.device.alloc(rows * outputs);
        let bias = map.bias.as_ref().map(Buffer::view);
        self.multiply(&map.weight, (x, rows), Matrix::new(out.view(), outputs), bias);
        out
    }

    /// The products of `rows` rows with all rows of a matrix, as floats that are `stride` numbers
    /// apart.
    pub(super) fn products(
        &self,
        weight: &Weight<N>,
        (x, rows): (View<'_, N>, usize),
        stride: usize,
    ) -> Buffer<f32> {
        let out: Buffer<f32> = self.device.alloc(rows * stride);
        self.multiply(weight, (x, rows), Matrix::new(out.view(), stride), None);
        out
    }

    fn multiply(
        &self,
        weight: &Weight<N>,
        (x, rows): (View<'_, N>, usize),
        out: Matrix,
        bias: Option<View<'_, N>>,
    ) {
        let Weight { outputs, .. } = *weight;
        let split = (!N::HALF).then(|| self.split(x, rows, false));
        let (x, inputs) = match &split {
            Some(split) => (split.view(), 3 * weight.inputs),
            None => (x, weight.inputs),
        };
        let matrices = [Matrix::new(weight.numbers.view(), inputs), Matrix::new(x, inputs), out];
        let extent = Extent { rows, inputs, outputs };
        self.device.gemm.product(&self.device, Which::Forward, extent, matrices, false, bias);
    }

    /// The sum of the embeddings of each token: its word, its position and its segment. A table
    /// that is not there is left out.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn embed(
        &self,
        (words, ids): (&Buffer<N>, &Indices),
        positions: Option<(&Buffer<f32>, &Indices)>,
        segments: Option<(&Buffer<f32>, &Indices)>,
        width: usize,
    ) -> Buffer<f32> {
        let rows = ids.count();
        let x: Buffer<f32> = self.device.alloc(rows * width);
        let table = |table: Option<(&Buffer<f32>, &Indices)>| {
            table.map_or((0, 0), |(table, at)| (table.first(at.bound() * width), at.at(rows)))
        };
        let ((positions, places), (segments, kinds)) = (table(positions), table(segments));
        // SAFETY: there is an id for each of `rows` rows, and a place and a kind where there is a
        // table for them; the tables have all rows that these name; `x` has `rows` rows of `width`
        // numbers, a multiple of 8.
        unsafe {
            launch!(
                self.device,
                "embed_tokens",
                Size::of(rows * width / 8, 256),
                ids.at(rows),
                places,
                kinds,
                words.first(ids.bound() * width),
                positions,
                segments,
                word(rows),
                word(width),
                x.first(rows * width)
            );
        }
        x
    }

    /// The norm of `x`, or of `x` plus a branch. With `keep_sum` that sum is a result too; with
    /// `states` the norm is a result as floats, and with `active` for a product.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn norm(
        &self,
        x: &Buffer<f32>,
        branch: Option<&Buffer<N>>,
        norm: &Norm,
        [keep_sum, states, active]: [bool; 3],
    ) -> Normed<N> {
        let width = norm.gain.len();
        let (all, rows) = (x.len(), x.len() / width);
        let results = Normed {
            sum: keep_sum.then(|| self.device.alloc(all)),
            states: states.then(|| self.device.alloc(all)),
            active: active.then(|| self.device.alloc(all)),
        };
        let warps = (PLAIN_SHARED as usize / (4 * width)).clamp(1, 8);
        let size = Size::blocks(rows.div_ceil(warps), 1, word(32 * warps), 4 * width * warps);
        // SAFETY: `x`, the branch and the results have `rows` rows of `width` numbers, a multiple
        // of 8, gain and shift one; each warp of a block has room for a row in shared memory.
        unsafe {
            launch!(
                self.device,
                "norm_rows",
                size,
                x.first(all),
                address(branch, all),
                norm.gain.first(width),
                address(norm.shift.as_ref(), width),
                norm.eps,
                u32::from(norm.rms),
                word(rows),
                word(width),
                address(results.sum.as_ref(), all),
                address(results.states.as_ref(), all),
                address(results.active.as_ref(), all)
            );
        }
        results
    }

    /// Adds a branch to hidden states, which are replaced.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn add(&self, x: &Buffer<f32>, branch: &Buffer<N>) -> Buffer<f32> {
        let all = x.len();
        let sum: Buffer<f32> = self.device.alloc(all);
        let (size, count) = (Size::of(all / 8, 256), (all / 8) as u64);
        let (from, branch, to) = (x.first(all), branch.first(all), sum.first(all));
        // SAFETY: all three have `count` times eight numbers.
        unsafe { launch!(self.device, "add_branch", size, from, branch, count, to) };
        sum
    }

    /// Applies an activation in place.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn activate(&self, x: &mut Buffer<N>, activation: Activation) {
        let (vectors, kind) = (x.len() / 8, kind(activation));
        let (size, at) = (Size::of(vectors, 256), x.first(vectors * 8));
        // SAFETY: `x` has `vectors` times eight numbers.
        unsafe { launch!(self.device, "activate_all", size, at, vectors as u64, kind) };
    }

    /// The activated first half of each row times its second half, where halves have `width`
    /// numbers.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn gate(&self, both: &Buffer<N>, width: usize, activation: Activation) -> Buffer<N> {
        let rows = both.len() / (2 * width);
        let out: Buffer<N> = self.device.alloc(rows * width);
        let size = Size::of(rows * width / 8, 256);
        let (from, to) = (both.first(2 * rows * width), out.first(rows * width));
        let (rows, width, kind) = (word(rows), word(width), kind(activation));
        // SAFETY: `both` has `rows` rows of twice `width` numbers, `out` of `width`, a multiple of
        // 8.
        unsafe { launch!(self.device, "gate_rows", size, from, rows, width, kind, to) };
        out
    }

    /// Turns the first `heads` heads of each row by its position. `turns` has the cosine and sine
    /// of `half` pairs for every position that `places` names.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn rotate(
        &self,
        x: &mut Buffer<N>,
        stride: usize,
        (heads, width): (usize, usize),
        (turns, half): (&Buffer<f32>, usize),
        places: &Indices,
    ) {
        let rows = x.len() / stride;
        assert!(heads * width <= stride && 2 * half <= width, "heads are within their row");
        let size = Size::of(rows * heads * half, 256);
        // SAFETY: `x` has `rows` rows of `stride` numbers, which begin with `heads` heads of
        // `width`, at least twice `half`; there is a place for each row, and the table has all of
        // them.
        unsafe {
            launch!(
                self.device,
                "rotate_heads",
                size,
                x.first(rows * stride),
                places.at(rows),
                turns.first(places.bound() * half * 2),
                word(rows),
                word(heads),
                word(width),
                word(half),
                word(stride)
            );
        }
    }

    /// What the queries of `spans` get from attention. `relative` has one bias per head and
    /// distance, for distances up to that of the longest sequence.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn attend(
        &self,
        heads: Heads,
        spans: &Spans,
        queries: Rows<'_, N>,
        [keys, values]: [Rows<'_, N>; 2],
        relative: Option<(&Buffer<f32>, usize)>,
    ) -> Buffer<N> {
        let Heads { count, shared, width, causal, scale } = heads;
        let out: Buffer<N> = self.device.alloc(queries.count * count * width);
        if shared == 0 || !count.is_multiple_of(shared) || width == 0 || width > WIDEST_HEAD {
            self.unsupported(format!(
                "takes heads of at most {WIDEST_HEAD} columns that divide evenly, not {count} heads \
                 of {width} columns with {shared} heads of keys"
            ));
            return out;
        }
        assert!(spans.fit(queries.count, keys.count), "spans are within their rows");
        assert_eq!((keys.stride, keys.count), (values.stride, values.count), "a value per key");
        let (table, longest) = relative.map_or((0, 0), |(table, longest)| {
            assert!(spans.longest() <= longest, "the table has all distances");
            (table.first(count * (2 * longest - 1)), longest)
        });
        let at = HeadsAt {
            queries: queries.address(count * width),
            keys: keys.address(shared * width),
            values: values.address(shared * width),
            out: out.first(queries.count * count * width),
            query_stride: word(queries.stride),
            key_stride: word(keys.stride),
            out_stride: word(count * width),
            group: word(count / shared),
            width: word(width),
            causal: u32::from(causal),
            scale,
            table,
            longest: word(longest),
        };
        let (name, padded) = match width {
            0..=32 => ("attend_32", 32),
            33..=64 => ("attend_64", 64),
            _ => ("attend_128", 128),
        };
        // 64 keys and 64 values, in rows that are longer by `PAD` numbers.
        let pad = if N::HALF { 8 } else { 4 };
        let shared = 2 * 64 * (padded + pad) * size_of::<N>();
        let size = Size::blocks(spans.tiles(), count, 128, shared);
        // SAFETY: queries and `out` have the rows of all spans with `count` heads, and keys and
        // values those that the spans name with `shared` heads (`Spans::fit`). The table, if there
        // is one, has all distances within a span. The variant is that of the width, and has the
        // shared memory that it needs. Rows of queries, keys and values begin at multiples of 8
        // numbers if heads do; other heads are read number by number.
        unsafe { launch!(self.device, name, size, at, spans.at()) };
        out
    }

    /// Rows of hidden states for a product, by number.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn gather(&self, x: &Buffer<f32>, rows: &Indices, width: usize) -> Buffer<N> {
        let count = rows.count();
        let out: Buffer<N> = self.device.alloc(count * width);
        let size = Size::of(count * width / 8, 256);
        let (from, to) = (x.first(rows.bound() * width), out.first(count * width));
        let (rows, count, width) = (rows.at(count), word(count), word(width));
        // SAFETY: `x` has every row that `rows` names, and `out` a row for each of them.
        unsafe { launch!(self.device, "gather_active", size, from, rows, count, width, to) };
        out
    }

    /// Adds a bias to the first numbers of rows that are `stride` numbers apart.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn add_bias(&self, x: &mut Buffer<f32>, bias: &Buffer<f32>, stride: usize) {
        let (rows, outputs) = (x.len() / stride, bias.len());
        assert!(outputs <= stride, "a bias is no longer than a row");
        let size = Size::of(rows * outputs, 256);
        let (at, bias) = (x.first(rows * stride), bias.first(outputs));
        let (rows, outputs, stride) = (word(rows), word(outputs), word(stride));
        // SAFETY: `x` has `rows` rows of `stride` numbers, and the bias at most as many.
        unsafe { launch!(self.device, "add_bias", size, at, bias, rows, outputs, stride) };
    }

    /// The logarithm of the probability of one output per row of logits, written to `to`.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn log_likelihoods(
        &self,
        (logits, stride): (&Buffer<f32>, usize),
        outputs: usize,
        bias: Option<&Buffer<f32>>,
        targets: &Indices,
        to: View<'_, f32>,
    ) {
        let rows = targets.count();
        assert!(targets.bound() <= outputs && outputs <= stride, "targets are outputs");
        let size = Size::blocks(rows, 1, 256, 0);
        let (from, to) = (logits.first(rows * stride), to.first(rows));
        let (targets, bias) = (targets.at(rows), address(bias, outputs));
        let (stride, outputs) = (word(stride), word(outputs));
        // SAFETY: there are `rows` rows of logits, `stride` numbers apart, and as many targets
        // (all below `outputs`) and results; the bias, if there is one, has `outputs` numbers.
        unsafe {
            let name = "log_likelihoods";
            launch!(self.device, name, size, from, stride, outputs, bias, targets, to)
        };
    }

    /// One vector per sequence: its first state, or the mean of its states. The rows of sequence
    /// `i` are those from number `2 i` to number `2 i + 1` of `bounds`.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn pool(
        &self,
        x: &Buffer<f32>,
        bounds: &Indices,
        mean: bool,
        width: usize,
    ) -> Buffer<f32> {
        let count = bounds.count() / 2;
        assert!(bounds.bound() <= x.len() / width + 1, "sequences end with the states");
        let out: Buffer<f32> = self.device.alloc(count * width);
        let size = Size::blocks(count, 1, 128, 0);
        let (from, at, to) = (x.first(x.len()), bounds.at(2 * count), out.first(count * width));
        let (step, width, mean) = (2u32, word(width), u32::from(mean));
        // SAFETY: `x` has the rows that the bounds name, and `out` one row per sequence.
        unsafe { launch!(self.device, "pool_rows", size, from, at, step, width, mean, to) };
        out
    }
}
