//! The encoder in eight bits on a GPU: the CPU's arithmetic operation by operation, and so its bytes.
//!
//! Activations are rounded row by row and attention story by story, products are integers, and every float is rounded as on
//! the CPU (`kernels/int8.cu`): hidden states do not depend on the batch, and differ from those of [`Encoder::encode`] in no
//! bit. Only inference: training rounds nothing to eight bits.

use super::compile::Program;
use super::device::{Buffer, Device, Size, launch};
use super::encoder::Vectors;
use super::inputs::Stories;
use super::pieces::kind;
use crate::infer::eight_bits::{self, EightBits};
use crate::{Activation, Batch, Config, Encoder, Error, Result};
use std::rc::Rc;

/// Rows of bytes are as long as whole steps of the product kernel.
const STEP: usize = 64;
/// The widest head the attention kernel takes, and the step in which its variants grow.
const WIDEST_HEAD: usize = 128;
const HEAD_STEP: usize = 32;
/// No activation, as the product kernel takes it.
const NO_ACTIVATION: u32 = 3;
/// Rows and columns of a block of the product kernel.
const TILE: usize = 128;

/// An int8 encoder's weights on a GPU.
pub(super) struct Int8 {
    device: Rc<Device>,
    config: Config,
    words: Buffer<i8>,
    word_scales: Buffer<f32>,
    positions: Buffer<f32>,
    norm: Norm,
    relative: Option<Buffer<f32>>,
    layers: Vec<Layer>,
}

/// Gain and shift.
type Norm = [Buffer<f32>; 2];

struct Layer {
    qkv: Linear,
    output: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    output_norm: Norm,
}

struct Linear {
    outputs: usize,
    rows: Buffer<i8>,
    scales: Buffer<f32>,
    offsets: Buffer<f32>,
    bias: Buffer<f32>,
}

/// Rows of activations in bytes (`Rows` of the kernels).
struct Bytes {
    q: Buffer<u8>,
    scale: Buffer<f32>,
    minimum: Buffer<f32>,
    stride: usize,
    count: usize,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct RowsAt {
    q: u64,
    scale: u64,
    minimum: u64,
    stride: u32,
}

/// `Columns` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct ColumnsAt {
    q: u64,
    scale: u64,
    offset: u64,
    bias: u64,
}

/// `Heads` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct HeadsAt {
    queries: u64,
    keys: u64,
    query_scale: u64,
    query_minimum: u64,
    key_scale: u64,
    key_offset: u64,
    values: u64,
    value_scale: u64,
    heads: u32,
    width: u32,
    padded: u32,
}

impl Bytes {
    fn at(&self) -> RowsAt {
        let [scale, minimum] = [&self.scale, &self.minimum].map(Buffer::pointer);
        RowsAt { q: self.q.pointer(), scale, minimum, stride: self.stride as u32 }
    }
}

