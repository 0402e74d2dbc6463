//! The tokens of a text as numbers, to count the n-grams that another text shares with it.

use super::Tokens;
use super::tables::{GramTable, Id, TokenTable, key};

/// The tokens of a text as numbers. Different tokens are numbered in order of first occurrence.
pub struct Vocabulary {
    table: TokenTable,
    ids: Vec<Id>,
    counts: Vec<u32>,
}

impl Vocabulary {
    /// Numbers the tokens of a text.
    pub fn new(text: &Tokens) -> Self {
        let mut table = TokenTable::with_capacity(text.len());
        let ids = table.intern(text);
        let mut counts = vec![0; table.len()];
        ids.iter().for_each(|&id| counts[id as usize] += 1);
        Self { table, ids, counts }
    }

    /// The number of tokens of the text.
    pub fn tokens(&self) -> usize {
        self.ids.len()
    }

    /// Counts, for each order, the n-grams of another text that occur in this one. Each counts at
    /// most as often as it occurs here.
    ///
    /// An n-gram is in both texts only if both of its (n-1)-grams are. Each order therefore looks
    /// only at what the order before has left, which for two different stories is a few bigrams and
    /// soon nothing. The pair of the numbers of the two (n-1)-grams is the key of the n-gram.
    pub fn clipped_matches(&self, text: &Tokens, matches: &mut [f64]) {
        let Some((unigrams, longer)) = matches.split_first_mut() else { return };
        let mut left = self.counts.clone();
        let mut theirs = Vec::with_capacity(text.len());
        for (at, (hash, token)) in text.hashed().enumerate() {
            let Some(id) = self.table.find(hash, token) else { continue };
            theirs.push(Gram { at: at as u32, id });
            *unigrams += f64::from(u8::from(take_one(&mut left[id as usize])));
        }
        let mut ours: Vec<Gram> = Vec::with_capacity(self.ids.len());
        let mine = (0..).zip(&self.ids).map(|(at, &id)| Gram { at, id });
        ours.extend(mine.filter(|gram| left[gram.id as usize] < self.counts[gram.id as usize]));

        let mut table = GramTable::default();
        for matches in longer {
            table.restart(ours.len().saturating_sub(1));
            left.clear();
            lengthen(&mut ours, |key| {
                let id = table.intern(key);
                if id as usize == left.len() {
                    left.push(0);
                }
                left[id as usize] += 1;
                Some(id)
            });
            let mut shared = vec![false; left.len()];
            lengthen(&mut theirs, |key| {
                let id = table.find(key)?;
                shared[id as usize] = true;
                *matches += f64::from(u8::from(take_one(&mut left[id as usize])));
                Some(id)
            });
            ours.retain(|gram| shared[gram.id as usize]);
        }
    }
}

/// Takes one off a count; `false` if the count is zero.
fn take_one(left: &mut u32) -> bool {
    let any = *left > 0;
    *left -= u32::from(any);
    any
}

/// An n-gram of a text: the place of its first token, and its number among the n-grams of its
/// order.
#[derive(Clone, Copy)]
struct Gram {
    at: u32,
    id: Id,
}

/// Makes n-grams of (n-1)-grams that begin one token apart. `number` gives them their numbers;
/// those without a number are dropped.
fn lengthen(grams: &mut Vec<Gram>, mut number: impl FnMut(u64) -> Option<Id>) {
    let mut kept = 0;
    for next in 1..grams.len() {
        let (first, second) = (grams[next - 1], grams[next]);
        if second.at == first.at + 1
            && let Some(id) = number(key(first.id, second.id))
        {
            grams[kept] = Gram { at: first.at, id };
            kept += 1;
        }
    }
    grams.truncate(kept);
}
