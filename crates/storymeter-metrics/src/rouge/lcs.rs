//! Common subsequences of two sentences, plain and weighted.
//!
//! If only the length is needed, it comes from a bit-parallel recurrence (Hyyrö 2004, "Bit-parallel
//! LCS-length computation revisited"), which computes 64 columns of the table with one addition. If
//! the matched places are needed, the rows of the table are kept, and the path that ROUGE-1.5.5
//! takes is followed back through them. That path goes up rather than left.

use std::sync::LazyLock;

use super::words::UNSHARED;

/// The exponent of ROUGE-W, in which a run of k matches weighs `k^1.2`.
pub(crate) const WEIGHT: f64 = 1.2;

/// `k^1.2`.
pub(crate) fn weight(k: usize) -> f64 {
    static SMALL: LazyLock<Vec<f64>> =
        LazyLock::new(|| (0..4096).map(|k| f64::from(k).powf(WEIGHT)).collect());
    SMALL.get(k).copied().unwrap_or_else(|| (k as f64).powf(WEIGHT))
}

/// A sentence of the story, with the places of each word.
pub(crate) struct Sentence<'a> {
    words: &'a [u32],
    /// The slot of each word in `starts` and `masks`, or `NONE` for a word of another sentence.
    slots: Vec<u32>,
    /// The places of all words, word by word. Those of slot `s` begin at `starts[s]` and end before
    /// `starts[s + 1]`.
    places: Vec<u32>,
    starts: Vec<u32>,
    /// One bit per slot and place, set where the word stands.
    masks: Vec<u64>,
    blocks: usize,
}

const NONE: u32 = u32::MAX;

impl<'a> Sentence<'a> {
    /// Indexes a sentence whose words are numbered below `types`.
    pub fn new(words: &'a [u32], types: usize) -> Self {
        let mut slots = vec![NONE; types];
        let mut counts: Vec<u32> = Vec::new();
        for &word in words {
            let slot = &mut slots[word as usize];
            if *slot == NONE {
                *slot = counts.len() as u32;
                counts.push(0);
            }
            counts[*slot as usize] += 1;
        }
        let mut starts = vec![0];
        starts.extend(counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        }));
        let blocks = words.len().div_ceil(64);
        let mut next = starts.clone();
        let mut places = vec![0; words.len()];
        let mut masks = vec![0_u64; counts.len() * blocks];
        for (at, &word) in words.iter().enumerate() {
            let slot = slots[word as usize] as usize;
            places[next[slot] as usize] = at as u32;
            next[slot] += 1;
            masks[slot * blocks + at / 64] |= 1 << (at % 64);
        }
        Self { words, slots, places, starts, masks, blocks }
    }

    fn slot(&self, word: u32) -> Option<usize> {
        if word == UNSHARED {
            return None;
        }
        self.slots.get(word as usize).filter(|&&slot| slot != NONE).map(|&slot| slot as usize)
    }

    /// The places of a word, in order.
    fn places(&self, word: u32) -> &[u32] {
        self.slot(word).map_or(&[], |slot| {
            &self.places[self.starts[slot] as usize..self.starts[slot + 1] as usize]
        })
    }

    /// Makes a row of the table from the one before it. A zero bit is a place where the length
    /// grows.
    fn next_row(&self, row: &mut [u64], word: u32) {
        let Some(slot) = self.slot(word) else { return };
        let mut carry = false;
        for (bits, &mask) in
            row.iter_mut().zip(&self.masks[slot * self.blocks..(slot + 1) * self.blocks])
        {
            let matched = *bits & mask;
            let (sum, first) = bits.overflowing_add(matched);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *bits = sum | (*bits & !mask);
        }
    }

    /// The length of the longest common subsequence with another sentence.
    pub fn lcs_length(&self, other: &[u32]) -> usize {
        let mut row = vec![u64::MAX; self.blocks];
        other.iter().for_each(|&word| self.next_row(&mut row, word));
        grown(&row, self.words.len())
    }

    /// Marks the places of `other` on the path that ROUGE-1.5.5 takes through the table of longest
    /// common subsequences.
    pub fn mark_lcs(&self, other: &[u32], marks: &mut [bool]) {
        let mut rows = vec![u64::MAX; self.blocks * (other.len() + 1)];
        for (i, &word) in other.iter().enumerate() {
            let (done, todo) = rows.split_at_mut((i + 1) * self.blocks);
            let row = &mut todo[..self.blocks];
            row.copy_from_slice(&done[i * self.blocks..]);
            self.next_row(row, word);
        }
        let length = |i: usize, j: usize| grown(&rows[i * self.blocks..(i + 1) * self.blocks], j);
        let (mut i, mut j) = (other.len(), self.words.len());
        let mut here = length(i, j);
        // Where the length is 0, nothing matches any more.
        while here > 0 {
            if other[i - 1] == self.words[j - 1] {
                (i, j, here) = (i - 1, j - 1, here - 1);
                marks[i] = true;
            } else if length(i - 1, j) == here {
                i -= 1;
            } else {
                j -= 1;
            }
        }
    }

    /// Marks the places of `other` on the path that ROUGE-1.5.5 takes through the table of weighted
    /// subsequences.
    ///
    /// At a match, a cell of the table is `c(i-1,j-1) + f(k+1) - f(k)`, where `k` is the length of
    /// the run that ends before it. Elsewhere it is the larger of the cells above and to the left.
    /// A row equals the row above except at its own matches, where the row above fell at a match,
    /// and to the right of these as long as the cell on the left is larger. Only those cells are
    /// touched.
    pub fn mark_weighted(&self, other: &[u32], marks: &mut [bool]) {
        let mut table = WeightedTable::new(self.words.len(), other.len());
        for &word in other {
            table.add_row(self.places(word));
        }
        let (mut i, mut j) = (other.len(), self.words.len());
        while i > 0 && j > 0 {
            if other[i - 1] == self.words[j - 1] {
                (i, j) = (i - 1, j - 1);
                marks[i] = true;
            } else if table.came_from_left(i - 1, j - 1) {
                j -= 1;
            } else {
                i -= 1;
            }
        }
    }
}

