//! How many n-grams of a reference are matched by n-grams of a story, when similar word vectors
//! count as a match.
//!
//! The cost is one product of word vectors per pair of n-grams. Two stories of 50,000 words have
//! 2.5 billion pairs. The vectors of all n-grams are therefore made once and scaled to length 1,
//! products are computed for [`TOGETHER`] n-grams of the story at once on all threads, n-grams of
//! the reference that are used up are dropped from the products, and n-grams of the story whose
//! words the reference has too need no products at all.
//!
//! Products are in f32 and only select candidates. The decision between candidates is made in f64.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::word_vectors::WordVectors;
use crate::words::{Ngrams, Words, key};

/// Less similar n-grams do not match.
const LEAST_SIMILARITY: f64 = 0.8;

/// A bound on the error of a product in f32 of two vectors of length 1.
const F32_ERROR: f32 = 5e-5;

/// How many n-grams of the story are multiplied together.
const TOGETHER: usize = 16;

/// The n-grams of the reference are given to threads in groups of this size.
const ROWS_PER_TASK: usize = 256;

/// Counts the matches of a story with a reference.
///
/// The n-grams of the story are taken in order of first occurrence. Each takes the most similar
/// n-gram of the reference that is left, and if there are several, the first: up to as many copies
/// of it as the story has of its own. The similarity is 1 for n-grams of the same words in any
/// order, otherwise the cosine of the sums of the words' vectors; at least [`LEAST_SIMILARITY`] is
/// needed. An n-gram with a word that has no vector matches only itself.
pub(crate) fn soft_overlap(
    story: &Words,
    reference: &Words,
    order: usize,
    vectors: &WordVectors,
) -> u64 {
    let (reference_ids, new_words) = reference.numbered_after(story);
    let types = story.types.iter().map(|word| &**word).chain(new_words);
    let known: Vec<Option<&[f32]>> = types.map(|word| vectors.get(word)).collect();
    let (mine, theirs) = (Ngrams::new(&story.ids, order), Ngrams::new(&reference_ids, order));
    Matching::new(&mine, &theirs, &known, vectors.width()).run()
}

/// The state of one comparison.
struct Matching<'a> {
    mine: &'a Ngrams,
    theirs: &'a Ngrams,
    /// The vectors of all words of both texts.
    known: &'a [Option<&'a [f32]>],
    width: usize,
    /// How often each n-gram of the reference is left.
    left: Vec<u32>,
    /// The n-grams of the reference by their words in ascending order.
    same_words: FxHashMap<[u32; Ngrams::LONGEST], Vec<u32>>,
    /// The n-grams of the reference that have a direction and were left when this was last tidied
    /// up, in order.
    rows: Vec<u32>,
    /// Their directions, `width` numbers each.
    directions: Vec<f32>,
    /// How many of `rows` are used up.
    used_up: usize,
}