impl Int8 {
    /// Takes an encoder's weights to GPU number `ordinal`.
    pub(super) fn new(ordinal: usize, encoder: &Encoder) -> Result<Int8> {
        let device = Device::open(ordinal, Program::Int8)?;
        let config = encoder.config().clone();
        let head = config.hidden / config.heads.max(1);
        if !config.hidden.is_multiple_of(4)
            || !config.intermediate.is_multiple_of(4)
            || head > WIDEST_HEAD
        {
            let problem = format!(
                "int8 on the GPU needs widths that are multiples of 4 and heads of at most {WIDEST_HEAD} columns, and this \
                 encoder has {} and {} and heads of {head} (f32 takes wider heads)",
                config.hidden, config.intermediate
            );
            return Err(Error::Device(problem));
        }
        let weights = encoder.eight_bits(STEP);
        let EightBits { words, word_scales, positions, norm, relative, layers } =
            weights.ok_or_else(|| Error::Device("the encoder's weights are not int8".into()))?;
        let d = &device;
        let layer = |layer: eight_bits::Layer<'_>| Layer {
            qkv: linear(d, &layer.qkv),
            output: linear(d, &layer.output),
            attention_norm: layer.attention_norm.map(|numbers| kept(d, numbers)),
            up: linear(d, &layer.up),
            down: linear(d, &layer.down),
            output_norm: layer.output_norm.map(|numbers| kept(d, numbers)),
        };
        let net = Int8 {
            words: kept(d, words),
            word_scales: kept(d, word_scales),
            positions: kept(d, positions),
            norm: norm.map(|numbers| kept(d, numbers)),
            relative: relative.map(|table| kept(d, table)),
            layers: layers.into_iter().map(layer).collect(),
            config,
            device: Rc::clone(d),
        };
        device.check()?;
        Ok(net)
    }

    pub(super) fn device(&self) -> &Rc<Device> {
        &self.device
    }

    /// The vectors of a batch's stories.
    pub(super) fn vectors(&self, batch: &Batch, vectors: Vectors) -> Result<Buffer<f32>> {
        batch.check(&self.config)?;
        let stories = Stories::new(&self.device, batch.bounds());
        let states = self.encode(batch, &stories);
        let mean = match vectors {
            Vectors::States => return Ok(states),
            Vectors::Firsts => 0u32,
            Vectors::Means => 1,
        };
        let width = self.config.hidden;
        let out: Buffer<f32> = self.device.alloc(stories.count * width);
        let (size, from, bounds) =
            (Size::blocks(stories.count, 1, 128, 0), states.pointer(), stories.bounds());
        launch!(self.device, "pool_rows", size, from, bounds, width as u32, mean, out.pointer());
        Ok(out)
    }

    fn encode(&self, batch: &Batch, stories: &Stories) -> Buffer<f32> {
        let (device, width, rows) = (&self.device, self.config.hidden, stories.rows);
        let first = self.config.first_position;
        let places =
            batch.bounds().windows(2).flat_map(|story| (0..story[1] - story[0]).map(|i| first + i));
        let places: Vec<u32> = places.map(|place| place as u32).collect();
        let (ids, places) = (device.upload(batch.ids()), device.upload(&places));
        let x: Buffer<f32> = device.alloc(rows * width);
        let mut bytes = self.bytes(rows, width);
        let [gain, shift] = self.norm.each_ref().map(Buffer::pointer);
        launch!(
            device,
            "embed_bytes",
            Size::of(rows * 16, 256),
            ids.pointer(),
            places.pointer(),
            self.words.pointer(),
            self.word_scales.pointer(),
            self.positions.pointer(),
            gain,
            shift,
            self.config.norm_eps,
            x.pointer(),
            rows as u32,
            width as u32,
            bytes.at()
        );
        for layer in &self.layers {
            let qkv = self.product(&bytes, &layer.qkv, None);
            let attention = self.attention(&qkv, stories);
            drop(qkv);
            let branch = self.product(&self.quantise(&attention, width), &layer.output, None);
            bytes = self.add_norm(&x, &branch, &layer.attention_norm);
            let wide = self.product(&bytes, &layer.up, Some(self.config.activation));
            let branch =
                self.product(&self.quantise(&wide, self.config.intermediate), &layer.down, None);
            bytes = self.add_norm(&x, &branch, &layer.output_norm);
        }
        x
    }

    /// Room for rows in bytes.
    fn bytes(&self, count: usize, width: usize) -> Bytes {
        let (device, stride) = (&self.device, width.next_multiple_of(STEP));
        let (scale, minimum) = (device.alloc(count), device.alloc(count));
        Bytes { q: device.alloc(count * stride), scale, minimum, stride, count }
    }

    fn quantise(&self, x: &Buffer<f32>, width: usize) -> Bytes {
        let rows = x.len() / width;
        let bytes = self.bytes(rows, width);
        let size = Size::of(rows * 32, 256);
        launch!(
            self.device,
            "quantise_rows",
            size,
            x.pointer(),
            rows as u32,
            width as u32,
            bytes.at()
        );
        bytes
    }

    /// `x` becomes the layer norm of itself plus `branch`; also in bytes.
    fn add_norm(&self, x: &Buffer<f32>, branch: &Buffer<f32>, norm: &Norm) -> Bytes {
        let width = self.config.hidden;
        let rows = x.len() / width;
        let bytes = self.bytes(rows, width);
        let [gain, shift] = norm.each_ref().map(Buffer::pointer);
        launch!(
            self.device,
            "add_norm_bytes",
            Size::of(rows * 16, 256),
            x.pointer(),
            branch.pointer(),
            gain,
            shift,
            self.config.norm_eps,
            rows as u32,
            width as u32,
            bytes.at()
        );
        bytes
    }

    fn product(
        &self,
        rows: &Bytes,
        linear: &Linear,
        activation: Option<Activation>,
    ) -> Buffer<f32> {
        let Linear { outputs, rows: weights, scales, offsets, bias } = linear;
        let out: Buffer<f32> = self.device.alloc(rows.count * outputs);
        let columns = ColumnsAt {
            q: weights.pointer(),
            scale: scales.pointer(),
            offset: offsets.pointer(),
            bias: bias.pointer(),
        };
        launch!(
            self.device,
            "product_bytes",
            Size::blocks(outputs.div_ceil(TILE), rows.count.div_ceil(TILE), 256, 0),
            rows.at(),
            rows.count as u32,
            columns,
            *outputs as u32,
            activation.map_or(NO_ACTIVATION, kind),
            out.pointer()
        );
        out
    }

    /// Attention within each story, in bytes.
    fn attention(&self, qkv: &Buffer<f32>, stories: &Stories) -> Buffer<f32> {
        let (device, rows) = (&self.device, stories.rows);
        let Config { heads, hidden, .. } = self.config;
        let width = hidden / heads;
        let padded = width.next_multiple_of(HEAD_STEP);
        let floats = |len: usize| -> Buffer<f32> { device.alloc(len) };
        let [query_scale, query_minimum, key_scale, key_offset] =
            [(); 4].map(|()| floats(rows * heads));
        let value_scale = floats(stories.count * heads * padded);
        let queries: Buffer<u8> = device.alloc(rows * heads * padded);
        let keys: Buffer<i8> = device.alloc(rows * heads * padded);
        // Each story's values have room for whole 32 tokens.
        let values: Buffer<i8> = device.alloc((rows + 32 * (stories.count + 1)) * heads * padded);
        let at = HeadsAt {
            queries: queries.pointer(),
            keys: keys.pointer(),
            query_scale: query_scale.pointer(),
            query_minimum: query_minimum.pointer(),
            key_scale: key_scale.pointer(),
            key_offset: key_offset.pointer(),
            values: values.pointer(),
            value_scale: value_scale.pointer(),
            heads: heads as u32,
            width: width as u32,
            padded: padded as u32,
        };
        let from = qkv.pointer();
        launch!(device, "quantise_heads", Size::of(rows * heads * 8, 256), from, rows as u32, at);
        let size = Size::blocks(stories.count, heads, 128, 0);
        launch!(device, "quantise_values", size, from, stories.bounds(), at);
        let out = floats(rows * hidden);
        // Powers of two instead of e, in the CPU's order of operations.
        let scale = 1.0 / (width as f32).sqrt() * std::f32::consts::LOG2_E;
        launch!(
            device,
            ["attend_1", "attend_2", "attend_3", "attend_4"][padded / HEAD_STEP - 1],
            Size::blocks(stories.tiles, heads, 128, 0),
            at,
            stories.tiles_at(),
            self.relative.as_ref().map_or(0, Buffer::pointer),
            self.config.max_tokens() as u32,
            scale,
            out.pointer()
        );
        out
    }
}

/// Numbers that stay on the device.
fn kept<N: Copy>(device: &Rc<Device>, numbers: &[N]) -> Buffer<N> {
    let buffer = device.upload(numbers);
    device.keep(&buffer);
    buffer
}

fn linear(device: &Rc<Device>, linear: &eight_bits::Linear<'_>) -> Linear {
    Linear {
        outputs: linear.outputs,
        rows: kept(device, &linear.rows),
        scales: kept(device, linear.scales),
        offsets: kept(device, linear.offsets),
        bias: kept(device, linear.bias),
    }
}
