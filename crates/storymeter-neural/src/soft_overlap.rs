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
use storymeter_encoder::PackedRows;

use crate::word_vectors::WordVectors;
use crate::words::{Ngrams, Words, key};

/// Less similar n-grams do not match.
const LEAST_SIMILARITY: f64 = 0.8;

/// A bound on the error of a product in f32 of two vectors of length 1.
const F32_ERROR: f32 = 5e-5;

/// How many n-grams of the story are multiplied together.
const TOGETHER: usize = 48;

/// The n-grams of the reference are given to threads in groups of this size.
const GROUP: usize = 512;

/// The product of an n-gram that is used up.
const GONE: f32 = f32::MIN;

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
    rows: Rows,
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
        let rows = Rows::new(width, theirs.len());
        let mut matching = Self { mine, theirs, known, width, left, same_words, rows };
        // If every n-gram finds itself, no direction is needed.
        if mine.iter().any(|gram| matching.with_same_words(gram).is_none()) {
            let mut direction = vec![0.0; width];
            for (number, gram) in theirs.iter().enumerate() {
                if matching.direction(gram, &mut direction) {
                    matching.rows.push(number, &direction);
                }
            }
            matching.rows.pack();
        }
        matching
    }

    /// Counts the matches.
    fn run(mut self) -> u64 {
        let mut matches = 0;
        let mut direction = vec![0.0; self.width];
        let mut next = 0;
        while next < self.mine.len() {
            // A run of n-grams, of which at most as many need products as are computed together.
            let first = next;
            let mut places = Vec::with_capacity(TOGETHER);
            let mut directions = Vec::new();
            while next < self.mine.len() && places.len() < TOGETHER {
                let gram = self.mine.get(next);
                if self.with_same_words(gram).is_none() && self.direction(gram, &mut direction) {
                    places.push(next);
                    directions.extend_from_slice(&direction);
                }
                next += 1;
            }
            self.rows.drop_many(&self.left);
            self.rows.multiply(&directions, &self.left);
            for number in first..next {
                let found = match places.binary_search(&number) {
                    Ok(place) => self.most_similar(number, place),
                    Err(_) => self.without_products(number),
                };
                if let Some(found) = found {
                    matches += u64::from(self.take(found, self.mine.counts[number]));
                }
            }
        }
        matches
    }

    /// The match of an n-gram that had one of the same words when the last products were computed,
    /// or that has no direction. If those of the same words were taken since, the products are made
    /// up for.
    fn without_products(&mut self, number: usize) -> Option<usize> {
        let gram = self.mine.get(number);
        if let Some(found) = self.with_same_words(gram) {
            return Some(found);
        }
        let mut direction = vec![0.0; self.width];
        if !self.direction(gram, &mut direction) {
            return None;
        }
        let place = self.rows.multiply_one(&direction, &self.left);
        self.most_similar(number, place)
    }

    /// Takes copies of an n-gram of the reference, and returns how many.
    fn take(&mut self, found: usize, copies: u32) -> u32 {
        let taken = self.left[found].min(copies);
        self.left[found] -= taken;
        if self.left[found] == 0 {
            self.rows.use_up(found);
        }
        taken
    }

    /// The first n-gram of the reference that is left and has the same words. If a word has no
    /// vector, their order must be the same too.
    fn with_same_words(&self, gram: &[u32]) -> Option<usize> {
        let all_known = gram.iter().all(|&word| self.known[word as usize].is_some());
        let candidates = self.same_words.get(&sorted(gram))?.iter().map(|&found| found as usize);
        let mut fitting = candidates.filter(|&found| self.left[found] > 0);
        fitting.find(|&found| all_known || self.theirs.get(found) == gram)
    }

    /// The most similar n-gram of the reference that is left, by the products at a place.
    fn most_similar(&self, number: usize, place: usize) -> Option<usize> {
        let best = self.rows.products(place).map(largest).fold(GONE, f32::max);
        if best < LEAST_SIMILARITY as f32 - F32_ERROR {
            return None;
        }
        let gram = self.mine.get(number);
        let mut found: Option<(f64, usize)> = None;
        let products = self.rows.products(place).flatten();
        for (row, _) in products.enumerate().filter(|(_, p)| **p >= best - 2.0 * F32_ERROR) {
            let other = self.rows.numbers[row] as usize;
            let similarity = self.cosine(gram, self.theirs.get(other));
            if similarity >= LEAST_SIMILARITY && found.is_none_or(|(most, _)| similarity > most) {
                found = Some((similarity, other));
            }
        }
        found.map(|(_, other)| other)
    }

    /// The sum of the vectors of an n-gram's words, if all have one.
    fn sum(&self, gram: &[u32]) -> Option<impl Iterator<Item = f64> + Clone + use<'a>> {
        let mut vectors = [&[][..]; Ngrams::LONGEST];
        for (vector, &word) in vectors.iter_mut().zip(gram) {
            *vector = self.known[word as usize]?;
        }
        let words = gram.len();
        let sum = move |at: usize| vectors[..words].iter().map(|v| f64::from(v[at])).sum();
        Some((0..self.width).map(sum))
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

