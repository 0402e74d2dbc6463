//! The losses: a softmax over a whole vocabulary, and labels by sigmoid or squared error.

use super::device::{Size, launch, word};
use super::memory::Buffer;
use super::{Cuda, CudaStore, Indices, Number, Numbers};
use crate::error::DeviceError;
use crate::train::{LabelLoss, Linear};

/// The rows whose logits over a whole vocabulary are in memory at one time.
const ROWS_AT_ONCE: usize = 2048;
/// The most outputs of a softmax whose logits a block can hold in registers.
const MOST_HELD: usize = 32_768;

impl<N: Number> Cuda<N> {
    /// See [`Backend::softmax_loss`](crate::train::Backend::softmax_loss).
    #[expect(unsafe_code, reason = "launches kernels")]
    pub(super) fn softmax_of(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        (x, rows): (&Numbers<N>, usize),
        (targets, weights): (&Indices, &Numbers<f32>),
        loss: usize,
    ) -> Numbers<N> {
        let (device, Linear { inputs, outputs, .. }) = (self.device(), map);
        assert!(targets.bound <= outputs, "targets are outputs");
        let d_x = self.alloc(rows * inputs);
        let losses: Buffer<f32> = device.alloc(rows);
        let stride = outputs.next_multiple_of(8);
        let logits = self.alloc(rows.min(ROWS_AT_ONCE) * stride);
        let name = if outputs <= MOST_HELD { "softmax_loss_held" } else { "softmax_loss" };
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            let part = ROWS_AT_ONCE.min(rows - first);
            let columns = first * inputs..(first + part) * inputs;
            let (x, d_x) = (x.0.slice(columns.clone()), d_x.0.slice(columns));
            let logits = logits.0.slice(0..part * stride);
            self.forward(store, map, (x, part), (logits, stride));
            let of_part = first..first + part;
            // SAFETY: there are `part` rows of logits, `stride` numbers apart, and as many targets
            // (all below `outputs`), weights and losses. Behind `outputs` a row is padded to eight.
            unsafe {
                launch!(
                    device,
                    name,
                    Size::blocks(part, 1, 512, 0),
                    logits.first(part * stride),
                    word(stride),
                    word(outputs),
                    targets.numbers.slice(of_part.clone()).first(part),
                    weights.0.slice(of_part.clone()).first(part),
                    losses.slice(of_part).first(part)
                );
            }
            self.backward(store, map, (x, part), (logits, stride), (d_x, false));
            self.bias_backward(store, map, (logits, part), stride);
        }
        self.sum_losses(store, &losses, loss);
        d_x
    }

    /// See [`Backend::label_loss`](crate::train::Backend::label_loss).
    #[expect(unsafe_code, reason = "launches kernels")]
    pub(super) fn labels_of(
        &self,
        store: &mut CudaStore<N>,
        map: Linear,
        (x, rows): (&Numbers<N>, usize),
        (labels, weights, kind): (&Numbers<f32>, &Numbers<f32>, LabelLoss),
        loss: usize,
    ) -> Numbers<N> {
        let (device, Linear { inputs, outputs, .. }) = (self.device(), map);
        self.check_width(inputs);
        let d_x = self.alloc(rows * inputs);
        let Some(bias) = map.bias else {
            device.fail(DeviceError::Unsupported("needs a bias for every label".into()));
            return d_x;
        };
        let count = rows * outputs;
        let (losses, d_logits): (Buffer<f32>, Buffer<f32>) =
            (device.alloc(count), device.alloc(count));
        let (x_at, d_logits_at) = (x.0.first(rows * inputs), d_logits.first(count));
        let (height, width, columns) = (word(rows), word(inputs), word(outputs));
        // SAFETY: `x` and `d_x` have `rows` rows of `inputs` numbers, a multiple of 8; labels,
        // weights, losses and `d_logits` have one number per row and output, the map's weight one
        // per output and input, and its bias one per output.
        unsafe {
            launch!(
                device,
                "label_loss",
                Size::of(rows * 32, 256),
                x_at,
                store.weight(map.weight, outputs * inputs).first(outputs * inputs),
                store.weight(bias, outputs).first(outputs),
                labels.0.first(count),
                weights.0.first(count),
                height,
                width,
                columns,
                match kind {
                    LabelLoss::CrossEntropy => 0u32,
                    LabelLoss::SquaredError => 1,
                    LabelLoss::OnHost => 2,
                },
                losses.first(count),
                d_logits_at,
                d_x.0.first(rows * inputs)
            );
        }
        let weight_numbers = outputs * inputs;
        let d_weight = store.gradient(device, map.weight, weight_numbers).first(weight_numbers);
        let d_bias = store.gradient(device, bias, outputs).first(outputs);
        let size = Size::blocks(inputs.div_ceil(32), outputs, 256, 0);
        // SAFETY: `x` and `d_logits` are as above, and the gradients have the map's shapes.
        unsafe {
            launch!(
                device,
                "label_gradients",
                size,
                x_at,
                d_logits_at,
                height,
                width,
                columns,
                d_weight,
                d_bias
            );
        }
        self.sum_losses(store, &losses, loss);
        d_x
    }

    /// Adds losses to sum number `loss` of the store.
    #[expect(unsafe_code, reason = "launches a kernel")]
    fn sum_losses(&self, store: &CudaStore<N>, losses: &Buffer<f32>, loss: usize) {
        let (size, count) = (Size::blocks(1, 1, 256, 0), losses.len());
        let (from, to) = (losses.first(count), store.losses.slice(loss..loss + 1).first(1));
        // SAFETY: there are `count` losses and one sum.
        unsafe { launch!(self.device(), "sum_losses", size, from, word(count), to) };
    }
}
