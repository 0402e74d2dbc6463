//! The encoder in eight bits on a GPU: the arithmetic of the CPU operation by operation, and so its
//! bytes.
//!
//! Activations are rounded row by row and attention story by story, products are sums of integers,
//! and every float is rounded as on the CPU (`kernels/int8.cu`). Hidden states therefore do not
//! depend on the batch, and do not differ from those of [`Model::run`] in a single bit. This
//! is for inference only: training rounds nothing to eight bits.

use super::compile::Program;
use super::device::{Argument, Device, Size, launch, word};
use super::encoder::Vectors;
use super::inputs::Stories;
use super::memory::{Buffer, Plain};
use super::model::{Network, Results};
use super::pieces::kind;
use crate::error::DeviceError;
use crate::infer::eight_bits::{self, EightBits};
use crate::model::{Head, Outputs, Pooling};
use crate::{Activation, Batch, Config, Error, Model, Result};
use std::ops::Range;
use std::rc::Rc;

/// Rows of bytes are padded to whole steps of the product kernel.
const STEP: usize = 64;
/// The widest head that the attention kernel takes, and the step in which its variants grow.
const WIDEST_HEAD: usize = 128;
const HEAD_STEP: usize = 32;
/// No activation, as the product kernel takes it.
const NO_ACTIVATION: u32 = 3;
/// The rows and the columns that a block of the product kernel computes.
const TILE: usize = 128;

/// The weights of an int8 encoder on a GPU.
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

/// Rows of activations in bytes: `count` rows, `stride` bytes apart.
struct Bytes {
    q: Buffer<u8>,
    scale: Buffer<f32>,
    minimum: Buffer<f32>,
    stride: usize,
    count: usize,
}

/// `Rows` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct RowsAt {
    q: u64,
    scale: u64,
    minimum: u64,
    stride: u32,
}

impl Argument for RowsAt {}

/// `Columns` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct ColumnsAt {
    q: u64,
    scale: u64,
    offset: u64,
    bias: u64,
}

impl Argument for ColumnsAt {}

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

impl Argument for HeadsAt {}

impl Bytes {
    fn at(&self) -> RowsAt {
        RowsAt {
            q: self.q.first(self.count * self.stride),
            scale: self.scale.first(self.count),
            minimum: self.minimum.first(self.count),
            stride: word(self.stride),
        }
    }
}

impl Int8 {
    /// Takes an encoder's weights to GPU number `ordinal`.
    pub(super) fn new(ordinal: usize, encoder: &Model) -> Result<Int8> {
        let device = Device::open(ordinal, Program::Int8)?;
        let config = encoder.config().clone();
        let head = config.hidden / config.heads.max(1);
        if !config.hidden.is_multiple_of(4)
            || !config.intermediate.is_multiple_of(4)
            || head > WIDEST_HEAD
        {
            let problem = format!(
                "needs widths that are multiples of 4 and heads of at most {WIDEST_HEAD} columns \
                 for int8, and this encoder has widths of {} and {} and heads of {head} columns \
                 (f32 takes wider heads)",
                config.hidden, config.intermediate
            );
            return Err(DeviceError::Unsupported(problem).into());
        }
        if config.activation == Activation::Silu {
            let problem = "does not take the activation silu for int8".into();
            return Err(DeviceError::Unsupported(problem).into());
        }
        let no_int8 = || DeviceError::Mismatch("the encoder's weights are not int8".into());
        let EightBits { words, word_scales, positions, norm, relative, layers } =
            encoder.eight_bits(STEP).ok_or_else(no_int8)?;
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
        vectors.check(batch)?;
        let stories = Stories::new(&self.device, batch.bounds());
        let mut states = self.encode(batch, &stories, &[self.layers.len()]);
        let states = states.remove(0);
        Ok(match vectors {
            Vectors::States => states,
            Vectors::Firsts => self.pool(&states, &stories, false),
            Vectors::Means => self.pool(&states, &stories, true),
        })
    }

    /// One vector per story: its first state, or the mean of its states.
    #[expect(unsafe_code, reason = "launches a kernel")]
    fn pool(&self, states: &Buffer<f32>, stories: &Stories, mean: bool) -> Buffer<f32> {
        let (width, mean) = (self.config.hidden, u32::from(mean));
        let out: Buffer<f32> = self.device.alloc(stories.count * width);
        let size = Size::blocks(stories.count, 1, 128, 0);
        let (from, to) = (states.first(stories.rows * width), out.first(stories.count * width));
        let (bounds, step, width) = (stories.bounds(), 1u32, word(width));
        // SAFETY: `from` has the rows of all stories, each of which begins where the one before it
        // ends, and `to` one row per story.
        unsafe { launch!(self.device, "pool_rows", size, from, bounds, step, width, mean, to) };
        out
    }

