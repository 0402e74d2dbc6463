//! The counts of all n-grams of a text, in which the n-grams of another text are looked up.
//!
//! The key of an n-gram is a pair of numbers, one for its first n-1 tokens and one for its last
//! token. Keys are therefore exact, and have eight bytes for every order. Looking up the n-grams of
//! a text stops as soon as a prefix is unknown, which for two different stories is soon.

use super::Tokens;
use super::tables::{GramTable, Id, TokenTable, key};
use super::tokens::extend_hash;

/// The n-grams of a text up to some order, with their counts. If it is made of several texts, each
/// count is the largest one in any of them.
///
/// ```
/// use storymeter_metrics::tokenize::{NgramIndex, Tokenizer, Whitespace};
/// let index = NgramIndex::new(&[&Whitespace::tokenize("a b a b c")], 2);
/// assert_eq!(index.counts(1), [2, 2, 1]);
/// assert_eq!(index.counts(2), [2, 1, 1]); // a b, b a, b c
/// ```
pub struct NgramIndex {
    /// Where the numbers of each order begin, and where those of the last one end.
    starts: Vec<usize>,
    counts: Vec<u32>,
    tokens: TokenTable,
    /// The n-grams of order 2 and up, which are numbered after the tokens.
    grams: GramTable,
}

impl NgramIndex {
    /// Counts the n-grams of orders 1 to `order`.
    pub fn new(texts: &[&Tokens], order: usize) -> Self {
        let total: usize = texts.iter().map(|text| text.len()).sum();
        let mut tokens = TokenTable::with_capacity(total);
        let ids: Vec<Vec<Id>> = texts.iter().map(|text| tokens.intern(text)).collect();
        let mut grams = GramTable::default();
        grams.restart(total * order.saturating_sub(1));
        let first = tokens.len();
        let mut index_starts = vec![0, tokens.len()];
        let mut counts = vec![0; tokens.len()];
        let mut current = ids.clone();
        raise(&mut counts, &current);
        for _ in 1..order {
            for (grams_of_text, ids) in current.iter_mut().zip(&ids) {
                // There is one n-gram fewer than there were (n-1)-grams.
                grams_of_text.truncate(grams_of_text.len().saturating_sub(1));
                let added = ids.len() - grams_of_text.len();
                for (gram, &last) in
                    grams_of_text.iter_mut().zip(ids.get(added..).unwrap_or_default())
                {
                    *gram = first as Id + grams.intern(key(*gram, last));
                }
            }
            counts.resize(first + grams.keys().len(), 0);
            raise(&mut counts, &current);
            index_starts.push(counts.len());
        }
        Self { starts: index_starts, counts, tokens, grams }
    }

    /// The highest order.
    pub fn order(&self) -> usize {
        self.starts.len() - 1
    }

    /// The counts of the different n-grams of an order, which begin at 1, in order of first
    /// occurrence.
    pub fn counts(&self, order: usize) -> &[u32] {
        &self.counts[self.starts[order - 1]..self.starts[order]]
    }

    /// Counts, for each order, the n-grams of a text that occur here. Each counts at most as often
    /// as it occurs here.
    pub fn clipped_matches(&self, text: &Tokens, matches: &mut [f64]) {
        let mut left = self.counts.clone();
        self.walk(text, |order, id| {
            let left = &mut left[id as usize];
            if *left > 0 {
                *left -= 1;
                matches[order - 1] += 1.0;
            }
        });
    }

    /// Counts, for each order, the different n-grams that occur both here and in a text.
    pub fn shared(&self, text: &Tokens, shared: &mut [f64]) {
        let mut seen = vec![false; self.counts.len()];
        self.walk(text, |order, id| {
            if !std::mem::replace(&mut seen[id as usize], true) {
                shared[order - 1] += 1.0;
            }
        });
    }

    /// The number of each token of a text, or `None` if the token does not occur here.
    pub fn token_ids<'a>(&'a self, text: &'a Tokens) -> impl Iterator<Item = Option<u32>> + 'a {
        text.hashed().map(|(hash, token)| self.tokens.find(hash, token))
    }

    /// The number of different n-grams of all orders.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is no n-gram.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// A 64-bit hash of every different n-gram, beginning with order 1. An n-gram has the same hash
    /// in every index.
    pub fn hashes(&self) -> Vec<u64> {
        let mut hashes = Vec::with_capacity(self.len());
        hashes.extend(self.tokens.iter().map(|(hash, _)| hash));
        for &key in self.grams.keys() {
            let (prefix, last) = (hashes[(key >> 32) as usize], hashes[key as u32 as usize]);
            hashes.push(extend_hash(prefix, last));
        }
        hashes
    }

    /// The number that every different n-gram has in another index, beginning with order 1, or
    /// `None` if it does not occur there.
    pub fn numbers_in(&self, other: &Self) -> Vec<Option<u32>> {
        let mut numbers = Vec::with_capacity(self.len());
        numbers.extend(self.tokens.iter().map(|(hash, token)| other.tokens.find(hash, token)));
        for &key in self.grams.keys() {
            let (prefix, last) = (numbers[(key >> 32) as usize], numbers[key as u32 as usize]);
            numbers.push(prefix.zip(last).and_then(|(prefix, last)| other.longer(prefix, last)));
        }
        numbers
    }

    /// The number of the n-gram that begins with the n-gram `prefix` and ends with the token
    /// `last`.
    fn longer(&self, prefix: Id, last: Id) -> Option<Id> {
        self.grams.find(key(prefix, last)).map(|id| self.tokens.len() as Id + id)
    }

    /// Calls `each(order, id)` for every n-gram of the text that occurs here.
    fn walk(&self, text: &Tokens, mut each: impl FnMut(usize, Id)) {
        let ids: Vec<Option<Id>> = self.token_ids(text).collect();
        for (at, &first) in ids.iter().enumerate() {
            let Some(mut gram) = first else { continue };
            each(1, gram);
            for order in 2..=self.order() {
                let last = ids.get(at + order - 1).copied().flatten();
                let Some(longer) = last.and_then(|last| self.longer(gram, last)) else { break };
                gram = longer;
                each(order, gram);
            }
        }
    }
}

/// Raises each count to the number of times that its id occurs in the list that has it most often.
fn raise(counts: &mut [u32], lists: &[Vec<Id>]) {
    if let [only] = lists {
        only.iter().for_each(|&id| counts[id as usize] += 1);
        return;
    }
    let mut own = vec![0; counts.len()];
    for list in lists {
        list.iter().for_each(|&id| own[id as usize] += 1);
        for &id in list {
            let count = std::mem::take(&mut own[id as usize]);
            counts[id as usize] = counts[id as usize].max(count);
        }
    }
}
