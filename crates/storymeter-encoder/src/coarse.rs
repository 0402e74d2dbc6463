//! Weights of two to four bits, with a scale for every 64 of them: eight layers of MPNet and its words in 30 MB.
//!
//! Within a short stretch of a row, trained weights are close to normal. So a stretch is divided by its root mean
//! square, every number becomes the nearest of the levels that lose least of a normal distribution (Max 1960, "Quantizing
//! for minimum distortion", table I), and the scale is then the one with the least squared error. A file keeps scales as
//! bytes, in parts of 255 of the row's largest.
//!
//! Rounding a trained network to so few bits hurts it; training it rounded does much less (`train` computes with the rounded
//! weights, and its gradients move the exact ones: Courbariaux et al. 2015, "BinaryConnect").

use half::f16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::kernel::quantised::step_of;
use crate::parameters::{Layout, Parameters, Tensor};

/// Weights that share a scale.
pub(crate) const STRETCH: usize = 64;

/// Max's levels above zero for 2, 3 and 4 bits; those below mirror them.
const LEVELS: [&[f32]; 3] = [
    &[0.4528, 1.510],
    &[0.2451, 0.7560, 1.344, 2.152],
    &[0.1284, 0.3881, 0.6568, 0.9424, 1.256, 1.618, 2.069, 2.733],
];

/// In how many bits weights are kept: 2, 3 or 4. Everything else (biases, norms, positions) has sixteen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bits {
    /// Of the layers' matrices.
    pub layers: u8,
    /// Of the word embeddings.
    pub words: u8,
}

/// A tensor that is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rounded {
    /// Which tensor.
    pub tensor: usize,
    /// To how many bits a weight.
    pub bits: u8,
}

impl Bits {
    /// Why an encoder cannot be kept in them, if it cannot.
    pub fn problem(self, config: &Config) -> Option<String> {
        if ![self.layers, self.words].iter().all(|bits| (2..=4).contains(bits)) {
            return Some("weights are kept in 2, 3 or 4 bits".into());
        }
        let odd = [config.hidden, config.intermediate].into_iter().find(|width| width % STRETCH != 0)?;
        Some(format!("an encoder {odd} wide cannot be kept in few bits: {STRETCH} weights share a scale"))
    }

    /// The tensors that are rounded.
    pub(crate) fn of(self, layout: &Layout) -> Vec<Rounded> {
        let words = Rounded { tensor: layout.words, bits: self.words };
        let matrices = layout.layers.iter().flat_map(|layer| {
            [layer.query, layer.key, layer.value, layer.output, layer.up, layer.down].map(|pair| pair.weight)
        });
        std::iter::once(words).chain(matrices.map(|tensor| Rounded { tensor, bits: self.layers })).collect()
    }
}

impl Parameters {
    /// The same weights as they are read back from a file that keeps them in `bits`.
    #[must_use]
    pub fn rounded(&self, config: &Config, bits: Bits) -> Parameters {
        let mut rounded = self.clone();
        let packed = self.packed(config, bits);
        for ((tensor, (_, bytes)), bits) in rounded.tensors.iter_mut().zip(&packed).zip(plan(config, bits)) {
            tensor.data = unpack(bytes, &tensor.shape, bits);
        }
        rounded
    }

    /// Every tensor's name and its bytes in `bits`.
    pub fn packed(&self, config: &Config, bits: Bits) -> Vec<(String, Vec<u8>)> {
        let pack = |(tensor, bits): (&Tensor, Option<u8>)| {
            let bytes = match bits {
                None => tensor.data.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect(),
                Some(bits) => {
                    let rows = tensor.data.par_chunks(tensor.shape[1]);
                    rows.map(|row| pack_row(row, bits)).collect::<Vec<_>>().concat()
                }
            };
            (tensor.name.clone(), bytes)
        };
        self.tensors.iter().zip(plan(config, bits)).map(pack).collect()
    }
}