/// The largest of some products, sixteen at a time.
fn largest(products: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let mut most = [GONE; 16];
    let lanes = products.chunks_exact(16);
    let last = lanes.remainder();
    for lanes in lanes {
        most.iter_mut().zip(lanes).for_each(|(most, &product)| *most = larger(*most, product));
    }
    most.into_iter().chain(last.iter().copied()).fold(GONE, larger)
}

/// The directions of the n-grams of the reference, and their products with some n-grams of the
/// story.
struct Rows {
    width: usize,
    /// The n-grams that have a direction, in order, without those that were used up when this was
    /// last tidied up.
    numbers: Vec<u32>,
    directions: Vec<f32>,
    /// The same directions in groups, ready to be multiplied.
    groups: Vec<PackedRows>,
    /// For each group, one row of products per n-gram of the story.
    products: Vec<Vec<f32>>,
    /// How many n-grams of the story the products are of.
    places: usize,
    /// The row of each n-gram of the reference, if it has one.
    row: Vec<Option<u32>>,
    used_up: usize,
}

impl Rows {
    fn new(width: usize, ngrams: usize) -> Self {
        Self {
            width,
            numbers: Vec::new(),
            directions: Vec::new(),
            groups: Vec::new(),
            products: Vec::new(),
            places: 0,
            row: vec![None; ngrams],
            used_up: 0,
        }
    }

    fn push(&mut self, number: usize, direction: &[f32]) {
        self.row[number] = Some(self.numbers.len() as u32);
        self.numbers.push(number as u32);
        self.directions.extend_from_slice(direction);
    }

    fn pack(&mut self) {
        let groups = self.directions.par_chunks(GROUP * self.width);
        self.groups = groups.map(|group| PackedRows::new(group, self.width)).collect();
        self.products = vec![Vec::new(); self.groups.len()];
    }

    /// Notes that an n-gram is used up.
    fn use_up(&mut self, number: usize) {
        if let Some(row) = self.row[number] {
            self.used_up += 1;
            self.forget(row as usize);
        }
    }

    /// Marks the products of a row.
    fn forget(&mut self, row: usize) {
        let (group, row) = (row / GROUP, row % GROUP);
        let length = self.groups[group].len();
        let products = &mut self.products[group];
        products.iter_mut().skip(row).step_by(length).for_each(|product| *product = GONE);
    }

    /// Drops the rows that are used up, if there are many of them.
    fn drop_many(&mut self, left: &[u32]) {
        if self.used_up == 0 || 4 * self.used_up < self.numbers.len() {
            return;
        }
        let width = self.width;
        let mut kept = 0;
        for row in 0..self.numbers.len() {
            let number = self.numbers[row] as usize;
            self.row[number] = (left[number] > 0).then_some(kept as u32);
            if left[number] > 0 {
                self.numbers[kept] = number as u32;
                self.directions.copy_within(row * width..(row + 1) * width, kept * width);
                kept += 1;
            }
        }
        self.numbers.truncate(kept);
        self.directions.truncate(kept * width);
        self.used_up = 0;
        self.pack();
    }

    /// Computes the products with some directions. Their places are 0, 1, ...
    fn multiply(&mut self, directions: &[f32], left: &[u32]) {
        self.places = directions.len() / self.width;
        let places = self.places;
        self.groups.par_iter().zip(&mut self.products).for_each(|(group, products)| {
            products.resize(places * group.len(), 0.0);
            group.products(directions, products);
        });
        self.forget_used_up(left);
    }

    /// Adds the products with one more direction, and returns its place.
    fn multiply_one(&mut self, direction: &[f32], left: &[u32]) -> usize {
        let place = self.places;
        self.places += 1;
        self.groups.par_iter().zip(&mut self.products).for_each(|(group, products)| {
            products.resize((place + 1) * group.len(), 0.0);
            group.products(direction, &mut products[place * group.len()..]);
        });
        self.forget_used_up(left);
        place
    }

