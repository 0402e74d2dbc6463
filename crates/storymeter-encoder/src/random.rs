//! Random numbers by counter: number `i` of a stream is a function of the key of the stream and `i`
//! alone.
//!
//! Dropout therefore needs no stored masks, because the backward pass draws them again, and no
//! order of drawing. It gives the same bytes for any number of threads.

/// A stream of random numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream(u64);

/// The distance of two numbers of a stream: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014). Every bit of the input changes every
/// bit of the output with equal probability.
#[inline(always)]
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Stream {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Stream {
        Stream(mix(seed.wrapping_add(STEP)))
    }

    /// Stream number `i` within this one: the stream of a step, of a layer or of an operation.
    pub fn child(self, i: u64) -> Stream {
        Stream(mix(self.0 ^ mix(i.wrapping_add(0x632b_e59b_d9b4_e019))))
    }

    /// This stream without its first `count` numbers.
    #[must_use]
    #[inline(always)]
    pub fn skip(self, count: u64) -> Stream {
        Stream(self.0.wrapping_add(count.wrapping_mul(STEP)))
    }

    /// The key that all numbers follow from, for a device that draws them itself.
    #[cfg(feature = "cuda")]
    pub(crate) fn key(self) -> u64 {
        self.0
    }

    /// Number `i` as 64 random bits.
    #[inline(always)]
    pub fn bits(self, i: u64) -> u64 {
        mix(self.skip(i).0)
    }

    /// Number `i`, uniform between 0 and 1, with 24 bits.
    #[inline(always)]
    pub fn uniform(self, i: u64) -> f32 {
        (self.bits(i) >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Number `i`, normal with mean 0 and deviation 1, by the method of Box and Muller from the two
    /// halves of the bits.
    pub fn normal(self, i: u64) -> f32 {
        let bits = self.bits(i);
        let u = ((bits >> 32) as f64 + 0.5) / f64::from(u32::MAX);
        let v = (bits & 0xffff_ffff) as f64 / f64::from(u32::MAX);
        ((-2.0 * u.min(1.0).ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::Stream;

    #[test]
    fn streams_have_the_moments_they_should_and_differ_from_each_other() {
        let stream = Stream::new(5);
        let n = 100_000;
        let mean = (0..n).map(|i| f64::from(stream.uniform(i))).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        let square = (0..n).map(|i| f64::from(stream.normal(i)).powi(2)).sum::<f64>() / n as f64;
        assert!((square - 1.0).abs() < 0.02, "{square}");
        assert!((0..9).all(|i| stream.skip(4).bits(i) == stream.bits(4 + i)));
        let (a, b) = (stream.child(0), stream.child(1));
        let together = (0..n).map(|i| f64::from(a.normal(i) * b.normal(i))).sum::<f64>() / n as f64;
        assert!(together.abs() < 0.02, "{together}");
    }
}
