//! Trains the tagger as a structured perceptron with a margin, shrinking steps and averaged
//! weights.
//!
//! Training uses the same decoder as tagging (Collins 2002). Every wrong tag is given a bonus, so
//! that the right one must win by that margin. Each weight has its own step size, which shrinks
//! with the number of its changes (AdaGrad, Duchi et al. 2011), so that rare features learn fast
//! and frequent ones settle. Every epoch shows each sentence twice, as it is and in lower case,
//! because stories come in both forms. All arithmetic is on integers, so the same data and options
//! give the same model on every machine.

use std::collections::HashMap;

use super::Tag;
use super::decode::{ALL, BEAM, EMPTY_ROW, FIRST_FEATURE, LANES, PAIR_ROWS, START, Scorer, Search};
use super::features::{self, Regime, Window, Word};
use super::model::{CLOSED, MAGIC};
use super::table::Table;
use crate::tagged::Sentence;

/// The options of training. The defaults were the best on the development set.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Passes over the data.
    pub epochs: usize,
    /// The margin by which the right tag must win, in units of the first step of a weight.
    pub margin: i32,
    /// Features that occur less often than this are dropped.
    pub min_count: u32,
    /// A word that occurs at least so often can have only the tags that it had in training.
    pub dictionary_count: u32,
    /// For a word that occurs at least so often, its tags are a feature of its neighbours.
    pub class_count: u32,
    /// The seed of the order of the sentences.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { epochs: 5, margin: 32, min_count: 2, dictionary_count: 150, class_count: 5, seed: 1 }
    }
}

/// Trained weights before they are packed.
pub struct Trained {
    /// The keys of the hashed features. The row of `keys[i]` is `FIRST_FEATURE + i`.
    keys: Vec<u32>,
    /// Averaged weights.
    rows: Vec<[f32; LANES]>,
    dictionary: Vec<(u32, u64, bool)>,
}

impl Trained {
    /// The model as bytes. Weights are multiplied by `scale` and rounded to one byte each; a
    /// feature whose weights all become zero is dropped.
    pub fn pack(&self, scale: f32) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        write_number(&mut out, self.dictionary.len() as u64);
        let mut last = 0;
        for &(key, tags, closed) in &self.dictionary {
            write_number(&mut out, u64::from(key - last));
            last = key;
            out.push(tags.count_ones() as u8 | if closed { CLOSED } else { 0 });
            out.extend((0..LANES as u8).filter(|t| tags >> t & 1 == 1));
        }
        let weights = |row: usize| {
            let rounded = |w: f32| (w * scale).round().clamp(-127.0, 127.0) as i8;
            let row = self.rows[row].iter().enumerate().map(|(t, &w)| (t as u8, rounded(w)));
            row.filter(|&(_, w)| w != 0).collect::<Vec<_>>()
        };
        let contexts = (0..FIRST_FEATURE).map(|row| (row as u32, weights(row)));
        write_rows(&mut out, contexts);
        let features =
            self.keys.iter().enumerate().map(|(i, &key)| (key, weights(FIRST_FEATURE + i)));
        write_rows(&mut out, features);
        out
    }
}