/// For every tensor its bits; `None` is sixteen.
pub(crate) fn plan(config: &Config, bits: Bits) -> Vec<Option<u8>> {
    let layout = Layout::of(config);
    let mut plan = vec![None; layout.expected.len()];
    for Rounded { tensor, bits } in bits.of(&layout) {
        plan[tensor] = Some(bits);
    }
    plan
}

/// Rounds weights where they are, every stretch with its exact scale.
pub(crate) fn round(weights: &mut [f32], bits: u8) {
    weights.par_chunks_mut(STRETCH).for_each(|stretch| {
        let mut codes = [0; STRETCH];
        let scale = encode(stretch, bits, &mut codes);
        stretch.iter_mut().zip(codes).for_each(|(w, code)| *w = scale * level(code, bits));
    });
}

/// The codes of a stretch; returns its scale.
fn encode(stretch: &[f32], bits: u8, codes: &mut [u8; STRETCH]) -> f32 {
    let squares: f32 = stretch.iter().map(|w| w * w).sum();
    if squares == 0.0 {
        return 0.0;
    }
    let levels = LEVELS[usize::from(bits) - 2];
    let (root, half) = ((squares / stretch.len() as f32).sqrt(), levels.len() as u8);
    let (mut fit, mut size) = (0.0, 0.0);
    for (w, code) in stretch.iter().zip(codes) {
        let x = (w / root).abs();
        let above = levels.windows(2).filter(|pair| x > 0.5 * (pair[0] + pair[1])).count() as u8;
        *code = if *w < 0.0 { half - 1 - above } else { half + above };
        let level = level(*code, bits);
        fit += level * w;
        size += level * level;
    }
    fit / size
}

/// What a code stands for, before its scale.
fn level(code: u8, bits: u8) -> f32 {
    let levels = LEVELS[usize::from(bits) - 2];
    let half = levels.len();
    let code = usize::from(code);
    if code < half { -levels[half - 1 - code] } else { levels[code - half] }
}

/// Bytes of a row: its largest scale (f16), a byte a stretch, and the codes, eight in as many bytes as they have bits.
pub(crate) fn row_bytes(width: usize, bits: u8) -> usize {
    2 + width / STRETCH + width * usize::from(bits) / 8
}

fn pack_row(row: &[f32], bits: u8) -> Vec<u8> {
    let mut codes = vec![[0; STRETCH]; row.len() / STRETCH];
    let scales: Vec<f32> = row
        .chunks_exact(STRETCH)
        .zip(&mut codes)
        .map(|(stretch, codes)| encode(stretch, bits, codes))
        .collect();
    let top = f16::from_f32(scales.iter().copied().fold(0.0, f32::max));
    let mut bytes = Vec::with_capacity(row_bytes(row.len(), bits));
    bytes.extend(top.to_le_bytes());
    // A row of zeros has no largest scale: 0 / 0 becomes 0 as a byte.
    bytes.extend(scales.iter().map(|scale| (scale / top.to_f32() * 255.0).round() as u8));
    for eight in codes.as_flattened().chunks_exact(8) {
        let word = eight.iter().rev().fold(0u32, |word, code| word << bits | u32::from(*code));
        bytes.extend(&word.to_le_bytes()[..usize::from(bits)]);
    }
    bytes
}

/// The numbers of a tensor's bytes, which must have the right length.
fn unpack(bytes: &[u8], shape: &[usize], bits: Option<u8>) -> Vec<f32> {
    let Some(bits) = bits else {
        return halves(bytes);
    };
    let width = shape[1];
    let mut data = vec![0.0; shape.iter().product()];
    let rows = bytes.par_chunks_exact(row_bytes(width, bits)).with_min_len(64);
    data.par_chunks_exact_mut(width).zip(rows).for_each(|(row, bytes)| unpack_row(bytes, bits, row));
    data
}

/// Numbers of sixteen bits.
pub(crate) fn halves(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b).to_f32()).collect()
}

fn unpack_row(bytes: &[u8], bits: u8, row: &mut [f32]) {
    for (values, codes, stretch) in stretches(bytes, bits, row) {
        look_up(codes, bits, &values, stretch);
    }
}

