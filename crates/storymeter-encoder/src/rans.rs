//! An entropy coder for small whole numbers, by asymmetric numeral systems with ranges (Duda 2013,
//! "Asymmetric numeral systems").
//!
//! Weights on a grid ([`crate::Grid`]) are mostly -1, 0 and 1, and now and then much larger. A
//! [`Code`] gives each level a share of 4,096 parts according to how often it occurs, so that
//! encoded levels need about as many bits as their entropy. Four states take turns, which lets a
//! processor work on four levels at a time.

/// The number of bits of a share.
const SHARE_BITS: u32 = 12;
/// The sum of all shares.
const WHOLE: usize = 1 << SHARE_BITS;
/// States lie between this and 2^32. A state that falls below takes in sixteen more bits. Encoding
/// starts here, and so decoding must end here.
const LOWEST_STATE: u32 = 1 << 16;
/// The number of states that take turns.
const LANES: usize = 4;

/// How large the share of each level is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Code {
    /// The level that the first share belongs to.
    lowest: i8,
    /// The shares of all levels from the lowest to the highest. Their sum is [`WHOLE`].
    shares: Vec<u16>,
}

/// The table that decodes a [`Code`]. For every part of the whole it has the level that the part
/// belongs to (bits 24 to 31), the place of the part in the share of that level (bits 12 to 23),
/// and that share less one (bits 0 to 11).
pub(crate) struct Decoder(Box<[u32; WHOLE]>);

impl Code {
    /// Makes the code that suits these levels.
    pub fn of(levels: impl Iterator<Item = i8>) -> Code {
        let mut counts = [0u64; 256];
        levels.for_each(|level| counts[(i16::from(level) + 128) as usize] += 1);
        let first = counts.iter().position(|count| *count > 0).unwrap_or(128);
        let last = counts.iter().rposition(|count| *count > 0).unwrap_or(128);
        let counts = &counts[first..=last];
        let total = counts.iter().sum::<u64>().max(1);
        let share = |count: &u64| match count {
            0 => 0,
            count => (count * WHOLE as u64 / total).max(1) as u16,
        };
        let mut shares: Vec<u16> = counts.iter().map(share).collect();
        // What rounding left over, or took too much, goes to the most frequent level, which notices
        // it least.
        loop {
            let sum: usize = shares.iter().map(|share| usize::from(*share)).sum();
            let Some(largest) = shares.iter_mut().max() else { break };
            match sum.cmp(&WHOLE) {
                std::cmp::Ordering::Less => *largest += (WHOLE - sum) as u16,
                std::cmp::Ordering::Greater => *largest -= 1,
                std::cmp::Ordering::Equal => break,
            }
        }
        Code { lowest: (first as i16 - 128) as i8, shares }
    }

    /// The code as bytes: the lowest level, the number of levels less one, and the shares.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.lowest.cast_unsigned(), (self.shares.len() - 1) as u8];
        bytes.extend(self.shares.iter().flat_map(|share| share.to_le_bytes()));
        bytes
    }

    /// Reads the code that [`Code::to_bytes`] wrote. Returns it with the bytes behind it, or `None`
    /// if the bytes are not a code.
    pub fn read(bytes: &[u8]) -> Option<(Code, &[u8])> {
        let ([lowest, last], rest) = bytes.split_first_chunk::<2>()?;
        let lowest = lowest.cast_signed();
        let (shares, rest) = rest.split_at_checked(2 * (usize::from(*last) + 1))?;
        let shares: Vec<u16> =
            shares.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b)).collect();
        let sum: usize = shares.iter().map(|share| usize::from(*share)).sum();
        let highest = i16::from(lowest) + i16::from(*last);
        (sum == WHOLE && highest <= i16::from(i8::MAX)).then_some((Code { lowest, shares }, rest))
    }

    /// Encodes levels, each of which must have a share.
    pub fn encode(&self, levels: &[i8]) -> Vec<u8> {
        let mut starts = Vec::with_capacity(self.shares.len());
        let mut start = 0u32;
        for share in &self.shares {
            starts.push(start);
            start += u32::from(*share);
        }
        let mut states = [LOWEST_STATE; LANES];
        // Decoding does the same steps backwards. The last level therefore goes in first, and the
        // order of all words is reversed at the end.
        let mut words: Vec<u16> = Vec::with_capacity(levels.len() / 4);
        for (i, level) in levels.iter().enumerate().rev() {
            let at = (i16::from(*level) - i16::from(self.lowest)) as usize;
            let (share, state) = (u32::from(self.shares[at]), &mut states[i % LANES]);
            if u64::from(*state) >= u64::from(share) << (32 - SHARE_BITS) {
                words.push(*state as u16);
                *state >>= 16;
            }
            *state = ((*state / share) << SHARE_BITS) + *state % share + starts[at];
        }
        let states = states.iter().flat_map(|state| state.to_le_bytes());
        states.chain(words.iter().rev().flat_map(|word| word.to_le_bytes())).collect()
    }

    /// Makes the table that decodes this code.
    pub fn decoder(&self) -> Decoder {
        let mut table = Box::new([0; WHOLE]);
        let mut parts = table.iter_mut();
        for (level, share) in (self.lowest..=i8::MAX).zip(&self.shares) {
            for place in 0..*share {
                if let Some(part) = parts.next() {
                    let level = u32::from(level.cast_unsigned());
                    *part = level << 24 | u32::from(place) << 12 | u32::from(share - 1);
                }
            }
        }
        Decoder(table)
    }
}