fn write_rows(out: &mut Vec<u8>, rows: impl Iterator<Item = (u32, Vec<(u8, i8)>)>) {
    let rows: Vec<_> = rows.filter(|(_, weights)| !weights.is_empty()).collect();
    write_number(out, rows.len() as u64);
    let mut last = 0;
    for (key, weights) in rows {
        write_number(out, u64::from(key - last));
        last = key;
        out.push(weights.len() as u8);
        out.extend(weights.into_iter().flat_map(|(tag, weight)| [tag, weight as u8]));
    }
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The number of all features that do not depend on tags.
const EMISSIONS: usize = features::OWN + 2 * features::SIDE + 2 + features::CONTEXT;

/// All features that do not depend on tags.
fn emission(window: &Window) -> [u32; EMISSIONS] {
    let mut all = [0; EMISSIONS];
    let far = [features::before2(window.before2), features::after2(window.after2)];
    let groups = features::own(window.word)
        .into_iter()
        .chain(features::before(window.before))
        .chain(features::after(window.after))
        .chain(far)
        .chain(features::context(window));
    for (slot, key) in all.iter_mut().zip(groups) {
        *slot = key;
    }
    all
}

/// A sentence with all that training needs to know of it.
struct Example {
    words: Vec<Word>,
    emissions: Vec<[u32; EMISSIONS]>,
    allowed: Vec<u64>,
    gold: Vec<u8>,
}

/// The tags of every frequent word. Rare words are left out, because the model learns from them how
/// to tag unknown words.
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
            let usual = |t: &usize| counts[*t] * 400 > total;
            let tags = (0..LANES).filter(usual).fold(0, |set, t| set | 1u64 << t);
            let seen: u32 = (0..LANES).filter(usual).map(|t| counts[t]).sum();
            let closed = total >= options.dictionary_count && (total - seen) * 1000 <= total;
            (total >= options.class_count).then_some((key, tags, closed))
        })
        .collect();
    entries.sort_unstable();
    entries
}

fn lower_cased(sentence: &Sentence) -> Sentence {
    (sentence.0.iter().map(|w| w.to_lowercase()).collect(), sentence.1.clone())
}

/// Trains on tagged sentences. Calls `progress` after each epoch with its number and the share of
/// correct tags.
pub fn train(
    sentences: &[Sentence],
    options: &Options,
    mut progress: impl FnMut(usize, f64),
) -> Trained {
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
        for (i, word) in words.iter_mut().enumerate() {
            let entry = table.get(word.dictionary_key(*regime));
            word.set_context(
                *regime,
                i == 0,
                entry.map_or(0, |entry| dictionary[entry as usize].1),
            );
        }
    }
    let keys = feature_keys(&data, options.min_count);
    let index = Table::new(keys.iter().enumerate().map(|(i, &k)| (k, (FIRST_FEATURE + i) as u32)));
    let examples: Vec<Example> = data
        .into_iter()
        .map(|(words, regime, gold)| {
            let emissions = (0..words.len())
                .map(|i| {
                    emission(&Window::new(&words, i)).map(|k| index.get(k).unwrap_or(EMPTY_ROW))
                })
                .collect();
            let allowed = words
                .iter()
                .map(|w| {
                    match table.get(w.dictionary_key(regime)).map(|i| dictionary[i as usize]) {
                        Some((_, tags, true)) => tags,
                        _ => ALL,
                    }
                })
                .collect();
            Example { words, emissions, allowed, gold }
        })
        .collect();
    let mut perceptron = Perceptron::new(&index, FIRST_FEATURE + keys.len(), options.margin);
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut state = options.seed;
    for epoch in 0..options.epochs {
        shuffle(&mut order, &mut state);
        let (mut right, mut total) = (0, 0);
        for &i in &order {
            right += perceptron.learn(&examples[i]);
            total += examples[i].gold.len();
        }
        progress(epoch, right as f64 / total as f64);
    }
    let rows = perceptron.average();
    Trained { keys, rows, dictionary }
}

/// The sorted keys that occur at least `min_count` times with the correct tags.
fn feature_keys(data: &[(Vec<Word>, Regime, Vec<u8>)], min_count: u32) -> Vec<u32> {
    let mut keys = Vec::new();
    for (words, _, gold) in data {
        for i in 0..words.len() {
            keys.extend(emission(&Window::new(words, i)));
            let before = if i == 0 { START } else { gold[i - 1] };
            keys.extend(features::transition(words, i, before));
        }
    }
    keys.sort_unstable();
    // Each sentence is in the data twice, so most features are counted twice.
    keys.chunk_by(|a, b| a == b)
        .filter(|same| same.len() as u32 >= 2 * min_count)
        .map(|same| same[0])
        .collect()
}

/// Shuffles by Fisher and Yates' method with random numbers of SplitMix64.
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

/// The first step of a weight, in the units in which weights are stored.
const STEP: i32 = 1024;

