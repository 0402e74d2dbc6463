//! The types of numbers in GGUF files, and how blocks of small whole numbers become `f32`.
//!
//! The arithmetic follows ggml step by step (`ggml-quants.c`, `dequantize_row_*`), so that the
//! results are the same bits. The fixtures of the tests are from ggml's Python package.

use crate::source::content::Number;
use half::f16;

/// The type of the numbers of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Plain(Number),
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2K,
    Q3K,
    Q4K,
    Q5K,
    Q6K,
}

impl Kind {
    /// The type with this number in the file.
    pub(super) fn of(number: u32) -> Option<Kind> {
        Some(match number {
            0 => Kind::Plain(Number::F32),
            1 => Kind::Plain(Number::F16),
            2 => Kind::Q4_0,
            3 => Kind::Q4_1,
            6 => Kind::Q5_0,
            7 => Kind::Q5_1,
            8 => Kind::Q8_0,
            10 => Kind::Q2K,
            11 => Kind::Q3K,
            12 => Kind::Q4K,
            13 => Kind::Q5K,
            14 => Kind::Q6K,
            28 => Kind::Plain(Number::F64),
            30 => Kind::Plain(Number::Bf16),
            _ => return None,
        })
    }

    /// How many numbers a block has, and how many bytes.
    pub(super) fn block(self) -> (u64, u64) {
        match self {
            Kind::Plain(number) => (1, number.size() as u64),
            Kind::Q4_0 => (32, 18),
            Kind::Q4_1 => (32, 20),
            Kind::Q5_0 => (32, 22),
            Kind::Q5_1 => (32, 24),
            Kind::Q8_0 => (32, 34),
            Kind::Q2K => (256, 84),
            Kind::Q3K => (256, 110),
            Kind::Q4K => (256, 144),
            Kind::Q5K => (256, 176),
            Kind::Q6K => (256, 210),
        }
    }

    /// The numbers of whole blocks.
    pub(super) fn decode(self, bytes: &[u8]) -> Vec<f32> {
        if let Kind::Plain(number) = self {
            return number.decode(bytes);
        }
        let (count, size) = self.block();
        let blocks = bytes.chunks_exact(size as usize);
        let mut data = Vec::with_capacity(blocks.len() * count as usize);
        for block in blocks {
            match self {
                Kind::Plain(_) => {}
                Kind::Q4_0 => q4_0(block, &mut data),
                Kind::Q4_1 => q4_1(block, &mut data),
                Kind::Q5_0 => q5_0(block, &mut data),
                Kind::Q5_1 => q5_1(block, &mut data),
                Kind::Q8_0 => q8_0(block, &mut data),
                Kind::Q2K => q2_k(block, &mut data),
                Kind::Q3K => q3_k(block, &mut data),
                Kind::Q4K => q4_k(block, &mut data),
                Kind::Q5K => q5_k(block, &mut data),
                Kind::Q6K => q6_k(block, &mut data),
            }
        }
        data
    }
}