impl<'a> Matching<'a> {
    fn new(
        mine: &'a Ngrams,
        theirs: &'a Ngrams,
        known: &'a [Option<&'a [f32]>],
        width: usize,
    ) -> Self {
        let mut same_words: FxHashMap<_, Vec<u32>> = FxHashMap::default();
        for (number, gram) in theirs.iter().enumerate() {
            same_words.entry(sorted(gram)).or_default().push(number as u32);
        }
        let left = theirs.counts.clone();
        let (rows, directions) = (Vec::new(), Vec::new());
        let mut matching =
            Self { mine, theirs, known, width, left, same_words, rows, directions, used_up: 0 };
        // If every n-gram finds itself, no direction is needed.
        if (0..mine.len()).any(|number| matching.with_same_words(mine.get(number)).is_none()) {
            matching.find_directions();
        }
        matching
    }

    fn find_directions(&mut self) {
        let mut direction = vec![0.0; self.width];
        for (number, gram) in self.theirs.iter().enumerate() {
            if self.direction(gram, &mut direction) {
                self.rows.push(number as u32);
                self.directions.extend_from_slice(&direction);
            }
        }
    }

    /// Counts the matches.
    fn run(mut self) -> u64 {
        let mut matches = 0;
        let mut block = Block::new(self.width);
        let mut products = Vec::new();
        let mut next = 0;
        while next < self.mine.len() {
            // A run of n-grams, of which at most as many need products as are computed together.
            block.clear();
            let first = next;
            while next < self.mine.len() && block.len() < TOGETHER {
                let gram = self.mine.get(next);
                if self.with_same_words(gram).is_none() {
                    block.push(next, |direction| self.direction(gram, direction));
                }
                next += 1;
            }
            self.tidy_up();
            block.multiply(&self.directions, &mut products);
            for number in first..next {
                let found = match block.place(number) {
                    Some(place) => {
                        self.most_similar(number, |row| products[row * TOGETHER + place])
                    }
                    None => self.alone(number),
                };
                matches += found.map_or(0, |found| self.take(found, self.mine.counts[number]));
            }
        }
        matches
    }

    /// The match of an n-gram without products: one of the same words, or, if all of those were
    /// taken since the products were computed, the most similar one.
    fn alone(&self, number: usize) -> Option<usize> {
        let gram = self.mine.get(number);
        if let Some(found) = self.with_same_words(gram) {
            return Some(found);
        }
        let mut direction = vec![0.0; self.width];
        if !self.direction(gram, &mut direction) {
            return None;
        }
        self.most_similar(number, |row| {
            let other = &self.directions[row * self.width..][..self.width];
            direction.iter().zip(other).map(|(x, y)| x * y).sum()
        })
    }

    /// Takes copies of an n-gram of the reference, and returns how many.
    fn take(&mut self, found: usize, copies: u32) -> u64 {
        let taken = self.left[found].min(copies);
        self.left[found] -= taken;
        self.used_up += usize::from(self.left[found] == 0);
        u64::from(taken)
    }

    /// Drops the rows that are used up if there are many of them.
    fn tidy_up(&mut self) {
        if 4 * self.used_up < self.rows.len() || self.used_up == 0 {
            return;
        }
        let mut kept = 0;
        for row in 0..self.rows.len() {
            if self.left[self.rows[row] as usize] > 0 {
                self.rows[kept] = self.rows[row];
                self.directions
                    .copy_within(row * self.width..(row + 1) * self.width, kept * self.width);
                kept += 1;
            }
        }
        self.rows.truncate(kept);
        self.directions.truncate(kept * self.width);
        self.used_up = 0;
    }

    /// The first n-gram of the reference that is left and has the same words. If a word has no
    /// vector, their order must be the same too.
    fn with_same_words(&self, gram: &[u32]) -> Option<usize> {
        let all_known = gram.iter().all(|&word| self.known[word as usize].is_some());
        let candidates = self.same_words.get(&sorted(gram))?.iter().map(|&found| found as usize);
        let mut fitting = candidates.filter(|&found| self.left[found] > 0);
        fitting.find(|&found| all_known || self.theirs.get(found) == gram)
    }

    /// The most similar n-gram of the reference that is left, given the products of all rows.
    fn most_similar(&self, number: usize, product: impl Fn(usize) -> f32) -> Option<usize> {
        let open = |row: &usize| self.left[self.rows[*row] as usize] > 0;
        let rows = (0..self.rows.len()).filter(open);
        let best = rows.clone().map(&product).fold(f32::MIN, f32::max);
        if best < LEAST_SIMILARITY as f32 - F32_ERROR {
            return None;
        }
        let gram = self.mine.get(number);
        let mut found: Option<(f64, usize)> = None;
        for row in rows.filter(|&row| product(row) >= best - 2.0 * F32_ERROR) {
            let other = self.rows[row] as usize;
            let similarity = self.cosine(gram, self.theirs.get(other));
            if similarity >= LEAST_SIMILARITY && found.is_none_or(|(most, _)| similarity > most) {
                found = Some((similarity, other));
            }
        }
        found.map(|(_, other)| other)
    }

    /// The sum of the vectors of an n-gram's words, if all have one.
    fn sum(&self, gram: &[u32]) -> Option<impl Iterator<Item = f64> + Clone> {
        let vectors: [&[f32]; Ngrams::LONGEST] = {
            let mut vectors = [&[][..]; Ngrams::LONGEST];
            for (vector, &word) in vectors.iter_mut().zip(gram) {
                *vector = self.known[word as usize]?;
            }
            vectors
        };
        let words = gram.len();
        Some((0..self.width).map(move |at| vectors[..words].iter().map(|v| f64::from(v[at])).sum()))
    }

    /// The sum of the vectors of an n-gram's words, scaled to length 1. Says whether there is one.
    fn direction(&self, gram: &[u32], direction: &mut [f32]) -> bool {
        let Some(sum) = self.sum(gram) else { return false };
        let length = sum.clone().map(|x| x * x).sum::<f64>().sqrt();
        direction.iter_mut().zip(sum).for_each(|(out, x)| *out = (x / length) as f32);
        length > 0.0
    }

    /// The cosine of two n-grams that have directions.
    fn cosine(&self, gram: &[u32], other: &[u32]) -> f64 {
        let (Some(left), Some(right)) = (self.sum(gram), self.sum(other)) else { return 0.0 };
        let (mut product, mut squares, mut other_squares) = (0.0, 0.0, 0.0);
        for (x, y) in left.zip(right) {
            product += x * y;
            squares += x * x;
            other_squares += y * y;
        }
        product / (squares * other_squares).sqrt()
    }
}