/// The number of zero bits among the first `places`.
fn grown(row: &[u64], places: usize) -> usize {
    let whole: usize = row[..places / 64].iter().map(|bits| bits.count_zeros() as usize).sum();
    let bits_left = places % 64;
    if bits_left == 0 {
        return whole;
    }
    whole + (!row[places / 64] & ((1 << bits_left) - 1)).count_ones() as usize
}

/// The table of ROUGE-W, one row at a time. Of earlier rows only one bit per cell is kept: whether
/// the cell came from the left.
struct WeightedTable {
    /// The last row. Cell 0 is the boundary.
    cells: Vec<f64>,
    /// The length of the run that ends at each cell of the last row, and of the next one.
    runs: Vec<u32>,
    new_runs: Vec<u32>,
    /// The places of the matches in the last row, and of those at which its values fall.
    matches: Vec<u32>,
    falls: Vec<u32>,
    from_left: Vec<u64>,
    blocks: usize,
    rows: usize,
}

impl WeightedTable {
    fn new(width: usize, height: usize) -> Self {
        let blocks = width.div_ceil(64);
        Self {
            cells: vec![0.0; width + 1],
            runs: vec![0; width + 1],
            new_runs: vec![0; width + 1],
            matches: Vec::new(),
            falls: Vec::new(),
            from_left: vec![0; blocks * height],
            blocks,
            rows: 0,
        }
    }

    fn came_from_left(&self, row: usize, place: usize) -> bool {
        self.from_left[row * self.blocks + place / 64] >> (place % 64) & 1 == 1
    }