/// The half-precision number at `at`.
fn half(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

fn signed(byte: u8) -> f32 {
    f32::from(byte.cast_signed())
}

fn q8_0(block: &[u8], data: &mut Vec<f32>) {
    let scale = half(block, 0);
    data.extend(block[2..].iter().map(|q| signed(*q) * scale));
}

/// The lower halves of the bytes first, and then the upper halves.
fn nibbles(bytes: &[u8]) -> impl Iterator<Item = u8> {
    bytes.iter().map(|q| q & 15).chain(bytes.iter().map(|q| q >> 4))
}

/// Four bits of each byte, and a fifth from the bits of `high`.
fn five_bits(bytes: &[u8], high: &[u8]) -> impl Iterator<Item = u8> {
    nibbles(bytes).enumerate().map(|(i, q)| q | (high[i / 8] >> (i % 8) & 1) << 4)
}

fn q4_0(block: &[u8], data: &mut Vec<f32>) {
    let scale = half(block, 0);
    data.extend(nibbles(&block[2..]).map(|q| (f32::from(q) - 8.0) * scale));
}

fn q4_1(block: &[u8], data: &mut Vec<f32>) {
    let (scale, least) = (half(block, 0), half(block, 2));
    data.extend(nibbles(&block[4..]).map(|q| f32::from(q) * scale + least));
}

fn q5_0(block: &[u8], data: &mut Vec<f32>) {
    let scale = half(block, 0);
    data.extend(five_bits(&block[6..], &block[2..6]).map(|q| (f32::from(q) - 16.0) * scale));
}

fn q5_1(block: &[u8], data: &mut Vec<f32>) {
    let (scale, least) = (half(block, 0), half(block, 2));
    data.extend(five_bits(&block[8..], &block[4..8]).map(|q| f32::from(q) * scale + least));
}

fn q2_k(block: &[u8], data: &mut Vec<f32>) {
    let (scales, quants) = (&block[..16], &block[16..80]);
    let (scale, least) = (half(block, 80), half(block, 82));
    for (part, packed) in scales.iter().enumerate() {
        // 128 numbers share 32 bytes, two bits each; 16 of them have a scale of their own.
        let (run, shift, side) = (part / 8, part % 8 / 2 * 2, part % 2);
        let (scale, least) = (scale * f32::from(packed & 15), least * f32::from(packed >> 4));
        let quants = &quants[32 * run + 16 * side..][..16];
        data.extend(quants.iter().map(|q| scale * f32::from(q >> shift & 3) - least));
    }
}

fn q3_k(block: &[u8], data: &mut Vec<f32>) {
    let (high, quants, packed) = (&block[..32], &block[32..96], &block[96..108]);
    let scale = half(block, 108);
    for part in 0..16 {
        // A scale has four bits in the first eight bytes and two in the last four.
        let low = packed[part % 8] >> (part / 8 * 4) & 15;
        let top = packed[8 + part % 4] >> (part / 4 * 2) & 3;
        let scale = scale * (f32::from(low | top << 4) - 32.0);
        let (run, shift, side) = (part / 8, part % 8 / 2 * 2, part % 2);
        let bit = 4 * run + part % 8 / 2;
        let quants = quants[32 * run + 16 * side..][..16].iter().zip(&high[16 * side..]);
        data.extend(quants.map(|(q, high)| {
            let missing = if high >> bit & 1 == 1 { 0.0 } else { 4.0 };
            scale * (f32::from(q >> shift & 3) - missing)
        }));
    }
}

/// The scale and the minimum of one of the eight parts of a block of Q4_K or Q5_K, six bits each.
fn six_bits(packed: &[u8], part: usize) -> (f32, f32) {
    let (scale, least) = if part < 4 {
        (packed[part] & 63, packed[part + 4] & 63)
    } else {
        let (low, below, top) = (packed[part + 4], packed[part - 4], packed[part]);
        (low & 15 | below >> 6 << 4, low >> 4 | top >> 6 << 4)
    };
    (scale.into(), least.into())
}

fn q4_k(block: &[u8], data: &mut Vec<f32>) {
    let (scale, least) = (half(block, 0), half(block, 2));
    for part in 0..8 {
        let (own_scale, own_least) = six_bits(&block[4..16], part);
        let (scale, least) = (scale * own_scale, least * own_least);
        let quants = &block[16 + part / 2 * 32..][..32];
        let shift = part % 2 * 4;
        data.extend(quants.iter().map(|q| scale * f32::from(q >> shift & 15) - least));
    }
}

fn q5_k(block: &[u8], data: &mut Vec<f32>) {
    let (scale, least) = (half(block, 0), half(block, 2));
    let high = &block[16..48];
    for part in 0..8 {
        let (own_scale, own_least) = six_bits(&block[4..16], part);
        let (scale, least) = (scale * own_scale, least * own_least);
        let quants = &block[48 + part / 2 * 32..][..32];
        let shift = part % 2 * 4;
        data.extend(
            quants.iter().zip(high).map(|(q, high)| {
                scale * f32::from(q >> shift & 15 | (high >> part & 1) << 4) - least
            }),
        );
    }
}

fn q6_k(block: &[u8], data: &mut Vec<f32>) {
    let (low, high, scales) = (&block[..128], &block[128..192], &block[192..208]);
    let scale = half(block, 208);
    for (part, own_scale) in scales.iter().enumerate() {
        // 128 numbers share 64 bytes of low bits and 32 bytes of high bits.
        let (run, quarter, side) = (part / 8, part % 8 / 2, part % 2);
        let scale = scale * signed(*own_scale);
        let low = &low[64 * run + quarter % 2 * 32 + 16 * side..][..16];
        let high = &high[32 * run + 16 * side..][..16];
        data.extend(low.iter().zip(high).map(|(low, high)| {
            let low = low >> (quarter / 2 * 4) & 15;
            let high = high >> (quarter * 2) & 3;
            scale * (f32::from(low | high << 4) - 32.0)
        }));
    }
}