    /// The states after the blocks `kept`, which ascend.
    #[expect(unsafe_code, reason = "launches a kernel")]
    fn encode(&self, batch: &Batch, stories: &Stories, kept: &[usize]) -> Vec<Buffer<f32>> {
        let (device, width, rows) = (&self.device, self.config.hidden, stories.rows);
        let first = self.config.first_position;
        let places =
            batch.bounds().windows(2).flat_map(|story| (0..story[1] - story[0]).map(|i| first + i));
        let places: Vec<u32> = places.map(word).collect();
        let (ids, places) = (device.upload(batch.ids()), device.upload(&places));
        let x: Buffer<f32> = device.alloc(rows * width);
        let mut bytes = self.bytes(rows, width);
        let [gain, shift] = self.norm.each_ref().map(|numbers| numbers.first(width));
        let Config { vocabulary, positions, .. } = self.config;
        // SAFETY: there is an id and a place for each row, which `Batch::check` has found to be in
        // the tables; these have `vocabulary` and `positions` rows of `width` numbers, gain and
        // shift one, and `x` and `bytes` `rows` rows.
        unsafe {
            launch!(
                device,
                "embed_bytes",
                Size::of(rows * 16, 256),
                ids.first(rows),
                places.first(rows),
                self.words.first(vocabulary * width),
                self.word_scales.first(vocabulary),
                self.positions.first(positions * width),
                gain,
                shift,
                self.config.norm_eps,
                x.first(rows * width),
                word(rows),
                word(width),
                bytes.at()
            );
        }
        let mut states = Vec::with_capacity(kept.len());
        let last = kept.last().copied().unwrap_or(0);
        for (number, layer) in self.layers[..last].iter().enumerate() {
            if kept.contains(&number) {
                let mut copy = device.alloc(x.len());
                device.copy(&x, &mut copy);
                states.push(copy);
            }
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
        states.push(x);
        states
    }

    /// Room for rows in bytes.
    fn bytes(&self, count: usize, width: usize) -> Bytes {
        let (device, stride) = (&self.device, width.next_multiple_of(STEP));
        let (scale, minimum) = (device.alloc(count), device.alloc(count));
        Bytes { q: device.alloc(count * stride), scale, minimum, stride, count }
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn quantise(&self, x: &Buffer<f32>, width: usize) -> Bytes {
        let rows = x.len() / width;
        let bytes = self.bytes(rows, width);
        let (size, from) = (Size::of(rows * 32, 256), x.first(rows * width));
        let (rows, width, to) = (word(rows), word(width), bytes.at());
        // SAFETY: `x` has `rows` rows of `width` numbers, a multiple of 4, and `bytes` as many
        // rows, at least as wide.
        unsafe { launch!(self.device, "quantise_rows", size, from, rows, width, to) };
        bytes
    }

    /// `x` becomes the layer norm of itself plus `branch`, which is also returned in bytes.
    #[expect(unsafe_code, reason = "launches a kernel")]
    fn add_norm(&self, x: &Buffer<f32>, branch: &Buffer<f32>, norm: &Norm) -> Bytes {
        let width = self.config.hidden;
        let rows = x.len() / width;
        let bytes = self.bytes(rows, width);
        let [gain, shift] = norm.each_ref().map(|numbers| numbers.first(width));
        // SAFETY: `x`, `branch` and `bytes` have `rows` rows of `width` numbers, gain and shift
        // one.
        unsafe {
            launch!(
                self.device,
                "add_norm_bytes",
                Size::of(rows * 16, 256),
                x.first(rows * width),
                branch.first(rows * width),
                gain,
                shift,
                self.config.norm_eps,
                word(rows),
                word(width),
                bytes.at()
            );
        }
        bytes
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    fn product(
        &self,
        rows: &Bytes,
        linear: &Linear,
        activation: Option<Activation>,
    ) -> Buffer<f32> {
        let Linear { outputs, rows: weights, scales, offsets, bias } = linear;
        let outputs = *outputs;
        let out: Buffer<f32> = self.device.alloc(rows.count * outputs);
        let columns = ColumnsAt {
            q: weights.first(outputs * rows.stride),
            scale: scales.first(outputs),
            offset: offsets.first(outputs),
            bias: bias.first(outputs),
        };
        // SAFETY: both sides have rows of `stride` bytes, a multiple of `STEP`: `count` on the left
        // and `outputs`, an even number, on the right, each with its scales; `out` has a number for
        // each pair.
        unsafe {
            launch!(
                self.device,
                "product_bytes",
                Size::blocks(outputs.div_ceil(TILE), rows.count.div_ceil(TILE), 256, 0),
                rows.at(),
                word(rows.count),
                columns,
                word(outputs),
                activation.map_or(NO_ACTIVATION, kind),
                out.first(rows.count * outputs)
            );
        }
        out
    }

    /// Attention within each story, in bytes.
    #[expect(unsafe_code, reason = "launches kernels")]
    fn attention(&self, qkv: &Buffer<f32>, stories: &Stories) -> Buffer<f32> {
        let (device, rows) = (&self.device, stories.rows);
        let Config { heads, hidden, .. } = self.config;
        let (width, longest) = (hidden / heads, self.config.max_tokens());
        let padded = width.next_multiple_of(HEAD_STEP);
        let floats = |len: usize| -> Buffer<f32> { device.alloc(len) };
        let [query_scale, query_minimum, key_scale, key_offset] =
            [(); 4].map(|()| floats(rows * heads));
        let value_scale = floats(stories.count * heads * padded);
        let queries: Buffer<u8> = device.alloc(rows * heads * padded);
        let keys: Buffer<i8> = device.alloc(rows * heads * padded);
        // The values of each story have room for whole 32 tokens.
        let values: Buffer<i8> = device.alloc((rows + 32 * (stories.count + 1)) * heads * padded);
        let at = HeadsAt {
            queries: queries.first(queries.len()),
            keys: keys.first(keys.len()),
            query_scale: query_scale.first(rows * heads),
            query_minimum: query_minimum.first(rows * heads),
            key_scale: key_scale.first(rows * heads),
            key_offset: key_offset.first(rows * heads),
            values: values.first(values.len()),
            value_scale: value_scale.first(value_scale.len()),
            heads: word(heads),
            width: word(width),
            padded: word(padded),
        };
        let (from, count, bounds) = (qkv.first(3 * rows * hidden), word(rows), stories.bounds());
        let size = Size::of(rows * heads * 8, 256);
        // SAFETY: `qkv` has three parts of `hidden` numbers per row, queries and keys `padded`
        // bytes and one of each scale per row and head.
        unsafe { launch!(device, "quantise_heads", size, from, count, at) };
        let size = Size::blocks(stories.count, heads, 128, 0);
        // SAFETY: `qkv` has the rows of all stories, the values `padded` bytes per head and token
        // with each story rounded up to 32 tokens, and their scales one number per story and
        // channel.
        unsafe { launch!(device, "quantise_values", size, from, bounds, at) };
        let out = floats(rows * hidden);
        let span = heads * (2 * longest - 1);
        let table = self.relative.as_ref().map_or(0, |table| table.first(span));
        // Powers of two instead of e, in the order of operations of the CPU.
        let scale = 1.0 / (width as f32).sqrt() * std::f32::consts::LOG2_E;
        // SAFETY: the two kernels above have filled what `at` points to; the table, if there is
        // one, has all distances up to `longest`, and no story is longer (`Batch::check`); `out`
        // has `hidden` numbers per row. The variant is that of `padded`, at most `WIDEST_HEAD`.
        unsafe {
            launch!(
                device,
                ["attend_1", "attend_2", "attend_3", "attend_4"][padded / HEAD_STEP - 1],
                Size::blocks(stories.tiles, heads, 128, 0),
                at,
                stories.tiles_at(),
                table,
                word(longest),
                scale,
                out.first(rows * hidden)
            );
        }
        out
    }
}

impl Network for Int8 {
    fn device(&self) -> &Rc<Device> {
        &self.device
    }

    fn width(&self) -> usize {
        self.config.hidden
    }

    fn has_decoder(&self) -> bool {
        false
    }

    fn choices(&self, _head: Head) -> Option<[usize; 2]> {
        None
    }

    fn start(&self, batch: &Batch, outputs: &Outputs, sequences: Range<usize>) -> Result<Results> {
        for story in sequences.clone() {
            let (len, reading) = (batch.span(story).len(), batch.readings()[story]);
            if reading.second < len || reading.attended < len {
                let problem = "int8 on a GPU reads neither second segments nor padding".into();
                return Err(Error::Batch { story, problem });
            }
        }
        let batch: Batch = sequences.map(|i| &batch.ids()[batch.span(i)]).collect();
        let stories = Stories::new(&self.device, batch.bounds());
        let last = outputs.layers.last().copied().unwrap_or(self.layers.len());
        let kept = if outputs.layers.is_empty() { &[last][..] } else { &outputs.layers };
        let states: Vec<Rc<Buffer<f32>>> =
            self.encode(&batch, &stories, kept).into_iter().map(Rc::new).collect();
        let pooled = outputs
            .pooled
            .zip(states.last())
            .map(|(pooling, states)| self.pool(states, &stories, pooling == Pooling::Mean));
        let layers = if outputs.layers.is_empty() { Vec::new() } else { states };
        Ok(Results { layers, pooled, ..Results::default() })
    }
}

/// Numbers that stay on the device.
fn kept<N: Plain>(device: &Rc<Device>, numbers: &[N]) -> Buffer<N> {
    let buffer = device.upload(numbers);
    device.usage.keep(&buffer);
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
