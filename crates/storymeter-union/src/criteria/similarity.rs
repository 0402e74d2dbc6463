//! Compares stories with their prompts by sentence vectors: those of a sentence encoder, or those
//! that a criteria model has learned to make of its own.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use storymeter_core::Story;
use storymeter_encoder::{Batch, Tokenizer};

use super::read::{Reading, as_story, has_words, prompt_of, windows};
use super::scorer::TextVector;
use super::sentences::WINDOW;
use crate::engine::Engine;
use crate::heads::Heads;
use crate::opened::{Opened, TOKENS_PER_BATCH, batches};
use crate::{Card, Pooling, Reconstruction, Result};

/// A sentence encoder that is ready to compare stories with their prompts.
///
/// The similarity of a story and its prompt is the highest cosine between the vector of the prompt
/// and those of the story's windows: whole sentences of together at most 128 tokens. So a long
/// story is about its prompt if a part of it is. The vector of a text is the mean over its tokens,
/// including the special ones. A prompt of more than 128 tokens is read in such windows too, and
/// its vector is the mean over the tokens of all of them.
pub struct SentenceScorer {
    pub(super) model: Opened,
}

/// Makes sentence vectors with a model and compares them.
#[derive(Clone, Copy)]
pub(super) struct Comparer<'a> {
    pub model: &'a Opened,
}

/// The prompts of some stories, each of which is read once.
pub(super) struct Prompts {
    /// For each story the number of its prompt. `None` if there is nothing to compare.
    pub of: Vec<Option<usize>>,
    /// The vectors of the prompts.
    pub vectors: Vec<Vec<f64>>,
}

/// How similar a story is to its prompt, and what its sentences do to that.
pub(super) struct Similarity {
    pub value: f64,
    /// What the similarity would be if the tokens of a sentence were left out, for each sentence.
    pub without: Vec<f64>,
    /// The part of the similarity that belongs to each sentence of the most similar window. It is 0
    /// for the others.
    pub parts: Vec<f64>,
    /// The part that belongs to no sentence: the special tokens.
    pub rest: f64,
}

/// The sum of the vectors of some tokens, and how many they are.
#[derive(Clone)]
pub(super) struct Share {
    pub sum: Vec<f64>,
    pub tokens: f64,
}

/// The shares of the sentences that are in a window, by the number of the sentence, and the share
/// of its special tokens.
struct Weighed {
    mean: Vec<f64>,
    tokens: f64,
    sentences: BTreeMap<usize, Share>,
    special: Share,
}

impl SentenceScorer {
    pub(super) fn new(engine: Engine, tokenizer: Tokenizer) -> Self {
        let card = Card {
            pooling: Pooling::Mean,
            reconstruction: Reconstruction::None,
            diagnosis: false,
            // Prompts and stories may differ in their quotes, but names are part of what they say.
            normalise: true,
            delexicalise: false,
            max_tokens: WINDOW.min(engine.config().max_tokens()),
            ..Card::default()
        };
        let model = Opened::assemble((engine, tokenizer, Heads::default()), card, String::new());
        Self { model }
    }

    /// The similarity of each story and its prompt, in the order of the stories. `None` if the
    /// prompt or the story has no letter or digit, or there is no prompt.
    ///
    /// On the CPU, and in int8 on a GPU, it depends on the story and its prompt alone. Stories of
    /// one prompt share its vector.
    ///
    /// # Errors
    /// Fails only on a GPU, as [`crate::UnionScorer::score`] does.
    pub fn similarities(&self, stories: &[&Story]) -> Result<Vec<Option<f64>>> {
        let comparer = self.comparer();
        let prompts = comparer.prompts(stories)?;
        let texts = stories.iter().zip(&prompts.of).filter(|(_, prompt)| prompt.is_some());
        let texts: Vec<&Story> = texts.map(|(story, _)| *story).collect();
        let read: Vec<Vec<Vec<u32>>> =
            texts.par_iter().map(|text| comparer.windows(text)).collect();
        let sequences: Vec<&[u32]> = read.iter().flatten().map(Vec::as_slice).collect();
        let mut vectors = self.model.vectors(&sequences)?.into_iter();
        let mut read = read.iter();
        let similarity = |prompt: &Option<usize>| {
            let prompt = &prompts.vectors[(*prompt)?];
            let own: Vec<Vec<f32>> = vectors.by_ref().take(read.next()?.len()).collect();
            comparer.similarity(prompt, &own)
        };
        Ok(prompts.of.iter().map(similarity).collect())
    }