impl Decoder {
    /// Fills `levels` with what was encoded. Returns `None` if the bytes do not stand for that many
    /// levels.
    pub fn decode(&self, bytes: &[u8], levels: &mut [i8]) -> Option<()> {
        let (first, words) = bytes.split_first_chunk::<{ 4 * LANES }>()?;
        let mut states = [0; LANES];
        for (state, bytes) in states.iter_mut().zip(first.as_chunks().0) {
            *state = u32::from_le_bytes(*bytes);
        }
        let (words, []) = words.as_chunks::<2>() else { return None };
        let mut words = words.iter();
        for four in levels.chunks_mut(LANES) {
            for (level, state) in four.iter_mut().zip(&mut states) {
                let part = self.0[*state as usize % WHOLE];
                *level = ((part >> 24) as u8).cast_signed();
                // The state of a forged file may be anything. The sum may wrap, and the end shows
                // that it is wrong.
                *state = ((part & 0xfff) + 1)
                    .wrapping_mul(*state >> SHARE_BITS)
                    .wrapping_add(part >> 12 & 0xfff);
                if *state < LOWEST_STATE {
                    *state = *state << 16 | u32::from(u16::from_le_bytes(*words.next()?));
                }
            }
        }
        (words.len() == 0 && states == [LOWEST_STATE; LANES]).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn levels(count: u64, spread: f32) -> Vec<i8> {
        (0..count).map(|i| (spread * Stream::new(7).normal(i)).round_ties_even() as i8).collect()
    }

    fn there_and_back(levels: &[i8]) -> usize {
        let code = Code::of(levels.iter().copied());
        let (read, rest) =
            Code::read(&code.to_bytes()).map(|(code, rest)| (code, rest.len())).unwrap();
        assert_eq!((&read, rest), (&code, 0));
        let bytes = code.encode(levels);
        let mut back = vec![99; levels.len()];
        assert_eq!(read.decoder().decode(&bytes, &mut back), Some(()));
        assert_eq!(back, levels);
        bytes.len()
    }

    #[test]
    fn levels_come_back_whatever_they_are() {
        for count in [0, 1, 2, 3, 5, 64, 1001] {
            for spread in [0.0, 0.1, 1.4, 60.0] {
                there_and_back(&levels(count, spread));
            }
        }
        there_and_back(&[-128, 127, 0, 0, 127, -128, 5]);
        there_and_back(&(-128..=127).collect::<Vec<i8>>());
    }

    #[test]
    fn they_cost_their_entropy() {
        let levels = levels(100_000, 1.4);
        let share = |level: i8| levels.iter().filter(|other| **other == level).count() as f64 / 1e5;
        let shares = (-128..=127).map(share).filter(|share| *share > 0.0);
        let entropy: f64 = shares.map(|share| -share * share.log2()).sum();
        let bits = there_and_back(&levels) as f64 * 8.0 / 1e5;
        assert!(bits > entropy && bits < 1.01 * entropy, "{bits} bits a level, entropy {entropy}");
    }

    #[test]
    fn bytes_that_were_changed_or_cut_are_refused() {
        let levels = levels(1000, 1.4);
        let code = Code::of(levels.iter().copied());
        let (decoder, bytes) = (code.decoder(), code.encode(&levels));
        let mut back = levels.clone();
        assert_eq!(decoder.decode(&bytes[..bytes.len() - 1], &mut back), None);
        assert_eq!(decoder.decode(&bytes[..bytes.len() - 2], &mut back), None);
        assert_eq!(decoder.decode(&bytes, &mut back[..999]), None);
        assert_eq!(decoder.decode(&[], &mut back), None);
        let mut changed = bytes.clone();
        changed[20] ^= 1;
        assert_eq!(decoder.decode(&changed, &mut back), None);
        let code = code.to_bytes();
        assert_eq!(Code::read(&code[..code.len() - 1]), None);
        let mut more = code.clone();
        more[2] += 1;
        assert_eq!(Code::read(&more), None, "more than the whole");
    }
}