    /// Marks the products of all rows that are used up.
    fn forget_used_up(&mut self, left: &[u32]) {
        for row in 0..self.numbers.len() {
            if left[self.numbers[row] as usize] == 0 {
                self.forget(row);
            }
        }
    }

    /// The products at a place, group by group.
    fn products(&self, place: usize) -> impl Iterator<Item = &[f32]> {
        let groups = self.groups.iter().zip(&self.products);
        groups.map(move |(group, products)| &products[place * group.len()..][..group.len()])
    }
}

#[cfg(test)]
mod tests {
    use storymeter_core::TextCache;

    use super::*;
    use crate::words::LowerWords;

    /// The definition, word by word.
    fn by_definition(story: &Words, reference: &Words, order: usize, vectors: &WordVectors) -> u64 {
        let spell = |words: &Words| -> Vec<(Vec<String>, u32)> {
            let grams = Ngrams::new(&words.ids, order);
            let word = |&id: &u32| words.types[id as usize].to_string();
            grams.iter().map(|g| g.iter().map(word).collect()).zip(grams.counts.clone()).collect()
        };
        let sum = |gram: &[String]| -> Option<Vec<f64>> {
            let vectors: Option<Vec<&[f32]>> = gram.iter().map(|word| vectors.get(word)).collect();
            let vectors = vectors?;
            let width = vectors[0].len();
            Some((0..width).map(|at| vectors.iter().map(|v| f64::from(v[at])).sum()).collect())
        };
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let same = |x: &[String], y: &[String]| {
            let (mut x, mut y) = (x.to_vec(), y.to_vec());
            x.sort();
            y.sort();
            x == y
        };
        let mut theirs = spell(reference);
        let mut matches = 0;
        for (gram, count) in spell(story) {
            let similarity = |other: &[String]| match (sum(&gram), sum(other)) {
                _ if gram == other => 1.0,
                (Some(_), Some(_)) if same(&gram, other) => 1.0,
                (Some(x), Some(y)) => dot(&x, &y) / (dot(&x, &x) * dot(&y, &y)).sqrt(),
                _ => 0.0,
            };
            let mut best: Option<(f64, usize)> = None;
            for (at, (other, left)) in theirs.iter().enumerate() {
                let similarity = similarity(other);
                if *left > 0 && similarity >= 0.8 && best.is_none_or(|(most, _)| similarity > most)
                {
                    best = Some((similarity, at));
                }
            }
            if let Some((_, at)) = best {
                let taken = theirs[at].1.min(count);
                theirs[at].1 -= taken;
                matches += u64::from(taken);
            }
        }
        matches
    }

    #[test]
    fn products_find_what_the_definition_finds() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("table.txt");
        // Forty words in six directions or so, with small differences.
        let mut table = String::new();
        for word in 0..40 {
            let number = |at: u64| {
                let wave = ((word % 6) * 7 + at * 3) as f64;
                wave.sin() + 0.3 * ((word * 31 + at * 17) as f64).cos()
            };
            let numbers: Vec<String> = (0..5).map(|at| number(at).to_string()).collect();
            table += &format!(
                "w{word} {}
",
                numbers.join(" ")
            );
        }
        std::fs::write(&path, table).expect("written");
        let vectors = WordVectors::read(&path).expect("a table");
        let text = |seed: u64, length: u64| {
            // Words 40 to 43 have no vector.
            let word = |at: u64| format!("w{}", (at * at * seed + at * 13 + seed) % 1009 % 44);
            (0..length).map(word).collect::<Vec<_>>().join(" ")
        };
        let mut seen = 0;
        for (seed, mine, theirs) in [(1, 30, 40), (2, 900, 700), (3, 700, 900), (4, 5, 2000)] {
            let (story, reference) = (text(seed, mine), text(seed + 10, theirs));
            let story = TextCache::new(&story).view::<LowerWords>();
            let reference = TextCache::new(&reference).view::<LowerWords>();
            for order in 1..=3 {
                let expected = by_definition(&story.0, &reference.0, order, &vectors);
                assert_eq!(soft_overlap(&story.0, &reference.0, order, &vectors), expected);
                seen += expected;
            }
        }
        assert!(seen > 1000, "{seen}");
    }
}