    /// The vector of each text, of length 1: the mean over the tokens of its windows. It is all
    /// zeros for a text without tokens.
    ///
    /// # Errors
    /// As [`SentenceScorer::similarities`].
    pub fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>> {
        let texts: Vec<Story> = texts.iter().map(|text| as_story(text)).collect();
        let mut vectors = self.comparer().of_texts(&texts)?;
        for vector in &mut vectors {
            let length = dot(vector, vector).sqrt();
            vector.iter_mut().for_each(|x| *x /= if length > 0.0 { length } else { 1.0 });
        }
        Ok(vectors)
    }

    pub(super) fn comparer(&self) -> Comparer<'_> {
        Comparer { model: &self.model }
    }

    /// The number of tokens that have gone through the encoder so far.
    pub fn tokens_read(&self) -> u64 {
        self.model.tokens_read()
    }
}

impl Comparer<'_> {
    /// The vectors of the prompts of some stories.
    pub fn prompts(self, stories: &[&Story]) -> Result<Prompts> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut texts: Vec<Story> = Vec::new();
        let of = stories
            .iter()
            .map(|story| {
                let prompt = prompt_of(story).filter(|_| has_words(&story.text))?;
                Some(*places.entry(prompt).or_insert_with(|| {
                    texts.push(as_story(prompt));
                    texts.len() - 1
                }))
            })
            .collect();
        Ok(Prompts { of, vectors: self.of_texts(&texts)? })
    }

    /// The vector of each text: the mean over the tokens of its windows.
    fn of_texts(self, texts: &[Story]) -> Result<Vec<Vec<f64>>> {
        let read: Vec<Vec<Vec<u32>>> = texts.par_iter().map(|text| self.windows(text)).collect();
        let sequences: Vec<&[u32]> = read.iter().flatten().map(Vec::as_slice).collect();
        let mut vectors = self.model.vectors(&sequences)?.into_iter();
        let vector = |windows: &Vec<Vec<u32>>| {
            self.projected(&mean(windows, vectors.by_ref().take(windows.len())))
        };
        Ok(read.iter().map(vector).collect())
    }

    /// The highest cosine of the vector of a prompt with those of windows, before projection.
    /// `None` if there is no window.
    pub fn similarity(self, prompt: &[f64], windows: &[Vec<f32>]) -> Option<f64> {
        let own = windows.iter().map(|vector| cosine(prompt, &self.projected(&wide(vector))));
        own.reduce(f64::max)
    }

    /// The sentence vector for the mean of the states of some tokens.
    fn projected(self, mean: &[f64]) -> Vec<f64> {
        let Heads { sentence, sentence_bias, .. } = &self.model.heads;
        if sentence.is_empty() {
            return mean.to_vec();
        }
        let rows = sentence.chunks_exact(mean.len().max(1)).zip(sentence_bias);
        rows.map(|(row, bias)| super::scorer::dot(row, mean) + f64::from(*bias)).collect()
    }

    /// The similarity of a story and its prompt as [`SentenceScorer::similarities`] gives it, and
    /// what each sentence does to it. The sentences are ranges of the story's bytes.
    pub fn weigh(self, story: &Story, sentences: &[Range<usize>]) -> Result<Option<Similarity>> {
        let Some(prompt) = prompt_of(story).filter(|_| has_words(&story.text)) else {
            return Ok(None);
        };
        let prompt = self.of_texts(&[as_story(prompt)])?.remove(0);
        let weighed = self.shares(story, sentences)?;
        let compare = |mean: &[f64]| cosine(&prompt, &self.projected(mean));
        let values: Vec<f64> = weighed.iter().map(|own| compare(&own.mean)).collect();
        let mut best = 0;
        for (place, value) in values.iter().enumerate() {
            if *value > values[best] {
                best = place;
            }
        }
        let without = |sentence: usize| {
            let left = weighed.iter().zip(&values).filter_map(|(own, value)| {
                match own.sentences.get(&sentence) {
                    None => Some(*value),
                    Some(share) => Some(compare(&own.without(share)?)),
                }
            });
            // A text of special tokens alone is similar to nothing.
            left.reduce(f64::max).unwrap_or(0.0)
        };
        let Some(own) = weighed.get(best) else { return Ok(None) };
        let part = |share: &Share| self.part(own, share, &prompt);
        let parts: Vec<f64> =
            (0..sentences.len()).map(|i| own.sentences.get(&i).map_or(0.0, part)).collect();
        Ok(Some(Similarity {
            value: values[best],
            without: (0..sentences.len()).map(without).collect(),
            rest: part(&own.special) + self.part_of_bias(own, &prompt),
            parts,
        }))
    }

    /// The part of the cosine with the prompt that belongs to some tokens of a window.
    fn part(self, window: &Weighed, share: &Share, prompt: &[f64]) -> f64 {
        let own: Vec<f64> = self
            .projected(&share.sum)
            .into_iter()
            .zip(self.bias(window.mean.len()))
            .map(|(x, bias)| x - bias)
            .collect();
        let lengths = self.lengths(window, prompt);
        if lengths > 0.0 { dot(prompt, &own) / (window.tokens * lengths) } else { 0.0 }
    }

    /// The part of the cosine that belongs to the bias of the projection, and to no token.
    fn part_of_bias(self, window: &Weighed, prompt: &[f64]) -> f64 {
        let lengths = self.lengths(window, prompt);
        let bias = self.bias(window.mean.len());
        if lengths > 0.0 { dot(prompt, &bias) / lengths } else { 0.0 }
    }

    /// What the projection makes of nothing.
    fn bias(self, width: usize) -> Vec<f64> {
        self.projected(&vec![0.0; width])
    }

    /// The product of the lengths of two vectors.
    fn lengths(self, window: &Weighed, prompt: &[f64]) -> f64 {
        let vector = self.projected(&window.mean);
        (dot(prompt, prompt) * dot(&vector, &vector)).sqrt()
    }

    /// Reads a story and adds up the vectors of each sentence, window by window.
    fn shares(self, story: &Story, sentences: &[Range<usize>]) -> Result<Vec<Weighed>> {
        let reading = Reading::new(&self.model.tokenizer, &self.model.card, story);
        let width = self.model.engine.config().hidden;
        let ids: Vec<&[u32]> = reading.windows.iter().map(|one| one.ids.as_slice()).collect();
        let mut weighed = Vec::with_capacity(ids.len());
        let mut remaining = reading.windows.iter();
        for batch in batches(&ids, TOKENS_PER_BATCH) {
            let states = self.model.states(&batch)?;
            for (at, window) in (0..Batch::len(&batch)).zip(remaining.by_ref()) {
                let states = states.story(at);
                let mut own = Weighed {
                    mean: wide(&self.model.pool(states)),
                    tokens: window.ids.len() as f64,
                    sentences: BTreeMap::new(),
                    special: Share::new(width),
                };
                for (token, state) in states.chunks_exact(width).enumerate() {
                    let piece = token.checked_sub(window.offset);
                    let piece = piece.and_then(|piece| window.pieces.get(piece));
                    let sentence = piece.map(|piece| {
                        let place = reading.origin.old_range(piece.start..piece.end).start;
                        sentences.partition_point(|one| one.end <= place)
                    });
                    match sentence.filter(|sentence| *sentence < sentences.len()) {
                        Some(sentence) => {
                            own.sentences.entry(sentence).or_insert(Share::new(width))
                        }
                        None => &mut own.special,
                    }
                    .add(state);
                }
                weighed.push(own);
            }
        }
        Ok(weighed)
    }

    fn windows(self, text: &Story) -> Vec<Vec<u32>> {
        windows(&self.model.tokenizer, &self.model.card, text)
    }
}

