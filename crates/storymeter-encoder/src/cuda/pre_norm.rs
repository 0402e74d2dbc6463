//! What the blocks of causal language models need on the GPU beside the operations of encoders. The
//! functions belong to [`Backend`](crate::train::Backend), which calls them.

use super::device::{Argument, Size, launch, word};
use super::inputs::{Drop, Lookups, Projected};
use super::memory::Buffer;
use super::pieces::kind;
use super::{Cuda, CudaStore, Number, Numbers};
use crate::error::DeviceError;
use crate::kernel::Activation;
use crate::train::{Dropout, Norm, Rotary, TableRows};

/// How heads are turned and shared, as the kernels take it.
#[derive(Clone, Copy)]
#[repr(C)]
struct RotaryShape {
    heads: u32,
    key_heads: u32,
    head_width: u32,
}

impl Argument for RotaryShape {}

impl From<Rotary> for RotaryShape {
    fn from(rotary: Rotary) -> RotaryShape {
        let Rotary { heads, key_heads, head_width } = rotary;
        RotaryShape { heads: word(heads), key_heads: word(key_heads), head_width: word(head_width) }
    }
}

impl<N: Number> Cuda<N> {
    /// The rows of the table of words plus those of the table of positions, after dropout.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn embed_words(
        &self,
        store: &CudaStore<N>,
        (words, positions): (usize, Option<usize>),
        width: usize,
        rows: &TableRows<Lookups>,
        dropout: Dropout,
    ) -> Numbers<N> {
        let TableRows { words: ids, positions: places, .. } = rows;
        assert_eq!(places.count, ids.count, "one position per token");
        self.check_width(width);
        let (rows, all) = (ids.count, ids.count * width);
        let out = self.alloc(all);
        let table = |tensor, bound: usize| store.weight(tensor, bound * width).first(bound * width);
        // SAFETY: there is an id and a place for each of `rows` rows, the tables have all rows that
        // these name, and `out` has `rows` rows of `width` numbers, a multiple of 8.
        unsafe {
            launch!(
                self.device(),
                "embed_plain",
                Size::of(all / 8, 256),
                ids.rows(),
                places.rows(),
                table(words, ids.bound),
                positions.map_or(0, |positions| table(positions, places.bound)),
                out.0.first(all),
                word(rows),
                word(width),
                Drop::from(dropout)
            );
        }
        out
    }

    /// `branch` after dropout, plus `residual` if it is given.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn add_dropped(
        &self,
        branch: &Numbers<N>,
        residual: Option<&Numbers<N>>,
        dropout: Dropout,
    ) -> Numbers<N> {
        let len = branch.0.len();
        self.check_width(len);
        let out = self.alloc(len);
        let vectors = (len / 8) as u64;
        let (size, drop) = (Size::of(len / 8, 256), Drop::from(dropout));
        let (from, to) = (branch.0.first(len), out.0.first(len));
        let residual = residual.map_or(0, |residual| residual.0.first(len));
        // SAFETY: `from`, `to` and, where it is not 0, `residual` have `vectors` times eight
        // numbers.
        unsafe { launch!(self.device(), "add_dropped", size, from, residual, to, vectors, drop) };
        out
    }

    /// The rows of `x` after a layer norm or an RMS norm.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn norm_plain(
        &self,
        store: &CudaStore<N>,
        norm: Norm,
        x: &Numbers<N>,
    ) -> Numbers<N> {
        let (width, all) = (norm.width, x.0.len());
        self.check_width(width);
        let rows = all / width;
        let out = self.alloc(all);
        let weight = |tensor| store.weight(tensor, width).first(width);
        // SAFETY: `x` and `out` have `rows` rows of `width` numbers, a multiple of 8, and gain and,
        // where it is not 0, shift have `width`.
        unsafe {
            launch!(
                self.device(),
                "norm_plain",
                Size::of(rows * 32, 256),
                x.0.first(rows * width),
                weight(norm.gain),
                norm.shift.map_or(0, weight),
                norm.eps,
                out.0.first(rows * width),
                word(rows),
                word(width)
            );
        }
        out
    }

    /// Adds the gradients of `x`, and of the gain and the shift of its norm.
    #[expect(unsafe_code, reason = "launches kernels")]
    pub(super) fn norm_plain_backward(
        &self,
        store: &mut CudaStore<N>,
        norm: Norm,
        x: &Numbers<N>,
        d_out: &Numbers<N>,
        d_x: &mut Numbers<N>,
    ) {
        let (device, width) = (self.device(), norm.width);
        self.check_width(width);
        let rows = x.0.len() / width;
        if rows == 0 || device.failed() {
            return;
        }
        let all = rows * width;
        let moments: Buffer<f32> = device.alloc(2 * rows);
        let (x, d_y, moments_at) = (x.0.first(all), d_out.0.first(all), moments.first(2 * rows));
        // SAFETY: `x`, `d_y` and `d_x` have `rows` rows of `width` numbers, a multiple of 8; the
        // gain has `width`, and there are two moments per row.
        unsafe {
            launch!(
                device,
                "norm_plain_backward",
                Size::of(rows * 32, 256),
                x,
                d_y,
                store.weight(norm.gain, width).first(width),
                u32::from(norm.shift.is_none()),
                norm.eps,
                d_x.0.first(all),
                moments_at,
                word(rows),
                word(width)
            );
        }
        // Enough blocks to fill the device, and as many rows for each as that leaves.
        let across = width.div_ceil(32);
        let each =
            rows.div_ceil((4 * device.processors as usize).div_ceil(across)).next_multiple_of(8);
        let parts = rows.div_ceil(each);
        let partial: Buffer<f32> = device.alloc(parts * 2 * width);
        let size = Size::blocks(across, parts, 256, 0);
        let (height, columns, each) = (word(rows), word(width), word(each));
        let partial_at = partial.first(parts * 2 * width);
        // SAFETY: as above, and `partial` has two rows of `width` numbers per part. Blocks cover
        // all columns, and rows end at `rows`.
        unsafe {
            launch!(
                device,
                "norm_plain_gradients",
                size,
                x,
                d_y,
                moments_at,
                height,
                columns,
                each,
                partial_at
            );
        }
        let tensors = [(Some(norm.gain), 0), (norm.shift, width)];
        for (tensor, first) in tensors {
            let Some(tensor) = tensor else { continue };
            let to = store.gradient(device, tensor, width);
            let part = partial.slice(first.min(partial.len())..partial.len());
            self.add_partials(part, (parts, 2 * width), to);
        }
    }

    /// `activation(gate) * up`.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn gated_product(
        &self,
        gate: &Numbers<N>,
        up: &Numbers<N>,
        activation: Activation,
    ) -> Numbers<N> {
        let len = gate.0.len();
        self.check_width(len);
        let out = self.alloc(len);
        let (size, vectors, which) = (Size::of(len / 8, 256), (len / 8) as u64, kind(activation));
        let (gate, up, to) = (gate.0.first(len), up.0.first(len), out.0.first(len));
        // SAFETY: all three buffers have `vectors` times eight numbers.
        unsafe { launch!(self.device(), "gated", size, gate, up, to, vectors, which) };
        out
    }

    /// The gradients of `gate` and `up`.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn gated_product_backward(
        &self,
        gate: &Numbers<N>,
        up: &Numbers<N>,
        activation: Activation,
        d_out: &Numbers<N>,
    ) -> [Numbers<N>; 2] {
        let len = gate.0.len();
        self.check_width(len);
        let (d_gate, d_up) = (self.alloc(len), self.alloc(len));
        let (size, vectors, which) = (Size::of(len / 8, 256), (len / 8) as u64, kind(activation));
        let [gate, up, d_y] = [gate, up, d_out].map(|numbers| numbers.0.first(len));
        let (to_gate, to_up) = (d_gate.0.first(len), d_up.0.first(len));
        let (device, name) = (self.device(), "gated_backward");
        // SAFETY: all five buffers have `vectors` times eight numbers.
        unsafe {
            launch!(device, name, size, gate, up, d_y, to_gate, to_up, vectors, which);
        }
        [d_gate, d_up]
    }

    /// Turns queries and keys, and repeats keys and values for the heads that share them.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn turn_heads(
        &self,
        rotary: Rotary,
        projected: &Projected<N>,
        angles: &Numbers<f32>,
        places: &Lookups,
    ) -> Projected<N> {
        let (narrow, wide) = self.widths(rotary);
        let rows = places.count;
        let out = self.alloc(rows * wide);
        if self.device().failed() {
            return Projected(out);
        }
        let size = Size::of(rows * rotary.queries() / 2, 256);
        let (from, to) = (projected.0.0.first(rows * narrow), out.0.first(rows * wide));
        let angles = angles.0.first(places.bound * rotary.head_width);
        let (places, shape) = (places.rows(), RotaryShape::from(rotary));
        let (device, rows) = (self.device(), word(rows));
        // SAFETY: `from` has `rows` rows of all heads of queries, keys and values, and `to` as many
        // of three times all heads; there is a place for every row, and a row of angles for every
        // place. `widths` has checked that the heads of keys divide the heads.
        unsafe { launch!(device, "turn_heads", size, from, places, angles, rows, shape, to) };
        Projected(out)
    }

    /// The gradients before [`Cuda::turn_heads`], given those after it.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn turn_heads_back(
        &self,
        rotary: Rotary,
        d: &Projected<N>,
        angles: &Numbers<f32>,
        places: &Lookups,
    ) -> Projected<N> {
        let (narrow, wide) = self.widths(rotary);
        let rows = places.count;
        let out = self.alloc(rows * narrow);
        if self.device().failed() {
            return Projected(out);
        }
        let size = Size::of(rows * rotary.keys() / 2, 256);
        let (from, to) = (d.0.0.first(rows * wide), out.0.first(rows * narrow));
        let angles = angles.0.first(places.bound * rotary.head_width);
        let (places, shape) = (places.rows(), RotaryShape::from(rotary));
        let (device, rows) = (self.device(), word(rows));
        // SAFETY: as in `turn_heads`, the other way round.
        unsafe { launch!(device, "turn_heads_back", size, from, places, angles, rows, shape, to) };
        Projected(out)
    }

    /// The columns of queries, keys and values together, before and after they are turned. Makes
    /// the device fail if the heads do not fit together.
    fn widths(&self, rotary: Rotary) -> (usize, usize) {
        let Rotary { heads, key_heads, head_width } = rotary;
        if key_heads == 0 || !heads.is_multiple_of(key_heads) || !head_width.is_multiple_of(2) {
            let problem = format!(
                "cannot turn {heads} heads of {head_width} columns that share \
                                   {key_heads} heads of keys"
            );
            self.device().fail(DeviceError::Unsupported(problem));
        }
        (rotary.queries() + 2 * rotary.keys(), 3 * rotary.queries())
    }
}
