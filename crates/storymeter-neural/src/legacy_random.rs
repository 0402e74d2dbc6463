//! The random numbers of numpy's old generator, `numpy.random.seed` and `standard_normal`, to the
//! last bit.
//!
//! The generator is the Mersenne Twister MT19937 of Matsumoto and Nishimura (1998), and normal
//! numbers come from the polar method of Marsaglia, which makes two at a time.

const WORDS: usize = 624;
const MIDDLE: usize = 397;

/// A stream of random numbers.
pub(crate) struct LegacyRandom {
    words: [u32; WORDS],
    next: usize,
    /// The second of two normal numbers.
    spare: Option<f64>,
}

impl LegacyRandom {
    /// The stream of a seed.
    pub(crate) fn new(seed: u32) -> Self {
        let mut words = [seed; WORDS];
        for at in 1..WORDS {
            let before = words[at - 1];
            words[at] =
                1_812_433_253u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(at as u32);
        }
        Self { words, next: WORDS, spare: None }
    }

    fn word(&mut self) -> u32 {
        if self.next == WORDS {
            self.renew();
        }
        let mut word = self.words[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn renew(&mut self) {
        for at in 0..WORDS {
            let joined =
                (self.words[at] & 0x8000_0000) | (self.words[(at + 1) % WORDS] & 0x7fff_ffff);
            let twist = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[at] = self.words[(at + MIDDLE) % WORDS] ^ (joined >> 1) ^ twist;
        }
        self.next = 0;
    }

    /// A number from 0 to 1, with 53 random bits.
    fn uniform(&mut self) -> f64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// A number of the standard normal distribution.
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(factor * x);
                return factor * y;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.random.seed(0); numpy.random.standard_normal(6)` with numpy 1.26.4, and the numbers
    /// 999,999 and 1,000,000 of that stream.
    #[test]
    fn normal_numbers_are_those_of_numpy() {
        let mut random = LegacyRandom::new(0);
        for expected in [
            1.764052345967664,
            0.4001572083672233,
            0.9787379841057392,
            2.240893199201458,
            1.8675579901499675,
            -0.977277879876411,
        ] {
            assert_eq!(random.normal(), expected);
        }
        let mut later = (6..1_000_000).map(|_| random.normal()).skip(999_992);
        let last = [later.next(), later.next()];
        assert_eq!(last, [Some(0.8747560931181503), Some(1.37183066026284)]);
    }
}