impl Share {
    pub fn new(width: usize) -> Self {
        Self { sum: vec![0.0; width], tokens: 0.0 }
    }

    pub fn add(&mut self, state: &[f32]) {
        self.sum.iter_mut().zip(state).for_each(|(sum, x)| *sum += f64::from(*x));
        self.tokens += 1.0;
    }
}

impl Weighed {
    /// The mean without a sentence. `None` if no other sentence is left.
    fn without(&self, share: &Share) -> Option<Vec<f64>> {
        let left = self.tokens - share.tokens;
        let others = self.mean.iter().zip(&share.sum);
        let mean = others.map(|(mean, own)| (self.tokens * mean - own) / left).collect();
        (self.sentences.len() > 1).then_some(mean)
    }
}

/// The mean over the tokens of all windows of a text.
fn mean(windows: &[Vec<u32>], vectors: impl IntoIterator<Item = Vec<f32>>) -> Vec<f64> {
    let mean = TextVector::new(windows.iter().map(Vec::len).zip(vectors));
    mean.map_or(Vec::new(), |mean| mean.mean)
}

fn wide(vector: &[f32]) -> Vec<f64> {
    vector.iter().map(|x| f64::from(*x)).collect()
}

/// Summed in order, so that it does not depend on the machine's vector width.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The cosine of the angle between two vectors, and 0 if one of them has no length.
fn cosine(one: &[f64], two: &[f64]) -> f64 {
    let lengths = (dot(one, one) * dot(two, two)).sqrt();
    if lengths > 0.0 { (dot(one, two) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use storymeter_encoder::{Config, Device, Model, Precision, load_parameters};

    use super::*;

    /// The cosines of PyTorch and transformers; see `tools/sentence_fixtures.py`.
    #[derive(serde::Deserialize)]
    struct Peer {
        pairs: Vec<Pair>,
        bert: Vec<f64>,
    }

    #[derive(serde::Deserialize)]
    struct Pair {
        prompt: String,
        story: String,
    }

    impl Peer {
        fn read() -> Self {
            serde_json::from_str(include_str!("../../tests/fixtures/sentences.json")).unwrap()
        }

        fn similarities(&self, scorer: &SentenceScorer) -> Vec<f64> {
            let story = |pair: &Pair| Story {
                prompt: Some(pair.prompt.clone()),
                ..Story::from(pair.story.as_str())
            };
            let stories: Vec<Story> = self.pairs.iter().map(story).collect();
            let all: Vec<&Story> = stories.iter().collect();
            scorer.similarities(&all).unwrap().into_iter().map(Option::unwrap).collect()
        }
    }

    /// An encoder with its weights as they are.
    fn exact(folder: &Path) -> SentenceScorer {
        let config = Config::load(folder).unwrap();
        let parameters = load_parameters(folder, &config).unwrap();
        let tokenizer = Tokenizer::load(folder, &config).unwrap();
        let model = Model::from_tensors(config, &parameters, Device::Cpu, Precision::F32).unwrap();
        SentenceScorer::new(Engine::Cpu(model), tokenizer)
    }

    fn furthest(one: &[f64], two: &[f64]) -> f64 {
        assert_eq!(one.len(), two.len());
        one.iter().zip(two).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn similarities_are_those_of_pytorch() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures/bert");
        let peer = Peer::read();
        let far = furthest(&peer.similarities(&exact(&folder)), &peer.bert);
        assert!(far < 1e-5, "{far}");
    }

    #[test]
    fn the_cosine_of_a_vector_without_length_is_0() {
        assert_eq!(cosine(&[3.0, 4.0], &[6.0, 8.0]), 1.0);
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 5.0]), 0.0);
        assert_eq!(cosine(&[0.0, 0.0], &[0.0, 5.0]), 0.0);
    }
}
