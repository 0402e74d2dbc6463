//! Training: a structured perceptron with averaged weights, made sparse and small.
//!
//! Every sentence is seen twice an epoch, as it is and lower-cased, because stories come in both forms. The decoder is
//! that of tagging itself (Collins 2002), with a margin: tags other than the right one get a bonus while training.

use std::collections::HashMap;

use super::Tag;
use super::decode::{BEAM, LANES, START, Scorer, Search};
use super::features::{self, Regime, Word};
use super::table::Table;

/// A sentence with its right tags.
pub type Sentence = (Vec<String>, Vec<Tag>);

/// What training can be told.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Passes over the data.
    pub epochs: usize,
    /// Independent runs whose weights are averaged.
    pub runs: usize,
    /// How far the right tag must win.
    pub margin: i32,
    /// A feature seen less often is dropped.
    pub min_count: u32,
    /// A word seen at least so often can only have the tags it was seen with.
    pub dictionary_count: u32,
    /// A word seen at least so often has a class of its own as context.
    pub class_count: u32,
    /// Seed of the order of the sentences.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { epochs: 12, runs: 1, margin: 2, min_count: 2, dictionary_count: 20, class_count: 5, seed: 1 }
    }
}

/// Row numbers: tag trigram contexts, tag bigram contexts, then hashed features.
pub(super) const PAIR_ROWS: usize = LANES * LANES;
pub(super) const FIRST_FEATURE: usize = PAIR_ROWS + LANES;

/// Trained weights before they are packed.
pub struct Trained {
    /// Keys of hashed features; the row of `keys[i]` is `FIRST_FEATURE + i`.
    pub(super) keys: Vec<u32>,
    /// Averaged weights.
    pub(super) rows: Vec<[f32; LANES]>,
    pub(super) dictionary: Vec<(u32, u64, bool)>,
}

/// A sentence as training sees it.
struct Example {
    words: Vec<Word>,
    emissions: Vec<[u32; features::EMISSIONS]>,
    allowed: Vec<u64>,
    gold: Vec<u8>,
}

const NO_ROW: u32 = u32::MAX;

/// The tags of every frequent word. Rare words are left out: the model must learn to tag the unknown from them.
fn dictionary(data: &[(Vec<Word>, Regime, Vec<u8>)], options: &Options) -> Vec<(u32, u64, bool)> {
    let mut counts: HashMap<u32, [u32; LANES]> = HashMap::new();
    for (words, regime, gold) in data {
        for (word, &tag) in words.iter().zip(gold) {
            counts.entry(word.dictionary_key(*regime)).or_insert([0; LANES])[usize::from(tag)] += 1;
        }
    }
    let mut entries: Vec<_> = counts
        .into_iter()
        .filter_map(|(key, counts)| {
            let total: u32 = counts.iter().sum();
            let tags = (0..LANES).filter(|&t| counts[t] * 400 > total).fold(0, |set, t| set | 1u64 << t);
            (total >= options.class_count).then_some((key, tags, total >= options.dictionary_count))
        })
        .collect();
    entries.sort_unstable();
    entries
}

fn lower_cased(sentence: &Sentence) -> Sentence {
    (sentence.0.iter().map(|w| w.to_lowercase()).collect(), sentence.1.clone())
}

/// Trains on tagged sentences, calling `progress` with epoch and share of right tags after each epoch.
pub fn train(sentences: &[Sentence], options: &Options, mut progress: impl FnMut(usize, f64)) -> Trained {
    let mut data: Vec<(Vec<Word>, Regime, Vec<u8>)> = Vec::new();
    for sentence in sentences {
        for (tokens, tags) in [sentence.clone(), lower_cased(sentence)] {
            let words: Vec<Word> = tokens.iter().map(|t| Word::new(t)).collect();
            let regime = features::regime(&words);
            data.push((words, regime, tags.iter().map(|&t| t as u8).collect()));
        }
    }
    let dictionary = dictionary(&data, options);
    let table = Table::new(dictionary.iter().enumerate().map(|(i, e)| (e.0, i as u32)));
    for (words, regime, _) in &mut data {
        for word in words {
            if let Some(i) = table.get(word.dictionary_key(*regime)) {
                word.class = dictionary[i as usize].1;
            }
        }
    }
    let keys = feature_keys(&data, options.min_count);
    let index = Table::new(keys.iter().enumerate().map(|(i, &k)| (k, (FIRST_FEATURE + i) as u32)));
    let examples: Vec<Example> = data
        .into_iter()
        .map(|(words, regime, gold)| {
            let emissions = (0..words.len())
                .map(|i| features::emission(&words, i, regime).map(|k| index.get(k).unwrap_or(NO_ROW)))
                .collect();
            let allowed = words
                .iter()
                .map(|w| match table.get(w.dictionary_key(regime)).map(|i| dictionary[i as usize]) {
                    Some((_, tags, true)) => tags,
                    _ => (1 << Tag::COUNT) - 1,
                })
                .collect();
            Example { words, emissions, allowed, gold }
        })
        .collect();
    let mut rows = vec![[0.0; LANES]; FIRST_FEATURE + keys.len()];
    for run in 0..options.runs {
        let mut perceptron = Perceptron::new(&index, rows.len(), options.margin);
        let mut order: Vec<usize> = (0..examples.len()).collect();
        let mut state = options.seed.wrapping_add(run as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for epoch in 0..options.epochs {
            shuffle(&mut order, &mut state);
            let (mut right, mut total) = (0, 0);
            for &i in &order {
                right += perceptron.learn(&examples[i]);
                total += examples[i].gold.len();
            }
            progress(epoch, right as f64 / total as f64);
        }
        perceptron.add_average(&mut rows, 1.0 / options.runs as f32);
    }
    Trained { keys, rows, dictionary }
}

/// The keys seen at least `min_count` times with the right tags, sorted.
fn feature_keys(data: &[(Vec<Word>, Regime, Vec<u8>)], min_count: u32) -> Vec<u32> {
    let mut keys = Vec::new();
    for (words, regime, gold) in data {
        for i in 0..words.len() {
            keys.extend(features::emission(words, i, *regime));
            let before = if i == 0 { START } else { gold[i - 1] };
            keys.extend(features::transition(words, i, before));
        }
    }
    keys.sort_unstable();
    // Each sentence is there twice, so most features count double.
    keys.chunk_by(|a, b| a == b)
        .filter(|same| same.len() as u32 >= 2 * min_count)
        .map(|same| same[0])
        .collect()
}

/// Fisher and Yates with SplitMix64.
fn shuffle(order: &mut [usize], state: &mut u64) {
    for i in (1..order.len()).rev() {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        order.swap(i, (z % (i as u64 + 1)) as usize);
    }
}

struct Perceptron<'a> {
    index: &'a Table,
    weights: Vec<[i32; LANES]>,
    /// Sum of update times the moment it was made, for the average.
    moments: Vec<[i64; LANES]>,
    clock: i64,
    margin: i32,
    search: Search,
    guess: Vec<Tag>,
}