/// The words of an n-gram in ascending order.
fn sorted(gram: &[u32]) -> [u32; Ngrams::LONGEST] {
    let mut key = key(gram);
    key.sort_unstable();
    key
}

/// The directions of a few n-grams of the story, side by side.
struct Block {
    width: usize,
    numbers: Vec<usize>,
    /// Column by column: the first number of all directions, then the second, ...
    columns: Vec<[f32; TOGETHER]>,
    scratch: Vec<f32>,
}

impl Block {
    fn new(width: usize) -> Self {
        let columns = vec![[0.0; TOGETHER]; width];
        Self { width, numbers: Vec::with_capacity(TOGETHER), columns, scratch: vec![0.0; width] }
    }

    fn clear(&mut self) {
        self.numbers.clear();
    }

    fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Adds an n-gram if it has a direction.
    fn push(&mut self, number: usize, direction: impl FnOnce(&mut [f32]) -> bool) {
        if direction(&mut self.scratch) {
            let place = self.numbers.len();
            self.columns.iter_mut().zip(&self.scratch).for_each(|(out, &x)| out[place] = x);
            self.numbers.push(number);
        }
    }

    /// Where the direction of an n-gram stands in the block, if it is there.
    fn place(&self, number: usize) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    /// The products of all rows with all directions, [`TOGETHER`] numbers per row.
    fn multiply(&self, rows: &[f32], products: &mut Vec<f32>) {
        products.clear();
        if self.numbers.is_empty() {
            return;
        }
        products.resize(rows.len() / self.width * TOGETHER, 0.0);
        let tasks = rows.par_chunks(ROWS_PER_TASK * self.width);
        tasks.zip(products.par_chunks_mut(ROWS_PER_TASK * TOGETHER)).for_each(
            |(rows, products)| {
                let rows = rows.chunks(THREE * self.width);
                for (rows, products) in rows.zip(products.chunks_mut(THREE * TOGETHER)) {
                    self.multiply_few(rows, products);
                }
            },
        );
    }

    /// The products of up to three rows. Three sums of sixteen lanes fill the registers of every
    /// processor.
    fn multiply_few(&self, rows: &[f32], products: &mut [f32]) {
        let mut sums = [[0.0f32; TOGETHER]; THREE];
        let row = |number: usize| {
            rows.chunks_exact(self.width).nth(number).unwrap_or(&rows[..self.width])
        };
        let (a, b, c) = (row(0), row(1), row(2));
        for (((column, &a), &b), &c) in self.columns.iter().zip(a).zip(b).zip(c) {
            for lane in 0..TOGETHER {
                sums[0][lane] += a * column[lane];
                sums[1][lane] += b * column[lane];
                sums[2][lane] += c * column[lane];
            }
        }
        products
            .chunks_exact_mut(TOGETHER)
            .zip(&sums)
            .for_each(|(out, sums)| out.copy_from_slice(sums));
    }
}

/// How many rows are multiplied together.
const THREE: usize = 3;
