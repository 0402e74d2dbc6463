//! Two texts in one sequence.

use super::Tokenizer;

/// Two texts as one sequence: `[CLS] first [SEP] second [SEP]` for BERT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextPair {
    /// All ids, special tokens included.
    pub ids: Vec<u32>,
    /// Where the second text begins, and with it segment 1.
    pub second: usize,
    /// The number of tokens of the first and of the second text that are in the sequence.
    pub kept: (usize, usize),
}

impl Tokenizer {
    /// Puts two texts, given as ids without special tokens, into one sequence of at most `limit`
    /// tokens. If they do not fit, tokens are left out at the end of the longer one, and of the
    /// second one if both are equally long.
    ///
    /// Between the texts, vocabularies with `</s>` (RoBERTa, MPNet) have it twice.
    pub fn pair(&self, first: &[u32], second: &[u32], limit: usize) -> TextPair {
        let end = self.end();
        let twice = end.and_then(|end| self.piece(end)) == Some("</s>");
        let between: Vec<u32> = end.into_iter().chain(end.filter(|_| twice)).collect();
        let special =
            usize::from(self.start().is_some()) + between.len() + usize::from(end.is_some());
        let kept = fitting(first.len(), second.len(), limit.saturating_sub(special));
        let mut ids = Vec::with_capacity(kept.0 + kept.1 + special);
        ids.extend(self.start());
        ids.extend_from_slice(&first[..kept.0]);
        ids.extend(between);
        let start = ids.len();
        ids.extend_from_slice(&second[..kept.1]);
        ids.extend(end);
        TextPair { ids, second: start, kept }
    }
}

/// How many tokens of two texts fit: tokens leave the longer of the two, and the second one if both
/// are equally long.
fn fitting(first: usize, second: usize, room: usize) -> (usize, usize) {
    if first.saturating_add(second) <= room {
        return (first, second);
    }
    let half = room / 2;
    if first <= half {
        (first, room - first)
    } else if second < room - half {
        (room - second, second)
    } else {
        (room - half, half)
    }
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn tokens_leave_the_longer_text() {
        let by_one = |mut first: usize, mut second: usize, room: usize| {
            while first + second > room {
                if first > second { first -= 1 } else { second -= 1 }
            }
            (first, second)
        };
        for first in 0..20 {
            for second in 0..20 {
                for room in 0..15 {
                    let expected = by_one(first, second, room);
                    assert_eq!(fitting(first, second, room), expected, "{first} {second} {room}");
                }
            }
        }
        assert_eq!(fitting(30, 50_000, 381), (30, 351));
    }
}