impl<'a> Perceptron<'a> {
    fn new(index: &'a Table, rows: usize, margin: i32) -> Self {
        Self {
            index,
            weights: vec![[0; LANES]; rows],
            moments: vec![[0; LANES]; rows],
            clock: 1,
            margin,
            search: Search::default(),
            guess: Vec::new(),
        }
    }

    /// Tags one sentence, learns from the mistakes, and returns how many tags were right.
    fn learn(&mut self, example: &Example) -> usize {
        let mut guess = std::mem::take(&mut self.guess);
        guess.clear();
        let mut search = std::mem::take(&mut self.search);
        let view = View { model: self, example };
        search.run(&view, &mut guess);
        let guessed = |i: usize| guess[i] as u8;
        let gold = |i: usize| example.gold[i];
        let right = (0..guess.len()).filter(|&i| guessed(i) == gold(i)).count();
        let at =
            |tags: &dyn Fn(usize) -> u8, i: usize, back: usize| if i < back { START } else { tags(i - back) };
        for i in 0..guess.len() {
            if gold(i) != guessed(i) {
                for &row in example.emissions[i].iter().filter(|&&row| row != NO_ROW) {
                    self.change(row as usize, gold(i), 1);
                    self.change(row as usize, guessed(i), -1);
                }
            }
            let context = |tags: &dyn Fn(usize) -> u8| (at(tags, i, 2), at(tags, i, 1), tags(i));
            let (g, p) = (context(&gold), context(&guessed));
            for ((before2, before, tag), change) in [(g, 1), (p, -1)] {
                if g != p {
                    self.change(usize::from(before2) * LANES + usize::from(before), tag, change);
                }
                if (g.1, g.2) != (p.1, p.2) {
                    self.change(PAIR_ROWS + usize::from(before), tag, change);
                    for key in features::transition(&example.words, i, before) {
                        if let Some(row) = self.index.get(key) {
                            self.change(row as usize, tag, change);
                        }
                    }
                }
            }
        }
        self.clock += 1;
        self.guess = guess;
        self.search = search;
        right
    }

    fn change(&mut self, row: usize, tag: u8, by: i32) {
        self.weights[row][usize::from(tag)] += by;
        self.moments[row][usize::from(tag)] += i64::from(by) * self.clock;
    }

    fn add_average(&self, rows: &mut [[f32; LANES]], share: f32) {
        for (row, (weights, moments)) in rows.iter_mut().zip(self.weights.iter().zip(&self.moments)) {
            for tag in 0..LANES {
                let mean = f64::from(weights[tag]) - moments[tag] as f64 / self.clock as f64;
                row[tag] += share * mean as f32;
            }
        }
    }
}

struct View<'a> {
    model: &'a Perceptron<'a>,
    example: &'a Example,
}

impl Scorer for View<'_> {
    fn len(&self) -> usize {
        self.example.words.len()
    }

    fn allowed(&self, i: usize) -> u64 {
        self.example.allowed[i]
    }

    fn emission(&self, i: usize) -> [i32; LANES] {
        let mut scores = [self.model.margin; LANES];
        scores[usize::from(self.example.gold[i])] = 0;
        for &row in self.example.emissions[i].iter().filter(|&&row| row != NO_ROW) {
            for (score, weight) in scores.iter_mut().zip(&self.model.weights[row as usize]) {
                *score += weight;
            }
        }
        scores
    }

    fn pair(&self, i: usize, before: u8, tags: &[u8], scores: &mut [i32; BEAM]) {
        let mut add = |row: usize| {
            for (score, &tag) in scores.iter_mut().zip(tags) {
                *score += self.model.weights[row][usize::from(tag)];
            }
        };
        add(PAIR_ROWS + usize::from(before));
        for key in features::transition(&self.example.words, i, before) {
            if let Some(row) = self.model.index.get(key) {
                add(row as usize);
            }
        }
    }

    fn triple(&self, before2: u8, before: u8, tag: u8) -> i32 {
        self.model.weights[usize::from(before2) * LANES + usize::from(before)][usize::from(tag)]
    }
}
