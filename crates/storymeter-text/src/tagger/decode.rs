//! Finds the best sequence of tags: candidates are chosen by the words alone, and an exact
//! second-order Viterbi search finds the best sequence among them.

use super::Tag;

/// The number of weights in a row: one per tag, padded with zeros to a cache line of bytes.
pub(super) const LANES: usize = 64;

/// The first row of pairs of tags. The rows before it are for triples of tags, and the hashed
/// features come last.
pub(super) const PAIR_ROWS: usize = LANES * LANES;

/// A row without weights, which belongs to a pair of tags that do not exist.
pub(super) const EMPTY_ROW: u32 = PAIR_ROWS as u32 - 1;

pub(super) const FIRST_FEATURE: usize = PAIR_ROWS + LANES;

/// The tag number before the first word.
pub(super) const START: u8 = Tag::COUNT as u8;

/// How many tags of a word the search keeps.
pub(super) const BEAM: usize = 5;

/// Every tag, as bits.
pub(super) const ALL: u64 = (1 << Tag::COUNT) - 1;

/// How a model scores one sentence.
pub(super) trait Scorer {
    /// The type of a score that depends on the words alone.
    type Score: Copy + Ord + Into<i32>;
    /// The number of words.
    fn len(&self) -> usize;
    /// The tags that the word at `i` can have, as bits.
    fn allowed(&self, i: usize) -> u64;
    /// The score of every tag at `i`, from the words alone.
    fn emission(&mut self, i: usize) -> [Self::Score; LANES];
    /// A tag whose score by the words alone is so far below the best is left out of the search.
    fn reach(&self) -> i32;
    /// Adds the score of each tag of `tags` at `i` after `before` to `scores`.
    fn pair(&self, i: usize, before: u8, tags: &[u8], scores: &mut [i32; BEAM]);
    /// The score of `tag` after `before2` and `before`.
    fn triple(&self, before2: u8, before: u8, tag: u8) -> i32;
}

/// What the search keeps of one word.
#[derive(Clone, Copy, Default)]
struct Column {
    count: usize,
    tags: [u8; BEAM],
    /// For each pair of the tag before and this tag: the tag before both on the best path.
    from: [[u8; BEAM]; BEAM],
}

/// The memory of the search, which is reused.
#[derive(Default)]
pub(super) struct Search {
    columns: Vec<Column>,
}

impl Search {
    /// Appends the best tags of the sentence to `out`.
    pub(super) fn run(&mut self, scorer: &mut impl Scorer, out: &mut Vec<Tag>) {
        let len = scorer.len();
        if len == 0 {
            return;
        }
        self.columns.clear();
        let start = Column { count: 1, tags: [START; BEAM], ..Column::default() };
        let (mut before2, mut before) = (start, start);
        // paths[b][c]: the best score of a path that ends in tags b, c.
        let mut paths = [[0; BEAM]; BEAM];
        for i in 0..len {
            let (mut column, emission) = candidates(scorer, i);
            let tags = &column.tags[..column.count];
            let mut next = [[i32::MIN; BEAM]; BEAM];
            for (b, &tag_b) in before.tags[..before.count].iter().enumerate() {
                let mut local = emission;
                scorer.pair(i, tag_b, tags, &mut local);
                for (c, &tag_c) in tags.iter().enumerate() {
                    let mut best = (i32::MIN, 0);
                    for (a, &tag_a) in before2.tags[..before2.count].iter().enumerate() {
                        let score = paths[a][b] + scorer.triple(tag_a, tag_b, tag_c);
                        if score > best.0 {
                            best = (score, a as u8);
                        }
                    }
                    next[b][c] = best.0 + local[c];
                    column.from[b][c] = best.1;
                }
            }
            paths = next;
            before2 = before;
            before = column;
            self.columns.push(column);
        }
        self.trace_back(&paths, before2.count, out);
    }

    fn trace_back(&self, paths: &[[i32; BEAM]; BEAM], count_before: usize, out: &mut Vec<Tag>) {
        let last = self.columns.len() - 1;
        let mut best = (i32::MIN, 0, 0);
        for (b, row) in paths[..count_before].iter().enumerate() {
            for (c, &score) in row[..self.columns[last].count].iter().enumerate() {
                if score > best.0 {
                    best = (score, b, c);
                }
            }
        }
        let (_, mut b, mut c) = best;
        let first = out.len();
        out.resize(first + self.columns.len(), Tag::Nn);
        for (column, slot) in self.columns.iter().zip(&mut out[first..]).rev() {
            *slot = Tag::ALL[usize::from(column.tags[c])];
            (b, c) = (usize::from(column.from[b][c]), b);
        }
    }
}

/// The best tags of a word by its own features, with their scores. A word with a single possible
/// tag is not scored.
fn candidates<S: Scorer>(scorer: &mut S, i: usize) -> (Column, [i32; BEAM]) {
    let mut list = Shortlist::default();
    let allowed = scorer.allowed(i);
    if allowed.is_power_of_two() {
        list.offer(allowed.trailing_zeros() as u8, 0);
        return (list.column, list.scores);
    }
    let scores = scorer.emission(i);
    let scores = &scores[..Tag::COUNT];
    if allowed == ALL {
        // Few tags come near the best one. Two passes without branches find them.
        let best: i32 = scores.iter().copied().max().map_or(0, Into::into);
        let least = best.saturating_sub(scorer.reach());
        let mut near = [0u8; LANES];
        for (near, &score) in near.iter_mut().zip(scores) {
            *near = u8::from(score.into() >= least);
        }
        for (block, near) in near.as_chunks::<8>().0.iter().enumerate() {
            let mut near = u64::from_le_bytes(*near);
            while near != 0 {
                let tag = block * 8 + near.trailing_zeros() as usize / 8;
                near &= near - 1;
                list.offer(tag as u8, scores[tag].into());
            }
        }
    } else {
        let mut allowed = allowed;
        while allowed != 0 {
            let tag = allowed.trailing_zeros() as u8;
            allowed &= allowed - 1;
            list.offer(tag, scores[usize::from(tag)].into());
        }
        list.forget_below(list.scores[0].saturating_sub(scorer.reach()));
    }
    (list.column, list.scores)
}

/// The best few tags, best first. Tags with equal scores keep their order of arrival.
#[derive(Default)]
struct Shortlist {
    column: Column,
    scores: [i32; BEAM],
}

impl Shortlist {
    fn offer(&mut self, tag: u8, score: i32) {
        let column = &mut self.column;
        let mut at = column.count;
        while at > 0 && self.scores[at - 1] < score {
            at -= 1;
        }
        if at < BEAM {
            column.count = (column.count + 1).min(BEAM);
            self.scores[at..column.count].rotate_right(1);
            column.tags[at..column.count].rotate_right(1);
            self.scores[at] = score;
            column.tags[at] = tag;
        }
    }

    fn forget_below(&mut self, least: i32) {
        while self.scores[self.column.count - 1] < least {
            self.column.count -= 1;
        }
    }
}