/// A row in eight bits, as [`step_of`] and rounding would make it of the numbers; returns the step.
pub(crate) fn unpack_row_i8(bytes: &[u8], bits: u8, numbers: &mut [f32], row: &mut [i8]) -> f32 {
    unpack_row(bytes, bits, numbers);
    // A largest scale that is no number makes every number of the row none, which the search for the largest would not see.
    let step = step_of(numbers) + 0.0 * numbers[0];
    for (values, codes, stretch) in stretches(bytes, bits, row) {
        look_up(codes, bits, &values.map(|value| (value / step).round() as i8), stretch);
    }
    step
}

/// Every stretch of a row: what its codes stand for, the codes, and where they go.
fn stretches<'a, T>(
    bytes: &'a [u8],
    bits: u8,
    row: &'a mut [T],
) -> impl Iterator<Item = ([f32; 16], &'a [u8], &'a mut [T])> {
    let top = f16::from_le_bytes([bytes[0], bytes[1]]).to_f32();
    let (scales, codes) = bytes[2..].split_at(row.len() / STRETCH);
    let codes = codes.chunks_exact(STRETCH * usize::from(bits) / 8);
    row.chunks_exact_mut(STRETCH).zip(codes).zip(scales).map(move |((stretch, codes), scale)| {
        let scale = top * (f32::from(*scale) / 255.0);
        let mut values = [0.0; 16];
        for (code, value) in values.iter_mut().take(1 << bits).enumerate() {
            *value = scale * level(code as u8, bits);
        }
        (values, codes, stretch)
    })
}

fn look_up<T: Copy>(codes: &[u8], bits: u8, values: &[T; 16], to: &mut [T]) {
    let mask = (1u32 << bits) - 1;
    for (eight, codes) in to.chunks_exact_mut(8).zip(codes.chunks_exact(usize::from(bits))) {
        let word = codes.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        for (i, to) in eight.iter_mut().enumerate() {
            *to = values[(word >> (i as u32 * u32::from(bits)) & mask) as usize & 15];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn normal(count: u64) -> Vec<f32> {
        (0..count).map(|i| 0.05 * Stream::new(3).normal(i)).collect()
    }

    /// Mean squared error, of the mean square.
    fn loss(exact: &[f32], found: &[f32]) -> f64 {
        let square = |x: f32| f64::from(x) * f64::from(x);
        let error: f64 = exact.iter().zip(found).map(|(a, b)| square(a - b)).sum();
        error / exact.iter().map(|x| square(*x)).sum::<f64>()
    }

    #[test]
    fn normal_weights_lose_what_max_s_table_says() {
        // Table I of Max 1960: 0.1175, 0.03454, 0.009497 of the variance; scales fitted to 64 numbers lose less.
        for (bits, expected) in [(2, 0.1175), (3, 0.03454), (4, 0.009497)] {
            let exact = normal(64_000);
            let mut rounded = exact.clone();
            round(&mut rounded, bits);
            let found = loss(&exact, &rounded);
            assert!(found < expected && found > 0.9 * expected, "{bits} bits lose {found}");
        }
    }

    #[test]
    fn a_row_comes_back_as_it_was_rounded_but_for_the_scales_eight_bits() {
        for bits in 2..=4 {
            let row = normal(768);
            let bytes = pack_row(&row, bits);
            assert_eq!(bytes.len(), row_bytes(768, bits));
            let (mut back, mut rounded) = (vec![0.0; 768], row);
            unpack_row(&bytes, bits, &mut back);
            round(&mut rounded, bits);
            for (a, b) in back.iter().zip(&rounded) {
                assert!((a - b).abs() <= 0.005 * b.abs(), "{a} for {b}");
            }
        }
    }

    #[test]
    fn zeros_stay_zeros_and_one_large_weight_does_not_disturb_other_stretches() {
        let mut row = vec![0.0; 128];
        let back = |row: &[f32]| {
            let mut back = vec![1.0; row.len()];
            unpack_row(&pack_row(row, 3), 3, &mut back);
            back
        };
        assert_eq!(back(&row), row);
        row[5] = 100.0;
        assert!(back(&row)[64..].iter().all(|w| *w == 0.0));
    }
}