    /// Adds the row of a word that stands at these places of the sentence.
    fn add_row(&mut self, places: &[u32]) {
        let left_bits = &mut self.from_left[self.rows * self.blocks..(self.rows + 1) * self.blocks];
        self.rows += 1;
        let falls = std::mem::take(&mut self.falls);
        let mut fallen = falls.iter().copied().peekable();
        let mut matching = places.iter().copied().peekable();
        // The cell that was changed last and its value before. The next match may need the old
        // value.
        let mut changed = (0, 0.0);
        loop {
            let is_match = match (matching.peek(), fallen.peek()) {
                (Some(m), Some(f)) => m <= f,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let start = if is_match {
                let place = matching.next().unwrap_or_default() as usize + 1;
                while fallen.peek().is_some_and(|&f| (f as usize) < place) {
                    fallen.next();
                }
                let diagonal =
                    if changed.0 == place - 1 { changed.1 } else { self.cells[place - 1] };
                let run = self.runs[place - 1];
                self.new_runs[place] = run + 1;
                changed = (place, self.cells[place]);
                // The order of operations is that of the Perl program. Ties between cells depend on
                // the last bit.
                self.cells[place] = diagonal + weight(run as usize + 1) - weight(run as usize);
                if self.cells[place] < self.cells[place - 1] {
                    self.falls.push(place as u32 - 1);
                }
                place + 1
            } else {
                fallen.next().unwrap_or_default() as usize + 1
            };
            let end = matching.peek().map_or(self.cells.len(), |&m| m as usize + 1);
            for place in start..end {
                if self.cells[place] >= self.cells[place - 1] {
                    break;
                }
                changed = (place, self.cells[place]);
                self.cells[place] = self.cells[place - 1];
                left_bits[(place - 1) / 64] |= 1 << ((place - 1) % 64);
            }
        }
        self.turn_over(places);
    }

    /// Makes the new row the last row.
    fn turn_over(&mut self, places: &[u32]) {
        std::mem::swap(&mut self.runs, &mut self.new_runs);
        for &place in &self.matches {
            self.new_runs[place as usize + 1] = 0;
        }
        self.matches.clear();
        self.matches.extend_from_slice(places);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computes the table as ROUGE-1.5.5 defines it, cell by cell. Returns the marks of `model` and
    /// the length.
    fn plain(model: &[u32], peer: &[u32], weighted: bool) -> (Vec<bool>, f64) {
        let (m, n) = (model.len(), peer.len());
        let mut c = vec![vec![0.0_f64; n + 1]; m + 1];
        let mut l = vec![vec![0; n + 1]; m + 1];
        let mut from = vec![vec![' '; n + 1]; m + 1];
        for i in 1..=m {
            for j in 1..=n {
                if model[i - 1] == peer[j - 1] {
                    let k = l[i - 1][j - 1];
                    let step = if weighted { (weight(k + 1), weight(k)) } else { (1.0, 0.0) };
                    c[i][j] = c[i - 1][j - 1] + step.0 - step.1;
                    (l[i][j], from[i][j]) = (k + 1, '\\');
                } else if c[i - 1][j] >= c[i][j - 1] {
                    (c[i][j], from[i][j]) = (c[i - 1][j], '^');
                } else {
                    (c[i][j], from[i][j]) = (c[i][j - 1], '<');
                }
            }
        }
        let mut marks = vec![false; m];
        let (mut i, mut j) = (m, n);
        while i > 0 && j > 0 {
            match from[i][j] {
                '\\' => {
                    (i, j) = (i - 1, j - 1);
                    marks[i] = true;
                }
                '^' => i -= 1,
                _ => j -= 1,
            }
        }
        (marks, c[m][n])
    }

    fn sentences() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
        let words = |most: u32| prop::collection::vec(0..most, 0..200);
        prop_oneof![(words(3), words(3)), (words(12), words(10)), (words(60), words(50))].prop_map(
            |(mut m, p)| {
                m.iter_mut().filter(|word| !p.contains(word)).for_each(|word| *word = UNSHARED);
                (m, p)
            },
        )
    }

    proptest! {
        #[test]
        fn the_subsequence_is_the_one_of_the_plain_table((model, peer) in sentences()) {
            let (marks, length) = plain(&model, &peer, false);
            let sentence = Sentence::new(&peer, 60);
            prop_assert_eq!(sentence.lcs_length(&model), length as usize);
            let mut ours = vec![false; model.len()];
            sentence.mark_lcs(&model, &mut ours);
            prop_assert_eq!(ours, marks);
        }

        #[test]
        fn the_weighted_subsequence_is_the_one_of_the_plain_table((model, peer) in sentences()) {
            let (marks, _) = plain(&model, &peer, true);
            let mut ours = vec![false; model.len()];
            Sentence::new(&peer, 60).mark_weighted(&model, &mut ours);
            prop_assert_eq!(ours, marks);
        }
    }
}