struct Perceptron<'a> {
    index: &'a Table,
    weights: Vec<[i32; LANES]>,
    /// How often each weight was changed.
    counts: Vec<[u32; LANES]>,
    /// The sum of each change times the step at which it was made, for the average.
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
            counts: vec![[0; LANES]; rows],
            moments: vec![[0; LANES]; rows],
            clock: 1,
            margin: margin * STEP,
            search: Search::default(),
            guess: Vec::new(),
        }
    }

    /// Tags one sentence, learns from the mistakes, and returns the number of correct tags.
    fn learn(&mut self, example: &Example) -> usize {
        let mut guess = std::mem::take(&mut self.guess);
        guess.clear();
        let mut search = std::mem::take(&mut self.search);
        let mut view = View { model: self, example };
        search.run(&mut view, &mut guess);
        let guessed = |i: usize| guess[i] as u8;
        let gold = |i: usize| example.gold[i];
        let right = (0..guess.len()).filter(|&i| guessed(i) == gold(i)).count();
        let at = |tags: &dyn Fn(usize) -> u8, i: usize, back: usize| {
            if i < back { START } else { tags(i - back) }
        };
        for i in 0..guess.len() {
            if gold(i) != guessed(i) {
                for &row in example.emissions[i].iter().filter(|&&row| row != EMPTY_ROW) {
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
        let count = &mut self.counts[row][usize::from(tag)];
        *count += 1;
        let by = by * (f64::from(STEP) / f64::from(*count).sqrt()) as i32;
        self.weights[row][usize::from(tag)] += by;
        self.moments[row][usize::from(tag)] += i64::from(by) * self.clock;
    }

    /// The mean of the weights over all of training, in units of the first step.
    fn average(&self) -> Vec<[f32; LANES]> {
        let mean = |weight: i32, moment: i64| {
            ((f64::from(weight) - moment as f64 / self.clock as f64) / f64::from(STEP)) as f32
        };
        let rows = self.weights.iter().zip(&self.moments);
        rows.map(|(weights, moments)| std::array::from_fn(|tag| mean(weights[tag], moments[tag])))
            .collect()
    }
}

struct View<'a> {
    model: &'a Perceptron<'a>,
    example: &'a Example,
}

impl Scorer for View<'_> {
    type Score = i32;

    fn len(&self) -> usize {
        self.example.words.len()
    }

    fn allowed(&self, i: usize) -> u64 {
        self.example.allowed[i]
    }

    fn emission(&mut self, i: usize) -> [i32; LANES] {
        let mut scores = [self.model.margin; LANES];
        scores[usize::from(self.example.gold[i])] = 0;
        for &row in self.example.emissions[i].iter().filter(|&&row| row != EMPTY_ROW) {
            for (score, weight) in scores.iter_mut().zip(&self.model.weights[row as usize]) {
                *score += weight;
            }
        }
        scores
    }

    fn reach(&self) -> i32 {
        i32::MAX
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

#[cfg(test)]
mod tests {
    use storymeter_text::tagger::Tagger;

    use super::*;

    #[test]
    fn training_learns_what_it_is_shown() {
        let sentence = |text: &str| {
            let pairs = text.split(' ').map(|pair| pair.split_once('/').expect("word/tag"));
            pairs.map(|(word, tag)| (word.to_owned(), tag.parse::<Tag>().expect("a tag"))).unzip()
        };
        let data: Vec<Sentence> = ["The/DT cat/NN sleeps/VBZ ./.", "A/DT dog/NN barks/VBZ ./."]
            .iter()
            .cycle()
            .take(20)
            .map(|text| sentence(text))
            .collect();
        let trained = train(&data, &Options::default(), |_, _| {});
        let tagger = Tagger::from_bytes(&trained.pack(8.0)).expect("a whole model");
        assert_eq!(
            tagger.tag(&["The", "dog", "sleeps", "."]),
            [Tag::Dt, Tag::Nn, Tag::Vbz, Tag::Stop]
        );
        let again = train(&data, &Options::default(), |_, _| {});
        assert_eq!(trained.pack(8.0), again.pack(8.0), "the same data gives the same bytes");
    }
}
